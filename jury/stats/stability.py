"""The same question asked again: how often a judge changes its mind (test-retest).

The item flip rate grows with the number of runs, so it is only comparable at equal numbers; the pairwise disagreement
is comparable always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from jury.stats.estimate import Estimate, undefined
from jury.stats.intervals import wilson
from jury.stats.paired import mean_gap
from jury.stats.resampling import REPLICATES, Seed, bootstrap
from jury.stats.table import IntArray, is_missing


@dataclass(frozen=True, slots=True)
class Retest:
    """Repeated verdicts of one judge. Items need two usable runs.

    `flip_rate` is the share of usable items with more than one distinct verdict; `disagreement` the mean over them of
    the chance that two runs differ. `by_item` has that chance for each item given (None: fewer than two usable runs).
    `runs` are the smallest and largest number of usable runs among usable items.
    """

    usable: int
    flipped: int
    flip_rate: Estimate
    disagreement: Estimate
    by_item: tuple[float | None, ...]
    unusable_runs: int
    total_runs: int
    runs: tuple[int, int] | None


def flip_rate(
    runs_by_item: Sequence[Sequence[object]],
    *,
    seed: Seed | None = None,
    clusters: Sequence[object] | None = None,
    replicates: int = REPLICATES,
    level: float = 0.95,
) -> Retest:
    """Instability from one row of verdicts for each item; None is a run without a usable verdict.

    The flip rate has Wilson's interval. With a `seed` the disagreement has a bootstrap interval over items (or over
    `clusters`, one name for each item). No usable item: `no_data`.

    >>> found = flip_rate([["P", "P", "P"], ["P", "F", "P"], ["P", None, None]])
    >>> found.usable, found.flip_rate.value, round(found.disagreement.value, 4), found.unusable_runs  # by hand: 0, 2/3
    (2, 0.5, 0.3333, 2)
    """
    by_item: list[float | None] = []
    sizes: list[int] = []
    for runs in runs_by_item:
        usable = [run for run in runs if not is_missing(run)]
        r = len(usable)
        if r < 2:
            by_item.append(None)
            continue
        sizes.append(r)
        same = sum(count * (count - 1) for count in Counter((type(run) is bool, run) for run in usable).values())
        by_item.append(1.0 - same / (r * (r - 1)))
    kept = [i for i, value in enumerate(by_item) if value is not None]
    values = np.array([by_item[i] for i in kept], dtype=np.float64)
    flipped = int((values > 0).sum())
    if not kept:
        disagreement = undefined("no_data", "no item has two usable runs", level=level)
    elif seed is None:
        disagreement = Estimate(float(values.mean()), n=len(kept), level=level)
    else:

        def statistic(rows: IntArray) -> float:
            return float(values[rows].mean())

        names = None if clusters is None else [clusters[i] for i in kept]
        disagreement = bootstrap(statistic, len(kept), seed=seed, replicates=replicates, level=level, clusters=names)
    total = sum(len(runs) for runs in runs_by_item)
    return Retest(
        len(kept),
        flipped,
        wilson(flipped, len(kept), level=level),
        disagreement,
        tuple(by_item),
        sum(is_missing(run) for runs in runs_by_item for run in runs),
        total,
        (min(sizes), max(sizes)) if sizes else None,
    )


def beyond_noise(shown: Sequence[Sequence[Sequence[object]]], *, level: float = 0.95) -> Estimate:
    """How much oftener two verdicts of a judge differ where what it saw stood in another order than where it did not.

    One entry for each pair (or item): for each order, the verdicts given in it, by content; None is no verdict. Each
    usable entry (two orders asked, one of them twice) gives the share of differing verdicts across the orders minus
    that within them; the value is the mean, in [-1, 1], and 0 where the order changes nothing; its interval is that of
    `paired.mean_gap`. No usable entry: `no_data`.

    >>> pairs = [("AA", "BB")] * 21 + [("AB", "A")] * 9 + [("AA", "A")] * 90
    >>> print(beyond_noise(pairs))  # gaps 1, -1/2 and 0: by hand (21 - 4.5) / 120, 16.5/122 -+ 1.96 * 0.03933
    0.138 [0.058, 0.212]
    """
    gaps: list[float] = []
    for entry in shown:
        orders = [[said for said in order if not is_missing(said)] for order in entry]
        within = [x != y for said in orders for x, y in combinations(said, 2)]
        across = [x != y for one, other in combinations(orders, 2) for x, y in product(one, other)]
        if within and across:
            gaps.append(sum(across) / len(across) - sum(within) / len(within))
    if not gaps:
        return undefined("no_data", "nothing was asked twice in an order and in another one too", level=level)
    return mean_gap(gaps, level=level)[0]
