"""Verdicts, votes and labels of a run, aligned by item; and label files. Computes nothing but the alignment."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from jury.errors import ConfigError, DataError, ReplyError
from jury.results import Comparison, PairVote, PanelResult, Vote
from jury.scales import Boolean, Labels, Numeric, Scale
from jury.stats.table import Category
from jury.store import Label, Run, StoredItem
from jury.weighing import Said, VoteTable, vote_table

PAIR_LABELS = ("A", "B", "tie")
SAMPLED = ("random", "by-class", "by-verdict", "other")
_ITEM_NAMES = ("item", "id", "item_id")
_VALUE_NAMES = ("value", "label", "human", "verdict", "winner")


@dataclass(frozen=True, slots=True)
class Judged:
    """One item of a run with its last result and people's label (None: no label)."""

    item: StoredItem
    result: PanelResult | Comparison
    label: Category | None = None
    note: str = ""  # the reason that came with the label

    @property
    def said(self) -> Category | None:
        """The panel's value; None where there is none."""
        return value_of(self.result)


@dataclass(frozen=True, slots=True)
class Audited:
    """A run as auditors read it. `judges` are the seats, in the order of the manifest, stand-ins left out.

    `labels` are the categories that votes are counted in: of a numeric scale with a pass mark False and True (fail and
    pass), of one without none. `people` holds each labeller's label by item, as votes are counted.
    """

    run: Run
    judged: tuple[Judged, ...]
    judges: tuple[str, ...]
    labels: tuple[Category, ...]
    people: Mapping[str, Mapping[str, Category]] = field(default_factory=dict[str, Mapping[str, Category]])

    @property
    def paired(self) -> bool:
        return self.run.kind == "pairwise"

    def labelled(self) -> list[Judged]:
        return [one for one in self.judged if one.label is not None]

    def votes_of(self, judge: str) -> list[Category | None]:
        """A judge's vote on each item; None for none."""
        return [
            next((self.counted(_voted(v)) for v in one.result.votes if v.judge == judge), None) for one in self.judged
        ]

    def table(self) -> VoteTable:
        """All votes; for pairs each order by itself where both were asked. A numeric scale is a `ConfigError`."""
        if not self.labels:
            raise ConfigError("this needs verdicts with labels or a pass mark; the run has a plain numeric scale")
        rows = [
            {v.judge: self._counted(_said(v)) for v in one.result.votes if v.judge in self.judges}
            for one in self.judged
        ]
        return vote_table(rows, self.labels, judges=self.judges, paired=self.paired)

    def truth(self) -> list[Category | None]:
        """People's labels as votes are counted; None for none."""
        return [self.counted(one.label) for one in self.judged]

    def verdicts(self) -> list[Category | None]:
        """The panel's verdicts as votes are counted; None for none."""
        return [self.counted(one.said) for one in self.judged]

    def counted(self, value: Category | None) -> Category | None:
        """A value as votes are counted: a number as whether it passes."""
        return self.passed(value) if value is not None and not isinstance(value, bool) and numeric(self) else value

    def _counted(self, vote: Said) -> Said:
        return vote if isinstance(vote, tuple) else self.counted(vote)

    def passed(self, value: Category | None) -> bool | None:
        """Whether a value passes; for pairs whether A wins. None for ties, NA and no value."""
        if value is None:
            return None
        if self.paired:
            return {"A": True, "B": False}.get(str(value))
        scale = self.run.scale
        return None if scale.na is not None and value == scale.na else scale.passes(value)


def audited(run: Run | str | Path, labels: Iterable[Label] | None = None) -> Audited:
    """Read a run, with its own labels or the given ones. Raises `DataError`.

    The last label of an item counts; who said that none can be given has given none. A label that is not on the scale
    is a `DataError` naming the item.
    """
    opened = run if isinstance(run, Run) else Run.open(run)
    paired = opened.kind == "pairwise"
    scale = None if paired else opened.scale
    everyone = opened.labels() if labels is None else list(labels)
    given = {label.item: label for label in everyone if label.value is not None}
    judged = tuple(_judged(item, result, given.get(item.id), scale) for item, result in opened.results())
    seats = [str(judge.get("id")) for judge in opened.manifest.judges]
    if not seats:
        seats = sorted({v.judge for one in judged for v in one.result.votes if not v.replacement})
    made = Audited(opened, judged, tuple(dict.fromkeys(seats)), PAIR_LABELS if scale is None else _categories(scale))
    people: dict[str, dict[str, Category]] = {}
    for label in everyone:
        value = made.counted(_label(label, scale))
        if value is not None:
            people.setdefault(label.labeller, {})[label.item] = value
    return replace(made, people=people)


def _judged(item: StoredItem, result: PanelResult | Comparison, label: Label | None, scale: Scale | None) -> Judged:
    return Judged(item, result) if label is None else Judged(item, result, _label(label, scale), label.note)


