"""Statistics of verdicts: arrays in, numbers out. Knows no judge, no model, and of `jury` only its errors.

    agreement, alpha         how much raters agree: percent, Cohen, Fleiss, Randolph, Gwet, Krippendorff
    accuracy, alternative    a judge against people, against a truth or in the place of one of them
    intervals, resampling    Wilson, Clopper-Pearson, Newcombe, bootstrap over items and clusters
    rates, ppi               pass rates, and pass rates corrected with a few labels
    latent, maps             truth from votes (Dawid-Skene), probabilities from scores (Platt, isotonic)
    games, ranking,          Bradley-Terry: existence, ties, errors of differences, spreads of judges
    judge_aware
    pairing                  Swiss rounds: who is compared next
    paired, bias, stability  two systems on the same items; position, length, family; test-retest
    calibration              Brier, log loss, ECE, reliability
    votes, planning,         effective votes; labels and items needed; stopping rules
    sequential

What can be undefined is an `Estimate`: a value, or None with a reason. Names are loaded on first use, and
numpy with those that need it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jury.stats.accuracy import Confusion, JudgeAccuracy, confusion, judge_accuracy
    from jury.stats.agreement import (
        PairMatrix,
        cohen_kappa,
        fleiss_kappa,
        gwet_ac,
        mean_agreement,
        pair_matrix,
        percent_agreement,
        randolph_kappa,
    )
    from jury.stats.alpha import agreement_interval, alpha_interval, krippendorff_alpha
    from jury.stats.alternative import (
        AlternativeTest,
        AnnotatorDuel,
        alternative_annotator_test,
        false_discovery,
    )
    from jury.stats.bias import (
        LengthBias,
        PositionBias,
        SelfPreference,
        false_pass_gap,
        holm,
        length_bias,
        position_bias,
        self_preference,
        self_preference_paired,
        self_preference_shared,
    )
    from jury.stats.calibration import (
        ConfidencePoint,
        ReliabilityBin,
        brier_score,
        confidence_error,
        confidences,
        coverage_and_accuracy,
        log_loss,
        mean_confidence,
        reliability_table,
    )
    from jury.stats.estimate import REASONS, Estimate, Reason, undefined
    from jury.stats.games import Existence, Game
    from jury.stats.intervals import clopper_pearson, newcombe, wald_difference, wilson
    from jury.stats.judge_aware import JudgeAwareRanking, JudgedGame, judge_aware_bradley_terry
    from jury.stats.latent import LatentFit, confusion_from_gold, dawid_skene, posterior_of_votes
    from jury.stats.maps import IsotonicMap, PlattMap, cross_fitted, isotonic_map, platt_map
    from jury.stats.paired import (
        PairedBootstrap,
        PairedComparison,
        PairedCounts,
        mcnemar,
        paired_bootstrap,
        paired_counts,
    )
    from jury.stats.pairing import swiss_round
    from jury.stats.planning import (
        chance_to_see_flip,
        items_for_comparison,
        labels_for_half_width,
        largest_rate_without_failure,
        mcnemar_power,
        pass_rate_false_alarm,
        random_labels_for_class,
    )
    from jury.stats.ppi import PoweredMean, ppi_mean, stratified_rate
    from jury.stats.ranking import Ranking, bradley_terry, bradley_terry_bootstrap
    from jury.stats.rates import CorrectedRate, VerdictRates, rogan_gladen, rogan_gladen_bootstrap, verdict_rates
    from jury.stats.resampling import bootstrap, bootstrap_mean, resamples
    from jury.stats.sequential import (
        BayesPath,
        OperatingPoint,
        bayes_operating,
        bayes_path,
        plurality,
        reachable_outcomes,
        strict_majority,
        veto,
        wald_bounds,
    )
    from jury.stats.stability import Retest, beyond_noise, flip_rate
    from jury.stats.table import Category, Ratings, RatingTable, rating_table
    from jury.stats.votes import (
        BetaBinomial,
        PanelWorth,
        VoteShare,
        beta_binomial,
        effective_votes,
        panel_worth,
        vote_share,
    )

_HOMES = {
    "accuracy": "Confusion JudgeAccuracy confusion judge_accuracy",
    "alternative": "AlternativeTest AnnotatorDuel alternative_annotator_test false_discovery",
    "agreement": (
        "PairMatrix cohen_kappa fleiss_kappa gwet_ac mean_agreement pair_matrix percent_agreement randolph_kappa"
    ),
    "alpha": "agreement_interval alpha_interval krippendorff_alpha",
    "bias": (
        "LengthBias PositionBias SelfPreference false_pass_gap holm length_bias position_bias "
        "self_preference self_preference_paired self_preference_shared"
    ),
    "calibration": (
        "ConfidencePoint ReliabilityBin brier_score confidence_error confidences coverage_and_accuracy "
        "log_loss mean_confidence reliability_table"
    ),
    "estimate": "Estimate REASONS Reason undefined",
    "games": "Existence Game",
    "intervals": "clopper_pearson newcombe wald_difference wilson",
    "judge_aware": "JudgeAwareRanking JudgedGame judge_aware_bradley_terry",
    "latent": "LatentFit confusion_from_gold dawid_skene posterior_of_votes",
    "maps": "IsotonicMap PlattMap cross_fitted isotonic_map platt_map",
    "paired": "PairedBootstrap PairedComparison PairedCounts mcnemar paired_bootstrap paired_counts",
    "planning": (
        "chance_to_see_flip items_for_comparison labels_for_half_width largest_rate_without_failure "
        "mcnemar_power pass_rate_false_alarm random_labels_for_class"
    ),
    "ppi": "PoweredMean ppi_mean stratified_rate",
    "pairing": "swiss_round",
    "ranking": "Ranking bradley_terry bradley_terry_bootstrap",
    "rates": "CorrectedRate VerdictRates rogan_gladen rogan_gladen_bootstrap verdict_rates",
    "resampling": "bootstrap bootstrap_mean resamples",
    "sequential": (
        "BayesPath OperatingPoint bayes_operating bayes_path plurality reachable_outcomes strict_majority "
        "veto wald_bounds"
    ),
    "stability": "Retest beyond_noise flip_rate",
    "table": "Category RatingTable Ratings rating_table",
    "votes": "BetaBinomial PanelWorth VoteShare beta_binomial effective_votes panel_worth vote_share",
}
_HOME = {name: f"jury.stats.{module}" for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "REASONS",
    "AlternativeTest",
    "AnnotatorDuel",
    "BayesPath",
    "BetaBinomial",
    "Category",
    "ConfidencePoint",
    "Confusion",
    "CorrectedRate",
    "Estimate",
    "Existence",
    "Game",
    "IsotonicMap",
    "JudgeAccuracy",
    "JudgeAwareRanking",
    "JudgedGame",
    "LatentFit",
    "LengthBias",
    "OperatingPoint",
    "PairMatrix",
    "PairedBootstrap",
    "PairedComparison",
    "PairedCounts",
    "PanelWorth",
    "PlattMap",
    "PositionBias",
    "PoweredMean",
    "Ranking",
    "RatingTable",
    "Ratings",
    "Reason",
    "ReliabilityBin",
    "Retest",
    "SelfPreference",
    "VerdictRates",
    "VoteShare",
    "agreement_interval",
    "alpha_interval",
    "alternative_annotator_test",
    "bayes_operating",
    "bayes_path",
    "beta_binomial",
    "beyond_noise",
    "bootstrap",
    "bootstrap_mean",
    "bradley_terry",
    "bradley_terry_bootstrap",
    "brier_score",
    "chance_to_see_flip",
    "clopper_pearson",
    "cohen_kappa",
    "confidence_error",
    "confidences",
    "confusion",
    "confusion_from_gold",
    "coverage_and_accuracy",
    "cross_fitted",
    "dawid_skene",
    "effective_votes",
    "false_discovery",
    "false_pass_gap",
    "fleiss_kappa",
    "flip_rate",
    "gwet_ac",
    "holm",
    "isotonic_map",
    "items_for_comparison",
    "judge_accuracy",
    "judge_aware_bradley_terry",
    "krippendorff_alpha",
    "labels_for_half_width",
    "largest_rate_without_failure",
    "length_bias",
    "log_loss",
    "mcnemar",
    "mcnemar_power",
    "mean_agreement",
    "mean_confidence",
    "newcombe",
    "pair_matrix",
    "paired_bootstrap",
    "paired_counts",
    "panel_worth",
    "pass_rate_false_alarm",
    "percent_agreement",
    "platt_map",
    "plurality",
    "position_bias",
    "posterior_of_votes",
    "ppi_mean",
    "randolph_kappa",
    "random_labels_for_class",
    "rating_table",
    "reachable_outcomes",
    "reliability_table",
    "resamples",
    "rogan_gladen",
    "rogan_gladen_bootstrap",
    "self_preference",
    "self_preference_paired",
    "self_preference_shared",
    "stratified_rate",
    "strict_majority",
    "swiss_round",
    "undefined",
    "verdict_rates",
    "veto",
    "vote_share",
    "wald_bounds",
    "wald_difference",
    "wilson",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'jury.stats' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
