"""Templates in the format style: exactly `str.format` for the two names, and a clear error for all else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import TemplateError
from jury.sessions.legacy import LegacyTemplate, is_legacy, render_format
from jury.templates import Template


@given(st.lists(st.sampled_from(["{transcript}", "{context}", "{{", "}}", "a", "\n", '"', "x y"]), max_size=12))
def test_same_as_format(parts: list[str]):
    source = "".join(parts)
    assert render_format(source, "T {context} {{", "C }") == source.format(transcript="T {context} {{", context="C }")


@pytest.mark.parametrize(
    ("source", "kind", "says"),
    [
        ('{transcript}\n{"verdict": "PASS"}', "template_syntax", "line 2, column 1"),
        ('{{"bad_calls": [{"step": 3}]}}', "template_syntax", "{{ and }}"),
        ("{transcript", "template_syntax", "never closed"),
        ("transcript}", "template_syntax", "single closing brace"),
        ("{}", "template_syntax", "empty braces"),
        ("{0}", "template_syntax", "{{ and }}"),
        ("{transcript!r}", "template_syntax", "conversion"),
        ("{transcript:>9}", "template_syntax", "conversion"),
        ("{transcript.__class__}", "unsafe_path", "transcript"),
        ("{context[0]}", "unsafe_path", "context"),
        ("{a.b}", "unsafe_path", "refused"),
        ("{transcrpt}", "missing_variable", "did you mean {transcript}"),
        ("{rules}", "missing_variable", "{transcript}, {context}"),
    ],
)
def test_what_is_refused_when_made(source: str, kind: str, says: str):
    with pytest.raises(TemplateError) as caught:
        LegacyTemplate(source, name="mine.txt")
    assert caught.value.kind == kind
    assert caught.value.prompt == "mine.txt"
    assert says in str(caught.value)
    assert str(caught.value).splitlines()[-1].strip() == "^"


def test_a_context_that_was_not_given():
    template = LegacyTemplate("{context}\n{transcript}")
    assert template.names == ("context", "transcript")
    with pytest.raises(TemplateError, match=r"needs \{context\}") as caught:
        template.render({"transcript": "t", "context": None})
    assert caught.value.kind == "missing_variable"
    assert template.render({"transcript": "t", "context": ""}) == "\nt"
    assert LegacyTemplate("{transcript}").render({"transcript": "t"}) == "t"


def test_which_style_a_template_has():
    assert is_legacy('{transcript}\n{{"verdict": "PASS"}}')
    assert is_legacy("{{{{ {transcript}")
    assert not is_legacy("{{{transcript}}}"), "a tag of the other style"
    assert not is_legacy("{{transcript}}")
    assert not is_legacy("{{session.transcript}} {transcript}")
    assert not is_legacy("plain text")


def test_the_same_prompt_as_mustache():
    made = LegacyTemplate('Rules: {context}\n{transcript}\n{{"calls": [{{"step": 3}}]}}').mustache()
    rendered = Template(made).render({"session": {"transcript": "T"}, "context": "C"})
    assert rendered == 'Rules: C\nT\n{"calls": [{"step": 3}]}'
    with pytest.raises(TemplateError, match="read as a tag"):
        LegacyTemplate("{{{{transcript}}}}").mustache()
