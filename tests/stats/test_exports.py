"""The public door of `jury.stats`: names that exist, are sorted and loaded late, each with an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

from jury import stats

MODULES = sorted(f"jury.stats.{module.name}" for module in pkgutil.iter_modules(stats.__path__))


def test_exports_are_named_once_and_exist() -> None:
    assert len(stats.__all__) == len(set(stats.__all__))
    assert set(stats.__all__) <= set(dir(stats))
    for name in stats.__all__:
        assert getattr(stats, name).__class__ is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = stats.nothing


def test_no_export_has_the_name_of_a_module() -> None:
    assert not set(stats.__all__) & {module.rsplit(".", 1)[1] for module in MODULES}


def test_every_exported_function_has_an_example() -> None:
    for name in stats.__all__:
        value = getattr(stats, name)
        if inspect.isfunction(value):
            assert ">>>" in (value.__doc__ or ""), name


@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module), extraglobs={"__name__": module})
    assert result.failed == 0


def test_numpy_is_loaded_by_the_first_function_that_needs_it() -> None:
    code = (
        "import sys, jury.stats as s; from jury.stats import Estimate, strict_majority; s.wilson(1, 2); "
        "assert 'numpy' not in sys.modules; s.bootstrap_mean([1, 2], seed=1); assert 'numpy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
