"""The two tables of template names, filled by one builder; the fence; what is left unbuilt."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury import namespace
from jury.data import DataPoint, Message, Output, Reasoning, ResponsePair, TargetError, Text, ToolCall
from jury.errors import ConfigError, DataError
from jury.names import BARE, Known
from jury.namespace import known, pairwise, pointwise
from jury.templates import Template, check

# The documented tables.
SHARED = (
    ("input", ("all_messages", "expected_output", "system_instructions")),
    ("output", ("response", "tools_called", "messages", "error")),
    ("log", ("input", "output", "reference", "expected_output", "messages")),
)
PATHS = [f"{family}.{leaf}" for family, leaves in SHARED for leaf in leaves]
POINTWISE = [*PATHS, "criteria"]
PAIRWISE = ["question", "criteria", *(f"{side}.{path}" for side in ("response_a", "response_b") for path in PATHS)]

ITEMS = [Reasoning("hm"), ToolCall("look", '{"q": 1}', "found", "k1"), Text("It is "), Text("four.")]
POINT = DataPoint(
    input=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}],
    expected_output={"sum": 4},
    system_instructions="Judge well.",
    context="A table of sums.",
    row={"source": "book", "page": 3},
)
OUTPUT = Output(items=ITEMS)
PAIR = ResponsePair("2+2?", Output("4"), OUTPUT, reference="four", row={"source": "book"})


def at(values: Any, path: str) -> Any:
    for key in path.split("."):
        values = values[key]
    return values


def test_the_pointwise_table() -> None:
    values = pointwise(POINT, OUTPUT, criteria="Is it right?")
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    expected = {
        "input.all_messages": messages,
        "input.expected_output": '{\n  "sum": 4\n}',
        "input.system_instructions": "Judge well.",
        "output.response": "It is four.",
        "output.tools_called": [{"name": "look", "arguments": {"q": 1}, "result": "found", "id": "k1"}],
        "output.messages": [
            {"role": "assistant", "content": "hm", "type": "reasoning"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "k1", "type": "function", "function": {"name": "look", "arguments": {"q": 1}}},
                ],
                "result": "found",
            },
            {"role": "assistant", "content": "It is "},
            {"role": "assistant", "content": "four."},
        ],
        "output.error": "",
        "log.input": "2+2?",
        "log.output": "It is four.",
        "log.reference": '{\n  "sum": 4\n}',
        "log.expected_output": '{\n  "sum": 4\n}',
        "log.messages": messages,
        "criteria": "Is it right?",
    }
    assert {path: at(values, path) for path in POINTWISE} == expected
    assert values["context"] == "A table of sums."
    assert values["row"] == {"source": "book", "page": 3}
    assert set(values) == {"input", "output", "log", "criteria", "context", "row", "fence"}


def test_the_pairwise_table_is_the_same_over_an_empty_item() -> None:
    values = pairwise(PAIR, criteria="Which?")
    assert set(values) == {"question", "criteria", "reference", "response_a", "response_b", "row", "fence"}
    assert (values["question"], values["criteria"], values["reference"]) == ("2+2?", "Which?", "four")
    for side, output in (("response_a", PAIR.response_a), ("response_b", PAIR.response_b)):
        alone = pointwise(DataPoint(input=[]), output, criteria="")
        assert values[side] == {family: alone[family] for family, _ in SHARED}
    assert values["response_b"]["input"] == {"all_messages": [], "expected_output": "", "system_instructions": ""}


def test_names_that_an_item_lacks_are_not_there() -> None:
    values = pointwise(DataPoint(input="q"), Output("a"), criteria="c")
    assert set(values) == {"input", "output", "log", "criteria", "fence"}
    assert "row" not in pairwise(ResponsePair("q", Output("a"), Output("b")), criteria="c")


def test_added_names() -> None:
    extra = {"policy": "p", "context": "mine", "user.name": "n"}
    values = pointwise(POINT, OUTPUT, criteria="c", extra=extra)
    assert (values["policy"], values["context"]) == ("p", "mine")
    assert Template("{{user.name}}").render(values) == "n"
    assert pairwise(PAIR, criteria="c", extra=extra)["context"] == "mine"
    assert "policy" not in pointwise(POINT, OUTPUT, criteria="c", extra=extra, wanted=frozenset({"criteria"}))


@pytest.mark.parametrize("error", [TargetError("boom", "timeout"), TargetError("")])
def test_the_error_of_a_target_is_its_message(error: TargetError) -> None:
    values = pointwise(POINT, Output("half", error=error), criteria="c")
    assert (values["output"]["error"], values["output"]["response"]) == (error.message, "half")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": [1]}', {"a": [1]}),
        (' {"a": 1} ', {"a": 1}),
        ("[1, 2]", "[1, 2]"),
        ("", ""),
        ("not json", "not json"),
        ('{"a": ', '{"a": '),
        ('{"a":' * 100_000, '{"a":' * 100_000),
        (None, None),
        ([1], [1]),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_arguments_given_as_a_text(arguments: Any, shown: Any) -> None:
    values = pointwise(POINT, Output(tool_calls=[ToolCall("f", arguments)]), criteria="c")
    assert values["output"]["tools_called"][0]["arguments"] == shown
    assert values["output"]["messages"][0]["tool_calls"][0]["function"]["arguments"] == shown


def test_objects_in_rows_and_calls_are_their_data() -> None:
    """Printed as JSON they are data; so paths reach into them and sections walk them."""
    point = DataPoint(input="q", row={"call": ToolCall("f"), "set": {2, 1}, "raw": b"x", 3: "three"})
    output = Output(tool_calls=[ToolCall("f", Text("a"), result={"found": (Text("b"),)})])
    values = pointwise(point, output, criteria="c")
    empty = {"name": "f", "arguments": {}, "result": None, "id": None, "is_error": False}
    assert values["row"] == {"call": empty, "set": [1, 2], "raw": b"x", "3": "three"}
    pair = ResponsePair("q", Output("a"), Output("b"), row=point.row)
    assert pairwise(pair, criteria="c")["row"] == values["row"]
    assert values["output"]["tools_called"][0]["arguments"] == {"text": "a"}
    assert values["output"]["tools_called"][0]["result"] == {"found": [{"text": "b"}]}
    assert values["output"]["messages"][0]["result"] == {"found": [{"text": "b"}]}
    source = "{{row.call.name}} {{#row.set}}<{{.}}>{{/row.set}} {{output.tools_called[0].result.found.0.text}}"
    assert Template(source).render(values) == "f <1><2> b"
    chat = [Message("assistant", "", tool_calls=(ToolCall("f", Text("ä")),))]
    shown = pointwise(DataPoint(input=chat), Output(), criteria="")["input"]["all_messages"]
    assert shown[0]["tool_calls"][0]["function"]["arguments"] == '{"text": "ä"}'


def test_columns_that_no_prompt_shows_are_left_alone() -> None:
    class Heavy:
        def tolist(self) -> Any:
            raise AssertionError("read")

    row = {"heavy": Heavy(), "call": ToolCall("f"), "n": {2, 1}}
    values = pointwise(
        DataPoint(input="q", row=row), Output(), criteria="c", wanted=frozenset({"row.n", "row.call.name"})
    )
    assert values["row"]["heavy"] is row["heavy"]
    assert values["row"]["n"] == [1, 2]
    assert values["row"]["call"]["name"] == "f"


@pytest.mark.parametrize(
    ("given", "context"),
    [
        ("one", "one"),
        ("", ""),
        (None, None),
        (["one", {"page": 2}], 'one\n\n{\n  "page": 2\n}'),
        (("one", "two"), "one\n\ntwo"),
        ([], ""),
        ({"page": 2}, '{\n  "page": 2\n}'),
        (Text("t"), '{\n  "text": "t"\n}'),
        (7, "7"),
    ],
)
def test_a_context_is_a_text(given: Any, context: str | None) -> None:
    assert DataPoint(input="q", context=given).context == context


def test_what_is_no_data_is_named_by_its_field() -> None:
    with pytest.raises(DataError, match="context is bytes"):
        DataPoint(input="q", context=b"x")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"expected_output\.a is bytes"):
        pointwise(DataPoint(input="q", expected_output={"a": b"x"}), Output(), criteria="c")


def test_a_failed_call_says_so_in_the_transcript_only() -> None:
    output = pointwise(POINT, Output(tool_calls=[ToolCall("f", is_error=True)]), criteria="c")["output"]
    assert output["messages"][0]["is_error"] is True
    assert set(output["tools_called"][0]) == {"name", "arguments", "result", "id"}


def test_calls_of_the_input_keep_the_chat_format() -> None:
    call = {"id": "k", "type": "function", "function": {"name": "add", "arguments": '{"a":2}'}}
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [call], "name": "bot"},
        {"role": "tool", "tool_call_id": "k", "content": "4"},
        {"role": "tool", "tool_call_id": "other", "content": "5"},
    ]
    assert pointwise(DataPoint(input=chat), Output(), criteria="")["log"]["messages"] == [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "4", "tool_call_id": "k"},
        {"role": "tool", "content": "5"},
    ]
    blocks = [{"role": "assistant", "content": [{"type": "tool_use", "id": "k", "name": "add", "input": {"a": "ä"}}]}]
    shown = pointwise(DataPoint(input=blocks), Output(), criteria="")["input"]["all_messages"]
    assert shown[0]["tool_calls"][0]["function"]["arguments"] == '{"a": "ä"}'


def test_thoughts_of_the_input_are_not_shown() -> None:
    chat = [Message("user", "q"), Message("assistant", "secret", kind="reasoning"), Message("assistant", "a")]
    values = pointwise(DataPoint(input=chat), Output(), criteria="")
    assert [m["content"] for m in values["input"]["all_messages"]] == ["q", "a"]


# What is wanted


@pytest.mark.parametrize("path", POINTWISE)
def test_only_what_is_wanted_is_built(path: str) -> None:
    values = pointwise(POINT, OUTPUT, criteria="c", wanted=frozenset({path}))
    assert at(values, path) == at(pointwise(POINT, OUTPUT, criteria="c"), path)
    built = [f"{family}.{leaf}" for family, _ in SHARED for leaf in values.get(family, ())]
    assert built == [path] * (path != "criteria")
    assert "fence" not in values


@pytest.mark.parametrize("name", ["output", "output.messages[0].content", "output.messages.0", "log.input", "row.page"])
def test_paths_into_and_above_a_name_want_it(name: str) -> None:
    text = f"{{{{#{name}}}}}x{{{{/{name}}}}}{{{{{name}}}}}"
    template = Template(text)
    part = pointwise(POINT, OUTPUT, criteria="c", wanted=frozenset(template.names))
    assert template.render(part) == template.render(pointwise(POINT, OUTPUT, criteria="c"))


def test_names_that_only_begin_alike_want_nothing() -> None:
    wanted = frozenset({"outputs.response", "output.responses", "response", "rows.x", "response_a"})
    assert set(pointwise(POINT, OUTPUT, criteria="c", wanted=wanted)) == {"criteria", "context"}
    assert set(pairwise(PAIR, criteria="c", wanted=wanted)) == {"question", "criteria", "reference", "response_a"}


def test_a_side_is_built_by_what_is_wanted_of_it() -> None:
    values = pairwise(PAIR, criteria="c", wanted=frozenset({"response_b.output.response"}))
    assert values["response_b"] == {"output": {"response": "It is four."}}
    assert "response_a" not in values


# The fence


def fence(output: str, **more: Any) -> str:
    return pointwise(DataPoint(input="q"), Output(output), criteria="c", **more)["fence"]


@given(st.text(), st.text())
def test_the_fence_is_in_no_value_and_depends_on_the_text_alone(one: str, other: str) -> None:
    mark = fence(one)
    assert mark.startswith("data-")
    assert len(mark) == 21
    assert mark not in one
    assert (mark == fence(other)) == (one == other)
    assert mark == fence(one, wanted=frozenset({"fence"}), extra={"unused": other})


def test_a_text_that_knows_the_fence_moves_it_on() -> None:
    mark = fence("a")
    for extra in ({"policy": mark}, {"policy": [{"deep": f"</{mark}>"}]}, {"policy": {mark: 1}}):
        moved = fence("a", extra=extra)
        assert moved != mark
        assert moved not in json.dumps(extra)
    row = DataPoint(input="q", row={"x": mark})
    assert pointwise(row, Output("a"), criteria="c")["fence"] != mark


def test_the_fence_is_the_same_in_both_orders() -> None:
    assert pairwise(PAIR, criteria="c")["fence"] == pairwise(PAIR.swapped(), criteria="c")["fence"]


def test_the_fence_looks_into_values_that_hold_themselves() -> None:
    loop: dict[str, Any] = {"text": "x"}
    loop["loop"] = [loop]
    assert fence("a", extra={"loop": loop}) == fence("a")


def test_lone_surrogates_are_text() -> None:
    assert fence("\ud800").startswith("data-")


# The map of the names


@pytest.mark.parametrize(("kind", "paths"), [("pointwise", POINTWISE), ("pairwise", PAIRWISE)])
def test_the_map_holds_the_documented_names(kind: Any, paths: list[str]) -> None:
    extra = {"pointwise": {"fence", "context", "row"}, "pairwise": {"fence", "reference", "row"}}
    assert set(known(kind).paths()) == set(paths) | extra[kind]


def test_every_known_name_has_a_value(caplog: pytest.LogCaptureFixture) -> None:
    for kind, values in (
        ("pointwise", pointwise(POINT, OUTPUT, criteria="c")),
        ("pairwise", pairwise(PAIR, criteria="c")),
    ):
        template = Template("".join(f"{{{{{path}}}}}\n" for path in known(kind).paths()))  # type: ignore[arg-type]
        check(template, known(kind), strict=True)  # type: ignore[arg-type]
        assert "{{" not in template.render(values)
    assert not caplog.records


def described(place: Known, value: Any) -> bool:
    """Whether everything in a value is where the map says something may be."""
    if place.open:
        return True
    if isinstance(value, dict):
        return all(key in place.keys and described(place.keys[key], inner) for key, inner in value.items())
    if isinstance(value, list):
        return place.item is not None and all(described(place.item, inner) for inner in value)
    return True


def test_every_value_is_on_the_map() -> None:
    chat = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "k", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "k", "content": "4"},
    ]
    output = Output(items=[*ITEMS, ToolCall("f", is_error=True)])
    assert described(known("pointwise"), pointwise(DataPoint(input=chat, row={"a": {"b": 1}}), output, criteria="c"))
    assert described(known("pairwise"), pairwise(PAIR, criteria="c"))


@pytest.mark.parametrize(
    ("kind", "name"),
    [("pointwise", "input"), ("pointwise", "fence"), ("pairwise", "question"), ("pairwise", "reference")],
)
def test_a_documented_name_cannot_be_replaced(kind: Any, name: str) -> None:
    for extra in ({name: "mine"}, [name]):
        with pytest.raises(ConfigError, match=f"variables: {name}: a documented name of {kind}"):
            known(kind, extra)


def test_names_of_the_other_jury_are_free() -> None:
    assert "question" in known("pointwise", {"question": "q"}).keys
    assert "context" in known("pairwise", {"context": "c"}).keys


def test_bare_names() -> None:
    assert {"input", "output", "log", "response_a", "response_b", "response_a.output", "response_b.log"} <= BARE
    assert namespace.known is known
