"""LangSmith: JSON Lines of runs, one session a root run.

Traps: the root run (`parent_run_id` null) has the whole conversation in `outputs.messages`, and the `llm` runs under it
repeat it: it is counted once. Messages are LangChain's (human, ai, tool), plain or serialised; `args` is an object. A
failed tool is a `tool` run with an `error` and null outputs. A failed root has no outputs: then the longest `llm` run
under it tells what happened, and the session carries the error. A trace of plain functions has no messages at all.
"""

from __future__ import annotations

from jury.transcripts.chat import add_values
from jury.transcripts.draft import Draft, ToolRun, target_error, text_id
from jury.transcripts.reading import Document, opened
from jury.transcripts.shapes import Object, as_object
from jury.transcripts.traces import longest, messages_of, plain
from jury.transcripts.turns import as_text


def matches(document: Document) -> bool:
    return any("run_type" in body for body in document.bodies)


def read(document: Document) -> list[Draft]:
    runs = [(line, body) for line, body in document.objects("a run") if "run_type" in body]
    known = {str(run.get("id")) for _, run in runs}
    traces: dict[str, list[tuple[int | None, Object]]] = {}
    for line, run in runs:
        traces.setdefault(str(run.get("trace_id") or run.get("id")), []).append((line, run))
    drafts: list[Draft] = []
    for found in traces.values():
        # A run whose parent was not exported is a root as well.
        roots = [(line, run) for line, run in found if str(run.get("parent_run_id")) not in known]
        for line, root in roots[:1]:
            under = sorted((run for _, run in found if run is not root), key=_started)
            drafts.append(_session(document, line, root, under))
    return drafts


def _started(run: Object) -> tuple[str, str]:
    return str(run.get("start_time") or ""), str(run.get("dotted_order") or "")


def _session(document: Document, line: int | None, root: Object, under: list[Object]) -> Draft:
    draft = Draft(id=text_id(root.get("trace_id") or root.get("id")), error=target_error(root.get("error")))
    draft.at(root.get("start_time"))
    given, made = messages_of(root.get("inputs")), messages_of(root.get("outputs"))
    if not made:
        spoken = longest(draft, [given, *(_conversation(r) for r in under if r.get("run_type") == "llm")])
    elif len(made) > len(given) and made[: len(given)] == given:
        spoken = made
    else:  # the outputs hold the answer alone
        spoken = [*given, *made]
    runs = [_tool(r) for r in under if r.get("run_type") == "tool"]
    if spoken:
        add_values(document, draft, spoken, line, flag=None)
        draft.apply(runs)
    else:
        _outline(draft, root, runs)
    return draft


def _outline(draft: Draft, root: Object, runs: list[ToolRun]) -> None:
    """A trace without any messages, as of a decorated function: what went in, the tool runs, what came out."""
    draft.say("user", _words(root.get("inputs")) or None)
    for run in runs:
        draft.call(run.id, run.name, run.arguments)
        draft.result(run.id, run.text, run.is_error, run.name)
    draft.say("assistant", _words(root.get("outputs")))


def _words(values: object) -> str:
    """Inputs or outputs as a text: the one value where there is only one, else JSON."""
    body = as_object(values)
    return as_text(values if body is None else next(iter(body.values())) if len(body) == 1 else body or None)


def _conversation(run: Object) -> list[object]:
    """What a model call saw, and its answer."""
    return [*messages_of(run.get("inputs")), *messages_of(run.get("outputs"))]


def _tool(run: Object) -> ToolRun:
    outputs = as_object(run.get("outputs"))
    output = run.get("outputs") if outputs is None else outputs.get("output", outputs)
    answer = as_object(plain(opened(output)))
    call_id = text_id(answer.get("tool_call_id")) if answer else None
    text = as_text(answer.get("content")) if answer and call_id else as_text(output)
    failed = bool(run.get("error")) or (answer is not None and answer.get("status") == "error")
    inputs = as_object(run.get("inputs"))
    arguments = run.get("inputs") if inputs is None else inputs.get("input", inputs)
    return ToolRun(text_id(run.get("name")), text or as_text(run.get("error")), failed, call_id, arguments)
