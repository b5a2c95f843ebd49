from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from jury.errors import ConfigError
from jury.stats import PairedCounts, mcnemar, paired_bootstrap, paired_counts

few = st.integers(0, 40)


@given(few, few, few, few)
def test_against_scipy_and_mirrored(b: int, c: int, both: int, neither: int) -> None:
    found, back = mcnemar(PairedCounts(b, c, both, neither)), mcnemar(PairedCounts(c, b, both, neither))
    if not b + c + both + neither:
        assert found.difference.reason == "no_data"
        assert found.exact_p is None
        return
    assert found.exact_p == pytest.approx(reference.binomtest(b, b + c).pvalue if b + c else 1.0)
    assert found.mid_p <= found.exact_p
    assert found.exact_p == back.exact_p
    assert found.difference.value == pytest.approx(-back.difference.value)
    low, high = found.difference.interval or (None, None)
    assert -1 <= low <= found.difference.value <= high <= 1


def test_no_discordant_pair() -> None:
    counts = PairedCounts(0, 0, 7, 3)
    plain, adjusted = mcnemar(counts, adjusted=False), mcnemar(counts)
    assert (plain.difference.value, plain.difference.reason) == (0.0, "no_variation")
    assert adjusted.difference.low < 0 < adjusted.difference.high
    assert (plain.exact_p, plain.chi2_p) == (1.0, None)


def test_counting_drops_what_is_no_verdict() -> None:
    counts = paired_counts([True, False, None, True], [True, True, True, "error"], passed=True, failed=False)
    assert counts == PairedCounts(only_a=0, only_b=1, both=1, neither=0, dropped=2)
    with pytest.raises(ConfigError, match="same items"):
        paired_counts([True], [])
    with pytest.raises(ConfigError, match="negative"):
        mcnemar(PairedCounts(-1, 0, 0, 0))


def test_bootstrap_drops_pairs_and_keeps_clusters() -> None:
    a, b = [1.0, 0.5, None, 0.0, 1.0, 0.0], [0.0, 0.5, 1.0, None, 0.0, 0.5]
    found = paired_bootstrap(a, b, seed=1, clusters=["x", "x", "y", "y", "z", "z"])
    assert found.dropped == 2
    assert found.difference.value == pytest.approx((1 + 0 + 1 - 0.5) / 4)
    assert found.share_not_above == 0.0  # the clusters that are left, x and z, both have a positive sum
    nothing = paired_bootstrap([None], [1.0], seed=1)
    assert (nothing.difference.reason, nothing.dropped) == ("no_overlap", 1)
    same = paired_bootstrap([1.0, 0.0], [1.0, 0.0], seed=1)
    assert (same.difference.value, same.difference.reason, same.share_not_above) == (0.0, "no_variation", 1.0)
    with pytest.raises(ConfigError, match="same items"):
        paired_bootstrap([1.0], [], seed=1)
