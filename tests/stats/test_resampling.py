from __future__ import annotations

import numpy as np
import pytest

from jury.errors import ConfigError
from jury.stats import bootstrap, resamples
from jury.stats import resampling as module


def test_rows_are_those_of_one_draw_however_they_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream is `integers(0, n, size=(replicates, n))`, also where it is drawn in blocks to save memory."""
    whole = np.random.default_rng(7).integers(0, 12, size=(50, 12))
    assert np.array(list(resamples(12, replicates=50, seed=7))).tolist() == whole.tolist()
    monkeypatch.setattr(module, "_CELLS", 40)
    assert np.array(list(resamples(12, replicates=50, seed=7))).tolist() == whole.tolist()


def test_clusters_are_drawn_whole() -> None:
    names = ["x", "y", "x", "z", "y", "x"]
    for rows in resamples(6, replicates=30, seed=2, clusters=names):
        drawn = [names[i] for i in rows]
        for name in set(names):
            assert drawn.count(name) % names.count(name) == 0


@pytest.mark.parametrize("seed", [None, 1.5, True, "7"])
def test_a_seed_is_a_number_or_a_generator(seed: object) -> None:
    with pytest.raises(ConfigError, match="seed"):
        list(resamples(3, replicates=1, seed=seed))


def test_generator_is_used_as_it_is() -> None:
    rng = np.random.default_rng(5)
    first = [row.tolist() for row in resamples(4, replicates=2, seed=rng)]
    assert first != [row.tolist() for row in resamples(4, replicates=2, seed=rng)]


def test_undefined_replicates_are_dropped_and_counted() -> None:
    def only_with_item_0(rows: np.ndarray) -> float | None:
        return float(rows.mean()) if 0 in rows else None

    found = bootstrap(only_with_item_0, 30, seed=1, replicates=400)
    assert found.value == 14.5
    assert found.interval is not None
    assert "of 400 replicates were undefined and dropped" in found.note


def test_too_few_replicates_or_no_spread_give_no_interval() -> None:
    rare = bootstrap(lambda rows: 1.0 + rows[0] if len(set(rows.tolist())) > 9 else None, 10, seed=1, replicates=50)
    assert (rare.value, rare.interval, rare.reason) == (1.0, None, "too_few_replicates")
    flat = bootstrap(lambda rows: 2.0, 10, seed=1, replicates=50)
    assert (flat.value, flat.interval, flat.reason) == (2.0, None, "no_variation")
    assert bootstrap(lambda rows: None, 10, seed=1).reason == "no_data"
    assert bootstrap(lambda rows: 1.0, 0, seed=1).reason == "no_data"


def test_wrong_arguments() -> None:
    with pytest.raises(ConfigError, match="cluster names"):
        list(resamples(3, replicates=1, seed=1, clusters=["a"]))
    with pytest.raises(ConfigError, match="items and replicates"):
        list(resamples(0, replicates=1, seed=1))
