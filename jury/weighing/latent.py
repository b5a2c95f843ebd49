"""Weights from one order of votes and no labels: Dawid-Skene, smoothed, sharpened, guarded.

Dawid-Skene can lock on to the wrong side, and its own likelihood does not tell. On recorded votes it helps where it
overturns few clear verdicts, and hurts where it overturns many: so it must not overturn more than `MOST_OVERTURNED` of
them. Pairs shown in one order are not fitted at all: what judges share there is the slot as well as the content.
"""

from __future__ import annotations

import numpy as np

from jury.stats.latent import LatentFit, dawid_skene
from jury.stats.table import FloatArray, RatingTable
from jury.stats.votes import effective_votes
from jury.weighing.fitted import Fitted, nested, plurality_of
from jury.weighing.table import VoteTable
from jury.wording import count

ENOUGH_ITEMS, ENOUGH_JUDGES = 50, 3
MOST_OVERTURNED = 0.04
SHARPENED = 1.5  # power of the log-likelihood ratios: weak judges count less than the model of independence says
TYPICAL_CORRELATION = 0.35  # of judges' errors on recorded votes (0.2 to 0.56): what tempers an unlabelled posterior


def fit_dawid_skene(table: VoteTable) -> Fitted:
    """Weigh votes by Dawid and Skene's confusion matrices, or all alike with a note saying why not."""
    asked = "dawid_skene"
    if table.n < ENOUGH_ITEMS or len(table.judges) < ENOUGH_JUDGES:
        few = f"{count(table.n, 'item')} and {count(len(table.judges), 'judge')}"
        return plurality_of(table, asked, f"{few}, {ENOUGH_ITEMS} and {ENOUGH_JUDGES} are needed: all count alike")
    if table.paired:
        return plurality_of(table, asked, "pairs are confounded with their slots (use consistency): all count alike")
    used = [k for k in range(len(table.labels)) if (table.first == k).any()]
    if len(used) < 2:
        return plurality_of(table, asked, "all votes are alike")
    ratings = RatingTable(table.first, table.labels, None, True)
    fit = dawid_skene(ratings, table.labels, max_iterations=500)
    evidence = _sharpened(fit)
    judges = len(table.judges)
    votes = effective_votes(judges, TYPICAL_CORRELATION).value or 1.0
    evidence *= votes / judges
    prior = np.log(np.maximum(fit.prior, 1e-3)) * votes / judges
    made = Fitted(
        asked, table.judges, table.labels, nested(evidence), tuple(prior.tolist()), "votes only", asked, n_items=table.n
    )
    shares = table.hot().sum(axis=1)
    overturned = max(_overturned(fit.posterior, shares), _overturned(made.log_odds(table), shares))
    if overturned > MOST_OVERTURNED:
        word = f"the fit overturns {100 * overturned:.1f}% of the clear verdicts, {100 * MOST_OVERTURNED:.0f}% at most"
        return plurality_of(table, asked, f"{word} is safe without labels: all judges count alike")
    return made


def _sharpened(fit: LatentFit) -> FloatArray:
    """Log-likelihood ratios of each vote (judges, said, truth), their size raised to a power."""
    logs = np.log(fit.confusion).transpose(0, 2, 1)
    centred = logs - logs.mean(axis=2, keepdims=True)
    return np.sign(centred) * np.abs(centred) ** SHARPENED


def _overturned(scores: FloatArray, shares: FloatArray) -> float:
    """Share of items with a clear plurality whose verdict the scores change."""
    ordered = np.sort(shares, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-9
    return float((clear & (scores.argmax(axis=1) != shares.argmax(axis=1))).mean())
