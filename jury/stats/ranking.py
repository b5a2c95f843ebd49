"""Bradley-Terry strengths from comparisons: ties after Davidson or Rao and Kupper, penalty, errors of the differences.

`bradley_terry` fits, `bradley_terry_bootstrap` redraws clusters. Reading the games and the existence of the estimate
are in `games.py`, judges of unequal sharpness in `judge_aware.py`. Strengths are natural logarithms with mean 0 in each
group that is connected by games; only differences have errors, and groups are never compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from jury.errors import ConfigError
from jury.stats.distributions import z_value
from jury.stats.estimate import Estimate, Reason, undefined
from jury.stats.games import Existence, Game, Pairs, count_games, existence
from jury.stats.resampling import Seed, generator, percentile_interval
from jury.stats.strength_fit import StrengthFit, covariance, maximise
from jury.stats.table import FloatArray
from jury.stats.tie_models import TieModel

Ties: TypeAlias = Literal["davidson", "rao_kupper", "half"]
ELO = 400.0 / math.log(10.0)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Fitted strengths, or the reason why there are none.

    `log_strengths` follow `items` and are None without a finite estimate; `covariance` is of these strengths (errors
    against the mean of the group; use `difference` for a pair). `tie_parameter` is Davidson's nu (0: no ties) or Rao
    and Kupper's theta (1: no ties). `mle_exists` and `existence` describe the data; `penalty` above 0 marks a
    regularised fit, which is finite whatever the data. `draws` are bootstrap strengths (replicates, items).
    """

    items: tuple[str, ...]
    log_strengths: tuple[float, ...] | None
    covariance: FloatArray | None
    tie_parameter: float | None
    loglik: float | None
    n_games: float
    existence: Existence
    penalty: float = 0.0
    level: float = 0.95
    draws: FloatArray | None = None
    note: str = ""

    @property
    def mle_exists(self) -> bool:
        return self.existence.reason is None

    @property
    def reason(self) -> Reason | None:
        """Why there are no strengths, or why they rest on the penalty alone."""
        return self.existence.reason

    def group(self, item: str) -> tuple[str, ...]:
        """The items that share a scale with this one."""
        return next(group for group in self.existence.groups if item in group)

    def difference(self, a: str, b: str) -> Estimate:
        """log strength of a minus that of b, with its interval; `disconnected` across groups. `n` counts all games."""
        i, j = self._index(a), self._index(b)
        n = int(self.n_games)
        if b not in self.group(a):
            return undefined("disconnected", n=n, level=self.level)
        if self.log_strengths is None or self.covariance is None:
            return undefined(self.reason or "no_convergence", n=n, level=self.level)
        gap = self.log_strengths[i] - self.log_strengths[j]
        if self.draws is None:
            cov = self.covariance
            se = math.sqrt(max(float(cov[i, i] + cov[j, j] - 2 * cov[i, j]), 0.0))
            low, high = gap - z_value(self.level) * se, gap + z_value(self.level) * se
        else:
            drawn = self.draws[:, i] - self.draws[:, j]
            se = float(drawn.std(ddof=1))
            low, high = percentile_interval(drawn.tolist(), self.level)
        if se < 1e-9 and i != j:  # every cluster says the same: no spread to see, which is not certainty
            return Estimate(gap, reason="no_variation", n=n, level=self.level, note=self.note)
        return Estimate(gap, low, high, n=n, se=se, level=self.level, note=self.note)

    def relative_to(self, reference: str) -> dict[str, Estimate]:
        """`difference` of every item to one of them."""
        return {item: self.difference(item, reference) for item in self.items}

    def win_probability(self, a: str, b: str) -> Estimate:
        """Chance that a beats b where the game is decided, with its interval."""
        gap = self.difference(a, b)
        if gap.value is None or gap.low is None or gap.high is None:
            return gap
        chance, low, high = (1.0 / (1.0 + math.exp(-x)) for x in (gap.value, gap.low, gap.high))
        return Estimate(chance, low, high, n=gap.n, level=gap.level, note=gap.note)

    def rank_ranges(self) -> dict[str, tuple[int, int] | None]:
        """Best and worst rank of each item inside its group, from 1: who is surely ahead, and surely behind, of it.

        "Surely" is an interval of the difference that leaves out 0, pair by pair. None without strengths.
        """
        ranges: dict[str, tuple[int, int] | None] = {}
        for item in self.items:
            gaps = [self.difference(item, other) for other in self.group(item) if other != item]
            if self.log_strengths is None:
                ranges[item] = None
                continue
            ahead = sum(1 for gap in gaps if gap.high is not None and gap.high < 0)
            behind = sum(1 for gap in gaps if gap.low is not None and gap.low > 0)
            ranges[item] = (1 + ahead, 1 + len(gaps) - behind)
        return ranges

    def elo(self) -> dict[str, float] | None:
        """Strengths on the Elo scale (400 points: odds of 10), mean 0 in each group."""
        if self.log_strengths is None:
            return None
        return {item: ELO * value for item, value in zip(self.items, self.log_strengths, strict=True)}

    def _index(self, item: str) -> int:
        if item not in self.items:
            raise ConfigError(f"{item!r} is not one of the items {list(self.items)}")
        return self.items.index(item)


