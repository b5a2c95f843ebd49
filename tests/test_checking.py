"""Names that no item can fill: told once, when the jury is made, with what they may have meant."""

from __future__ import annotations

import pytest

from jury.checking import Unknown
from jury.errors import TemplateError
from jury.names import Known
from jury.namespace import known
from jury.templates import Template, check

POINTWISE = known("pointwise")
PAIRWISE = known("pairwise")


def unknown(source: str, names: Known = POINTWISE) -> dict[str, str]:
    return {u.name: u.why for u in Template(source).unknown(names)}


@pytest.mark.parametrize(
    "source",
    [
        "{{criteria}} {{input.all_messages}} {{output.response}} {{log.reference}} {{fence}} {{context}}",
        "{{input.all_messages[0].content}} {{log.messages.0.role}}",
        "{{input.all_messages[-1].tool_calls[0].function.name}}",
        "{{output.tools_called[0].arguments.deep.anything}} {{output.messages[2].result.x}}",
        "{{#output.tools_called}}{{name}} {{arguments.q}} {{criteria}} {{result.any}}{{/output.tools_called}}",
        "{{#output}}{{response}} {{tools_called[0].name}} {{log.output}}{{/output}}",
        "{{#log}}{{input}} {{output}}{{/log}}",
        "{{row.anything.at[3].all}} {{#row.list}}{{whatever}} {{.}}{{/row.list}} {{row}}",
        "{{#input.expected_output}}{{.}}{{/input.expected_output}}",
        "{{^output.error}}{{output.response}}{{/output.error}}",
        "{{#reference}}x{{/reference}}{{^session}}y{{/session}}{{#rubric}}{{/rubric}}",
        "no tags at all",
    ],
)
def test_names_that_exist_or_may_exist(source: str) -> None:
    assert unknown(source) == {}


@pytest.mark.parametrize(
    ("source", "name", "word"),
    [
        ("{{outptu.response}}", "outptu.response", "output.response"),
        ("{{output.respons}}", "output.respons", "output.response"),
        ("{{Criteria}}", "Criteria", "criteria"),
        ("{{OUTPUT.RESPONSE}}", "OUTPUT.RESPONSE", "output.response"),
        ("{{input.all_mesages[0].content}}", "input.all_mesages[0].content", "input.all_messages"),
        ("{{input.all_messages[0].contents}}", "input.all_messages[0].contents", "input.all_messages[0].content"),
        ("{{output.tools_called[1].nam}}", "output.tools_called[1].nam", "output.tools_called[1].name"),
        ("{{input.all_messages.content}}", "input.all_messages.content", "input.all_messages"),
        ("{{criteria.upper}}", "criteria.upper", "criteria"),
        ("{{#output.tool_called}}x{{/output.tool_called}}", "output.tool_called", "never shown; did you mean output.t"),
        ("{{^output.eror}}x{{/output.eror}}", "output.eror", "always shown; did you mean output.error"),
        ("{{input}}", "input", "there are log.input, input.expected_output, input.system_instructions"),
        ("{{{output}}}", "output", "output.response"),
        ("{{response_a}}", "response_a", "no text of its own"),
        ("{{.}}", ".", "no text of its own"),
        ("{{#output}}{{.}}{{/output}}", ".", "no text of its own"),
        ("{{> header}}", "header", "partials are not read"),
        ("{{}}", "", "stays as written"),
        ('{{"a": 1}}', '"a": 1', "unknown name"),
    ],
)
def test_names_that_cannot_be_filled(source: str, name: str, word: str) -> None:
    found = unknown(source)
    assert list(found) == [name]
    assert word in found[name]


@pytest.mark.parametrize(
    ("source", "near"),
    [
        ("{{output.text}} {{answer}} {{output.completion}} {{Output.reply}} {{response}}", "output.response"),
        ("{{output.response.text}} {{output.content}} {{Output}} {{OUTPUT.ANSWER}}", "output.response"),
        ("{{question}} {{input.prompt}} {{input.text}} {{log.query}} {{output.question}} {{user}}", "log.input"),
        ("{{reference}} {{groundTruth}} {{input.answer}} {{input.expected}} {{output.gold}}", "input.expected_output"),
        ("{{output.tools}} {{tool_calls}} {{output.tools_used}} {{Output.tools}}", "output.tools_called"),
        ("{{input.history}} {{input.messages}}", "input.all_messages"),
        ("{{system_prompt}} {{input.system}}", "input.system_instructions"),
        ("{{guidelines}} {{rubric}}", "criteria"),
        ("{{log.answer}}", "log.output"),
        ("{{output.exception}}", "output.error"),
        ("{{output.tools_called[0].args}}", "output.tools_called[0].arguments"),
        ("{{#output.messages}}{{text}}{{/output.messages}}", "content"),
        ("{{#output}}{{answer}}{{/output}}", "response"),
        ("{{#output}}{{prompt}}{{/output}}", "log.input"),
    ],
)
def test_another_word_for_a_field_is_told_before_a_name_that_looks_alike(source: str, near: str) -> None:
    found = unknown(source)
    assert found
    assert {why.partition("did you mean ")[2] for why in found.values()} == {f"{near}?"}


