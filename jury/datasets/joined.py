"""Two files of answers, one of each bot, as pairs: joined by id. The second file is held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from jury.datasets.columns import find, need
from jury.datasets.items import to_error
from jury.datasets.row import Row, id_text
from jury.errors import DataError
from jury.summary import count

_SHOWN = 3  # ids named in an error
_BOTH = ("input", "expected_output", "context", "system_instructions")  # of the item, whoever answers


@dataclass(frozen=True, slots=True)
class Joined:
    """The pairs of two files, as rows of a run. `read` reads one of them; both are read anew each time."""

    files: tuple[str, str]
    read: Callable[[str], Iterator[Row]]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return joined(*(partial(self.read, file) for file in self.files))


def joined(first: Callable[[], Iterator[Row]], second: Callable[[], Iterator[Row]]) -> Iterator[dict[str, Any]]:
    """The pairs in the order of the first file, as columns: A is its answer. Both are read again for each call.

    Columns of the first file stay. Raises `DataError`: of kind `missing_id` where a row has no id or the other file has
    none like it, `duplicate_id`, and `different_question` where the two rows do not ask the same.
    """
    theirs = {_id(row): row for row in second()}
    ours = {_id(row): row.file for row in first()}
    names = (next(iter(ours.values())), next(iter(theirs.values())).file)
    alone = (
        _alone([i for i in ours if i not in theirs], *names),
        _alone([i for i in theirs if i not in ours], *names[::-1]),
    )
    if any(alone):
        raise DataError("; ".join(filter(None, alone)), "missing_id", file=names[0])
    return (_pair(row, theirs[_id(row)]) for row in first())


def _id(row: Row) -> str:
    found = find(row, "id")
    text = id_text(found.value) if found else None
    if text is None:
        raise DataError(
            f"{row.place}: no id; two files are joined by it (another column: --map id=COLUMN)",
            "missing_id",
            file=row.file,
            line=row.line,
        )
    return text


def _alone(ids: Sequence[str], here: str, there: str) -> str:
    """What to say of ids that one file alone has."""
    if not ids:
        return ""
    named = ", ".join(repr(i) for i in ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
    return f"{count(len(ids), 'id')} of {here} {'is' if len(ids) == 1 else 'are'} not in {there}: {named}"


def _pair(a: Row, b: Row) -> dict[str, Any]:
    left_out = ("output", "error", "model", "instruction")  # the last is a part of the input, which stands whole
    made = {k: v for k, v in a.values.items() if k not in left_out} | {"id": _id(a)}
    for field in _BOTH:
        given = [found.value for row in (a, b) if (found := find(row, field)) is not None]
        if field == "input" and len(given) == 2 and given[0] != given[1]:
            raise DataError(
                f"{a.place} and {b.place}: both have the id {made['id']!r} but not the same question",
                "different_question",
                file=a.file,
                line=a.line,
            )
        if given:
            made[field] = given[0]
    for side, row in (("a", a), ("b", b)):
        for field in ("error", "model"):
            if (found := find(row, field)) is not None:
                made[f"{field}_{side}"] = found.value
        errored = to_error(made.get(f"error_{side}")) is not None
        made[f"response_{side}"] = None if errored and find(row, "output") is None else need(row, "output")
    return made
