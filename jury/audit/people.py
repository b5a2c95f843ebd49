"""What people said: label files, and the one label of an item where several people gave one. Computes no agreement."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from jury.datasets import records
from jury.errors import DataError, ReplyError
from jury.scales import Boolean, Scale
from jury.stats.table import Category
from jury.store import Label, Run
from jury.store.records import standing
from jury.wording import count

logger = logging.getLogger("jury.audit")
SAMPLED = ("random", "by-class", "by-verdict", "other")
Status: TypeAlias = Literal["", "na", "undone"]
_ITEM_NAMES = ("item", "id", "item_id")
_VALUE_NAMES = ("value", "label", "human", "verdict", "winner")
_WHO_NAMES = ("labeller", "annotator", "rater", "labeler")
_WHY_NAMES = ("note", "comment", "reason", "explanation")


@dataclass(frozen=True, slots=True)
class Said:
    """What people say of one item together: the value most of them gave, None where two values tie (`contested`).

    `saw_verdict`: somebody had the panel's verdict in view. `picked`: nobody came to the item by a random draw.
    """

    value: Category | None
    note: str = ""
    contested: bool = False
    saw_verdict: bool = False
    picked: bool = False


def together(labels: Sequence[tuple[Label, Category | None]]) -> Said:
    """The labels of one item, each with its value as the scale reads it. Each person counts once, None for no vote.

    >>> ann, bob = Label("1", "ann"), Label("1", "bob")
    >>> together([(ann, True), (bob, True)]).value, together([(ann, True), (bob, False)]).contested
    (True, True)
    """
    counts = Counter((type(v) is bool, v) for _, v in labels if v is not None)
    top = counts.most_common(2)
    contested = len(top) == 2 and top[0][1] == top[1][1]
    value = None if contested or not top else top[0][0][1]
    said = [label for label, v in labels if v is not None and v == value and label.note]
    alone = len(labels) == 1
    note = "; ".join(label.note if alone or not label.labeller else f"{label.labeller}: {label.note}" for label in said)
    picked = not of_sample((label for label, _ in labels), "random")
    return Said(value, note, contested, any(label.saw_verdict for label, _ in labels), picked)


def by_item(labels: Iterable[Label], scale: Scale | None) -> dict[str, list[tuple[Label, Category | None]]]:
    """The labels that hold (of each person the last one, unless taken back) with their values. Raises `DataError`.

    `scale` None: of pairs.
    """
    found: dict[str, list[tuple[Label, Category | None]]] = {}
    for label in standing(labels):
        found.setdefault(label.item, []).append((label, value_of_label(label, scale)))
    return found


def value_of_label(label: Label, scale: Scale | None) -> Category | None:
    """A label's value on the scale of the run (None: of pairs); None where none could be given. Raises `DataError`."""
    if label.value is None or label.status == "na":
        return scale.na if scale is not None and label.status == "na" else None
    if scale is None:
        text = str(label.value).strip()
        said = {"a": "A", "b": "B", "tie": "tie"}.get(text.lower())
        if said is None:
            raise DataError(f"label of item {label.item}: {text!r} is none of A, B, tie", "bad_json")
        return said
    value, expected = label.value, ""
    if isinstance(scale, Boolean):
        expected = "is none of pass, fail, true, false, NA (what 1, 0, yes or no stand for, only you know)"
        word = value.strip().lower() if isinstance(value, str) else ""
        if word in ("na", "n/a"):
            return None
        value = {"pass": True, "fail": False}.get(word, value)
    try:
        return scale.read(value)
    except ReplyError as error:
        told = expected or error.detail
        raise DataError(f"label of item {label.item}: {label.value!r}: {told}", "bad_json") from None


def drawn(labels: Iterable[Label]) -> str | None:
    """How labels say that their items were drawn, one of `SAMPLED`; None where some do not say.

    With random ones among them `random`: of those alone (`of_sample`) everything can be said.
    """
    words = {label.sampling for label in labels}
    if not words or "" in words:
        return None
    if "random" in words:
        return "random"
    return words.pop() if len(words) == 1 and words <= set(SAMPLED) else "other"


