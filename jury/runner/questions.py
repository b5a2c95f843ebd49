"""All questions that an item raises: seat by seat, order by order, repetition by repetition. Asks none of them."""

from __future__ import annotations

from collections.abc import Iterator

from jury.judge import Case, Seat
from jury.pairwise import PairwiseJury
from jury.runner.describe import AnyJury
from jury.runner.entries import Entry


def questions(jury: AnyJury, entry: Entry) -> Iterator[tuple[Seat, Case, int]]:
    """(seat, case, repetition) of every question; none for a target that errored. Stand-ins are not counted."""
    if entry.item.error is not None:
        return
    cases = _cases(jury, entry)
    for seat in jury.panel.assigned(entry.item.number):
        for case in cases:
            for repetition in range(jury.spec.repetitions):
                yield seat, case, repetition


def _cases(jury: AnyJury, entry: Entry) -> list[Case]:
    wanted = jury.panel.wanted
    if isinstance(jury, PairwiseJury):
        pair = entry.pair
        if pair is None:
            return []
        return [Case.of_pair(pair, order, jury.criteria, jury.variables, wanted) for order in jury.orders]
    if entry.point is None or entry.output is None:
        return []
    return [Case.of_output(entry.point, entry.output, jury.criteria, jury.variables, wanted)]
