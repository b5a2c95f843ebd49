"""Runs: what is there is not asked again, what failed is, what changed is said, and paid calls are counted."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import logging
import sys
from datetime import date

import pytest

from jury import (
    ConfigError,
    DataError,
    JudgeSpec,
    Labels,
    Numeric,
    ProviderError,
    Reply,
    ScriptedProvider,
    Usage,
    llm_jury,
)
from jury.runner import Halt, RunSpec, replay, run, run_sync
from jury.runner.describe import fingerprint
from jury.store import Run

replay_module = importlib.import_module("jury.runner.replay")  # whose name its function has taken
YES, NO = '{"explanation": "yes", "value": true}', '{"explanation": "no", "value": false}'
ROWS = [{"id": f"r{i}", "input": f"q{i}", "output": f"a{i}"} for i in range(6)]


def by_text(table, otherwise=YES):
    """A provider that fails or answers by what occurs in the prompt."""

    def answer(request):
        for text, reply in table.items():
            if text in request.prompt:
                return reply
        return otherwise

    return ScriptedProvider(answer)


def spec_of(*providers, rows=ROWS, **options):
    judges = [JudgeSpec(f"scripted/j{i}", provider=p) for i, p in enumerate(providers)]
    own = {k: options.pop(k) for k in ("limit", "map", "kind", "name", "concurrency") if k in options}
    return RunSpec(rows, {"criteria": "c", "judges": judges, "retries": 0, **options}, **own)


def verdicts(folder):
    return [(item.id, result.value) for item, result in Run.open(folder).results()]


def test_a_run_is_judged_once(tmp_path):
    provider = by_text({"a3": NO})
    first = run_sync(spec_of(provider), tmp_path)
    assert (first.judged, first.skipped, first.asked.live, first.finished) == (6, 0, 6, True)
    assert first.totals["pass_rate"] == pytest.approx(5 / 6)
    again = run_sync(spec_of(provider), tmp_path)
    assert (again.judged, again.skipped, again.asked.live) == (0, 6, 0)
    assert again.totals == first.totals
    assert len(provider.requests) == 6
    assert verdicts(tmp_path) == [(f"r{i}", i != 3) for i in range(6)]


def test_only_what_failed_is_asked_again(tmp_path):
    broken, sound = by_text({"a1": None, "a4": None}), by_text({})
    first = run_sync(spec_of(broken, sound), tmp_path)
    assert first.asked.failed == 2
    left = run_sync(spec_of(broken, sound), tmp_path, keep_errors=True)
    assert (left.skipped, left.asked.live) == (6, 0)
    healed = by_text({})
    second = run_sync(spec_of(healed, sound), tmp_path)
    assert (second.judged, second.skipped) == (2, 4)
    assert second.asked.live == 2
    assert second.asked.recalled == 2  # the sound judge's votes on the two
    assert len(sound.requests) == 6
    assert second.totals["n_pass"] == 6
    assert not second.totals["failures"]


def test_more_data_asks_only_the_new_rows(tmp_path):
    provider = by_text({})
    run_sync(spec_of(provider, limit=2), tmp_path)
    second = run_sync(spec_of(provider), tmp_path)
    assert (second.skipped, second.judged) == (2, 4)
    rows = [*ROWS[:5], {**ROWS[5], "output": "changed"}]
    third = run_sync(spec_of(provider, rows=rows), tmp_path)
    assert (third.skipped, third.judged, len(provider.requests)) == (5, 1, 7)
    assert [i.output for i in Run.open(tmp_path).items()][-1] == "changed"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"temperature": 0.9}, "settings of judge scripted/j0 changed"),
        ({"prompt": "{{criteria}}: {{output.response}}"}, "prompt of judge scripted/j0 changed"),
        ({"criteria": "other"}, "criteria changed from c to other"),
        ({"labels": ["True", "False"]}, "scale changed"),
    ],
)
def test_a_change_that_shapes_votes_asks_again_and_is_said(tmp_path, change, says):
    provider = by_text({}, '{"value": true}' if "labels" not in change else '{"value": "True"}')
    run_sync(spec_of(provider), tmp_path)
    second = run_sync(spec_of(provider, **change), tmp_path)
    assert second.asked.live == 6
    assert any(says in c for c in second.changes)
    assert Run.open(tmp_path).manifest.history[-1]["changes"] == list(second.changes)


def test_another_judge_leaves_the_votes_of_the_first(tmp_path):
    first, second = by_text({}), by_text({})
    run_sync(spec_of(first), tmp_path)
    report = run_sync(spec_of(first, second), tmp_path)
    assert report.changes[0] == "judge scripted/j1 is new"
    assert (len(first.requests), len(second.requests)) == (6, 6)


def test_a_change_of_the_rule_decides_anew_without_a_call(tmp_path):
    providers = [by_text({}, f'{{"value": {value}}}') for value in (0.2, 0.6, 0.9)]
    run_sync(spec_of(*providers, range=[0, 1], threshold=0.7), tmp_path)
    assert [v for _, v in verdicts(tmp_path)] == pytest.approx([17 / 30] * 6)
    report = run_sync(spec_of(*providers, range=[0, 1], threshold=0.7, aggregator="max"), tmp_path)
    assert (report.asked.live, report.asked.recalled, report.judged) == (0, 18, 6)
    assert {v for _, v in verdicts(tmp_path)} == {0.9}


def test_identical_items_are_judged_once(tmp_path):
    rows = [{"id": str(i), "input": "q", "output": "same" if i % 2 else f"a{i}"} for i in range(9)]

    async def slow(request):
        await asyncio.sleep(0.01)
        return Reply(YES, usage=Usage(1, 100, 10, cost=0.5))

    provider = ScriptedProvider([])
    provider.complete = slow
    report = run_sync(spec_of(provider, rows=rows), tmp_path)
    assert (report.asked.live, report.asked.same) == (6, 3)
    assert report.totals["cost"] == pytest.approx(3.0)
    assert [r.cost for _, r in Run.open(tmp_path).results()].count(0.0) == 3
    judgments = list(Run.open(tmp_path).judgments())
    assert len(judgments) == 9
    assert [j.source for j in judgments].count("same") == 3


def test_an_identical_item_gets_its_own_chance_where_the_first_failed(tmp_path):
    rows = [{"id": str(i), "input": "q", "output": "same"} for i in range(3)]
    provider = ScriptedProvider([None, YES])
    report = run_sync(spec_of(provider, rows=rows), tmp_path)
    assert len(provider.requests) == 2
    assert (report.totals["n_error"], report.totals["n_pass"]) == (1, 2)


def test_an_errored_target_costs_nothing_and_is_kept(tmp_path):
    rows = [*ROWS[:2], {"id": "bad", "input": "q", "output": "", "error": "it broke"}]
    provider = by_text({})
    report = run_sync(spec_of(provider, rows=rows), tmp_path)
    assert report.totals["n_not_judged"] == 1
    assert len(provider.requests) == 2
    assert next(i for i in Run.open(tmp_path).items() if i.id == "bad").error == "it broke"
    assert run_sync(spec_of(provider, rows=rows), tmp_path).skipped == 3


def test_pairs(tmp_path):
    rows = [{"id": str(i), "question": "q", "response_a": "longer one", "response_b": f"short {i}"} for i in range(3)]

    def first_slot_if_longer(request):
        return {"value": "A" if request.prompt.index("longer one") < request.prompt.index("short 1") else "B"}

    provider = ScriptedProvider(lambda r: {"value": "A"} if "short 0" in r.prompt else first_slot_if_longer(r))
    spec = spec_of(provider, rows=rows[:2], kind="pairwise")
    report = run_sync(spec, tmp_path)
    assert report.totals["n_a"] == 1
    assert report.totals["flips"] == {"primacy": 1}
    results = [r.winner for _, r in Run.open(tmp_path).results()]
    assert results == ["inconclusive", "A"]
    assert run_sync(spec, tmp_path).skipped == 2
    assert replay(tmp_path).same


def test_a_pairwise_run_does_not_go_into_a_pointwise_folder(tmp_path):
    run_sync(spec_of(by_text({})), tmp_path)
    rows = [{"question": "q", "response_a": "a", "response_b": "b"}]
    with pytest.raises(ConfigError, match="take another folder"):
        run_sync(spec_of(by_text({}), rows=rows, kind="pairwise"), tmp_path)


def test_rotation_knows_whose_turn_it_was(tmp_path):
    providers = [by_text({}), by_text({})]
    run_sync(spec_of(*providers, assignment="cyclic"), tmp_path)
    assert [len(p.requests) for p in providers] == [3, 3]
    assert run_sync(spec_of(*providers, assignment="cyclic"), tmp_path).skipped == 6


def test_a_fault_in_the_data_keeps_what_came_before(tmp_path):
    rows = [*ROWS[:3], "not a mapping", *ROWS[3:]]
    provider = by_text({})
    report = run_sync(spec_of(provider, rows=rows), tmp_path)
    assert isinstance(report.fault, DataError)
    assert (report.finished, report.judged) == (False, 3)
    assert Run.open(tmp_path).manifest.finished is False
    assert run_sync(spec_of(provider), tmp_path).skipped == 3


def test_halting_finishes_what_is_in_flight(tmp_path):
    halt = Halt()

    def answer(request):
        halt.set()
        return YES

    provider = ScriptedProvider(answer)
    report = run_sync(spec_of(provider, concurrency=1), tmp_path, halt=halt)
    assert report.halted
    assert report.judged == len(provider.requests) < 6
    assert run_sync(spec_of(provider), tmp_path).judged == 6 - report.judged


def test_a_full_disk_ends_the_pass_and_the_run_goes_on_later(tmp_path, monkeypatch):
    provider = by_text({})
    from jury.store.lines import Appender

    real, calls = Appender.append, []

    def append(self, value):
        calls.append(value)
        if len(calls) == 8:
            raise DataError("judgments.jsonl: cannot be written: the disk is full", "unwritable")
        return real(self, value)

    with monkeypatch.context() as patch:
        patch.setattr(Appender, "append", append)
        with pytest.raises(DataError, match="the disk is full"):
            run_sync(spec_of(provider, concurrency=1), tmp_path)
    report = run_sync(spec_of(provider), tmp_path)
    assert report.finished
    assert report.skipped + report.judged == 6
    assert len(provider.requests) <= 6 + 2  # what was in flight when the disk was full


def test_cancelling_leaves_a_folder_that_goes_on(tmp_path):
    asked = asyncio.Event()

    async def never(request):
        asked.set()
        await asyncio.sleep(60)
        raise AssertionError

    slow = ScriptedProvider([])
    slow.complete = never

    async def cancelled():
        task = asyncio.ensure_future(run(spec_of(slow), tmp_path))
        await asyncio.wait_for(asked.wait(), 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert Run.open(tmp_path).manifest.finished is False
    assert run_sync(spec_of(by_text({})), tmp_path).judged == 6


def test_replay_finds_what_the_log_does_not_say(tmp_path):
    run_sync(spec_of(by_text({"a3": NO}), by_text({}), by_text({"a2": None})), tmp_path)
    report = replay(tmp_path)
    assert report.same
    assert (report.items, report.judgments) == (6, 18)
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text().replace('"value":true,"pass":true', '"value":false,"pass":false', 1))
    report = replay(tmp_path)
    assert [(d.what, d.stored, d.replayed) for d in report.differences] == [("verdict", "False", "True")]
    assert report.damage


def test_replay_of_a_run_that_goes_on_compares_what_was_there(tmp_path, monkeypatch):
    provider = by_text({})
    run_sync(spec_of(provider, rows=ROWS[:2]), tmp_path)

    class Read(replay_module._Log):
        def __init__(self, folder):
            super().__init__(folder)
            run_sync(spec_of(provider), tmp_path)  # meanwhile more items are judged

    monkeypatch.setattr(replay_module, "_Log", Read)
    report = replay(tmp_path)
    assert (report.items, report.same) == (2, True)
    monkeypatch.undo()
    assert replay(tmp_path).items == len(ROWS)


def test_replay_reads_the_raw_replies(tmp_path):
    run_sync(spec_of(by_text({})), tmp_path)
    path = tmp_path / "judgments.jsonl"
    changed = json.dumps(YES)[1:-1], json.dumps(NO)[1:-1]
    path.write_text(path.read_text().replace(*changed, 1))
    report = replay(tmp_path)
    assert [d.what for d in report.differences] == ["judgment of scripted/j0"]
    assert report.damage


def test_replay_of_an_own_rule_compares_votes(tmp_path):
    run_sync(spec_of(by_text({}), aggregator=lambda votes: False), tmp_path)
    report = replay(tmp_path)
    assert report.same
    assert report.unfolded


def test_a_function_judge_is_asked_once_for_an_item(tmp_path):
    seen = []

    def short(output):
        seen.append(output)
        return len(output) < 3

    spec = RunSpec(ROWS, {"criteria": "c", "judges": [short]})
    run_sync(spec, tmp_path)
    run_sync(spec, tmp_path)
    assert len(seen) == 6
    assert replay(tmp_path).same


def test_an_exception_of_a_lone_function_costs_its_item_only(tmp_path):
    def fragile(output):
        if output == "a2":
            raise RuntimeError("broke")
        return True

    report = run_sync(RunSpec(ROWS, {"criteria": "c", "judges": [fragile]}), tmp_path)
    assert (report.totals["n_pass"], report.totals["n_error"]) == (5, 1)
    assert report.totals["failures"] == {"fragile: exception": 1}


def test_a_ready_jury_can_be_run(tmp_path):
    jury = llm_jury(criteria="c", judges=[JudgeSpec("scripted/j", provider=by_text({}))])
    assert run_sync(RunSpec(ROWS, jury), tmp_path).judged == 6


def test_a_run_leaves_a_ready_jury_as_it_was(tmp_path):
    def broken(output):
        raise RuntimeError("broke")

    jury = llm_jury(criteria="c", judges=[broken])
    assert run_sync(RunSpec(ROWS[:1], jury), tmp_path).totals["n_error"] == 1
    with pytest.raises(RuntimeError, match="broke"):
        jury.judge_sync("q", "a")


def test_the_fingerprint_knows_what_shapes_a_result():
    def of(**options):
        return fingerprint(spec_of(by_text({}), by_text({}), **options).make_jury())

    others = [
        of(), of(criteria="d"), of(labels=["A", "B"]), of(labels=["A", "B"], passing=["A"]), of(repetitions=2),
        of(weights=[1, 2]), of(min_successful_judges=1), of(variables={"x": 1}), of(aggregator="majority"),
        of(stop="decided"), of(tie_break=max), of(range=[0, 1], threshold=0.3), of(temperature=1.0),
    ]  # fmt: skip
    assert len(set(others)) == len(others)
    assert of() == of()


def test_a_spec_from_a_file(tmp_path):
    (tmp_path / "answers.jsonl").write_text("\n".join(json.dumps(r) for r in ROWS))
    (tmp_path / "own.md").write_text("{{criteria}} {{output.response}}")
    (tmp_path / "replies.json").write_text(json.dumps([YES] * 6))
    (tmp_path / "run.yaml").write_text(
        "data: answers.jsonl\ncriteria: Is it right?\nprompt: own.md\nrange: [0, 10]\nthreshold: 7\nconcurrency: 3\n"
        f"judges:\n  - {{model: scripted/{tmp_path}/replies.json, id: me, weight: 2, temperature: 0.5}}\n"
    )
    spec = RunSpec.from_file(tmp_path / "run.yaml", limit=2)
    assert (spec.data, spec.limit, spec.concurrency) == (str(tmp_path / "answers.jsonl"), 2, 3)
    jury = spec.make_jury()
    (seat,) = jury.panel.seats
    assert (seat.name, seat.spec.weight, seat.settings.temperature) == ("me", 2, 0.5)
    assert jury.scale == Numeric(0, 10, 7)
    assert seat.prompt.spec.user == "{{criteria}} {{output.response}}"


def test_labels_of_a_spec():
    given = {"criteria": "c", "judges": ["scripted/x"], "labels": ["P", "F", "N"], "passing": ["P"], "na": "N"}
    assert RunSpec.from_mapping(given).make_jury().scale == Labels(["P", "F", "N"], ["P"], "N")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"criterion": "x"}, "did you mean criteria"),
        ({"kind": "duel"}, "kind must be one of"),
        ({"kind": "pairwise", "labels": ["A", "B"]}, "unknown key 'labels'"),
        ({"swap": False}, "unknown key 'swap'"),
        ({"limit": 0}, "limit must be"),
        ({"concurrency": True}, "concurrency must be"),
        ({"prompt": 3}, "prompt must be"),
        ({"prompt": "nowhere.md"}, "no prompt named"),
    ],
)
def test_a_spec_that_does_not_fit(given, says):
    with pytest.raises(ConfigError, match=says):
        RunSpec.from_mapping(given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"judges": ["module:function"]}, "names a function"),
        ({"judges": [{"model": "scripted/x", "colour": 1}]}, "unknown .'colour'."),
        ({"judges": 3}, "judges must be a list"),
        ({"range": [1]}, "two numbers"),
        ({"range": [0, 1], "labels": ["A", "B"]}, "give one of them"),
        ({"na": "NA"}, "na needs labels"),
        ({"timeout": "soon"}, "number of seconds"),
        ({"weights": 3}, "weights must be"),
    ],
)
def test_a_jury_that_does_not_fit(given, says):
    with pytest.raises(ConfigError, match=says):
        RunSpec.from_mapping({"criteria": "c", "judges": ["scripted/x"], **given}).make_jury()


def test_a_spec_file_that_is_none(tmp_path):
    for text in ("- a\n", "a: [\n"):
        (tmp_path / "run.yaml").write_text(text)
        with pytest.raises(ConfigError, match=r"run\.yaml"):
            RunSpec.from_file(tmp_path / "run.yaml")


def test_no_data_and_no_rows(tmp_path):
    with pytest.raises(ConfigError, match="which file"):
        run_sync(spec_of(by_text({}), rows=None), tmp_path / "none")
    assert isinstance(run_sync(spec_of(by_text({}), rows=[]), tmp_path / "empty").fault, DataError)


def test_nobody_with_a_key_is_told_before_the_first_item(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        run_sync(RunSpec(ROWS, {"criteria": "c", "judges": ["openai/gpt-5-mini"]}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_hour_of_garbage_ends_in_counted_errors(tmp_path, caplog):
    caplog.set_level(logging.ERROR)
    provider = ScriptedProvider(lambda request: "<html>502</html>", rungs=("json", "text"))
    report = run_sync(spec_of(provider), tmp_path)
    assert report.finished
    assert report.totals["n_error"] == 6
    assert report.totals["coverage"] == 0
    assert report.totals["failures"] == {"scripted/j0: no_json": 6}
    healed = run_sync(spec_of(by_text({})), tmp_path)
    assert healed.totals["n_pass"] == 6


def test_errors_of_a_provider_are_counted_by_kind(tmp_path):
    provider = by_text({"a1": ProviderError("overloaded", "busy")})
    report = run_sync(spec_of(provider), tmp_path)
    assert report.totals["failures"] == {"scripted/j0: overloaded": 1}


def test_an_id_that_occurs_twice_is_told_before_it_replaces_a_result(tmp_path):
    rows = [*ROWS[:2], {**ROWS[0], "output": "another"}]
    report = run_sync(spec_of(by_text({}), rows=rows), tmp_path)
    assert report.fault.kind == "duplicate_id"
    assert report.judged == 2


def test_a_path_is_a_path(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("input,output\nq,a\nq,b\n")
    report = run_sync(spec_of(by_text({}), rows=path), tmp_path / "run")
    assert report.judged == 2
    assert Run.open(tmp_path / "run").manifest.data["path"] == str(path)
    assert [i.id for i in Run.open(tmp_path / "run").items()] == ["#1", "#2"]


@pytest.mark.parametrize("kind", ["pointwise", "pairwise"])
def test_data_nested_too_deep_ends_the_pass_with_a_word(kind, tmp_path):
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    row = {"id": "deep", "input": "q", "output": "a", "question": "q", "response_a": "a", "response_b": "b"}
    report = run_sync(spec_of(by_text({}), rows=[{**row, "more": deep}], kind=kind), tmp_path)
    assert isinstance(report.fault, DataError)
    assert (report.fault.kind, report.judged) == ("too_deep", 0)
    assert "item deep: its data is nested too deep" in str(report.fault)


def test_data_that_raise_in_the_middle_end_the_pass_and_lose_no_call(tmp_path):
    read = asyncio.Event()

    def cursor():
        yield {"id": "a", "output": "x", "note": 10**4000}
        yield {"id": "b", "output": "y"}
        read.set()
        raise OSError("the database is gone")

    async def judge(output):
        await read.wait()
        return True

    report = run_sync(RunSpec(cursor(), {"criteria": "c", "judges": [judge]}, cache=False), tmp_path / "cursor")
    assert "the database is gone" in str(report.fault)
    assert (report.finished, report.totals["n_pass"]) == (False, 2)

    rows = [{"id": "a", "output": "x"}, {"id": "long", "output": "y", "note": 10**5000}]
    report = run_sync(RunSpec(rows, {"criteria": "c", "judges": [lambda output: True]}, cache=False), tmp_path / "long")
    assert "item long: a whole number has more digits" in str(report.fault)
    assert report.totals["n_pass"] == 1


@pytest.mark.parametrize("harm", [None, "old", "torn"])
def test_a_finished_run_makes_nothing_of_rows_that_it_knows(tmp_path, monkeypatch, harm):
    """Also where the index was lost: the first start after that looks at each item, the next one at none."""
    provider = by_text({})
    first = run_sync(spec_of(provider), tmp_path)
    if harm is not None:
        (tmp_path / "index.sqlite").write_bytes(b"x" * 5000 if harm == "torn" else b"")
        assert run_sync(spec_of(provider), tmp_path).skipped == 6
    monkeypatch.setattr("jury.runner.engine.made", lambda *_: pytest.fail("an item was made"))
    again = run_sync(spec_of(provider), tmp_path)
    assert (again.skipped, again.totals, len(provider.requests)) == (6, first.totals, 6)


def test_a_known_row_is_known_by_all_that_it_holds(tmp_path):
    """Row by row what another value, column, place or kind of value does to a run that is finished."""
    rows = [{"id": f"r{i}", "input": "q", "output": f"a{i}", "expected_output": None, "n": 1} for i in range(8)]
    provider = by_text({})
    run_sync(spec_of(provider, rows=rows), tmp_path)
    changes = [
        {"output": "b"},
        {"n": 2},
        {"n": 1.0},
        {"n": True},
        {"new": "x"},
        {"expected_output": "e"},
        {"id": "s"},
        {},
    ]
    changed = [{**row, **change} for row, change in zip(rows, changes, strict=True)]
    second = run_sync(spec_of(provider, rows=changed), tmp_path)
    assert (second.judged, second.skipped) == (7, 1)
    assert [i.row["n"] for i in Run.open(tmp_path).items()][:4] == [1, 2, 1.0, True]
    other = run_sync(spec_of(provider, rows=changed, map={"expected_output": "output"}), tmp_path)
    assert (other.judged, other.skipped) == (8, 0)


def test_data_in_another_order_are_known_all_the_same(tmp_path):
    provider = by_text({"a2": NO})
    first = run_sync(spec_of(provider), tmp_path)
    for rows in (ROWS[::-1], ROWS[3:], [{"id": "new", "input": "x", "output": "y"}, *ROWS]):
        again = run_sync(spec_of(provider, rows=rows), tmp_path)
        assert again.judged == sum(row["id"] == "new" for row in rows)
    assert again.totals["n_pass"] == first.totals["n_pass"] + 1
    assert len(provider.requests) == 7


def test_rows_of_values_that_json_does_not_know_are_known_too(tmp_path):
    rows = [{"id": f"r{i}", "input": "q", "output": f"a{i}", "when": date(2026, 1, i + 1)} for i in range(3)]
    provider = by_text({})
    run_sync(spec_of(provider, rows=rows), tmp_path)
    assert run_sync(spec_of(provider, rows=rows), tmp_path).skipped == 3
    rows[1]["when"] = date(2027, 1, 1)
    again = run_sync(spec_of(provider, rows=rows), tmp_path)
    assert (again.judged, again.skipped) == (1, 2)


def test_failures_of_known_rows_are_asked_again_until_they_are_whole(tmp_path):
    for left in (2, 2, 0):
        provider = by_text({"a1": None, "a4": None} if left else {})
        report = run_sync(spec_of(provider), tmp_path)
        assert report.asked.failed == left
    assert run_sync(spec_of(by_text({})), tmp_path).skipped == 6


def test_results_that_were_lost_are_made_again_without_a_call(tmp_path):
    """What a file of the run lost is asked about again; its judgments are there, and cost nothing."""
    provider = by_text({})
    run_sync(spec_of(provider), tmp_path)
    lines = (tmp_path / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_bytes(b"".join(lines[:3]))
    again = run_sync(spec_of(provider), tmp_path)
    assert (again.judged, again.skipped, again.asked.recalled, again.asked.live) == (3, 3, 3, 0)
    assert len(verdicts(tmp_path)) == 6


def test_a_known_row_takes_few_steps(tmp_path):
    """Function calls for each row that is known, which no load of the machine changes; today 46, once 108."""
    rows = [{"id": f"r{i}", "input": f"q{i}", "output": f"a{i}", "expected_output": "e"} for i in range(600)]
    provider = by_text({})
    asyncio.run(run(spec_of(provider, rows=rows), tmp_path))
    counts: list[int] = []

    def count(frame, event, argument):
        counts[-1] += event in ("call", "c_call")

    for limit in (300, 600):
        counts.append(0)
        gc.collect()
        gc.disable()  # what other tests left to be tidied up is no step of this one
        sys.setprofile(count)
        try:
            again = asyncio.run(run(spec_of(provider, rows=rows, limit=limit), tmp_path))
        finally:
            sys.setprofile(None)
            gc.enable()
        assert again.skipped == limit
    assert counts[1] - counts[0] < 300 * 60
