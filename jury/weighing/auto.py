"""Which method to use: labels where there are enough, else what the votes alone bear, else the plurality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jury.errors import ConfigError
from jury.stats.table import Category
from jury.weighing.calibrated import fit_calibrated
from jury.weighing.consistency import fit_consistency
from jury.weighing.fitted import Fitted, plurality_of
from jury.weighing.labelled import ENOUGH_LABELS, fit_labelled
from jury.weighing.latent import fit_dawid_skene
from jury.weighing.table import VoteTable

METHODS = ("consistency", "dawid_skene", "labelled", "calibrated", "auto")


def fit(method: str, table: VoteTable, truth: Sequence[Category | None] | None = None) -> Fitted:
    """Fit one of `METHODS` on votes, and on labels (one an item, None for none) where the method uses them.

    With too little to learn from the result is a plurality, and `note` says why. An unknown method is a `ConfigError`.
    """
    if method not in METHODS:
        raise ConfigError(f"aggregator {method!r} cannot be fitted; use one of {list(METHODS)}")
    if not table.n or not table.judges:
        return plurality_of(table, method, "there are no votes to learn from: all judges count alike")
    if method == "consistency":
        return fit_consistency(table)
    if method == "dawid_skene":
        return fit_dawid_skene(table)
    given = [None] * table.n if truth is None else list(truth)
    if method == "labelled":
        return fit_labelled(table, given)
    if method == "calibrated":
        return fit_calibrated(table, given)
    return replace(_auto(table, given), asked="auto")


def _auto(table: VoteTable, truth: Sequence[Category | None]) -> Fitted:
    if sum(t is not None for t in truth) >= ENOUGH_LABELS:
        made = fit_labelled(table, truth)
        if made.method == "labelled":
            return made
    return fit_consistency(table) if table.second is not None else fit_dawid_skene(table)
