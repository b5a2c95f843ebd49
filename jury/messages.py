"""The shapes people have, as messages, outputs and texts: `to_output`, `to_messages`, `read_messages`, `question_text`.

Chat messages, Responses items and content blocks are told apart by their own fields (`shapes.py`), never by a flag.
What is none of them is a JSON value: as an answer it is shown in full, whatever its keys; as an input it is one user
message. A shape that is recognised and broken inside raises `DataError` naming the place. No files here, and no names
of templates: `transcripts` and `namespace.py` have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from jury.data import DataPoint, Message, Output, OutputItem, Reasoning, TargetError, Text, ToolCall
from jury.errors import DataError
from jury.redaction import told
from jury.shapes import (
    MEDIA,
    SYSTEM,
    TOOL,
    Object,
    Turn,
    Typed,
    call_of,
    kind_of,
    part_text,
    read_turns,
    result_of,
    sort_of,
    text_of,
    thought_of,
)
from jury.values import plain, pretty, show

__all__ = ["MEDIA", "output_of", "question_text", "read_messages", "text_of", "to_messages", "to_output"]

# A lone object is taken for a message only if it holds nothing else: an answer with further fields is shown in full.
_ONE_MESSAGE = frozenset({"role", "content", "name", "id", "refusal", "annotations", "audio"}) | frozenset(
    {"tool_calls", "function_call", "reasoning", "reasoning_content"}
    # What SDKs and gateways put beside them: the content once more as an object, the thinking once more in pieces.
    | {"parsed", "reasoning_details", "thinking_blocks", "provider_specific_fields"}
)


def to_output(value: Any) -> Output:
    """What a target made of an item, from whatever the caller has.

    A text; an `Output`; None (an empty answer); a number or boolean (its Python text); an assistant's message or a list
    of messages; Responses items; content blocks; the SDKs' response objects; an errored target: a `TargetError`, an
    exception, `{"error": <text or object, not empty>}`; any other JSON value (its JSON in full, kept in `value`). Of a
    conversation, the answer is what comes after the last user message. Raises `DataError`.
    """
    if isinstance(value, str):
        return Output(value)
    if isinstance(value, Output):
        return _checked(value)
    if value is None:
        return Output()
    if isinstance(value, TargetError | BaseException):  # `gather(..., return_exceptions=True)` gives exceptions
        return _checked(Output(error=cast("TargetError", value)))
    if isinstance(value, Typed):
        value = [value]
    entries = _entries(value, "output")
    if entries is not None:
        return _from_list(entries)
    data = plain(value, "output")
    return _from_object(cast("Object", data)) if isinstance(data, dict) else Output(show(data), value=data)


def to_messages(data: DataPoint) -> tuple[Message, ...]:
    """The input of an item as messages. `DataPoint.input` says which shapes there are.

    Raises `DataError` for a list of which only some entries are messages, and for an entry of `{"messages": [...]}`
    that is no object.
    """
    given = data.input
    if isinstance(given, str):
        return (Message("user", given),)
    if given is None:
        return ()
    if isinstance(given, Typed):
        given = [given]
    entries = _entries(given, "input")
    if entries is not None:
        return _input_list(entries, "input")
    if isinstance(given, Mapping):
        return _input_object(cast("Mapping[str, Any]", given))
    value = plain(given, "input")
    return _input_object(cast("Object", value)) if isinstance(value, dict) else (Message("user", show(value)),)


def question_text(value: Any) -> str:
    """A question as one text: the words of a message, of several with their roles, any other value as it is shown."""
    if isinstance(value, str):
        return value
    turns = [t for t in to_messages(DataPoint(value)) if t.kind != "reasoning"]
    if len(turns) == 1:
        return text_of(turns[0].content)
    return "\n\n".join(f"{t.role}: {text_of(t.content)}" for t in turns) if turns else show(value)


def read_messages(entries: Iterable[Any], where: str = "messages") -> tuple[Message, ...]:
    """Messages from chat messages, Responses items, content blocks and `Message`s, in any mixture.

    Thoughts become messages of kind `reasoning`; a result of a tool stands alone and is attached to its call. A message
    without a role is a user's. Raises `DataError` naming `where` and the number of the entry, from 0.
    """
    found: list[Message] = []
    for turn in read_turns([_entry(e, f"{where}[{i}]") for i, e in enumerate(entries)], where):
        parts = _parts(turn)
        spoken = [p for p in parts if sort_of(p) != "thought"]
        thoughts = [turn.thought, *(thought_of(p) for p in parts if sort_of(p) == "thought")]
        thought = "\n".join(t for t in thoughts if t)
        if thought:
            found.append(Message(turn.role, thought, kind="reasoning"))
        if spoken or not parts:
            content = turn.content if len(spoken) == len(parts) else spoken
            found.append(Message(turn.role, content, tuple(turn.calls), turn.name, turn.call_id))
    return tuple(found)


def output_of(messages: Sequence[Message]) -> Output:
    """The answer in a conversation: what comes after its last user message. The last text in it is the answer's."""
    return _answer(read_turns(list(messages), "messages"))


