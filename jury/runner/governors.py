"""Limits and money before every provider of a run: one throttle for each, one budget for all."""

from __future__ import annotations

import time
from collections.abc import Iterable

from jury.budget import Budget, Purse
from jury.governed import Governed
from jury.judge import Seat
from jury.limits import Throttle
from jury.providers.base import Provider
from jury.runner.spec import RunSpec


class Governors:
    """Made for one pass. `before` puts a governor before a provider, `gone` takes it away."""

    def __init__(self, spec: RunSpec, budget: Budget | None) -> None:
        self._spec = spec
        self._budget = budget
        self._made: dict[int, Governed] = {}
        self._throttles: dict[str, Throttle] = {}

    def before(self, provider: Provider) -> Provider:
        if isinstance(provider, Governed):
            return provider
        made = self._made.get(id(provider))
        if made is None:
            name = provider.name
            if name not in self._throttles:
                self._throttles[name] = Throttle(self._spec.limits_of(name), time.monotonic)
            made = self._made[id(provider)] = Governed(provider, self._throttles[name], self._budget)
        return made

    @staticmethod
    def gone(provider: Provider) -> Provider:
        return provider.inner if isinstance(provider, Governed) else provider

    def check(self, seats: Iterable[Seat]) -> None:
        """Raises `ConfigError` for wrong limits, and with a budget for a judge whose price nobody knows."""
        for seat in seats:
            if seat.function is not None:
                continue
            governed = self.before(seat.provider)
            if self._budget is not None and isinstance(governed, Governed):
                governed.price(seat.model)


def purses(seats: Iterable[Seat], budget: Budget | None) -> dict[str, Purse]:
    """By seat, the money of judge functions."""
    functions = [s for s in seats if s.function is not None]
    return {s.name: Purse(budget, s.spec.max_cost, f"judge {s.name}") for s in functions}
