"""Long sessions within a length: what is kept, what is shortened, what is left out, and the record of it.

Kept as long as anything else can give way: the first request, the last turns, every tool error, every call. Long
results are shortened first, then reasoning goes, then results, then what was said in the middle; the middle goes before
the ends. Where events are left out, a gap event says how many and how long they were. `windows.py` judges all of a long
session instead. Knows events; no prompt, no judge.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from jury.errors import ConfigError
from jury.sessions.events import Event, Session, answers

Measure = Callable[[str], int]
LAST = 8  # events at the end that count as the last turns
_TO_FIT = "to fit the length limit"
_HEAD = 0.6  # share of a shortened text that is its beginning
_FAILED = re.compile(r'\s*(?:\{\s*"(?:error|errors|exception)"|error\b|traceback\b|exception\b|fatal\b)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cut:
    """What is missing from a fitted session. False where nothing is.

    `events` were left out, `shortened` lost a part of their text; `characters` counts the signs of both. `gaps` are the
    first and last number of each stretch that was left out, `types` how many events of each type are in them.
    """

    events: int = 0
    shortened: int = 0
    characters: int = 0
    gaps: tuple[tuple[int, int], ...] = ()
    types: Mapping[str, int] = field(default_factory=dict[str, int])

    def __bool__(self) -> bool:
        return self.events > 0 or self.shortened > 0

    def __str__(self) -> str:
        if not self:
            return ""
        parts = [f"{self.events} events left out"] if self.events else []
        parts += [f"{self.shortened} shortened"] if self.shortened else []
        return f"{' and '.join(parts)} ({self.characters} characters) {_TO_FIT}"


def is_cut(note: str) -> bool:
    """Is this note of a judgment the text of a `Cut`?"""
    return note.endswith(_TO_FIT)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A session within its length. `session` holds the kept events and the gaps, with their first numbers."""

    session: Session
    cut: Cut = Cut()

    @property
    def transcript(self) -> str:
        return self.session.transcript

    def namespace(self) -> dict[str, Any]:
        """`session.*` of the kept part; `session.cut` says what is missing, and is empty where nothing is."""
        return {**self.session.namespace(), "cut": str(self.cut)}


def tokens(text: str) -> int:
    """A safe guess at a text's tokens: a third of its UTF-8 bytes, which tokenizers rarely exceed in any script."""
    return math.ceil(len(text.encode("utf-8", "replace")) / 3)


def measure_for(max_chars: int | None, max_tokens: int | None, count: Measure | None) -> tuple[int, Measure]:
    """The limit and how to measure it. Raises `ConfigError` unless exactly one limit is given, and above 0."""
    limit = max_chars if max_tokens is None else max_tokens
    if (max_chars is None) == (max_tokens is None) or limit is None:
        raise ConfigError("give either max_chars or max_tokens")
    if isinstance(limit, bool) or limit < 1:
        raise ConfigError(f"max_chars and max_tokens must be above 0, got {limit!r}")
    return limit, len if max_tokens is None else (count or tokens)


def fit(
    session: Session,
    *,
    max_chars: int | None = None,
    max_tokens: int | None = None,
    last: int = LAST,
    count: Measure | None = None,
) -> Fitted:
    """The session within a length, and what was cut. A session that fits comes back as it is.

    `max_chars` counts the characters of the transcript; `max_tokens` its tokens, by `count` or else by `tokens`. `last`
    is how many events at the end are the last turns. Raises `ConfigError` for a length that not even the first request
    and the outcome fit into.
    """
    limit, measure = measure_for(max_chars, max_tokens, count)
    if measure(session.transcript) <= limit:
        return Fitted(session)
    plan = Plan(session.events, measure)
    for step in _steps(plan, max(last, 1)):
        if plan.cost() <= limit:
            break
        step(limit)
    plan.restore()
    if plan.cost() > limit:
        raise ConfigError(f"a limit of {limit} is too small for this session: it needs at least {plan.cost()}")
    kept, cut = plan.made()
    return Fitted(replace(session, events=tuple(kept)), cut)


def _steps(plan: Plan, last: int) -> list[Callable[[int], None]]:
    """What gives way, in this order. Ends are the first request, the leading system text and the last turns."""
    at = plan.places
    count = len(plan.events)
    first = next(iter(at("user")), 0)
    outcome = next((p for p in reversed(at("assistant")) if plan.events[p].text), count - 1)
    tail = set(range(max(count - last, 0), count)) | {outcome}
    middle = [p for p in range(count) if p != first and p not in tail]
    errors = [p for p in at("tool_result") if failed(plan.events[p])]
    answered = {id(result): p for p, result in answers(plan.events).items()}
    broken = {answered.get(id(plan.events[p]), p) for p in errors} | set(errors)

    def among(pool: Iterable[int], *types: str) -> list[int]:
        return [p for p in pool if plan.events[p].type in types and p not in errors]

    ends = [p for p in sorted({first, *tail}) if p not in errors]
    results, thinking = among(middle, "tool_result"), among(middle, "thinking")
    said, asked = among(middle, "assistant", "system"), among(middle, "user")
    return [
        partial(plan.shorten, results, 200),
        partial(plan.drop, thinking),
        partial(plan.shorten, among(middle, "tool_call"), 200),
        partial(plan.shorten, among(tail, "tool_result", "thinking"), 400),
        partial(plan.shorten, among(middle, "system"), 400),
        partial(plan.drop, results),
        partial(plan.shorten, said + asked, 400),
        partial(plan.drop, said),
        partial(plan.drop, asked),
        partial(plan.shorten, errors, 200),
        partial(plan.shorten, at("tool_call"), 60),
        partial(plan.shorten, among(tail, "tool_result", "thinking"), 100),
        partial(plan.drop, [p for p in among(middle, "tool_call") if p not in broken]),
        partial(plan.drop, [p for p in broken if p in middle]),
        partial(plan.shorten, ends, 200),
        partial(plan.drop, [p for p in tail if p not in (first, outcome)]),
        partial(plan.shorten, [first, outcome], 20),
    ]


