"""The measures that trust.py prints: each takes the sets of a folder and gives rows of plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.recipes import RECIPES, accuracy
from benchmarks.stopping import measured
from benchmarks.votes import GradedSet, VoteSet
from jury import stats
from jury.audit.against import leaning
from jury.stats.distributions import z_value
from jury.stats.table import RatingTable
from jury.weighing import Fitted, VoteTable, fit, fit_scores, plurality_of

PAIR = ("A", "B", "tie")
Row = dict[str, Any]
Counts = NDArray[np.int64]


def table_of(votes: VoteSet, both: bool) -> VoteTable:
    return VoteTable(votes.judges, votes.labels, votes.ab, votes.ba if both else None, votes.labels == PAIR)


def right_share(fitted: Fitted, table: VoteTable, gold: NDArray[np.int64]) -> float:
    """Accuracy in percent; of a pair people name a side, so the verdict is one; a tie of k labels is 1/k right."""
    logs = fitted.log_odds(table)[:, : 2 if table.paired else None]
    top = logs > logs.max(axis=1, keepdims=True) - 1e-9
    return 100.0 * float(np.mean(top[np.arange(len(gold)), gold] / top.sum(axis=1)))


def agreement(sets: Sequence[VoteSet]) -> list[Row]:
    """Largest difference of alpha and Fleiss' kappa from a second computation by the definition, votes missing too."""
    rows = []
    for votes in sets:
        holed = np.where(np.random.default_rng(1).random(votes.ab.shape) < 0.1, -1, votes.ab)
        worst = 0.0
        for codes in (votes.ab, holed):
            table = RatingTable(codes, tuple(range(len(votes.labels))), np.arange(len(votes.labels), dtype=float), True)
            for metric in ("nominal", "ordinal", "interval"):
                alpha = stats.krippendorff_alpha(table, level=metric).value
                worst = max(worst, abs((alpha or 0.0) - _alpha(codes, len(votes.labels), metric)))
        whole = votes.ab[(votes.ab >= 0).all(axis=1)]
        kappa = stats.fleiss_kappa(RatingTable(whole, votes.labels, None, True)).value
        worst = max(worst, abs((kappa or 0.0) - _fleiss(whole, len(votes.labels))))
        rows.append({"set": votes.name, "difference": float(worst)})
    return rows


def _alpha(codes: NDArray[np.int64], q: int, metric: str) -> float:
    """Krippendorff's alpha by pairs of values: 1 - observed / expected disagreement."""
    counts = np.stack([(codes == k).sum(axis=1) for k in range(q)], axis=1).astype(float)
    counts = counts[counts.sum(axis=1) >= 2]
    coincidence = np.zeros((q, q))
    for row in counts:
        pairs = np.outer(row, row) - np.diag(row)
        coincidence += pairs / (row.sum() - 1)
    n = coincidence.sum(axis=1)
    distance = np.zeros((q, q))
    for a in range(q):
        for b in range(q):
            if metric == "nominal":
                distance[a, b] = a != b
            elif metric == "interval":
                distance[a, b] = (a - b) ** 2
            else:
                low, high = min(a, b), max(a, b)
                distance[a, b] = (n[low : high + 1].sum() - (n[low] + n[high]) / 2) ** 2
    observed = (coincidence * distance).sum()
    expected = (np.outer(n, n) * distance).sum() / (n.sum() - 1)
    return 1.0 - observed / expected


def _fleiss(codes: NDArray[np.int64], q: int) -> float:
    counts = np.stack([(codes == k).sum(axis=1) for k in range(q)], axis=1).astype(float)
    k = codes.shape[1]
    agree = float(((counts**2).sum(axis=1) - k).mean() / (k * (k - 1)))
    chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (agree - chance) / (1.0 - chance)


def unsupervised(sets: Sequence[VoteSet], both: bool) -> list[Row]:
    """`auto` without labels against the plurality, in one order or both."""
    rows = []
    for votes in sets:
        if both and votes.ba is None:
            continue
        table = table_of(votes, both)
        found = fit("auto", table)
        plain = right_share(plurality_of(table), table, votes.gold)
        auto = right_share(found, table, votes.gold)
        rows.append({
            "set": votes.name, "items": votes.n, "majority": plain, "auto": auto, "gain": auto - plain,
            "method": found.method, "note": found.note,
        })  # fmt: skip
    return rows


def two_sided(sets: Sequence[VoteSet]) -> list[tuple[str, VoteSet, bool]]:
    """Every two-sided set of 150 items or more, pairs once in one order and once in both."""
    found = []
    for votes in sets:
        if votes.n < 150 or not (votes.labels == PAIR or len(votes.labels) == 2):
            continue
        found.append((f"{votes.name}", votes, False))
        if votes.ba is not None:
            found.append((f"{votes.name} both orders", votes, True))
    return found


