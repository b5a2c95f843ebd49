"""A hard cap on money: no call starts that could cost more than is left. Knows no provider.

A call reserves the most it can cost and settles what it did cost. One for which there is no room waits while others are
under way, since they will mostly cost less than they reserved; when none is, the budget is closed, for everybody: were
cheap items let through after dear ones were refused, the verdicts would be those of cheap items.
"""

from __future__ import annotations

import asyncio
from collections import deque

from jury.errors import ConfigError, ProviderError


class Budget:
    """US dollars for one run. `spent`: what earlier passes cost too; `unsure`: lost calls that may have been paid."""

    def __init__(self, limit: float, spent: float = 0.0) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit < float("inf"):
            raise ConfigError(f"budget must be an amount of US dollars from 0, got {limit!r}")
        self.limit = float(limit)
        self.spent = spent
        self.unsure = 0.0
        self.closed = False
        self._reserved = 0.0
        self._under_way = 0
        self._line: deque[tuple[asyncio.Future[bool], float]] = deque()

    @property
    def left(self) -> float:
        return self.limit - self.spent - self.unsure - self._reserved

    async def reserve(self, most: float) -> None:
        """Sets `most` dollars aside. Raises `ProviderError` of kind `budget` where they are not there."""
        if not self.closed and not self._line and self._fits(most):
            self._take(most)
            return
        if not self.closed:
            place: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            self._line.append((place, most))
            self._move()
            try:
                if await place:
                    return
            except asyncio.CancelledError:
                if place.done() and not place.cancelled() and place.result():
                    self.settle(most, 0.0)
                self._move()
                raise
        spent = f"${self.spent + self.unsure:.4f} of ${self.limit:.4f}"
        raise ProviderError("budget", f"not asked: {spent} are spent, and this call could cost ${most:.4f}")

    def settle(self, most: float, cost: float | None, *, unsure: bool = False) -> None:
        """The call is over. `cost` None is unknown: then it counts as `most`. `unsure`: nobody knows if it was paid."""
        self._reserved = max(0.0, self._reserved - most)
        self._under_way -= 1
        if not self._under_way:
            self._reserved = 0.0  # what rounding has left
        if unsure:
            self.unsure += most if cost is None else cost
        else:
            self.spent += most if cost is None else cost
        self._move()

    def charge(self, cost: float) -> None:
        """Counts what was paid without having been reserved: by a target that tells what it cost only afterwards."""
        self.spent += cost
        self._move()

    def _fits(self, most: float) -> bool:
        return most <= self.left + 1e-12

    def _take(self, most: float) -> None:
        self._reserved += most
        self._under_way += 1

    def _move(self) -> None:
        while self._line:
            place, most = self._line[0]
            if place.done():
                self._line.popleft()
            elif not self.closed and self._fits(most):
                self._line.popleft()
                self._take(most)
                place.set_result(True)
            elif self.closed or not self._under_way:
                self.closed = True
                self._line.popleft()
                place.set_result(False)
            else:
                return
