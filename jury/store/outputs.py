"""What a target made of an item, as a line of outputs.jsonl: written before it is judged, never asked for again.

Only values: the output as plain JSON and back, equal. Reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, cast

from jury.data import Output, OutputItem, Reasoning, TargetError, Text, ToolCall
from jury.errors import DataError
from jury.plain import to_plain
from jury.results import Usage

OUTPUTS = "outputs.jsonl"


@dataclass(frozen=True, slots=True)
class StoredOutput:
    """One output, or the error that came instead. `key` digests the target and all that it was asked.

    `usage`, `calls` and `retries` are the target's own: nothing of them is in the numbers of the judges. `source`:
    `same` where the identical question of another item was answered before.
    """

    key: str
    item: str
    output: Output
    usage: Usage | None = None
    calls: int = 1
    retries: int = 0
    latency_s: float = 0.0
    price_source: str | None = None
    at: str = ""
    prev: str = ""
    source: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The line as docs/reference/run-folder.md has it, without `prev`."""
        made: dict[str, Any] = {"key": self.key, "item": self.item, "output": output_to_dict(self.output)}
        made |= {"usage": to_plain(self.usage), "calls": self.calls, "retries": self.retries}
        made |= {"latency_s": self.latency_s, "price_source": self.price_source, "at": self.at}
        return {**made, "source": self.source} if self.source else made

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Raises `DataError`."""
        usage = data.get("usage")
        known = {f.name for f in fields(cls)} - {"output", "usage"}
        try:
            given: Any = {k: v for k, v in data.items() if k in known and v is not None}
            spent = Usage(**cast("Any", usage)) if isinstance(usage, Mapping) else None
            return cls(**given, output=output_from_dict(data["output"]), usage=spent)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not a stored output: {error}", "bad_json") from None


def output_to_dict(output: Output) -> dict[str, Any]:
    """Plain JSON values; what is empty is left out."""
    items = [_item(i) for i in output.items]
    error = output.target_error
    told = None if error is None else {"message": error.message, "kind": error.kind, "code": error.code}
    made = {"items": items, "error": told, "model": output.model, "value": to_plain(output.value)}
    text = {"text": output.text} if output.text != "".join(i.text for i in output.items if isinstance(i, Text)) else {}
    return {**text, **{k: v for k, v in made.items() if v is not None and v != []}}


def output_from_dict(data: Mapping[str, Any]) -> Output:
    """The output that `output_to_dict` dumped. Raises KeyError or TypeError for what is none."""
    error: Any = data.get("error")
    return Output(
        text=data.get("text", ""),
        items=tuple(_read_item(i) for i in data.get("items", ())),
        error=TargetError(**cast("Any", error)) if isinstance(error, Mapping) else None,
        model=data.get("model"),
        value=data.get("value"),
    )


def _item(item: OutputItem) -> dict[str, Any]:
    if isinstance(item, ToolCall):
        return {"type": "tool_call", **{f.name: to_plain(getattr(item, f.name)) for f in fields(ToolCall)}}
    return {"type": "reasoning" if isinstance(item, Reasoning) else "text", "text": item.text}


def _read_item(data: Mapping[str, Any]) -> OutputItem:
    given = {k: v for k, v in data.items() if k != "type"}
    kinds: Mapping[str, Any] = {"tool_call": ToolCall, "reasoning": Reasoning, "text": Text}
    return kinds[data["type"]](**given)
