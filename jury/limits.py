"""How fast one provider is asked: adaptive concurrency, requests and tokens per minute, one pause for all its tasks.

The limit of calls in flight starts low, doubles with every round of replies until the provider turns a call away or
gets slow, then grows by one a round. A call that is turned away (429, 529, 503) halves it, once for all calls that were
under way at that moment, and where the provider says how long to wait, nobody calls before. Calls wait in line. Knows
no money.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from jury.errors import ConfigError

START = 16
SLOWER = 3.0  # a mean latency of so many times the best one is no time to grow
_SAMPLES = 20  # replies before a latency is believed
_PAUSE_S = 60.0  # the longest pause that a provider can bring on all its calls
_MINUTE_S = 61.0  # a minute, and a second for calls that take longer to arrive than others
_SLOT_S = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider may be asked. None is unlimited; `concurrency` is the most calls in flight.

    `requests_per_minute` and `tokens_per_minute` are what the account allows; tokens count input and output.
    """

    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            wrong = isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf")
            if value is not None and wrong:
                raise ConfigError(f"{name} must be a number above 0, got {value!r}")


class Pace:
    """So much a minute: evenly, a second's worth at once, and never more than that in any 60 seconds.

    What was taken in advance is waited for. More than a minute's worth at once is let through, by itself.
    """

    def __init__(self, per_minute: float | None, now: float) -> None:
        self._limit = per_minute
        self._rate = (per_minute or 0.0) / 60
        self._most = max(1.0, self._rate)
        self._level = self._most
        self._at = now
        self._taken: deque[list[float]] = deque()  # of the last minute: [from, until, how much], half a second each
        self._sum = 0.0

    def wait(self, now: float, amount: float = 1.0) -> float:
        """Seconds until so much may be taken."""
        if self._limit is None:
            return 0.0
        if now < self._at:  # a clock that jumps back gives nothing, and takes nothing
            for slot in self._taken:
                slot[0] += now - self._at
                slot[1] += now - self._at
        self._level, self._at = min(self._most, self._level + max(0.0, now - self._at) * self._rate), now
        while self._taken and self._taken[0][1] + _MINUTE_S <= now:
            self._sum -= self._taken.popleft()[2]
        even = 0.0 if self._level > 0 else (1e-9 - self._level) / self._rate
        over = self._sum + amount - self._limit
        if over <= 0 or not self._taken:
            return even
        for _, until, taken in self._taken:
            over -= taken
            if over <= 0:
                return max(even, until + _MINUTE_S - now)
        return max(even, self._taken[-1][1] + _MINUTE_S - now)

    def take(self, amount: float) -> None:
        """Right after `wait`, which knows the time."""
        if self._limit is None:
            return
        self._level -= amount
        self._sum += amount
        if self._taken and self._at - self._taken[-1][0] < _SLOT_S:
            self._taken[-1][1] = self._at
            self._taken[-1][2] += amount
        else:
            self._taken.append([self._at, self._at, amount])

    def correct(self, entered: float, amount: float) -> None:
        """So much more (or less, below 0) than was thought was taken at that time."""
        if self._limit is None:
            return
        self._level -= amount
        for slot in reversed(self._taken):
            if slot[0] <= entered:
                slot[2] += amount
                self._sum += amount
                return


class Throttle:
    """The line before one provider, in one event loop."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._most = max(1, int(limits.concurrency))
        self.limit = float(min(START, self._most))
        self.active = 0
        self.turned_away = 0
        now = clock()
        self._requests = Pace(limits.requests_per_minute, now)
        self._tokens = Pace(limits.tokens_per_minute, now)
        self._line: deque[tuple[asyncio.Future[None], float | Callable[[], float]]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._paused_until = now
        self._cut_at = float("-inf")
        self._doubling = True
        self._latency = self._best = 0.0
        self._samples = 0

    async def enter(self, tokens: float | Callable[[], float]) -> float:
        """Waits for a place; returns when it was given. `tokens`: how many the call will take, as is thought then."""
        if not self._line and self.active < int(self.limit) and self._wait(now := _number(tokens)) <= 0:
            return self._admit(now)
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((place, tokens))
        self._move()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.active -= 1
            self._move()
            raise
        return self._clock()

    def leave(self, entered: float, tokens: float = 0.0) -> None:
        """The call is over. `tokens`: how many more it took than it was let in for."""
        self.active -= 1
        if tokens:
            self._tokens.correct(entered, tokens)
        self._move()

    def went_well(self, entered: float) -> None:
        """A reply came: the limit may grow, if the calls reach it and replies are not getting slow."""
        latency = max(0.0, self._clock() - entered)
        self._samples += 1
        share = 0.1 if self._samples > 10 else 1 / self._samples
        self._latency += (latency - self._latency) * share
        if self._samples >= _SAMPLES:
            self._best = min(self._best or self._latency, self._latency)
        slow = self._best > 0 and self._latency > SLOWER * self._best
        if slow:
            self._doubling = False
        elif self.active >= int(self.limit) - 1 and self.limit < self._most:
            self.limit = min(self._most, self.limit + (1.0 if self._doubling else 1.0 / self.limit))

    def was_turned_away(self, entered: float, retry_after_s: float | None) -> None:
        """The provider said: too many. Whoever was under way then has been heard with the first of them."""
        now = self._clock()
        self.turned_away += 1
        self._doubling = False
        if entered >= self._cut_at:
            self.limit = max(1.0, self.limit / 2)
            self._cut_at = now
        if retry_after_s:
            self._paused_until = max(self._paused_until, now + min(retry_after_s, _PAUSE_S))

    def _wait(self, tokens: float) -> float:
        now = self._clock()
        return max(self._paused_until - now, self._requests.wait(now), self._tokens.wait(now, tokens))

    def _admit(self, tokens: float) -> float:
        self.active += 1
        self._requests.take(1)
        self._tokens.take(tokens)
        return self._clock()

    def _move(self) -> None:
        """Lets in whoever stands first, as long as there is room and time."""
        while self._line:
            place, tokens = self._line[0]
            if place.done():  # cancelled while it waited
                self._line.popleft()
                continue
            if self.active >= int(self.limit):
                return
            amount = _number(tokens)
            wait = self._wait(amount)
            if wait > 0:
                if self._timer is None:
                    self._timer = asyncio.get_running_loop().call_later(wait, self._wake)
                return
            self._line.popleft()
            self._admit(amount)
            place.set_result(None)

    def _wake(self) -> None:
        self._timer = None
        self._move()


def _number(tokens: float | Callable[[], float]) -> float:
    return tokens() if callable(tokens) else tokens
