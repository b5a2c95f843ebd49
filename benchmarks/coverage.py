"""How often the intervals of `jury.stats` hold the truth, and how often its stopping bound is wrong: simulations.

    python -m benchmarks.coverage [--runs 2000] [--only PART_OF_A_NAME] [--seed 1] [--json]

One row an interval and a situation: the share of simulated samples whose 95% interval (80% of a raw rate that leans)
holds the true value, the median width, and the share of samples without an interval (these are not in the coverage).
Bootstrap intervals get a tenth of the runs. Below the table: errors among stopped items under the Bayesian stopping
rule, for judges that err apart and for judges that err together. Everything follows from the seed.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.leaning_coverage import situations
from benchmarks.stopping_bound import STOP_HEADER, stop_line, stopping
from jury.stats import (
    Confusion,
    Estimate,
    Game,
    PairedCounts,
    alpha_interval,
    bootstrap_mean,
    bradley_terry,
    bradley_terry_bootstrap,
    clopper_pearson,
    cohen_kappa,
    length_bias,
    mcnemar,
    newcombe,
    paired_bootstrap,
    ppi_mean,
    rogan_gladen,
    rogan_gladen_bootstrap,
    stratified_rate,
    wald_difference,
    wilson,
)

Rng = np.random.Generator
COSTLY = 10  # a bootstrap inside a simulation: this many times fewer runs


@dataclass(frozen=True)
class Study:
    """One interval in one situation. `draw` simulates a sample and returns the estimate of `truth` from it."""

    interval: str
    situation: str
    truth: float
    draw: Callable[[Rng], Estimate]
    costly: bool = False


@dataclass(frozen=True)
class Row:
    """What the simulation of a study gave; `coverage` and `width` are None where there never was an interval."""

    interval: str
    situation: str
    runs: int
    coverage: float | None
    width: float | None
    without: float


def shares() -> Iterator[Study]:
    for p in (0.5, 0.9, 0.98):
        for n in (20, 100):
            situation = f"rate {p}, n {n}"
            yield Study("wilson", situation, p, lambda rng, p=p, n=n: wilson(rng.binomial(n, p), n))
            yield Study("clopper_pearson", situation, p, lambda rng, p=p, n=n: clopper_pearson(rng.binomial(n, p), n))
    for p, q, n in ((0.6, 0.5, 50), (0.95, 0.85, 40)):
        for name, interval in (("newcombe", newcombe), ("wald_difference", wald_difference)):
            yield Study(
                name,
                f"rates {p} and {q}, n {n} each",
                p - q,
                lambda rng, p=p, q=q, n=n, f=interval: f(rng.binomial(n, p), n, rng.binomial(n, q), n),
            )


def means() -> Iterator[Study]:
    for n in (20, 50, 200):
        yield Study(
            "bootstrap_mean",
            f"skewed values, n {n}",
            0.2,
            lambda rng, n=n: bootstrap_mean(rng.beta(0.5, 2.0, size=n).tolist(), seed=rng, replicates=500),
            costly=True,
        )
    for clustered in (True, False):
        yield Study(
            "bootstrap_mean" + (", clusters" if clustered else ""),
            "40 sessions of 5 items with a common part",
            0.5,
            lambda rng, clustered=clustered: _sessions(rng, clustered),
            costly=True,
        )


def _sessions(rng: Rng, clustered: bool) -> Estimate:
    base = np.repeat(rng.beta(1.0, 1.0, size=40), 5)
    values = (rng.random(200) < base).astype(float).tolist()
    names = np.repeat(np.arange(40), 5).tolist() if clustered else None
    return bootstrap_mean(values, seed=rng, replicates=500, clusters=names)


def _votes(rng: Rng, items: int, judges: int) -> list[list[str]]:
    """Judges who report the truth (PASS in 80%) in 85% of the items, each on its own."""
    truth = rng.random(items) < 0.8
    right = rng.random((items, judges)) < 0.85
    return [["P" if vote else "F" for vote in row] for row in (truth[:, None] == right)]


def agreement() -> Iterator[Study]:
    pass_share = 0.8 * 0.85 + 0.2 * 0.15
    same = 0.85**2 + 0.15**2
    chance = pass_share**2 + (1 - pass_share) ** 2
    truth = (same - chance) / (1 - chance)
    for n in (30, 100):
        yield Study("cohen_kappa", f"kappa {truth:.2f}, n {n}", truth, lambda rng, n=n: _kappa(rng, n))
        yield Study(
            "alpha_interval",
            f"alpha {truth:.2f}, 3 judges, n {n}",
            truth,
            lambda rng, n=n: alpha_interval(_votes(rng, n, 3), seed=rng, replicates=300),
            costly=True,
        )


def _kappa(rng: Rng, n: int) -> Estimate:
    first, second = zip(*_votes(rng, n, 2), strict=True)
    return cohen_kappa(first, second)


@dataclass(frozen=True)
class Judge:
    """True pass rate of the items and the judge's TPR and TNR on them."""

    name: str
    rate: float
    tpr: float
    tnr: float