def drawn(labels: Iterable[Label]) -> str | None:
    """How labels say that their items were drawn, one of `SAMPLED`; None where some do not say.

    With random ones among them `random`: of those alone (`of_sample`) everything can be said.
    """
    words = {label.sampling for label in labels}
    if not words or "" in words:
        return None
    if "random" in words:
        return "random"
    return words.pop() if len(words) == 1 and words <= set(SAMPLED) else "other"


def of_sample(labels: Iterable[Label], sampled: str) -> list[Label]:
    """The labels that belong to such a sample: those that say they were drawn otherwise are no part of a random one."""
    return [label for label in labels if sampled != "random" or label.sampling in ("", "random")]


def read_labels(path: str | Path, *, sampling: str = "") -> list[Label]:
    """Labels of a CSV or JSONL file: a column `item` (or `id`) and one `value` (or `label`, `human`, `verdict`,
    `winner`); `labeller` and `note` if there are. Raises `DataError`.
    """
    file = Path(path)
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error}", "not_found", file=str(file)) from None
    found: list[Label] = []
    for number, row in enumerate(_rows(file, text), start=1):
        item = next((row[n] for n in _ITEM_NAMES if row.get(n) not in (None, "")), None)
        value = next((row[n] for n in _VALUE_NAMES if row.get(n) not in (None, "")), None)
        if item is None:
            raise DataError(f"{file}: label {number} has no item: name a column `item` or `id`", "bad_json")
        if value is None:
            continue  # an item that nobody has labelled yet
        who, why = str(row.get("labeller") or ""), str(row.get("note") or "")
        found.append(Label(str(item), who, value, note=why, sampling=sampling))
    return found


def _rows(file: Path, text: str) -> list[dict[str, Any]]:
    if file.suffix.lower() in (".csv", ".tsv"):
        return [dict(r) for r in csv.DictReader(text.splitlines(), delimiter="\t" if file.suffix == ".tsv" else ",")]
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except ValueError as error:
            raise DataError(f"{file}: line {number} is not JSON: {error}", "bad_json", file=str(file)) from None
        if not isinstance(row, dict):
            raise DataError(f"{file}: line {number} is no JSON object", "bad_json", file=str(file))
        rows.append(cast("dict[str, Any]", row))
    return rows


def _label(label: Label, scale: Scale | None) -> Category | None:
    if label.value is None:
        return None
    if scale is None:
        text = str(label.value).strip()
        said = {"a": "A", "b": "B", "tie": "tie"}.get(text.lower())
        if said is None:
            raise DataError(f"label of item {label.item}: {text!r} is none of A, B, tie", "bad_json")
        return said
    value = label.value
    if isinstance(value, str) and isinstance(scale, Boolean):
        value = {"pass": True, "fail": False}.get(value.strip().lower(), value)
    try:
        return scale.read(value)
    except ReplyError as error:
        raise DataError(f"label of item {label.item}: {label.value!r}: {error.detail}", "bad_json") from None


def _categories(scale: Scale) -> tuple[Category, ...]:
    if isinstance(scale, Boolean):
        return (False, True)
    if isinstance(scale, Labels):
        return scale.values
    return () if scale.threshold is None else (False, True)


def value_of(result: PanelResult | Comparison) -> Category | None:
    """What a panel said; None where it did not decide."""
    if result.status not in ("decided", "not_applicable"):
        return None
    return result.winner if isinstance(result, Comparison) else result.value


def _voted(vote: Vote | PairVote) -> Category | None:
    return vote.value if vote.decided else None


def _said(vote: Vote | PairVote) -> Said:
    """A vote as the table wants it: of a pair in both orders, each order's own verdict."""
    if isinstance(vote, Vote):
        return _voted(vote)
    if not any(j.order == "ba" for j in vote.judgments):
        return _voted(vote)
    return (_order(vote, "ab"), _order(vote, "ba"))


def _order(vote: PairVote, order: str) -> str | None:
    """The side a judge named most often in an order; None for a draw between its repetitions."""
    said = [str(j.verdict.value) for j in vote.judgments if j.order == order and j.verdict.decided]
    counts = {value: said.count(value) for value in said}
    top = max(counts.values(), default=0)
    leaders = [value for value, n in counts.items() if n == top]
    if len(leaders) != 1:
        return None
    swapped = {"A": "B", "B": "A"} if order == "ba" else {}
    return swapped.get(leaders[0], leaders[0])


def numeric(audit: Audited) -> bool:
    """Whether verdicts are numbers on a continuous scale."""
    return not audit.paired and isinstance(audit.run.scale, Numeric)


def groups_of_items(audit: Audited, group: str | None) -> list[str] | None:
    """The cluster of each item, from a field of its row; None without `group`. A missing field is a `DataError`."""
    if group is None:
        return None
    names: list[str] = []
    for one in audit.judged:
        row: Mapping[str, Any] = one.item.row
        if group not in row:
            raise DataError(f"item {one.item.id} has no {group!r} in its row", "bad_json")
        names.append(str(row[group]))
    return names


def same_items(first: Sequence[Judged], second: Sequence[Judged]) -> list[tuple[Judged, Judged]]:
    """The items that both hold, by id."""
    other = {one.item.id: one for one in second}
    return [(one, other[one.item.id]) for one in first if one.item.id in other]