def failed(event: Event) -> bool:
    """Did a tool fail? Where the format cannot say, a text that begins like an error is kept as one."""
    return event.is_error is True or (event.is_error is None and _FAILED.match(event.text) is not None)


class Plan:
    """Which events are shortened to how many characters, and which are left out; what that costs."""

    def __init__(self, events: Sequence[Event], measure: Measure) -> None:
        self.events = events
        self.caps: dict[int, int] = {}
        self.dropped: set[int] = set()
        self._measure = measure
        self._costs: dict[tuple[int, int | None], int] = {}
        self._lengths = [len(event.line()) for event in events]

    def places(self, *types: str) -> list[int]:
        return [at for at, event in enumerate(self.events) if event.type in types]

    def cost(self) -> int:
        """The length of the transcript as planned, line ends included."""
        costs = [self._cost(at) for at in range(len(self.events)) if at not in self.dropped]
        costs += [self._measure(self._gap(run).line()) for run in self._runs()]
        return sum(costs) + max(len(costs) - 1, 0)

    def _cost(self, at: int) -> int:
        key = (at, self.caps.get(at))
        if key not in self._costs:
            self._costs[key] = self._measure(self._event(at).line())
        return self._costs[key]

    def _event(self, at: int) -> Event:
        event, cap = self.events[at], self.caps.get(at)
        if cap is None:
            return event
        return replace(event, text=shortened(event.text, cap), arguments=_shortened_arguments(event.arguments, cap))

    def shorten(self, places: Sequence[int], least: int, limit: int) -> None:
        """The largest cap on these texts with which the session fits; `least` if none does."""
        longest = max((self._lengths[at] for at in places), default=0)
        low, high = least, longest

        def tried(cap: int) -> bool:
            self.caps.update(dict.fromkeys(places, cap))
            return self.cost() <= limit

        if high <= low or not tried(low):
            return
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if tried(middle) else (low, middle - 1)
        tried(low)

    def drop(self, places: Sequence[int], limit: int) -> None:
        """The fewest of these events, from the middle of the session outwards, without which it fits; else all."""
        centre = (len(self.events) - 1) / 2
        order = sorted((p for p in places if p not in self.dropped), key=lambda p: abs(p - centre))
        before = set(self.dropped)

        def tried(number: int) -> bool:
            self.dropped = before | set(order[:number])
            return self.cost() <= limit

        low, high = 0, len(order)
        if not tried(high):
            return
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if tried(middle) else (middle + 1, high)
        tried(low)

    def restore(self) -> None:
        """Puts back single events that are no longer than the mark in their place."""
        for run in self._runs():
            if len(run) == 1 and self._cost(run[0]) <= self._measure(self._gap(run).line()):
                self.dropped.remove(run[0])

    def _runs(self) -> list[list[int]]:
        """The stretches of left out events."""
        runs: list[list[int]] = []
        for at in sorted(self.dropped):
            if runs and runs[-1][-1] == at - 1:
                runs[-1].append(at)
            else:
                runs.append([at])
        return runs

    def _gap(self, run: Sequence[int]) -> Event:
        first, last = self.events[run[0]], self.events[run[-1]]
        signs = sum(self._lengths[at] for at in run)
        if len(run) == 1:
            return Event(first.i, "gap", f"event {first.i} left out ({first.type}, {signs} characters)")
        return Event(first.i, "gap", f"{len(run)} events left out (events {first.i} to {last.i}, {signs} characters)")

    def made(self) -> tuple[list[Event], Cut]:
        """The events as planned, gaps in their places, and the record."""
        runs = self._runs()
        gaps = {run[0]: self._gap(run) for run in runs}
        kept: list[Event] = []
        changed = lost = 0
        for at in range(len(self.events)):
            if at in gaps:
                kept.append(gaps[at])
            if at in self.dropped:
                lost += self._lengths[at]
                continue
            kept.append(self._event(at))
            less = self._lengths[at] - len(kept[-1].line())
            changed, lost = changed + (less > 0), lost + max(less, 0)
        types = Counter(self.events[at].type for at in self.dropped)
        spans = tuple((self.events[run[0]].i, self.events[run[-1]].i) for run in runs)
        return kept, Cut(len(self.dropped), changed, lost, spans, dict(types))


def shortened(text: str, cap: int) -> str:
    """A text of about `cap` characters: its beginning and its end, with a mark that counts what is missing between."""
    left_out = len(text) - cap
    if left_out <= 0:
        return text
    head = math.ceil(cap * _HEAD)
    made = f"{text[:head]} [... {left_out} characters left out ...] {text[len(text) - (cap - head) :]}"
    return made if len(made) < len(text) else text


def _shortened_arguments(arguments: Any, cap: int) -> Any:
    """Arguments with their long texts shortened; what is long for other reasons becomes a shortened text."""
    made = _shortened_all(arguments, cap)
    whole = json.dumps(made, ensure_ascii=False)
    return shortened(whole, cap) if len(whole) > 4 * cap + 40 and made else made


def _shortened_all(value: Any, cap: int) -> Any:
    if isinstance(value, str):
        return shortened(value, cap)
    if isinstance(value, Mapping):
        return {key: _shortened_all(item, cap) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_shortened_all(item, cap) for item in cast("list[Any]", value)]
    return value
