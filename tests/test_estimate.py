"""Quotes before anything is paid, and the outlook where the budget ended a run."""

from __future__ import annotations

import json

import pytest

from jury import ConfigError, JudgeSpec, Reply, ScriptedProvider, Usage
from jury.cli.__main__ import main
from jury.runner import RunSpec, estimate, outlook, run_sync

ROWS = [{"id": f"r{i}", "input": "q", "output": f"answer {i} " + "x" * 400} for i in range(50)]


@pytest.fixture(autouse=True)
def _prices(tmp_path, monkeypatch):
    (tmp_path / "jury.yaml").write_text("prices:\n  paid/m: {input: 2, output: 10}\n")
    monkeypatch.setenv("JURY_CONFIG", str(tmp_path / "jury.yaml"))


def provider():
    def answer(request):
        return Reply('{"explanation": "e", "value": true}', model="m", usage=Usage(1, 100, 30, cost=0.001))

    return ScriptedProvider(answer, name="paid", rungs=("json",))


def spec_of(one, rows=ROWS, **options):
    judges = [JudgeSpec("paid/m", provider=one, settings={"max_tokens": 1000})]
    return RunSpec(rows, {"criteria": "c", "judges": judges, **options}, cache=False)


def test_a_quote_counts_calls_tokens_and_money_and_calls_nobody(tmp_path):
    one = provider()
    quote = estimate(spec_of(one, repetitions=3), tmp_path / "run", sample=10)
    assert (quote.items, quote.sampled, quote.calls, quote.known) == (50, 10, 150, 0)
    (line,) = quote.lines
    assert line.output_tokens == 150 * 150
    assert 150 * 200 < line.input_tokens < 150 * 1000
    assert quote.cost == pytest.approx((line.input_tokens * 2 + line.output_tokens * 10) / 1e6, rel=0.01)
    assert quote.most > quote.cost
    assert one.requests == []
    assert not (tmp_path / "run").exists()


def test_what_is_known_is_not_quoted_and_replies_are_as_long_as_they_were(tmp_path):
    one = provider()
    run_sync(spec_of(one, rows=ROWS[:20]), tmp_path / "run")
    quote = estimate(spec_of(one), tmp_path / "run")
    assert (quote.calls, quote.known) == (30, 20)
    assert quote.lines[0].output_tokens == 30 * 30


def test_the_most_is_a_bound(tmp_path):
    one = provider()
    spec = spec_of(one)
    quote = estimate(spec, tmp_path / "run")
    report = run_sync(spec, tmp_path / "run")
    assert report.spent <= quote.most


def test_unknown_prices_and_functions(tmp_path):
    rows = [*ROWS[:4], {"id": "bad", "input": "q", "output": "", "error": "broke"}]
    judges = [lambda output: True, JudgeSpec("other/m", provider=ScriptedProvider([], name="other"))]
    quote = estimate(RunSpec(rows, {"criteria": "c", "judges": judges}), tmp_path / "run")
    assert [(x.calls, x.cost) for x in quote.lines] == [(4, 0.0), (4, None)]
    assert quote.cost is None


def test_what_a_judge_function_says_of_its_cost_is_quoted(tmp_path):
    def dear(output):
        return True

    dear.max_cost = 0.01
    judges = [dear, JudgeSpec(function=lambda output: True, id="dearer", max_cost=0.5), lambda output: True]
    quote = estimate(RunSpec(ROWS[:4], {"criteria": "c", "judges": judges}), tmp_path / "run")
    assert [x.most for x in quote.lines] == [pytest.approx(0.04), pytest.approx(2.0), 0.0]
    assert quote.cost == pytest.approx(2.04)


def test_standard_input_cannot_be_read_twice(tmp_path):
    with pytest.raises(ConfigError, match="twice"):
        estimate(RunSpec("-", {"criteria": "c", "judges": [len]}), tmp_path)


def test_the_outlook():
    totals = {"reasons": {"budget": 60}, "n_total": 100, "n_pass": 30, "n_fail": 10, "n_not_judged": 0}
    found = outlook(totals, 8.0)
    assert (found.left, found.rate, found.rest) == (60, 0.75, 12.0)
    assert found.low == pytest.approx(0.5980, abs=1e-4)  # statsmodels' wilson for 30 of 40
    assert found.high == pytest.approx(0.8581, abs=1e-4)
    assert outlook({**totals, "reasons": {}}, 8.0) is None
    nothing = outlook({**totals, "n_total": 60, "n_pass": 0, "n_fail": 0}, 0.0)
    assert (nothing.rate, nothing.rest) == (None, None)
    pairs = {
        "reasons": {"budget": 5},
        "n_total": 10,
        "n_a": 1,
        "n_b": 1,
        "n_tie": 3,
        "n_not_judged": 0,
        "win_rate_a": 0.5,
    }
    even = outlook(pairs, 8.0)  # a tie is half: 2.5 of 5, and the interval is as wide on both sides
    assert (even.rate, even.low + even.high) == (0.5, pytest.approx(1.0))


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "replies.json").write_text(json.dumps(['{"value": true}'] * 50))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
    config = {"data": "rows.jsonl", "criteria": "c", "judges": [f"scripted/{tmp_path}/replies.json"]}
    (tmp_path / "run.yaml").write_text(json.dumps(config))
    with pytest.raises(SystemExit) as left:
        main(["run", "run.yaml", "--estimate"])
    out = capsys.readouterr().out
    assert left.value.code == 0
    assert "50, 50 of them looked at" in out
    assert "about $0, at most $0" in out
    with pytest.raises(SystemExit):
        main(["run", "run.yaml", "--estimate", "--json"])
    assert json.loads(capsys.readouterr().out)["calls"] == 50
    assert not (tmp_path / "runs").exists()


def test_neither_an_id_nor_a_number_of_the_quote_is_cut(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
    config = {"data": "rows.jsonl", "criteria": "c", "judges": ["anthropic/claude-haiku-4-5", "openai/gpt-5-mini"]}
    (tmp_path / "run.yaml").write_text(json.dumps(config))
    with pytest.raises(SystemExit):
        main(["run", "run.yaml", "--estimate"])
    out = capsys.readouterr().out
    assert "…" not in out
    assert "judges 1 anthropic/claude-haiku-4-5\n       2 openai/gpt-5-mini\n" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_budget_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judges.py").write_text(
        "def dear(output):\n    return {'value': True, 'usage': {'calls': 1, 'cost': 1.0}}\n"
    )
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
    config = {"data": "rows.jsonl", "criteria": "c", "judges": ["openai/unheard-of"]}
    (tmp_path / "run.yaml").write_text(json.dumps(config))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(SystemExit) as left:
        main(["run", "run.yaml", "--budget", "5"])
    assert left.value.code == 2
    assert "a budget needs a price for openai/unheard-of" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "run.yaml", "--budget", "-5"])
    assert "budget must be" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        main(["run", "run.yaml", "-j", "judges.py:dear", "--budget", "5", "--limit", "1"])
    assert left.value.code == 0
    assert "$1.00 now" in capsys.readouterr().out
