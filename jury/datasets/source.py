"""Bytes into numbered lines of text: files, standard input, gzip and zstd, byte order marks, UTF-16. Knows no format.

Only a line feed ends a line: the separators of Unicode, form feeds and lone carriage returns are text. UTF-8 is read
whatever the locale says; a byte that is not UTF-8 is an error that names its line, never replaced and never guessed.
"""

from __future__ import annotations

import codecs
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any, cast

from jury.datasets.packed import unpacked
from jury.errors import ConfigError, DataError

STDIN = "-"
HEAD = 4096  # bytes looked at to tell compression and encoding
_MARKS = (  # the longer marks first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook: save it as CSV"),
    (b"PAR1", "a Parquet file, which cannot be read from a pipe"),
    (b"\xfd7zXZ\x00", "packed with xz: unpack it first (xz -dk FILE)"),
    *((b"BZh%d1AY&SY" % n, "packed with bzip2: unpack it first (bzip2 -dk FILE)") for n in range(1, 10)),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3", "an SQLite database: export the table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook: save it as CSV"),
)


class Source(AbstractContextManager["Source"]):
    """An opened input. `lines` can be walked once; `stem` is the file's name without `.gz` or `.zst`."""

    def __init__(self, path: str | Path, encoding: str | None = None) -> None:
        self._stack = ExitStack()
        self.is_stdin = str(path) == STDIN
        self.name = "<stdin>" if self.is_stdin else str(path)
        name = "" if self.is_stdin else Path(path).name.lower()
        self.stem = name.removesuffix(".gz").removesuffix(".zst")
        with ExitStack() as undo:  # what goes wrong here must not leave the file open
            undo.callback(self._stack.close)
            raw = _stdin() if self.is_stdin else self._open(Path(path))
            self._bytes = unpacked(raw)
            self.encoding = self._encoding(encoding)
            undo.pop_all()

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def error(self, message: str, kind: str, line: int | None = None) -> DataError:
        """A `DataError` that begins with the file's name and the line."""
        where = self.name if line is None else f"{self.name}, line {line}"
        return DataError(f"{where}: {message}", kind, file=self.name, line=line)

    def lines(self) -> Iterator[tuple[int, str]]:
        """(number from 1, text with its line end). Raises `DataError` of kind `encoding` or `unreadable`."""
        number = 0
        try:
            for number, text in self._wide() if self.encoding.startswith(("utf-16", "utf-32")) else self._narrow():
                yield number, text
        except (EOFError, zlib.error, OSError) as error:
            reason = "ends in the middle: it was cut off" if isinstance(error, EOFError) else f"cannot be read: {error}"
            raise self.error(reason, "unreadable", number + 1) from None

    def first_text(self) -> str:
        """The beginning of the text, as far as it can be looked at without taking it away."""
        return self._bytes.peek(HEAD)[:HEAD].decode(self.encoding, errors="ignore")

    def _narrow(self) -> Iterator[tuple[int, str]]:
        """Encodings in which the byte 0x0A is a line feed and nothing else."""
        encoding = "utf-8" if self.encoding == "utf-8-sig" else self.encoding
        for number, line in enumerate(self._bytes, 1):
            try:
                text = line.decode(encoding)
            except UnicodeDecodeError as error:
                found = f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
                cure = "Save the file as UTF-8, or name its encoding (--encoding latin-1, say)"
                message = f"not {encoding.upper()} ({found}). {cure}"
                raise self.error(message, "encoding", number) from None
            yield number, text.lstrip("\ufeff") if number == 1 else text  # some programs write the mark twice

    def _wide(self) -> Iterator[tuple[int, str]]:
        number = 0
        reader = io.TextIOWrapper(cast("IO[bytes]", self._bytes), encoding=self.encoding, newline="\n")
        self._stack.callback(reader.detach)
        try:
            for number, text in enumerate(reader, 1):
                yield number, text.lstrip("\ufeff") if number == 1 else text
        except UnicodeError as error:
            raise self.error(f"not {self.encoding.upper()}: {error}", "encoding", number + 1) from None

    def _open(self, path: Path) -> io.BufferedReader:
        try:
            return self._stack.enter_context(path.open("rb"))
        except FileNotFoundError:
            raise self.error(f"no such file{_near_file(path)}", "not_found") from None
        except OSError as error:
            raise self.error(f"cannot be opened: {error.strerror or error}", "unreadable") from None
        except ValueError as error:  # a name with a NUL in it
            raise self.error(f"cannot be opened: {error}", "unreadable") from None

    def _encoding(self, wanted: str | None) -> str:
        try:
            head = self._bytes.peek(HEAD)[:HEAD]
        except (EOFError, zlib.error, OSError) as error:
            raise self.error(f"cannot be unpacked: {error}", "unreadable") from None
        if head[257:262] == b"ustar":
            raise self.error("is a tar archive: unpack it and give the file inside", "unreadable")
        for magic, what in _FOREIGN:
            if head.startswith(magic):
                raise self.error(f"is {what}", "unreadable")
        if wanted is not None:
            try:
                return codecs.lookup(wanted).name
            except LookupError:
                raise ConfigError(f"unknown encoding {wanted!r}") from None
        for mark, encoding in _MARKS:
            if head.startswith(mark):
                return encoding
        return _without_mark(head)


def _without_mark(head: bytes) -> str:
    """UTF-8, unless so many bytes are zero that it can only be UTF-16 whose mark is missing."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) * 10 < len(head) or min(even, odd) * 10 > max(even, odd) or not head:
        return "utf-8"  # zeros on both sides are the unwritten end of a torn file
    return "utf-16-le" if odd > even else "utf-16-be"


def _stdin() -> io.BufferedReader:
    stream: Any = sys.stdin
    if stream is not None and stream is sys.__stdin__:
        with suppress(OSError, ValueError):  # no file behind it, or closed
            # A buffer of its own: a thread that waits in it for another program would hold the lock of `sys.stdin`, and
            # an interpreter that ends meanwhile aborts on that.
            return io.BufferedReader(io.FileIO(stream.fileno(), "rb", closefd=False))
    raw: Any = getattr(stream, "buffer", None)
    if raw is None:  # a text stream put in its place, or none at all
        raw = io.BytesIO(b"" if stream is None else stream.read().encode("utf-8"))
    return raw if hasattr(raw, "peek") else io.BufferedReader(raw)


def _near_file(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir()]
    except OSError:
        return f" (there is no folder {path.parent})"
    near = get_close_matches(path.name, names, n=2, cutoff=0.6)
    return f" (did you mean {' or '.join(near)}?)" if near else ""
