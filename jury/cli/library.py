"""`jury prompts`: the prompt library on the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, cast

from jury.cli import exits, tables
from jury.cli.consoles import copy, write
from jury.cli.progress import Progress
from jury.cli.session import judges
from jury.cli.writing import aside, print_json
from jury.editions import compare_prompts
from jury.prompts import PromptSpec, load, names, shipped
from jury.proving import PromptReport, problems, prove
from jury.starting import start
from jury.stats import Estimate
from jury.tryouts import as_asked
from jury.wording import bracket


def list_prompts(as_json: bool) -> int:
    """Runs `jury prompts list`."""
    specs = [shipped(n) for n in names()]
    if as_json:
        print_json([_about(s) for s in specs])
        return exits.OK
    lines: list[str] = []
    for s in specs:
        about = _about(s)
        lines.append(f"{s.name} {s.version}  ({about['kind']})  {', '.join(about['answers'])}".rstrip())
        lines.append(f"    {about['description']}")
    if (console := tables.stdout()).is_terminal:
        lines = [fill(line, console.width, subsequent_indent="    ", break_on_hyphens=False) for line in lines]
    write("\n".join(lines) + "\n")
    return exits.OK


def _about(spec: PromptSpec) -> dict[str, Any]:
    meta = spec.meta
    rubric = cast("Mapping[str, Any]", meta.get("rubric") or {})
    criteria = cast("Sequence[Mapping[str, Any]]", rubric.get("criteria") or ())
    return {
        "name": spec.name,
        "version": spec.version,
        "digest": spec.digest,
        "kind": str(meta.get("kind") or "one verdict"),
        "answers": list(meta.get("verdicts") or [str(c.get("key")) for c in criteria]),
        "needs_context": bool(meta.get("needs_context", False)),
        "description": " ".join(str(meta.get("description") or "").split()),
    }


def show_prompt(name: str, as_json: bool) -> int:
    """Runs `jury prompts show`."""
    own = load(name)
    spec = as_asked(own)
    if as_json:
        print_json({**_about(spec), "meta": spec.meta, "system": spec.system, "user": spec.user, "path": spec.path,
                    "own_system": spec.system == own.system})  # fmt: skip
        return exits.OK
    meta = spec.meta
    lines = [f"{spec.name} {spec.version}   digest {spec.digest}", str(spec.path or ""), ""]
    shown = ("description", "verdicts", "fields", "context", "every_event", "source")
    lines += [f"{key}: {meta[key]}" for key in shown if meta.get(key) not in (None, "", {}, [])]
    for option, about in cast("Mapping[str, Any]", meta.get("options") or {}).items():
        lines.append(f"option {option} ({'on' if about.get('default') else 'off'}): {about.get('about', '')}")
    lines += [f"version {v}: {text}" for v, text in cast("Mapping[str, Any]", meta.get("changelog") or {}).items()]
    system = "--- system ---" if spec.system == own.system else "--- system (the shipped one: this prompt has none) ---"
    copy("\n".join([*lines, "", system, spec.system, "", "--- user ---", spec.user, ""]))
    return exits.OK


def check_prompts(
    given: Sequence[str], who: Sequence[str], times: int, no_calls: bool, as_json: bool, *, criteria: str | None = None
) -> int:
    """Runs `jury prompts check`; returns the exit code. Raises `ConfigError` or `DataError`."""
    specs = [as_asked(load(n)) for n in given]
    found = {s.name: problems(s) for s in specs}
    reports: list[PromptReport] = []
    if not no_calls:
        with Progress("prompts"), aside():
            seated = judges(who) or None
            reports = [asyncio.run(prove(s, seated, times=times, criteria=criteria)) for s in specs]
    by_name = {r.name: r for r in reports}
    if as_json:
        print_json(
            [
                {"name": s.name, "version": s.version, "digest": s.digest, "problems": found[s.name]}
                | ({"examples": by_name[s.name].to_dict()} if s.name in by_name else {})
                for s in specs
            ]
        )
    else:
        for s in specs:
            _print(s, found[s.name], by_name.get(s.name))
    if reports and all(set(c.verdicts) <= {"ERROR"} for r in reports for c in r.cases):
        return exits.NO_RESULT
    bad = any(found.values()) or any(c.is_wrong or c.is_unstable for r in reports for c in r.cases)
    return exits.BELOW if bad else exits.OK


def _print(spec: PromptSpec, wrong: Sequence[str], report: PromptReport | None) -> None:
    console = tables.stdout()
    console.print(f"{spec.name} {spec.version} ({spec.digest})", style="bold")
    for text in wrong:
        console.print(f"  problem: {text}", style="red", markup=False)
    if not wrong:
        console.print("  the text: nothing wrong")
    if report is None:
        return
    for case in report.cases:
        said = ", ".join(f"{n} x {word}" for word, n in case.verdicts.items())
        mark = "wrong" if case.is_wrong else "unstable" if case.is_unstable else "ok"
        told = f"  {mark:9}{case.id}: expected {case.expect}, got {said}"
        if case.is_wrong:
            told += f"; wrong {_share(case.wrong)}"
        console.print(told, style="red" if case.is_wrong else "yellow" if case.is_unstable else None, markup=False)
    asked = f"  of {tables.count(len(report.cases), 'example')}, {tables.count(report.times, 'time')} each"
    console.print(f"{asked}: wrong {_share(report.wrong)}, unstable {_share(report.unstable)}")


def _share(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"unknown ({estimate.why})"
    ends = estimate.interval
    return f"{estimate.value:.0%}" + (f" {bracket(*ends)}" if ends else "")


def diff_prompts(first: str, second: str, as_json: bool) -> int:
    """Runs `jury prompts diff`; exit code 1 where the prompts differ."""
    found = compare_prompts(first, second)
    lines = [line for one in found for line in one.diff]
    if as_json:
        pairs = [
            {"a": one.a and _about(one.a), "b": one.b and _about(one.b), "same": not one.diff, "diff": list(one.diff)}
            for one in found
        ]
        print_json({**pairs[0], "same": not lines, "diff": lines, "prompts": pairs})
    else:
        copy("".join(f"{line}\n" for line in lines))
    return exits.BELOW if lines else exits.OK


def new_prompt(folder: str, source: str | None, as_json: bool) -> int:
    """Runs `jury prompts new`."""
    made = start(folder, source)
    if as_json:
        print_json({"folder": str(made), "files": sorted(p.name for p in made.iterdir())})
        return exits.OK
    write(f"{made}: edit prompt.md and cases.jsonl, then: jury prompts check {made}\n")
    return exits.OK
