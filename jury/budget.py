"""A hard cap on money: no call starts that could cost more than is left. Knows no provider.

A call reserves the most it can cost and settles what it did cost. One for which there is no room waits while others are
under way, since they will mostly cost less than they reserved; when none is, the budget is closed, for everybody: were
cheap items let through after dear ones were refused, the verdicts would be those of cheap items.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from jury.allowances import in_line
from jury.errors import ConfigError, DataError, ProviderError
from jury.wording import dollars

logger = logging.getLogger("jury.budget")


class Budget:
    """US dollars for one run. `spent`, `unsure` (lost calls that may have been paid): of earlier passes too.

    `note` hears before each call, and after it, how much may have been paid by then: a record for the case of a kill.
    """

    def __init__(self, limit: float, spent: float = 0.0, unsure: float = 0.0) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit < float("inf"):
            raise ConfigError(f"budget must be an amount of US dollars from 0, got {limit!r}")
        self.limit = float(limit)
        self.spent = spent
        self.unsure = unsure
        self.closed = False
        self.why = ""  # it was closed before its time
        self.note: Callable[[float], None] | None = None
        self._reserved = 0.0
        self._in_flight = 0.0  # the part of what is reserved whose calls have begun
        self._held = 0.0
        self._under_way = 0
        self._line: deque[tuple[asyncio.Future[bool], float]] = deque()

    @property
    def left(self) -> float:
        return self.limit - self.spent - self.unsure - self._reserved - self._held

    @property
    def overdrawn(self) -> bool:
        """Whether more was spent than there was: a call did cost more than anybody had said."""
        return self.spent + self.unsure > self.limit

    def used(self) -> str:
        return f"{dollars(self.spent + self.unsure)} of {dollars(self.limit)}"

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
                    self._free(most)
                self._move()
                raise
        if self.why:
            raise ProviderError("budget", f"not asked: {self.why}")
        raise ProviderError("budget", f"not asked: {self.used()} are spent, and this call could cost {dollars(most)}")

    def begin(self, most: float) -> None:
        """A call starts: what is reserved for it may be spent from now on. Raises `DataError` where `note` does."""
        if self.note is not None:
            self.note(self.spent + self.unsure + self._in_flight + most)
        self._in_flight += most

    def give_back(self, most: float) -> None:
        """What was reserved is not needed: the call did not begin."""
        self._free(most)
        self._move()

    def settle(self, most: float, cost: float | None, *, unsure: bool = False) -> None:
        """A call that began is over. `cost` None is unknown: then it counts as `most`. `unsure`: nobody knows if it
        was paid."""
        self._in_flight = max(0.0, self._in_flight - most)
        self._free(most)
        if unsure:
            self.unsure += most if cost is None else cost
        else:
            self.spent += most if cost is None else cost
        self._noted()
        self._move()

    def hold(self, most: float, *, owed: bool = False) -> bool:
        """Sets `most` dollars aside for long, such as for what is in a batch, if they are there or it is `owed` in any
        case; nobody waits for them."""
        if not owed and (self.closed or not self._fits(most)):
            return False
        self._held += most
        return True

    def release(self, most: float, cost: float) -> None:
        """What was held is over, and did cost this."""
        self._held = max(0.0, self._held - most)
        self.spent += cost
        self._noted()
        self._move()

    def close(self, why: str) -> None:
        """Nothing more is asked: the cap could not be held."""
        if not self.why:
            logger.warning("%s; nothing more is asked", why)
        self.closed, self.why = True, why
        self._move()

    def _fits(self, most: float) -> bool:
        return most <= self.left + 1e-12

    def _take(self, most: float) -> None:
        self._reserved += most
        self._under_way += 1

    def _free(self, most: float) -> None:
        self._under_way -= 1
        self._reserved = max(0.0, self._reserved - most)
        if not self._under_way:
            self._reserved = self._in_flight = 0.0  # without what rounding has left

    def _noted(self) -> None:
        if self.note is not None:
            with suppress(DataError):  # the last word stands, which was more
                self.note(self.spent + self.unsure + self._in_flight)

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


class Purse:
    """For calls whose price is on no list: functions, and addresses without a model.

    `most`: US dollars that one call can cost at most, which is also what it costs where it does not say; None where
    nobody says. Then one call goes alone, until one has come to something: where that reports no cost, the others are
    taken to be free. One that costs more than was said closes the budget: what others like it would cost is not known.
    """

    def __init__(self, budget: Budget | None, most: float | None, whose: str) -> None:
        self._budget = budget
        self._most = most
        self._whose = whose
        self._alone = budget is not None and most is None
        self._first: asyncio.Future[None] | None = None  # while it is under way

    async def reserve(self, calls: int = 1) -> float:
        """Sets aside what so many calls can cost, which begin now. Raises `ProviderError` of kind `budget`."""
        most = (self._most or 0.0) * calls
        if self._budget is None:
            return most
        with in_line():
            while self._first is not None:
                await asyncio.shield(self._first)
            if self._alone and self._budget.overdrawn:  # as in an earlier pass: not one more
                self._budget.close(f"{self._budget.used()} are spent, and {self._whose} says no max_cost")
            if self._alone:
                self._first = asyncio.get_running_loop().create_future()
            try:
                if most or self._budget.why:
                    await self._budget.reserve(most)
                    self._begin(self._budget, most)
            except BaseException:
                self._told(known=False)
                raise
        return most

    @staticmethod
    def _begin(budget: Budget, most: float) -> None:
        try:
            budget.begin(most)
        except BaseException:
            budget.give_back(most)
            raise

    def settle(
        self, reserved: float, cost: float | None, calls: int = 1, *, unreadable: bool = False, failed: bool = False
    ) -> float | None:
        """What they did cost, as far as anybody knows. `cost`: what they say themselves; `unreadable`: they say
        something of it, so they are not free; `failed`: nothing came back, so their silence says nothing either."""
        known = (self._most or 0.0) * calls if cost is None and self._most is not None else cost
        if self._budget is None:
            return known
        if reserved:
            self._budget.settle(reserved, known)
        elif known:
            self._budget.release(0.0, known)
        if known is None and unreadable:
            self._close("tells a usage that cannot be read and says no max_cost")
        if known is not None and known > reserved + 1e-9:
            stated = "says no max_cost" if self._most is None else f"has max_cost {self._most:g}"
            self._close(f"did cost {dollars(known)} and {stated}")
        self._told(known=known is not None or not failed)
        return known

    def _close(self, why: str) -> None:
        if self._budget is not None:
            mend = "say what one call costs at most (max_cost, in US dollars)"
            self._budget.close(f"{self._whose} {why}, so the budget cannot be held: {mend}")

    def lost(self, reserved: float) -> None:
        """They were given up: nobody knows what they did cost."""
        if self._budget is not None and reserved:
            self._budget.settle(reserved, None, unsure=True)
        self._told(known=False)

    def _told(self, *, known: bool = True) -> None:
        """A call is over; with `known` no other has to go alone."""
        first, self._first = self._first, None
        if first is not None:
            first.set_result(None)
            self._alone = not known


def check_max_cost(whose: str, given: object, *, allowed: bool) -> None:
    """Raises `ConfigError` for what is no amount, or stands where a list price is needed."""
    if given is None:
        return
    if not allowed:
        raise ConfigError(f"{whose}: max_cost is for functions and plain addresses; a model has a price (`prices`)")
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
        raise ConfigError(f"{whose}: max_cost must be an amount of US dollars from 0, got {given!r}")
