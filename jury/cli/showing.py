"""`jury show RUN`: a run folder in one screen, also of a run under way. One item of it is in `item_view.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from rich.text import Text

from jury.cli import exits, tables
from jury.cli.calling import called
from jury.cli.following import count_items
from jury.cli.item_view import show_item
from jury.cli.progress import Progress
from jury.cli.rates import count_words, interval, other_words, quoted, rate_words, spent
from jury.cli.tally import Kept
from jury.cli.writing import print_json
from jury.errors import ConfigError
from jury.report.opening import open_run
from jury.runner.stopped import stopping
from jury.runner.totals import Totals
from jury.store import Run
from jury.store.records import standing
from jury.store.run import result_of
from jury.summary import UNSETTLED
from jury.wording import flips

SETTLED = ("pass", "unrated", "a", "b", "tie", "na")  # outcomes that nobody has to look into
_MOST_KINDS = 5
_MOST_CRITERIA = 12  # lines of criteria


@dataclass
class Seen:
    """What one walk over a folder counted. `worst` and `split` hold lines of (number, item, result), `most` of each."""

    totals: Totals
    most: int
    items: int = 0
    waiting: int = 0  # items without a result
    total: int | None = None  # items of the data, where the run did not come to its end and they can be counted
    empty: int = 0  # outputs that hold nothing
    n_split: int = 0
    n_flipped: int = 0  # not split, but a judge changed with the order
    n_odd: int = 0  # split, or without a good end
    worst: list[tuple[dict[str, Any], dict[str, Any], str]] = field(default_factory=list[Any])
    split: list[tuple[dict[str, Any], dict[str, Any], str]] = field(default_factory=list[Any])

    def add(self, item: dict[str, Any], line: dict[str, Any] | None) -> None:
        self.items += 1
        result = cast("dict[str, Any] | None", line.get("result")) if line is not None else None
        if line is None or not isinstance(result, dict):
            self.waiting += 1
            return
        word, split = self.totals.add(result), is_split(result)
        self.n_split += split
        self.n_flipped += split and not differ(result)
        self.empty += "output" in item and not item.get("error") and not str(item["output"] or "").strip()
        self.n_odd += split or word not in SETTLED
        if word not in SETTLED:
            _keep(self.worst, (item, line, word), self.most)
        elif split:
            _keep(self.split, (item, line, word), self.most)

    @property
    def shown(self) -> list[tuple[dict[str, Any], dict[str, Any], str]]:
        """Those without a good end first, then those that judges were not of one mind on; in the order of the data."""
        chosen = [*self.worst, *self.split][: self.most]
        return sorted(chosen, key=lambda one: number_of(one[0]))


def show(folder: str, item: str | None, *, full: bool, prompt: bool, limit: int, as_json: bool) -> int:
    """Runs `jury show`; returns the exit code. Raises `ConfigError`, `DataError`."""
    if limit < 0:
        raise ConfigError(f"--show must be a whole number from 0, got {limit}")
    with Progress("items"):  # shows what the store has to say about torn lines
        run = open_run(folder)
        if item is not None:
            return show_item(run, item, full=full, prompt=prompt, as_json=as_json)
        if prompt or full:
            raise ConfigError("--prompt and --full are about one item: jury show RUN ITEM --prompt")
        seen = Seen(Totals(run.kind), limit)
        for line, result in run.lines():
            seen.add(line, result)
        if not run.manifest.finished:
            seen.total = count_items(run.manifest)
    if as_json:
        print_json(_json(run, seen))
        return exits.OK
    console = tables.stdout()
    tables.facts(console, lines(run, seen))
    shown = seen.shown
    if shown:
        console.print()
        rows = [Kept(number_of(i), result_of(run.kind, line)) for i, line, _ in shown]
        seats = [str(j.get("id")) for j in run.manifest.judges]
        voted = [vote.judge for row in rows for vote in row.result.votes]  # stand-ins, and seats of an earlier pass
        tables.rows_table(rows, list(dict.fromkeys([*seats, *voted])), console)
        tables.told(console, _which(seen, len(shown)), style="dim")
        example = str(shown[0][0].get("id"))
        tables.told(
            console, f"{called()} show {quoted(folder)} {quoted(example)}   its texts, votes and reasons", style="dim"
        )
    return exits.OK


def number_of(item: Mapping[str, Any]) -> int:
    """The number of an item from 1; 0 where its line was damaged."""
    number = item.get("number")
    return number + 1 if isinstance(number, int) else 0


def is_split(result: Mapping[str, Any]) -> bool:
    """Were the judges of two minds, or one of them of two minds with itself?"""
    votes = cast("list[Mapping[str, Any]]", result.get("votes") or [])
    return differ(result) or any(v.get("flip_kind") for v in votes)


def differ(result: Mapping[str, Any]) -> bool:
    """Were two judges that decided of two minds, with a verdict in the end or without?"""
    agreement = result.get("agreement")
    return agreement < 1 if agreement is not None else result.get("reason") in UNSETTLED


def state(run: Run) -> str:
    """Whether the run came to its end, and when."""
    history = run.manifest.history
    ended = str(history[-1].get("ended") or "")[:16].replace("T", " ") if history else ""
    if run.manifest.finished:
        return f"finished {ended}" if ended else "finished"
    return f"not finished (left {ended})" if ended else "not finished"


def lines(run: Run, seen: Seen) -> list[tuple[str, str | Text]]:
    """The run in facts, each rate with its interval and coverage."""
    manifest, totals = run.manifest, seen.totals
    made: list[tuple[str, str | Text]] = [
        ("run", f"{manifest.name}: {manifest.kind}, {state(run)}"),
        ("judges", _judges(manifest.judges)),
    ]
    if not manifest.finished:
        told = tables.so_far(totals.n_total, seen.total).replace("the same command", "the same jury run")
        made.insert(1, ("so far", Text(told, style="bold")))
    made += [(f"target {side}".strip(), str(one.get("name"))) for side, one in manifest.targets.items()]
    made += _criteria(manifest.criteria)
    rate = Text(f"{rate_words(totals)}  {count_words(totals)}", style="bold")
    made.append(("win rate A" if run.kind == "pairwise" else "pass rate", rate))
    if run.kind == "pairwise" and totals.rated[1]:
        made.append(("winner", tables.winner(totals.rated[0] + totals.counts["tie"] // 2, totals.rated[1])))
    if totals.n_total:
        others = other_words(totals)
        told = f"{tables.percent(totals.usable, totals.n_total)}  {totals.usable:,} of {totals.n_total:,}"
        made.append(("coverage", f"{told}: {others}" if others else told))
    if (early := stopping(manifest, totals)) is not None:
        made.append(early)
    if seen.waiting:
        made.append(("waiting", f"{tables.count(seen.waiting, 'item')} without a verdict yet"))
    if totals.several:
        told = (
            f"{tables.percent(totals.agreeing, totals.several)}  unanimous on {totals.agreeing:,} of {totals.several:,}"
        )
        made.append(("agreement", told))
    if totals.flips:
        made.append(("flips", flips(totals.flips)))
    if totals.reasons:
        made.append(("undecided", tables.reasons(totals.reasons)))
    for i, (kind, n) in enumerate(totals.failures.most_common(_MOST_KINDS)):
        detail = totals.details.get(kind)
        told = f"{n} x {tables.shorten(kind, 120)}" + (f": {tables.shorten(detail, 160)}" if detail else "")
        made.append(("failures" if i == 0 else "", tables.word(told, "error")))
    if seen.empty:
        made.append(("note", tables.empty(seen.empty)))
    made.append(("cost", spent(totals)))
    labels = standing(run.labels())
    if labels:
        people = len({one.labeller for one in labels})
        made.append(("labels", f"{len(labels)} by {people} {'person' if people == 1 else 'people'}"))
    return made


def _criteria(text: str | None) -> list[tuple[str, str | Text]]:
    """A line for each criterion, or for the one; anchors, which are indented below theirs, are in the report."""
    told = [line for line in (text or "").splitlines() if line.strip() and not line.startswith(" ")]
    lines: list[tuple[str, str | Text]] = [
        ("" if i else "criteria", tables.shorten(line, 160)) for i, line in enumerate(told[:_MOST_CRITERIA])
    ]
    left = len(told) - _MOST_CRITERIA
    return [*lines, ("", f"… {left} more {'line' if left == 1 else 'lines'}")] if left > 0 else lines


def _judges(judges: tuple[Mapping[str, Any], ...]) -> str:
    told: list[str] = []
    for judge in judges:
        name, model = str(judge.get("id")), judge.get("model")
        told.append(f"{name} ({model})" if model and model != name else name)
    return ", ".join(told)


def _which(seen: Seen, shown: int) -> str:
    unsettled = sum(n for word, n in seen.totals.counts.items() if word not in SETTLED)
    parts = [f"{unsettled} of {tables.count(seen.items, 'item')} failed or have no verdict"] if unsettled else []
    between = seen.n_split - seen.n_flipped
    parts += [f"judges were split on {between}"] if between else []
    parts += [f"a judge changed sides with the order on {seen.n_flipped}"] if seen.n_flipped else []
    more = f"; {shown} shown (--show)" if shown < seen.n_odd else ""
    return ", ".join(parts) + more


def _keep(kept: list[Any], one: Any, most: int) -> None:
    if len(kept) < most:
        kept.append(one)


def _json(run: Run, seen: Seen) -> dict[str, Any]:
    manifest = run.manifest
    ends = interval(seen.totals)
    return {
        "folder": str(Path(run.folder)),
        "name": manifest.name,
        "kind": manifest.kind,
        "finished": manifest.finished,
        "judges": [dict(j) for j in manifest.judges],
        "criteria": manifest.criteria,
        **seen.totals.to_dict(),
        "interval": list(ends) if ends else None,
        "n_waiting": seen.waiting,
        "n_items": seen.total,
        "n_split": seen.n_split,
        "items": [_brief(item, line, word) for item, line, word in seen.shown],
    }


def _brief(item: Mapping[str, Any], line: Mapping[str, Any], word: str) -> dict[str, Any]:
    result = cast("Mapping[str, Any]", line["result"])
    said = result.get("winner") if "winner" in result else result.get("value")
    head = {"id": item.get("id"), "number": number_of(item), "outcome": word, "value": said}
    return {**head, "split": is_split(result), "explanation": result.get("explanation", "")}