JUDGES = (
    Judge("good judge", 0.66, 0.97, 0.94),
    Judge("lenient judge", 0.66, 0.998, 0.66),
    Judge("weak judge", 0.66, 0.98, 0.35),
    Judge("nearly all pass", 0.95, 0.98, 0.9),
)


def _labelled(rng: Rng, judge: Judge, n: int) -> Confusion:
    cells = (
        judge.rate * judge.tpr,
        judge.rate * (1 - judge.tpr),
        (1 - judge.rate) * (1 - judge.tnr),
        (1 - judge.rate) * judge.tnr,
    )
    return Confusion(*(int(count) for count in rng.multinomial(n, cells)))


def _by_class(rng: Rng, judge: Judge, n: int) -> Confusion:
    tp, tn = int(rng.binomial(n // 2, judge.tpr)), int(rng.binomial(n // 2, judge.tnr))
    return Confusion(tp, n // 2 - tp, n // 2 - tn, tn)


def _passed(rng: Rng, judge: Judge, items: int) -> int:
    return int(rng.binomial(items, judge.rate * judge.tpr + (1 - judge.rate) * (1 - judge.tnr)))


def _ppi(rng: Rng, judge: Judge, n: int, items: int) -> Estimate:
    table, passed = _labelled(rng, judge, n), _passed(rng, judge, items)
    human = [1.0] * (table.tp + table.fn) + [0.0] * (table.fp + table.tn)
    said = [1.0] * table.tp + [0.0] * table.fn + [1.0] * table.fp + [0.0] * table.tn
    return ppi_mean(human, said, [1.0] * passed + [0.0] * (items - passed)).estimate


def _stratified(rng: Rng, judge: Judge, n: int, items: int) -> Estimate:
    table, passed = _labelled(rng, judge, n), _passed(rng, judge, items)
    labelled = (table.tp + table.fp, table.fn + table.tn)
    return stratified_rate((table.tp, table.fn), labelled, (passed + labelled[0], items - passed + labelled[1]))


def _by_verdict(rng: Rng, judge: Judge, n: int, items: int) -> Estimate:
    """Half of the labels among the judge's PASS, half among its FAIL: only the classes of the verdict are random."""
    passed = min(max(_passed(rng, judge, items), 1), items - 1)
    said_pass = judge.rate * judge.tpr + (1 - judge.rate) * (1 - judge.tnr)
    shares_passed = (judge.rate * judge.tpr / said_pass, judge.rate * (1 - judge.tpr) / (1 - said_pass))
    sizes = (n // 2, n // 2)
    hits = [int(rng.binomial(size, share)) for size, share in zip(sizes, shares_passed, strict=True)]
    return stratified_rate(hits, sizes, (passed, items - passed))


def corrected() -> Iterator[Study]:
    items = 1000
    for judge in JUDGES:
        for n in (25, 50, 100, 200):
            for name, draw in (
                ("ppi_mean", _ppi),
                ("stratified_rate", _stratified),
                ("stratified_rate, labels by verdict", _by_verdict),
            ):
                situation = f"{judge.name}, {n} labels of {items}"
                yield Study(name, situation, judge.rate, lambda rng, j=judge, n=n, d=draw: d(rng, j, n, items))
    for judge in JUDGES[:3]:
        for n in (50, 100):
            for label, draw_labels in (("at random", _labelled), ("by class", _by_class)):
                situation = f"{judge.name}, {n} labels {label}, {items} items"
                for adjusted in (True, False):
                    yield Study(
                        "rogan_gladen" + ("" if adjusted else ", delta"),
                        situation,
                        judge.rate,
                        lambda rng, j=judge, n=n, d=draw_labels, a=adjusted: (
                            rogan_gladen(d(rng, j, n), _passed(rng, j, items), items, adjusted=a).estimate
                        ),
                    )
                yield Study(
                    "rogan_gladen_bootstrap",
                    situation,
                    judge.rate,
                    lambda rng, j=judge, n=n, d=draw_labels: (
                        rogan_gladen_bootstrap(
                            d(rng, j, n), _passed(rng, j, items), items, seed=rng, replicates=2000
                        ).estimate
                    ),
                )


def paired() -> Iterator[Study]:
    for a, b, n in ((0.15, 0.05, 100), (0.04, 0.01, 60)):
        for adjusted in (True, False):
            yield Study(
                "mcnemar" + ("" if adjusted else ", Wald"),
                f"discordant {a} and {b}, n {n}",
                a - b,
                lambda rng, a=a, b=b, n=n, adjusted=adjusted: (
                    mcnemar(_pairs(rng, a, b, n), adjusted=adjusted).difference
                ),
            )
        yield Study(
            "paired_bootstrap",
            f"discordant {a} and {b}, n {n}",
            a - b,
            lambda rng, a=a, b=b, n=n: _redrawn(rng, _pairs(rng, a, b, n)),
            costly=True,
        )


def _pairs(rng: Rng, a: float, b: float, n: int) -> PairedCounts:
    only_a, only_b, both = (int(x) for x in rng.multinomial(n, [a, b, 1 - a - b]))
    return PairedCounts(only_a, only_b, both, 0)


def _redrawn(rng: Rng, counts: PairedCounts) -> Estimate:
    one = [1.0] * counts.only_a + [0.0] * counts.only_b + [1.0] * counts.both
    other = [0.0] * counts.only_a + [1.0] * counts.only_b + [1.0] * counts.both
    return paired_bootstrap(one, other, seed=int(rng.integers(2**31)), replicates=500).difference


STRENGTHS = (0.9, 0.3, -0.3, -0.9)
NAMES = "abcd"


def _games(rng: Rng, prompts: int, judges: int, nu: float) -> list[Game]:
    """A pair on each prompt; the judges of a prompt share a taste, so that their votes are correlated."""
    games: list[Game] = []
    for prompt in range(prompts):
        i, j = (int(x) for x in rng.choice(4, size=2, replace=False))
        shared = rng.random()
        win, lose = math.exp((STRENGTHS[i] - STRENGTHS[j]) / 2), math.exp((STRENGTHS[j] - STRENGTHS[i]) / 2)
        total = win + lose + nu
        for _ in range(judges):
            u = shared if rng.random() < 0.6 else rng.random()
            outcome = 1.0 if u < win / total else 0.5 if u < (win + nu) / total else 0.0
            games.append(Game(NAMES[i], NAMES[j], outcome, cluster=prompt if judges > 1 else None))
    return games


def ranking() -> Iterator[Study]:
    truth = STRENGTHS[0] - STRENGTHS[2]
    for prompts, judges, nu in ((100, 1, 0.0), (300, 1, 0.0), (300, 1, 0.6), (150, 5, 0.6)):
        situation = f"{prompts} prompts, {judges} judges" + (", ties" if nu else "")
        for name, robust in (("bradley_terry, sandwich", True), ("bradley_terry, model", False)):
            yield Study(
                name,
                situation,
                truth,
                lambda rng, p=prompts, j=judges, nu=nu, robust=robust: bradley_terry(
                    _games(rng, p, j, nu), robust=robust
                ).difference("a", "c"),
            )
        yield Study(
            "bradley_terry_bootstrap",
            situation,
            truth,
            lambda rng, p=prompts, j=judges, nu=nu: bradley_terry_bootstrap(
                _games(rng, p, j, nu), seed=rng, replicates=150
            ).difference("a", "c"),
            costly=True,
        )


def _length(rng: Rng, n: int) -> Estimate:
    gap = rng.normal(size=n)
    wins = rng.random(n) < 1 / (1 + np.exp(-(0.2 + 1.0 * np.tanh(gap / gap.std()))))
    return length_bias(wins.astype(float).tolist(), (100 + 30 * gap).tolist(), [100.0] * n).coefficient


def biases() -> Iterator[Study]:
    for n in (60, 200):
        yield Study("length_bias", f"coefficient 1, n {n}", 1.0, lambda rng, n=n: _length(rng, n))
    for name, situation, truth, draw in situations():
        yield Study(name, situation, truth, draw)


def studies() -> list[Study]:
    parts = (shares, means, agreement, corrected, paired, ranking, biases)
    return [study for part in parts for study in part()]


def simulate(study: Study, runs: int, seed: int) -> Row:
    """Coverage of one study; its stream depends on the seed and on its name alone, not on what else is run."""
    runs = max(1, runs // COSTLY) if study.costly else runs
    rng = np.random.default_rng([seed, *study.interval.encode(), *study.situation.encode()])
    widths: list[float] = []
    held = 0
    for _ in range(runs):
        ends = study.draw(rng).interval
        if ends is not None:
            held += ends[0] - 1e-12 <= study.truth <= ends[1] + 1e-12
            widths.append(ends[1] - ends[0])
    coverage, width = (held / len(widths), statistics.median(widths)) if widths else (None, None)
    return Row(study.interval, study.situation, runs, coverage, width, 1 - len(widths) / runs)


HEADER = f"{'interval':<36}{'situation':<48}{'runs':>6}{'coverage':>10}{'width':>8}{'none':>7}"


def line(row: Row) -> str:
    numbers = ("-", "-") if row.coverage is None else (f"{row.coverage:.3f}", f"{row.width:.3f}")
    return f"{row.interval:<36}{row.situation:<48}{row.runs:>6}{numbers[0]:>10}{numbers[1]:>8}{row.without:>7.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the intervals of jury.stats, by simulation.")
    parser.add_argument("--runs", type=int, default=2000, help="samples for each row (default 2000)")
    parser.add_argument("--only", default="", help="rows whose interval contains this text; `stopping` for that table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.json:
        print(HEADER)
    rows: list[Row] = []
    for study in studies():
        if options.only in study.interval:
            rows.append(simulate(study, options.runs, options.seed))
            if not options.json:
                print(line(rows[-1]), flush=True)
    stops = stopping(options.runs, options.seed) if options.only in ("", "stopping") else []
    if options.json:
        print(json.dumps({"intervals": [asdict(r) for r in rows], "stopping": [asdict(s) for s in stops]}, indent=2))
    elif stops:
        print("", STOP_HEADER, *(stop_line(stop) for stop in stops), sep="\n")


if __name__ == "__main__":
    main()