def _entries(value: Any, what: str) -> list[Any] | None:
    """The entries of a list, each plain data or one of our own types; None for a value that is no list."""
    if isinstance(value, str | bytes | bytearray | memoryview) or not isinstance(value, Sequence):
        return None
    return [_entry(v, f"{what}[{i}]") for i, v in enumerate(cast("Sequence[Any]", value))]


def _entry(entry: Any, what: str) -> Any:
    return entry if isinstance(entry, Typed) else plain(entry, what)


def _parts(turn: Turn) -> list[Any]:
    return turn.content if turn.is_list else [turn.content]


# Inputs


def _input_list(entries: list[Any], where: str) -> tuple[Message, ...]:
    sorts = [sort_of(e) for e in entries]
    if "message" in sorts and None in sorts:
        at = sorts.index(None)
        raise DataError(f"{where}[{at}] is {kind_of(entries[at])}, but other entries are messages", "not_object")
    if None in sorts:
        return (Message("user", pretty(entries)),)
    if entries and set(sorts) <= {"text", "media"}:  # the parts of one message
        return (Message("user", entries),)
    return read_messages(entries, where)


def _input_object(given: Mapping[str, Any]) -> tuple[Message, ...]:
    messages = given.get("messages")
    if isinstance(messages, list | tuple):
        system = given.get("system")  # the Messages API keeps it beside the list
        before = (Message("system", plain(system, "input.system")),) if system else ()
        return (*before, *read_messages(cast("Sequence[Any]", messages), "input.messages"))
    if set(given) == {"input"}:
        inner = given["input"]
        if isinstance(inner, str):
            return (Message("user", inner),)
        entries = _entries(inner, "input.input")
        if entries and "message" in map(sort_of, entries):
            return _input_list(entries, "input.input")
    data = plain(given, "input")
    return read_messages([data], "input") if _is_one_message(data) else (Message("user", pretty(data)),)


# Answers


def _from_list(entries: list[Any]) -> Output:
    sorts = {sort_of(e) for e in entries}
    if entries and None not in sorts and sorts != {"media"}:
        turns = read_turns(entries, "output")
        if any(t.role not in SYSTEM and t.role != "user" for t in turns):
            return _answer(turns)
    data = plain(entries, "output")
    return Output(pretty(data), value=data)


def _from_object(data: Object) -> Output:
    error = _error(data.get("error"))
    items = _response_items(data)
    if items is not None:
        model = data.get("model")
        answer = _answer(read_turns(items, "output"))
        return Output(answer.text, error=error, items=answer.items, model=model if isinstance(model, str) else None)
    return Output(pretty(data), error=error, value=data)


def _response_items(data: Object) -> list[Any] | None:
    """The messages or items inside a response object of an API; None if the object is none."""
    choices, output = data.get("choices"), data.get("output")
    if data.get("object") == "chat.completion" and isinstance(choices, list) and choices:
        first = cast("list[Any]", choices)[0]
        message = cast("Object", first).get("message") if isinstance(first, dict) else None
        return [message] if sort_of(message) == "message" else None
    if isinstance(output, list) and (data.get("object") == "response" or "finish_reason" in data):
        items = cast("list[Any]", output)
        return items if all(sort_of(i) for i in items) else None
    return [data] if data.get("role") == "assistant" and _is_one_message(data) else None


