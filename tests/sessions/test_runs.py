"""Runs of sessions: a YAML file into a folder, resumed where something changed, replayed from the stored replies."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jury import ConfigError, DataError, ScriptedProvider, code_check, load_session, session_jury
from jury.judge import JudgeSpec
from jury.runner import Halt, RunSpec, estimate, replay, run_sync
from jury.runner.recordings import recordings
from jury.store import Run

RULES = "1. Never name another reader."


def session(name: str, answer: str, turns: int = 1) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for n in range(turns):
        messages += [{"role": "user", "content": f"Who has book {n}?"}, {"role": "assistant", "content": answer}]
    return {"id": name, "messages": messages}


def write(folder: Path, *sessions: dict[str, Any]) -> None:
    for one in sessions:
        (folder / f"{one['id']}.jsonl").write_text("".join(json.dumps(m) + "\n" for m in one["messages"]))


def reply(request: Any) -> Any:
    """A FAIL for whoever names a reader; asked about several criteria, the same for each."""

    def one(properties: dict[str, Any]) -> dict[str, Any]:
        fields = {name: [] for name in properties if name not in ("verdict", "quote")}
        quote = {"quote": "Stein"} if "quote" in properties else {}
        named = "Stein" in request.prompt
        return {**fields, **quote, "evidence": ["event 2"], "verdict": "FAIL" if named else "PASS"}

    properties = request.schema["properties"]
    if "verdict" in properties:
        return one(properties)
    return {key: one(part["properties"]) for key, part in properties.items()}


def judges(*names: str) -> list[JudgeSpec]:
    return [JudgeSpec(f"scripted/{n}", provider=ScriptedProvider(reply)) for n in names]


def asked(seats: list[JudgeSpec]) -> int:
    return sum(len(seat.provider.requests) for seat in seats if isinstance(seat.provider, ScriptedProvider))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, session("a", "It is lent out."), session("b", "R. Stein has it."), session("c", "On the shelf."))
    (tmp_path / "rules.md").write_text(RULES)
    (tmp_path / "examples.jsonl").write_text(
        json.dumps({"session": "a.jsonl", "verdict": "PASS", "why": "names nobody", "criterion": "policy"}) + "\n"
    )
    return tmp_path


def config(folder: Path, seats: list[JudgeSpec], **more: Any) -> RunSpec:
    words = {
        "kind": "session",
        "data": "?.jsonl",
        "criteria": "policy, tone",
        "context": {"policy": "rules.md", "tone": "Be kind."},
        "judges": seats,
        "cache": False,
    }
    return RunSpec.from_mapping({**words, **more}, folder)


@pytest.mark.parametrize("ask", ["each", "together"])
def test_a_run_of_files_is_kept_resumed_and_replayed(folder: Path, ask: str) -> None:
    seats = judges("x", "y")
    report = run_sync(config(folder, seats, ask=ask), folder / "run")
    calls = asked(seats)

    assert (report.kind, calls) == ("session", 12 if ask == "each" else 6)
    assert (report.totals["n_pass"], report.totals["n_fail"]) == (2, 1)
    stored = Run.open(folder / "run")
    assert [(item.id, r.value) for item, r in stored.results()] == [("a", "PASS"), ("b", "FAIL"), ("c", "PASS")]
    assert stored.manifest.spec["criteria"]["policy"]["context"] == RULES

    again = run_sync(config(folder, seats, ask=ask), folder / "run")
    assert (again.skipped, asked(seats), again.changes) == (3, calls, ())
    found = replay(folder / "run")
    assert found.same, found
    assert (found.items, found.judgments) == (3, calls)


def test_what_changed_is_said_and_asked_and_nothing_else(folder: Path) -> None:
    seats = judges("x")
    run_sync(config(folder, seats), folder / "run")
    write(folder, session("d", "I do not know."))
    more = run_sync(config(folder, seats), folder / "run")
    assert (more.skipped, more.judged, asked(seats)) == (3, 1, 8)

    (folder / "rules.md").write_text("1. Name nobody.")
    other = run_sync(config(folder, seats), folder / "run")
    assert other.changes == ("context of policy changed",)
    assert (other.judged, asked(seats)) == (4, 12)  # the tone was asked about before

    checked = config(folder, seats).make_jury()
    checked.checks = (code_check("short", lambda s: len(s.events) < 3),)
    last = run_sync(RunSpec(str(folder / "?.jsonl"), checked, cache=False), folder / "run")
    assert (last.judged, asked(seats), last.changes) == (4, 12, ("criterion short is new",))
    assert [c.key for c in next(iter(Run.open(folder / "run").results()))[1].criteria] == ["policy", "tone", "short"]


def test_a_run_that_was_stopped_goes_on(folder: Path) -> None:
    seats = judges("x")
    halt = Halt()
    first = run_sync(config(folder, seats, concurrency=1), folder / "run", halt=halt, on_result=lambda *_: halt.set())
    done = asked(seats)
    assert first.halted
    assert not first.finished
    assert 0 < first.judged < 3
    second = run_sync(config(folder, seats), folder / "run")
    assert (second.skipped, second.judged, second.finished) == (first.judged, 3 - first.judged, True)
    assert (done, asked(seats)) == (2 * first.judged, 6)


def test_a_judge_that_failed_is_asked_again_and_the_others_are_not(folder: Path) -> None:
    seats = judges("x")
    broken = JudgeSpec("scripted/y", provider=ScriptedProvider(lambda request: "no JSON"), settings={"reask": 0})
    first = run_sync(config(folder, [*seats, broken], min_successful_judges=1), folder / "run")
    assert first.totals["failures"] == {"scripted/y: no_json": 3}
    mended = JudgeSpec("scripted/y", provider=ScriptedProvider(reply), settings={"reask": 0})
    second = run_sync(config(folder, [*seats, mended], min_successful_judges=1), folder / "run")
    assert (second.judged, second.totals["failures"]) == (3, {})
    assert (asked(seats), asked([mended])) == (6, 6)


def test_a_reply_that_says_something_else_is_found(folder: Path) -> None:
    run_sync(config(folder, judges("x")), folder / "run")
    log = folder / "run/judgments.jsonl"
    lines = log.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if '"item":"c"' in line.replace(" ", "") and "violations" in line)
    log.write_text("\n".join([*lines[:at], lines[at].replace("PASS", "FAIL"), *lines[at + 1 :]]) + "\n")

    found = replay(folder / "run")
    assert {(d.item, d.what) for d in found.differences} == {("c", "judgment of scripted/x")}
    assert found.damage


def test_a_result_that_its_votes_do_not_give_is_found(folder: Path) -> None:
    run_sync(config(folder, judges("x")), folder / "run")
    results = folder / "run/results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    one = next(line for line in lines if line["item"] == "a")
    one["result"]["criteria"][1] |= {"value": "FAIL", "pass": False}
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))

    (found,) = replay(folder / "run").differences
    assert (found.item, found.what, found.stored, found.replayed) == ("a", "verdict on tone", "FAIL", "PASS")


@pytest.mark.parametrize("long", ["fit", "windows"])
@pytest.mark.parametrize("ask", ["each", "together"])
def test_long_sessions_are_replayed_part_by_part(tmp_path: Path, long: str, ask: str) -> None:
    write(tmp_path, session("a", "It is lent out, I am afraid. " * 6, turns=6), session("b", "Stein. " * 20, turns=6))
    how = {"criteria": ["policy", "tone", "task-completion"], "context": "x", "long": long, "ask": ask}
    report = run_sync(config(tmp_path, judges("x"), **how, session_tokens=400, repetitions=2), tmp_path / "run")

    first = next(iter(Run.open(tmp_path / "run").results()))[1]
    assert any("part 1 of" in note if long == "windows" else "left out" in note for note in first.notes)
    partial = {c.key: c.partial for c in first.criteria}
    assert partial == dict.fromkeys(("policy", "tone"), long == "fit") | {"task_completion": False}
    assert report.totals["n_fail"] == 1
    found = replay(tmp_path / "run")
    assert found.same, found


def test_checks_alone_need_no_judge(folder: Path) -> None:
    jury = session_jury(checks=[code_check("answered", lambda s: bool(s.final_message))])
    report = run_sync(RunSpec(str(folder / "?.jsonl"), jury), folder / "run")
    assert (report.totals["n_pass"], report.totals["calls"]) == (3, 0)
    assert replay(folder / "run").same


def test_checks_of_a_run_file(folder: Path) -> None:
    functions = {"own.py:short": lambda s: len(s.events) < 3, "own.py:words": lambda s: len(s.final_message.split())}
    checks = ["own.py:short", {"function": "own.py:words", "name": "length", "fact": True}]
    seats = judges("x")
    spec = config(folder, seats, criteria="policy", context="x", checks=checks)
    run_sync(spec, folder / "run", load=functions.__getitem__)
    first = next(iter(Run.open(folder / "run").results()))[1]
    assert [(c.key, c.value) for c in first.criteria] == [("policy", "PASS"), ("short", "PASS"), ("length", 4.0)]
    assert "whatever the session says: length: 4" in seats[0].provider.requests[0].prompt  # type: ignore[union-attr]
    assert replay(folder / "run").same


def test_examples_of_a_file_stand_in_the_prompt(folder: Path) -> None:
    seats = judges("x")
    run_sync(config(folder, seats, examples="examples.jsonl", limit=1), folder / "run")
    prompts = [r.prompt for seat in seats for r in seat.provider.requests]  # type: ignore[union-attr]
    assert [("names nobody" in p, "It is lent out." in p) for p in prompts] == [(True, True), (False, True)]


def test_an_estimate_counts_every_question(folder: Path) -> None:
    spec = config(folder, judges("x", "y"), repetitions=2)
    assert estimate(spec, folder / "run").calls == 3 * 2 * 2 * 2
    run_sync(spec, folder / "run")
    assert (estimate(spec, folder / "run").calls, estimate(spec, folder / "run").known) == (0, 24)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"context": "rules.txt"}, "no file"),
        ({"context": {"policy": "rules.md"}}, "tone needs a context"),
        ({"criteria": "polcy", "context": "x"}, "policy"),
        ({"criteria": {"policy": 1}}, "names of session prompts"),
        ({"checks": ["answered"]}, "module:function"),
        ({"checks": [{"function": "a:b", "fakt": True}]}, "fact: true"),
        ({"map": {"input": "q"}}, "unknown key 'map'"),
        ({"session_tokens": 0}, "session_tokens"),
        ({"ask": "all"}, "ask is"),
    ],
)
def test_wrong_words_are_named_before_any_call(folder: Path, words: dict[str, Any], says: str) -> None:
    seats = judges("x")
    with pytest.raises(ConfigError, match=says):
        run_sync(config(folder, seats, **words), folder / "run")
    assert asked(seats) == 0


def test_a_run_of_answers_knows_no_session_words() -> None:
    with pytest.raises(ConfigError, match="unknown key 'context'"):
        RunSpec.from_mapping({"criteria": "x", "context": "y"})


def test_sessions_that_bring_their_context(folder: Path) -> None:
    seats = judges("x")
    rows = [{"session": "a.jsonl", "context": "rules.md"}, {"session": "b.jsonl", "context": "2. Be brief.", "id": "B"}]
    report = run_sync(config(folder, seats, data=rows, criteria="policy", context=None), folder / "run")
    assert report.totals["n_fail"] == 1
    prompts = sorted((r.prompt for s in seats for r in s.provider.requests), key=lambda p: "Stein" in p)  # type: ignore[union-attr]
    assert [(RULES in p, "2. Be brief." in p) for p in prompts] == [(True, False), (False, True)]
    assert [(item.id, item.context) for item in Run.open(folder / "run").items()] == [
        ("a", RULES),
        ("B", "2. Be brief."),
    ]


def test_a_session_that_lacks_its_context_is_named(folder: Path) -> None:
    rows = [{"session": "a.jsonl", "context": "rules.md"}, "b.jsonl"]
    with pytest.raises(ConfigError, match=r"^b: policy needs a context"):
        run_sync(config(folder, judges("x"), data=rows, criteria="policy", context=None), folder / "run")


def test_what_is_in_flight_is_finished_when_a_session_lacks_its_context(folder: Path) -> None:
    async def slow(output: str) -> str:
        await asyncio.sleep(0.05)
        return "PASS"

    rows = [{"session": "a.jsonl", "context": "rules.md"}, "b.jsonl"]
    spec = config(folder, [JudgeSpec(function=slow, id="slow")], data=rows, criteria="policy", context=None)
    with pytest.raises(ConfigError, match=r"^b: policy needs a context"):
        run_sync(spec, folder / "run")
    assert [(item.id, result.value) for item, result in Run.open(folder / "run").results()] == [("a", "PASS")]


def test_a_broken_line_ends_the_run_with_its_place(folder: Path) -> None:
    (folder / "d.jsonl").write_text('{"role": "user", "content": "x"}\n{"role": "assistant", "content":\n')
    seats = judges("x")
    report = run_sync(config(folder, seats), folder / "run")
    assert report.fault is not None
    assert "d.jsonl, line 2" in str(report.fault)
    assert (report.judged, report.finished) == (3, False)


def test_where_sessions_come_from(folder: Path) -> None:
    names = [r.id for r in recordings(str(folder / "?.jsonl"))]
    assert names == ["a", "b", "c"]
    assert [r.id for r in recordings([folder / "a.jsonl", str(folder / "[bc].jsonl")])] == names
    (folder / "deep").mkdir()
    write(folder / "deep", session("a", "x"))
    (folder / "deep/notes.txt").write_text("none")
    assert [r.id for r in recordings([str(folder / "deep"), folder / "a.jsonl"])] == ["a", "a#2"]
    for nothing in ("none*.jsonl", "no.jsonl"):
        with pytest.raises(DataError, match=nothing.replace("*", r"\*")):
            list(recordings(str(folder / nothing)))
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match="holds no file"):
        list(recordings(str(folder / "empty")))
    with pytest.raises(ConfigError, match="list of sessions, got int"):
        list(recordings(3))


def test_messages_alone_are_one_session(folder: Path) -> None:
    chat = session("x", "y")["messages"]
    assert [len(r.session.events) for r in recordings(chat)] == [2]
    assert [len(r.session.events) for r in recordings([chat, chat])] == [2, 2]
    assert [r.id for r in recordings([session("x", "y"), session("z", "y")])] == ["x", "z"]


def test_sessions_of_one_id_are_called_by_their_files(tmp_path: Path) -> None:
    for n in (1, 2):
        (tmp_path / f"f{n}.jsonl").write_text(json.dumps(session("same", f"x{n}")) + "\n")
    assert [r.id for r in recordings(str(tmp_path / "f*.jsonl"))] == ["same", "f2"]
    two = load_session([{"role": "user", "content": "q"}])
    assert [r.id for r in recordings([two, two])] == ["session-1", "session-2"]
