"""What each judge said each time it was asked the very same question: from the results and from the log of a run.

The results hold what the verdicts rest on; what was asked again later (`again.py`) stands in the log alone. A question
is the same where what was sent is the same, so answers to an older prompt or to another model are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jury.audit.reading import Audited
from jury.results import Judgment
from jury.runner.replay_sessions import variant_of
from jury.stats.table import Category
from jury.store import Run, StoredJudgment

ORDERS = ("none", "ab", "ba")
_SWAP = {"A": "B", "B": "A"}
_Slot: TypeAlias = tuple[str, str, str]  # order, criterion, variant
_Said: TypeAlias = dict[int, Judgment]  # by repetition
_Asked: TypeAlias = dict[tuple[str, str], dict[_Slot, _Said]]  # by item and judge


@dataclass(frozen=True, slots=True)
class Repeats:
    """One question to one judge: a value for each time it was asked, None where it gave none.

    `order` is `none`, `ab` or `ba`; values of pairs are in terms of what was shown, so `A` is the first one.
    `criterion` is empty unless each criterion was asked about by itself. `variant` tells questions apart that differ
    beside that: the part of a long session, the order in which a permuted rubric was shown.
    """

    item: str
    judge: str
    order: str
    criterion: str
    variant: str
    values: tuple[Category | None, ...]

    @property
    def by_content(self) -> tuple[Category | None, ...]:
        """Values in terms of the answers: `A` is response A, wherever it stood."""
        if self.order != "ba":
            return self.values
        return tuple(v if v is None else _SWAP.get(str(v), str(v)) for v in self.values)


def repeats(audit: Audited) -> tuple[Repeats, ...]:
    """Every question that a seat was asked, in the order of items, judges and orders; stand-ins are left out."""
    known = _of_results(audit)
    logged = _of_log(audit, known)
    found: list[Repeats] = []
    for one in audit.judged:
        for judge in audit.judges:
            place = (one.item.id, judge)
            rests, log = known.get(place, {}), logged.get(place, {})
            for slot in sorted({*rests, *log}, key=lambda s: (ORDERS.index(s[0]), *s[1:])):
                said = {**log.get(slot, {}), **rests.get(slot, {})}
                found += _told(audit, place, slot, [said[n] for n in sorted(said)])
    return tuple(found)


def both_orders(asked: Sequence[Repeats]) -> list[tuple[Repeats, Repeats]]:
    """The questions of one judge that were asked in both orders: (A shown first, B shown first)."""
    by_question: defaultdict[tuple[str, str], dict[str, Repeats]] = defaultdict(dict)
    for one in asked:
        by_question[one.item, one.criterion][one.order] = one
    return [(orders["ab"], orders["ba"]) for orders in by_question.values() if "ab" in orders and "ba" in orders]


def all_orders(asked: Sequence[Repeats]) -> list[list[Repeats]]:
    """What one judge was asked about in several orders of a permuted rubric: one list for each item and criterion."""
    by_question: defaultdict[tuple[str, str], list[Repeats]] = defaultdict(list)
    for one in asked:
        by_question[one.item, one.criterion].append(one)
    return [orders for orders in by_question.values() if len(orders) > 1]


def first_of(asked: Repeats) -> str | None:
    """The first usable answer, by content."""
    return next((str(v) for v in asked.by_content if v is not None), None)


def _of_results(audit: Audited) -> _Asked:
    found: _Asked = {}
    for one in audit.judged:
        for vote in one.result.votes:
            if vote.judge in audit.judges and not vote.replacement:
                slots = found.setdefault((one.item.id, vote.judge), {})
                for judgment in vote.judgments:
                    slots.setdefault(_slot(judgment), {})[judgment.repetition] = judgment
    return found


def _of_log(audit: Audited, known: _Asked) -> _Asked:
    """What the log says of the questions that the results rest on; of an order that they lack, the latest question."""
    asked: dict[tuple[str, str], dict[_Slot, dict[str, _Said]]] = {}
    for place, stored in _asked_further(audit.run, known):
        requests = asked.setdefault(place, {}).setdefault(_slot(stored.judgment), {})
        said = requests.pop(stored.request, {})
        said[stored.judgment.repetition] = stored.judgment
        requests[stored.request] = said  # the latest question stands last
    found: _Asked = {}
    for place, slots in asked.items():
        prompts = {j.prompt for said in known[place].values() for j in said.values()}
        for slot, requests in slots.items():
            rests = known[place].get(slot, {})
            fitting = [said for said in requests.values() if _same(rests, said, prompts)]
            if fitting:
                found.setdefault(place, {})[slot] = fitting[-1]
    return found


def _asked_further(run: Run, known: _Asked) -> Iterator[tuple[tuple[str, str], StoredJudgment]]:
    """The log on items and judges of which it says more than the results: few lines are worth being read in full."""
    more: set[tuple[str, str]] = set()
    for line in run.judgment_lines():
        place = (str(line.get("item")), str(line.get("judge")))
        slot = (line.get("order") or ORDERS[0], line.get("criterion") or "", variant_of(line.get("notes")))
        if place in known and line.get("repetition") not in known[place].get(slot, {}):
            more.add(place)
    for line in run.judgment_lines() if more else ():
        place = (str(line.get("item")), str(line.get("judge")))
        if place in more:
            yield place, StoredJudgment.from_dict(line)


def _same(rests: Mapping[int, Judgment], log: Mapping[int, Judgment], prompts: set[str | None]) -> bool:
    """Whether these answers of the log are to the question that the results rest on."""
    if any(j.prompt not in prompts for j in log.values() if j.verdict.decided):
        return False
    return all(n in log and _said(log[n]) == _said(j) for n, j in rests.items())


def _said(judgment: Judgment) -> tuple[object, ...]:
    return judgment.verdict.status, judgment.verdict.value, judgment.reply, judgment.prompt


def _slot(judgment: Judgment) -> _Slot:
    return judgment.order, judgment.criterion or "", variant_of(judgment.notes)


def _told(audit: Audited, place: tuple[str, str], slot: _Slot, said: Sequence[Judgment]) -> list[Repeats]:
    """The answers to one question: a value for each, or where several criteria share a call, one for each criterion."""
    order, criterion, variant = slot
    keys = dict.fromkeys(key for judgment in said for key in judgment.verdict.parts)
    if not criterion or len(keys) < 2:
        return [Repeats(*place, *slot, tuple(_value(audit, judgment) for judgment in said))]
    parts = {key: [judgment.verdict.parts.get(key) for judgment in said] for key in keys}
    return [
        Repeats(*place, order, key, variant, tuple(p.value if p is not None and p.decided else None for p in of_key))
        for key, of_key in parts.items()
    ]


def _value(audit: Audited, judgment: Judgment) -> Category | None:
    verdict = judgment.verdict
    if not verdict.decided:
        return None
    return verdict.value if audit.paired or judgment.criterion else audit.counted(verdict.value)
