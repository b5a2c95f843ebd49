"""What a command leaves behind beside a run: `summary.json`, the folder of the demo, and the JSON on stdout."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

from jury.errors import ConfigError
from jury.results import Comparison, PanelResult
from jury.store.manifest import FILE as MANIFEST

RESULTS, SUMMARY = "results.jsonl", "summary.json"
LONE = "backslashreplace"  # half a surrogate pair becomes an escape, which is JSON; a reply may hold one


class Folder(AbstractContextManager["Folder"]):
    """The folder of `jury demo -o`, which is no run folder. Every line is flushed."""

    def __init__(self, path: str | None, *, overwrite: bool, results: str = RESULTS) -> None:
        self.path = Path(path) if path is not None else None
        self._file: IO[str] | None = None
        if self.path is None:
            return
        held = self.path / results
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if (self.path / MANIFEST).exists():
                raise ConfigError(f"{self.path} holds a run: choose another folder")
            if held.exists() and held.stat().st_size and not overwrite:
                raise ConfigError(f"{held} holds results already: choose another folder, or --overwrite")
            with contextlib.suppress(FileNotFoundError):
                (self.path / SUMMARY).unlink()  # a summary of other results must not stand beside these
            self._file = held.open("w", encoding="utf-8", errors=LONE, newline="\n")
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def add(self, result: PanelResult | Comparison) -> None:
        """One more line. Raises `ConfigError` where the disk is full or the folder is gone."""
        if self._file is None:
            return
        try:
            self._file.write(result.to_json() + "\n")
            self._file.flush()
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # every line was flushed; a full disk was told when it happened
                self._file.close()


def write_summary(folder: str | None, summary: Mapping[str, Any]) -> None:
    """Writes summary.json, whole or not at all; nothing without a folder."""
    if folder is None:
        return
    final, part = Path(folder) / SUMMARY, Path(folder) / f".{SUMMARY}.{os.getpid()}"
    try:
        part.write_text(json.dumps(summary, ensure_ascii=False, indent=2, allow_nan=False) + "\n", "utf-8", LONE)
        part.replace(final)
    except OSError as error:
        raise _unwritable(Path(folder), error) from None


def _unwritable(path: Path | None, error: OSError) -> ConfigError:
    told = {errno.EEXIST: "a file of that name is there", errno.ENOTDIR: "a part of its path is a file"}
    return ConfigError(f"{path}: cannot be written: {told.get(error.errno or 0, error.strerror or error)}")


class JsonStream:
    """`{"results": [...], "summary": {...}}` on stdout, a line for each result as it comes. Strict JSON."""

    def __init__(self, on: bool) -> None:
        self._on = on
        self._count = 0
        self._out = sys.stdout  # which stands aside while judge functions run

    def add(self, result: PanelResult | Comparison) -> None:
        if self._on:
            self._out.write((",\n" if self._count else '{"results": [\n') + result.to_json())
            self._count += 1

    def finish(self, summary: Mapping[str, Any]) -> None:
        if self._on:
            opening = "" if self._count else '{"results": ['
            text = json.dumps(summary, ensure_ascii=False, allow_nan=False)
            self._out.write(f'{opening}\n], "summary": {text}}}\n')


def aside() -> AbstractContextManager[Any]:
    """While judges are asked: what their functions print is no result, and goes to stderr."""
    return contextlib.redirect_stdout(sys.stderr)


def print_json(value: Any) -> None:
    """One JSON value on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
