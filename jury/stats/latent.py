"""Votes of judges of unknown quality: Dawid-Skene by EM, smoothed and with gold labels, and posteriors of known judges.

Estimates only: when a fit may replace a majority is for the caller to decide; `LatentFit.doubts` says what speaks
against it. All of it assumes that judges err independently given the truth. Real panels do not (nine judges are worth
about two, arXiv 2605.29800), so posteriors are too sure of themselves: temper them with `votes.effective_votes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.table import Category, FloatArray, IntArray, Ratings, RatingTable, rating_table

ENOUGH_ITEMS, ENOUGH_VOTES = 30, 5
_SETTLED = 1e-12


@dataclass(frozen=True, slots=True)
class LatentFit:
    """A fitted model of latent classes; columns and rows of classes follow `labels`.

    `posterior[i, c]` is the probability that item i is of class c, `prior[c]` the share of the class,
    `confusion[j, t, r]` the probability that judge j reports r where the truth is t. `converged` is False where
    `iterations` ran out. `doubts` name what makes the fit unsafe, in words; empty is no guarantee.
    """

    labels: tuple[Category, ...]
    posterior: FloatArray
    prior: FloatArray
    confusion: FloatArray
    loglik: float
    iterations: int
    converged: bool
    doubts: tuple[str, ...] = ()

    def decided(self) -> tuple[Category | None, ...]:
        """The most probable label of each item; None where two are equally probable."""
        top = self.posterior.max(axis=1)
        unique = (self.posterior > top[:, None] - 1e-12).sum(axis=1) == 1
        best: list[int] = self.posterior.argmax(axis=1).tolist()
        return tuple(self.labels[b] if u else None for b, u in zip(best, unique.tolist(), strict=True))


def _one_hot(table: RatingTable) -> FloatArray:
    """Votes as zeros and ones: shape (items, judges * categories); a missing vote is a row of zeros."""
    items, judges, q = *table.codes.shape, len(table.categories)
    hot = np.zeros((items, judges, q), dtype=np.float64)
    rows, columns = np.nonzero(table.codes >= 0)
    hot[rows, columns, table.codes[rows, columns]] = 1.0
    return hot.reshape(items, judges * q)


def _gold_rows(gold: Mapping[int, Category] | None, table: RatingTable) -> tuple[IntArray, IntArray]:
    found = dict(gold or {})
    index = {(type(c) is bool, c): k for k, c in enumerate(table.categories)}
    for item, label in found.items():
        if not 0 <= item < len(table.codes):
            raise ConfigError(f"gold label of item {item}, but there are {len(table.codes)} items")
        if (type(label) is bool, label) not in index:
            raise ConfigError(f"gold label {label!r} is not one of {list(table.categories)}")
    places = [index[type(label) is bool, label] for label in found.values()]
    return np.array(list(found), dtype=np.int64), np.array(places, dtype=np.int64)


def _safe_log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(values)


def _expect(hot: FloatArray, prior: FloatArray, confusion: FloatArray) -> tuple[FloatArray, float]:
    """Posterior by item and the log-likelihood of the votes, from `prior` (q) and `confusion` (judges, truth, said)."""
    judges, q, _ = confusion.shape
    logs = np.maximum(_safe_log(confusion), -1e10)  # minus infinity times zero votes would be NaN
    joint = hot @ logs.transpose(0, 2, 1).reshape(judges * q, q) + np.maximum(_safe_log(prior), -1e10)
    top = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - top)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, float((top + np.log(total)).sum())


def _maximise(hot: FloatArray, posterior: FloatArray, smoothing: float, tied: bool) -> FloatArray:
    """Confusion matrices from soft truths; `tied` gives each judge one accuracy instead of a matrix."""
    q = posterior.shape[1]
    counts = (hot.T @ posterior).reshape(-1, q, q).transpose(0, 2, 1) + smoothing  # judges, truth, said
    if tied:
        total = counts.sum(axis=(1, 2))
        right = np.trace(counts, axis1=1, axis2=2)
        share = np.divide(right, total, out=np.full_like(right, 1.0 / q), where=total > 0)
        wrong = (1.0 - share) / (q - 1)
        return wrong[:, None, None] * (1.0 - np.eye(q)) + share[:, None, None] * np.eye(q)
    rows = counts.sum(axis=2, keepdims=True)
    return np.divide(counts, rows, out=np.full_like(counts, 1.0 / q), where=rows > 0)


def dawid_skene(
    ratings: Ratings,
    labels: Sequence[Category],
    *,
    smoothing: float = 0.5,
    gold: Mapping[int, Category] | None = None,
    one_coin: bool = False,
    max_iterations: int = 5000,
) -> LatentFit:
    """Fit Dawid and Skene's model: rows of items, one column a judge, None where a judge gave no vote.

    EM from the vote shares. `smoothing` is added to every cell of every confusion matrix in each M step: 0 is the
    published method, which makes a judge infallible and posteriors 0 or 1 on small data. `gold` maps item rows to true
    labels, kept in every E step. `one_coin` gives each judge a single accuracy (wrong labels alike). Items without
    votes get the prior. Stops when the log-likelihood of the votes changes by less than 1e-12 (of itself, where it is
    above 1). Fewer than two labels, or no items: `ConfigError`.

    Sources: Dawid and Skene 1979 (10.2307/2346806); checked against crowd-kit 1.4.2.

    >>> votes = [["P", "P", "P"], ["P", "P", "F"], ["F", "F", "F"], ["F", "F", "P"], ["P", "F", "P"]]
    >>> fit = dawid_skene(votes, ["F", "P"])
    >>> fit.decided(), fit.converged
    (('P', 'P', 'F', 'F', 'P'), True)
    """
    table = rating_table(ratings, scale=labels)
    if len(table.categories) < 2 or not len(table.codes):
        raise ConfigError("Dawid-Skene needs two labels and an item")
    hot, shares = _one_hot(table), table.counts()
    rated = shares.sum(axis=1, keepdims=True)
    posterior = np.divide(shares, rated, out=np.full_like(shares, 1.0 / shares.shape[1]), where=rated > 0)
    gold_items, gold_labels = _gold_rows(gold, table)

    def clamp(soft: FloatArray) -> FloatArray:
        soft[gold_items] = 0.0
        soft[gold_items, gold_labels] = 1.0
        return soft

    posterior = clamp(posterior)
    before, steps = -np.inf, 0
    prior, confusion, loglik, converged = posterior.mean(axis=0), np.empty(0), -np.inf, False
    for _ in range(max_iterations):
        steps += 1
        prior = posterior.mean(axis=0)
        confusion = _maximise(hot, posterior, smoothing, one_coin)
        posterior, loglik = _expect(hot, prior, confusion)
        posterior = clamp(posterior)
        if abs(loglik - before) < _SETTLED * max(1.0, abs(loglik)):
            converged = True
            break
        before = loglik
    doubts = _doubts(table, confusion, posterior, len(gold_items), converged)
    return LatentFit(table.categories, posterior, prior, confusion, float(loglik), steps, converged, doubts)


def _doubts(
    table: RatingTable, confusion: FloatArray, posterior: FloatArray, gold: int, converged: bool
) -> tuple[str, ...]:
    votes = (table.codes >= 0).sum(axis=0)
    accuracies = np.einsum("jtt,t->j", confusion, posterior.mean(axis=0))
    counts = table.counts()
    leader = counts.max(axis=1)
    clear = (leader > 0) & ((counts == leader[:, None]).sum(axis=1) == 1)
    against = clear & (counts.argmax(axis=1) != posterior.argmax(axis=1))
    found = [
        (len(table.codes) < ENOUGH_ITEMS, f"{len(table.codes)} items, fewer than {ENOUGH_ITEMS}"),
        (int(votes.min(initial=ENOUGH_VOTES)) < ENOUGH_VOTES, f"a judge with fewer than {ENOUGH_VOTES} votes"),
        (table.n_judges < 3 and not gold, "fewer than three judges: the model is not identified"),
        (
            float(accuracies.mean()) <= 1.0 / len(table.categories),
            "the judges look no better than chance: the labels may be switched",
        ),
        (
            bool(clear.any()) and float(against.sum()) > 0.25 * float(clear.sum()),
            "the fit contradicts more than a quarter of the plurality verdicts",
        ),
        (not converged, "the fit did not settle"),
    ]
    return tuple(text for true, text in found if true)


def posterior_of_votes(
    ratings: Ratings,
    labels: Sequence[Category],
    prior: Sequence[float] | FloatArray,
    confusion: Sequence[Sequence[Sequence[float]]] | FloatArray,
    *,
    temper: float = 1.0,
) -> FloatArray:
    """Probability of each label by item (shape items, labels), from judges whose confusion matrices are known.

    Bayes' rule for independent judges; `prior` has one share a label, `confusion` one row-normalised matrix a judge
    (truth, said). `temper` in (0, 1] multiplies the log-likelihood of the votes: n_eff / judges for a panel whose
    errors are correlated. A missing vote says nothing.

    >>> votes = [["P", "F", "P"]]
    >>> matrices = [[[0.85, 0.15], [0.1, 0.9]], [[0.7, 0.3], [0.25, 0.75]], [[0.85, 0.15], [0.1, 0.9]]]
    >>> float(posterior_of_votes(votes, ["F", "P"], [0.4, 0.6], matrices)[0, 1].round(7))  # Bayes' rule by hand
    0.9507042
    """
    table = rating_table(ratings, scale=labels)
    matrices, shares = np.asarray(confusion, dtype=np.float64), np.asarray(prior, dtype=np.float64)
    q = len(table.categories)
    if matrices.shape != (table.n_judges, q, q) or shares.shape != (q,):
        raise ConfigError(f"needs {table.n_judges} matrices of {q} x {q} and a prior of {q}")
    if not 0.0 < temper <= 1.0:
        raise ConfigError(f"temper lies in (0, 1], got {temper!r}")
    return _expect(_one_hot(table) * temper, shares, matrices)[0]


def confusion_from_gold(
    ratings: Ratings, labels: Sequence[Category], gold: Mapping[int, Category], *, smoothing: float = 0.5
) -> FloatArray:
    """Confusion matrices (judges, truth, said) from items with gold labels alone: (count + smoothing) / row total.

    A judge without votes on a class gets the uniform row.

    >>> votes = [["P", "F"], ["P", "P"], ["F", "F"]]
    >>> confusion_from_gold(votes, ["F", "P"], {0: "P", 1: "P", 2: "F"})[0, 1].round(4).tolist()  # by hand: .5/3
    [0.1667, 0.8333]
    """
    table = rating_table(ratings, scale=labels)
    items, truth = _gold_rows(gold, table)
    soft = np.zeros((len(items), len(table.categories)), dtype=np.float64)
    soft[np.arange(len(items)), truth] = 1.0
    return _maximise(_one_hot(table)[items], soft, smoothing, False)
