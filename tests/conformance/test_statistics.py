"""statistics.json: one function a `method`, which computes what a case expects by the public names of `jury.stats`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from jury import stats
from jury.rubrics.criterion import Criterion
from jury.rubrics.outcome import outcome
from jury.rubrics.reply import CriterionScore, RubricReply
from jury.rubrics.rubric import Rubric
from jury.stats import Confusion, Estimate, Game, JudgedGame, PairedCounts
from tests.conformance.cases import load, params
from tests.conformance.comparing import same

CASES: list[dict[str, Any]] = load("statistics.json")["cases"]
Given = Mapping[str, Any]
Found = dict[str, Any]


def number(estimate: Estimate) -> float | None:
    return estimate.value


def ends(estimate: Estimate) -> list[float] | None:
    return None if estimate.interval is None else list(estimate.interval)


def _ratings(given: Given) -> list[list[Any]]:
    if "table" in given:
        return [pair.split(",") for pair, count in given["table"].items() for _ in range(count)]
    return given["ratings"]


def agreement(given: Given) -> Found:
    rows, scale = _ratings(given), given.get("scale")
    seen = {value for row in rows for value in row if value is not None}
    declared = scale or sorted(seen | ({"PASS", "FAIL"} if len(seen) < 2 else set()), key=str)
    table = stats.rating_table(rows, scale=declared)
    kappas = {pair: number(e) for pair, e in stats.pair_matrix(table).pairs.items()}
    defined = [kappa for kappa in kappas.values() if kappa is not None]
    found: Found = {
        "percent_agreement": number(stats.percent_agreement(table)),
        "percent_agreement_item_mean": number(stats.percent_agreement(table)),
        "percent_agreement_pooled_pairs": number(stats.percent_agreement(table, pooled=True)),
        "items_with_two_or_more_ratings": stats.percent_agreement(table).n,
        "cohen_kappa": next(iter(kappas.values()), None),
        "cohen_kappa_by_pair": {f"{i},{j}": kappa for (i, j), kappa in kappas.items()} if defined else None,
        "fleiss_kappa": number(stats.fleiss_kappa(table)),
        "fleiss_kappa_generalised": number(stats.fleiss_kappa(table)),
        "randolph_kappa": number(stats.randolph_kappa(table)),
        "gwet_ac1": number(stats.gwet_ac(table)),
        "krippendorff_alpha_nominal": number(stats.krippendorff_alpha(table)),
    }
    numeric = all(not isinstance(step, str) for step in declared)
    if scale or numeric:
        for level in ("ordinal", "interval") if numeric else ("ordinal",):
            found[f"krippendorff_alpha_{level}"] = number(stats.krippendorff_alpha(table, level=level))
        for weights in ("linear", "quadratic", "ordinal"):
            found[f"gwet_ac2_{weights}_weights"] = number(stats.gwet_ac(table, weights=weights))
    return found


def agreement_bootstrap(given: Given) -> Found:
    table = stats.rating_table(_ratings(given), scale=given.get("scale"))
    drawn = stats.alpha_interval(table, seed=given["seed"], level=given["level"], replicates=given["B"])
    lost = int(drawn.note.split("; ")[-1].split()[0]) if "dropped" in drawn.note else 0
    return {"alpha": drawn.value, "ci95": ends(drawn), "usable_replicates": given["B"] - lost}


def cohen(given: Given) -> Found:
    plain, linear, quadratic = (
        stats.cohen_kappa(given["a"], given["b"], scale=given.get("categories"), weights=weights)
        for weights in ("identity", "linear", "quadratic")
    )
    return {
        "kappa": plain.value,
        "kappa_linear": linear.value,
        "kappa_quadratic": quadratic.value,
        "kappa_ci95_asymptotic": ends(plain),
        "kappa_quadratic_ci95_asymptotic": ends(quadratic),
        "std_kappa": plain.se,
    }


def dawid_skene(given: Given) -> Found:
    gold = {int(item): label for item, label in given.get("gold", {}).items()}
    fit = stats.dawid_skene(given["ratings"], given["labels"], smoothing=given.get("smoothing", 0.0), gold=gold)
    return {
        "labels": list(fit.labels),
        "posterior": fit.posterior.tolist(),
        "posterior_PASS": fit.posterior[:, -1].tolist(),
        "prior": fit.prior.tolist(),
        "confusion_rows_true_cols_reported": fit.confusion.tolist(),
        "loglik": fit.loglik,
    }


def judge_vs_human(given: Given) -> Found:
    names = ("human_pass_judge_pass", "human_pass_judge_fail", "human_fail_judge_pass", "human_fail_judge_fail")
    table = Confusion(*(given[name] for name in names))
    found, exact = stats.judge_accuracy(table), stats.judge_accuracy(table, exact=True)
    return {
        "tpr": found.tpr.value,
        "tnr": found.tnr.value,
        "accuracy": found.accuracy.value,
        "balanced_accuracy": found.balanced_accuracy.value,
        "tpr_wilson95": ends(found.tpr),
        "tnr_wilson95": ends(found.tnr),
        "accuracy_wilson95": ends(found.accuracy),
        "youden_j": found.youden,
        "accuracy_clopper_pearson95": ends(exact.accuracy),
        "tpr_clopper_pearson95": ends(exact.tpr),
        "tnr_clopper_pearson95": ends(exact.tnr),
        "cohen_kappa": found.kappa.value,
    }


def binomial_ci(given: Given) -> Found:
    return {
        "wilson95": [ends(stats.wilson(k, n)) for k, n in given["cases"]],
        "clopper_pearson95": [ends(stats.clopper_pearson(k, n)) for k, n in given["cases"]],
    }


def corrected(given: Given) -> Found:
    table = Confusion(given["tp"], given["fn"], given["fp"], given["tn"])
    found = stats.rogan_gladen(table, given["judge_pass"], given["judge_total"], adjusted=False)
    worthless = found.estimate.reason == "no_better_than_chance"
    return {
        "observed_pass_rate": found.observed.value,
        "tpr": found.tpr.value,
        "tnr": found.tnr.value,
        "youden_j": found.youden,
        "corrected": found.estimate.value,
        "se_delta": found.estimate.se,
        "ci95_delta": ends(found.estimate),
        "reason": "TPR + TNR <= 1: the judge is no better than chance; no correction exists" if worthless else None,
    }


def corrected_bootstrap(given: Given) -> Found:
    table = Confusion(given["tp"], given["fn"], given["fp"], given["tn"])
    found = stats.rogan_gladen_bootstrap(
        table, given["judge_pass"], given["judge_total"], seed=1, replicates=given["B"]
    )
    return {"full_ci95_parametric": ends(found.estimate)}


def powered_mean(given: Given) -> Found:
    elsewhere = [1] * given["judge_pass"] + [0] * (given["judge_total"] - given["judge_pass"])
    found = stats.ppi_mean(given["human"], given["judge_on_human"], elsewhere, level=1 - given["alpha"])
    return {
        "ppi": found.ppi.value,
        "ppi_ci95": ends(found.ppi),
        "classical": found.labels_only.value,
        "classical_ci95": ends(found.labels_only),
        "ppi_pp": found.estimate.value,
        "ppi_pp_ci95": ends(found.estimate),
    }


def flips(given: Given) -> Found:
    runs = [[None if run == "ERROR" else run for run in item] for item in given["runs_by_item"]]
    found = stats.flip_rate(runs)
    return {
        "items_usable": found.usable,
        "items_flipped": found.flipped,
        "item_flip_rate": found.flip_rate.value,
        "item_flip_wilson95": ends(found.flip_rate),
        "pairwise_disagreement": found.disagreement.value,
        "error_runs": found.unusable_runs,
        "total_runs": found.total_runs,
    }


def position(given: Given) -> Found:
    found = stats.position_bias([tuple(pair) for pair in given["verdicts"]])
    return {
        "n": found.n,
        "dropped": found.dropped,
        "consistent": found.consistent,
        "consistency_rate": found.consistency.value,
        "flips_to_first": found.primacy,
        "flips_to_second": found.recency,
        "tie_vs_side": found.mixed,
        "flip_rate": found.flip_rate.value,
        "flip_rate_wilson95": ends(found.flip_rate),
        "primacy_minus_recency": found.lean.value,
        "binom_test_p_two_sided": found.p_value,
    }


def length(given: Given) -> Found:
    wins, a, b = zip(*given["rows_win_lenA_lenB"], strict=True)
    found = stats.length_bias(wins, a, b)
    even = found.controlled.value
    return {
        "intercept": None if even is None else math.log(even / (1 - even)),
        "length_coef": found.coefficient.value,
        "length_se": found.coefficient.se,
        "length_p": found.p_value,
        "win_rate_raw": found.raw.value,
        "win_rate_length_controlled": found.controlled.value,
    }


def own_family(given: Given) -> Found:
    own, others = given["own_judge"], given["other_judges"]
    found = stats.self_preference(own["own_model_wins"], own["n"], others["same_model_wins"], others["n"])
    wald = stats.wald_difference(own["own_model_wins"], own["n"], others["same_model_wins"], others["n"])
    return {
        "own_rate": found.own.value,
        "other_rate": found.others.value,
        "difference": found.difference.value,
        "newcombe95": ends(found.difference),
        "wald95": ends(wald),
    }


def _games(given: Given) -> list[Game]:
    if "wins" in given:
        return [Game(winner, loser, 1, count) for winner, loser, count in given["wins"]]
    return [
        Game(a, b, result, count)
        for a, b, won, lost, tied in given["pairs"]
        for result, count in ((1, won), (0, lost), (0.5, tied))
        if count
    ]


def strengths(given: Given, ties: Any = "half") -> Found:
    items = given["items"]
    penalty = float(given["penalty"].split()[0]) if "penalty" in given else 0.0
    robust, model = (
        stats.bradley_terry(_games(given), items=items, ties=ties, penalty=penalty, robust=robust)
        for robust in (True, False)
    )
    reference = given.get("reference", items[0])
    gaps, elo = robust.relative_to(reference), robust.elo()
    return {
        "mle_exists": robust.mle_exists,
        "components": [list(component) for component in robust.existence.components],
        "log_strength": [gaps[item].value for item in items],
        "se_sandwich_hc0": [gaps[item].se for item in items],
        "se_model": [model.relative_to(reference)[item].se for item in items],
        "se": [model.relative_to(reference)[item].se for item in items],
        "loglik": robust.loglik,
        "centred": list(robust.log_strengths or ()),
        "penalised_log_strength": list(robust.log_strengths or ()),
        "elo_scale_400": elo and [elo[item] - elo[reference] for item in items],
        "nu": robust.tie_parameter,
        "theta": robust.tie_parameter,
    }


def judge_aware(given: Given) -> Found:
    games = [JudgedGame(*record) for record in given["records"]]
    found = stats.judge_aware_bradley_terry(games, seed=0, prior=0.0)
    return {
        "items": list(found.strengths),
        "s": list(found.strengths.values()),
        "judges": list(found.sigma),
        "sigma": list(found.sigma.values()),
        "loglik": found.loglik,
        "plain_bt_s": list(found.plain_strengths.values()),
        "plain_bt_loglik": found.plain_loglik,
    }


def paired(given: Given) -> Found:
    counts = PairedCounts(given["only_a_pass"], given["only_b_pass"], given["both_pass"], given["both_fail"])
    found = stats.mcnemar(counts, adjusted=False)
    return {
        "exact_p": found.exact_p,
        "midp": found.mid_p,
        "chi2_p": found.chi2_p,
        "chi2_corrected": found.chi2_corrected,
        "chi2_corrected_p": found.chi2_corrected_p,
        "difference_a_minus_b": found.difference.value,
        "wald_ci95": ends(found.difference),
    }


def redrawn_pairs(given: Given) -> Found:
    found = stats.paired_bootstrap(given["a"], given["b"], seed=given["seed"], replicates=given["B"])
    return {
        "difference": found.difference.value,
        "ci95": ends(found.difference),
        "share_at_or_below_zero": found.share_not_above,
    }


def early_stop(given: Given) -> Found:
    rules = {"plurality": stats.plurality(), "any_fail_vetoes": stats.veto()}
    results: list[Found] = []
    for case in given["cases"]:
        quorum = re.match(r"quorum(\d+)_", case["rule"])
        majority = stats.strict_majority(usable=("PASS", "FAIL"), quorum=int(quorum[1]) if quorum else 1)
        reach = sorted(
            stats.reachable_outcomes(
                case["votes"], case["planned"], case["possible_votes"], rules.get(case["rule"], majority)
            )
        )
        stop = len(reach) == 1
        results.append({"stop": stop, "outcome": reach[0] if stop else None, "reachable": reach})
    return {"results": results}


def bayes_stop(given: Given) -> Found:
    rates = [tuple(pair) for pair in given["judge_tpr_tnr"]]
    path = stats.bayes_path(given["votes_in_order"], rates, prior=given["prior_pass"], epsilon=given["epsilon"])
    return {
        "posterior_pass_after_each": list(path.posterior),
        "stop_after": path.stop_after,
        "verdict": path.verdict,
        "wald_log_bounds_alpha_beta_05": list(stats.wald_bounds(0.05, 0.05)),
    }


def bayes_operating(given: Given) -> Found:
    rates = [tuple(pair) for pair in given["judge_tpr_tnr"]]
    point = stats.bayes_operating(rates, prior=given["prior_pass"], epsilon=given["epsilon"])
    return {
        "p_stopped_and_wrong": point.stopped_and_wrong,
        "p_undecided": point.undecided,
        "p_wrong_given_stopped": point.wrong_given_stopped,
        "expected_votes": point.expected_votes,
    }


def calibration(given: Given) -> Found:
    p, truth = given["posterior_pass"], given["truth"]
    sure, right = stats.confidences(p, truth)
    points = stats.coverage_and_accuracy(sure, right, [percent / 100 for percent in range(50, 100)])
    return {
        **{f"coverage_at_conf_{point.threshold:g}": point.coverage.value for point in points},
        **{f"accuracy_at_conf_{point.threshold:g}": point.accuracy.value for point in points},
        "brier": number(stats.brier_score(p, truth)),
        "log_loss": number(stats.log_loss(p, truth)),
        f"ece_confidence_{given['bins']}": number(stats.confidence_error(sure, right, bins=given["bins"])),
        "accuracy": float(right.mean()),
        "mean_confidence": number(stats.mean_confidence(sure)),
    }


def beta(given: Given) -> Found:
    found = stats.vote_share(given["pass_votes"], given["votes"], prior=tuple(given["prior"]))
    return {
        "mean": found.share.value,
        "p_rate_above_half": found.above_half,
        "ci95_equal_tailed": ends(found.share),
    }


def beta_fit(given: Given) -> Found:
    fit = stats.beta_binomial(*zip(*given["k_of_n"], strict=True))
    return {
        "alpha": fit.alpha,
        "beta": fit.beta,
        "mean": fit.mean.value,
        "rho": fit.rho.value,
        "loglik": fit.loglik,
    }


def effective(given: Given) -> Found:
    return {"n_eff": number(stats.effective_votes(given["judges"], given["mean_pairwise_error_correlation"]))}


def quorum(given: Given) -> Found:
    results: list[Found] = []
    for case in given["cases"]:
        counts = Counter(case["votes"])
        results.append(
            {
                **case,
                "usable": counts["PASS"] + counts["FAIL"] + counts["NA"],
                "errors": counts["ERROR"],
                "abstained": counts["ABSTAIN"],
                "outcome": stats.strict_majority(quorum=case["quorum"])(counts),
            }
        )
    return {"results": results}


def pass_rate(given: Given) -> Found:
    counts = Counter(given["verdicts"])
    found = stats.verdict_rates(
        counts["PASS"],
        counts["FAIL"],
        na=counts["NA"],
        inconclusive=counts["INCONCLUSIVE"],
        errors=counts["ERROR"],
    )
    return {
        **{word: counts[word] for word in ("PASS", "FAIL", "NA", "INCONCLUSIVE", "ERROR")},
        "pass_rate": found.pass_rate.value,
        "wilson95": ends(found.pass_rate),
        "coverage": found.coverage.value,
        "error_rate": found.error_rate.value,
        "na_rate": found.na_rate.value,
        "inconclusive_rate": found.inconclusive_rate.value,
    }


def rubric_gate(given: Given) -> Found:
    keys: Sequence[str] = list(given["judges"][0])
    two_valued = {key: {judge[key] for judge in given["judges"]} <= {0, 1} for key in keys}
    rubric = Rubric([Criterion(k, scale="0/1" if two_valued[k] else "1-5", gate=given["gates"].get(k)) for k in keys])
    replies = {
        str(number): RubricReply({k: CriterionScore(k, bool(v) if two_valued[k] else v) for k, v in judge.items()})
        for number, judge in enumerate(given["judges"])
    }
    found = outcome(rubric, replies)
    words = {True: "PASS", False: "FAIL", None: "INCONCLUSIVE"}
    means = {k: sum(judge[k] for judge in given["judges"]) / len(given["judges"]) for k in keys}
    mean_passed = all(means[key] >= gate for key, gate in given["gates"].items())
    return {
        "gate_per_judge": [decision.passed for decision in found.by_judge.values()],
        "gate_then_vote": words[found.judges_passed],
        "criterion_median": {k: float(v) for k, v in found.values.items() if v is not None},
        "criterion_mean": means,
        "median_then_gate": words[found.passed],
        "mean_then_gate": words[mean_passed],
        "breached_after_median": [clause.split()[0] for clause in found.decision.breached],
    }


def label_budget(given: Given) -> Found:
    return {
        "results": [
            {
                "p": p,
                "half_width": h,
                "normal_n": stats.labels_for_half_width(p, h, normal=True),
                "wilson_n": stats.labels_for_half_width(p, h),
            }
            for p, h in given["targets"]
        ]
    }


METHODS = {
    "agreement": agreement,
    "agreement_bootstrap": agreement_bootstrap,
    "cohen_kappa": cohen,
    "dawid_skene": dawid_skene,
    "judge_vs_human": judge_vs_human,
    "binomial_ci": binomial_ci,
    "corrected_pass_rate": corrected,
    "corrected_pass_rate_bootstrap": corrected_bootstrap,
    "prediction_powered_mean": powered_mean,
    "flip_rate": flips,
    "position_bias": position,
    "length_logistic": length,
    "self_preference": own_family,
    "bradley_terry": strengths,
    "bradley_terry_ties_davidson": lambda given: strengths(given, "davidson"),
    "bradley_terry_ties_rao_kupper": lambda given: strengths(given, "rao_kupper"),
    "bradley_terry_judge_aware": judge_aware,
    "paired_comparison": paired,
    "paired_bootstrap": redrawn_pairs,
    "early_stop_exact": early_stop,
    "early_stop_bayes": bayes_stop,
    "early_stop_bayes_operating": bayes_operating,
    "calibration": calibration,
    "beta_posterior": beta,
    "beta_binomial_fit": beta_fit,
    "effective_votes": effective,
    "quorum": quorum,
    "pass_rate": pass_rate,
    "rubric_gate": rubric_gate,
    "label_budget": label_budget,
}

NOT_COMPARED = {"judgy_ci95_labelled_only"}  # what another library does wrong: it redraws the labelled set alone


@pytest.mark.parametrize("case", params(CASES))
def test_statistics(case: dict[str, Any]) -> None:
    found = METHODS[case["method"]](case["input"])
    tolerance = max(case["abs_tol"], 1e-10)  # expected numbers are rounded to ten digits
    for name, wanted in case["expected"].items():
        if name not in NOT_COMPARED:
            assert same(found[name], wanted, tolerance), (name, found[name], wanted)
