"""How long the rest of a run will take, told once it can be told."""

from __future__ import annotations

import time
from collections.abc import Callable

_FEWEST = 3  # results
_SHORTEST_S = 2.0


class Pace:
    """Results in time, from `start` on.

    The first results say little: they all began at once, and the slow ones among them are still under way. So nothing
    is told before as much time has passed since the first result as it took to come.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.start()

    def start(self) -> None:
        self._begun = self._clock()
        self._first: float | None = None

    def left_s(self, fresh: int, rest: int) -> float | None:
        """Seconds that `rest` items will take where `fresh` have come; None where there is no telling, or no rest."""
        now = self._clock()
        if self._first is None and fresh > 0:
            self._first = now
        if self._first is None or fresh < _FEWEST or rest <= 0:
            return None
        if now - self._first < max(self._first - self._begun, _SHORTEST_S):
            return None
        middle = (
            self._begun + self._first
        ) / 2  # between a pace too slow at a wave's beginning and too fast at its end
        return (now - middle) / fresh * rest


def lasting(seconds: float) -> str:
    """`40 s`, `12 min`, `3.0 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
