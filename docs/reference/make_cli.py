"""Writes docs/reference/cli.md from the commands themselves: `python docs/reference/make_cli.py`.

`tests/test_cli_reference.py` fails where the page and the commands differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.main import get_command

from jury.cli import app, exits

PAGE = Path(__file__).parent / "cli.md"
HEAD = """# The command line

Made from the commands by `docs/reference/make_cli.py`; `jury COMMAND --help` says the same. Progress goes to standard
error, results to standard output; `--json` makes results machine-readable. `NO_COLOR` is honoured.
"""


def page() -> str:
    parts = [HEAD, "## Exit codes\n", *(f"- `{code}`: {meaning}" for code, meaning in exits.MEANINGS.items()), ""]
    for name in app.COMMANDS:
        group: Any = get_command(app.make([name]))
        parts += _commands("jury", {name: group.commands[name]})
    return "\n".join(parts).rstrip() + "\n"


def _commands(prefix: str, commands: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, command in commands.items():
        full = f"{prefix} {name}"
        if hasattr(command, "commands"):
            lines += _commands(full, command.commands)
            continue
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        usage = " ".join([full, *(_argument(a) for a in arguments)])
        lines += [f"## {full}", "", f"`{usage} [OPTIONS]`", "", _text(command.help), ""]
        rows = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
        if rows:
            lines += ["| option | meaning |", "|---|---|"]
            lines += [f"| {_names(p)} | {_text(p.help).replace('|', chr(92) + '|')} |" for p in rows]
            lines.append("")
    return lines


def _argument(parameter: Any) -> str:
    name = (parameter.metavar or parameter.name).upper().strip("[]")
    return name if parameter.required else f"[{name}]"


def _names(parameter: Any) -> str:
    names = ", ".join(f"`{o}`" for o in [*parameter.opts, *parameter.secondary_opts])
    metavar = "" if parameter.is_flag or not parameter.metavar else f" {parameter.metavar}".replace("|", "\\|")
    return names + (f" `{metavar.strip()}`" if metavar else "")


def _text(text: str | None) -> str:
    return " ".join((text or "").replace("\\[", "[").split())


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
