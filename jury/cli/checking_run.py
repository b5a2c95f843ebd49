"""`jury check RUN.yaml`: a run configuration before the run: its judges and their keys, prompt, data and columns."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any, cast

from jury import names
from jury.cli.asked import Asked, listed
from jury.cli.check import CRITERIA, call, problem, settings, told
from jury.cli.functions import load_function
from jury.cli.progress import Progress
from jury.cli.running import seated
from jury.datasets import FIELDS, find, rows
from jury.errors import ConfigError
from jury.pointwise import Jury
from jury.runner import RunSpec
from jury.runner.describe import AnyJury, panels_of, seats_of
from jury.runner.entries import entries, from_stdin
from jury.summary import count

_OWN = ("file", "judges", "call", "json")  # the options that go with a configuration: the others are keys of it
_OF_CALLS = (
    "judges", "temperature", "max_tokens", "timeout", "retries", "reask", "structured_output",
)  # fmt: skip


def check_run(asked: Asked) -> int:
    """Prints what was found; returns the exit code of `jury check`. Raises what `jury run` would raise at its start."""
    usual = Asked()
    beside = [f.name for f in fields(Asked) if f.name not in _OWN and getattr(asked, f.name) != getattr(usual, f.name)]
    if beside:
        what = ", ".join(f"--{name.replace('_', '-')}" for name in beside)
        raise ConfigError(f"{asked.file} is a run configuration: write {what} into it, as a key")
    judges = listed(asked.judges)
    spec = seated(RunSpec.from_file(asked.file, **({"judges": judges} if judges else {})))
    with Progress("calls") as progress:
        jury = spec.make_jury(load_function)
        spec.make_targets(load_function)
        seats = {seat.name: seat for seat in seats_of(jury)}
        found = [{"judge": name, "problem": problem(seat)} for name, seat in seats.items()]
        data = _data(spec)
        if asked.call and found:
            progress.say(f"one call to each of {count(len(found), 'judge')}")
            _call(spec, found)
    run = {"file": asked.file, "kind": spec.kind, "folder": str(Path("runs") / (spec.name or Path(asked.file).stem))}
    made = {"run": run, "prompt": _prompt(spec, jury), "judges": found, "data": data, "configuration": settings()}
    return told(made, asked.json)


def _prompt(spec: RunSpec, jury: AnyJury) -> dict[str, Any]:
    """The names in the prompts of all seats. Those of sessions and rubrics are filled by their own code."""
    prompts = {p.spec.digest: p for panel in panels_of(jury) for p in panel.prompts}.values()
    called = ", ".join(dict.fromkeys(p.spec.name for p in prompts))
    given = cast("dict[str, Any]", spec.jury)
    if spec.kind == "session" or (isinstance(jury, Jury) and jury.method):
        return {"prompt": called, "names": [], "unknown": []}
    known = names.known("pairwise" if spec.kind == "pairwise" else "pointwise", given.get("variables") or {})
    templates = list(chain.from_iterable((p.user, p.system) for p in prompts))
    return {
        "prompt": called,
        "names": list(dict.fromkeys(name for t in templates for name in t.names)),
        "unknown": [str(u) for t in templates for u in t.unknown(known)],
    }


def _data(spec: RunSpec) -> dict[str, Any]:
    """All rows are read, as `jury run` does before its first call; a pipe is left alone."""
    if from_stdin(spec):
        return {}
    total = sum(1 for _ in entries(spec))
    shown = spec.data if isinstance(spec.data, str) else count(len(spec.data), "file")
    made: dict[str, Any] = {"file": shown, "rows": total, "pairs": spec.kind == "pairwise", "fields": {}, "columns": []}
    if spec.kind == "session":
        return made
    row = next(iter(rows(spec.data, mapping=spec.map or None, encoding=spec.encoding, delimiter=spec.delimiter)))
    named = {field: at.column for field in FIELDS if (at := find(row, field)) is not None}
    return made | {"fields": named, "columns": list(row.values)}


def _call(spec: RunSpec, found: list[dict[str, Any]]) -> None:
    """One question to each judge, whatever the rules of the run about who is asked when."""
    kind = "pairwise" if spec.kind == "pairwise" else "pointwise"
    given = {k: v for k, v in cast("dict[str, Any]", spec.jury).items() if k in _OF_CALLS}
    jury: Any = RunSpec(jury={"criteria": CRITERIA, **given}, kind=kind).make_jury(load_function)
    call(jury, found, kind == "pairwise")
