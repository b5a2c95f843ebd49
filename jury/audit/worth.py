"""What a panel is worth: independent votes, the best single judge, the cheapest subset that would do, price, one more.

What is chosen (a judge, a subset) is chosen on one half of the items and measured on the other: the half is that of the
labels (`calibrating.part_of`), so it never moves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jury.audit.annotators import AlternativeAnnotator, alternative_annotator
from jury.audit.calibrating import part_of
from jury.audit.early import IN_PART, Polled, polled
from jury.audit.people import left_out
from jury.audit.reading import Audited
from jury.stats import (
    Estimate,
    PairedComparison,
    PairMatrix,
    PanelWorth,
    alpha_interval,
    mcnemar,
    pair_matrix,
    paired_counts,
    panel_worth,
    rating_table,
    undefined,
    wilson,
)
from jury.stats.table import Category, IntArray
from jury.weighing import VoteTable

SAME = 0.98  # a subset must give the panel's verdict on this share of the chosen half
MOST_ENUMERATED = 10  # judges whose subsets are all tried; larger panels drop one judge at a time
ENOUGH = 20


@dataclass(frozen=True, slots=True)
class Subset:
    """Judges whose plurality stands in for the panel. `same`: share of held-out items with the panel's verdict."""

    judges: tuple[str, ...]
    same: Estimate
    price: float | None


@dataclass(frozen=True, slots=True)
class Worth:
    """Page one of a report.

    `independent` holds effective votes and error correlations against labels; with fewer than `ENOUGH` labels
    (`by_votes`) it is undefined: votes do not show what judges get wrong together. `best` is the best single judge
    (chosen on one half), `against_best` the panel minus that judge in agreement with labels on the other half.
    `one_more`: share of items whose verdict one more vote could change. `price`: US dollars per decided item, None
    where a price is unknown. `annotators` is the Alternative Annotator Test of the panel, where three people or more
    labelled the same items. `saying` puts it into words. Where asking stopped early, what is said of the panel is of
    the items that everybody was asked about in any case, or undefined (`early.py`): then `best` is the best of those
    that were asked about every item. `early` says so.
    """

    judges: int
    items: int
    alpha: Estimate
    pairs: PairMatrix | None
    independent: PanelWorth
    by_votes: bool
    best: str | None
    best_agreement: Estimate
    against_best: PairedComparison | None
    cheapest: Subset | None
    one_more: Estimate
    price: float | None
    annotators: AlternativeAnnotator
    saying: tuple[str, ...]
    early: str = ""


def worth(audit: Audited, *, seed: int = 0) -> Worth:
    """What the panel of a run is worth. A single judge, or a run without votes, leaves most undefined with a reason.

    Labels of items that were picked, not drawn at random, are left out: what people and judges say of the hard items
    is not what they say of all.
    """
    drawn = audit.at_random()
    left = len(audit.labelled()) - len(drawn.labelled())
    found = _of_all(drawn, seed)
    return replace(found, saying=(*found.saying, left_out(left))) if left else found


def _of_all(audit: Audited, seed: int) -> Worth:
    seen = polled(audit)
    whole = seen.whole(audit)
    if whole is audit:
        return _said(_valued(audit, seed))
    standing = alternative_annotator(audit.verdicts(), _people(audit))
    found = _unknown(audit, seen) if whole is None else _valued(whole, seed)
    return _said(replace(found, price=_price(audit), annotators=standing, early=seen.note))


def _unknown(audit: Audited, seen: Polled) -> Worth:
    """Of a panel that was asked only in part: nothing about the panel as a whole, but by labels which judge is best
    of those that were asked about every item."""
    nothing = undefined("no_data", IN_PART)
    blind = PanelWorth(nothing, nothing, {})
    few = len(audit.labelled()) < ENOUGH
    always = replace(audit, judges=tuple(judge for judge in audit.judges if judge not in seen.late))
    best, agreement, against = None, nothing, None
    if always.judges and not few:
        rows = _rows(always.table())
        best, agreement, against = _best(rows, audit.truth(), audit.verdicts(), _halves(audit), always)
    return Worth(
        len(audit.judges), len(audit.judged), nothing, None, blind, few, best, agreement, against, None, nothing, None,
        alternative_annotator([], {}), (),
    )  # fmt: skip


def _rows(table: VoteTable) -> list[list[Category | None]]:
    """The vote of each judge on each item; None for none."""
    plain: list[list[int]] = _plain_codes(table).tolist()
    return [[None if c < 0 else table.labels[c] for c in row] for row in plain]


