from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.stats import confusion_from_gold, dawid_skene, posterior_of_votes

LABELS = ["F", "NA", "P"]
tables = st.lists(st.lists(st.sampled_from([*LABELS, None]), min_size=3, max_size=3), min_size=1, max_size=10)


def simulated(accuracies: list[float], items: int, seed: int, shared: float = 0.0) -> tuple[list[list[str]], list[str]]:
    """Votes of judges with these accuracies; on a share of the items all of them err together."""
    rng = np.random.default_rng(seed)
    truth, rows = [], []
    for _ in range(items):
        label = "P" if rng.random() < 0.6 else "F"
        other = "F" if label == "P" else "P"
        together = rng.random() < shared
        rows.append([label if not together and rng.random() < a else other for a in accuracies])
        truth.append(label)
    return rows, truth


@given(tables, st.booleans())
def test_posteriors_are_probabilities(rows: list[list[str | None]], one_coin: bool) -> None:
    fit = dawid_skene(rows, LABELS, one_coin=one_coin, max_iterations=60)
    for shares in (fit.posterior, fit.prior, fit.confusion):
        assert np.isfinite(shares).all()
        assert (shares >= 0).all()
        assert shares.sum(axis=-1) == pytest.approx(np.ones(shares.shape[:-1]))


@given(tables, st.integers(0, 99))
def test_order_of_items_and_judges_does_not_matter(rows: list[list[str | None]], seed: int) -> None:
    rng = random.Random(seed)
    items, judges = list(range(len(rows))), [0, 1, 2]
    rng.shuffle(items)
    rng.shuffle(judges)
    one = dawid_skene(rows, LABELS, max_iterations=40)
    other = dawid_skene([[rows[i][j] for j in judges] for i in items], LABELS, max_iterations=40)
    assert other.posterior == pytest.approx(one.posterior[items], abs=1e-6)
    assert other.confusion == pytest.approx(one.confusion[judges], abs=1e-6)


def test_better_judges_are_recovered_and_listened_to() -> None:
    accuracies = [0.95, 0.9, 0.6, 0.6, 0.6]
    rows, truth = simulated(accuracies, 600, seed=3)
    fit = dawid_skene(rows, ["F", "P"])
    found = [float(fit.confusion[j].trace() / 2) for j in range(5)]
    assert found == pytest.approx(accuracies, abs=0.05)
    majority = ["P" if row.count("P") > 2 else "F" for row in rows]
    right = [sum(a == b for a, b in zip(guess, truth, strict=True)) for guess in (fit.decided(), majority)]
    assert right[0] > right[1] + 20
    assert fit.doubts == ()


def test_gold_labels_stay_and_pull() -> None:
    rows, truth = simulated([0.3, 0.35, 0.3], 80, seed=1)  # a panel on the wrong side
    alone = dawid_skene(rows, ["F", "P"])
    gold = {i: truth[i] for i in range(25)}
    helped = dawid_skene(rows, ["F", "P"], gold=gold)
    assert all(helped.decided()[i] == label for i, label in gold.items())
    right = [sum(a == b for a, b in zip(fit.decided()[25:], truth[25:], strict=True)) for fit in (alone, helped)]
    assert right[0] < 55 * 0.4 < 55 * 0.6 < right[1]


def test_smoothing_keeps_posteriors_off_the_ends() -> None:
    rows = [["P", "P", "F"]] * 4 + [["F", "F", "F"]] * 4
    assert dawid_skene(rows, ["F", "P"], smoothing=0.0).posterior.max() == pytest.approx(1.0)
    assert dawid_skene(rows, ["F", "P"]).posterior.max() < 0.999


def test_doubts_are_named() -> None:
    two = dawid_skene([["P", "P"], ["F", "P"]], ["F", "P"])
    assert any("2 items" in text for text in two.doubts)
    assert any("fewer than three judges" in text for text in two.doubts)
    assert any("fewer than 5 votes" in text for text in two.doubts)
    short = dawid_skene(simulated([0.8, 0.7, 0.7], 60, 1)[0], ["F", "P"], max_iterations=2)
    assert not short.converged
    assert any("did not settle" in text for text in short.doubts)


def test_items_without_votes_get_the_prior() -> None:
    fit = dawid_skene([["P", "P"], ["P", "P"], ["F", "P"], [None, None]], ["F", "P"])
    assert fit.posterior[3] == pytest.approx(fit.prior, abs=1e-6)


def test_a_tie_is_no_decision() -> None:
    fit = dawid_skene([["P", "F"], ["F", "P"]], ["F", "P"])
    assert fit.decided() == (None, None)


def test_wrong_arguments() -> None:
    with pytest.raises(ConfigError, match="two labels"):
        dawid_skene([["P"]], ["P"])
    with pytest.raises(ConfigError, match="two labels and an item"):
        dawid_skene([], ["P", "F"])
    with pytest.raises(ConfigError, match="gold label 'X'"):
        dawid_skene([["P"]], ["P", "F"], gold={0: "X"})
    with pytest.raises(ConfigError, match="item 5"):
        dawid_skene([["P"]], ["P", "F"], gold={5: "P"})
    with pytest.raises(ConfigError, match="declared scale"):
        dawid_skene([["X"]], ["P", "F"])


def test_known_judges() -> None:
    matrices = [[[0.8, 0.2], [0.1, 0.9]]] * 3
    sure = posterior_of_votes([["P", "P", "P"]], ["F", "P"], [0.5, 0.5], matrices)
    tempered = posterior_of_votes([["P", "P", "P"]], ["F", "P"], [0.5, 0.5], matrices, temper=1 / 3)
    alone = posterior_of_votes([["P", None, None]], ["F", "P"], [0.5, 0.5], matrices)
    assert sure[0, 1] == pytest.approx(4.5**3 / (1 + 4.5**3))
    assert tempered == pytest.approx(alone)
    with pytest.raises(ConfigError, match="matrices"):
        posterior_of_votes([["P"]], ["F", "P"], [0.5, 0.5], matrices)
    with pytest.raises(ConfigError, match="temper"):
        posterior_of_votes([["P"]], ["F", "P"], [0.5, 0.5], matrices[:1], temper=0.0)


def test_confusion_from_gold_without_votes_on_a_class_is_uniform() -> None:
    found = confusion_from_gold([["P", None]], ["F", "P"], {0: "P"}, smoothing=0.0)
    assert found[0].tolist() == [[0.5, 0.5], [0.0, 1.0]]
    assert found[1].tolist() == [[0.5, 0.5], [0.5, 0.5]]
