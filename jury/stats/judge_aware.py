"""Bradley-Terry with a spread for each judge: how sharply each one tells the items apart.

P(judge k prefers i to j) = 1 / (1 + exp(-(s_i - s_j) / sigma_k)), sum of s = 0, geometric mean of sigma = 1. A small
sigma means consistency with the panel, not with people: a bias that the judges share earns a small sigma, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jury.errors import ConfigError
from jury.stats.estimate import Reason
from jury.stats.games import Game, count_games, existence
from jury.stats.resampling import Seed, generator
from jury.stats.table import FloatArray, IntArray
from jury.stats.tie_models import log_logistic, logistic

PRIOR = 0.01
FLOOR = 10


class JudgedGame(NamedTuple):
    """One comparison by one judge, or `weight` equal ones: `outcome` in [0, 1], 1 where `a` won, 0.5 for a tie."""

    judge: str
    a: str
    b: str
    outcome: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class JudgeAwareRanking:
    """Strengths and spreads; empty with a `reason` where there is no finite fit.

    `plain_strengths` and `plain_loglik` are of the fit with all sigma 1, on the same penalty: where the two
    log-likelihoods hardly differ, the sigmas say nothing. `fixed` are the judges with too few games for a sigma of
    their own (it is 1 before scaling). `prior` is the penalty, 0 for maximum likelihood.
    """

    strengths: dict[str, float]
    sigma: dict[str, float]
    loglik: float | None
    plain_strengths: dict[str, float]
    plain_loglik: float | None
    prior: float
    fixed: tuple[str, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Data:
    """Games as arrays; `s_basis` spans the strengths that sum to 0, `l_basis` the free log sigmas that do."""

    judge: IntArray
    design: FloatArray
    outcome: FloatArray
    weight: FloatArray
    s_basis: FloatArray
    l_basis: FloatArray
    prior: float


def _sum_zero_basis(n: int) -> FloatArray:
    """Orthonormal columns that span the vectors of length n with sum 0."""
    if n < 2:
        return np.zeros((n, 0))
    full = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))[0]
    return np.asarray(full[:, 1:], dtype=np.float64)


def _value(data: _Data, x: FloatArray) -> tuple[float, float]:
    """Penalised and plain log-likelihood."""
    z, _, s, log_sigma = _margins(data, x)
    terms = data.outcome * log_logistic(z) + (1.0 - data.outcome) * log_logistic(-z)
    loglik = float((data.weight * terms).sum())
    return loglik - data.prior * float((s**2).sum() + (log_sigma**2).sum()), loglik


def _margins(data: _Data, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    split = data.s_basis.shape[1]
    s, log_sigma = data.s_basis @ x[:split], data.l_basis @ x[split:]
    sharp = np.exp(-np.clip(log_sigma, -30.0, 30.0))[data.judge]
    return (data.design @ s) * sharp, sharp, s, log_sigma


def _scoring_step(data: _Data, x: FloatArray, damping: float) -> FloatArray:
    """Fisher scoring with damping: the expected information is never negative, though the surface is not concave."""
    z, sharp, s, log_sigma = _margins(data, x)
    p = logistic(z)
    jacobian = np.hstack([sharp[:, None] * (data.design @ data.s_basis), -z[:, None] * data.l_basis[data.judge]])
    gradient = jacobian.T @ (data.weight * (data.outcome - p))
    gradient -= 2.0 * data.prior * np.concatenate([data.s_basis.T @ s, data.l_basis.T @ log_sigma])
    information = (jacobian * (data.weight * p * (1.0 - p))[:, None]).T @ jacobian
    information += (2.0 * data.prior + damping) * np.eye(len(x))
    step: FloatArray = np.linalg.solve(information, gradient).astype(np.float64)
    return step


def _climb(data: _Data, x: FloatArray) -> tuple[FloatArray, float, float, bool]:
    """From one start to its maximum: parameters, penalised and plain log-likelihood, and whether it settled."""
    value, loglik = _value(data, x)
    damping, size = 1e-6, 0.0
    for _ in range(500):
        step = _scoring_step(data, x, damping)
        size = float(np.abs(step).max(initial=0.0))
        if size < 1e-10:
            return x, value, loglik, True
        trial = x + step * min(1.0, 2.0 / size)
        found = _value(data, trial)
        if found[0] >= value - 1e-13 * abs(value):
            x, (value, loglik), damping = trial, found, max(damping / 3.0, 1e-9)
        else:
            damping *= 10.0
        if damping > 1e12:
            break
    return x, value, loglik, size < 1e-6


def judge_aware_bradley_terry(
    games: Iterable[JudgedGame],
    *,
    seed: Seed,
    prior: float = PRIOR,
    floor: float = FLOOR,
    starts: int = 8,
    items: Sequence[str] | None = None,
) -> JudgeAwareRanking:
    """Fit strengths of items and spreads of judges together; a tie counts as half.

    `prior` times (sum of s^2 + sum of ln(sigma)^2) is taken from the log-likelihood: without it a perfectly consistent
    judge drives its sigma to 0. With `prior=0` the data must satisfy `games.existence`, else `reason` is set. Judges
    with fewer than `floor` games get no sigma of their own. The surface has several maxima: `starts` climbs, the first
    from the plain fit, the others from random sigmas (`seed`); the best is kept.

    Sources: arXiv 2602.16610, 2601.21817; the crowd form is Chen et al. 2013 (10.1145/2433396.2433420).

    >>> wins = dict(j1=dict(ab=8, bc=8, ac=9), j2=dict(ab=7, bc=7, ac=8), j3=dict(ab=5, bc=6, ac=6))
    >>> games = [JudgedGame(j, p[0], p[1], o, n) for j, row in wins.items() for p, w in row.items()
    ...          for o, n in ((1, w), (0, 10 - w))]
    >>> fit = judge_aware_bradley_terry(games, seed=0, prior=0)  # scipy 1.12.0, 8 starts: .463, .763, 2.831; -51.069
    >>> {judge: round(sigma, 3) for judge, sigma in fit.sigma.items()}, round(fit.loglik, 3)
    ({'j1': 0.463, 'j2': 0.763, 'j3': 2.831}, -51.069)
    """
    if prior < 0 or starts < 1:
        raise ConfigError("the prior is not negative and there is at least one start")
    played = list(games)
    pairs = count_games([_counted(game) for game in played], items=items)
    judges = sorted({game.judge for game in played})
    state = existence(pairs).reason
    if state == "no_data" or (state is not None and not prior):
        return JudgeAwareRanking({}, {}, None, {}, None, prior, (), state)
    data, fixed = _arrays(played, pairs.items, judges, prior, floor)
    split = int(data.s_basis.shape[1])
    no_spread = _Data(data.judge, data.design, data.outcome, data.weight, data.s_basis, data.l_basis[:, :0], prior)
    plain, _, plain_loglik, _ = _climb(no_spread, np.zeros(split))
    x, loglik, settled = _best_climb(data, plain, generator(seed), starts)
    s, log_sigma = data.s_basis @ x[:split], data.l_basis @ x[split:]
    runs_away = _never_wrong(data, x)
    if not settled or runs_away:
        why: Reason = "no_finite_estimate" if runs_away else "no_convergence"
        return JudgeAwareRanking({}, {}, None, {}, None, prior, fixed, why)
    spreads = np.exp(log_sigma)
    return JudgeAwareRanking(
        dict(zip(pairs.items, s.tolist(), strict=True)),
        dict(zip(judges, spreads.tolist(), strict=True)),
        loglik,
        dict(zip(pairs.items, (data.s_basis @ plain).tolist(), strict=True)),
        plain_loglik,
        prior,
        fixed,
        state,
    )


def _best_climb(
    data: _Data, plain: FloatArray, rng: np.random.Generator, starts: int
) -> tuple[FloatArray, float, bool]:
    """Parameters, log-likelihood and "settled" of the highest maximum found, from the plain strengths."""
    free = int(data.l_basis.shape[1])
    best = _climb(data, np.concatenate([plain, np.zeros(free)]))
    for _ in range(starts - 1 if free and not _never_wrong(data, best[0]) else 0):
        spread: FloatArray = rng.normal(0.0, 1.0, free)
        other = _climb(data, np.concatenate([plain, spread]))
        best = other if other[1] > best[1] + 1e-9 else best
    return best[0], best[2], best[3]


def _never_wrong(data: _Data, x: FloatArray) -> bool:
    """Whether all games of some judge are as good as certain: its sigma is on the way to 0, where the climb stopped."""
    surprise = np.abs(data.outcome - logistic(_margins(data, x)[0]))
    worst = np.zeros(len(data.l_basis))
    np.maximum.at(worst, data.judge, surprise)
    return bool((worst < 1e-6).any())


def _counted(game: JudgedGame) -> Game:
    """The game for the check of existence: an outcome between 0 and 1 counts both ways, as a tie does."""
    if not 0.0 <= game.outcome <= 1.0 or not math.isfinite(game.weight):
        raise ConfigError(f"an outcome lies in [0, 1], got {game.outcome}")
    return Game(game.a, game.b, game.outcome if game.outcome in (0, 1) else 0.5, game.weight)


def _arrays(
    played: list[JudgedGame], items: tuple[str, ...], judges: list[str], prior: float, floor: float
) -> tuple[_Data, tuple[str, ...]]:
    """The games as arrays, and the judges whose sigma is held."""
    place = {name: i for i, name in enumerate(items)}
    number = {name: k for k, name in enumerate(judges)}
    design = np.zeros((len(played), len(items)))
    rows = np.arange(len(played))
    design[rows, [place[game.a] for game in played]] = 1.0
    design[rows, [place[game.b] for game in played]] = -1.0
    judge = np.array([number[game.judge] for game in played], dtype=np.int64)
    weight = np.array([game.weight for game in played], dtype=np.float64)
    totals = np.bincount(judge, weights=weight, minlength=len(judges))
    held = totals < floor
    free = np.flatnonzero(~held)
    l_basis = np.zeros((len(judges), max(len(free) - 1, 0)))
    l_basis[free] = _sum_zero_basis(len(free))
    outcome = np.array([game.outcome for game in played], dtype=np.float64)
    data = _Data(judge, design, outcome, weight, _sum_zero_basis(len(items)), l_basis, prior)
    return data, tuple(name for name, few in zip(judges, held.tolist(), strict=True) if few)
