"""What is judged: `DataPoint` (the question), `Output` (what the target made of it), `ResponsePair`. Frozen inputs.

No provider shapes here: chat messages, Responses items and content blocks become these types in `messages.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from operator import index
from typing import Any, Literal, cast

from jury.errors import DataError
from jury.frozen import frozen
from jury.values import plain, show


@frozen
class ToolCall:
    """One call of a tool. `arguments` is an object, or the text as the model sent it where that is no JSON object."""

    name: str
    arguments: Any = field(default_factory=dict[str, Any])
    result: Any = None
    id: str | None = None
    is_error: bool = False


@frozen
class Message:
    """One turn. `content` is a text, a list of content parts as the caller had them, or None.

    `kind` tells a reasoning turn from a spoken one; `tool_call_id` names the call that a `tool` message answers.
    """

    role: str
    content: Any = ""
    tool_calls: tuple[ToolCall, ...] = ()
    name: str | None = None
    tool_call_id: str | None = None
    kind: Literal["text", "reasoning"] = "text"


@frozen
class TargetError:
    """Why the target gave no answer. An empty message is still an error."""

    message: str = ""
    kind: str | None = None
    code: str | int | None = None

    def __str__(self) -> str:
        text = self.message if self.message and self.message.strip() else "no message"
        return f"{self.kind}: {text}" if self.kind else text


@frozen
class Text:
    """A piece of an answer's text."""

    text: str


@frozen
class Reasoning:
    """A piece of a model's own thinking, shown in the transcript, never part of the answer."""

    text: str


OutputItem = Text | Reasoning | ToolCall


@frozen
class Output:
    """What a target made of an item (public alias: `AgentResponse`).

    Give either the parts (`text`, `reasoning`, `tool_calls`, shown in the order reasoning, calls, text) or `items`, the
    pieces in their true order. `value` carries an answer that is no text (any JSON value). `error` says that the target
    failed: such an output is never judged. A text given as `error` becomes a `TargetError`.
    `model` names the target, so that a panel can warn when a judge is of its family.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: Sequence[ToolCall] = ()
    error: TargetError | str | None = None
    items: Sequence[OutputItem] = ()
    model: str | None = None
    value: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.error, str):
            object.__setattr__(self, "error", TargetError(self.error))
        if not self.items and not self.reasoning and not self.tool_calls:  # a text, as most are
            if self.tool_calls != ():
                object.__setattr__(self, "tool_calls", ())
            object.__setattr__(self, "items", (Text(self.text),) if self.text else ())
            return
        items = tuple(self.items)
        if items:
            if not self.text:  # one response: its texts are joined without a separator
                object.__setattr__(self, "text", "".join(i.text for i in items if isinstance(i, Text)))
            if not self.reasoning:
                object.__setattr__(self, "reasoning", "".join(i.text for i in items if isinstance(i, Reasoning)))
            if not self.tool_calls:
                object.__setattr__(self, "tool_calls", tuple(i for i in items if isinstance(i, ToolCall)))
        else:
            parts: list[OutputItem] = []
            if self.reasoning:
                parts.append(Reasoning(self.reasoning))
            parts.extend(self.tool_calls)
            if self.text:
                parts.append(Text(self.text))
            items = tuple(parts)
        object.__setattr__(self, "tool_calls", tuple(self.tool_calls))
        object.__setattr__(self, "items", items)

    @property
    def target_error(self) -> TargetError | None:
        """`error` with its declared type (a text was turned into a `TargetError` when the output was made)."""
        error = self.error
        return TargetError(error) if isinstance(error, str) else error


AgentResponse = Output


@frozen
class DataPoint:
    """One item: what the target was asked, and what is known about it.

    `input`: a text (one user message), a list of messages, an object `{"messages": [...]}` or `{"input": text}`, or any
    other JSON value (one user message holding its JSON). `expected_output`: any JSON value, None for none. `row`: the
    columns of a data file, under `row.*` in templates. `number` is the item's place in its data set (for rotation).
    `id` and `trace_id` are texts; a number becomes its text. So is `context`: a list is joined by blank lines, other
    values become their JSON. Raises `DataError` for other kinds of ids, rows, numbers.
    """

    input: Any = None
    expected_output: Any = None
    system_instructions: str = ""
    id: str | None = None
    row: Mapping[str, Any] = field(default_factory=dict[str, Any])
    context: str | None = None
    number: int | None = None
    trace_id: str | None = None

    def __post_init__(self) -> None:
        _check_item(self)
        given: Any = self.context
        if type(given) not in _NAMES and not isinstance(given, str):
            data = plain(given, "context")
            texts = cast("list[Any]", data) if isinstance(data, list) else [data]
            object.__setattr__(self, "context", "\n\n".join(map(show, texts)))


@frozen
class ResponsePair:
    """Two answers to one question. A side is an output and nothing else. Ids, row and number as in a `DataPoint`."""

    question: str
    response_a: Output
    response_b: Output
    reference: str = ""
    id: str | None = None
    row: Mapping[str, Any] = field(default_factory=dict[str, Any])
    number: int | None = None
    trace_id: str | None = None

    def __post_init__(self) -> None:
        _check_item(self)
        if isinstance(cast("Any", self.question), DataPoint):
            told = "give its parts by name: question=, reference=, id=, row="
            raise DataError(f"the question of a pair is what was asked, not a DataPoint; {told}", "wrong_type")

    def swapped(self) -> ResponsePair:
        """The same pair with B shown first."""
        return ResponsePair(
            self.question,
            self.response_b,
            self.response_a,
            self.reference,
            self.id,
            self.row,
            self.number,
            self.trace_id,
        )


_NAMES = (str, type(None))


def _check_item(item: DataPoint | ResponsePair) -> None:
    """The fields that go into results and into the rotation, as results and rotation need them."""
    row: Any = item.row
    named = type(item.id) in _NAMES and type(item.trace_id) in _NAMES
    if named and type(row) is dict and (item.number is None or type(item.number) is int):  # as most are
        return
    if row is None:
        object.__setattr__(item, "row", {})
    elif not isinstance(row, Mapping):
        raise DataError(f"row must be a mapping from columns to values, got {type(row).__name__}", "wrong_type")
    for name in ("id", "trace_id"):
        given: Any = getattr(item, name)
        if given is None or isinstance(given, str):
            continue
        if isinstance(given, bool | float | bytes | Mapping | Sequence):
            raise DataError(f"{name} must be a text or a whole number, got {given!r}", "wrong_type")
        object.__setattr__(item, name, str(given))
    if item.number is not None:
        try:
            object.__setattr__(item, "number", index(item.number))
        except TypeError:
            raise DataError(f"number must be a whole number, got {item.number!r}", "wrong_type") from None
