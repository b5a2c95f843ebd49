"""Mustache over plain data: what is filled, what stays, what is refused when the template is made."""

from __future__ import annotations

import logging
import re
from typing import Any

import chevron
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jury.errors import ConfigError, DataError, TemplateError
from jury.templates import MAX_DEPTH, Template


def render(template: str, **values: Any) -> str:
    return Template(template).render(values)


# Variables


def test_nothing_is_escaped_in_any_form_of_a_tag() -> None:
    assert render("{{x}} {{{x}}} {{&x}} {{ x }} {{{ x }}} {{& x }}", x="<a & 'b'>") == " ".join(["<a & 'b'>"] * 6)


@given(st.text())
def test_a_value_is_put_in_as_it_is(value: str) -> None:
    assert render("<{{x}}|{{a.b}}|{{l.0}}>", x=value, a={"b": value}, l=[value]) == f"<{value}|{value}|{value}>"


@given(st.text(alphabet="{}#/^!>&=x .\n", max_size=30))
def test_a_value_is_never_read_as_a_template(value: str) -> None:
    assert render("{{x}}{{x}}", x=value) == value * 2
    assert render("{{#x}}{{.}}{{/x}}", x=[value]) == value


@given(st.text())
def test_a_text_without_tags_renders_itself(text: str) -> None:
    assume("{{" not in text)
    assert render(text) == text


@given(st.text(alphabet="{}ab.&> \n\"'", max_size=40))
def test_what_cannot_be_filled_stays_byte_for_byte(text: str) -> None:
    try:
        template = Template(text)
    except TemplateError:
        return  # an open tag: told when the template is made
    assert template.render({}) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0, "0"), (False, "False"), (0.5, "0.5"), ("", ""), ([], "[]"), ({}, "{}"), ([1], "[\n  1\n]")],
)
def test_values_that_are_no_texts(value: Any, text: str) -> None:
    assert render("<{{x}}>", x=value) == f"<{text}>"


def test_a_function_is_neither_called_nor_printed(caplog: pytest.LogCaptureFixture) -> None:
    def boom(*_: Any) -> Any:
        raise AssertionError("called")

    assert render("{{f}}|{{#f}}x{{/f}}|{{^f}}y{{/f}}|{{o}}", f=boom, o=object()) == "{{f}}||y|{{o}}"
    assert [r.placeholders for r in caplog.records] == [("f",), ("o",)]  # type: ignore[attr-defined]


def test_attributes_and_methods_are_out_of_reach() -> None:
    class Thing:
        secret = "s"

    for path in ("x.secret", "x.__class__", "t.upper", "d.keys", "d.items", "t.0", "t[0]", "l.append"):
        text = f"{{{{{path}}}}}"
        assert render(text, x=Thing(), t="abc", d={}, l=[]) == text
        assert render(f"[{{{{#{path}}}}}x{{{{/{path}}}}}]", x=Thing(), t="abc", d={}, l=[]) == "[]"


def test_a_value_that_is_too_deep_to_print_is_refused_by_name() -> None:
    value: Any = []
    for _ in range(300):
        value = [value]
    with pytest.raises(DataError, match="nested deeper"):
        render("{{x}}", x=value)


# Sections


@pytest.mark.parametrize("value", ["text", " ", 1, True, {"k": 1}, 0.5])
def test_a_true_value_shows_its_section_once(value: Any) -> None:
    assert render("{{#x}}yes{{/x}}{{^x}}no{{/x}}", x=value) == "yes"


@pytest.mark.parametrize("value", ["", None, False, 0, [], {}, ()])
def test_a_false_value_shows_the_inverted_section(value: Any) -> None:
    assert render("{{#x}}yes{{/x}}{{^x}}no{{/x}}", x=value) == "no"


def test_an_unknown_section_renders_nothing_and_its_inverse_does() -> None:
    assert render("{{#x.y}}yes{{/x.y}}{{^x.y}}no{{/x.y}}") == "no"


@pytest.mark.parametrize("entries", [[0, 1, 0], [False, None, ""], [[], {}], (0, "a")])
def test_every_element_is_walked_whatever_it_is(entries: Any) -> None:
    assert render("{{#x}}*{{/x}}", x=entries) == "*" * len(entries)


