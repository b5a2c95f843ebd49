"""The first page of a report: what the run is, its rate with interval and coverage, spend, what the panel was worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from jury.audit import Audited, Worth, expired
from jury.audit.keeping import FILE, damaged, load_calibration, load_gate
from jury.report import words
from jury.report.criteria import rubric_of
from jury.report.items import word_of
from jury.report.parts import Head, Rate, Seat
from jury.results import Comparison, PanelResult
from jury.runner.stopped import stopping
from jury.runner.totals import Totals
from jury.stats import Estimate, bootstrap_mean, undefined, wilson


def head(audit: Audited, valued: Worth | None, seed: int) -> Head:
    """`valued` is None where the panel cannot be valued (a plain numeric scale)."""
    manifest = audit.run.manifest
    totals = counted(audit)
    paired = audit.paired
    values = [one.said for one in audit.judged]
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    corrected, why = _corrected(audit)
    early = stopping(manifest, totals)
    cost = None if totals.unpriced else totals.cost
    return Head(
        name=manifest.name,
        kind=manifest.kind,
        criteria=manifest.criteria,
        rule=_rule(audit),
        scale=dict(manifest.scale),
        seats=tuple(_seat(j, False) for j in manifest.judges) + tuple(_seat(j, True) for j in manifest.stand_ins),
        targets={side or "target": str(one.get("name")) for side, one in manifest.targets.items()},
        created=manifest.created,
        finished=manifest.finished,
        jury_version=manifest.jury_version,
        folder=str(audit.run.folder),
        rate_name="win rate of A" if paired else "pass rate",
        rate=_rate(totals, audit, seed),
        coverage=Rate(
            totals.usable / totals.n_total if totals.n_total else None,
            n=totals.n_total,
            hits=totals.usable,
            text=words.percent(totals.usable, totals.n_total),
            why="" if totals.n_total else "the run has no results",
        ),
        outcomes=dict(Counter(word_of(one.result) for one in audit.judged).most_common()),
        values=dict(Counter(words.shown(v) for v in values if v is not None).most_common(50)) if not numbers else {},
        mean=words.number(bootstrap_mean(numbers, seed=seed)) if numbers else None,
        answered=totals.usable,
        total=totals.n_total,
        corrected=corrected,
        corrected_why=why,
        gate=load_gate(audit),
        cost=cost,
        cost_text=words.money(cost, totals.calls),
        calls=totals.calls,
        calls_saved=totals.calls_saved,
        input_tokens=totals.input_tokens or None,
        output_tokens=totals.output_tokens or None,
        labels=len(audit.labelled()),
        worth=(*_worth(audit, valued), *([f"{early[0]}: {early[1]}"] if early else [])),
    )


def counted(audit: Audited) -> Totals:
    """The counts over the run's results."""
    totals = Totals(audit.run.kind)
    for one in audit.judged:
        totals.add(_brief(one.result))
    return totals


def _brief(result: PanelResult | Comparison) -> dict[str, Any]:
    """What `Totals` reads of a result."""
    usage = result.usage
    return {
        "status": result.status,
        "reason": result.reason,
        "calls": result.calls,
        "calls_saved": result.calls_saved,
        "agreement": result.agreement,
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost": usage.cost}
        if usage
        else None,
        "tier": result.tier,
        "for_people": result.for_people,
        "checked": result.checked,
        **({"winner": result.winner} if isinstance(result, Comparison) else {"pass": result.passed}),
    }


def _rate(totals: Totals, audit: Audited, seed: int) -> Rate:
    good, rated = totals.rated
    if not audit.paired:
        return words.rate(wilson(good, rated) if rated else undefined("no_data", "nothing passed or failed"), good)
    ties = totals.counts["tie"]
    if not rated:
        return words.rate(undefined("no_data", "no pair was decided"), 0.0)
    if not ties:
        return words.rate(wilson(good, rated), good)
    points = [1.0] * good + [0.5] * ties + [0.0] * (rated - good - ties)
    return words.rate(bootstrap_mean(points, seed=seed), good + 0.5 * ties)


def _rule(audit: Audited) -> str:
    """How an item's verdict is made: of a rubric its own rule, of other juries the rule over the votes."""
    rubric = rubric_of(audit)
    if rubric is None:
        return audit.run.manifest.rule
    return rubric.rule_text or "none: it gives scores alone"


def _seat(given: Mapping[str, Any], stand_in: bool) -> Seat:
    """A function reads no prompt: what the manifest keeps there is the jury's, for judges that are models."""
    weight, code = given.get("weight"), bool(given.get("function"))
    return Seat(
        id=str(given.get("id") or ""),
        model=str(given.get("model") or ("function" if code else "")),
        family=str(given.get("family") or ""),
        prompt="" if code else str(given.get("prompt") or ""),
        settings=cast("Mapping[str, Any]", given.get("settings") or {}),
        weight=float(weight) if isinstance(weight, int | float) else 1.0,
        stand_in=stand_in,
    )


def _corrected(audit: Audited) -> tuple[Rate | None, str]:
    """The rate people would give, from calibration.json; or why there is none."""
    found = load_calibration(audit.run)
    if found is None:
        return None, "no calibration: label items and run `jury calibrate`"
    why = expired(cast("Mapping[str, Any]", found.get("holds_for") or {}), audit.run.manifest)
    if why:
        return None, f"the calibration has expired: {why}"
    kept = cast("Mapping[str, Any]", found.get("corrected_rate") or {})
    known = ("value", "low", "high", "reason", "n", "se", "level", "note")
    try:
        estimate = Estimate(**{k: kept[k] for k in known if k in kept})
    except (TypeError, ValueError) as error:
        raise damaged(audit.run.folder / FILE, f"no corrected rate in it: {error}") from None
    made = words.rate(estimate)
    return (made, "") if estimate.value is not None else (None, estimate.why)


def _worth(audit: Audited, valued: Worth | None) -> tuple[str, ...]:
    if valued is None or len(audit.judges) < 2:
        return ()
    said = list(valued.saying)
    if valued.one_more.value is not None:
        could = valued.one_more.value
        said.append(f"one more vote could change {f'{words.share(could)} of the items' if could else 'no verdict'}")
    if valued.price is not None:
        said.append(f"a decided item cost {words.money(valued.price, 1)}")
    return tuple(said)
