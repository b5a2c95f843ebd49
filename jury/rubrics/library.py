"""Rubrics by name or from a file, and the shipped prompt that asks for each shape of reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from jury import prompts
from jury.errors import ConfigError
from jury.prompts import PromptSpec
from jury.rubrics.rubric import Rubric

_FILES = (".yaml", ".yml", ".json")
_DATA = (".jsonl", ".csv", ".tsv", ".gz", ".parquet")
_PROMPTS = {"plain": "rubric", "rubric": "answer-rubric", "critic": "critic"}


def load_rubric(
    source: Rubric | str | Path | Mapping[str, Any], *, task: str | None = None, reference: str | None = None
) -> Rubric:
    """A rubric from a shipped name (`critic`, `answer-rubric`), a YAML or JSON file, a prompt of your own, or data.

    `task` says what the system under test is for, `reference` what is true; they replace the rubric's own. Raises
    `ConfigError`: with the nearest names for an unknown one, with the place for a file or rule that is broken.
    """
    rubric = _loaded(source)
    changes: dict[str, Any] = {k: v for k, v in (("task", task), ("reference", reference)) if v is not None}
    return replace(rubric, **changes) if changes else rubric


def _loaded(source: Any) -> Rubric:
    if isinstance(source, Rubric):
        return source
    if isinstance(source, Mapping):
        return Rubric.from_dict(cast("Mapping[str, Any]", source))
    if not isinstance(source, str | Path):
        raise ConfigError(f"rubric must be a Rubric, a name, a file or a mapping, got {type(source).__name__}")
    if Path(source).suffix.lower() in _FILES:
        return Rubric.from_file(source)
    spec = prompts.load(source)
    found = rubric_in(spec)
    if found is None:
        names = ", ".join(n for n in prompts.names() if isinstance(prompts.shipped(n).meta.get("rubric"), Mapping))
        if Path(source).suffix.lower() in _DATA:
            raise ConfigError(f"{source} is data; the rubric comes first: a YAML file with criteria, or {names}")
        raise ConfigError(f"the prompt {spec.name} holds no rubric; shipped ones that do: {names}")
    return found


def rubric_in(spec: PromptSpec) -> Rubric | None:
    """The rubric in the front matter of a prompt, if there is one. Raises `ConfigError`."""
    found: Any = spec.meta.get("rubric")
    if found is None:
        return None
    if not isinstance(found, Mapping):
        raise ConfigError(f"{spec.name}: the rubric in the front matter must be a mapping with criteria")
    return Rubric.from_dict(cast("Mapping[str, Any]", found), name=spec.name)


def prompt_of(source: Any) -> PromptSpec | None:
    """The prompt that a rubric was loaded from by name or path; None for a file of the rubric alone, and for data."""
    if not isinstance(source, str | Path) or Path(source).suffix.lower() in _FILES:
        return None
    return prompts.load(source)


def prompt_for(rubric: Rubric, ask: str) -> PromptSpec:
    """The shipped prompt that asks for the rubric's shape of reply; one criterion at a time, for plain scores."""
    return prompts.shipped("rubric" if ask == "each" else _PROMPTS[rubric.shape])
