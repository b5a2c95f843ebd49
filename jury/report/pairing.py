"""Pairs and second runs: win rates, flips and the ranking of candidates; what is fixed, broken and changed."""

from __future__ import annotations

from collections import Counter

from jury.audit import Audited, compare_runs, tournament
from jury.errors import DataError
from jury.report import words
from jury.report.items import word_of
from jury.report.parts import Changed, Difference, Head, PairFacts, Rate, Target
from jury.results import Comparison
from jury.stats import undefined, wilson
from jury.summary import count, position_bias

NAMES = ("model_a", "model_b")
_BETTER = {
    "second": "This run is better than {other} by more than chance.",
    "first": "This run is worse than {other} by more than chance.",
    "undecided": "No difference from {other} can be seen: the interval holds 0.",
}


def pairs(audit: Audited, head: Head, seed: int) -> PairFacts | None:
    """None for runs that compare nothing. Candidates are ranked where rows name them (`model_a`, `model_b`)."""
    if not audit.paired:
        return None
    results = [one.result for one in audit.judged if isinstance(one.result, Comparison)]
    bias = position_bias(results)
    counts = dict.fromkeys(("A", "B", "tie", "inconclusive"), 0) | Counter(map(word_of, results))
    flips = undefined("no_data", "no vote was asked for in both orders")
    if bias.both_orders_readable:
        flips = wilson(bias.flips, bias.both_orders_readable)
    ranked = _ranking(audit, seed)
    return PairFacts(
        win_rate=head.rate,
        counts=counts,
        flips=words.rate(flips, bias.flips),
        flip_kinds={"primacy": bias.primacy, "recency": bias.recency, "mixed": bias.mixed},
        ranking=ranked.ranking,
        next_pairs=ranked.next_pairs,
        cycles=ranked.cycles,
        note=ranked.note,
    )


def _ranking(audit: Audited, seed: int) -> PairFacts:
    """The fields about the ranking."""
    empty = PairFacts(Rate(None))
    if not audit.judged:
        return empty
    try:
        found = tournament(audit, name_a=NAMES[0], name_b=NAMES[1], seed=seed)
    except DataError:  # rows without names compare two fixed sides
        note = f"No ranking: the rows do not name what is compared (fields {NAMES[0]} and {NAMES[1]})."
        return PairFacts(Rate(None), note=note)
    leaders = {t.group: t.target for t in reversed(found.targets)}
    targets = tuple(
        Target(
            name=t.target,
            group=t.group + 1,
            elo=t.elo,
            ranks=t.ranks,
            games=t.games,
            against_first=None
            if t.target == leaders[t.group]
            else words.rate(found.ranking.win_probability(t.target, leaders[t.group])),
        )
        for t in found.targets
    )
    left = f"{count(found.left_out, 'vote')} left out (flips, no verdict). " if found.left_out else ""
    return PairFacts(
        Rate(None),
        ranking=targets,
        next_pairs=found.next_pairs,
        cycles=found.cycles,
        note=f"{left}{found.note}".strip(),
    )


def difference(audit: Audited, other: Audited, other_head: Head) -> Difference:
    """This run minus the other, on the items that both hold."""
    found = compare_runs(other, audit)
    compared = found.comparison
    fixed: list[str] = []
    broken: list[str] = []
    for flip in found.changed:
        was, now = other.passed(flip.first), audit.passed(flip.second)
        if was is False and now is True:
            fixed.append(flip.item)
        elif was is True and now is False:
            broken.append(flip.item)
    name = other.run.manifest.name if other.run.manifest.name != audit.run.manifest.name else str(other.run.folder)
    return Difference(
        other=name,
        other_rate=other_head.rate,
        rate=words.points(compared.difference),
        p=compared.exact_p,
        sentence=_BETTER[found.better].format(other=name),
        common=found.common,
        only_here=found.only[1],
        only_there=found.only[0],
        fixed=tuple(fixed),
        broken=tuple(broken),
        changed=tuple(Changed(f.item, words.shown(f.first), words.shown(f.second)) for f in found.changed),
        differs=(*found.differs, *_asked(audit, other)),
    )


def _asked(audit: Audited, other: Audited) -> tuple[str, ...]:
    """Items that share an id and not the question."""
    known = {one.item.id: (one.item.input, one.item.question) for one in other.judged}
    now = ((one.item.id, (one.item.input, one.item.question)) for one in audit.judged)
    odd = sum(item in known and known[item] != asked for item, asked in now)
    return (f"{words.count(odd, 'item')} of the same id ask something else",) if odd else ()
