"""`ReplyFormat`: how a judge is to answer, for seats, keys and functions alike."""

from __future__ import annotations

import asyncio
from typing import Any

from jury.data import DataPoint, Output
from jury.formats import ReplyFormat
from jury.judge import Case, JudgeSpec, Prompt, Seat
from jury.prompts import PromptSpec
from jury.providers.base import Settings
from jury.providers.scripted import ScriptedProvider
from jury.results import Verdict
from jury.scales import Boolean, Labels, reply_schema

LENGTH = ReplyFormat(
    schema={"type": "object", "properties": {"length": {"type": "integer"}}},
    read=lambda text, data: Verdict("scored", float(len(text or "")), parts={"x": Verdict("scored", 1.0)}),
    result=lambda value: (Verdict("scored", float(value)), None),
    notes=("asked for the length",),
    criterion="length",
)


def seat(how: Any, **spec: Any) -> Seat:
    prompt = Prompt(PromptSpec("p", "{{output.response}}"))
    return Seat(JudgeSpec(**spec), "a", prompt, Settings(), how, "pointwise")


def case(format: ReplyFormat | None = None) -> Case:
    made = Case.of_output(DataPoint("q"), Output("answer"), "", {}, frozenset({"output.response"}))
    made.format = format
    return made


def test_the_format_of_a_scale_reads_as_the_scale_does() -> None:
    how = ReplyFormat.of(Labels(["PASS", "FAIL", "NA"], na="NA"))

    assert how.schema == reply_schema(Labels(["PASS", "FAIL", "NA"], na="NA"))
    assert how.read('{"value": "na"}', None).status == "not_applicable"
    assert how.read(None, {"value": "pass"}).value == "PASS"
    assert how.result(("FAIL", "why"))[0].explanation == "why"
    assert how.na == "NA"


def test_a_seat_asks_and_reads_in_its_format() -> None:
    provider = ScriptedProvider(["four"])
    judgment = asyncio.run(seat(LENGTH, model="scripted/a", provider=provider).ask(case()))

    assert provider.requests[0].schema == LENGTH.schema
    assert judgment.verdict.value == 4.0
    assert judgment.verdict.parts["x"].value == 1.0
    assert (judgment.notes, judgment.criterion) == (("asked for the length",), "length")


def test_a_case_may_bring_another_format_and_has_another_key() -> None:
    provider = ScriptedProvider(["four", '{"value": true}'])
    asked = seat(Boolean(), model="scripted/a", provider=provider)

    assert asyncio.run(asked.ask(case(LENGTH))).verdict.value == 4.0
    assert asyncio.run(asked.ask(case())).verdict.value is True
    assert asked.question(case(LENGTH)).key != asked.question(case()).key
    assert asked.question(case(LENGTH)).key == asked.question(case(LENGTH)).key


def test_a_function_answers_in_the_format_too() -> None:
    judgment = asyncio.run(seat(LENGTH, function=lambda output: len(output)).ask(case()))

    assert judgment.verdict.value == 6.0
    assert judgment.criterion == "length"