def test_names_are_looked_up_in_the_element_first_then_outwards() -> None:
    rows = [{"id": 1}, {"id": 2, "c": "inner"}]
    assert render("{{#rows}}{{id}}{{c}}{{#deep}}{{id}}{{/deep}};{{/rows}}", rows=rows, c="outer", deep=["x"]) == (
        "1outer1;2inner2;"
    )


def test_a_path_is_bound_by_its_first_step() -> None:
    assert render("{{#e}}{{a.b}}{{/e}}", e={"a": {"c": 1}}, a={"b": 1}) == "{{a.b}}"


def test_the_element_itself() -> None:
    assert render("{{#x}}({{.}}){{/x}}", x=["a", 0, None, {"k": 1}]) == '(a)(0)()({\n  "k": 1\n})'
    assert render("{{#x}}{{#.}}{{.}}{{/.}};{{/x}}", x=[[1, 2], [3]]) == "12;3;"


def test_a_text_section_gives_its_text() -> None:
    assert render("{{#x}}Ref: {{.}}{{x}}{{/x}}", x="r") == "Ref: rr"


def test_sections_of_one_name_nest_and_repeat() -> None:
    assert render("{{#a}}1{{#a}}2{{/a}}{{/a}}{{#a}}3{{/a}}", a=True) == "123"


# White space: a tag that renders nothing and stands alone on its line takes the line with it


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a\n{{#t}}\nb\n{{/t}}\nc\n", "a\nb\nc\n"),
        ("a\n  {{#t}}  \nb\n\t{{/t}}\t\nc\n", "a\nb\nc\n"),
        ("a\r\n{{#t}}\r\nb\r\n{{/t}}\r\nc", "a\r\nb\r\nc"),
        ("{{#t}}\nb\n{{/t}}", "b\n"),
        ("  {{#t}}\nb\n  {{/t}}", "b\n"),
        ("a\n{{^f}}\nb\n{{/f}}\nc", "a\nb\nc"),
        ("a\n{{! gone }}\nb", "a\nb"),
        ("a\n  {{!\n  gone\n  }}  \nb", "a\nb"),
        ("a\n{{=<% %>=}}\nb", "a\nb"),
        ("{{! gone }}\n", ""),
        ("a\n\n{{! gone }}\n\nb", "a\n\n\nb"),
        ("{{#t}}{{/t}}\nb", "\nb"),
        ("a {{! gone }}\nb", "a \nb"),
        ("{{! gone }} a\nb", " a\nb"),
        (" {{#t}} b {{/t}} \n", "  b  \n"),
        ("{{#t}}\n{{#t}}\nb\n{{/t}}\n{{/t}}\n", "b\n"),
        ("a\n  {{t}}  \nb", "a\n  T  \nb"),
        ("{{! a }}\n{{! b }}\nc", "c"),
        ("x{{! a\n}}\ny", "x\ny"),
    ],
)
def test_lines_of_tags_that_render_nothing(template: str, text: str) -> None:
    assert render(template, t="T", f=False) == text


def test_a_partial_is_a_text_like_any_other(caplog: pytest.LogCaptureFixture) -> None:
    assert render("a\n  {{> header }}\nb") == "a\n  {{> header }}\nb"
    assert "{{> header }} on line 2" in caplog.text


# Delimiters


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{=<% %>=}}<%x%> {{x}}", "1 {{x}}"),
        ("{{=<% %>=}}<%x%><%={{ }}=%>{{x}}<%x%>", "11<%x%>"),
        ("{{= | | =}}|x|a|&x|", "1a1"),
        ("{{=[ ]=}}[#x][x][/x]{{{x}}}", "1{{{x}}}"),
        ("{{#x}}{{=( )=}}(/x)(x)", "1"),
        ("{{=<%\t%>=}}<%! gone %><%x%>", "1"),
        ("{{=aa bb=}}aaxbb", "1"),
    ],
)
def test_changed_delimiters(template: str, text: str) -> None:
    assert render(template, x=1) == text


