"""`jury counts`: the countable fields of reports over runs, in all and by time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from jury.cli import exits
from jury.cli.consoles import write
from jury.cli.progress import Progress
from jury.cli.writing import print_json
from jury.errors import ConfigError
from jury.results import PanelResult
from jury.sessions.counting import Counts, CriterionCounts, JudgeCounts
from jury.stats import Estimate
from jury.store import Run, StoredItem
from jury.summary import count, percent
from jury.wording import bracket

_PERIODS = ("day", "week", "month", "run")
_TIMES = ("time", "timestamp", "created_at", "date")


def counts(runs: Sequence[str], by: str | None, as_json: bool) -> int:
    """Runs `jury counts`; returns the exit code. Raises `ConfigError` or `DataError`."""
    if by is not None and by not in _PERIODS:
        raise ConfigError(f"--by is one of {', '.join(_PERIODS)}, got {by!r}")
    whole, parts = Counts(), dict[str, Counts]()
    with Progress("items"):
        for folder in runs:
            for when, result in _results(folder):
                whole.add(result)
                if by is not None:
                    parts.setdefault(folder if by == "run" else period(when, by), Counts()).add(result)
    ordered = dict(sorted(parts.items()))
    if as_json:
        print_json(
            {**whole.to_dict(), **({"by": by, "parts": {k: c.to_dict() for k, c in ordered.items()}} if by else {})}
        )
    else:
        _print("all", whole)
        for name, found in ordered.items():
            _print(name, found)
    return exits.OK if whole.items else exits.NO_RESULT


def _results(folder: str) -> Iterator[tuple[datetime | None, PanelResult]]:
    run = Run.open(folder)
    if run.kind == "pairwise":
        raise ConfigError(f"{folder} holds a pairwise run: there are no verdicts by criterion to count")
    judged = {j.item: j.at for j in run.judgments()}
    for item, result in run.results():
        if isinstance(result, PanelResult):
            yield _when(item, judged.get(item.id, run.manifest.created)), result


def _when(item: StoredItem, judged: str) -> datetime | None:
    """When an item happened, else when it was judged."""
    for value in (*(item.row.get(name) for name in _TIMES), judged):
        found = moment(value)
        if found is not None:
            return found
    return None


def moment(value: Any) -> datetime | None:
    """A time from an ISO text, or from seconds or milliseconds since 1970; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e14:
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            return None
    return None


def period(when: datetime | None, by: str) -> str:
    """The day, the ISO week or the month of a time."""
    if when is None:
        return "unknown"
    if by == "week":
        year, week, _ = when.isocalendar()
        return f"{year}-W{week:02}"
    return when.strftime("%Y-%m-%d" if by == "day" else "%Y-%m")


def _print(name: str, found: Counts) -> None:
    beside = [f"{found.not_judged} not judged"] if found.not_judged else []
    beside += [f"{found.contested} contested"] if found.contested else []
    lines = [f"{name}: {count(found.items, 'item')}" + (f" ({', '.join(beside)})" if beside else "")]
    if len(found.criteria) > 1:
        lines += _criterion("over all criteria", found.whole, found.items)
    for key, one in found.criteria.items():
        lines += _criterion(key, one, found.items)
    if name == "all":
        lines += [f"  judge {judge}: {_judge(one)}" for judge, one in found.judges.items()]
    write("\n".join(lines) + "\n\n")


def _criterion(key: str, one: CriterionCounts, items: int) -> list[str]:
    verdicts = ", ".join(f"{n} {word}" for word, n in one.verdicts.most_common())
    rate = f"; pass rate {_share(one.pass_rate)}" if one.pass_rate.value is not None else ""
    usable = sum(one.verdicts[word] for word in ("pass", "fail", "na", "scored"))
    rate += f", coverage {percent(usable, items)}" if rate else ""
    lines = [f"  {key}: {verdicts}{rate}"]
    if one.mean is not None:
        lines.append(f"    mean score {one.mean}")
    for name, n in one.entries.items():
        keys = ", ".join(f"{k}: {count}" for k, count in one.by_key[name].most_common())
        lines.append(f"    {name}: {n}" + (f" (items by number: {keys})" if keys else ""))
        lines += [f"      {count} x {text}" for text, count in one.words[name].most_common(5)]
    if one.handovers_known:
        lines.append(f"    handovers: {one.missed} missed, {one.needless} needless, of {one.handovers_known}")
    return lines


def _judge(one: JudgeCounts) -> str:
    quotes = one.quotes_found + one.quotes_missing
    references = one.references_valid + one.references_invalid
    said = [count(one.votes, "vote"), f"{one.failed} failed"]
    said += [f"{one.quotes_found} of {count(quotes, 'quote')} found"] if quotes else []
    said += [f"{one.references_valid} of {count(references, 'reference')} valid"] if references else []
    said += [f"{count(one.contradictions, 'contradiction')} of its own scores"] if one.contradictions else []
    return ", ".join(said)


def _share(estimate: Estimate) -> str:
    low, high = estimate.interval or (0.0, 1.0)
    return f"{percent(estimate.value or 0, 1)} {bracket(low, high)}"
