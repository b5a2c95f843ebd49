"""Rows -> what a jury takes: `to_item` (a point and its output) and `to_pair`. All columns stay in `row.*`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from jury.data import DataPoint, Output, ResponsePair, TargetError
from jury.datasets.columns import Fields, fields_of, find, need
from jury.datasets.row import Row, id_text, json_text
from jury.errors import DataError
from jury.messages import question_text, to_output


def to_item(row: Row) -> tuple[DataPoint, Output]:
    """A row as an item.

    The fields and the names they are looked for under are in `columns.FIELDS`. A chat without an output column whose
    last messages are the assistant's is split there. A row with an `error` is an errored target and needs no output.
    Raises `DataError` of kind `missing_column` or `ambiguous_column`.
    """
    fields = fields_of(row)
    question = fields.get("input")
    has_output = "output" in fields
    error = to_error(fields.get("error"))
    if has_output:
        answer: Any = fields.get("output")
    elif split := _split_chat(question):
        question, answer = split
    else:
        answer = None if error else need(row, "output")
    return _point(row, fields, question), _output(row, answer, error, fields.get("model"))


def to_question(row: Row) -> DataPoint:
    """A row as what a target is asked; an output that it holds is left where it is, among the columns.

    A chat that ends with the assistant is cut after the last user message. Raises `DataError` of kind `missing_column`
    where the row has no input.
    """
    question = need(row, "input")
    split = _split_chat(question)
    return _point(row, fields_of(row), split[0] if split else question)


def _point(row: Row, fields: Fields, question: Any) -> DataPoint:
    return DataPoint(
        input=question,
        expected_output=fields.get("expected_output"),
        system_instructions=_text(fields.get("system_instructions")),
        id=_id(row, fields.get("id")),
        row=row.values,
        context=_context(fields.get("context")),
        number=row.number - 1,
        trace_id=id_text(fields.get("trace_id")),
    )


def to_pair(row: Row, made: Collection[str] = ()) -> ResponsePair:
    """A row as two answers to one question.

    `made`: the sides (`a`, `b`) that targets are going to make: blank as yet, whatever the row has there; the question
    is then needed, and cut as `to_question` does. Raises `DataError` of kind `missing_column` or `ambiguous_column`.
    """
    fields = fields_of(row)
    asked = need(row, "input") if made else fields.get("input")
    split = _split_chat(asked) if made else None
    return ResponsePair(
        question=question_text(split[0] if split else asked),
        response_a=Output() if "a" in made else _side(row, fields, "a"),
        response_b=Output() if "b" in made else _side(row, fields, "b"),
        reference=_text(fields.get("expected_output")),
        id=_id(row, fields.get("id")),
        row=row.values,
        number=row.number - 1,
        trace_id=id_text(fields.get("trace_id")),
    )


def item_id(row: Row) -> str:
    """The row's id, or `#7` for the seventh row where it has none."""
    found = find(row, "id")
    return _id(row, found.value if found else None)


def to_error(value: Any) -> TargetError | None:
    """What an error column says: nothing, False, 0 and blank texts are no error."""
    if not value or (isinstance(value, str) and not value.strip()):
        return None
    if value is True:
        return TargetError()
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        message = given.get("message") or given.get("detail") or given.get("error") or given
        kind, code = given.get("type") or given.get("kind"), given.get("code") or given.get("status")
        return TargetError(_text(message), _text(kind) or None, code if isinstance(code, str | int) else None)
    return TargetError(_text(value))


def _id(row: Row, value: Any) -> str:
    return id_text(value) or f"#{row.number}"


def _side(row: Row, fields: Fields, side: str) -> Output:
    error = to_error(fields.get(f"error_{side}"))
    name = f"response_{side}"
    answer = None if error and name not in fields else need(row, name)
    return _output(row, answer, error, fields.get(f"model_{side}"))


def _output(row: Row, answer: Any, error: TargetError | None, model: Any) -> Output:
    try:
        made = to_output(answer)
    except DataError as fault:  # it names the place inside the value; here the row is known
        raise DataError(f"{row.place}: {fault}", fault.kind, file=row.file, line=row.line) from None
    if error is None and model is None:
        return made
    return replace(made, error=error or made.error, model=_text(model) or made.model)


def _split_chat(messages: Any) -> tuple[list[Any], list[Any]] | None:
    """A chat that ends with the assistant, as (what was asked, what the assistant did since the last user message)."""
    if not isinstance(messages, list) or not messages:
        return None
    turns = cast("list[Any]", messages)
    roles = [cast("Mapping[str, Any]", t).get("role") if isinstance(t, Mapping) else None for t in turns]
    if roles[-1] not in ("assistant", "tool") or "user" not in roles:
        return None
    cut = len(roles) - roles[::-1].index("user")
    return turns[:cut], turns[cut:]


def _context(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, list):
        return "\n\n".join(_text(part) for part in cast("list[Any]", value))
    return _text(value)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json_text(value, indent=2)
