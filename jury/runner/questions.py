"""What an item raises: all its questions, seat by seat, order by order, repetition by repetition; or its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from jury.errors import ConfigError
from jury.judge import Case, Seat
from jury.pairwise import PairwiseJury
from jury.pointwise import Jury
from jury.results import Comparison, PanelResult
from jury.runner.describe import AnyJury
from jury.runner.entries import Entry
from jury.runner.spec import RunSpec
from jury.sessions.judging import SessionJury


def questions(jury: AnyJury, entry: Entry) -> Iterator[tuple[Seat, Case, int]]:
    """(seat, case, repetition) of every question; none for a target that errored. Stand-ins are not counted."""
    for seat, case, repetition in () if entry.item.error is not None else _questions(jury, entry):
        if entry.asked is None or (seat.name, (case.format or seat.format).criterion) in entry.asked:
            yield from ((seat, case, repetition + n) for n in range(entry.times))


def _questions(jury: AnyJury, entry: Entry) -> Iterator[tuple[Seat, Case, int]]:
    if entry.questions:
        yield from ((seat, case, 0) for seat, case in entry.questions)
        return
    if isinstance(jury, SessionJury):
        one = entry.recording
        if one is not None:
            named = replace(one.session, id=one.id)
            yield from jury.questions(named, context=one.context, number=one.number)
        return
    asked = _by_seat(jury, entry)
    for seat in jury.panel.assigned(entry.item.number):
        for case, repetition in asked(seat):
            yield seat, case, repetition


def _by_seat(jury: Jury | PairwiseJury, entry: Entry) -> Callable[[Seat], Sequence[tuple[Case, int]]]:
    wanted = jury.panel.wanted
    if isinstance(jury, PairwiseJury):
        pair = entry.pair
        if pair is None:
            return lambda seat: ()
        both = [Case.of_pair(pair, order, jury.criteria, jury.variables, wanted) for order in jury.orders]
        asked = [(case, i) for i in range(jury.spec.repetitions) for case in both]
        return lambda seat: asked
    if entry.point is None or entry.output is None:
        return lambda seat: ()
    return jury.questions(entry.point, entry.output, wanted)


def check_contexts(spec: RunSpec, jury: AnyJury) -> None:
    """Raises `ConfigError` where sessions that bring no context of their own lack one."""
    if isinstance(jury, SessionJury) and isinstance(spec.data, str) and spec.target is None:
        jury.check_context()


def check_context(jury: AnyJury, entry: Entry) -> None:
    """The same for one session, which is named; for one that a target is still to make before that is paid."""
    one = entry.point or entry.recording
    errored = entry.recording is not None and entry.recording.session.error is not None  # which is not judged
    if isinstance(jury, SessionJury) and one is not None and not errored:
        try:
            jury.check_context(one.context)
        except ConfigError as error:
            raise ConfigError(f"{entry.item.id}: {error}") from None


async def judged(jury: AnyJury, entry: Entry) -> PanelResult | Comparison:
    """The jury's result on an item, asked in its own way. Raises `ConfigError` for an item of another kind."""
    pair, one = entry.pair, entry.recording
    if isinstance(jury, SessionJury):
        if one is None:
            raise ConfigError("a session jury needs sessions: kind session")
        report = await jury.judge(one.session, context=one.context, id=one.id, number=one.number)
        return report if one.trace_id is None else replace(report, trace_id=one.trace_id)
    if isinstance(jury, PairwiseJury):
        if pair is None:
            raise ConfigError("a pairwise jury needs pairs")
        return await jury.compare(
            pair.question,
            pair.response_a,
            pair.response_b,
            reference=pair.reference,
            id=pair.id,
            row=pair.row,
            number=pair.number,
            trace_id=pair.trace_id,
        )
    return await jury.judge(entry.point, entry.output)
