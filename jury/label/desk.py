"""`Desk`: one labeller at one run. Which item is next, what the page gets of it, and labels on their way to the disk.

Knows no HTTP. All of it may be called from several threads; a label that `save` returned from is on the disk.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from jury.errors import ConfigError, JuryError
from jury.label.questions import asked_of
from jury.label.sampling import SAMPLINGS, Sampling, first_shown, ordered
from jury.label.showing import Block, blocks, cut, instructions, materials
from jury.label.source import Source
from jury.label.verdicts import told
from jury.stats import labels_for_half_width
from jury.store import Label, Run

LONGEST_NOTE = 10_000
USUAL_RATE = 0.9  # agreement that is planned with before there is any label


class AlreadyLabelled(JuryError):
    """The item was labelled by the same person since it was shown: in another tab, or another process."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Who labels, in which order, and how many items: `n`, or as many as an interval of +-`precision` needs."""

    labeller: str
    sampling: Sampling = "random"
    n: int | None = None
    seed: int = 0
    precision: float = 0.05
    show_verdict: bool = False

    def __post_init__(self) -> None:
        if self.sampling not in SAMPLINGS:
            raise ConfigError(f"sampling is {', '.join(SAMPLINGS[:-1])} or {SAMPLINGS[-1]}, got {self.sampling!r}")
        if self.n is not None and self.n < 1:
            raise ConfigError(f"--n is how many items to label, at least 1, got {self.n}")
        object.__setattr__(self, "labeller", self.labeller.strip())
        if not self.labeller:
            raise ConfigError("labels need a name: say who labels with --as NAME")
        labels_for_half_width(USUAL_RATE, self.precision)  # refuses what is no half-width


