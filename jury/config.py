"""The configuration file and the environment: default judges, own providers, own prices. Never read at import.

The file is `jury.yaml` in the working directory, or what `JURY_CONFIG` names:

    judges: [openai/gpt-5-mini, anthropic/claude-haiku-4-5]
    providers:
      my-server: {base_url: "http://localhost:8000/v1", key_env: MY_SERVER_KEY}
    prices:                       # US dollars per million tokens
      my-server/my-model: {input: 0.10, output: 0.40}

Keys stand in the environment, never in this file. On the command line a judge may also be a function (`file.py:name`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, cast

from jury.errors import ConfigError, install
from jury.values import inside

FILE = "jury.yaml"
_DEEPEST, _MOST_NODES = 100, 1_000_000  # of a YAML file, its aliases unfolded
_KNOWN = ("judges", "providers", "prices")


@dataclass(frozen=True, slots=True)
class Config:
    """What a configuration file says; all of it optional. `path` is None where there is no file."""

    judges: tuple[str, ...] = ()
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    path: Path | None = None


_cache: dict[tuple[str, int], Config] = {}


def load() -> Config:
    """The configuration in force. Raises `ConfigError` naming the file and what is wrong with it."""
    named = os.environ.get("JURY_CONFIG")
    path = Path(named) if named else Path(FILE)
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        if named:
            raise ConfigError(f"JURY_CONFIG names {named}, which cannot be read") from None
        return Config()
    key = (str(path.resolve()), stamp)
    if key not in _cache:
        _cache[key] = read(path)
    return _cache[key]


def read(path: Path) -> Config:
    """One configuration file. Raises `ConfigError`."""
    data: Any = read_yaml(path) or {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold a mapping at the top, got {type(data).__name__}")
    given = cast("dict[str, Any]", data)
    unknown = [k for k in given if k not in _KNOWN]
    if unknown:
        raise ConfigError(f"{path}: unknown {unknown}; known are {list(_KNOWN)}")
    judges: Any = given.get("judges") or []
    if not isinstance(judges, list) or not all(isinstance(j, str) and j.strip() for j in cast("list[Any]", judges)):
        raise ConfigError(f"{path}: judges must be a list of judge ids, such as openai/gpt-5-mini")
    tables: dict[str, dict[str, Any]] = {}
    for name in ("providers", "prices"):
        table: Any = given.get(name) or {}
        if not isinstance(table, dict):
            raise ConfigError(f"{path}: {name} must be a mapping")
        tables[name] = cast("dict[str, Any]", table)
        for key, value in tables[name].items():
            if not isinstance(key, str) or not isinstance(value, dict):  # YAML has other keys than texts
                raise ConfigError(f"{path}: {name}.{key} must be a mapping under a text")
    return Config(tuple(cast("list[str]", judges)), tables["providers"], tables["prices"], path)


def read_yaml(path: Path) -> Any:
    """What a YAML file holds. Raises `ConfigError`, one line, with the file's own line or near files."""
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file{_near(path)}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a readable YAML file: not UTF-8 (byte {error.start})") from None
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path, *, what: str = "", first: int = 1) -> Any:
    """What a YAML text holds. `what`: which part of the file it is, `first`: the line on which it begins.

    Raises `ConfigError` for a key that stands twice too, and for aliases that unfold without end.
    """
    import yaml

    try:
        made = yaml.load(text, _once())
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{what}{yaml_fault(path, error, first)}") from None
    level, left = [made], _MOST_NODES
    for _ in range(_DEEPEST):
        level = list(islice((inner for outer in level for inner in inside(outer)), left))
        left -= len(level)
        if not level:
            return made
        if not left:
            break
    raise ConfigError(f"{what}{path} is not a readable YAML file: its aliases unfold into too much")


def _once() -> Any:
    """YAML's safe loader, to which a key that stands twice is an error: the first one would be lost in silence."""
    import yaml

    class Once(yaml.SafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and str(key.value) in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                    )
                seen.add(str(key.value))
            return super().construct_mapping(node, deep)

    return Once


def yaml_fault(path: Path, error: Exception, first: int = 1) -> str:
    """Where a YAML text is broken and how, in one sentence. `first`: the line of the file on which the text begins."""
    mark: Any = getattr(error, "problem_mark", None)
    where = f", line {mark.line + first}, column {mark.column + 1}," if mark is not None else ""
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is nested too deep"
    hint = ""
    if any(part in what for part in ("mapping values", "expected ','", "could not find expected ':'")):
        hint = " (a text that holds `: `, or in brackets `,` `?` `[` or `{`, needs quotes)"
    return f"{path}{where} is not a readable YAML file: {what}{hint}"


def _near(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir()]
    except OSError:
        return f" (there is no folder {path.parent})"
    found = get_close_matches(path.name, names, n=1)
    return f" (did you mean {path.parent / found[0]}?)" if found else ""


def named_judges() -> tuple[str, ...]:
    """The panel that `JURY_JUDGES` (ids with commas), `JUDGE_MODEL` or the file names; empty where none does."""
    listed = tuple(j.strip() for j in os.environ.get("JURY_JUDGES", "").split(",") if j.strip())
    single = os.environ.get("JUDGE_MODEL", "").strip()
    return listed or ((single,) if single else load().judges)


def default_judges() -> tuple[str, ...]:
    """The panel where none is given: `named_judges`; else `ConfigError`."""
    judges = named_judges()
    if not judges:
        raise ConfigError(
            "no judges: name them (judges=[...], --judges), or set JURY_JUDGES=openai/<model>,anthropic/<model>, or "
            f"list `judges:` in {FILE}. Without any key: local/qwen2.5-coder-1.5b, after {install('local')}"
        )
    return judges