def draws_of(n: int, labels: int, draws: int, seed: int = 7) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    rng = np.random.default_rng(seed)
    mixed = [rng.permutation(n) for _ in range(draws)]
    return [(m[:labels], m[labels:]) for m in mixed]


def gold_at(votes: VoteSet, rows: NDArray[np.int64]) -> list[Any]:
    truth: list[Any] = [None] * votes.n
    for i in rows.tolist():
        truth[i] = votes.labels[int(votes.gold[i])]
    return truth


def labelled(sets: Sequence[VoteSet], labels: int, draws: int) -> list[Row]:
    """`labelled` against the usual recipes, mean over draws of the labelled items."""
    rows = []
    for name, votes, both in two_sided(sets):
        table = table_of(votes, both)
        signed, right = table.signed(), (votes.gold == 0).astype(float)
        scores: dict[str, list[float]] = {key: [] for key in (*RECIPES, "labelled")}
        for known, rest in draws_of(votes.n, labels, draws):
            if len(set(right[known].tolist())) < 2:
                continue
            for key, recipe in RECIPES.items():
                scores[key].append(accuracy(recipe(signed[known], right[known], signed[rest]), right[rest]))
            found = fit("labelled", table, gold_at(votes, known))
            logs = found.log_odds(table)
            scores["labelled"].append(accuracy((logs[:, 0] - logs[:, 1])[rest], right[rest]))
        means = {key: float(np.mean(values)) for key, values in scores.items()}
        best = max(means[key] for key in RECIPES)
        rows.append({
            "set": name, **means,
            "shortfall": best - means["labelled"], "gain": means["labelled"] - means["majority"],
        })  # fmt: skip
    return rows