def _is_one_message(data: Object) -> bool:
    """Whether an object is a chat message, or a message of the SDKs, and nothing besides."""
    return sort_of(data) == "message" and (data.get("type") == "message" or data.keys() <= _ONE_MESSAGE)


def _error(error: Any) -> TargetError | None:
    """An error is a text or an object, and not empty; `"error": false` and the like say that there was none."""
    if not error or not isinstance(error, str | dict):
        return None
    if isinstance(error, str):
        return TargetError(error)
    found = cast("Object", error)
    message, code = found.get("message"), found.get("code")
    kind = next((v for k in ("type", "error_type", "kind") if isinstance(v := found.get(k), str)), None)
    return TargetError(
        message if isinstance(message, str) and message else pretty(found),
        kind,
        code if isinstance(code, str | int) else None,
    )


def _answer(turns: list[Turn]) -> Output:
    users = [i for i, t in enumerate(turns) if t.role == "user"]
    items: list[OutputItem] = []
    text = ""
    for turn in turns[users[-1] + 1 if users else 0 :]:
        if turn.orphan:  # shown all the same: dropping it would hide what the agent was told
            items.append(ToolCall(turn.name or "unknown", {}, result_of(turn), turn.call_id, turn.is_error))
        elif turn.role not in TOOL and turn.role not in SYSTEM:
            pieces = _pieces(turn)
            items.extend(pieces)
            text = "".join([p.text for p in pieces if isinstance(p, Text)]) or text
    return Output(text, items=items)


def _pieces(turn: Turn) -> list[OutputItem]:
    """Reasoning, texts and calls of an assistant's turn in their order; calls beside the content come after it."""
    calls = iter(turn.calls)
    pieces: list[OutputItem] = [Reasoning(turn.thought)] if turn.thought else []
    for part in _parts(turn):
        sort = sort_of(part)
        if sort == "call":
            pieces.append(next(calls))
        elif sort == "thought":
            thought = thought_of(part)
            pieces += [Reasoning(thought)] if thought else []
        else:
            text = part_text(part)
            pieces += [Text(text)] if text else []
    return [*pieces, *calls]


def _with_calls(output: Output) -> Output:
    """The output with calls as its maker had them (a chat message's, a Responses item, a block) read as `ToolCall`."""
    calls: list[ToolCall] = []
    for i, given in enumerate(cast("Sequence[Any]", output.tool_calls)):
        where = f"Output.tool_calls[{i}]"
        calls.append(given if isinstance(given, ToolCall) else call_of(_entry(given, where), where))
    made = {id(given): call for given, call in zip(output.tool_calls, calls, strict=True)}
    items = [made.get(id(item), item) for item in output.items]  # where no items were given they hold the same calls
    return replace(output, tool_calls=calls, items=items)


def _checked(output: Output) -> Output:
    """The output itself. Raises `DataError` where a caller put something else into it."""
    for name in ("text", "reasoning"):
        if not isinstance(getattr(output, name), str):
            raise DataError(f"Output.{name} is {kind_of(getattr(output, name))}; expected a text", "wrong_type")
    if not all(isinstance(call, ToolCall) for call in output.tool_calls):
        output = _with_calls(output)
    for i, item in enumerate(output.items):
        if not isinstance(item, Text | Reasoning | ToolCall):
            raise DataError(f"Output.items[{i}] is {kind_of(item)}; expected Text, Reasoning or ToolCall", "wrong_type")
    fault: Any = output.error
    if isinstance(fault, BaseException):
        kind, _, text = told(fault).partition(": ")
        output = replace(output, error=TargetError(text, kind))
    elif fault is not None and not isinstance(fault, TargetError):
        raise DataError(f"Output.error is {kind_of(output.error)}; expected TargetError or a text", "wrong_type")
    if output.value is not None and not output.items:  # the text of a value given alone
        value = plain(output.value, "Output.value")
        return replace(output, text=show(value), value=value)
    return output
