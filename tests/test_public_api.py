"""One public door: a sorted list of names that all exist, none equal to a module's, and cheap to open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import jury

HEAVY = ("openai", "anthropic", "numpy", "pydantic", "aiohttp", "yaml", "xllamacpp")


def test_names_are_sorted_and_importable():
    assert jury.__all__ == sorted(jury.__all__)
    for name in jury.__all__:
        assert getattr(jury, name) is not None
    assert set(jury.__all__) == set(jury._HOME)


def test_no_name_equals_a_modules():
    modules = {p.stem for p in Path(jury.__file__).parent.rglob("*.py")}
    assert not modules & set(jury.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        jury.nothing  # noqa: B018


def loaded_by(code: str) -> set[str]:
    probe = f"{code}\nimport sys; print(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    out = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(out.stdout.split("\n")[-2].split())


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import jury") == set()
    assert loaded_by("import jury; jury.DataPoint; jury.Labels; jury.PanelResult; jury.ConfigError") == set()


def test_a_jury_of_functions_loads_no_sdk():
    code = "import jury; print(jury.llm_jury(criteria='x', judges=[lambda case: True]).judge_sync('q', 'a').value)"
    assert loaded_by(code) & {"openai", "anthropic", "numpy"} == set()
