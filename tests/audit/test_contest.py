"""Contests: rounds into a run folder, on a budget of comparisons."""

from __future__ import annotations

from collections import Counter

import pytest

from jury import ConfigError, DataError
from jury.audit import audited, hold_contest_sync, next_pairs, pool, tournament
from jury.datasets import rows
from jury.runner import RunSpec
from jury.store import Run

STRENGTH = {"anna": 5, "ben": 4, "cleo": 3, "dan": 2, "eva": 1}
ANSWERS = [
    {"question": f"question {q}", "model": model, "answer": f"{'x' * (2 * strength + q % 3)} by {model} to {q}"}
    for q in range(12)
    for model, strength in STRENGTH.items()
]


def longer(response_a, response_b):
    a, b = response_a.count("x"), response_b.count("x")
    return "A" if a > b else "B" if b > a else "tie"


def spec(judge=longer, **options):
    return RunSpec(jury={"criteria": "Longer.", "judges": [judge]}, kind="pairwise", **options)


def compared(folder):
    return [dict(item.row) for item in Run.open(folder).items()]


def test_a_contest_ranks_and_keeps_every_comparison(tmp_path):
    given = pool(rows(ANSWERS))
    report = hold_contest_sync(given, spec(), tmp_path / "run", comparisons=20)
    assert report.totals["n_total"] == 20
    found = tournament(audited(tmp_path / "run"))
    assert [t.target for t in found.targets] == list(STRENGTH)
    assert found.games == 20
    done = compared(tmp_path / "run")
    assert len({row["id"] for row in done}) == 20
    firsts = Counter(row["model_a"] for row in done)
    played = Counter(row[n] for row in done for n in ("model_a", "model_b"))
    assert all(abs(2 * firsts[t] - played[t]) <= 2 for t in STRENGTH)
    assert max(played.values()) - min(played.values()) <= 2


def test_more_comparisons_go_on_from_those_that_are_there(tmp_path):
    given, asked = pool(rows(ANSWERS)), []

    def counting(response_a, response_b):
        asked.append(1)
        return longer(response_a, response_b)

    hold_contest_sync(given, spec(counting), tmp_path / "run", comparisons=10)
    first, n = compared(tmp_path / "run"), len(asked)
    assert n == 20  # both orders
    hold_contest_sync(given, spec(counting), tmp_path / "run", comparisons=10)
    assert len(asked) == n
    hold_contest_sync(given, spec(counting), tmp_path / "run", comparisons=16)
    assert compared(tmp_path / "run")[:10] == first
    assert len(asked) == n + 12


def test_the_same_seed_gives_the_same_contest(tmp_path):
    given = pool(rows(ANSWERS))
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        hold_contest_sync(given, spec(), tmp_path / name, comparisons=12, seed=seed)
    a, b, c = (compared(tmp_path / name) for name in "abc")
    assert a == b != c


def test_pairs_meet_once_on_a_question_and_the_contest_ends_when_none_is_left(tmp_path):
    some = [row for row in ANSWERS if row["question"] in ("question 0", "question 1") and row["model"] < "d"]
    report = hold_contest_sync(pool(rows(some)), spec(), tmp_path / "run", comparisons=100)
    assert report.totals["n_total"] == 6  # three pairs on two questions


def test_targets_that_share_no_question_never_meet(tmp_path):
    apart = [row for row in ANSWERS if (row["model"] < "c") == (row["question"] < "question 5")]
    hold_contest_sync(pool(rows(apart)), spec(), tmp_path / "run", comparisons=30)
    assert {t.group for t in tournament(audited(tmp_path / "run")).targets} == {0, 1}


def test_an_outage_ends_the_contest_after_one_round(tmp_path):
    def broken(response_a, response_b):
        raise RuntimeError("down")

    report = hold_contest_sync(pool(rows(ANSWERS)), spec(broken), tmp_path / "run", comparisons=50)
    assert report.totals["n_total"] == 2


def test_rounds_hear_of_the_reference_and_of_failed_answers():
    given = pool(rows([*ANSWERS, {"question": "question 99", "model": "anna", "answer": None, "error": "down"},
                       {"question": "extra", "model": "anna", "answer": "1", "reference": "one"},
                       {"question": "extra", "model": "ben", "answer": "2", "reference": "one"}]))  # fmt: skip
    assert "question 99" not in given.answers
    assert given.shared("anna", "ben")[-1] == "extra"
    only = pool(rows([{"question": "extra", "model": m, "answer": m, "reference": "one"} for m in ("anna", "ben")]))
    assert next_pairs(only, [], [])[0]["reference"] == "one"


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        ([{"question": "q", "answer": "a"}], "--map model=COLUMN"),
        ([{"question": "q", "bot": "anna", "answer": "a"}], "no column for the model"),
        ([{"model": "anna", "answer": "a"}], "no column for the input"),
        ([{"question": "q", "model": "anna", "answer": "a"}], "two targets"),
        ([{"question": "q", "model": "anna", "answer": "a"}] * 2, "twice"),
    ],
)
def test_answers_that_are_none_are_refused(answers, word):
    with pytest.raises(DataError, match=word):
        pool(rows(answers))


def test_another_run_is_no_place_for_a_contest(tmp_path):
    from jury.runner import run_sync

    given = pool(rows(ANSWERS))
    pairs = [{"id": "1", "question": "q", "response_a": "x", "response_b": "xx"}]
    run_sync(spec(data=pairs), tmp_path / "run")
    with pytest.raises(DataError, match="another kind"):
        hold_contest_sync(given, spec(), tmp_path / "run", comparisons=5)
    with pytest.raises(ConfigError, match="pairwise"):
        hold_contest_sync(given, RunSpec(jury={"criteria": "c", "judges": [len]}), tmp_path / "new", comparisons=5)
    with pytest.raises(ConfigError, match="comparisons"):
        hold_contest_sync(given, spec(), tmp_path / "new", comparisons=0)
