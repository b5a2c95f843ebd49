"""`jury session`: the reports on the sessions of a file; on a terminal a table, else JSON."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jury.cli import closing, exits
from jury.cli.asked import default_seats, listed, nobody, pairs_of, read_text, seats
from jury.cli.functions import is_function, load_function
from jury.cli.judging import ready
from jury.cli.options import as_typed, check_counts, milliseconds
from jury.cli.paying import capped, left_out, quoted
from jury.cli.progress import Progress
from jury.cli.writing import aside, print_json
from jury.errors import ConfigError, DataError
from jury.families import family
from jury.results import CriterionResult, PanelResult
from jury.runner import RunSpec
from jury.runner.outlook import for_money
from jury.runner.recordings import files, recordings
from jury.sessions.checks import code_check
from jury.sessions.events import Session
from jury.sessions.examples import read_examples
from jury.sessions.judging import SESSION_TOKENS, SessionJury
from jury.sessions.making import session_jury
from jury.sessions.recording import record
from jury.transcripts import load_session, load_sessions

_MAKERS = {"claude": "anthropic", "gpt": "openai"}


def session(given: Mapping[str, Any]) -> int:
    """Runs `jury session`; returns the exit code. Raises `ConfigError` or `DataError` before the first call."""
    check_counts(number=given["number"])
    with Progress("sessions") as progress:
        found = _sessions(given["session"], given["format"], given["number"])
        jury = _jury(given)
        if given["render"]:
            print_json([jury.render(one) for one in found] if len(found) > 1 else jury.render(found[0]))
            return exits.OK
        if given["estimate"]:
            named = [{"session": replace(one.session, id=one.id)} for one in recordings(found)]
            return quoted(RunSpec(named, jury), given["output"], given["json"])
        results = _judged(jury, found, given, progress)
        progress.note(left_out(sum(r.reason == "budget" for r in results)))
    tally = closing.tally_of(jury)
    for number, result in enumerate(results, 1):
        tally.add(number, result)
    if given["json"] or not closing.seen():
        shown = [r.to_dict() if given["json"] else report(r) for r in results]
        print_json(shown[0] if len(shown) == 1 else shown)
    if not given["json"]:
        closing.tell(tally, given["output"], "session")
        if len(results) == 1 and closing.seen():
            closing.details(report(results[0]))
    code, why = exits.of_outcomes(tally.outcomes, given["fail_under"])
    progress.note(why)
    return code


def _sessions(path: str, format: str | None, number: int | None) -> list[Session]:
    """The sessions of a file, of all files of a pattern or a folder, or of standard input."""
    sources = files(os.fsdecode(path.encode("utf-8", "surrogateescape")))
    if number is not None:
        if len(sources) > 1:
            raise ConfigError(f"--number is for one file; {path} names {len(sources)}")
        return [load_session(sources[0], format, number=number)]
    found = [one for source in sources for one in load_sessions(source, format)]
    return [replace(r.session, id=r.id) for r in recordings(found)] if len(found) > 1 else found


def _jury(given: Mapping[str, Any]) -> SessionJury:
    prompt = given["prompt"]
    names = [] if prompt == "-" else [prompt] if os.path.exists(prompt) else listed([prompt])
    checks = [
        code_check(c.rpartition(":")[2], load_function(c), fact=fact)
        for name, fact in (("checks", False), ("facts", True))
        for c in listed(given[name] or ())
    ]
    with as_typed():
        return session_jury(
            names,
            checks=checks,
            context=_context(given["context"], given["contexts"] or ()),
            judges=judges(given["judges"] or ()) or ([nobody()] if names and given["render"] else None),
            options=_options(given["options"] or ()),
            examples=None if given["examples"] is None else read_examples(given["examples"]),
            ask=given["ask"],
            long=given["long"],
            session_tokens=SESSION_TOKENS if given["session_tokens"] is None else given["session_tokens"],
            variables=pairs_of(given["variables"] or ()),
            replacement_judges=seats(given["stand_ins"] or ()) or None,
            min_successful_judges=given["min_successful_judges"],
            repetitions=given["repetitions"],
            temperature=given["temperature"],
            max_tokens=given["max_tokens"],
            timeout_ms=milliseconds(given["timeout"]),
        )


def judges(asked: Sequence[str]) -> list[Any]:
    """The judges of `--judges`; else of `JUDGE_MODEL`, which may be a bare model name as long as its maker is clear."""
    named = seats(asked)
    model = os.environ.get("JUDGE_MODEL", "").strip()
    if named or os.environ.get("JURY_JUDGES", "").strip() or not model or "/" in model or is_function(model):
        return named or default_seats()
    maker = _MAKERS.get(model.partition("-")[0].lower()) or _MAKERS.get(family(model))
    return [f"{maker}/{model}"] if maker else []


def _no_session(context: str) -> None:
    """Two recordings on the command line are no recording and its rules: a shell makes them of `*.json`."""
    try:
        if not os.path.isfile(context) or not load_sessions(context):
            return
    except DataError:
        return
    raise ConfigError(
        f"{context} is a recording, and stands where the CONTEXT does. Several are given as one: their folder, or "
        f"'a/*.json' in quotes. If it is the context: --context NAME={context}"
    )


def _context(path: str | None, by_criterion: Sequence[str]) -> str | dict[str, str] | None:
    """The context of all criteria, or `--context NAME=FILE` by criterion."""
    if path is not None and by_criterion:
        raise ConfigError("give one CONTEXT for all criteria, or --context NAME=FILE for each, not both")
    if path is not None:
        _no_session(path)
        return read_text(path)
    made: dict[str, str] = {}
    for text in by_criterion:
        name, sign, file = text.partition("=")
        if not sign or not name.strip() or not file:
            raise ConfigError(f"--context is written NAME=FILE, got {text!r}")
        made[name.strip().replace("-", "_") if "/" not in name else name.strip()] = read_text(file)
    return made or None


def _options(texts: Sequence[str]) -> dict[str, bool]:
    made: dict[str, bool] = {}
    for text in listed(texts):
        name, _, value = text.partition("=")
        if value.strip().lower() not in ("", "on", "off", "true", "false"):
            raise ConfigError(f"--option is written NAME, NAME=on or NAME=off, got {text!r}")
        made[name.strip()] = value.strip().lower() not in ("off", "false")
    return made


def _judged(
    jury: SessionJury, found: Sequence[Session], given: Mapping[str, Any], progress: Progress
) -> list[PanelResult]:
    folder, force, dollars = given["output"], given["force"], given["budget"]
    for panel in jury.panels if jury.criteria else ():
        ready(panel)
    if folder is None:
        budget = capped(jury, dollars)
        with aside():
            return [for_money(result, budget) for result in jury.judge_many_sync(found)]

    async def all_of() -> list[PanelResult]:
        return [r async for r in record(jury, found, folder, force=force, budget=dollars, on_change=progress.changed)]

    with aside():
        return asyncio.run(all_of())


def report(result: PanelResult) -> dict[str, Any]:
    """A report for people: for one criterion flat, evidence, fields, verdict, with the panel's votes beside it."""
    head = {"session": result.item_id} if result.item_id else {}
    if result.status == "not_judged":
        return {**head, "verdict": "ERROR", "error": result.explanation}
    if len(result.criteria) == 1:
        return {**head, **_criterion(result.criteria[0], result)}
    body = {c.key: _criterion(c, result) for c in result.criteria}
    return {**head, "verdict": word(result), "criteria": body, **_beside(result)}


