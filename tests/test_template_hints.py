"""What a template says of its slips: a name beside the one that was meant, a brace too few."""

from __future__ import annotations

import pytest

from jury.errors import TemplateError
from jury.templates import Template

ITEM = {"row": {"context": "c", "items": [{"name": "a"}], "none": None}, "context": "ctx", "log": {"input": "q"}}


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("{{row.contxt}}", "row.context"),
        ("{{row.Context.text}}", "row.context"),
        ("{{#row.items}}{{nmae}}{{/row.items}}", "name"),
        ("{{row.items[5]}}", None),
        ("{{row.zzz}}", None),
        ("{{row.none.x}}", None),
    ],
)
def test_a_name_without_a_value_is_told_with_the_one_beside_it(
    text: str, near: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    Template(text).render(ITEM)
    assert len(caplog.records) == 1
    told = caplog.records[0].getMessage()
    assert told.partition("stays as it is written")[2] == (f"; did you mean {near}?" if near else "")


def test_a_tag_with_a_brace_too_few_is_named_where_the_sections_do_not_match() -> None:
    with pytest.raises(TemplateError, match=r"not open \(is \{\{log.input\} on line 1 closed by \}\}\?\)"):
        Template("Q: {{log.input}\n{{#row}}\n- {{.}}\n{{/row}}")
    with pytest.raises(TemplateError, match=r"names differ \(is \{\{log.input\} on line 2 closed by \}\}\?\)"):
        Template("{{#log}}\n{{log.input} {{#row}}\n{{/row}}{{/log}}")
    with pytest.raises(TemplateError, match=r"closes a section that is not open$"):
        Template("{{log.input}} {{/row}}")
