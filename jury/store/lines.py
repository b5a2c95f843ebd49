"""Files of JSON lines that are only ever appended to: whole lines, a hash chain, a torn end repaired. Knows no record.

Each line ends with `"prev"`, a digest of the line before it, so a changed, lost or inserted line shows (`broken`). A
line that a kill or a full disk cut short is dropped when the file is opened for writing, passed over when it is read.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from jury.errors import DataError

logger = logging.getLogger("jury.store")
START = "0" * 32  # what the first line has for `prev`
_BLOCK = 1 << 16
# What holds itself is found by its depth (RecursionError); to look for it at each step would take a quarter more.
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), allow_nan=False, default=str
)
_DECODER = json.JSONDecoder()


def encode(value: Mapping[str, Any]) -> str:
    """A JSON object on one line. NaN and infinities become null, what JSON does not know becomes its text.

    Raises `DataError` for a number that cannot be written.
    """
    try:
        return _ENCODER.encode(value)
    except ValueError:
        finite = _finite(value)
    try:
        return json.dumps(finite, ensure_ascii=False, separators=(",", ":"), default=str)
    except ValueError:  # Python writes whole numbers of up to 4300 digits
        raise DataError("a whole number has more digits than can be written", "wrong_type") from None


def decode(text: str) -> Any:
    """The value that `encode` made a text of: no white space to look for, which is half of what `json.loads` does."""
    return _DECODER.raw_decode(text)[0]


def digest(data: bytes) -> str:
    """32 hexadecimal digits of SHA-256."""
    return hashlib.sha256(data).hexdigest()[:32]


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in cast("list[Any]", value)]
    return value


def _bytes(text: str) -> bytes:
    """A line with its end."""
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, as some exports hold: escaped, it is JSON again
        return json.dumps(json.loads(text), separators=(",", ":")).encode() + b"\n"


class Appender:
    """One file, opened for writing by one process. `size` is where the next line will stand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise unwritable(path, error) from None
        self.size = os.fstat(self._fd).st_size
        self.last = START
        try:
            self._repair()
        except OSError as error:
            os.close(self._fd)
            raise unwritable(path, error) from None
        except DataError:
            os.close(self._fd)
            raise

    def append(self, value: Mapping[str, Any]) -> int:
        """Writes one line; returns where it stands. Raises `DataError` and leaves no half line behind."""
        data = _bytes(f'{encode(value)[:-1]},"prev":"{self.last}"}}\n')
        place = self.size
        try:
            written = os.write(self._fd, data)
            if written < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, place)
            raise unwritable(self.path, error) from None
        self.size += len(data)
        self.last = digest(data)
        return place

    def read(self, place: int) -> dict[str, Any] | None:
        """The line that stands there; None where there is none that can be read."""
        block = b""
        while b"\n" not in block:
            more = os.pread(self._fd, 4096 if not block else _BLOCK, place + len(block))
            if not more:
                return None
            block += more
        return parse(block.partition(b"\n")[0])

    def sync(self) -> None:
        """Makes the lines safe against a power cut."""
        with suppress(OSError):  # some network folders refuse it
            os.fsync(self._fd)

    def close(self) -> None:
        self.sync()
        os.close(self._fd)

    def _repair(self) -> None:
        """Drops a last line that is cut short or unreadable. More than that is no torn end, and is not touched."""
        end = self.size
        for _ in range(3):
            line = self._line_before(end)
            if line is None or (line[1].endswith(b"\n") and parse(line[1]) is not None):
                self._cut(end)
                self.last = START if line is None else digest(line[1])
                return
            end = line[0]
        told = f"{self.path}: its last lines are no records of a run; move the file away to go on without it"
        raise DataError(told, "damaged", file=str(self.path))

    def _cut(self, end: int) -> None:
        if end == self.size:
            return
        lost = self.size - end
        logger.warning("%s: the last %d bytes are no whole record (a run was cut short); dropped", self.path, lost)
        os.ftruncate(self._fd, end)
        self.size = end

    def _line_before(self, end: int) -> tuple[int, bytes] | None:
        """Where the line that ends at `end` starts, and its bytes."""
        if end == 0:
            return None
        start, data = end, b""
        while start > 0:
            step = min(_BLOCK, start)
            start -= step
            data = os.pread(self._fd, step, start) + data
            cut = data.rfind(b"\n", 0, len(data) - 1)
            if cut >= 0:
                return start + cut + 1, data[cut + 1 :]
        return 0, data


def read_lines(path: Path, start: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """(where it stands, the object) for every line; a line that is none is told once and passed over."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}", "unreadable", file=str(path)) from None
    with file:
        file.seek(start)
        place = start
        number = 0
        for number, data in enumerate(file, 1):
            value = parse(data) if data.endswith(b"\n") else None
            if value is not None:
                yield place, value
            elif data.endswith(b"\n"):
                where = f"line {number}" if start == 0 else f"byte {place}"
                logger.warning("%s, %s: not a whole record; it is passed over", path, where)
            else:
                logger.warning("%s: the last line is cut off; it is passed over", path)
            place += len(data)


def broken(path: Path, head: str | None = None) -> list[str]:
    """What is wrong with the chain of a file, a sentence for each place. `head`: the digest its last line must have."""
    found: list[str] = []
    last = START
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return [] if head in (None, START) else [f"{path.name} is missing"]
    with file:
        for number, data in enumerate(file, 1):
            value = parse(data)
            if value is None or not data.endswith(b"\n"):
                found.append(f"{path.name}, line {number}: not a whole record")
            elif value.get("prev") != last:
                found.append(f"{path.name}, line {number}: the line before it was changed, added or removed")
            last = digest(data)
    if head is not None and last != head and not found:
        found.append(f"{path.name}: the last line is not the one that the manifest knows")
    return found


def parse(data: bytes) -> dict[str, Any] | None:
    """A line as an object; None where it is none."""
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):  # UnicodeDecodeError is one
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def check_no_link(path: Path) -> None:
    """Raises `DataError` for a symbolic link where a file is written over: what it points to is somebody's."""
    if path.is_symlink():
        told = f"{path}: a symbolic link, and what it points to would be written over: remove it, or use another folder"
        raise DataError(told, "unwritable", file=str(path))


def unwritable(path: Path, error: OSError) -> DataError:
    """A clear word for a full disk, a read-only folder and their like."""
    reason = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the quota is used up",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "no permission to write there",
        errno.EPERM: "no permission to write there",
        errno.EEXIST: "a file of that name is there",
        errno.ENOTDIR: "a part of its path is a file",
    }.get(error.errno or 0, error.strerror or str(error))
    hint = "; what was judged before is kept: make room and start the run again"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return DataError(f"{path}: cannot be written: {reason}{hint if full else ''}", "unwritable", file=str(path))