def _tie_parameter(model: TieModel, fit: StrengthFit, m: int) -> float | None:
    if model == "half":
        return None
    if not fit.free:
        return 0.0 if model == "davidson" else 1.0
    return math.exp(float(fit.parameters[m]))


def bradley_terry(
    games: Iterable[Game],
    *,
    items: Sequence[str] | None = None,
    ties: Ties = "davidson",
    penalty: float = 0.0,
    robust: bool = True,
    level: float = 0.95,
) -> Ranking:
    """Fit strengths t with P(i beats j) = 1 / (1 + exp(t_j - t_i)) where the game is decided.

    Ties: `davidson` (chance of a tie proportional to nu * sqrt of both strengths), `rao_kupper` (threshold theta), or
    `half` a win for each, which shrinks the gaps and whose errors are wrong. Without a finite maximum there are no
    strengths and `reason` says why: `no_data`, `disconnected`, `no_finite_estimate` (with `existence.unbounded`). A
    `penalty` lam subtracts lam * sum of t^2 from the log-likelihood and always gives a finite fit, marked as such.
    `robust` takes the sandwich (HC0), by cluster where games name one; else the inverse information.

    Sources: Bradley and Terry 1952 (10.1093/biomet/39.3-4.324); Davidson 1970 (10.1080/01621459.1970.10481082); Rao and
    Kupper 1967 (10.1080/01621459.1967.10482901); for language models arXiv 2403.04132.

    >>> counts = dict(ab=7, ba=3, ac=8, ca=2, bc=6, cb=4, cd=7, dc=5, bd=8, db=3, ad=9, da=1)
    >>> ranking = bradley_terry([Game(pair[0], pair[1], 1, n) for pair, n in counts.items()])
    >>> gaps = ranking.relative_to("a")  # choix 0.4.1: -0.9429797, -1.4497107, -1.9040121; statsmodels HC0: 0.5219442
    >>> [round(gaps[i].value, 6) for i in "bcd"], round(gaps["b"].se, 6)
    ([-0.94298, -1.449711, -1.904012], 0.521944)
    >>> bradley_terry([Game("a", "b", 1)]).reason
    'no_finite_estimate'
    """
    z_value(level)
    if ties not in ("davidson", "rao_kupper", "half"):
        raise ConfigError(f"ties are davidson, rao_kupper or half, got {ties!r}")
    if penalty < 0:
        raise ConfigError("the penalty is not negative")
    pairs = count_games(games, items=items)
    found = existence(pairs, tie_parameter=ties != "half")
    n_games = float(pairs.counts.sum())
    nothing = Ranking(pairs.items, None, None, None, None, n_games, found, penalty, level)
    if found.reason is not None and (not penalty or found.reason == "no_data"):
        return nothing
    if penalty and not pairs.counts[:, :2].any() and ties != "half":
        return nothing  # nothing but ties: no penalty on strengths bounds the tie parameter
    fit = maximise(pairs, ties, penalty=penalty)
    if not fit.converged:
        return replace(nothing, note="the fit did not settle")
    m = len(pairs.items)
    strengths = tuple(float(value) for value in _centred(fit.parameters[:m], found, pairs.items))
    spread = covariance(pairs, fit, ties, penalty=penalty, robust=robust)
    note = "regularised: the data alone have no finite estimate" if found.reason else ""
    tie = _tie_parameter(ties, fit, m)
    return Ranking(pairs.items, strengths, spread, tie, fit.loglik, n_games, found, penalty, level, note=note)


