"""How often the Bayesian stopping rule of `jury.stats` is wrong, by simulation. Printed below `coverage.py`'s table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jury.stats import bayes_path

STOP_HEADER = f"{'stopping at 5% error':<56}{'wrong if stopped':>18}{'stopped':>10}{'votes':>8}"


@dataclass(frozen=True)
class StopRow:
    """The stopping rule promises at most `epsilon` wrong verdicts among the stopped ones."""

    situation: str
    epsilon: float
    wrong_given_stopped: float
    stopped: float
    votes: float


def stopping(runs: int, seed: int) -> list[StopRow]:
    """Nine judges of accuracy 0.8: apart, together (error correlation 0.4), and together with tempered log odds."""
    rows: list[StopRow] = []
    for situation, correlation, temper in (
        ("independent judges", 0.0, 1.0),
        ("error correlation 0.4", 0.4, 1.0),
        ("error correlation 0.4, tempered by n_eff / judges", 0.4, 1 / (1 + 8 * 0.4)),
    ):
        rng = np.random.default_rng([seed, *situation.encode()])
        wrong = stopped = votes = 0
        for _ in range(runs):
            truth = rng.random() < 0.6
            common = rng.random() < 0.8
            copies = rng.random(9) < math.sqrt(correlation)
            right = np.where(copies, common, rng.random(9) < 0.8).tolist()
            cast = ["PASS" if ok == truth else "FAIL" for ok in right]
            path = bayes_path(cast, [(0.8, 0.8)] * 9, prior=0.6, epsilon=0.05, temper=temper)
            stopped += path.stop_after is not None
            votes += path.stop_after or 9
            wrong += path.verdict is not None and (path.verdict == "PASS") != truth
        rows.append(StopRow(situation, 0.05, wrong / max(stopped, 1), stopped / runs, votes / runs))
    return rows


def stop_line(row: StopRow) -> str:
    return f"{row.situation:<56}{row.wrong_given_stopped:>18.3f}{row.stopped:>10.3f}{row.votes:>8.2f}"
