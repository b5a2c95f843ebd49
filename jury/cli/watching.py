"""`jury watch`: a run under way, live on a terminal, a plain line at a change elsewhere. Holds nothing of the run."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from jury.cli import exits, tables
from jury.cli.calling import called
from jury.cli.consoles import write
from jury.cli.following import Following, count_items
from jury.cli.pace import Pace, lasting
from jury.cli.progress import Progress
from jury.cli.rates import count_words, interval, other_words, quoted, rate_words
from jury.errors import ConfigError, DataError
from jury.store.manifest import near_run

POLL_S = 0.5
_BAR = 24
_NAME = 12  # columns that the folder's name has at least
_SHORTEST_S = 1.0  # between two lines, at the beginning


@dataclass
class Watch:
    """One watch: `clock` and `sleep` as in `time`."""

    seen: Following
    every: float
    wait: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    total: int | None = None
    tried: bool = False  # the data were looked at: without a total there is none to be had
    _begun: float = 0.0
    _first: int = 0
    _pace: Pace = field(default_factory=Pace)

    def found(self, say: Callable[[str], None]) -> None:
        """Waits until there is a run folder. Raises `DataError` where none comes."""
        folder, until = self.seen.folder, self.clock() + self.wait
        waiting = False
        while not self.seen.look():
            if not waiting and self.wait > 0:
                waiting = True
                say(f"waiting up to {self.wait:g} s for {folder}: no run has begun there{near_run(folder)}")
            if self.clock() >= until:
                raise DataError(f"{folder}: no run folder{near_run(folder)}", "not_found", file=str(folder))
            self.sleep(min(POLL_S, max(0.0, until - self.clock())))
        self._begun, self._first = self.clock(), self.seen.done
        self._pace = Pace(self.clock)
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        manifest = self.seen.manifest
        self.total = count_items(manifest) if manifest is not None else None
        self.tried = True

    def follow(self, show: Callable[[], None]) -> None:
        """Looks until nobody writes the folder any more, with `show` after each look."""
        while True:
            self.seen.look()
            show()
            if not self.seen.running:
                return
            self.sleep(POLL_S)

    @property
    def pause(self) -> float:
        """Seconds between two lines: a tenth of the time that the watch has lasted, from one second up to `every`."""
        return min(self.every, max(_SHORTEST_S, 0.1 * (self.clock() - self._begun)))

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest will take at the pace since the watch began; None where there is no telling."""
        rest = self.total - self.seen.done if self.total is not None and self.seen.running else 0
        return self._pace.left_s(self.seen.done - self._first, rest)

    @property
    def counted(self) -> str:
        """`120 of 400 items`; `120 items of an unknown total`."""
        if self.total is None:
            unknown = self.tried and self.seen.running
            return tables.count(self.seen.done, "item") + (" of an unknown total" if unknown else "")
        return f"{self.seen.done:,} of {tables.count(self.total, 'item')}"

    @property
    def parts(self) -> tuple[list[str], list[str]]:
        """What is known of the verdicts, and of money, failures and time."""
        totals = self.seen.totals
        rated = "win rate A" if totals.kind == "pairwise" else "pass rate"
        verdicts = [f"{rated} {rate_words(totals)}", count_words(totals)]
        verdicts += [others] if (others := other_words(totals)) else []
        rest = ["cost unknown (a price is missing)"] if totals.unpriced else []
        rest += [tables.dollars(totals.cost)] if totals.cost and not totals.unpriced else []
        rest += [tables.count(self.seen.failed, "failed vote")] if self.seen.failed else []
        rest += [f"{lasting(left)} left"] if (left := self.left_s) is not None else []
        return verdicts, rest

    @property
    def line(self) -> str:
        verdicts, rest = self.parts
        return " · ".join((self.counted, *verdicts, *rest))

    def to_dict(self) -> dict[str, Any]:
        """One look as plain values."""
        manifest, totals = self.seen.manifest, self.seen.totals
        made = {k: v for k, v in totals.to_dict().items() if k.startswith("n_") or k.endswith(("rate", "rate_a"))}
        ends = interval(totals)
        return {
            "folder": str(self.seen.folder),
            "done": self.seen.done,
            "total": self.total,
            "running": self.seen.running,
            "finished": bool(manifest and manifest.finished),
            "coverage": totals.to_dict()["coverage"],
            **made,
            "interval": list(ends) if ends else None,
            "failed_votes": self.seen.failed,
            "cost": None if totals.unpriced else totals.cost,
            "seconds_left": self.left_s,
        }


