"""Limits and money before every provider of a run: one throttle for each, one budget for all."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from jury.budget import Budget, Purse, check_max_cost
from jury.governed import Governed
from jury.judge import Seat
from jury.limits import Throttle
from jury.providers.base import Provider
from jury.runner.keeper import now
from jury.runner.spec import RunSpec
from jury.store import RunWriter

ROUNDING = 1e-6  # US dollars: the folder counts in billionths


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
    """The budget of a folder, less what its passes so far did cost or may have cost; those that were killed too."""
    _settle_killed(writer)
    if spec.budget is None:
        return None
    budget = Budget(spec.budget, writer.cost + writer.target_cost, _unsure(writer))
    budget.note = writer.at_risk.note
    return budget


def own_budget(dollars: float | None, writer: RunWriter) -> Budget | None:
    """A budget for what is asked now alone, whatever the folder did cost before; a kill leaves its record all the
    same."""
    _settle_killed(writer)
    if dollars is None:
        return None
    budget, before = Budget(dollars), writer.cost + writer.target_cost + _unsure(writer)
    budget.note = lambda at_risk: writer.at_risk.note(before + at_risk)
    return budget


def _settle_killed(writer: RunWriter) -> None:
    """What a pass that was killed may have cost besides what the log knows goes into the history."""
    killed = writer.at_risk.found()
    if killed is not None:
        unknown = killed - writer.cost - writer.target_cost - _unsure(writer)
        _note(writer, {"unsure": unknown} if unknown > ROUNDING else {}, {"ended": now(), "killed": True})
        writer.at_risk.clear()


def unsure_now(budget: Budget | None, writer: RunWriter) -> dict[str, float]:
    """For the history: what calls of this pass may have cost of which the log knows no cost. Empty if there is none."""
    unknown = beyond(budget, writer) - _unsure(writer)
    return {"unsure": unknown} if unknown > ROUNDING else {}


def beyond(budget: Budget | None, writer: RunWriter) -> float:
    """What all passes may have cost besides what the log knows: calls that were lost, or said nothing of their cost."""
    if budget is None:
        return 0.0
    return max(0.0, round(budget.spent + budget.unsure - writer.cost - writer.target_cost, 9))


def note_unsure(budget: Budget | None, writer: RunWriter) -> None:
    """The same for live calls between batches, which are no pass."""
    _note(writer, unsure_now(budget, writer), {"ended": now(), "batches": True})
    writer.at_risk.clear()


def _note(writer: RunWriter, unsure: Mapping[str, float], about: Mapping[str, Any]) -> None:
    if unsure and writer.manifest is not None:
        writer.save(replace(writer.manifest, history=(*writer.manifest.history, {**about, **unsure})))


def _unsure(writer: RunWriter) -> float:
    history = writer.manifest.history if writer.manifest is not None else ()
    return sum(float(value) for h in history if isinstance(value := h.get("unsure"), int | float))


def purses(seats: Iterable[Seat], budget: Budget | None) -> dict[str, Purse]:
    """By seat, the money of judge functions. Raises `ConfigError` for a `max_cost` on a function that is no amount."""
    return {s.name: Purse(budget, stated_cost(s), f"judge {s.name}") for s in seats if s.function is not None}


def stated_cost(seat: Seat) -> float | None:
    """What one call of a judge function costs at most: the seat says it, or the function itself (`judge.max_cost`)."""
    given = seat.spec.max_cost
    if given is None:
        given = getattr(seat.spec.function, "max_cost", None)
        check_max_cost(f"judge {seat.name}", given, allowed=True)
    return given