def _halves(audit: Audited) -> list[bool]:
    """Whether an item is of the half that is measured, not of the one that is chosen on."""
    return [part_of(one.item.id) == "test" for one in audit.judged]


def _valued(audit: Audited, seed: int) -> Worth:
    table = audit.table()
    truth, panel = audit.truth(), audit.verdicts()
    codes, rows = _plain_codes(table), _rows(table)
    labelled = sum(t is not None for t in truth)
    by_votes = labelled < ENOUGH
    independent = _BLIND if by_votes else panel_worth(rows, truth, seed=seed, replicates=400)
    several = len(audit.judges) > 1 and bool(rows)
    halves = _halves(audit)
    target = panel if by_votes else truth
    best, agreement, against = _best(rows, target, panel, halves, audit) if several else (None, _NONE, None)
    cheapest = _cheapest(codes, table, panel, halves, audit) if several else None
    return Worth(
        judges=len(audit.judges),
        items=len(rows),
        alpha=_alpha(rows, table, seed) if several else _NONE,
        pairs=pair_matrix(rows) if several else None,
        independent=independent,
        by_votes=by_votes,
        best=best,
        best_agreement=agreement,
        against_best=None if by_votes else against,
        cheapest=cheapest,
        one_more=_one_more(codes, len(table.labels)),
        price=_price(audit),
        annotators=alternative_annotator(panel, _people(audit)),
        saying=(),
    )


def _alpha(rows: Sequence[Sequence[Category | None]], table: VoteTable, seed: int) -> Estimate:
    return alpha_interval(rating_table(rows, scale=table.labels), seed=seed, replicates=500)


def _people(audit: Audited) -> dict[str, list[Category | None]]:
    return {name: [labels.get(one.item.id) for one in audit.judged] for name, labels in audit.people.items()}


_NONE = undefined("too_few_raters")
_UNSEEN = undefined("no_data", f"needs {ENOUGH} labels: votes do not show what judges get wrong together")
_BLIND = PanelWorth(_UNSEEN, _UNSEEN, {})


def _plain_codes(table: VoteTable) -> IntArray:
    """One vote a judge: of pairs in both orders the vote, -1 for a flip."""
    if table.second is None:
        return table.first
    return np.where(table.first == table.second, table.first, -1)


def _plurality(codes: IntArray, labels: int) -> IntArray:
    """The most voted label of each row; -1 for a tie and for no vote."""
    counts = np.stack([(codes == k).sum(axis=1) for k in range(labels)], axis=1)
    top = counts.max(axis=1)
    clear = ((counts == top[:, None]).sum(axis=1) == 1) & (top > 0)
    return np.where(clear, counts.argmax(axis=1), -1)


def _best(
    rows: Sequence[Sequence[Category | None]],
    target: Sequence[Category | None],
    panel: Sequence[Category | None],
    halves: Sequence[bool],
    audit: Audited,
) -> tuple[str | None, Estimate, PairedComparison | None]:
    """The judge that agrees most with the target on one half; its agreement, and panel minus judge, on the other."""

    def hits(judge: int, half: bool) -> list[bool]:
        return [r[judge] == t for r, t, h in zip(rows, target, halves, strict=True) if t is not None and h is half]

    chosen = [hits(j, False) for j in range(len(audit.judges))]
    if not chosen or not chosen[0]:
        return None, undefined("no_data"), None
    at = max(range(len(chosen)), key=lambda j: (sum(chosen[j]), -j))
    held = hits(at, True)
    whole = [p == t for p, t, h in zip(panel, target, halves, strict=True) if t is not None and h]
    words = {True: "PASS", False: "FAIL"}
    compared = mcnemar(paired_counts([words[w] for w in whole], [words[h] for h in held]))
    return audit.judges[at], wilson(sum(held), len(held)) if held else undefined("no_data"), compared