@pytest.mark.parametrize("tag", ["{{=x=}}", "{{==}}", "{{= =}}", "{{=a b c=}}", "{{=<= =>=}}", "{{=<% %>}}", "{{=}}"])
def test_odd_delimiters_are_refused(tag: str) -> None:
    with pytest.raises(TemplateError, match="line 2") as caught:
        Template(f"\n{tag} x")
    assert caught.value.kind == "template_syntax"
    assert tag in str(caught.value)


# What is refused when the template is made


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("a\n{{#x}}\nb", ["{{#x}}", "line 2", "never closed"]),
        ("a\n{{^x}}{{#y}}{{/y}}", ["{{^x}}", "line 2"]),
        ("{{/x}}", ["{{/x}}", "line 1", "not open"]),
        ("{{#x}}\n{{/y}}", ["{{/y}}", "line 2", "{{#x}}", "line 1"]),
        ("{{#a}}\n{{#b}}\n{{/a}}\n{{/b}}", ["{{/a}}", "line 3", "{{#b}}", "line 2"]),
        ("{{#}}x{{/}}", ["{{#}}", "no name"]),
        ("one\ntwo {{x", ["{{x", "line 2", "not closed"]),
        ("{{x}} {{", ["{{", "not closed"]),
        ("{{! open", ["{{! open"]),
        ("{{=<% %>=}} <%x}}", ["<%x}}", "%>"]),
    ],
)
def test_a_template_that_cannot_be_read(template: str, words: list[str]) -> None:
    with pytest.raises(TemplateError) as caught:
        Template(template, name="my prompt")
    assert caught.value.kind == "template_syntax"
    assert all(word in str(caught.value) for word in ["my prompt", *words])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("template", ["{{#a}}" * 1000, "{{#a}}" * 1000 + "{{/a}}" * 1000, "{{^a}}" * 1000], ids=len)
def test_deep_nesting_is_refused_not_a_recursion_error(template: str) -> None:
    with pytest.raises(TemplateError, match=f"more than {MAX_DEPTH} deep"):
        Template(template)


def test_the_deepest_template_renders() -> None:
    template = "{{#a}}" * MAX_DEPTH + "x" + "{{/a}}" * MAX_DEPTH
    assert render(template, a={"b": 1}) == "x"


LONG = {
    "tags": "{{x}}" * 20_000,
    "sections": "{{#x}}y{{/x}}" * 10_000,
    "comments": "{{!}}a" * 20_000,
    "one name": "{{" + "x" * 300_000 + "}}",
    "lines": "a\n" * 300_000,
    "one comment": "{{!" + "x\n" * 100_000 + "}}",
    "blanks": " " * 100_000 + "{{x}}",
    "braces": "{" * 300_000 + "x",
    "blanks in a tag": "{{ x" + " " * 300_000 + "}}",
}


@pytest.mark.parametrize("template", LONG.values(), ids=LONG)
def test_long_templates_are_read_in_one_go(template: str) -> None:
    try:
        assert len(Template(template).render({"x": "1"})) <= len(template)
    except TemplateError as error:
        assert "not closed" in str(error)  # noqa: PT017 - either is right, a hang or a RecursionError is not


@pytest.mark.parametrize("length", [505, 506, 507, 508, 509, 510, 511, 512, 513, 514, 2046, 2047, 2048, 2049])
def test_tags_are_found_wherever_they_lie(length: int) -> None:
    for tag in ("{{x}}", "{{{x}}}", "{{&x}}", "{{#x}}{{.}}{{/x}}"):
        assert render("a" * length + tag + "b" * length, x="1") == "a" * length + "1" + "b" * length
    comment = "{{!" + "c" * length + "}}"
    assert render(f"a{comment}b") == "ab"
    assert render("{{{" + " " * length + "x}}}!", x="1") == "1!"


@pytest.mark.parametrize("source", [None, 5, b"x", ["x"]])
def test_a_template_is_a_text(source: Any) -> None:
    with pytest.raises(ConfigError, match="my prompt must be a text"):
        Template(source, name="my prompt")


# Warnings while rendering


def test_each_name_without_a_value_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    template = Template("{{a.b}}\n{{ l[3] }} {{a.b}} {{}}", name="my prompt")
    for _ in range(3):
        assert template.render({"l": [1]}) == template.source
    names = [r.placeholders[0] for r in caplog.records]  # type: ignore[attr-defined]
    assert names == ["a.b", "l[3]", ""]
    assert "my prompt: {{ l[3] }} on line 2" in caplog.records[1].message
    assert all(r.name == "jury.templates" and r.levelno == logging.WARNING for r in caplog.records)


