"""Aggregators that use what is known about the judges: tables of votes in, weights out. Asks nobody.

    table.py         `VoteTable`: votes by item and judge, in one order or both
    fitted.py        `Fitted`: what was learned; combines votes, says how sure it is and on what grounds; plain JSON
    consistency.py   pairwise, both orders, no labels: judges that contradict themselves count less
    latent.py        one order, no labels: Dawid-Skene, smoothed and guarded
    labelled.py      25 labels or more: accuracies of judges, and as much regression as the labels bear
    calibrated.py    25 labels or more: the panel's own vote share or mean, mapped to what people say
    stored.py        weights on the disk, and what they hold for
    auto.py          the choice between them, and the plurality where there is too little to learn from

What is measured about them on recorded votes is in docs/design/trust.md. Loads numpy.
"""

from __future__ import annotations

from jury.weighing.auto import METHODS, fit
from jury.weighing.calibrated import ScoreMap, fit_calibrated, fit_scores
from jury.weighing.consistency import fit_consistency
from jury.weighing.fitted import Fitted, Source, plurality_of
from jury.weighing.labelled import ENOUGH_LABELS, fit_labelled
from jury.weighing.latent import fit_dawid_skene
from jury.weighing.stored import check_weights, expired, held_for, is_path, stored_weights
from jury.weighing.table import Said, VoteTable, vote_table

__all__ = [
    "ENOUGH_LABELS",
    "METHODS",
    "Fitted",
    "Said",
    "ScoreMap",
    "Source",
    "VoteTable",
    "check_weights",
    "expired",
    "fit",
    "fit_calibrated",
    "fit_consistency",
    "fit_dawid_skene",
    "fit_labelled",
    "fit_scores",
    "held_for",
    "is_path",
    "plurality_of",
    "stored_weights",
    "vote_table",
]
