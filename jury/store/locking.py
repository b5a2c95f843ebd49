"""One writer at a time: a lock that the system takes back when its process ends, however it ends."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from jury.errors import DataError
from jury.store.lines import check_no_link, unwritable

FILE = "lock"


class FolderLock(AbstractContextManager["FolderLock"]):
    """Held from construction to `release`. Raises `DataError` of kind `locked` that says who has it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        check_no_link(self._path)
        try:
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise unwritable(self._path, error) from None
        if not _take(self._fd, wait=False):
            owner = _owner(self._path)
            os.close(self._fd)
            raise DataError(
                f"{folder} is being written by another process{owner}: wait for it to end, or use another folder",
                "locked",
                file=str(folder),
            )
        with suppress(OSError):  # who holds it is only for the message; a full disk must not hide what follows
            os.ftruncate(self._fd, 0)
            os.write(self._fd, json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": _now()}).encode())

    def release(self) -> None:
        with suppress(OSError):
            os.ftruncate(self._fd, 0)
        os.close(self._fd)

    def __exit__(self, *_: object) -> None:
        self.release()


@contextmanager
def waiting(path: Path) -> Generator[None]:
    """A lock for one short step; waits for whoever has it."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        _take(fd, wait=True)
        yield
    finally:
        os.close(fd)


def _take(fd: int, *, wait: bool) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            os.lseek(fd, 1 << 30, os.SEEK_SET)  # far from the text that says who holds it
            msvcrt.locking(fd, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a network folder without locks: two writers cannot be told apart there
        return True
    return True


def _owner(path: Path) -> str:
    try:
        said: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    if not isinstance(said, dict):
        return ""
    who = cast("dict[str, Any]", said)
    return f" (process {who.get('pid')} on {who.get('host')}, since {who.get('since')})"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
