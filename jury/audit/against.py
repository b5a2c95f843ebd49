"""One judge, or the panel, held against people's labels: confusion, agreement, and whether its raw rate leans.

What holds for the run depends on how the labels were drawn (`calibrating.py`); what does not is undefined with that
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jury.audit.early import ONLY_WHERE
from jury.audit.reading import Audited
from jury.stats import (
    Confusion,
    Estimate,
    JudgeAccuracy,
    PairedCounts,
    agreement_interval,
    confusion,
    gwet_ac,
    judge_accuracy,
    mcnemar,
    stratified_rate,
    undefined,
    wilson,
)
from jury.stats.table import Category

DOUBT = 0.8  # confidence at which labels speak against a raw rate: a warning that is missed costs more than a false one
_OTHER_MIX = {
    "by-class": "labels drawn by class: their mix is not that of the run, and agreement depends on it",
    "by-verdict": "labels drawn by verdict: their mix is not that of the run, and agreement, TPR and TNR depend on it",
    "other": "labels not drawn at random: agreement, TPR and TNR are those of the items that were picked",
}


@dataclass(frozen=True, slots=True)
class Leaning:
    """Judge's pass rate minus people's on the same labelled items, with its `DOUBT` interval.

    `flagged`: the interval excludes 0. About one judge in five that does not lean is flagged by chance.
    """

    difference: Estimate
    flagged: bool


def leaning(
    judge: Sequence[bool | int], people: Sequence[bool | int], *, run: tuple[int, int] | None = None
) -> Leaning:
    """Whether a raw rate leans, from verdicts and labels (True or 1: pass) of the same items.

    `run`: how many of all its items the judge passes and fails, where the labelled ones are a random sample of them.
    Then people's rate is estimated within each verdict, which shows leanings that the labelled items leave in doubt.

    >>> leaning([1] * 7 + [0] * 13, [1] * 4 + [0] * 16).flagged
    True
    """
    pairs = [(bool(j), bool(p)) for j, p in zip(judge, people, strict=True)]
    counts = PairedCounts(*(pairs.count(pair) for pair in ((True, False), (False, True), (True, True), (False, False))))
    difference = mcnemar(counts, level=DOUBT).difference
    if run is not None and sum(run):
        cells = [counts.only_a + counts.both, counts.only_b + counts.neither]
        rate = stratified_rate([counts.both, counts.only_b], cells, run, level=DOUBT)
        raw = run[0] / sum(run)
        if rate.value is not None and rate.interval is not None:
            low, high = rate.interval
            difference = Estimate(raw - rate.value, raw - high, raw - low, n=counts.n, level=DOUBT)
    ends = difference.interval
    return Leaning(difference, ends is not None and not ends[0] <= 0.0 <= ends[1])


@dataclass(frozen=True, slots=True)
class AgainstPeople:
    """One judge, or the panel, against labels. `agreement` is the raw share of equal values, all labels counted.

    What does not hold for the run, by how the labels were drawn, is undefined with that reason; `table` has the counts.
    """

    name: str
    table: Confusion
    accuracy: JudgeAccuracy
    agreement: Estimate
    ac1: Estimate
    lean: Leaning | None


def against(
    name: str,
    votes: Sequence[Category | None],
    truth: Sequence[Category | None],
    rows: Sequence[int],
    how: tuple[Audited, str],
) -> AgainstPeople:
    """One judge, or the panel: all its `votes`, of which those at `rows` have a label of this part."""
    audit, sampled = how
    said = [votes[i] for i in rows]
    words = {True: "PASS", False: "FAIL", None: "OTHER"}
    judge = [None if v is None else words[audit.passed(v)] for v in said]
    people = [None if v is None else words[audit.passed(v)] for v in truth]
    table = confusion(judge, people)
    found = judge_accuracy(table)
    equal = [s == t for s, t in zip(said, truth, strict=True) if s is not None and t is not None]
    both = [[s, t] for s, t in zip(said, truth, strict=True) if s is not None and t is not None]
    decided = [
        (j == "PASS", p == "PASS") for j, p in zip(judge, people, strict=True) if "OTHER" not in (j, p) and j and p
    ]
    mixed = _OTHER_MIX.get(sampled, "")
    nothing = undefined("no_data", mixed)
    agreement = nothing if mixed else share(sum(equal), len(equal))
    lean = None
    if decided and sampled == "random":
        passed = [audit.passed(v) for v in votes]
        run = (passed.count(True), passed.count(False))
        lean = leaning([j for j, _ in decided], [p for _, p in decided], run=run)
    if sampled == "by-class":
        found = replace(found, accuracy=nothing, kappa=nothing)
    elif mixed:
        found = JudgeAccuracy(nothing, nothing, nothing, nothing, nothing)
    ac1 = nothing
    if not mixed:
        ac1 = agreement_interval(both, gwet_ac, seed=0, replicates=500) if both else undefined("no_data")
    return AgainstPeople(name, table, found, agreement, ac1, lean)


def no_fair_votes(name: str) -> AgainstPeople:
    """A judge whose votes are a choice of the hard items."""
    why = undefined("no_data", ONLY_WHERE)
    return AgainstPeople(name, confusion([], []), JudgeAccuracy(why, why, why, why, why), why, why, None)


def share(part: int, whole: int) -> Estimate:
    """A share with Wilson's interval."""
    return wilson(part, whole) if whole else undefined("no_data")
