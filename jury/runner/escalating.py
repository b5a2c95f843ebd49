"""`escalate: {tiers: ..., labels: RUN, sure: 0.95}`: which verdicts of the first tier may stand, learned from labels.

For each verdict: on how many labelled items of that run all seats of the first tier agreed on it, and how often people
said the same. It stands alone where the exact lower bound (95%, one-sided) of that share is at least `sure`; any other
verdict always goes on. Only items of a random sample count: those picked for disagreement would tell another story.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from jury.errors import ConfigError, ReplyError
from jury.escalation import REST
from jury.scales import Numeric, Scale
from jury.store import Label, Run

SURE = 0.95
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a verdict of the first tier can be trusted: people said the same on `right` of `n` items."""

    verdict: Any
    right: int
    n: int
    at_least: float

    def __str__(self) -> str:
        return f"{self.verdict}: right on {self.right} of {self.n} labelled items, at least {self.at_least:.1%}"


def with_labels(given: Any) -> Any:
    """A cascade as it was given, with `labels` and `sure` turned into the verdicts of `always`. Reads a run folder.

    Raises `ConfigError` where no first tier is named, or no verdict may stand; `DataError` for what is no run folder.
    """
    if not isinstance(given, Mapping) or not {"labels", "sure"} & cast("Mapping[str, Any]", given).keys():
        return cast("Any", given)
    options = dict(cast("Mapping[str, Any]", given))
    folder, sure = options.pop("labels", None), options.pop("sure", SURE)
    if not isinstance(folder, str | Path):
        raise ConfigError("escalate: sure needs labels, the folder of a run that people have labelled")
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0.5 < sure < 1:
        raise ConfigError(f"escalate: sure must be a share between 0.5 and 1, got {sure!r}")
    tiers = options.get("tiers")
    names = cast("list[Any]", tiers)[0] if isinstance(tiers, list) and tiers else None
    first = [names] if isinstance(names, str) else list(cast("Sequence[Any]", names or ()))
    if not first or REST in first:
        raise ConfigError("escalate: labels need the names of the judges that are asked first")
    found = standings(folder, [str(n) for n in first])
    weak = [s.verdict for s in found if s.at_least < sure]
    if len(weak) == len(found):
        told = "; ".join(map(str, found))
        raise ConfigError(f"escalate: no verdict of {', '.join(map(str, first))} is right often enough ({told})")
    before = options.get("always", ())
    listed: list[Any] = list(cast("Sequence[Any]", before)) if isinstance(before, list | tuple) else [before]
    return {**options, "always": [*listed, *(v for v in weak if v not in listed)]}


def standings(folder: str | Path, first: Sequence[str]) -> list[Standing]:
    """By verdict, how often people agree with these judges where they are of one mind. Raises `ConfigError`."""
    run = Run.open(folder)
    if run.kind not in ("pointwise", "pairwise") or isinstance(run.scale, Numeric):
        raise ConfigError(
            f"escalate: labels must be a run with one label as verdict for each item; {folder} holds a {run.kind} run: "
            "say with always which verdicts go on"
        )
    seats = [str(j["id"]) for j in run.manifest.judges]
    unknown = [n for n in first if n not in seats]
    if unknown:
        raise ConfigError(f"escalate: {unknown} did not judge in {folder}; there are {seats}")
    said = _people(run.labels(), run.scale)
    counts: dict[Any, Counter[bool]] = defaultdict(Counter)
    for item, result in run.results():
        if item.id not in said:
            continue
        values = {v.judge: v.value for v in result.votes if v.decided and not v.replacement}
        votes = [values.get(name) for name in first]
        if None not in votes and len(set(votes)) == 1:
            counts[votes[0]][votes[0] == said[item.id]] += 1
    return [_standing(v, counts[v][True], counts[v].total()) for v in run.scale.values]


def _standing(verdict: Any, right: int, n: int) -> Standing:
    from jury.stats.distributions import beta_quantile  # numpy, on this path only

    bound = beta_quantile(1 - _CONFIDENCE, right, n - right + 1) if right else 0.0
    return Standing(verdict, right, n, bound)


def _people(labels: Sequence[Label], scale: Scale) -> dict[str, Any]:
    """By item what most of the people say who saw a random sample; a tie says nothing."""
    votes: dict[str, Counter[Any]] = defaultdict(Counter)
    for label in labels:
        if label.status or label.sampling not in ("", "random"):
            continue
        try:
            votes[label.item][scale.read(label.value)] += 1
        except ReplyError:  # a label of another scale
            continue
    made: dict[str, Any] = {}
    for item, counted in votes.items():
        (value, most), *others = counted.most_common(2)
        if not others or others[0][1] < most:
            made[item] = value
    return made
