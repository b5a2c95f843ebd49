from __future__ import annotations

import math

import numpy as np
import pytest

from jury.stats import REASONS, Estimate, undefined


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["value", "low", "high", "se"])
def test_a_number_that_is_not_finite_is_refused(field: str, bad: float) -> None:
    with pytest.raises(ValueError, match=field):
        Estimate(**{"value": 0.5, "low": 0.0, "high": 1.0, field: bad})


def test_undefined_needs_a_reason_and_an_interval_two_ends() -> None:
    with pytest.raises(ValueError, match="reason"):
        Estimate(None)
    with pytest.raises(ValueError, match="two ends"):
        Estimate(0.5, low=0.1)


def test_texts() -> None:
    assert str(Estimate(0.5)) == "0.500"
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.500 [0.250, 0.750]"
    assert str(undefined("no_data", "nobody voted")) == "undefined (nothing was observed; nobody voted)"
    assert Estimate(0.5).why == ""
    assert all(REASONS[reason] for reason in REASONS)


def test_numbers_of_numpy_become_plain_ones() -> None:
    found = Estimate(np.float64(0.5), np.float32(0.25), np.float64(0.75), n=np.int64(3))
    assert [type(x) for x in (found.value, found.low, found.n)] == [float, float, int]
