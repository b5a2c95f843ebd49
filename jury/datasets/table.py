"""CSV and TSV -> (line, row of texts). The delimiter is told from the first rows; no text becomes a number.

Strict: a row that is too short or too long, a doubled column and an open quote are errors with their line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice

from jury.datasets.jsonlines import looks_like_json
from jury.datasets.source import Source
from jury.summary import count

Record = tuple[int, dict[str, str]]
_DELIMITERS = ",;\t|"
_NAMES = {",": "comma", ";": "semicolon ;", "\t": "tab", "|": "bar |"}
_SAMPLE = 50  # lines looked at to tell the delimiter
_LONGEST_CELL = 2**31 - 1
_SEP = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_PIECES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def read_table(source: Source, delimiter: str | None = None) -> Iterator[Record]:
    """The rows of a table with a header. `delimiter` None: told from the text."""
    lines = _line_texts(source)
    sample = list(islice(lines, _SAMPLE))
    skipped = 0
    if sample and (found := _SEP.fullmatch(sample[0])):
        delimiter, skipped = delimiter or found[1], 1
        del sample[0]
    header_line = next((t for t in sample if t.strip()), "")
    if looks_like_json(header_line) and ":" in header_line:
        raise source.error("holds JSON, not a table: name it .jsonl or .json", "bad_csv", skipped + 1)
    # The limit of the csv module is one for the process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    delimiter = delimiter or _guess(sample, source, complete=len(sample) < _SAMPLE - skipped)
    yield from _Rows(source, delimiter, skipped).walk(chain(sample, lines))


class _Rows:
    def __init__(self, source: Source, delimiter: str, skipped: int) -> None:
        self.source, self.delimiter, self.skipped = source, delimiter, skipped
        self.columns: list[str] = []

    def walk(self, lines: Iterator[str]) -> Iterator[Record]:
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        while True:
            line = reader.line_num + 1 + self.skipped
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self.source.error(_reason(error), "bad_csv", line) from None
            if not cells or (len(cells) == 1 and cells[0].isspace()):
                continue
            if not self.columns:
                self.columns = self._header(cells, line)
                continue
            if len(cells) != len(self.columns):
                raise self.source.error(self._ragged(cells), "ragged_row", line)
            yield line, dict(zip(self.columns, cells, strict=True))

    def _header(self, cells: list[str], line: int) -> list[str]:
        names = [c.strip() or f"column_{i}" for i, c in enumerate(cells, 1)]
        for i, name in enumerate(names):
            if name in names[:i]:
                at = f"columns {names.index(name) + 1} and {i + 1}"
                raise self.source.error(f"the column {name!r} occurs twice ({at})", "duplicate_column", line)
        return names

    def _ragged(self, cells: list[str]) -> str:
        have, want = len(cells), len(self.columns)
        sign = _NAMES.get(self.delimiter, self.delimiter)
        counted = f"{count(have, 'cell')} where the header has {want} (delimiter: {sign})"
        if have < want:
            return f"{counted}; missing: {', '.join(self.columns[have:])}"
        return f"{counted}; put cells that hold the delimiter into quotes"


def _line_texts(source: Source) -> Iterator[str]:
    """Lines for the csv module, which wants a lone carriage return to end a line too (old spreadsheets write them)."""
    for _, text in source.lines():
        if "\r" in text.removesuffix("\n").removesuffix("\r"):
            yield from _PIECES.findall(text)
        else:
            yield text


def _guess(sample: list[str], source: Source, *, complete: bool) -> str:
    """The delimiter under which header and first rows have the same number of cells, more than one."""
    named_tab = source.stem.endswith((".tsv", ".tab"))
    order = "\t,;|" if named_tab else _DELIMITERS
    scores: dict[str, tuple[int, int]] = {}
    for sign in order:
        widths = _widths(sample, sign, complete)
        if widths and widths[0] > 1:
            agreeing = sum(w == widths[0] for w in widths)
            scores[sign] = (int(agreeing == len(widths)), widths[0])
    if not scores or (named_tab and scores.get("\t", (0, 0))[0]):
        return order[0]
    best = max(scores.values())
    winners = [sign for sign in order if scores.get(sign) == best]
    if len(winners) > 1 and order[0] not in winners:
        names = " or ".join(_NAMES[w] for w in winners)
        raise source.error(f"the delimiter could be {names}: name it", "delimiter", 1)
    return winners[0]


def _widths(sample: list[str], sign: str, complete: bool) -> list[int]:
    """Cells per row of the sample under one delimiter; the last row may be cut by the sample's end."""
    widths: list[int] = []
    try:
        widths.extend(len(cells) for cells in csv.reader(sample, delimiter=sign, strict=True) if cells)
    except csv.Error:
        return widths
    return widths if complete or len(widths) < 2 else widths[:-1]


def _reason(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end of data" in text:
        return "a quote opened in this row is never closed"
    if "expected after" in text:
        return "text after a closing quote; a quote inside a quoted cell is written twice"
    return f"not a valid table: {text}"
