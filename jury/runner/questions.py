"""All questions that an item raises: seat by seat, order by order, repetition by repetition. Asks none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from jury.judge import Case, Seat
from jury.pairwise import PairwiseJury
from jury.pointwise import Jury
from jury.runner.describe import AnyJury
from jury.runner.entries import Entry
from jury.sessions.judging import SessionJury


def questions(jury: AnyJury, entry: Entry, *, first: bool = False) -> Iterator[tuple[Seat, Case, int]]:
    """(seat, case, repetition) of every question; none for a target that errored. Stand-ins are not counted.

    `first`: of a cascade only what is asked about every item.
    """
    for seat, case, repetition in () if entry.item.error is not None else _questions(jury, entry, first):
        if entry.asked is None or (seat.name, (case.format or seat.format).criterion) in entry.asked:
            yield from ((seat, case, repetition + n) for n in range(entry.times))


def _questions(jury: AnyJury, entry: Entry, first: bool) -> Iterator[tuple[Seat, Case, int]]:
    if entry.questions:
        yield from ((seat, case, 0) for seat, case in entry.questions)
        return
    if isinstance(jury, SessionJury):
        one = entry.recording
        if one is not None:
            named = replace(one.session, id=one.id)
            yield from jury.questions(named, context=one.context, number=one.number)
        return
    cases = _cases(jury, entry)
    seats = jury.panel.assigned(entry.item.number)
    for seat in [seats[i] for i in jury.panel.tiers[0]] if first and jury.spec.escalate else seats:
        for repetition in range(jury.spec.repetitions):
            for case in cases(seat, repetition):
                yield seat, case, repetition


def _cases(jury: Jury | PairwiseJury, entry: Entry) -> Callable[[Seat, int], Sequence[Case]]:
    wanted = jury.panel.wanted
    if isinstance(jury, PairwiseJury):
        pair = entry.pair
        if pair is None:
            return lambda seat, repetition: ()
        both = [Case.of_pair(pair, order, jury.criteria, jury.variables, wanted) for order in jury.orders]
        return lambda seat, repetition: both
    if entry.point is None or entry.output is None:
        return lambda seat, repetition: ()
    return jury.cases(entry.point, entry.output, wanted)
