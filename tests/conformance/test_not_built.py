"""Cases of files whose part of `jury` is not built yet: listed one by one, each expected to fail until it is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.cases import load, params


def cases(name: str, key: str) -> list[Any]:
    return load(name)[key]


def reason(area: str) -> Any:
    return lambda case: f"{area}: not built yet"


@pytest.mark.parametrize("case", params(cases("seed0_templates.json", "templates"), reason("session judges")))
def test_seed0_templates(case: dict[str, Any]) -> None:
    pytest.fail("no session templates to compare with")
