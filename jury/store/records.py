"""The lines of a run folder as values: `StoredItem`, `StoredJudgment`, `StoredResult`, `Label`. Reads no file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from functools import cache
from operator import attrgetter
from typing import Any, Literal, Self, cast

from jury.errors import DataError
from jury.frozen import frozen
from jury.plain import invalid, to_plain
from jury.results import Comparison, Judgment, PanelResult

Result = PanelResult | Comparison
FREE_SOURCES = ("cache", "same")  # of judgments that were paid for elsewhere


@frozen
class StoredItem:
    """What was judged, as texts: enough to show, label and replay it without the source data.

    Pointwise: `input` (text), `messages` (the chat, where the input was one), `output`, `expected_output`, `context`,
    `error` (of the target). Pairwise: `question`, `response_a`, `response_b`, `reference`, `error`. `digest` changes
    with anything that judges could see. `number` counts from 0.
    """

    id: str
    number: int = 0
    digest: str = ""
    tags: tuple[str, ...] = ()
    trace_id: str | None = None
    input: str = ""
    messages: tuple[Mapping[str, Any], ...] = ()
    output: str = ""
    expected_output: str = ""
    context: str | None = None
    question: str = ""
    response_a: str = ""
    response_b: str = ""
    reference: str = ""
    error: str | None = None
    row: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is empty is left out."""
        # Every item of a run is written: all its fields are taken in one step.
        return {k: v for k, v in zip(_ITEM, _item_values(self), strict=True) if v or k in ("id", "number", "digest")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Raises `DataError`."""
        return _made(cls, data)


_ITEM = tuple(f.name for f in fields(StoredItem))
_item_values = attrgetter(*_ITEM)


@frozen
class StoredJudgment:
    """One judgment as it was recorded. `key` digests everything that shaped it, `request` what was sent.

    `at` is an ISO time (UTC), `price_source` says where the price comes from, `prev` the digest of the line before.
    `source`: `cache` (another run paid for it), `same` (an identical item of this run did), `batch`; else asked live.
    `batch`: the number of the batch that it came with.
    """

    key: str
    item: str
    judgment: Judgment
    request: str = ""
    price_source: str | None = None
    at: str = ""
    prev: str = ""
    source: str | None = None
    batch: int | None = None

    @property
    def judge(self) -> str:
        return self.judgment.judge

    def to_dict(self) -> dict[str, Any]:
        """The line as docs/reference/run-folder.md has it, without `prev`."""
        made: dict[str, Any] = {"key": self.key, "item": self.item, **to_plain(self.judgment)}
        made |= {"request": self.request, "price_source": self.price_source, "at": self.at}
        if self.source:
            made["source"] = self.source
        if self.batch is not None:
            made["batch"] = self.batch
        return made

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Raises `DataError`."""
        own = {"key", "item", "request", "price_source", "at", "prev", "source", "batch"}
        judgment = {k: v for k, v in data.items() if k not in own}
        for name in ("key", "item"):
            if not isinstance(data.get(name), str):
                raise DataError(f"not a stored judgment: {name} is missing", "bad_json")
        made = _validated(Judgment, judgment)
        texts = {k: data.get(k) for k in own if data.get(k) is not None}
        return cls(judgment=made, **cast("Any", texts))


@frozen
class StoredResult:
    """The verdict on one item. `seal` digests the item and everything that was to be asked about it.

    `voters` digests what shapes the seats' votes, whatever the item and the rule.

    `complete`: nothing about it failed, was left out for money, or waits for another call.
    """

    item: str
    number: int
    result: Result
    seal: str = ""
    voters: str = ""

    def to_dict(self) -> dict[str, Any]:
        voters = {"voters": self.voters} if self.voters else {}
        return {"item": self.item, "number": self.number, "seal": self.seal, **voters, "result": self.result.to_dict()}


@frozen
class Label:
    """A person's verdict on an item. `value`, or `values` by criterion; `shown`: the order of a pair as it was shown.

    `sampling` says how the item came to be labelled: `random`, `disagreement`, ... `status`: empty for a verdict, `na`
    where the labeller said that none can be given, `undone` for a line that takes this labeller's label of the item
    back. `saw_verdict`: the panel's verdict was in view.
    """

    item: str
    labeller: str = ""
    value: Any = None
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    note: str = ""
    at: str = ""
    sampling: str = ""
    shown: str | None = None
    status: Literal["", "na", "undone"] = ""
    saw_verdict: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is empty is left out."""
        made = {name: getattr(self, name) for name in _names(type(self))}
        return {k: v for k, v in made.items() if k in ("item", "value") or v not in (None, "", {})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Raises `DataError`."""
        return _made(cls, data)


def standing(lines: Iterable[Label]) -> list[Label]:
    """The labels that hold, in the order they were given in: of each labeller and item the last, unless undone."""
    found: dict[tuple[str, str], Label] = {}
    for label in lines:
        key = (label.labeller, label.item)
        found.pop(key, None)  # what is said anew stands at the end
        if label.status != "undone":
            found[key] = label
    return list(found.values())


def complete(result: Mapping[str, Any]) -> bool:
    """Of a stored result: no judgment of it failed, and it was not left undecided for money."""
    if result.get("reason") == "budget":
        return False
    votes: list[dict[str, Any]] = result.get("votes") or []
    return not any(
        judgment["verdict"]["status"] == "error" for vote in votes for judgment in vote.get("judgments") or ()
    )


def brief(result: Mapping[str, Any]) -> dict[str, Any]:
    """Of a stored result: what its status, counts and failures are told by, in the same shape."""
    get = result.get
    kept = {k: v for k in _BRIEF if (v := get(k)) is not None}
    votes: list[dict[str, Any]] = []
    given: list[dict[str, Any]] = result.get("votes") or []
    for vote in given:
        verdict: dict[str, Any] = vote.get("verdict") or {}
        failure: dict[str, Any] | None = vote.get("failure") or verdict.get("failure")
        if failure or vote.get("flip_kind"):
            told = {"kind": failure["kind"]} if failure else None
            votes.append({"judge": vote["judge"], "failure": told, "flip_kind": vote.get("flip_kind")})
    return {**kept, "votes": votes} if votes else kept


_CASCADE = ("tier", "for_people", "checked")
_BRIEF = ("status", "reason", "pass", "winner", "calls", "calls_saved", "usage", "agreement", *_CASCADE)


def tags_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What a row is filed under: its `tags`, a list or words between commas, or its `tag`."""
    given: Any = row.get("tags", row.get("tag"))
    words: Any = given.split(",") if isinstance(given, str) else given
    if not isinstance(words, list):
        return ()
    told = (str(word).strip() for word in cast("list[Any]", words) if isinstance(word, str | int | float))
    return tuple(dict.fromkeys(word for word in told if word))


@cache
def _names(cls: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls))


@cache
def _adapter(cls: type) -> Any:
    from pydantic import TypeAdapter  # where stored JSON comes in

    return TypeAdapter(cls)


def _validated(cls: type, data: Mapping[str, Any]) -> Any:
    try:
        return _adapter(cls).validate_python(data)
    except invalid() as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(p) for p in first["loc"])
        raise DataError(f"not a stored {cls.__name__}: {where}: {first['msg']}", "bad_json") from None


def _made(cls: type, data: Mapping[str, Any]) -> Any:
    return _validated(cls, {k: v for k, v in data.items() if k in _names(cls)})
