"""Statistics of field.json: `agreement`, `interval` and `bradley_terry`, through the public names of `jury.stats`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from jury.errors import ConfigError
from jury.stats import (
    Estimate,
    Game,
    bootstrap_mean,
    bradley_terry,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    mean_agreement,
    percent_agreement,
    rating_table,
    wilson,
)
from jury.stats.agreement import table_kappa
from tests.conformance.cases import load, params
from tests.conformance.comparing import Failed, fits

CASES = [c for c in load("field.json")["cases"] if c["area"] == "statistics"]


def made(formula: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The ratings of a case that gives a formula of judge x and item i instead of a table."""
    text = formula["formula"].split(" for ")[0]
    code, known = compile(text, "formula", "eval"), {f.__name__: f for f in (abs, int, max, min, round, str)}
    return {
        str(x): [eval(code, {"__builtins__": known}, {"x": x, "i": i}) for i in range(formula["items"])]
        for x in range(formula["judges"])
    }


def agreement(given: Mapping[str, Any]) -> Estimate:
    by_judge = given["ratings"] if "ratings" in given else made(given["make"])
    table, stat = rating_table(list(zip(*by_judge.values(), strict=True)), scale=given.get("scale")), given["stat"]
    if stat.startswith("weighted_kappa") or stat == "cohen_kappa":
        weights: Any = stat.removeprefix("weighted_kappa_") if stat != "cohen_kappa" else "identity"
        return table_kappa(table, weights=weights)
    if stat == "krippendorff_alpha":
        return krippendorff_alpha(table, level=given.get("level", "nominal"))
    plain = {
        "raw_agreement": percent_agreement,
        "mean_agreement": mean_agreement,
        "fleiss_kappa": fleiss_kappa,
        "gwet_ac1": gwet_ac,
    }
    return plain[stat](table)


def interval(given: Mapping[str, Any]) -> Estimate:
    level = given.get("level", 0.95)
    if given["stat"] == "wilson":
        return wilson(given["successes"], given["n"], level=level)
    return bootstrap_mean(given["values"], seed=given.get("seed", 0), level=level)


def ranked(given: Mapping[str, Any]) -> dict[str, Any]:
    outcome = {"tie": 0.5}
    games = [Game(g["a"], g["b"], outcome.get(g["winner"], float(g["winner"] == g["a"]))) for g in given["games"]]
    ranking = bradley_terry(games, ties="half")
    found: dict[str, Any] = {"mle_exists": ranking.mle_exists, "reason": ranking.reason}
    found["groups"] = [list(group) for group in ranking.existence.groups]
    found["items"] = list(ranking.existence.unbounded)
    if ranking.log_strengths is not None:
        found["log_strengths"] = dict(zip(ranking.items, ranking.log_strengths, strict=True))
    return found


def right(found: Estimate, value: Any, expect: Mapping[str, Any]) -> bool:
    """An undefined value must come with the expected reason; a defined one must be equal, and inside `within`."""
    if "any_of" in expect:
        return any(right(found, value, one) for one in expect["any_of"])
    if "ok" in expect and expect["ok"] is None:
        return value is None and found.reason == expect["reason"]
    if not fits(value, expect):
        return False
    low, high = expect.get("within", (float("-inf"), float("inf")))
    return all(low <= end <= high for end in (value if isinstance(value, list) else [value]))


def computed(case: Mapping[str, Any]) -> Estimate | Failed:
    try:
        return agreement(case["input"]) if case["op"] == "agreement" else interval(case["input"])
    except ConfigError as error:
        return Failed("missing_scale" if "order of the labels" in str(error) else "config", str(error))


@pytest.mark.parametrize("case", params(CASES))
def test_field(case: dict[str, Any]) -> None:
    expect = case["expect"]
    if case["op"] == "bradley_terry":
        found = ranked(case["input"])
        assert fits(found, expect), found
        return
    estimate = computed(case)
    if isinstance(estimate, Failed):
        assert fits(estimate, expect), estimate
        return
    value: Any = estimate.value
    if case["op"] == "interval":
        value = None if estimate.interval is None else list(estimate.interval)
    assert right(estimate, value, expect), estimate