def watch(folder: str, every: float, wait: float, as_json: bool) -> int:
    """Runs `jury watch`; returns the exit code. Raises `ConfigError`, `DataError`."""
    for name, seconds in (("--every", every), ("--wait", wait)):
        if not seconds >= 0:
            raise ConfigError(f"{name} is a number of seconds from 0, got {seconds:g}")
    console = tables.stdout()
    live = console.is_terminal and not console.is_dumb_terminal and not os.environ.get("CI") and not as_json
    with Progress("items") as progress:  # its lines on stderr: waiting, and what the store has to say
        one = Watch(Following(Path(folder)), every, wait)
        one.found(progress.say)
        shown: Any = _Live(one, console) if live else _Lines(one, as_json)
        try:
            with shown:
                one.follow(shown.show)
        except KeyboardInterrupt:  # it ends the watch, not the run: no word of that
            return exits.INTERRUPTED
    return _ended(one, console, as_json)


class _Lines(AbstractContextManager["_Lines"]):
    """A line where something changed: at first one a second at most, later one every few; the last word always."""

    def __init__(self, watch: Watch, as_json: bool) -> None:
        self._watch = watch
        self._json = as_json
        self._last = ""
        self._at: float | None = None

    def show(self) -> None:
        watch = self._watch
        now = watch.clock()
        if self._at is not None and now - self._at < watch.pause and watch.seen.running:
            return
        text = json.dumps(watch.to_dict()) if self._json else watch.line
        if text != self._last:
            self._last, self._at = text, now
            write(text + "\n")
            sys.stdout.flush()

    def __exit__(self, *_: object) -> None:
        pass


class _Live(AbstractContextManager["_Live"]):
    """A few lines that are drawn over."""

    def __init__(self, watch: Watch, console: Console) -> None:
        from rich.live import Live

        self._watch = watch
        self._console = console
        self._live: Any = Live(console=console, auto_refresh=False, transient=True, redirect_stderr=False)

    def __enter__(self) -> _Live:
        self._live.start()
        return self

    def show(self) -> None:
        self._live.update(self._drawn(), refresh=True)

    def _drawn(self) -> Group:
        watch = self._watch
        head = Table.grid(padding=(0, 1, 0, 0))
        head.add_column(max_width=max(_NAME, self._console.width - _BAR - len(watch.counted) - 3))
        head.add_column()
        head.add_column()
        name = Text(str(watch.seen.folder), style="bold", no_wrap=True, overflow="ellipsis")
        bar = ProgressBar(total=watch.total, completed=watch.seen.done, width=_BAR) if watch.total else ""
        head.add_row(name, bar, Text(watch.counted, no_wrap=True))
        lines = [Text(" · ".join(part)) for part in watch.parts if part]
        return Group(head, *lines)

    def __exit__(self, *_: object) -> None:
        self._live.stop()


def _ended(one: Watch, console: Console, as_json: bool) -> int:
    """The last words, and the exit code that the run itself earned."""
    manifest, totals = one.seen.manifest, one.seen.totals
    last: Mapping[str, Any] = manifest.history[-1] if manifest is not None and manifest.history else {}
    finished = manifest is not None and manifest.finished
    if not as_json:
        if console.is_terminal:
            tables.told(console, one.line)
        how = "finished" if finished else "interrupted" if last.get("halted") else "ended before its end"
        fault = f" ({last['fault']})" if not finished and last.get("fault") else ""
        more = "" if finished else "; the same jury run goes on"
        tables.told(console, f"{how}{fault}{more}   {called()} show {quoted(str(one.seen.folder))}", whole=True)
    if not finished:
        return exits.INTERRUPTED if last.get("halted") else exits.USAGE
    return exits.OK if totals.usable else exits.NO_RESULT
