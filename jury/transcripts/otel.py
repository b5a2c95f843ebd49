"""OpenTelemetry: OTLP JSON, or spans one a line, with the conventions for generative AI.

Traps: `gen_ai.input.messages` and `gen_ai.output.messages` are JSON inside a string attribute of `chat` spans, and each
repeats the history; the system text stands apart in `gen_ai.system_instructions`; whether a tool failed is the
status of its `execute_tool` span. Before version 1.37 the content was in span events (`otel_events.py`). Capturing
content is off by default: spans without messages are an error that says so, never an empty session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jury.transcripts.chat import add_values
from jury.transcripts.draft import Draft, ToolRun, target_error, text_id
from jury.transcripts.otel_events import messages_in_events
from jury.transcripts.reading import Document, opened
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, first, objects
from jury.transcripts.traces import longest, spans_under
from jury.transcripts.turns import as_text

_MESSAGES = ("gen_ai.input.messages", "gen_ai.output.messages")


def matches(document: Document) -> bool:
    return any("resourceSpans" in b or "resource_spans" in b or _is_span(b) for b in document.bodies)


def _is_span(body: Object) -> bool:
    return any(key.startswith("gen_ai.") for key in attributes(body))


def read(document: Document) -> list[Draft]:
    """One session a conversation; spans that name none belong to the conversation of their trace."""
    spans = sorted(_spans(document), key=lambda s: _time(first(s, "startTimeUnixNano", "start_time")))
    of_trace: dict[str, str] = {}
    for span in spans:
        name = attributes(span).get("gen_ai.conversation.id")
        if name:
            of_trace.setdefault(_trace(span), str(name))
    groups: dict[str, list[Object]] = {}
    for span in spans:
        trace = _trace(span)
        groups.setdefault(of_trace.get(trace, trace), []).append(span)
    drafts = [_session(document, name, group) for name, group in groups.items()]
    found = [draft for draft in drafts if draft.events]
    if not found:
        torn = sum(map(_torn, spans))
        why = "did not capture the content of messages (it is off by default)"
        if torn:
            why = f"cut off the messages of {torn} of them (attributes have a longest length there)"
        raise document.error(f"{len(spans)} spans without any whole message: the recorder {why}", "no_messages")
    return found


def _spans(document: Document) -> Iterator[Object]:
    for line, body in document.objects("spans"):
        resources = first(body, "resourceSpans", "resource_spans")
        if resources is not None:
            yield from spans_under(resources, "scopeSpans", "spans")
        elif isinstance(body.get("attributes"), dict | list):
            yield body
        else:
            raise document.error("expected a span with attributes", line=line)


def _time(value: Any) -> tuple[int, str]:
    """Nanoseconds as a number or as digits, or a time as text."""
    text = str(value or "")
    return (int(text), "") if text.isascii() and text.isdigit() else (0, text)


def _trace(span: Object) -> str:
    return str(first(span, "traceId", "trace_id") or (as_object(span.get("context")) or EMPTY).get("trace_id") or "")


def attributes(span: Object) -> dict[str, Any]:
    """The attributes of a span or an event as an object, from OTLP's list of keys and typed values or as they are."""
    given = as_object(span.get("attributes"))
    if given is not None:
        return dict(given)
    return {str(pair.get("key")): _value(pair.get("value")) for pair in objects(span.get("attributes"))}


def _value(value: Any) -> Any:
    body = as_object(value)
    if body is None:
        return value
    inner = as_object(first(body, "arrayValue", "kvlistValue"))
    if inner is None:
        return next(iter(body.values()), None)
    if "arrayValue" in body:
        return [_value(v) for v in as_list(inner.get("values"))]
    return {str(p.get("key")): _value(p.get("value")) for p in objects(inner.get("values"))}


def _session(document: Document, name: str, spans: list[Object]) -> Draft:
    draft = Draft(id=text_id(name))
    draft.at(first(spans[0], "startTimeUnixNano", "start_time_unix_nano", "start_time"))
    whole = [span for span in spans if not _torn(span)]
    if len(whole) < len(spans):
        draft.note(f"spans with torn messages (the recorder cuts attributes) were left out: {len(spans) - len(whole)}")
    conversations = [c for c in map(_conversation, whole) if c]
    add_values(document, draft, longest(draft, conversations), None, flag=None)
    draft.apply([_tool(span) for span in spans if _operation(span) == "execute_tool"])
    if draft.events and draft.events[-1].type != "assistant":
        failed = [s for s in spans if _failed(s) and _operation(s) in ("chat", "invoke_agent")]
        draft.error = target_error(_message(failed[-1])) if failed else None
    return draft


def _operation(span: Object) -> str:
    return str(attributes(span).get("gen_ai.operation.name") or str(span.get("name") or "").split(" ")[0])


def _conversation(span: Object) -> list[Any]:
    """System text, input and output messages of a span, wherever its version of the conventions puts them."""
    found = attributes(span)
    events = [(str(e.get("name")), attributes(e)) for e in objects(span.get("events"))]
    for _, inner in events:
        found |= {k: v for k, v in inner.items() if k.endswith((".messages", ".system_instructions"))}
    given = [message for key in _MESSAGES for message in as_list(opened(found.get(key)))]
    given = given or messages_in_events(found, events)
    system = opened(found.get("gen_ai.system_instructions"))
    if system and given and not any(m.get("role") == "system" for m in objects(given)):
        given.insert(0, {"role": "system", "content": system})
    return given


def _torn(span: Object) -> bool:
    """Are its messages a JSON text that was cut off? Half a conversation would be judged as if it were one."""
    found = attributes(span)
    given = [found.get(key) for key in _MESSAGES]
    return any(isinstance(v, str) and v.lstrip()[:1] in ("[", "{") and opened(v) is v for v in given)


def _failed(span: Object) -> bool:
    status = as_object(span.get("status"))
    code = span.get("status") if status is None else first(status, "code", "status_code")
    return code in (2, "2", "ERROR", "STATUS_CODE_ERROR", "Error") or bool(attributes(span).get("error.type"))


def _message(span: Object) -> str:
    status = as_object(span.get("status")) or EMPTY
    return str(first(status, "message", "description") or attributes(span).get("error.type") or "the span failed")


def _tool(span: Object) -> ToolRun:
    found = attributes(span)
    failed = _failed(span)
    text = as_text(found.get("gen_ai.tool.call.result"))
    return ToolRun(
        text_id(found.get("gen_ai.tool.name")),
        text or (_message(span) if failed else ""),
        failed,
        text_id(found.get("gen_ai.tool.call.id")),
        found.get("gen_ai.tool.call.arguments"),
    )
