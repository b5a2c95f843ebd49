"""Limits and money before every provider of a run: one throttle for each, one budget for all."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from jury.budget import Budget, Purse
from jury.governed import Governed
from jury.judge import Seat
from jury.limits import Throttle
from jury.providers.base import Provider
from jury.runner.keeper import now
from jury.runner.spec import RunSpec
from jury.store import RunWriter

_ROUNDING = 1e-6  # US dollars: the folder counts in billionths


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


def budget_of(spec: RunSpec, writer: RunWriter) -> Budget | None:
    """The budget of a folder, less what its passes so far did cost or may have cost."""
    if spec.budget is None:
        return None
    return Budget(spec.budget, writer.cost + writer.target_cost, _unsure(writer))


def unsure_now(budget: Budget | None, writer: RunWriter) -> dict[str, float]:
    """For the history: what calls of this pass may have cost of which the log knows no cost. Empty if there is none."""
    if budget is None:
        return {}
    unknown = budget.spent + budget.unsure - writer.cost - writer.target_cost - _unsure(writer)
    return {"unsure": unknown} if unknown > _ROUNDING else {}


def note_unsure(budget: Budget | None, writer: RunWriter) -> None:
    """The same for live calls between batches, which are no pass."""
    unsure = unsure_now(budget, writer)
    if unsure and writer.manifest is not None:
        entry = {"ended": now(), "batches": True, **unsure}
        writer.save(replace(writer.manifest, history=(*writer.manifest.history, entry)))


def _unsure(writer: RunWriter) -> float:
    history = writer.manifest.history if writer.manifest is not None else ()
    return sum(float(value) for h in history if isinstance(value := h.get("unsure"), int | float))


def purses(seats: Iterable[Seat], budget: Budget | None) -> dict[str, Purse]:
    """By seat, the money of judge functions."""
    functions = [s for s in seats if s.function is not None]
    return {s.name: Purse(budget, s.spec.max_cost, f"judge {s.name}") for s in functions}
