"""The exception tree: what a caller can catch, and what an error carries."""

from __future__ import annotations

import ast
import inspect

import pytest

from jury import errors
from jury.errors import (
    PROVIDER_KINDS,
    REPLY_KINDS,
    CallError,
    ConfigError,
    DataError,
    JuryError,
    MissingExtra,
    ProviderError,
    ReplyError,
    TemplateError,
)
from jury.proving import read_cases


@pytest.mark.parametrize(
    ("error", "bases"),
    [
        (ConfigError("m"), (JuryError, ValueError)),
        (TemplateError("m"), (ConfigError, ValueError)),
        (DataError("m", "bad_json"), (JuryError, ValueError)),
        (MissingExtra("m"), (JuryError, ImportError)),
        (CallError("timeout", "m"), (JuryError,)),
        (ProviderError("timeout", "m"), (CallError,)),
        (ReplyError("no_json", "m"), (CallError,)),
    ],
)
def test_the_tree(error: JuryError, bases: tuple[type, ...]) -> None:
    assert all(isinstance(error, base) for base in bases)
    assert str(error).endswith("m")
    assert (error.judge, error.item, error.prompt) == (None, None, None)


def test_every_exception_is_drawn_in_the_docstring() -> None:
    drawn = inspect.getdoc(errors) or ""
    classes = [n for n, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, Exception)]

    assert len(classes) == 8
    assert [name for name in classes if name not in drawn] == []


def test_a_call_error_carries_what_a_retry_needs() -> None:
    error = ProviderError("rate_limited", "slow down", retry=True, retry_after_s=7.0, status=429, context={"a": 1})

    assert str(error) == "rate_limited: slow down"
    assert (error.kind, error.detail, error.retry, error.retry_after_s) == ("rate_limited", "slow down", True, 7.0)
    assert (error.status, error.usage, error.context) == (429, None, {"a": 1})
    plain = CallError("no_data", "nothing to go on")
    assert (plain.retry, plain.retry_after_s, plain.status, plain.context) == (False, None, None, {})


def test_where_it_happened() -> None:
    template = TemplateError("unknown name", "missing_variable", prompt="mine")
    data = DataError("line 3 is no object", "not_object", file="rows.jsonl", line=3)

    assert (template.kind, template.prompt) == ("missing_variable", "mine")
    assert TemplateError("m").kind == "template_syntax"
    assert (data.kind, data.file, data.line) == ("not_object", "rows.jsonl", 3)


def test_the_kinds_are_stable_words() -> None:
    for kinds in (PROVIDER_KINDS, REPLY_KINDS):
        assert len(set(kinds)) == len(kinds)
        assert all(kind.islower() and kind.replace("_", "").isalpha() for kind in kinds)


def test_errors_import_nothing_of_the_package() -> None:
    tree = ast.parse(inspect.getsource(errors))
    modules = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]

    assert [m for m in modules if m and m.startswith("jury")] == []


def test_why_a_file_could_not_be_read_is_said_in_plain_words(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    said = {}
    for name in ("gone.json", "latin.json", "deep.json"):
        with pytest.raises(DataError) as told:
            read_cases(tmp_path / name)
        said[name] = str(told.value)
    assert "cannot be read: No such file or directory" in said["gone.json"]
    assert "it is not UTF-8 text (byte 1)" in said["latin.json"]
    assert "deep.json, line 1" in said["deep.json"]
