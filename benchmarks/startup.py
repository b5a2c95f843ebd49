"""What it costs to start: CPU of fresh processes, and which heavy packages they loaded.

    python -m benchmarks.startup [--runs 7] [--json]

The least of the runs counts, since a busy machine only adds; what typer with rich costs by itself stands beside it.
Goals: `jury --help` in 0.15 s or less, and nothing of openai, anthropic, numpy or pydantic loaded by any of these.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from typing import Any

from benchmarks.measure import ROOT, finish, machine, show

GOAL_S = 0.15
HEAVY = ("openai", "anthropic", "numpy", "pydantic")
COMMANDS: dict[str, list[str]] = {
    "bare interpreter": ["-c", "pass"],
    "typer with rich": ["-c", "import typer, typer.rich_utils"],
    "import jury": ["-c", "import jury"],
    "jury --version": ["-m", "jury", "--version"],
    "jury --help": ["-m", "jury", "--help"],
}
_LIST = """
import json, runpy, sys
if {arguments}[0] == "-c":
    exec({arguments}[1])
else:
    sys.argv = {arguments}[1:]
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit:
        pass
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
"""


def _run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done


def cpu_s(arguments: list[str]) -> float:
    """User + system seconds of one fresh process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def loaded(arguments: list[str]) -> list[str]:
    """Which of the heavy packages the command loads."""
    done = _run(["-c", _LIST.format(arguments=repr(arguments))])
    modules = json.loads(done.stderr.strip().splitlines()[-1])
    return [name for name in HEAVY if name in modules]


def measure(runs: int) -> dict[str, Any]:
    commands = {
        name: {"cpu_s": min(cpu_s(arguments) for _ in range(runs)), "loaded": loaded(arguments)}
        for name, arguments in COMMANDS.items()
    }
    return {"commands": commands, "goal_s": GOAL_S, "runs": runs, "machine": machine("typer", "rich", "pydantic")}


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU to start, and what gets loaded.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    result = measure(options.runs)
    if not options.json:
        rows = [
            [name, f"{one['cpu_s']:.3f}", ", ".join(one["loaded"]) or "none"]
            for name, one in result["commands"].items()
        ]
        heads = ["command", "CPU s", f"of {', '.join(HEAVY)}"]
        show(f"Start-up, least of {options.runs} runs (goal for --help: {GOAL_S} s, none loaded)", heads, rows)
    finish(result, options.json)


if __name__ == "__main__":
    main()
