"""Rows on their way to the jury: checked before anything is paid, counted, and known again when their results come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import fields
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from jury.cli.asked import Asked
from jury.data import Output
from jury.datasets import FIELDS, STDIN, Joined, Row, find, parse_map, rows, to_pair
from jury.errors import DataError, JuryError
from jury.summary import count
from jury.tasks import in_thread

T = TypeVar("T")


def pair_fields(row: Row) -> dict[str, Any]:
    """A row as the keywords of `compare`."""
    pair = to_pair(row)
    return {f.name: getattr(pair, f.name) for f in fields(pair)}


def read(asked: Asked) -> Iterator[Row]:
    """The rows of the file that was given, or of both, each pair one row."""
    return rows(pairs_of(asked)) if asked.other else _read_one(asked)(asked.file)


def pairs_of(asked: Asked) -> Joined:
    """The two files that were given, as pairs."""
    return Joined((asked.file, asked.other or ""), _read_one(asked))


def _read_one(asked: Asked) -> Callable[[str], Iterator[Row]]:
    return partial(rows, mapping=parse_map(asked.map), encoding=asked.encoding, delimiter=asked.delimiter)


class Items(Generic[T]):
    """The items of a data file. `make` turns a row into one (`to_item`, `to_pair`); `id_of` reads its id."""

    def __init__(self, asked: Asked, make: Callable[[Row], T], id_of: Callable[[T], str | None]) -> None:
        self._asked = asked
        self._make = make
        self._id_of = id_of
        parse_map(asked.map)  # what is wrong with it is told before the file is opened
        self._numbers: dict[str | None, int] = {}
        self.fault: JuryError | None = None
        self.empty = 0  # outputs that hold nothing, of those that were read

    def count(self) -> int | None:
        """How many items there are, every one of them read and checked; None for pipes, whose rows come once.

        Raises `DataError`: a torn line at the end of a file is told before the first call, not after the last.
        """
        if comes_once(self._asked.file):
            return None
        return sum(1 for _ in self._walk())

    def ids(self) -> set[str] | None:
        """The ids of all items; as `count`, for a run that reads the file itself."""
        if comes_once(self._asked.file):
            return None
        found: set[str] = set()
        for _, item in self._walk():
            found.add(str(self._id_of(item)))
            self.empty += sum(map(holds_nothing, _outputs(item)))
        return found

    def __aiter__(self) -> AsyncIterator[T]:
        return self._stream()

    def number(self, item_id: str | None) -> int:
        """The row number of a result's item, from 1. Asked once for each result."""
        return self._numbers.pop(item_id, 0)

    def _walk(self) -> Iterator[tuple[int, T]]:
        asked = self._asked
        for row in islice(read(asked), asked.limit):
            yield row.number, self._make(row)

    async def _stream(self) -> AsyncIterator[T]:
        walk = self._walk()
        waits = comes_once(self._asked.file)  # another program's output: the calls in flight must not wait with it
        while True:
            try:
                found = await in_thread(lambda: next(walk, None)) if waits else next(walk, None)
            except JuryError as error:  # ends the stream: what is being judged was paid for and comes to its end
                self.fault = error
                return
            if found is None:
                return
            number, item = found
            self._numbers[self._id_of(item)] = number
            self.empty += sum(map(holds_nothing, _outputs(item)))
            yield item


def holds_nothing(output: Any) -> bool:
    """Is this an output without a word or a call? One whose target errored is another matter."""
    if not isinstance(output, Output):
        return isinstance(output, str) and not output.strip()
    other = output.reasoning or output.tool_calls or output.error is not None or output.value not in (None, "")
    return not other and not output.text.strip()


def _outputs(item: Any) -> tuple[Any, ...]:
    """The outputs of what a row was made into."""
    if isinstance(item, tuple):
        return cast("tuple[Any, ...]", item)[1:]
    return (item["response_a"], item["response_b"])


def comes_once(file: str) -> bool:
    """Is it standard input or another pipe, such as `<(command)`?"""
    path = Path(file)
    return file == STDIN or (path.exists() and not path.is_file() and not path.is_dir())


def no_input(asked: Asked, wanted: frozenset[str]) -> str | None:
    """What to say where judges are to read the question and the first row has none; pipes are not looked into."""
    asks = any(name.split(".")[0] in ("input", "log", "question") and "expected" not in name for name in wanted)
    if comes_once(asked.file) or not asks or find(row_at(asked, 1), "input") is not None:
        return None
    return f"note: no column for the input (looked for {', '.join(FIELDS['input'])}): judges see no question"


def row_at(asked: Asked, number: int) -> Row:
    """The row of that number, from 1. Raises `DataError` where there are fewer."""
    last = 0
    for row in read(asked):
        if row.number == number:
            return row
        last = row.number
    raise DataError(f"{asked.file} has {count(last, 'row')}; there is no row {number}", "no_rows", file=asked.file)
