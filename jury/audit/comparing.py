"""Two runs on the same items: the paired difference, the flipped items, and what else differs between the runs."""

from __future__ import annotations

from dataclasses import dataclass

from jury.audit.reading import Audited, same_items
from jury.stats import Estimate, PairedComparison, mcnemar, paired_counts, wilson
from jury.stats.table import Category


@dataclass(frozen=True, slots=True)
class Flip:
    """An item whose verdict differs between the runs."""

    item: str
    first: Category | None
    second: Category | None


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Second run minus first. `common` items are in both, `only` in one of them; `comparison` counts the decided ones.

    `differs` names what the two runs do not share besides their items: then the difference is not the system's alone.
    """

    comparison: PairedComparison
    common: int
    only: tuple[int, int]
    changed: tuple[Flip, ...]
    differs: tuple[str, ...]
    paired: bool = False

    @property
    def rates(self) -> dict[str, Estimate]:
        """The pass rates (of pairs: A's win rates) on the items that are compared: `first` and `second`."""
        counts, level = self.comparison.counts, self.comparison.difference.level
        hits = {"first": counts.both + counts.only_b, "second": counts.both + counts.only_a}
        return {name: wilson(n, counts.n, level=level) for name, n in hits.items()}

    @property
    def better(self) -> str:
        """`second`, `first`, or `undecided` where the interval holds 0 or there is none."""
        ends = self.comparison.difference.interval
        if ends is None or ends[0] <= 0.0 <= ends[1]:
            return "undecided"
        return "second" if ends[0] > 0 else "first"


def differences(first: Audited, second: Audited) -> tuple[str, ...]:
    """What shapes a verdict and is not the same in both: kind, criteria, rubric, scale, rule, judges, prompts."""
    a, b = first.run.manifest, second.run.manifest
    found = [
        f"{name} differs" for name in ("kind", "criteria", "scale", "rule", "quorum")
        if getattr(a, name) != getattr(b, name)
    ]  # fmt: skip
    found += [f"{word} differs" for word in ("rubric", "ask", "permute") if a.spec.get(word) != b.spec.get(word)]
    if set(first.judges) != set(second.judges):
        found.append(f"judges differ: {sorted(first.judges)} and {sorted(second.judges)}")
    seats = {str(j.get("id")): j for j in b.judges}
    for judge in a.judges:
        other = seats.get(str(judge.get("id")))
        if other:
            parts = ("model", "prompt", "settings", "weight")
            found += [f"the {p} of {judge.get('id')} differs" for p in parts if judge.get(p) != other.get(p)]
    return tuple(found)


def compare_runs(first: Audited, second: Audited, *, level: float = 0.95) -> RunDifference:
    """Compare the pass rates of two runs on the items that both hold, by McNemar's test.

    An item that is NA or undecided in either run is dropped and counted. No common item: `no_data`.
    """
    pairs = same_items(first.judged, second.judged)
    words = {True: "PASS", False: "FAIL", None: None}
    a = [words[first.passed(one.said)] for one, _ in pairs]
    b = [words[second.passed(other.said)] for _, other in pairs]
    changed = [Flip(x.item.id, x.said, y.said) for x, y in pairs if x.said != y.said]
    return RunDifference(
        mcnemar(paired_counts(b, a), level=level),
        len(pairs),
        (len(first.judged) - len(pairs), len(second.judged) - len(pairs)),
        tuple(changed),
        differences(first, second),
        first.paired,
    )
