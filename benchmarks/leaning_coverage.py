"""Situations for coverage.py: leanings of judges, and flips beyond noise. Simulated; all from the seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from jury.audit.against import DOUBT, leaning
from jury.stats import Estimate, beyond_noise, position_bias, self_preference_shared

Rng = np.random.Generator
Situation = tuple[str, str, float, Callable[[Rng], Estimate]]  # interval, situation, truth, draw


def situations() -> Iterator[Situation]:
    """Raw rates against people's (at `DOUBT`), the slot, the own family, and flips beyond noise."""
    for rate, tpr, tnr in ((0.66, 0.97, 0.94), (0.66, 0.98, 0.35), (0.5, 0.5, 0.8)):
        for whole in (True, False):
            name = f"leaning at {DOUBT:.0%}" + ("" if whole else ", labels alone")
            truth = rate * tpr + (1 - rate) * (1 - tnr) - rate
            yield (
                name,
                f"rate {rate}, TPR {tpr}, TNR {tnr}, 50 of 1000",
                truth,
                lambda rng, r=rate, s=(tpr, tnr), w=whole: _leaning(rng, r, s, w),
            )
    for noise, shift, n in ((0.1, 0.1, 20), (0.1, 0.1, 50), (0.1, 0.3, 50), (0.2, 0.2, 100), (0.02, 0.02, 50)):
        first, second = _chances(noise, shift)
        situation = f"noise {noise}, slot {shift}, {n} pairs"
        lean = float((first * (1 - second) - (1 - first) * second).mean())
        yield "position lean", situation, lean, lambda rng, a=noise, b=shift, n=n: _lean(rng, a, b, n)
        beyond = float(((first - second) ** 2).mean())
        yield "beyond_noise", situation, beyond, lambda rng, a=noise, b=shift, n=n: _beyond(rng, a, b, n)
    for items, others in ((20, 4), (60, 1), (60, 4), (200, 8)):
        for rates in ((0.7, 0.6), (0.98, 0.9)):
            for alike in (0.0, 0.6, 0.9):
                situation = f"{items} answers, {others} others, rates {rates[0]} {rates[1]}, alike {alike}"
                truth = rates[0] - rates[1]
                yield (
                    "family lean",
                    situation,
                    truth,
                    lambda rng, n=items, k=others, r=rates, a=alike: _family(rng, n, k, r, a),
                )


def _leaning(rng: Rng, rate: float, right: tuple[float, float], whole: bool) -> Estimate:
    """50 labels among 1000 verdicts."""
    people = rng.random(1000) < rate
    judge = np.where(people, rng.random(1000) < right[0], rng.random(1000) >= right[1])
    run = (int(judge.sum()), int((~judge).sum())) if whole else None
    return leaning(judge[:50].tolist(), people[:50].tolist(), run=run).difference


def _chances(noise: float, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Chances to prefer A, in a pair that A wins and in one that it loses: shown first, and shown second."""
    base = np.array([1.0 - noise, noise])
    return np.clip(base + shift, 0.0, 1.0), np.clip(base - shift, 0.0, 1.0)


def _asked(rng: Rng, noise: float, shift: float, n: int) -> tuple[list[list[str]], list[list[str]]]:
    """Verdicts on n pairs, each asked twice in each order."""
    first, second = _chances(noise, shift)
    kind = rng.integers(0, 2, size=n)
    sides = [np.where(rng.random((n, 2)) < p[kind][:, None], "A", "B").tolist() for p in (first, second)]
    return sides[0], sides[1]


def _lean(rng: Rng, noise: float, shift: float, n: int) -> Estimate:
    first, second = _asked(rng, noise, shift, n)
    return position_bias([(a[0], b[0]) for a, b in zip(first, second, strict=True)]).lean


def _beyond(rng: Rng, noise: float, shift: float, n: int) -> Estimate:
    return beyond_noise(list(zip(*_asked(rng, noise, shift, n), strict=True)))


def _family(rng: Rng, items: int, others: int, rates: tuple[float, float], alike: float) -> Estimate:
    """A judge that passes more of its family's answers than others do; a share of all votes comes from what all see."""
    shared, own = rng.random((items, 1)), rng.random((items, others + 1))
    seen = np.where(rng.random((items, others + 1)) < alike, shared, own)
    return self_preference_shared((seen[:, 0] < rates[0]).tolist(), (seen[:, 1:] < rates[1]).tolist()).difference
