"""Leanings of judges that have nothing to do with quality: the slot, the length, their own family. Effect sizes first.

None of these numbers proves a bias by itself: longer answers may be better, and a family may be good. P-values are
corrected over the judges (Holm). What cannot be computed is undefined with the reason, never "no bias". Of a judge that
was asked only where the others differ (`early.py`), only the items count that all were asked about in any case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jury.audit.early import ONLY_WHERE, Polled, polled
from jury.audit.reading import Audited
from jury.audit.repeats import Repeats, both_orders, first_of, repeats
from jury.families import family
from jury.stats import (
    Estimate,
    holm,
    length_bias,
    newcombe,
    position_bias,
    self_preference,
    self_preference_shared,
    undefined,
)
from jury.stats.bias import PositionBias
from jury.stats.table import Category


@dataclass(frozen=True, slots=True)
class JudgeLeaning:
    """One judge.

    `position`: None for single answers and one order. `length`: of pairs, how much the log odds of winning grow from
    "much shorter" to "much longer" (coefficient of tanh); of single answers, the pass rate of the longer half minus
    that of the shorter half. `own_family`: its rate for targets of its own family minus the mean rate of the other
    judges for them, on the items that it and others voted on. P-values are corrected over the judges.
    """

    judge: str
    position: PositionBias | None
    p_position: float | None
    length: Estimate
    p_length: float | None
    own_family: Estimate
    p_family: float | None


def leanings(audit: Audited) -> tuple[JudgeLeaning, ...]:
    """The leanings of every judge of a run.

    Families of targets are those of the models that the run asked, else they are read from the rows of items: `model`
    of a single answer, `model_a` and `model_b` of a pair; else the targets' names tell.
    """
    later = () if not audit.paired or audit.table().second is not None else repeats(audit)
    seen = polled(audit)
    found = [_one(audit, judge, later, seen) for judge in audit.judges]
    corrected = (holm([one[2] for one in found]), holm([one[4] for one in found]), holm([one[6] for one in found]))
    return tuple(
        JudgeLeaning(one[0], one[1], corrected[0][i], one[3], corrected[1][i], one[5], corrected[2][i])
        for i, one in enumerate(found)
    )


_Raw = tuple[str, PositionBias | None, float | None, Estimate, float | None, Estimate, float | None]


def _one(audit: Audited, judge: str, later: Sequence[Repeats], seen: Polled) -> _Raw:
    if judge in seen.late and not seen.lot:
        nothing = undefined("no_data", ONLY_WHERE)
        return judge, None, None, nothing, None, nothing, None
    position = _position(audit, judge, later, seen) if audit.paired else None
    p_position = position.p_value if position else None
    votes = {name: seen.fair(name, audit.votes_of(name)) for name in audit.judges}
    length, p_length = _length(audit, votes[judge])
    own, p_own = _family(audit, judge, votes)
    return judge, position, p_position, length, p_length, own, p_own


def _position(audit: Audited, judge: str, later: Sequence[Repeats], seen: Polled) -> PositionBias | None:
    """From the verdicts in both orders; of a run in one order, from what was asked `later` in the other one."""
    rows = list(seen.lot) if judge in seen.late else list(range(len(audit.judged)))
    table = audit.table().rows(rows)
    if table.second is None:
        items = {audit.judged[at].item.id for at in rows}
        own = [r for r in later if r.judge == judge and r.item in items]
        pairs = [(first_of(a), first_of(b)) for a, b in both_orders(own)]
        return position_bias(pairs) if pairs else None
    at = table.judges.index(judge)
    columns: list[list[int]] = [codes[:, at].tolist() for codes in (table.first, table.second)]
    said = [[None if code < 0 else str(table.labels[code]) for code in column] for column in columns]
    return position_bias(list(zip(said[0], said[1], strict=True)))


def _length(audit: Audited, votes: Sequence[Category | None]) -> tuple[Estimate, float | None]:
    if audit.paired:
        wins = [None if v is None else {"A": 1.0, "B": 0.0}.get(str(v), 0.5) for v in votes]
        items = [one.item for one in audit.judged]
        if not any(item.response_a or item.response_b for item in items):
            return undefined("no_data", "the run holds no texts of the answers"), None
        found = length_bias(wins, [len(i.response_a) for i in items], [len(i.response_b) for i in items])
        return found.coefficient, found.p_value
    rated = [(len(one.item.output), passed) for one, v in zip(audit.judged, votes, strict=True)
             if (passed := audit.passed(v)) is not None]  # fmt: skip
    if not any(size for size, _ in rated):
        return undefined("no_data", "the run holds no texts of the answers"), None
    sizes = sorted(size for size, _ in rated)
    middle = sizes[len(sizes) // 2]
    longer = [p for size, p in rated if size >= middle]
    shorter = [p for size, p in rated if size < middle]
    if not shorter:
        return undefined("no_variation", "all answers are of one length"), None
    counts = (sum(longer), len(longer), sum(shorter), len(shorter))
    return newcombe(*counts), self_preference(*counts).p_value


def _family(
    audit: Audited, judge: str, votes: Mapping[str, Sequence[Category | None]]
) -> tuple[Estimate, float | None]:
    seats = {str(j.get("id")): j for j in audit.run.manifest.judges}
    seat = seats.get(judge, {})
    own = str(seat.get("family") or "") or (family(str(seat["model"])) if seat.get("model") else "")
    if seat.get("function"):
        return undefined("no_data", "a function is of no family"), None
    if not own:
        return undefined("no_data", "the family of the judge is not known"), None
    mine: list[bool | None] = []
    others: list[list[bool | None]] = []
    for at, one in enumerate(audit.judged):
        liked = _side(audit, one.item.row, own)
        if liked is not None:
            hits = {
                name: None if (hit := audit.passed(said[at])) is None else hit is liked for name, said in votes.items()
            }
            mine.append(hits.pop(judge))
            others.append(list(hits.values()))
    found = self_preference_shared(mine, others)
    if found.difference.value is None:
        return undefined("no_data", f"no answer that is known to be of the family {own}, or no other judge"), None
    return found.difference, found.p_value


def _side(audit: Audited, row: Mapping[str, Any], own: str) -> bool | None:
    """Which verdict favours the family: True for a pass (or A); None where no side, or both, are of it."""
    named = (("a", "model_a"), ("b", "model_b")) if audit.paired else (("", "model"),)
    models = [audit.target(side, "model") or row.get(name) or audit.target(side) for side, name in named]
    kin = [bool(model) and family(str(model)) == own for model in models]
    if not audit.paired:
        return True if kin[0] else None
    return None if kin[0] == kin[1] else kin[0]
