"""`RunWriter`: what a run writes and what it finds again. One process at a time; knows no jury."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, TypeVar

from jury.errors import DataError
from jury.judge import Prompt
from jury.store.at_risk import FILE as AT_RISK
from jury.store.at_risk import AtRisk
from jury.store.index import FILE as INDEX
from jury.store.index import ITEMS, JUDGMENTS, RESULTS, Index, Known, short
from jury.store.lines import Appender, unwritable
from jury.store.locking import FILE as LOCK
from jury.store.locking import FolderLock
from jury.store.manifest import FILE, RunManifest
from jury.store.outputs import OUTPUTS, StoredOutput
from jury.store.records import FREE_SOURCES, StoredItem, StoredJudgment, StoredResult
from jury.store.shown import SHOWN, Shown, taken, value_line
from jury.store.tables import remove

logger = logging.getLogger("jury.store")
_T = TypeVar("_T")
_RECORDS = (ITEMS, JUDGMENTS, OUTPUTS, SHOWN, RESULTS)
FILES = (FILE, *_RECORDS, AT_RISK, INDEX, LOCK)  # what a run writes into its folder, or over
SYNC_S = 5.0  # at most this much work is lost when the machine itself fails


class RunWriter(AbstractContextManager["RunWriter"]):
    """A run folder opened for writing: made if it is missing, repaired if a run was killed in it.

    Raises `DataError`: `locked` (another process writes), `unwritable`, `format`. `manifest` is the one that was found,
    None in a new folder. `at_risk`: for passes with a budget.
    """

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = Path(path)
        self._clock = clock
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from None
        with ExitStack() as undo:
            undo.enter_context(FolderLock(self.folder))
            self.manifest = _manifest(self.folder)
            names = [ITEMS, JUDGMENTS, RESULTS, *(n for n in (OUTPUTS, SHOWN) if (self.folder / n).exists())]
            self._files = {name: Appender(self.folder / name) for name in names}
            for file in self._files.values():
                undo.callback(file.close)
            self._index = Index(self.folder)
            undo.callback(self._index.close)
            self.at_risk = AtRisk(self.folder)
            undo.callback(self.at_risk.close)
            self._stack = undo.pop_all()
        self._synced = clock()

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open_outputs(self) -> None:
        """Makes the file of the target's outputs, which other runs do not have."""
        self._open(OUTPUTS)

    def _open(self, name: str) -> None:
        if name not in self._files:
            file = self._files[name] = Appender(self.folder / name)
            self._stack.callback(file.close)

    @property
    def heads(self) -> dict[str, str]:
        """The digest of the last line of each file."""
        return {name: file.last for name, file in self._files.items()}

    @property
    def cost(self) -> float:
        """US dollars that this folder's judgments cost so far, in all passes; unknown ones count nothing."""
        return self._index.cost

    @property
    def target_cost(self) -> float:
        """US dollars that the target cost so far, in all passes; apart from what the judges did."""
        return self._index.target_cost

    def save(self, manifest: RunManifest) -> None:
        """Replaces the manifest in one step."""
        manifest.write(self.folder)
        self.manifest = manifest

    def count(self) -> int:
        """How many items the folder knows."""
        return self._index.count()

    def add_item(self, item: StoredItem) -> None:
        """Writes the item unless it stands there already, unchanged."""
        known = self._index.item(item.id)
        if known is not None and known[0] == item.number and known[2] == short(item.digest):
            return
        pos = self._append(ITEMS, item.to_dict())
        self._index.add_item(item.id, item.number, pos, item.digest)

    def add_judgment(self, judgment: StoredJudgment) -> None:
        """Writes one judgment, before anything else is asked."""
        pos = self._append(JUDGMENTS, judgment.to_dict())
        usage = judgment.judgment.usage
        if judgment.source not in FREE_SOURCES and usage is not None:
            self._index.add_cost(usage.cost)
        if judgment.judgment.verdict.status != "error" and judgment.source != "same":
            self._index.add_judged(judgment.key, pos)

    def add_result(self, result: StoredResult, mark: int = 0) -> dict[str, Any]:
        """Writes a verdict; returns it as plain values. `mark`: what `marked` finds it by."""
        line = result.to_dict()
        pos = self._append(RESULTS, line)
        self._index.add_result(result.item, pos, result.seal, line["result"], mark)
        return line["result"]

    def add_output(self, output: StoredOutput) -> None:
        """Writes what the target made, before it is judged."""
        pos = self._append(OUTPUTS, output.to_dict())
        if output.source == "same":
            return
        self._index.add_target_cost(output.usage.cost if output.usage else None)
        if output.output.target_error is None:
            self._index.add_output(output.key, pos)

    def add_shown(self, item: str, criterion: str, prompt: Prompt, namespace: Mapping[str, Any]) -> None:
        """Writes what a prompt shows of an item, each value unless it stands there already."""
        self._open(SHOWN)
        names, values = taken(namespace, prompt.wanted)
        for name, value in values.items():
            if not self._index.shown(name):
                self._append(SHOWN, value_line(name, value))
                self._index.add_shown(name)
        shown = Shown(item, criterion, prompt.digest, names)
        if not self._index.shown(shown.digest):
            self._append(SHOWN, shown.to_dict())
            self._index.add_shown(shown.digest)

    def recall_output(self, key: str) -> StoredOutput | None:
        """What the target made of this question before; an error is nothing to recall."""
        pos = self._index.output(key)
        line = self._files[OUTPUTS].read(pos) if pos is not None and OUTPUTS in self._files else None
        return _recalled(StoredOutput.from_dict, line, key)

    def recall(self, key: str) -> StoredJudgment | None:
        """The usable judgment with this key, if one was recorded."""
        pos = self._index.judged(key)
        line = self._files[JUDGMENTS].read(pos) if pos is not None else None
        return _recalled(StoredJudgment.from_dict, line, key)

    def has(self, key: str) -> bool:
        """Whether a usable judgment with this key was recorded."""
        return self._index.judged(key) is not None

    def known(self, item_id: str) -> Known | None:
        """What is known of an item's last result: compare its seal with `short(seal)`."""
        return self._index.result(item_id)

    def marked(self, number: int, mark: int) -> tuple[bool, str] | None:
        """(complete, brief) of the last result of the item with this number, if it has this mark."""
        return self._index.marked(number, mark)

    def add_mark(self, item_id: str, mark: int) -> None:
        """Marks the last result of an item, which the index did not know (or no longer) what it was made of."""
        self._index.add_mark(item_id, mark)

    def result(self, item_id: str) -> dict[str, Any] | None:
        """The last result of an item, as plain values."""
        known = self._index.result(item_id)
        line = self._files[RESULTS].read(known.pos) if known else None
        return line.get("result") if line is not None and line.get("item") == item_id else None

    def _append(self, name: str, line: dict[str, Any]) -> int:
        file = self._files[name]
        pos = file.append(line)
        self._index.reached(name, file.size)
        now = self._clock()
        if not 0 <= now - self._synced < SYNC_S:  # also where the clock went back
            self._synced = now
            for each in self._files.values():
                each.sync()
        return pos


