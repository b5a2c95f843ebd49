"""A run folder as it grows: what came since the last look. Reads only, takes no lock, prints nothing.

Only whole lines count: a line that is being written, or was cut short by a kill, is read once it is whole.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from jury.errors import JuryError
from jury.runner.entries import entries, from_stdin
from jury.runner.spec import KINDS, RunSpec
from jury.runner.totals import Totals
from jury.store import RunManifest
from jury.store.index import RESULTS, short
from jury.store.lines import parse
from jury.store.locking import FILE as LOCK
from jury.store.manifest import FILE as MANIFEST

_BLOCK = 1 << 20


@dataclass(slots=True)
class Following:
    """A folder that is looked at again and again. `totals` are those of its results, the last line of an item counting.

    `running`: a process writes it, as far as can be told from here. Memory: about 150 bytes an item.
    """

    folder: Path
    manifest: RunManifest | None = None
    running: bool = False
    totals: Totals = field(default_factory=lambda: Totals("pointwise"))
    failed: int = 0  # votes, of the results that count
    _known: dict[int, tuple[str, str, float | None, bool, int]] = field(default_factory=dict[int, Any])
    _place: int = 0

    @property
    def done(self) -> int:
        """Items with a result."""
        return len(self._known)

    def look(self) -> bool:
        """Reads what is new; False where there is no run folder (yet). Raises `DataError` for a foreign one."""
        self.running = is_written(self.folder)  # first: what was written before it ended is read below
        if not (self.folder / MANIFEST).exists():
            return False
        self.manifest = RunManifest.read(self.folder)
        if self.totals.kind != self.manifest.kind:
            self._start_over()
        self._read()
        return True

    def _start_over(self) -> None:
        self.totals = Totals(self.manifest.kind if self.manifest else "pointwise")
        self._known.clear()
        self.failed = self._place = 0

    def _read(self) -> None:
        path = self.folder / RESULTS
        size = path.stat().st_size if path.exists() else 0
        if size < self._place:  # another run took the folder
            self._start_over()
        if size == self._place:
            return
        with path.open("rb") as file:
            file.seek(self._place)
            for data in file:
                if not data.endswith(b"\n"):
                    break
                self._place += len(data)
                line = parse(data)
                if line is not None and isinstance(line.get("result"), dict):
                    self._add(str(line.get("item")), cast("Mapping[str, Any]", line["result"]))

    def _add(self, item: str, result: Mapping[str, Any]) -> None:
        key, totals = short(item), self.totals
        before = self._known.get(key)
        if before is not None:
            word, reason, cost, unpriced, failed = before
            totals.counts[word] -= 1
            totals.reasons[reason] -= 1
            totals.cost -= cost or 0.0
            totals.unpriced -= unpriced
            self.failed -= failed
        one = Totals(totals.kind)
        word, reason = one.add(result), str(result.get("reason") or "")
        totals.counts[word] += 1
        totals.reasons[reason] += 1
        totals.cost += one.cost
        totals.unpriced += one.unpriced
        failed = one.failures.total()
        self.failed += failed
        self._known[key] = (word, reason, one.cost, bool(one.unpriced), failed)


def is_written(folder: Path) -> bool:
    """Whether a process writes the folder, by what its lock says; the lock itself is not touched.

    On another machine, a process that was killed cannot be told from one that is slow.
    """
    try:
        said: Any = json.loads((folder / LOCK).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):  # none, or empty: a writer that ends empties it
        return False
    who = cast("Mapping[str, Any]", said if isinstance(said, dict) else {})
    pid = who.get("pid")
    if not isinstance(pid, int) or who.get("host") != socket.gethostname() or os.name != "posix":
        return bool(who)
    try:
        os.kill(pid, 0)  # asks whether it is there, and does nothing to it
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def count_items(manifest: RunManifest) -> int | None:
    """How many items the data of a run hold: one file, a folder, all of a pattern or a list.

    None where that cannot be told (a pipe, data that are gone or were in memory).
    """
    path, spec = manifest.data.get("path") or manifest.data.get("paths"), manifest.spec
    if not path:
        return None
    kind = manifest.kind if manifest.kind in KINDS else "pointwise"
    given = {name: spec.get(name) for name in ("limit", "encoding", "delimiter", "target", "targets", "format")}
    try:
        same = RunSpec(path, kind=kind, map=cast("Any", manifest.data.get("map") or {}), **cast("Any", given))
        return None if from_stdin(same) else sum(1 for _ in entries(same))
    except JuryError:
        return None
