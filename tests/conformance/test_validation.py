"""validation.json: what the construction of a jury refuses, and what it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from jury import llm_jury, llm_jury_pairwise
from tests.conformance.cases import load, params
from tests.conformance.comparing import says
from tests.conformance.seats import aggregator, tie_break

FACTORIES: dict[str, Callable[..., Any]] = {"pointwise": llm_jury, "pairwise": llm_jury_pairwise}


@pytest.mark.parametrize("case", params(load("validation.json")))
def test_validation(case: dict[str, Any]) -> None:
    factory = FACTORIES[case["kind"]]
    given = dict(case["arguments"])
    unknown = given.keys() - inspect.signature(factory).parameters.keys()
    if unknown:
        pytest.skip(f"jury has no argument {', '.join(sorted(unknown))}")
    for name, made in (("aggregator", aggregator), ("tie_break", tie_break)):
        if name in given:
            given[name] = made(given[name])

    expect = case["expect"]
    if expect["error"] is None:
        factory(**given)
        return
    errors = (ValueError, TypeError) if case.get("or_type_error", expect.get("or_type_error")) else ValueError
    with pytest.raises(errors) as caught:
        factory(**given)
    missing = [text for text in expect.get("message_names", ()) if not says(str(caught.value), text)]
    assert missing == [], caught.value
