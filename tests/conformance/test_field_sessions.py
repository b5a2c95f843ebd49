"""field.json: session files, long sessions, templates in the format style, and replies to rubrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from jury.errors import ConfigError, DataError, ReplyError, TemplateError
from jury.parsing import find_object
from jury.rubrics.reply import contradiction, read_reply, reply_keys
from jury.rubrics.rubric import Criterion, Rubric
from jury.sessions.events import Event, Session
from jury.sessions.fit import fit
from jury.sessions.legacy import render_format
from jury.transcripts import load_session
from tests.conformance.cases import folder, load, params
from tests.conformance.comparing import Failed, fits


def session(given: Mapping[str, Any]) -> Any:
    """Events under the names of the cases; thinking has none there."""
    loaded = load_session(folder() / given["file"])
    events: list[dict[str, Any]] = []
    for event in loaded.events:
        if event.type == "thinking":
            continue
        shown = {("text" if key == "result" else key): value for key, value in event.to_dict().items()}
        events.append({"kind": shown.pop("type"), **shown})
    return {"events": events, "transcript": loaded.transcript}


def fitted(given: Mapping[str, Any]) -> Any:
    make = given["make"]
    texts = [make["first"], *[make["filler"]] * make["count"], make["last"]]
    events = [Event(i, "user" if i == 1 else "assistant", text) for i, text in enumerate(texts, 1)]
    made = fit(Session(tuple(events)), max_chars=given["max_chars"])
    return {
        "text": made.transcript,
        "gap_marked": bool(made.cut) and re.search(r"\d[^\"]*left out", made.transcript) is not None,
        "reported_omitted": bool(made.cut) and str(made.cut.characters) in str(made.cut),
    }


def legacy(given: Mapping[str, Any]) -> str:
    return render_format(given["template"], given["transcript"], given.get("context"))


def rubric(given: Mapping[str, Any]) -> Any:
    want = given["want"]
    rule = want.get("pass_rule", {})
    clauses = [f"{key} >= {least}" for key, least in rule.get("at_least", {}).items()]
    if "none_below" in rule:
        clauses.append(f"min(all) >= {rule['none_below']}")
    criteria = [Criterion(key, scale=want["range"]) for key in want["criteria"]]
    made = Rubric(criteria, " and ".join(clauses) or None)
    try:
        reply = read_reply(made, find_object(given["reply"], reply_keys(made)))
    except ReplyError as error:
        return {"verdict": "ERROR", "reason": error.kind}
    decision = made.decide(reply.values, reply.na)
    flags = ["judge_disagrees_with_rule"] if contradiction(reply, decision) else []
    return {"passed": decision.passed, "flags": flags}


OPERATIONS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "load_session": session,
    "fit_session": fitted,
    "render_format": legacy,
    "parse_verdict": rubric,
}
CASES = [
    case
    for case in load("field.json")["cases"]
    if case["op"] in OPERATIONS and (case["op"] != "parse_verdict" or "criteria" in case["input"]["want"])
]


@pytest.mark.parametrize("case", params(CASES))
def test_field(case: dict[str, Any]) -> None:
    try:
        found: Any = OPERATIONS[case["op"]](case["input"])
    except (DataError, TemplateError) as error:
        found = Failed(error.kind, str(error))
    except ConfigError as error:
        found = Failed("config", str(error))
    assert right(found, dict(case["expect"])), found


def right(found: Any, expect: dict[str, Any]) -> bool:
    """Checks of the cases that are no fields of a result are taken out first."""
    if not isinstance(found, dict) or "ok" not in expect:
        return fits(found, expect)
    wanted = dict(expect["ok"])
    text = found.get("text", found.get("transcript", ""))
    absent = wanted.pop("transcript_not_contains", expect.pop("transcript_not_contains", ()))
    return (
        len(text) <= wanted.pop("length_at_most", len(text))
        and all(part in text for part in wanted.pop("contains", ()))
        and not any(part in text for part in absent)
        and fits(found, {**expect, "ok": wanted})
    )