@pytest.mark.parametrize(
    ("source", "near"),
    [
        (
            "{{answer}} {{answer_a}} {{response_a.text}} {{output.text}} {{output.response}}",
            "response_a.output.response",
        ),
        ("{{output_b}} {{response_b.answer}} {{response_b.output.text}}", "response_b.output.response"),
        ("{{prompt}} {{query}}", "question"),
        ("{{ground_truth}} {{expected}}", "reference"),
        ("{{#output.messages}}{{role}}{{/output.messages}}", "response_a.output.messages"),
        ("{{response_b.input.gold}} {{response_b.expected}}", "response_b.input.expected_output"),
    ],
)
def test_another_word_for_a_field_of_a_pair(source: str, near: str) -> None:
    found = unknown(source, PAIRWISE)
    assert found
    assert {why.partition("did you mean ")[2] for why in found.values()} == {f"{near}?"}


def test_sides_of_a_pair() -> None:
    assert unknown("{{response_a.output.response}}{{response_b.log.messages}}{{question}}{{reference}}", PAIRWISE) == {}
    assert unknown("{{#response_a}}{{output.response}}{{/response_a}}", PAIRWISE) == {}
    assert "response_a.output.response" in unknown("{{response_a.output}}", PAIRWISE)["response_a.output"]
    assert "response_a.output.response" in unknown("{{response_a.response}}", PAIRWISE)["response_a.response"]
    assert set(unknown("{{#response_a}}{{output}}{{/response_a}} {{output.response}}", PAIRWISE)) == {
        "output",
        "output.response",
    }


def test_inside_an_unknown_section_nothing_is_said() -> None:
    assert list(unknown("{{#typo}}{{name}} {{other}}{{/typo}}{{name}}")) == ["typo", "name"]


def test_names_inside_a_section_of_known_elements() -> None:
    found = unknown(
        "{{#output.tools_called}}{{name}}{{typo}}{{#arguments}}{{free}}{{/arguments}}{{/output.tools_called}}"
    )
    assert list(found) == ["typo"]


def test_added_names() -> None:
    names = known("pointwise", {"policy": "text", "user": {"name": "n", "tags": ["a"]}, "later": None})
    assert unknown("{{policy}}{{user.name}}{{user.tags[0].x}}{{later.any}}{{user}}", names) == {}
    found = unknown("{{polcy}}{{user.nam}}{{policy.x}}", names)
    assert {name: why.split()[-1] for name, why in found.items()} == {
        "polcy": "policy?",
        "user.nam": "user.name?",
        "policy.x": "policy?",
    }
    assert unknown("{{user.anything}}", known("pointwise", ["user"])) == {}


def test_one_warning_names_them_all_and_rendering_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    template = Template(
        "{{criteria}} {{outptu.response}}\n{{input}} {{outptu.response}} {{#x}}{{/x}}", name="prompt own"
    )
    check(template, POINTWISE, prompt_name="own")
    assert template.render({"criteria": "c"}) == "c {{outptu.response}}\n{{input}} {{outptu.response}} "
    assert len(caplog.records) == 1
    message = caplog.records[0].message
    assert message.startswith("prompt own: ")
    for part in (
        "{{outptu.response}} (line 1;",
        "did you mean output.response?",
        "{{input}} (line 2;",
        "{{#x}} (line 2;",
    ):
        assert part in message
    assert caplog.records[0].placeholders == ("outptu.response", "input", "x")  # type: ignore[attr-defined]


def test_nothing_unknown_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    check(Template("{{criteria}} {{row.x}}"), POINTWISE)
    check(Template("{{criteria}} {{row.x}}"), POINTWISE, strict=True)
    assert not caplog.records


def test_strict_raises(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(TemplateError, match=r"^system prompt own: .*\{\{missing\}\}.*\{\{output\}\}") as caught:
        check(Template("{{missing}}{{output}}", name="system prompt own"), POINTWISE, strict=True, prompt_name="own")
    assert (caught.value.kind, caught.value.prompt) == ("missing_variable", "own")
    assert not caplog.records


def test_many_and_long_names_cost_little() -> None:
    source = (
        "".join(f"{{{{wrong{i}}}}}" for i in range(5000)) + "{{" + "x" * 200_000 + "}}" + "{{a" + ".b" * 50_000 + "}}"
    )
    found = Template(source).unknown(POINTWISE)
    assert len(found) == 5002
    assert len(str(found[-1])) < 200


def test_an_unknown_tag_reads_well() -> None:
    assert str(Unknown("a", "{{ a }}", 3, "stays as written")) == "{{ a }} (line 3; stays as written)"