def of_sample(labels: Iterable[Label], sampled: str) -> list[Label]:
    """The labels that belong to such a sample: those that say they were drawn otherwise are no part of a random one."""
    return [label for label in labels if sampled != "random" or label.sampling in ("", "random")]


def left_out(n: int) -> str:
    """What is said of labels that are no part of a random sample.

    >>> left_out(2)
    '2 labels on items that were not drawn at random were left out'
    """
    return f"{count(n, 'label')} on items that were not drawn at random {'was' if n == 1 else 'were'} left out"


def read_labels(path: str | Path, *, sampling: str = "") -> list[Label]:
    """Labels of a CSV, TSV, JSON or JSONL file, or of another run's `labels.jsonl`. Raises `DataError`.

    A column `item` (or `id`) and one `value` (or `label`, `human`, `verdict`, `winner`); if there are, who gave it
    (`labeller`, `annotator`, `rater`), why (`note`, `comment`, `reason`), how it was drawn (`sampling`). Each person
    has one label an item: of several lines the last one counts, and one of status `undone` takes it back.
    """
    found: list[Label] = []
    rows = list(records(path))
    if rows and not any(name in row for _, row in rows for name in (*_VALUE_NAMES, "status", "values")):
        raise DataError(f"{path}: no column holds the labels: name it {' or '.join(_VALUE_NAMES)}", "bad_json")
    for line, row in rows:
        item, value = _first(row, _ITEM_NAMES), _first(row, _VALUE_NAMES)
        if item is None:
            raise DataError(f"{path}: line {line}: the label has no item: name a column `item` or `id`", "bad_json")
        said: Any = row.get("status")
        status: Status = said if said in ("na", "undone") else ""
        values: Any = row.get("values")
        if value is None and not status and not values:
            continue  # an item that nobody has labelled yet
        found.append(
            Label(
                str(item),
                str(_first(row, _WHO_NAMES) or ""),
                value,
                cast("dict[str, Any]", values) if isinstance(values, dict) else {},
                note=str(_first(row, _WHY_NAMES) or ""),
                at=str(row.get("at") or ""),
                sampling=str(row.get("sampling") or sampling),
                status=status,
                saw_verdict=True if row.get("saw_verdict") in (True, "true", "True") else None,
            )
        )
    _warn_of_doubles(path, found)
    return standing(found)


def _warn_of_doubles(path: str | Path, labels: Sequence[Label]) -> None:
    """Two words on one item without two names are of two people, or a slip; lines with a time are a change of mind."""
    by_hand = [label for label in labels if not label.at and not label.status and label.value is not None]
    words: dict[tuple[str, str], set[str]] = {}
    for label in by_hand:
        words.setdefault((label.item, label.labeller), set()).add(str(label.value))
    twice = [item for (item, _), said in words.items() if len(said) > 1]
    if twice:
        text = "%s: %s with different labels under one name, such as %r: the last line counts. Of several people each"
        text += " needs a name, in a column `labeller`"
        logger.warning(text, path, count(len(twice), "item"), twice[0])


def keep_labels(run: Run, labels: Iterable[Label]) -> int:
    """Appends labels to the run's labels.jsonl, but for those that stand there already; returns how many were new.

    Raises `DataError` where one is not on the scale of the run, or is of an item that the run does not hold: then none
    is written.
    """
    scale = None if run.kind == "pairwise" else run.scale
    items = {item.id for item in run.items()}
    there = {(label.item, label.labeller): label for label in run.labels()}
    new: list[Label] = []
    for label in labels:
        if label.item not in items:
            raise DataError(f"label of item {label.item!r}: {run.folder} holds no such item", "bad_json")
        value = value_of_label(label, scale)
        known = there.get((label.item, label.labeller))
        anew = bool(label.values) and known is not None and known.values != label.values  # by criterion
        if known is None or anew or value_of_label(known, scale) != value or known.note != label.note:
            new.append(label)
    for label in new:
        run.add_label(label)
    return len(new)


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[n] for n in names if row.get(n) not in (None, "")), None)