def clear(path: str | Path) -> None:
    """Takes the run out of a folder, so that another can begin there; what else it holds stays.

    Raises `DataError`: `locked`, `unwritable`, `format` where its files are those of no run, or `in_use` where people
    labelled it or batches of it were sent.
    """
    folder = Path(path)
    if not folder.is_dir():
        return
    for name in ("labels.jsonl", "batches.jsonl"):
        if _size(folder / name):
            raise DataError(f"{folder} is not emptied, since it holds {name}: choose another folder", "in_use")
    if (folder / FILE).exists() or _held(folder) not in (None, RESULTS):  # results alone: of an earlier version
        _manifest(folder)
    with FolderLock(folder):
        for name in (AT_RISK, *_RECORDS, f"{FILE}.damaged", FILE):  # the manifest last: till then it is a run
            try:
                (folder / name).unlink(missing_ok=True)
            except OSError as error:
                raise unwritable(folder / name, error) from None
        remove(folder / INDEX)


def _recalled(made: Callable[[dict[str, Any]], _T], line: dict[str, Any] | None, key: str) -> _T | None:
    """What stands in a line with this key; None where it is another or was damaged: then it is asked for again."""
    if line is None or line.get("key") != key:
        return None
    try:
        return made(line)
    except DataError as error:
        logger.warning("a record cannot be used (%s); its question is asked again", error)
        return None


def _manifest(folder: Path) -> RunManifest | None:
    """The manifest that is there, None in a new folder. One that was damaged is put aside: what was judged is known by
    the questions, and a new one is made."""
    file = folder / FILE
    held = _held(folder)
    if not file.exists():
        if held:
            raise DataError(f"{folder} holds {held}, but no {FILE} of a run: choose another folder", "format")
        return None
    try:
        return RunManifest.read(folder)
    except DataError as error:
        if error.kind != "bad_json" or not held:
            raise
        aside = folder / f"{FILE}.damaged"
        try:
            file.replace(aside)
        except OSError as why:
            raise unwritable(aside, why) from None
        logger.warning("%s cannot be read; it is kept as %s and made anew, without the history", file, aside.name)
        return None


def _held(folder: Path) -> str | None:
    """The first file that is called as one of a run and is not empty."""
    return next((name for name in _RECORDS if _size(folder / name)), None)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