def test_a_section_without_a_value_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert render("{{#row.context}}x{{/row.context}}{{^row.context}}y{{/row.context}}", row={}) == "y"
    assert not caplog.records


def test_names_of_families_stay_unless_an_element_has_them(caplog: pytest.LogCaptureFixture) -> None:
    values = {"input": {"all_messages": []}, "log": {"input": "q", "output": "a"}, "steps": [{"output": "o"}]}
    assert render("{{input}} {{output}} {{#steps}}{{output}}{{/steps}}", **values) == "{{input}} {{output}} o"
    assert render("{{#log}}{{input}}>{{output}} {{.}}{{/log}}", **values) == "q>a {{.}}"
    assert render("{{.}}", **values) == "{{.}}"
    assert render("{{#input.all_messages}}{{/input.all_messages}}{{input.all_messages}}", **values) == "[]"
    assert len(caplog.records) == 4


# Names


def test_names_are_the_paths_of_tags_and_sections_in_order() -> None:
    template = Template("{{b}}{{#a.c}}{{x}}{{.}}{{/a.c}}{{^d}}{{/d}}{{{b}}}{{&e[0].f}}{{> p}}{{!c}}{{}}{{=< >=}}<g>")
    assert template.names == ("b", "a.c", "x", "d", "e[0].f", "g")


# Beside chevron: on data that all names resolve in and without what we do otherwise, the text is the same

TEXT = st.text(alphabet="ab <>&\t.", max_size=4)
NAME = st.sampled_from(["text", "blank", "rows", "words", "inner", "id"])


def tags(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    section = st.builds(
        lambda sign, n, body: f"{{{{{sign}{n}}}}}{body}{{{{/{n}}}}}", st.sampled_from("#^"), NAME, children
    )
    return st.lists(section | children | TEXT, max_size=4).map("".join)


LEAVES = st.sampled_from(["{{{text}}}", "{{&inner.name}}", "{{{id}}}", "{{! no }}", "{{&blank}}"])
TEMPLATES = st.recursive(LEAVES | TEXT, tags, max_leaves=12)
VALUES = {
    "text": "T<b>",
    "blank": "",
    "id": "outer",
    "rows": [{"id": "1"}, {"id": "2", "inner": {"name": "N2"}}],
    "words": ["w", "v"],
    "inner": {"name": "N"},
}


def within_itself(template: str) -> bool:
    """Whether a section stands in another of the same name: chevron takes the end of one for that of the other."""
    open_now: list[str] = []
    for sign, name in re.findall(r"\{\{([#^/])(\w+)\}\}", template):
        if sign == "/":
            open_now.pop()
        elif name in open_now:
            return True
        else:
            open_now.append(name)
    return False


def test_a_section_within_one_of_its_name_is_its_own() -> None:
    assert render("{{#rows}}{{^rows}}no{{/rows}}{{#text}}{{{text}}}{{/text}}{{/rows}}", **VALUES) == "T<b>T<b>"
    assert render("{{#rows}}{{^rows}}no{{/rows}}{{/rows}}{{#text}}yes{{/text}}", **VALUES) == "yes"


@given(TEMPLATES)
def test_sections_and_variables_agree_with_chevron(template: str) -> None:
    assume(not within_itself(template))
    assert render(template, **VALUES) == chevron.render(template, VALUES, partials_path=None)


@given(st.lists(st.sampled_from(["a", "\n", "  ", "{{#text}}", "{{/text}}", "{{! c }}", "{{&text}}"]), max_size=12))
def test_lines_agree_with_chevron(pieces: list[str]) -> None:
    source = "".join(pieces)
    # chevron takes blanks for a line of their own only after another tag that stood alone
    assume(not re.search(r"\}\}[ ]*\{\{[#/!]|\}\}[ ]+$", source))
    try:
        text = render(source, text="T")
    except TemplateError:
        with pytest.raises(chevron.ChevronError):
            chevron.render(source, {"text": "T"})
    else:
        assert text == chevron.render(source, {"text": "T"})
