"""The values of a prompt's names: one builder of `input.* output.* log.*` for both juries.

`pointwise` and `pairwise` build the values of one item; a side of a pair is the same builder over an empty `DataPoint`.
Only what `wanted` names is built. Lists stay lists, their JSON is made where a tag prints them (`templates.py`). Which
names there are, without values, is in `names.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from jury.data import DataPoint, Message, Output, Reasoning, ResponsePair, Text, ToolCall
from jury.messages import question_text, text_of, to_messages
from jury.names import SIDES, Known, known
from jury.values import data_of, plain, show

__all__ = ["Known", "known", "pairwise", "pointwise"]

Values = dict[str, Any]
Plan = tuple[tuple[str, tuple[tuple[str, Callable[["_Side"], Any]], ...]], ...]
_DICT: Any = dict  # as Any: a comparison with it does not narrow what is compared
_MAPPING: Any = Mapping
_LISTS: tuple[Any, ...] = (list, tuple)
_NOTHING = DataPoint(input=[])
_NO_EXTRA: Mapping[str, Any] = {}


def pointwise(
    data: DataPoint,
    output: Output,
    *,
    criteria: str,
    extra: Mapping[str, Any] = _NO_EXTRA,
    wanted: frozenset[str] | None = None,
) -> Values:
    """The names of one item and its output.

    `extra` holds the user's own names and those of a special jury, as plain data. `wanted` are the paths that any
    template uses (`Template.names`), None for all of them. `context` and `row` exist where the item has one. `fence` is
    a mark that no value contains.
    """
    fence = wanted is None or "fence" in wanted
    values = _used(extra, wanted)
    values["criteria"] = criteria
    plan = _plan(wanted, "", fence)
    values.update(_families(_Side(data, output), plan))
    if data.context is not None and "context" not in extra:
        values["context"] = data.context
    if data.row and _uses(wanted, "row"):
        values["row"] = _row(data.row, wanted)
    if fence:
        asked = [message["content"] for message in values["input"]["all_messages"]]
        core = (*asked, values["output"]["response"], values["input"]["expected_output"])
        # The usual item has no other texts: a walk through the values would find these four again.
        usual = plan == _CORE_PLAN and len(values) == 1 + len(plan) and type(data.input) is str
        values["fence"] = _fence(core, (criteria, *core) if usual else _texts(values))
    return values


def pairwise(
    pair: ResponsePair, *, criteria: str, extra: Mapping[str, Any] = _NO_EXTRA, wanted: frozenset[str] | None = None
) -> Values:
    """The names of one pair, `response_a` being the side that is shown first. Arguments as in `pointwise`.

    The fence is the same for both orders of a pair.
    """
    fence = wanted is None or "fence" in wanted
    values = _used(extra, wanted)
    values.update(question=question_text(pair.question), criteria=criteria, reference=show(pair.reference))
    for side, output in zip(SIDES, (pair.response_a, pair.response_b), strict=True):
        plan = _plan(wanted, f"{side}.", False)
        if plan:
            values[side] = _families(_Side(_NOTHING, output), plan)
    if pair.row and _uses(wanted, "row"):
        values["row"] = _row(pair.row, wanted)
    if fence:
        sides = sorted((pair.response_a.text, pair.response_b.text))
        values["fence"] = _fence((values["question"], values["reference"], *sides), _texts(values))
    return values


# One side: the documented leaves


class _Side:
    """An item and its output, with what several leaves share made once."""

    __slots__ = ("_expected", "_messages", "data", "output")

    def __init__(self, data: DataPoint, output: Output) -> None:
        self.data = data
        self.output = output
        self._messages: list[Values] | None = None
        self._expected: str | None = None

    def messages(self) -> list[Values]:
        if self._messages is None:
            given = self.data.input
            if type(given) is str:
                self._messages = [{"role": "user", "content": given}]
            else:
                self._messages = _chat(to_messages(self.data))
        return self._messages

    def expected(self) -> str:
        if self._expected is None:
            given = self.data.expected_output
            self._expected = given if type(given) is str else show(plain(given, "expected_output"))
        return self._expected

    def last_input(self) -> str:
        messages = self.messages()
        return messages[-1]["content"] if messages else ""

    def response(self) -> str:
        return self.output.text

    def tools(self) -> list[Values]:
        return [
            {"name": c.name, "arguments": _arguments(c.arguments), "result": data_of(c.result), "id": c.id}
            for c in self.output.tool_calls
        ]

    def transcript(self) -> list[Values]:
        return [_transcript_turn(item) for item in self.output.items]

    def error(self) -> str:
        error = self.output.target_error
        return error.message if error else ""

    def instructions(self) -> str:
        return self.data.system_instructions


_LEAVES: dict[str, dict[str, Callable[[_Side], Any]]] = {
    "input": {
        "all_messages": _Side.messages,
        "expected_output": _Side.expected,
        "system_instructions": _Side.instructions,
    },
    "output": {
        "response": _Side.response,
        "tools_called": _Side.tools,
        "messages": _Side.transcript,
        "error": _Side.error,
    },
    "log": {
        "input": _Side.last_input,
        "output": _Side.response,
        "reference": _Side.expected,
        "expected_output": _Side.expected,
        "messages": _Side.messages,
    },
}
_CORE = ("input.all_messages", "output.response", "input.expected_output")  # what the fence is derived from


@lru_cache(maxsize=1024)
def _plan(wanted: frozenset[str] | None, prefix: str, fence: bool) -> Plan:
    """The leaves to build, by family; with a fence also those it is derived from."""

    def used(path: str) -> bool:
        return (fence and path in _CORE) or _uses(wanted, prefix + path)

    found = {
        family: tuple((leaf, make) for leaf, make in leaves.items() if used(f"{family}.{leaf}"))
        for family, leaves in _LEAVES.items()
    }
    return tuple((family, leaves) for family, leaves in found.items() if leaves)


@lru_cache(maxsize=4096)
def _uses(wanted: frozenset[str] | None, path: str) -> bool:
    """Whether a wanted name is this path, lies below it, or holds it."""
    below = (f"{path}.", f"{path}[")
    return wanted is None or any(n == path or n.startswith(below) or path.startswith(f"{n}.") for n in wanted)


_CORE_PLAN = _plan(frozenset[str](), "", True)


def _used(extra: Mapping[str, Any], wanted: frozenset[str] | None) -> Values:
    return {name: value for name, value in extra.items() if _uses(wanted, name)}


def _row(row: Mapping[Any, Any], wanted: frozenset[str] | None) -> Values:
    """The columns of a row; the objects in those that are used as their data."""
    columns = {str(name): value for name, value in row.items()}
    return {
        name: data_of(v) if type(v) is not str and _uses(wanted, f"row.{name}") else v for name, v in columns.items()
    }


def _families(side: _Side, plan: Plan) -> Values:
    return {family: {leaf: make(side) for leaf, make in leaves} for family, leaves in plan}


def _chat(messages: Iterable[Message]) -> list[Values]:
    """Role, content and calls of each message; the id of a call beside its result where the call is shown."""
    shown: list[Values] = []
    ids: set[str] = set()
    for message in messages:
        if message.kind == "reasoning":
            continue
        turn: Values = {"role": message.role, "content": text_of(message.content)}
        if message.tool_calls:
            turn["tool_calls"] = [_function_call(c, _argument_text(c.arguments)) for c in message.tool_calls]
            ids.update(c.id for c in message.tool_calls if c.id)
        if message.tool_call_id in ids:
            turn["tool_call_id"] = message.tool_call_id
        shown.append(turn)
    return shown


def _transcript_turn(item: Text | Reasoning | ToolCall) -> Values:
    if isinstance(item, Text):
        return {"role": "assistant", "content": item.text}
    if isinstance(item, Reasoning):
        return {"role": "assistant", "content": item.text, "type": "reasoning"}
    calls = [_function_call(item, _arguments(item.arguments))]
    turn: Values = {"role": "assistant", "content": "", "tool_calls": calls, "result": data_of(item.result)}
    return {**turn, "is_error": True} if item.is_error else turn


def _function_call(call: ToolCall, arguments: Any) -> Values:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _arguments(arguments: Any) -> Any:
    """Arguments given as a text are shown parsed if they are a JSON object; otherwise they are kept."""
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        try:
            return json.loads(arguments)
        except (ValueError, RecursionError):
            pass
    return data_of(arguments)


def _argument_text(arguments: Any) -> str:
    """Arguments as the chat format has them: JSON text."""
    return arguments if isinstance(arguments, str) else json.dumps(data_of(arguments), ensure_ascii=False, default=str)


# The fence


def _fence(core: Iterable[str], texts: Iterable[str]) -> str:
    """`data-` and 16 hex digits, derived from the judged texts `core` and found in none of `texts`.

    The texts decide it, so the same item has the same prompt on every run; a text that holds it all the same, which
    takes a guess of 64 bits, moves it on.
    """
    joined = "\0".join(texts)
    digest = sha256("\0".join(core).encode("utf-8", "surrogatepass"))
    while True:
        mark = f"data-{digest.hexdigest()[:16]}"
        if mark not in joined:
            return mark
        digest = sha256(digest.digest())


def _texts(value: Any) -> list[str]:
    """All texts in a value, keys of objects included. What is held twice is looked at once."""
    texts: list[str] = []
    seen: set[int] = set()
    stack = [value]
    while stack:
        top = stack.pop()
        if type(top) is str:
            texts.append(top)
        elif top is None or id(top) in seen:
            continue
        elif type(top) in _LISTS:
            seen.add(id(top))
            stack += top
        elif type(top) is _DICT or isinstance(top, _MAPPING):
            seen.add(id(top))
            texts += map(str, top)
            stack += top.values()
        else:
            texts.append(str(top))
    return texts
