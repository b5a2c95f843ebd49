"""Langfuse: a JSON trace with `observations`, or rows of observations that name their trace.

Traps: every GENERATION repeats the history, so one of them tells the whole (`traces.longest`). TOOL observations carry
`level` ERROR and `statusMessage`, which the messages do not. Input and output may be JSON inside a text. Those of the
trace itself are only the first and the last text: they count where no generation has messages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from jury.data import TargetError
from jury.transcripts.chat import add_values
from jury.transcripts.draft import Draft, ToolRun, target_error, text_id
from jury.transcripts.reading import Document, opened
from jury.transcripts.shapes import EMPTY, Object, as_object, first, objects
from jury.transcripts.traces import as_answer, longest, messages_of
from jury.transcripts.turns import as_text

_KINDS = ("GENERATION", "TOOL", "SPAN", "EVENT", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")


def matches(document: Document) -> bool:
    return any(_is_trace(body) or _is_observation(body) for body in document.bodies)


def _is_trace(body: Object) -> bool:
    bare = {"id", "input", "output"} <= body.keys() and not {"role", "type", "object"} & body.keys()
    return bare or isinstance(body.get("observations"), list)


def _is_observation(body: Object) -> bool:
    return body.get("type") in _KINDS and "traceId" in body


def read(document: Document) -> list[Draft]:
    drafts: list[Draft] = []
    loose: dict[str, list[Object]] = {}
    for line, body in document.objects("a trace or an observation"):
        if _is_observation(body):
            loose.setdefault(str(body["traceId"]), []).append(body)
        else:
            drafts.append(_session(document, line, body, objects(body.get("observations"))))
    drafts.extend(_session(document, None, {"id": trace}, found) for trace, found in loose.items())
    return drafts


def _session(document: Document, line: int | None, trace: Object, observations: Sequence[Object]) -> Draft:
    draft = Draft(id=text_id(trace.get("id")))
    ordered = sorted(observations, key=lambda o: str(o.get("startTime") or ""))
    draft.at(first(trace, "timestamp", "createdAt") or (ordered[0].get("startTime") if ordered else None))
    generations = [o for o in ordered if o.get("type") == "GENERATION"]
    calls = [[*messages_of(g.get("input")), *as_answer(g.get("output"))] for g in generations]
    given = opened(trace.get("input"))
    spoken = longest(draft, calls, given if isinstance(given, str) else None)
    tools = [_tool(o) for o in ordered if o.get("type") == "TOOL"]
    if spoken:
        add_values(document, draft, spoken, line, flag=None)
        draft.apply(tools)
    else:
        _outline(document, line, draft, trace, tools)
    draft.error = _error(draft, ordered)
    return draft


def _outline(document: Document, line: int | None, draft: Draft, trace: Object, tools: list[ToolRun]) -> None:
    """A trace whose generations hold no messages: its own input, the tool runs, its own output."""
    given = opened(trace.get("input"))
    asked = messages_of(given)
    if not asked and given is not None:
        asked = [{"role": "user", "content": as_text(given)}]
    add_values(document, draft, asked, line, flag=None)
    for run in tools:
        draft.call(run.id, run.name, run.arguments)
        draft.result(run.id, run.text, run.is_error, run.name)
    output = _output(trace.get("output"), double=isinstance(trace.get("input"), str) and not isinstance(given, str))
    made = as_answer(output)
    if not made and output is not None:
        made = [{"role": "assistant", "content": as_text(opened(output))}]
    repeated = len(made) > len(asked) and made[: len(asked)] == asked
    add_values(document, draft, made[len(asked) :] if repeated else made, line, flag=None)


def _output(given: Any, *, double: bool) -> Any:
    """What a trace ended with; a text that is quoted as JSON where its input is JSON inside a text too (`double`)."""
    if double and isinstance(given, str) and given.startswith('"'):
        with suppress(ValueError):
            return json.loads(given)
    return given


def _tool(observation: Object) -> ToolRun:
    extra = as_object(observation.get("metadata")) or EMPTY
    text = as_text(observation.get("output"))
    return ToolRun(
        text_id(observation.get("name")),
        text or as_text(observation.get("statusMessage")),
        observation.get("level") == "ERROR",
        text_id(first(extra, "tool_call_id", "toolCallId", "call_id")),
        observation.get("input"),
    )


def _error(draft: Draft, ordered: Sequence[Object]) -> TargetError | None:
    """The target failed if one of its own runs did and nothing was said at the end."""
    if draft.events and draft.events[-1].type == "assistant":
        return None
    failed = [o for o in ordered if o.get("level") == "ERROR" and o.get("type") in ("GENERATION", "AGENT")]
    return target_error(failed[-1].get("statusMessage") or f"{failed[-1].get('name')} failed") if failed else None
