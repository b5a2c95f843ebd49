"""A long session as overlapping parts that are judged one by one, where every event counts, and their verdicts as one.

Each part opens with the first request, so that a judge knows what the session was about. Knows events; no judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jury.errors import ConfigError
from jury.sessions.events import Event, Session
from jury.sessions.fit import Measure, Plan, measure_for


@dataclass(frozen=True, slots=True)
class Window:
    """Part `number` of `of` parts: the events `first` to `last`, behind the first request."""

    session: Session
    number: int
    of: int
    first: int
    last: int

    @property
    def transcript(self) -> str:
        return self.session.transcript


def windows(
    session: Session,
    *,
    max_chars: int | None = None,
    max_tokens: int | None = None,
    overlap: int = 4,
    count: Measure | None = None,
) -> list[Window]:
    """The session in parts within a length; one part if it fits.

    `overlap` events, at most half of a part, stand at its end and again at the start of the next, so that a call and
    its result, or a deed and the word about it, are seen together. An event that is too long for a part is shortened.
    """
    limit, measure = measure_for(max_chars, max_tokens, count)
    events = session.events
    if measure(session.transcript) <= limit or not events:
        return [Window(session, 1, 1, 1, len(events))]
    if overlap < 0:
        raise ConfigError(f"overlap must not be negative, got {overlap}")
    opening = [_within(event, limit // 8, measure) for event in events if event.type == "user"][:1]
    budget = limit - _room(opening, measure)
    events = tuple(_within(event, budget // 2, measure) for event in events)
    costs = [measure(event.line()) + 1 for event in events]
    if max(costs) > budget:
        raise ConfigError(f"a limit of {limit} is too small for parts of this session")
    spans = _spans(costs, budget, overlap)
    made: list[Window] = []
    for number, (start, end) in enumerate(spans, 1):
        part = replace(session, events=(*opening, *_part(events, start, end, opening)))
        made.append(Window(part, number, len(spans), events[start].i, events[end - 1].i))
    return made


def _within(event: Event, room: int, measure: Measure) -> Event:
    """The event, shortened if it is longer than it may be."""
    plan = Plan([event], measure)
    if plan.cost() > room:
        plan.shorten([0], 10, room)
    return plan.made()[0][0]


def _room(opening: Sequence[Event], measure: Measure) -> int:
    """What the opening and the two marks of a part take."""
    mark = Event(0, "gap", "events 100000 to 100000 are in other parts of this session")
    return sum(measure(event.line()) + 1 for event in [*opening, mark, mark])


def _spans(costs: Sequence[int], budget: int, overlap: int) -> list[tuple[int, int]]:
    """(start, end) of each part. Every part goes on beyond the one before it, at the cost of overlap if need be."""
    spans: list[tuple[int, int]] = []
    start = end = 0
    while end < len(costs):
        stop, used = start, 0
        while stop < len(costs) and used + costs[stop] <= budget:
            used += costs[stop]
            stop += 1
        if stop <= end:  # the overlap leaves no room for anything new
            start += 1
            continue
        spans.append((start, stop))
        start, end = stop - min(overlap, (stop - start) // 2), stop
    return spans


def _part(events: Sequence[Event], start: int, end: int, opening: Sequence[Event]) -> list[Event]:
    """The events of a part between the marks for what is in other parts."""
    inside = [event for event in events[start:end] if not opening or event.i != opening[0].i]
    before = [event for event in events[:start] if not opening or event.i != opening[0].i]
    after = events[end:]
    marks = [_mark(found) if found else None for found in (before, after)]
    return [event for event in [marks[0], *inside, marks[1]] if event is not None]


def _mark(events: Sequence[Event]) -> Event:
    first, last = events[0].i, events[-1].i
    return Event(first, "gap", f"events {first} to {last} are in other parts of this session")


def combine(verdicts: Sequence[str | None], *, passing: str = "PASS", failing: str = "FAIL") -> str | None:
    """The verdict on a session from those on its parts, for criteria that every event must meet.

    One failing part fails the session. Otherwise a part without a verdict (None) leaves it without one; a passing part
    passes it; else the common label of all parts, such as not applicable.
    """
    if failing in verdicts:
        return failing
    if None in verdicts or not verdicts:
        return None
    return passing if passing in verdicts else verdicts[0]
