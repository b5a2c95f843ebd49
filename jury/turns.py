"""In which order seats are asked where not all of them are: the cheap ones first. Asks nobody.

What a seat costs is what its list price makes of a usual question. A function and a local model cost nothing; where the
price of one seat is unknown, nobody can say what is cheap, and the order stays as it was given.
"""

from __future__ import annotations

from collections.abc import Sequence

from jury.governed import FREE
from jury.judge import Seat
from jury.providers import prices

USUAL = (1000, 150)  # tokens in and out
_LEAST = 0.05  # of the mean cost: a free seat still takes time


def usual_costs(seats: Sequence[Seat]) -> list[float] | None:
    """US dollars of one usual question to each seat; None where one has no known price. Raises `ConfigError`."""
    costs: list[float] = []
    for seat in seats:
        if seat.function is not None:
            costs.append(0.0)
            continue
        price = prices.find(seat.provider.name, seat.model)
        if price is None and seat.provider.name not in FREE:
            return None
        costs.append(0.0 if price is None else (USUAL[0] * price.input + USUAL[1] * price.output) / 1e6)
    return costs


def cheapest_first(seats: Sequence[Seat], costs: Sequence[float] | None) -> list[int]:
    """The places of the seats in the order to ask: the least cost for its weight first, else as they are given."""
    places = list(range(len(seats)))
    if costs is None:
        return places
    weights = [s.spec.weight for s in seats]
    return sorted(places, key=lambda i: (costs[i] / weights[i] if weights[i] else float("inf"), i))


def relative(costs: Sequence[float] | None) -> list[float] | None:
    """Costs in units of their mean; None where all seats cost the same, or nobody knows."""
    if costs is None or max(costs) == min(costs):
        return None
    mean = sum(costs) / len(costs)
    return [max(c / mean, _LEAST) for c in costs]
