"""`Estimate`: one number with its interval, or `None` and the reason. Loads no numpy; computes nothing.

Every function of `jury.stats` that can be undefined returns an `Estimate` or holds some in its result. Undefined is
`None` with one of `REASONS`, never 0, 1 or NaN: an average over such values cannot go wrong in silence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Reason = Literal[
    "no_data",
    "no_overlap",
    "no_variation",
    "too_few_raters",
    "too_few_items",
    "too_few_replicates",
    "no_better_than_chance",
    "disconnected",
    "no_finite_estimate",
    "no_convergence",
]

REASONS: dict[Reason, str] = {
    "no_data": "nothing was observed",
    "no_overlap": "no item has two ratings to compare",
    "no_variation": "all observed values are equal, so the quantity is 0/0 or its spread cannot be seen",
    "too_few_raters": "fewer than two raters",
    "too_few_items": "too few items for this quantity",
    "too_few_replicates": "too few bootstrap replicates were defined",
    "no_better_than_chance": "the judge is no better than chance, so its error rates cannot be undone",
    "disconnected": "some items are not connected by comparisons: they have no common scale",
    "no_finite_estimate": "the likelihood has no finite maximum",
    "no_convergence": "the fit did not settle",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, its confidence interval and its size; or the reason why there is none.

    `value` is None exactly where the quantity is undefined; `low` and `high` are both None where there is no interval.
    `reason` says why whatever is None is None (the value, or else the interval, if one was asked for), `note` adds a
    sentence for people. `n` counts the units behind the number (items, pairs, games: the function says which), `se` is
    the standard error where the method has one, `level` the confidence level of the interval.

    >>> Estimate(0.82, 0.69, 0.9, n=50).interval
    (0.69, 0.9)
    >>> undefined("no_data").value is None
    True
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: Reason | None = None
    n: int = 0
    se: float | None = None
    level: float = 0.95
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "se"):
            number: float | None = getattr(self, name)
            if number is None:
                continue
            if not math.isfinite(number):
                raise ValueError(f"{name} must be finite or None with a reason, got {number}")
            object.__setattr__(self, name, float(number))  # numpy's scalars print differently and are no JSON
        object.__setattr__(self, "n", int(self.n))
        if self.value is None and self.reason is None:
            raise ValueError("an undefined value needs a reason")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends")

    @property
    def interval(self) -> tuple[float, float] | None:
        """`(low, high)`, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def why(self) -> str:
        """The reason as a sentence, with the note; empty where nothing is missing and nothing was noted."""
        parts = [REASONS[self.reason] if self.reason else "", self.note]
        return "; ".join(part for part in parts if part)

    def __str__(self) -> str:
        if self.value is None:
            return f"undefined ({self.why})"
        ends = self.interval
        return f"{self.value:.3f}" if ends is None else f"{self.value:.3f} [{ends[0]:.3f}, {ends[1]:.3f}]"


def undefined(reason: Reason, note: str = "", *, n: int = 0, level: float = 0.95) -> Estimate:
    """An `Estimate` without a value.

    >>> str(undefined("no_data"))
    'undefined (nothing was observed)'
    """
    return Estimate(None, reason=reason, note=note, n=n, level=level)