def _centred(values: FloatArray, found: Existence, items: tuple[str, ...]) -> FloatArray:
    centred = values.copy()
    for group in found.groups:
        places = [items.index(name) for name in group]
        centred[places] -= values[places].mean()
    return centred


_FALLBACK = 1e-3  # penalty of a replicate without a finite maximum: its strengths are huge, as they should be


def bradley_terry_bootstrap(
    games: Iterable[Game],
    *,
    seed: Seed,
    ties: Ties = "davidson",
    penalty: float = 0.0,
    replicates: int = 500,
    level: float = 0.95,
) -> Ranking:
    """`bradley_terry` whose intervals are percentiles over redrawn clusters (or single games, where none is named).

    A replicate without a finite maximum is refitted with a tiny penalty, so that it lies far out as it should; one that
    falls apart into groups is dropped; `note` counts both. Fewer than 10 clusters: no draws, the sandwich stays.

    Source: arXiv 2403.04132, section 5, with prompts as clusters.

    >>> games = [Game("a", "b", i % 3 > 0, cluster=i % 16) for i in range(60)]
    >>> gap = bradley_terry_bootstrap(games, seed=5, replicates=200).difference("a", "b")
    >>> round(gap.value, 4), gap.low < math.log(2) < gap.high  # by hand: 40 wins to 20, log 2
    (0.6931, True)
    """
    played = list(games)
    point = bradley_terry(played, ties=ties, penalty=penalty, level=level)
    if point.log_strengths is None:
        return point
    pairs = count_games(played)
    rng = generator(seed)
    clusters = round(float(pairs.counts.sum())) if pairs.by_cluster is None else len(pairs.by_cluster)
    if clusters < 10:
        return replace(point, note=f"only {clusters} clusters: no bootstrap")
    start = maximise(pairs, ties, penalty=penalty).parameters
    drawn: list[FloatArray] = []
    apart = refitted = 0
    for _ in range(replicates):
        sample = _sample(pairs, rng, clusters)
        state = existence(sample, tie_parameter=ties != "half").reason
        if state in ("disconnected", "no_data") and not penalty:
            apart += 1
            continue
        weak = 0.0 if state is None or penalty else _FALLBACK
        refitted += weak > 0
        fit = maximise(sample, ties, penalty=penalty or weak, start=None if weak else start)
        drawn.append(_centred(fit.parameters[: len(pairs.items)], point.existence, pairs.items))
    notes = [
        point.note,
        f"{apart} of {replicates} replicates fell apart and were dropped" if apart else "",
        f"{refitted} of {replicates} replicates had no finite estimate" if refitted else "",
    ]
    note = "; ".join(text for text in notes if text)
    return replace(point, draws=np.array(drawn) if 2 * len(drawn) >= replicates else None, note=note)


def _sample(pairs: Pairs, rng: np.random.Generator, clusters: int) -> Pairs:
    """A bootstrap sample of the clusters, or of the single games."""
    if pairs.by_cluster is None:
        flat = rng.multinomial(clusters, pairs.counts.ravel() / pairs.counts.sum()).astype(np.float64)
    else:
        flat = np.bincount(rng.integers(0, clusters, size=clusters), minlength=clusters) @ pairs.by_cluster
    counts = flat.reshape(-1, 3)
    played = counts.sum(axis=1) > 0
    return Pairs(pairs.items, pairs.first[played], pairs.second[played], counts[played], None)
