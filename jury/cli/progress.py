"""What stderr shows while a run goes on: a bar on a terminal, a plain line now and then elsewhere; warnings once."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from rich.console import Console
from rich.text import Text

from jury.cli.consoles import Careful
from jury.cli.pace import Pace, lasting
from jury.wording import counted

EVERY_S = 10.0  # between two plain lines


def stderr() -> Console:
    """The console for everything that is no result. Colours follow NO_COLOR and the terminal."""
    return Careful(stderr=True, soft_wrap=True)


class Progress(AbstractContextManager["Progress"]):
    """Counts results and shows them once `start` was called. Prints what the package logs as warnings all the time."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.total: int | None = None
        self.done = 0
        self._quarter = 0
        self._counts: Counter[str] = Counter()
        self._console = stderr()
        self._start = self._last = time.monotonic()
        self._pace = Pace()
        self._bar: Any = None
        self._task: Any = None
        self._handler = _Warnings(self._console)

    def __enter__(self) -> Progress:
        logging.getLogger("jury").addHandler(self._handler)
        return self

    def start(self, total: int | None) -> None:
        """`total` None is unknown."""
        self.total = total
        self._start = self._last = time.monotonic()
        self._pace.start()
        if self._console.is_terminal and not os.environ.get("CI"):
            self._bar = self._make_bar()
            self._task = self._bar.add_task("", total=self.total, counts="", left="")
            self._bar.start()

    def __exit__(self, *_: object) -> None:
        logging.getLogger("jury").removeHandler(self._handler)
        if self._bar is not None:
            self._bar.stop()

    def load(self, done: int, total: int) -> None:
        """Bytes of a model put together so far; may be called from another thread."""
        quarter = 4 * done // max(total, 1)
        if quarter > self._quarter or done == 0:
            self._quarter = quarter
            self.say(f"putting the model together: {done / 1e9:.1f} of {total / 1e9:.1f} GB")

    def add(self, outcome: str) -> None:
        """One more result."""
        self._counts[outcome] += 1
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """So many results by now."""
        self.done = done
        left = self._pace.left_s(self.fresh, 0 if self.total is None else self.total - self.done)
        told = "" if left is None else f"{lasting(left)} left"
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, counts=self.words, left=told)
        elif time.monotonic() - self._last >= EVERY_S:
            self._last = time.monotonic()
            self.say(self.told + (f": {self.words}" if self._counts else "") + (f" · {told}" if told else ""))

    def say(self, text: str) -> None:
        """A line on stderr, above the bar where there is one."""
        self._console.print(Text(text))

    def note(self, text: str | None) -> None:
        """A line that may be none."""
        if text:
            self.say(text)

    def changed(self, what: str) -> None:
        """What is different from the pass before."""
        self.say(f"changed since the last time: {what}")

    @property
    def fresh(self) -> int:
        """Results that took their time; those of an earlier pass do not count."""
        return self.done

    @property
    def words(self) -> str:
        """`12 passed, 3 failed`, in the order of frequency."""
        return counted(self._counts.most_common())

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    @property
    def told(self) -> str:
        """`12 of 40 rows`."""
        one = (self.done if self.total is None else self.total) == 1
        return f"{self.done}{self._of} {self.what.removesuffix('s') if one else self.what}"

    @property
    def _of(self) -> str:
        return f" of {self.total}" if self.total is not None else ""

    def _make_bar(self) -> Any:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        class Lines(Bar):
            """The counts below the bar, on as many lines as they need: how far it is and how long it takes stay."""

            def get_renderables(self) -> Iterator[Any]:
                for task in self.tasks:
                    yield self.make_tasks_table([task])
                    if task.fields["counts"]:
                        yield Text(task.fields["counts"], style="dim")

        return Lines(
            TextColumn(self.what),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            transient=True,
        )


class _Warnings(logging.Handler):
    """Every warning of the package, once."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console = console
        self._seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self._seen:
            self._seen.add(text)
            self._console.print(Text(f"warning: {text}", style="yellow"))
