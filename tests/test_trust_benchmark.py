"""The trust benchmark runs on any folder of votes, made here; on `JURY_DATA` it keeps what it reached."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from benchmarks import trust
from benchmarks.trust_measures import powered_ends
from benchmarks.votes import folder, load
from jury.stats import ppi_mean


def lines(path, rows):
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")


@pytest.fixture
def votes(tmp_path):
    rng = random.Random(1)
    pairs, singles, scores = [], [], []
    for i in range(320):
        truth = rng.random() < 0.5
        right = {f"j{k}": rng.random() < 0.6 + 0.08 * k for k in range(4)}
        said = {j: truth if r else not truth for j, r in right.items()}
        singles.append(row(i, "pointwise", "bool", {"majority": truth}, said))
        sides = {j: {"ab": "AB"[v], "ba": "AB"[v] if rng.random() < 0.7 else "A"} for j, v in said.items()}
        pairs.append(row(i, "pairwise", "A/B/tie", {"majority": "AB"[truth]}, sides))
        mean = rng.uniform(1, 5)
        graded = {j: min(5, max(1, round(mean + rng.gauss(0.5, 0.8)))) for j in said}
        scores.append(row(i, "pointwise", "1-5", {"majority": None, "mean": mean}, graded))
    lines(tmp_path / "x_pairwise.jsonl", pairs)
    lines(tmp_path / "y_pointwise.jsonl", singles)
    lines(tmp_path / "z_pointwise.jsonl", scores)
    lines(tmp_path / "no_people.jsonl", [{**pairs[0], "human": None}])
    return tmp_path


def row(i, kind, scale, human, said):
    return {"item_id": str(i), "group_id": str(i // 2), "kind": kind, "scale": scale, "human": human, "votes": said}


def test_sets_are_found_by_shape(votes):
    sets, graded = load(votes)
    assert [(s.name, s.n, len(s.judges), s.ba is not None) for s in sets] == [
        ("x", 320, 4, True),
        ("y", 320, 4, False),
    ]
    assert [(g.name, g.scores.shape) for g in graded] == [("z", (320, 4))]


def test_every_measure_is_printed(votes, capsys):
    result = trust.measure(votes, draws=2)
    assert [m["number"] for m in result["measures"]] == list(range(1, 14))
    assert result["measures"][0]["reached"] is True
    json.dumps(result)
    assert [m["number"] for m in trust.measure(votes, draws=2, only=[12])["measures"]] == [12]


@pytest.mark.slow
def test_what_recorded_votes_reached_is_kept():
    try:
        path = folder()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    found = {m["number"]: m for m in trust.measure(path, draws=4, only=[1, 2, 3])["measures"]}
    assert found[1]["reached"]
    assert min(r["gain"] for r in (*found[2]["rows"], *found[3]["rows"])) >= -0.5


def test_many_samples_at_once_have_the_intervals_of_each_by_itself():
    rng = np.random.default_rng(3)
    judge = (rng.random(400) < 0.6).astype(int)
    gold = np.where(rng.random(400) < 0.8, judge, 1 - judge)
    counts, alone = [], []
    for labels in (4, 25, 60):
        for _ in range(20):
            drawn = rng.choice(400, 120)
            known, rest = drawn[:labels], drawn[labels:]
            within = [judge[known] == v for v in (1, 0)]
            passed, cells = [int(gold[known][w].sum()) for w in within], [int(w.sum()) for w in within]
            counts.append((passed, cells, [int((judge[drawn] == v).sum()) for v in (1, 0)]))
            found = ppi_mean(gold[known].tolist(), judge[known].tolist(), judge[rest].tolist()).estimate
            alone.append(found.interval or (found.value, found.value))
    low, high = powered_ends(*(np.array(part) for part in zip(*counts, strict=True)))
    assert np.allclose(np.array(alone), np.stack([low, high], axis=1), rtol=0, atol=1e-12)
