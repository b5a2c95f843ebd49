"""The simulations of coverage run at their tiniest size, follow from the seed, and notice an interval that is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.coverage import Study, line, simulate, studies
from benchmarks.stopping_bound import stop_line, stopping
from jury.stats import Estimate, undefined, wilson

ROOT = Path(__file__).parent.parent


def test_command_prints_json() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.coverage", "--runs", "3", "--only", "wilson", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert {row["interval"] for row in found["intervals"]} == {"wilson"}
    assert found["stopping"] == []


def test_every_study_runs_and_follows_from_the_seed() -> None:
    for study in studies():
        one = simulate(study, 1, seed=3)
        assert one == simulate(study, 1, seed=3)
        assert one.runs == 1


def test_coverage_is_counted() -> None:
    def draw(rng) -> Estimate:
        k = int(rng.integers(0, 4))
        return (undefined("no_data"), Estimate(0.5, 0.4, 0.6), Estimate(0.5, 0.6, 0.8), wilson(1, 2))[k]

    row = simulate(Study("made up", "four cases", 0.5, draw), 4000, seed=1)
    assert abs(row.without - 0.25) < 0.03
    assert row.coverage is not None
    assert abs(row.coverage - 2 / 3) < 0.03
    assert "made up" in line(row)


def test_the_stopping_bound_holds_for_judges_that_err_apart_and_breaks_for_those_that_err_together() -> None:
    apart, together, tempered = stopping(3000, seed=1)
    assert apart.wrong_given_stopped <= apart.epsilon
    assert together.wrong_given_stopped > 2 * together.epsilon
    assert tempered.wrong_given_stopped <= tempered.epsilon
    assert "independent judges" in stop_line(apart)


def test_leanings_and_flips_beyond_noise_are_covered() -> None:
    wanted = {"position lean": 0.9, "beyond_noise": 0.9, "leaning at 80%": 0.72, "family lean": 0.9}
    for study in studies():
        if study.interval in wanted:
            row = simulate(study, 200, seed=2)
            assert row.coverage is not None
            assert row.coverage >= wanted[study.interval], line(row)
