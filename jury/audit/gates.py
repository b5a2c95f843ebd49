"""Gates for CI: pass, fail or undecided, from an interval and never from a bare rate.

A gate passes where the whole interval reaches the mark, fails where none of it does, and is undecided in between: then
more items are needed, not another threshold. A system exactly at the mark fails a gate in at most (1 - level) / 2 of
runs, about; `Check.false_alarm` is the exact chance for the items at hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jury.audit.reading import Audited, Judged, same_items
from jury.errors import ConfigError
from jury.results import PanelResult
from jury.stats import Estimate, PairedCounts, mcnemar, wilson
from jury.stats.distributions import binomial_pmf
from jury.summary import outcome

Outcome = Literal["pass", "fail", "undecided"]
_CONDITION = re.compile(r"\s*(>=|<=)\s*([0-9.]+)\s*(%?)\s*")


@dataclass(frozen=True, slots=True)
class Condition:
    """`>=` or `<=` a share in [0, 1]."""

    least: bool
    mark: float

    @classmethod
    def read(cls, text: str, *, least: bool = True) -> Condition:
        """`>=0.9`, `<= 2%`, or a bare share, which is a minimum (`least`) or a maximum. Raises `ConfigError`.

        >>> Condition.read(">= 90%"), Condition.read("0.02", least=False)
        (Condition(least=True, mark=0.9), Condition(least=False, mark=0.02))
        """
        bare = f"{'>=' if least else '<='}{text}" if not text.strip().startswith((">", "<")) else text
        found = _CONDITION.fullmatch(bare)
        try:
            mark = float(found[2]) / (100.0 if found[3] else 1.0) if found else math.nan
        except ValueError:
            mark = math.nan
        if not found or not 0.0 <= mark <= 1.0:
            raise ConfigError(f"a gate is '>=SHARE' or '<=SHARE' with a share between 0 and 1, got {text!r}")
        return cls(found[1] == ">=", mark)

    def __str__(self) -> str:
        return f"{'>=' if self.least else '<='} {self.mark:g}"


@dataclass(frozen=True, slots=True)
class Check:
    """One condition on one rate. `false_alarm`: chance that a system exactly at the mark fails, None where exact."""

    name: str
    estimate: Estimate
    condition: Condition
    outcome: Outcome
    false_alarm: float | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """All checks: `fail` if one fails, else `undecided` if one is, else `pass`. `coverage` is that of the rates."""

    checks: tuple[Check, ...]
    level: float
    coverage: Estimate

    @property
    def outcome(self) -> Outcome:
        found = {check.outcome for check in self.checks}
        return "fail" if "fail" in found else "undecided" if "undecided" in found else "pass"


def gate(
    audit: Audited,
    *,
    pass_rate: str | None = None,
    error_rate: str | None = None,
    min_coverage: float | None = None,
    by_tag: bool = False,
    level: float = 0.95,
) -> Gate:
    """Gate a run. Errors are gated by themselves: a broken judge is no failing system.

    With `by_tag` the pass rate is gated for each tag too, at a level corrected for their number (Bonferroni). For pairs
    the pass rate is A's win rate among decided pairs without ties. Coverage is a count and needs no interval. Raises
    `ConfigError` without any condition.
    """
    if pass_rate is None and error_rate is None and min_coverage is None:
        raise ConfigError(
            "a gate needs a condition: pass_rate, error_rate or min_coverage (`jury gate`: --pass-rate '>=0.9', "
            "--error-rate '<=0.05', --min-coverage 0.95)"
        )
    checks: list[Check] = []
    wanted = None if pass_rate is None else Condition.read(pass_rate)
    if wanted is not None:
        rate = "win rate of A" if audit.paired else "pass rate"
        checks.append(_rate(rate, audit, audit.judged, wanted, level))
        tags = sorted({tag for one in audit.judged for tag in one.item.tags}) if by_tag else []
        if by_tag and not tags:
            raise ConfigError("no item has a tag: give rows a column `tag` or `tags`, or gate the run as a whole")
        strict = 1.0 - (1.0 - level) / max(len(tags), 1)
        for tag in tags:
            some = [one for one in audit.judged if tag in one.item.tags]
            checks.append(
                _rate(f"{rate} on {tag}" if audit.paired else f"{rate} of {tag}", audit, some, wanted, strict)
            )
    asked = [one for one in audit.judged if one.result.status != "not_judged" and one.result.reason != "budget"]
    if error_rate is not None:
        errors = sum(one.result.status == "inconclusive" and one.result.reason == "errors" for one in asked)
        condition = Condition.read(error_rate, least=False)
        checks.append(_check("error rate", wilson(errors, len(asked), level=level), condition, errors, len(asked)))
    if min_coverage is not None:
        share = audit.coverage
        condition = Condition.read(f"{min_coverage}")
        met = share.value is not None and share.value >= condition.mark - 1e-12
        checks.append(Check("coverage", share, condition, "pass" if met else "fail"))
    return Gate(tuple(checks), level, audit.coverage)


def _rate(name: str, audit: Audited, judged: Sequence[Judged], condition: Condition, level: float) -> Check:
    said = [_passes(audit, one) for one in judged]
    passed, failed = said.count(True), said.count(False)
    return _check(name, wilson(passed, passed + failed, level=level), condition, passed, passed + failed)


def _passes(audit: Audited, one: Judged) -> bool | None:
    if isinstance(one.result, PanelResult):
        return {"pass": True, "fail": False}.get(outcome(one.result))
    return audit.passed(one.said)


def _check(name: str, estimate: Estimate, condition: Condition, hits: int, n: int) -> Check:
    ends = estimate.interval
    if ends is None:
        return Check(name, estimate, condition, "undecided")
    return Check(name, estimate, condition, decided(ends, condition), _false_alarm(condition, n, estimate.level))


def decided(ends: tuple[float, float], condition: Condition) -> Outcome:
    """What an interval says of a condition."""
    low, high = ends
    if condition.least:
        return "pass" if low >= condition.mark - 1e-12 else "fail" if high < condition.mark - 1e-12 else "undecided"
    return "pass" if high <= condition.mark + 1e-12 else "fail" if low > condition.mark + 1e-12 else "undecided"


def _false_alarm(condition: Condition, n: int, level: float) -> float | None:
    """Exact chance that a true rate at the mark fails with `n` items."""
    if not 0.0 < condition.mark < 1.0 or n > 20_000:
        return None
    centre, spread = n * condition.mark, 12.0 * math.sqrt(n * condition.mark * (1.0 - condition.mark)) + 2.0
    near = range(max(0, int(centre - spread)), min(n, int(centre + spread)) + 1)
    failing = [k for k in near if decided(wilson(k, n, level=level).interval or (0.0, 1.0), condition) == "fail"]
    return math.fsum(binomial_pmf(k, n, condition.mark) for k in failing)


@dataclass(frozen=True, slots=True)
class AgreementGate:
    """Whether a new version agrees with people no less than the old one, on the same labelled items.

    `difference` is new minus old share of agreement, `margin` what may be lost. `flipped` has the items where the
    verdict changed: (item, label, old, new), those that got worse first. `left_out`: labels of items that were picked,
    not drawn at random; on such a new version that only helps where judges disagree looks better than it is.
    """

    outcome: Outcome
    difference: Estimate
    margin: float
    new: Estimate
    old: Estimate
    flipped: tuple[tuple[str, object, object, object], ...]
    left_out: int = 0


def gate_agreement(new: Audited, old: Audited, *, margin: float = 0.02, level: float = 0.95) -> AgreementGate:
    """Non-inferiority: pass where the difference is surely above -margin, fail where it is surely below 0.

    Both runs are read with the same labels. Items that one of them did not decide count as not agreeing. Without a
    common labelled item: undecided, with the reason in `difference`.
    """
    if not 0.0 <= margin < 1.0:
        raise ConfigError(f"margin lies in [0, 1), got {margin}")
    common = [(n, o) for n, o in same_items(new.judged, old.judged) if n.label is not None]
    pairs = [(n, o) for n, o in common if not n.picked]
    labels = [new.counted(n.label) for n, _ in pairs]
    hits = [(new.counted(n.said) == t, old.counted(o.said) == t) for (n, o), t in zip(pairs, labels, strict=True)]
    counts = PairedCounts(
        sum(n and not o for n, o in hits), sum(o and not n for n, o in hits), sum(n and o for n, o in hits),
        sum(not n and not o for n, o in hits),
    )  # fmt: skip
    difference = mcnemar(counts, level=level).difference
    ends = difference.interval
    result: Outcome = "undecided"
    if ends is not None:
        result = "fail" if ends[1] < 0.0 else "pass" if ends[0] >= -margin else "undecided"
    changed = [(n, o, hit) for (n, o), hit in zip(pairs, hits, strict=True) if n.said != o.said]
    changed.sort(key=lambda c: (c[2][0], not c[2][1]))
    flipped = tuple((n.item.id, n.label, o.said, n.said) for n, o, _ in changed)
    share = [wilson(sum(h[k] for h in hits), len(hits), level=level) for k in (0, 1)]
    return AgreementGate(result, difference, margin, share[0], share[1], flipped, len(common) - len(pairs))
