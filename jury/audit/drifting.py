"""A frozen set of anchors judged again tells whether the judge has drifted or the system.

Anchors are old items with their old outputs: nothing about them changes, so a change of their verdicts is the judge's.
The chance that anything is called drift while nothing drifted is at most `alpha`, over both tests together (Holm).
"""

from __future__ import annotations

from dataclasses import dataclass

from jury.audit.reading import Audited, same_items
from jury.errors import ConfigError
from jury.stats import Estimate, PairedComparison, holm, mcnemar, newcombe, paired_counts, undefined
from jury.stats.distributions import normal_two_sided


@dataclass(frozen=True, slots=True)
class Drift:
    """`judge`: the anchors now minus then, paired. `system`: the pass rate of new items now minus then.

    `system_alone` is the system's change less the judge's on the anchors; its interval adds both errors. P-values are
    corrected for both tests. `verdict` is `none`, `judge`, `system` or `both`, and `unknown` where no anchor has a
    verdict in both runs; `unmatched` anchors had changed.
    """

    judge: PairedComparison
    system: Estimate
    system_alone: Estimate
    p_judge: float | None
    p_system: float | None
    verdict: str
    unmatched: int
    alpha: float


def drift(
    anchors_then: Audited,
    anchors_now: Audited,
    system_then: Audited | None = None,
    system_now: Audited | None = None,
    *,
    alpha: float = 0.05,
) -> Drift:
    """Tell judge drift from system drift. Without the two runs of the system only the judge is tested.

    Anchors must be the same: an item whose digest changed is left out and counted. Raises `ConfigError` where only one
    run of the system is given or `alpha` is no share.
    """
    if (system_then is None) != (system_now is None) or not 0.0 < alpha < 1.0:
        raise ConfigError("give both runs of the system or none, and an alpha between 0 and 1")
    pairs = same_items(anchors_then.judged, anchors_now.judged)
    same = [(a, b) for a, b in pairs if a.item.digest == b.item.digest]
    words = {True: "PASS", False: "FAIL", None: None}
    then = [words[anchors_then.passed(a.said)] for a, _ in same]
    now = [words[anchors_now.passed(b.said)] for _, b in same]
    judge = mcnemar(paired_counts(now, then), level=1.0 - alpha)
    system, p_system = undefined("no_data", "no run of the system was given"), None
    if system_then is not None and system_now is not None:
        system, p_system = _change(system_then, system_now, 1.0 - alpha)
    exact = judge.exact_p if judge.counts.n else None
    p_judge, p_system = holm([exact, p_system])
    found = [name for name, p in (("judge", p_judge), ("system", p_system)) if p is not None and p <= alpha]
    verdict = "both" if len(found) == 2 else found[0] if found else "none" if judge.counts.n else "unknown"
    alone = _less(system, judge.difference)
    unmatched = max(len(anchors_then.judged), len(anchors_now.judged)) - len(same)
    return Drift(judge, system, alone, p_judge, p_system, verdict, unmatched, alpha)


def _change(then: Audited, now: Audited, level: float) -> tuple[Estimate, float | None]:
    counts: list[int] = []
    for audit in (now, then):
        said = [audit.passed(one.said) for one in audit.judged]
        counts += [said.count(True), said.count(True) + said.count(False)]
    change = newcombe(counts[0], counts[1], counts[2], counts[3], level=level)
    if change.value is None:
        return change, None
    pooled = (counts[0] + counts[2]) / (counts[1] + counts[3])
    error = (pooled * (1 - pooled) * (1 / counts[1] + 1 / counts[3])) ** 0.5
    return change, normal_two_sided(change.value / error) if error > 0 else None


def _less(system: Estimate, judge: Estimate) -> Estimate:
    """A difference of two independent differences, its ends by the square-and-add rule."""
    a, b = system.interval, judge.interval
    if system.value is None or judge.value is None or a is None or b is None:
        return undefined(system.reason or judge.reason or "no_data", "needs both changes with their intervals")
    value = system.value - judge.value
    low = value - ((system.value - a[0]) ** 2 + (b[1] - judge.value) ** 2) ** 0.5
    high = value + ((a[1] - system.value) ** 2 + (judge.value - b[0]) ** 2) ** 0.5
    return Estimate(value, max(-1.0, low), min(1.0, high), n=system.n + judge.n, level=system.level)
