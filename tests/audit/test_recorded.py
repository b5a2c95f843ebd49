"""Runs of sessions asked again: from what the folder shows of them, or from their files as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jury import ConfigError, DataError, JudgeSpec, ScriptedProvider, session_jury
from jury.audit import Again, ask_again_sync, audited, jury_of, quote_again, stability
from jury.cli.__main__ import main
from jury.runner import RunSpec, replay, run_sync
from jury.store import Run
from jury.store.shown import SHOWN

RULES = "1. Never name another reader."
LONG = [{"role": r, "content": f"{n}. " + "said " * 80} for n in range(30) for r in ("user", "assistant")]


def reply(request: Any) -> Any:
    """PASS, and of whoever says "perhaps" a FAIL in every second repetition; of several criteria the same for each."""
    word = "FAIL" if "perhaps" in request.prompt and request.repetition % 2 else "PASS"

    def one(properties: dict[str, Any]) -> dict[str, Any]:
        fields = {name: [] for name in properties if name not in ("verdict", "quote")}
        return {**fields, **({"quote": ""} if "quote" in properties else {}), "evidence": ["event 2"], "verdict": word}

    properties = request.schema["properties"]
    return (
        one(properties) if "verdict" in properties else {k: one(part["properties"]) for k, part in properties.items()}
    )


def judges(*names: str) -> list[JudgeSpec]:
    return [
        JudgeSpec(f"openai/{n}", provider=ScriptedProvider(reply, name="openai"), settings={"temperature": 0.3})
        for n in names
    ]


def talk(answer: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "Who has it?"}, {"role": "assistant", "content": answer}]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, answer in (("a", "On the shelf."), ("b", "It is perhaps lent out."), ("c", "Shelf 3.")):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(m) + "\n" for m in talk(answer)))
    (tmp_path / "rules.md").write_text(RULES)
    return tmp_path


def polite(case: Any) -> str:
    return "PASS" if "shelf" in case.output.casefold() else "FAIL"


def recorded(data: Path, seats: list[Any], **more: Any) -> Run:
    words = {
        "kind": "session", "data": "?.jsonl", "criteria": "policy, tone", "judges": seats, "cache": False,
        "context": {"policy": "rules.md", "tone": "Be kind."},
    }  # fmt: skip
    run_sync(RunSpec.from_mapping({**words, **more}, data), data / "run", load=lambda name: polite)
    return Run.open(data / "run")


@pytest.mark.parametrize(("ask", "calls"), [("each", 2), ("together", 1)])
def test_sessions_are_asked_again_from_the_folder_alone(data: Path, ask: str, calls: int) -> None:
    run = recorded(data, judges("x", "y"), ask=ask)
    before = list(run.results())
    for file in data.glob("?.jsonl"):
        file.unlink()
    seats = judges("x", "y")
    jury = jury_of(run)
    plan = Again(items=3, repetitions=3)
    assert (quote_again(run, plan).known, quote_again(run, plan).calls) == (6 * calls, 12 * calls)
    for panel in jury.panels:
        for seat, given in zip(panel.seats, seats, strict=True):
            seat.route(lambda _, given=given: given.provider)
    found = ask_again_sync(run, plan, jury=jury)
    assert (found.asked.live, found.asked.recalled) == (12 * calls, 6 * calls)
    again = Run.open(data / "run")
    assert list(again.results()) == before
    assert replay(data / "run").same
    told = stability(audited(again))
    assert told.repetitions == 3
    assert [j.retest.usable for j in told.judges] == [6, 6]  # three sessions, two criteria
    assert [j.retest.flipped for j in told.judges] == [2, 2]
    assert [item for item, _ in told.unstable] == ["b"]


def test_parts_of_a_long_session_are_questions_of_their_own(data: Path) -> None:
    jury = session_jury("policy", judges=judges("x"), context=RULES, long="windows", session_tokens=1500)
    run_sync(RunSpec([{"session": LONG, "id": "long"}], jury, cache=False), data / "run")
    run = Run.open(data / "run")
    parts = sum(1 for _ in run.judgments())
    assert parts > 1
    found = ask_again_sync(run, Again(items=1, repetitions=2), jury=jury)
    assert (found.asked.live, found.asked.recalled) == (parts, parts)
    assert stability(audited(run)).judges[0].retest.usable == parts
    assert replay(data / "run").same


def test_functions_get_the_session_from_its_file(data: Path) -> None:
    run = recorded(data, ["judges.py:polite"], criteria="tone", context="Be kind.")
    found = ask_again_sync(run, Again(items=3, repetitions=2), load=lambda name: polite)
    assert (found.asked.live, found.asked.recalled) == (3, 3)
    (data / "a.jsonl").write_text(json.dumps({"role": "user", "content": "Something else"}) + "\n")
    with pytest.raises(DataError, match=r"a\.jsonl was changed since session a was judged"):
        quote_again(run, Again(items=3), load=lambda name: polite)
    (data / "a.jsonl").unlink()
    with pytest.raises(DataError, match=r"read again: .*a\.jsonl"):
        quote_again(run, Again(items=3), load=lambda name: polite)


def test_folders_that_hold_no_texts_read_the_files(data: Path) -> None:
    run = recorded(data, judges("x"))
    (data / "run" / SHOWN).unlink()
    assert (quote_again(run, Again(items=3, repetitions=2)).known, quote_again(run, Again(items=3)).known) == (6, 6)


def test_sessions_in_memory_that_nobody_kept_are_told(data: Path) -> None:
    jury = session_jury("tone", judges=[lambda case: "PASS"], context="Be kind.")
    run_sync(RunSpec([{"session": talk("Hello."), "id": "s"}], jury), data / "run")
    with pytest.raises(ConfigError, match="session s was not read from a file"):
        quote_again(Run.open(data / "run"), Again(items=1), jury=jury)


def test_another_prompt_is_another_question(data: Path) -> None:
    run = recorded(data, judges("x"), criteria="tone", context="Be kind.")
    other = session_jury("policy", judges=judges("x"), context=RULES)
    with pytest.raises(ConfigError, match="is not what it was asked"):
        quote_again(run, Again(items=3), jury=other)


def test_the_command_line_asks_sessions_again(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(data, judges("x"))
    with pytest.raises(SystemExit) as ended:
        main(["stability", str(data / "run"), "--ask", "3", "--estimate", "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 12