def _cheapest(
    codes: IntArray, table: VoteTable, panel: Sequence[Category | None], halves: Sequence[bool], audit: Audited
) -> Subset | None:
    """The cheapest subset whose plurality is the panel's verdict on `SAME` of one half, measured on the other."""
    said = table.codes_of(panel)
    usable, held = said >= 0, np.array(halves, dtype=np.bool_)
    learn, test = usable & ~held, usable & held
    if int(learn.sum()) < ENOUGH or not test.any():
        return None
    prices = {judge: _price(audit, judge) for judge in audit.judges}
    q = len(table.labels)

    def same(columns: Sequence[int], rows: IntArray) -> int:
        return int((_plurality(codes[rows][:, list(columns)], q) == said[rows]).sum())

    def price(columns: Sequence[int]) -> float:
        known = [prices[audit.judges[c]] for c in columns]
        return float(sum(1.0 if p is None else p for p in known))

    rows, others = np.flatnonzero(learn), np.flatnonzero(test)
    good = [c for c in _subsets(len(audit.judges), lambda c: same(c, rows)) if same(c, rows) >= SAME * len(rows)]
    if not good:
        return None
    chosen = min(good, key=lambda c: (price(c), len(c), -same(c, rows)))
    known = all(p is not None for p in prices.values())
    names = tuple(audit.judges[c] for c in chosen)
    return Subset(names, wilson(same(chosen, others), len(others)), price(chosen) if known else None)


def _subsets(judges: int, score: Callable[[tuple[int, ...]], int]) -> list[tuple[int, ...]]:
    """All subsets of a small panel; of a large one those that dropping the least missed judge leads to."""
    if judges <= MOST_ENUMERATED:
        sizes = range(1, judges + 1)
        return [tuple(c) for size in sizes for c in itertools.combinations(range(judges), size)]
    left: tuple[int, ...] = tuple(range(judges))
    found: list[tuple[int, ...]] = [left]
    while len(left) > 1:
        left = max(itertools.combinations(left, len(left) - 1), key=score)
        found.append(left)
    return found


def _one_more(codes: IntArray, labels: int) -> Estimate:
    """Share of items where the two leading labels are at most one vote apart."""
    counts = np.sort(np.stack([(codes == k).sum(axis=1) for k in range(labels)], axis=1), axis=1)
    voted = counts.sum(axis=1) > 0
    close = voted & (counts[:, -1] - counts[:, -2] <= 1)
    n = int(voted.sum())
    return wilson(int(close.sum()), n) if n else undefined("no_data")


def _price(audit: Audited, judge: str | None = None) -> float | None:
    """Mean US dollars of all calls, or of one judge's, for each decided item; None where a price is not known.

    A judge function costs what it says it costs, and nothing where it says nothing.
    """
    manifest = audit.run.manifest
    free = {str(seat.get("id")) for seat in (*manifest.judges, *manifest.stand_ins) if seat.get("function")}
    costs: list[float | None] = []
    decided = 0
    for one in audit.judged:
        decided += one.said is not None
        votes = (v for v in one.result.votes if judge is None or v.judge == judge)
        costs += [(0.0 if v.judge in free else None) if v.usage is None else v.usage.cost for v in votes]
    known = [cost for cost in costs if cost is not None]
    return sum(known) / decided if costs and decided and len(known) == len(costs) else None


def _said(found: Worth) -> Worth:
    words: list[str] = []
    votes = found.independent.votes
    if votes.value is not None:
        words.append(f"{found.judges} judges are worth {votes.value:.1f} independent votes")
    compared = found.against_best.difference if found.against_best else None
    if compared is not None and compared.interval is not None and found.best:
        low, high = compared.interval
        if high < 0:
            words.append(f"{found.best} alone agrees with people more than the panel: one judge would do")
        elif low <= 0:
            words.append(f"no gain over {found.best} alone can be seen: one judge may do")
        else:
            words.append(f"the panel agrees with people more than its best judge, {found.best}")
    if found.cheapest is not None and len(found.cheapest.judges) < found.judges:
        names = " and ".join(", ".join(found.cheapest.judges).rsplit(", ", 1))
        words.append(
            f"{names} would give the same verdict on {_percent(found.cheapest.same)} of items not used to choose"
        )
    if found.annotators.passes is not None:
        may = "may" if found.annotators.passes else "may not"
        words.append(f"by the Alternative Annotator Test the panel {may} stand in for a person")
    if found.early:
        words.append(found.early)
    elif found.by_votes:
        words.append(f"fewer than {ENOUGH} labels: what judges get wrong together cannot be seen")
    return replace(found, saying=tuple(words))


def _percent(share: Estimate) -> str:
    if share.value is None:
        return "an unknown share"
    ends = share.interval
    return f"{100 * share.value:.0f}%" + (f" ({100 * ends[0]:.0f}% to {100 * ends[1]:.0f}%)" if ends else "")
