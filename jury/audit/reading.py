"""Verdicts, votes and labels of a run, aligned by item. Computes nothing but the alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from jury.audit.people import Said as PeopleSaid
from jury.audit.people import by_item, together
from jury.errors import ConfigError, DataError
from jury.results import Comparison, PairVote, PanelResult, Vote
from jury.scales import Boolean, Labels, Numeric, Scale
from jury.stats import Estimate, undefined
from jury.stats.table import Category
from jury.store import Label, Run, StoredItem
from jury.weighing import Said, VoteTable, vote_table

PAIR_LABELS = ("A", "B", "tie")


@dataclass(frozen=True, slots=True)
class Judged:
    """One item of a run with its last result and people's label (None: no label)."""

    item: StoredItem
    result: PanelResult | Comparison
    label: Category | None = None
    note: str = ""  # the reason that came with the label
    saw_verdict: bool = False  # a labeller had the panel's verdict in view
    picked: bool = False  # the item was labelled because of what was known of it: no part of a random sample

    @property
    def said(self) -> Category | None:
        """The panel's value; None where there is none."""
        return value_of(self.result)


@dataclass(frozen=True, slots=True)
class Audited:
    """A run as auditors read it. `judges` are the seats, in the order of the manifest, stand-ins left out.

    `labels` are the categories that votes are counted in: of a numeric scale with a pass mark False and True (fail and
    pass), of one without none. `people` holds each labeller's label by item, as votes are counted. `contested` are the
    items on which people tie: they have no label. `strays` counts labels of items that the run does not hold,
    `stray_items` names these. `measure` is the scale, where it is not that of the run (`criteria.py`).
    """

    run: Run
    judged: tuple[Judged, ...]
    judges: tuple[str, ...]
    labels: tuple[Category, ...]
    people: Mapping[str, Mapping[str, Category]] = field(default_factory=dict[str, Mapping[str, Category]])
    contested: tuple[str, ...] = ()
    strays: int = 0
    stray_items: tuple[str, ...] = ()
    measure: Scale | None = None

    @property
    def scale(self) -> Scale:
        """What a verdict may be. Raises `DataError` for pairs."""
        return self.measure or self.run.scale

    @property
    def paired(self) -> bool:
        return self.run.kind == "pairwise"

    def target(self, side: str = "", what: str = "name") -> str | None:
        """The `name` of the target that made the outputs (of a side of pairs: `a`, `b`), or its `model`.

        None where the data held them, or it is no model.
        """
        told = (self.run.manifest.targets.get(side) or {}).get(what)
        return str(told) if told else None

    @property
    def coverage(self) -> Estimate:
        """The share of items with a usable verdict: a count, without an interval."""
        n = len(self.judged)
        return Estimate(sum(one.said is not None for one in self.judged) / n, n=n) if n else undefined("no_data")

    def labelled(self) -> list[Judged]:
        return [one for one in self.judged if one.label is not None]

    def at_random(self) -> Audited:
        """The run without the labels of items that were picked, not drawn at random."""
        picked = {one.item.id for one in self.judged if one.picked}
        if not picked:
            return self
        judged = tuple(replace(one, label=None, note="") if one.picked else one for one in self.judged)
        people = {who: {i: v for i, v in of.items() if i not in picked} for who, of in self.people.items()}
        return replace(self, judged=judged, people={who: of for who, of in people.items() if of})

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
        scale = self.scale
        return None if scale.na is not None and value == scale.na else scale.passes(value)


View: TypeAlias = tuple[Scale, Callable[[PanelResult | Comparison], PanelResult | Comparison]]


def audited(run: Run | str | Path, labels: Iterable[Label] | None = None, *, view: View | None = None) -> Audited:
    """Read a run, with its own labels or the given ones. Raises `DataError`.

    Of each person the last label of an item counts, unless it was taken back; of several people the value that most of
    them gave. A label that is not on the scale is a `DataError` naming the item, and so are labels none of which is of
    an item of the run. `view`: another scale, and what to see of each result (`criteria.py`).
    """
    opened = run if isinstance(run, Run) else Run.open(run)
    scale = view[0] if view else None if opened.kind == "pairwise" else opened.scale
    given = by_item(opened.labels() if labels is None else labels, scale)
    said = {item: together(of_item) for item, of_item in given.items()}
    seen = view[1] if view else _whole
    judged = tuple(_judged(item, seen(result), said.get(item.id)) for item, result in opened.results())
    strays = given.keys() - {one.item.id for one in judged}
    if labels is not None and judged and given and len(strays) == len(given):
        raise DataError(
            f"none of the labels is of an item of {opened.folder}: they name {sorted(strays)[0]!r}, the run has "
            f"{judged[0].item.id!r}", "bad_json"
        )  # fmt: skip
    seats = [str(judge.get("id")) for judge in opened.manifest.judges]
    if not seats:
        seats = sorted({v.judge for one in judged for v in one.result.votes if not v.replacement})
    categories = PAIR_LABELS if scale is None else _categories(scale)
    made = Audited(opened, judged, tuple(dict.fromkeys(seats)), categories, measure=view[0] if view else None)
    people: dict[str, dict[str, Category]] = {}
    for item, of_item in given.items():
        for label, read in of_item:
            value = made.counted(read)
            if value is not None:
                people.setdefault(label.labeller, {})[item] = value
    contested = tuple(one.item.id for one in judged if one.item.id in said and said[one.item.id].contested)
    count = sum(len(given[item]) for item in strays)
    return replace(made, people=people, contested=contested, strays=count, stray_items=tuple(sorted(strays)))


def _whole(result: PanelResult | Comparison) -> PanelResult | Comparison:
    return result


def _judged(item: StoredItem, result: PanelResult | Comparison, said: PeopleSaid | None) -> Judged:
    if said is None:
        return Judged(item, result)
    return Judged(item, result, said.value, said.note, said.saw_verdict, said.picked)


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
    return not audit.paired and isinstance(audit.scale, Numeric)


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