def _criterion(found: CriterionResult, result: PanelResult) -> dict[str, Any]:
    telling = next((v for v in found.votes if v.value == found.value), None)
    named = {"check": found.key} if found.code and len(result.criteria) == 1 else {}
    made: dict[str, Any] = {**named, "evidence": list(telling.verdict.evidence) if telling else []}
    made |= dict(telling.verdict.fields) if telling else {}
    made["verdict"] = word(found)
    if found.partial:
        made["partial"] = True
    if found.status == "inconclusive":
        made["error"] = found.explanation
    elif found.code or found.explanation:
        made["explanation"] = found.explanation
    if len(found.votes) > 1:
        made["agreement"] = found.agreement
        made["votes"] = {
            v.judge: v.value if v.decided else f"ERROR ({v.error})" if v.failed else None for v in found.votes
        }
    missing = [text for v in found.votes if v.evidence_check for text in v.evidence_check.missing]
    if missing:
        made["evidence_not_found"] = missing
    return made if len(result.criteria) > 1 else {**made, **_beside(result)}


def word(found: PanelResult | CriterionResult) -> Any:
    """The verdict in a word; ERROR where nobody gave a usable reply, INCONCLUSIVE where votes settled nothing."""
    if found.status in ("decided", "not_applicable"):
        return found.value
    return "ERROR" if found.reason in ("errors", "quorum", None) else "INCONCLUSIVE"


def _beside(result: PanelResult) -> dict[str, Any]:
    notes = {"notes": list(result.notes)} if result.notes else {}
    return {**notes, **({"cost": result.cost} if result.cost is not None else {})}
