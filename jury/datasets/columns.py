"""Which column is which field: the names people use, and the column map (`--map output=response.text`).

A field is looked for under its own name first, then under usual ones; two usual ones with different values are an
error, never a guess. Knows nothing of files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Protocol, cast

from jury.datasets.row import Row
from jury.errors import ConfigError, DataError
from jury.frozen import frozen
from jury.names import BARE
from jury.templates import Template

# Field -> the names it is looked for under. The first is the field's own name, and wins over the others.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "uid"),
    "trace_id": ("trace_id", "traceId"),
    "input": ("input", "question", "prompt", "query", "user_input", "instruction", "messages"),
    "output": (
        "output",
        "answer",
        "response",
        "completion",
        "prediction",
        "generation",
        "actual_output",
        "model_output",
    ),
    "expected_output": (
        "expected_output",
        "reference",
        "expected",
        "reference_answer",
        "references",
        "ground_truth",
        "gold",
    ),
    "context": ("context", "contexts", "retrieved_contexts", "retrieval_context"),
    "system_instructions": ("system_instructions", "system_prompt", "system"),
    "model": ("model", "target_model"),
    "error": ("error", "target_error"),
    "response_a": ("response_a", "answer_a", "output_a", "completion_a", "a"),
    "response_b": ("response_b", "answer_b", "output_b", "completion_b", "b"),
    "model_a": ("model_a",),
    "model_b": ("model_b",),
    "error_a": ("error_a",),
    "error_b": ("error_b",),
}
_NAMES = {field: frozenset(names) for field, names in FIELDS.items()}
_OWN = {name: field for field, names in FIELDS.items() for name in names}
# Alpaca files split one question over two columns; taking either alone would lose half of it.
_SPLIT = ("input", "instruction")
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+)\]")
_NEXT_PAIR = re.compile(r",\s*(?=[A-Za-z_]\w*\s*=)")
_FAMILY = re.compile(r"\{\{\s*(" + "|".join(sorted(BARE)) + r")\s*\}\}")
_SHOWN = 12  # columns named in an error


@frozen
class Found:
    """A field's value and the column it came from."""

    value: Any
    column: str


class Fields(Protocol):
    """The fields of one row by their names. `get` raises `DataError` as `find` does."""

    def get(self, field: str, /) -> Any: ...

    def __contains__(self, field: object, /) -> bool: ...


def parse_map(texts: Iterable[str]) -> dict[str, str]:
    """`["input=question,output=answer"]` as a mapping. A template may hold commas: `input={{question}}, {{context}}`.

    Raises `ConfigError` for a text that is no map, an unknown field or one that is given twice.
    """
    pairs = [pair for text in texts for pair in _NEXT_PAIR.split(text)]
    made: dict[str, str] = {}
    for pair in pairs:
        name, sign, source = pair.partition("=")
        if not sign or not name.strip():
            raise ConfigError(f"a column map is written FIELD=COLUMN, got {pair!r}")
        field = _field(name.strip())
        if field in made:
            raise ConfigError(f"the column map gives {field} twice")
        made[field] = source.strip()
    return made


class ColumnMap:
    """A column map, compiled: a field's source is a column, a path (`response.text`, `choices[0].text`) or a template.

    An empty source switches a field off, so that no usual name is looked for.
    """

    def __init__(self, mapping: Mapping[str, str] | None) -> None:
        self._sources = [(_field(name), _Source(source)) for name, source in (mapping or {}).items()]

    def apply(self, row: Row) -> dict[str, Any]:
        """The mapped fields of one row. Raises `DataError` of kind `missing_column`."""
        return {field: source.read(row) for field, source in self._sources}


class _Source:
    def __init__(self, text: str) -> None:
        self.text = text
        self.template = _template(text) if "{{" in text else None

    def read(self, row: Row) -> Any:
        if not self.text:
            return None
        if self.template is None:
            return follow(row, self.text)
        for tag in self.template.tags:  # inside a section names belong to its elements, which a row may lack
            if tag.sort == "variable" and tag.scope is None:
                follow(row, tag.name.removeprefix("row."))
        return self.template.render({**row.values, "row": row.values})


def _template(text: str) -> Template:
    """In prompts `{{input}}` and its like are families without a text; in a column map they are columns."""
    return Template(_FAMILY.sub(r"{{row.\1}}", text), name="column map")