def confidence(sets: Sequence[VoteSet], labels: int, draws: int) -> list[Row]:
    """Calibration error of `labelled`, and accuracy on the more certain half of the items."""
    rows = []
    for name, votes, both in two_sided(sets):
        table = table_of(votes, both)
        errors: list[float] = []
        halves: list[float] = []
        for known, rest in draws_of(votes.n, labels, draws):
            chance = fit("labelled", table, gold_at(votes, known)).posterior(table)[rest][:, :2]
            sure = chance.max(axis=1) / chance.sum(axis=1)
            hit = (chance.argmax(axis=1) == votes.gold[rest]).astype(float)
            errors.append(stats.confidence_error(sure.tolist(), hit.tolist()).value or 0.0)
            order = np.argsort(-sure, kind="stable")
            halves.append(100.0 * float(hit[order[: len(order) // 2]].mean()))
        rows.append({"set": name, "ece": float(np.mean(errors)), "certain_half": float(np.mean(halves))})
    return rows


def rated(sets: Sequence[VoteSet]) -> list[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """Verdicts and labels (0 or 1) whose rate is to be corrected: plurality, best and worst judge of a set."""
    found = []
    for votes in sets:
        if votes.n < 300 or not (votes.labels == PAIR or len(votes.labels) == 2):
            continue
        usable = (votes.ab >= 0).all(axis=1) & (votes.ab < 2).all(axis=1)
        codes, gold = votes.ab[usable], votes.gold[usable]
        if len(gold) < 300:
            continue
        hits = (codes == gold[:, None]).mean(axis=0)
        found.append((f"{votes.name}: plurality", (2 * codes.sum(axis=1) > codes.shape[1]).astype(int), gold))
        found.append((f"{votes.name}: best judge", codes[:, int(hits.argmax())], gold))
        found.append((f"{votes.name}: worst judge", codes[:, int(hits.argmin())], gold))
    return found


def coverage(sets: Sequence[VoteSet], draws: int) -> list[Row]:
    """Coverage and width of the corrected rate and of PPI++, for each row of `rated` and 25 to 200 labels."""
    rows = []
    for name, judge, gold in rated(sets):
        population = float(gold.mean())
        size = min(1000, int(0.8 * len(gold)))
        for labels in (25, 50, 100, 200):
            drawn = np.random.default_rng(labels).choice(len(gold), (draws, size), replace=True)
            said, truth = judge[drawn], gold[drawn]
            passed, cells = (
                np.stack([((said == v) & of)[:, :labels].sum(axis=1) for v in (1, 0)], axis=1)
                for of in (truth == 1, np.ones_like(truth, dtype=bool))
            )
            items = np.stack([(said == v).sum(axis=1) for v in (1, 0)], axis=1)
            low, high = _ends(passed, cells, items)
            ppi_low, ppi_high = powered_ends(passed, cells, items)
            ours = int(((low <= population) & (population <= high)).sum())
            theirs = int(((ppi_low <= population) & (population <= ppi_high)).sum())
            widths = np.stack([high - low, ppi_high - ppi_low], axis=1)
            mean = np.mean(widths, axis=0)
            rows.append({
                "row": name, "labels": labels, "coverage": 100 * ours / draws, "width": 100 * float(mean[0]),
                "ppi_coverage": 100 * theirs / draws, "ppi_width": 100 * float(mean[1]),
            })  # fmt: skip
    return rows


def _ends(passed: Counts, cells: Counts, items: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The intervals of `stratified_rate`, one a row; samples with the same counts have the same one."""
    rows, place = np.unique(np.concatenate([passed, cells, items], axis=1), axis=0, return_inverse=True)
    found = [stats.stratified_rate(k[:2], k[2:4], k[4:]).interval or (0.0, 1.0) for k in rows.tolist()]
    low, high = np.array(found)[place.ravel()].T
    return low, high


def powered_ends(passed: Counts, cells: Counts, items: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The intervals of `stats.ppi_mean` for verdicts of 1 and 0, one a row, from counts within each verdict."""
    n, total = cells.sum(axis=1), (items - cells).sum(axis=1)
    human, said = passed.sum(axis=1) / n, cells[:, 0] / n
    rest, pooled = (items - cells)[:, 0] / total, items[:, 0] / (n + total)
    covariance, spread = passed[:, 0] / n - human * said, pooled * (1.0 - pooled)
    scale = np.where(spread > 0.0, (1.0 + n / total) * spread, 1.0)
    weight = np.where(spread > 0.0, np.clip(covariance / scale, 0.0, 1.0), 0.0)
    value = weight * rest + human - weight * said
    errors = (human * (1.0 - human) - 2.0 * weight * covariance + weight**2 * said * (1.0 - said)) / n
    half = z_value(0.95) * np.sqrt(np.maximum(weight**2 * rest * (1.0 - rest) / total + errors, 0.0))
    half = np.where(errors < 1e-18, 0.0, half)  # no judge error among the labels: no interval
    return value - half, value + half


def flags(sets: Sequence[VoteSet], draws: int) -> list[Row]:
    """How often 50 labels show that a raw rate leans, by how much it does on all items."""
    rows = []
    for name, judge, gold in rated(sets):
        bias = 100 * float(judge.mean() - gold.mean())
        run = (int((judge == 1).sum()), int((judge == 0).sum()))
        hits = sum(
            leaning(judge[known].tolist(), gold[known].tolist(), run=run).flagged
            for known, _ in draws_of(len(gold), 50, draws, seed=11)
        )
        rows.append({"row": name, "bias": bias, "flagged": 100 * hits / draws})
    return rows


def stopping(sets: Sequence[VoteSet], budget: float, splits: int, judges: int = 9) -> list[Row]:
    """Mean judges asked and verdicts changed on the other half of the groups, measured as by `benchmarks.stopping`."""
    rows = []
    for votes in sets:
        complete = np.flatnonzero((votes.ab >= 0).all(axis=1) & (votes.ab < 2).all(axis=1))
        if len(votes.judges) < judges or len(complete) < 1000:
            continue
        groups = np.unique([votes.groups[i] for i in complete.tolist()], return_inverse=True)[1]
        found = measured(votes.ab[complete], groups, judges, splits, budget)
        exact = not budget
        rows.append({
            "set": votes.name, "asked": found["exact_calls" if exact else "calls"],
            "changed": 100 * found["exact_wrong" if exact else "wrong"],
            "within": 100 * (float(not found["exact_wrong"]) if exact else found["within"]),
        })  # fmt: skip
    return rows


def scales(sets: Sequence[GradedSet], labels: int, draws: int) -> list[Row]:
    """Mean absolute error of the panel's score against people's, raw, by a line, and mapped; and rank correlation."""
    rows = []
    for graded in sets:
        mean = np.nanmean(graded.scores, axis=1)
        errors: list[tuple[float, ...]] = []
        for known, rest in draws_of(len(mean), labels, draws, seed=5):
            slope = np.polyfit(mean[known], graded.human[known], 1)
            line = np.clip(np.polyval(slope, mean[rest]), 1, 5)
            mapped = fit_scores(graded.scores[known], graded.human[known], low=1, high=5)(graded.scores[rest])
            human = graded.human[rest]
            distances = [float(np.abs(x - human).mean()) for x in (mean[rest], line, mapped)]
            errors.append((*distances, _ranks(mean[rest], human), _ranks(mapped, human)))
        raw, by_line, mapped, rank, mapped_rank = np.mean(errors, axis=0).tolist()
        rows.append({
            "set": graded.name, "raw": raw, "line": by_line, "mapped": mapped, "rank": rank, "rank_mapped": mapped_rank,
        })  # fmt: skip
    return rows


def _ranks(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Spearman's correlation."""
    a, b = (np.searchsorted(np.sort(v), v, "left") + np.searchsorted(np.sort(v), v, "right") for v in (x, y))
    value = float(np.corrcoef(a, b)[0, 1])
    return 0.0 if math.isnan(value) else value
