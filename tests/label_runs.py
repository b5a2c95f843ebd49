"""Runs to label, made without asking anybody; and a person who answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jury import Criterion, Rubric
from jury.label import Desk, Plan
from jury.results import CriterionResult, PanelResult, Verdict, Vote
from jury.scales import Labels, Numeric
from jury.store import Run, RunManifest, RunWriter, StoredItem, StoredResult, scale_to_dict
from tests.audit.runs import pairwise as pairs
from tests.audit.runs import pointwise as points

SECRET = "PANEL-REASON"
RUBRIC = Rubric(
    [
        Criterion("right", "Is it true?", scale="1-5", anchors={1: "wrong", 5: "all of it"}),
        Criterion("tone", "Is it polite?", scale="0/1", gate=1),
        Criterion("source", "Does it name the source?", scale="0/1", na=True),
    ],
    pass_rule="right >= 4",
    na="skip",
)


def boolean(folder: Path, count: int = 12, **more: Any) -> Run:
    """Three judges; they disagree on every third item. One item was not judged, since the target failed."""
    votes = [{"x": True, "y": i % 3 > 0, "z": i % 2 == 0} for i in range(count)]
    items = [
        {"input": f"question {i}", "output": f"answer {i}", "row": {"model": "secret-model"}} for i in range(count)
    ]
    run = points(folder, votes, items=items, **more)
    with RunWriter(folder) as writer:
        writer.add_item(StoredItem("failed", count, "d", input="q", error="timeout"))
        writer.add_result(StoredResult("failed", count, PanelResult("not_judged", error="timeout", item_id="failed")))
    return run


def labels(folder: Path) -> Run:
    scale = Labels(["good", "poor", "NA"], passing=["good"], na="NA", descriptions={"good": "as it should be"})
    return points(folder, [{"x": "good"}, {"x": "poor"}, {"x": "good"}], scale=scale)


def numeric(folder: Path, threshold: float | None = None) -> Run:
    scores = [{"x": i / 10, "y": i / 12} for i in range(10)]
    return points(folder, scores, scale=Numeric(0, 1, threshold))


def pairwise(folder: Path, count: int = 16) -> Run:
    votes = [{"x": ("A", "A"), "y": ("A", "B") if i % 2 else ("A", "A")} for i in range(count)]
    items = [
        {"question": f"q{i}", "response_a": f"left {i}", "response_b": f"right {i}", "row": {"model_a": "secret"}}
        for i in range(count)
    ]
    return pairs(folder, votes, items=items)


def rubric(folder: Path, count: int = 6) -> Run:
    seats = tuple({"id": j, "model": j, "family": j, "prompt": "p1", "weight": 1.0} for j in ("x", "y"))
    manifest = RunManifest(
        "rubric", "rubric", scale={"type": "boolean"}, judges=seats, spec={"rubric": RUBRIC.to_dict()}, finished=True
    )
    with RunWriter(folder) as writer:
        writer.save(manifest)
        for i in range(count):
            writer.add_item(StoredItem(f"r{i}", i, f"d{i}", input="q", output=f"answer {i}"))
            writer.add_result(StoredResult(f"r{i}", i, _rated(f"r{i}", 4.0 + i % 2)))
    return Run.open(folder)


def _rated(item: str, right: float) -> PanelResult:
    values: dict[str, Any] = {"right": right, "tone": True, "source": None}

    def result(key: str, value: Any) -> CriterionResult:
        status: Any = "not_applicable" if value is None else "decided"
        said = Verdict("not_applicable" if value is None else "scored", value)
        votes = tuple(Vote(j, said) for j in ("x", "y"))
        return CriterionResult(key, status, "NA" if value is None else value, votes=votes)

    criteria = tuple(result(key, value) for key, value in values.items())
    votes = tuple(Vote(j, Verdict("scored", True, SECRET)) for j in ("x", "y"))
    return PanelResult("decided", value=True, passed=True, votes=votes, item_id=item, criteria=criteria, seats=2)


def session(folder: Path, criteria: Sequence[str] = ("policy", "task")) -> Run:
    call = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"amount": 9}'}}
    messages = (
        {"role": "user", "content": "Refund me"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": [{"type": "text", "text": "It is done."}]},
    )
    scale = scale_to_dict(Labels(["PASS", "FAIL", "NA"], passing=["PASS"], na="NA"))
    spec = {"criteria": {key: {"prompt": f"p-{key}"} for key in criteria}}
    prompts = {f"p-{key}": {"name": key, "system": "", "user": f"Judge by {key}."} for key in criteria}
    with RunWriter(folder) as writer:
        writer.save(RunManifest("session", "sessions", scale=scale, spec=spec, prompts=prompts, finished=True))
        writer.add_item(StoredItem("s1", 0, "d", input="Refund me", messages=messages, output="It is done."))
        made = PanelResult("decided", value="PASS", passed=True, votes=(Vote("x", Verdict("scored", "PASS")),))
        writer.add_result(StoredResult("s1", 0, made))
    return Run.open(folder)


def desk(run: Run, who: str = "ann", **plan: Any) -> Desk:
    return Desk(run, Plan(who, **plan))


def answer(made: Desk, *choices: int | None) -> dict[str, Any]:
    """Labels the next item: the number of a choice for each question, None for NA."""
    keys = [q.key for q in made.asked.questions]
    said = [{"na": True} if c is None else {"choice": c} for c in choices]
    return made.save(made.next()["item"]["place"], dict(zip(keys, said, strict=True)))


def shown(made: Desk) -> dict[str, Any]:
    return made.next()["item"]