def follow(row: Row, path: str) -> Any:
    """A column's value by its name, or by a path into it. Below a null there is null."""
    if path in row.values:
        return row.values[path]
    value: Any = row.values
    walked = ""
    for name, index in _STEP.findall(path):
        if value is None:
            return None
        value = _step(value, name or index, row, path, walked)
        walked = f"{walked}.{name}" if walked and name else walked + (name or f"[{index}]")
    return value


def _step(value: Any, key: str, row: Row, path: str, walked: str) -> Any:
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError):
            value = json.loads(value)  # a table's cell, or JSON within JSON
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, Any]", value)
        if key in inner:
            return inner[key]
        raise missing(row, [path], of=list(inner), within=walked)
    kind = type(value).__name__
    if isinstance(value, list) and re.fullmatch(r"-?\d+", key):
        items = cast("list[Any]", value)
        if -len(items) <= int(key) < len(items):
            return items[int(key)]
        raise missing(row, [path], of=[f"{len(items)} elements"], within=walked)
    raise missing(row, [path], of=[f"a {kind}"], within=walked)


def find(row: Row, field: str) -> Found | None:
    """A field of a row: as mapped, else under its own name, else under the one usual name that the row has.

    Raises `DataError` of kind `ambiguous_column` where usual names disagree.
    """
    if field in row.mapped:
        return Found(row.mapped[field], field) if row.mapped[field] is not None else None
    values = row.values
    if _NAMES[field].isdisjoint(values):  # most fields of most rows
        return None
    names = FIELDS[field]
    if names[0] in values and not (field == "input" and values.get("instruction")):
        return Found(values[names[0]], names[0])
    there = [n for n in names if n in values]
    first = values[there[0]]
    if any(values[n] != first for n in there[1:]):
        several = " and ".join(there)
        both = "".join(f"{{{{{n}}}}} " for n in _SPLIT).strip() if set(there) == set(_SPLIT) else there[0]
        raise DataError(
            f"{row.place}: {several} could each be the {field}; say which: --map '{field}={both}'",
            "ambiguous_column",
            file=row.file,
            line=row.line,
        )
    return Found(first, there[0])


def fields_of(row: Row) -> Fields:
    """The fields of a row, each as `find` finds it. Rows with the same columns share the search for them."""
    columns = None if row.mapped else _columns(tuple(row.values))
    if columns is None:
        return _Sought(row)
    values = row.values
    return {field: values[name] for field, name in columns}


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> tuple[tuple[str, str], ...] | None:
    """(field, its column) for all rows with these columns; None where that depends on their values."""
    made: list[tuple[str, str]] = []
    for field, usual in FIELDS.items():
        there = [n for n in usual if n in names]
        if len(there) > 1 and (there[0] != usual[0] or "instruction" in there):
            return None
        if there:
            made.append((field, there[0]))
    return tuple(made)


class _Sought:
    """The fields of a row that are looked for one by one."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def get(self, field: str, /) -> Any:
        found = find(self._row, field)
        return found.value if found else None

    def __contains__(self, field: object, /) -> bool:
        return find(self._row, cast("str", field)) is not None


def need(row: Row, field: str) -> Any:
    """The value of a field that must be there. Raises `DataError` of kind `missing_column` naming what is."""
    found = find(row, field)
    if found is None and field not in row.mapped:
        raise missing(row, FIELDS[field], field=field)
    return found.value if found else None


def missing(
    row: Row, names: Sequence[str], *, field: str = "", of: Sequence[str] | None = None, within: str = ""
) -> DataError:
    """A `DataError` that says what is missing, what is there and what comes near."""
    there = list(row.values) if of is None else list(of)
    shown = ", ".join(there[:_SHOWN]) + (f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else "")
    near = [n for name in names for n in get_close_matches(name.rsplit(".", 1)[-1], there, n=1, cutoff=0.6)]
    what = f"no column for the {field} (looked for {', '.join(names)})" if field else f"no column {', '.join(names)}"
    text = f"{row.place}: {what}; {within or 'the row'} has {shown or 'nothing'}"
    if near:
        text += f" (did you mean {near[0]}?)"
    if field:
        column = near[0] if near else "COLUMN"
        made = ", or a target that makes it" if field == "output" else ""
        text += f". Say which: --map {field}={column} (in a run file: map: {{{field}: {column}}}{made})"
    return DataError(text, "missing_column", file=row.file, line=row.line)


def _field(name: str) -> str:
    field = name if name in FIELDS else _OWN.get(name)
    if field is None:
        near = get_close_matches(name, _OWN, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ConfigError(f"the column map names no field {name!r}{hint}; fields: {', '.join(FIELDS)}")
    return field