class Desk:
    """Raises `ConfigError` where there is nothing to label, `DataError` where the run cannot be read."""

    def __init__(self, run: Run, plan: Plan) -> None:
        self.run, self.plan = run, plan
        self.asked = asked_of(run)
        self.source = Source(run)
        self.order = ordered(self.source.results(), plan.sampling, plan.seed)
        if not self.order and plan.sampling == "people":
            raise ConfigError(
                f"{run.folder} has no item for people: a cascade marks them, where it ends with people "
                "(escalate: [[...], rest, people]) and the judges do not settle them"
            )
        if not self.order:
            raise ConfigError(f"{run.folder} has no verdicts yet: there is nothing to label (`jury run` comes first)")
        enough = len(self.order) if plan.sampling == "people" else labels_for_half_width(USUAL_RATE, plan.precision)
        wanted = plan.n or enough
        self.target = min(wanted, len(self.order))
        self._lock = Lock()
        self._mine: dict[str, Label] = {}
        self._last = 0  # where the last line that was read stands
        self._read_any = False
        with self._lock:
            self._carry()

    def about(self) -> dict[str, Any]:
        """What does not change from item to item."""
        manifest, rubric = self.run.manifest, self.asked.rubric
        return {
            "run": manifest.name,
            "kind": self.run.kind,
            "labeller": self.plan.labeller,
            "sampling": self.plan.sampling,
            "blind": not self.plan.show_verdict,
            "criteria": "" if rubric is not None or self.run.kind == "session" else manifest.criteria,
            "task": rubric.task if rubric is not None else "",
            "materials": materials(manifest, rubric.reference if rubric is not None else ""),
            "instructions": instructions(manifest),
            "questions": [q.to_dict() for q in self.asked.questions],
        }

    def next(self) -> dict[str, Any]:
        """The first item without a label, or that there is none left."""
        with self._lock:
            self._catch_up()
            return self._next()

    def save(self, place: int, answers: Any, note: str = "") -> dict[str, Any]:
        """Writes one label and returns the next item. Raises `ConfigError` for no answer, `AlreadyLabelled`."""
        item = self._item_at(place)
        if len(note) > LONGEST_NOTE:
            raise ConfigError(f"the note has {len(note)} characters, at most {LONGEST_NOTE} are kept")
        shown = self._shown(item)
        read = self.asked.read(answers, shown)
        with self._lock:
            self._catch_up()
            if self._done(item):
                raise AlreadyLabelled("this item was labelled in another window")
            label = Label(
                item,
                self.plan.labeller,
                read.value,
                dict(read.values),
                note.strip(),
                _now(),
                self.plan.sampling,
                shown,
                read.status,
                True if item in self.run.seen(self.plan.labeller) else None,
            )
            self.run.add_label(label)
            self._catch_up()
            return self._next()

    def undo(self) -> dict[str, Any]:
        """Takes this labeller's last label back, by a line of its own; returns the item with what was said of it."""
        with self._lock:
            self._catch_up()
            mine = [item for item in self._mine if item in self._places]
            if not mine:
                return self._next()
            label = self._mine[mine[-1]]
            gone = Label(label.item, label.labeller, at=_now(), sampling=self.plan.sampling, status="undone")
            self.run.add_label(gone)
            self._catch_up()
            shown = self._next(self._places[label.item])
            answers = self.asked.answers(label.value, label.values, self._shown(label.item))
            return {**shown, "before": {"answers": answers, "note": label.note}}

    def more(self, count: int) -> dict[str, Any]:
        """Puts `count` more items on the desk, as far as there are."""
        with self._lock:
            self.target = min(len(self.order), self.target + max(0, count))
            self._carry()
            return self._next()

    def text(self, place: int, block: int) -> str:
        """A whole text that the page has only the start of. Raises `ConfigError` where there is none."""
        found = self._blocks(self._item_at(place))
        if not 0 <= block < len(found):
            raise ConfigError(f"no text {block} on item {place}")
        return found[block].text

    def reveal(self, items: Iterable[str]) -> None:
        """The panel's verdict on these items is about to be shown: what this person says of them from now on says so.

        It is kept with the run: closing the page does not make anybody forget.
        """
        self.run.add_seen(self.plan.labeller, items)

    def mine(self) -> list[Label]:
        """What this labeller says, in the order in which it was said."""
        with self._lock:
            self._catch_up()
            return list(self._mine.values())

    @property
    def _places(self) -> dict[str, int]:
        return {item: at for at, item in enumerate(self.order[: self.target])}

    def _item_at(self, place: int) -> str:
        if not 0 <= place < self.target:
            raise ConfigError(f"no item {place} on the desk")
        return self.order[place]

    def _shown(self, item: str) -> str | None:
        return first_shown(self.plan.seed, self.plan.labeller, item) if self.run.kind == "pairwise" else None

    def _blocks(self, item: str) -> list[Block]:
        return blocks(self.run.kind, self.source.item(item), self._shown(item))

    def _done(self, item: str) -> bool:
        label = self._mine.get(item)
        return label is not None and (self.plan.sampling != "random" or label.sampling == "random")

    def _next(self, place: int | None = None) -> dict[str, Any]:
        done = [self._done(item) for item in self.order[: self.target]]
        made: dict[str, Any] = {"done": sum(done), "target": self.target, "items": len(self.order)}
        made["undo"] = any(item in self._mine for item in self.order[: self.target])
        if place is None:
            place = next((at for at, one in enumerate(done) if not one), None)
        if place is None:
            return {**made, "item": None}
        item = self.order[place]
        one: dict[str, Any] = {"place": place, "id": item, "blocks": cut(self._blocks(item))}
        if self.plan.show_verdict:
            self.reveal([item])
            one["verdict"] = told(self.source.result(item), self._shown(item))
        return {**made, "item": one}

    def _catch_up(self) -> None:
        """Reads what was written since: by this process, or by another one of the same labeller."""
        for at, label in self.run.label_lines(self._last):
            if at == self._last and self._read_any:
                continue  # the line that was the last one before
            self._last, self._read_any = at, True
            if label.labeller != self.plan.labeller:
                continue
            self._mine.pop(label.item, None)
            if label.status != "undone":
                self._mine[label.item] = label

    def _carry(self) -> None:
        """Items of the random sample that this person labelled among the disagreements are not asked about again.

        They belong to the sample all the same: left out, the sample would lack just the items judges disagree on.
        """
        self._catch_up()
        if self.plan.sampling != "random":
            return
        for item in self.order[: self.target]:
            label = self._mine.get(item)
            if label is not None and label.sampling != "random":
                self.run.add_label(replace(label, sampling="random", at=_now()))
        self._catch_up()


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
