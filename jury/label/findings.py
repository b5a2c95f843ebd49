"""What the labels of one person say: agreement with panel and judges, with other people, and how many more it takes.

All numbers are those of `jury.stats`, on labels aligned by `jury.audit`. Items are listed from the development half
alone (`jury.audit.part_of`), so that the other half stays a fair test.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jury.audit import Audited, audited, part_of
from jury.label.desk import USUAL_RATE, Desk
from jury.label.verdicts import said
from jury.results import PanelResult
from jury.stats import Estimate, alpha_interval, cohen_kappa, labels_for_half_width, undefined, wilson
from jury.stats.table import Category
from jury.store import Label
from jury.summary import count

PANEL = "the panel"
MOST = 20  # items listed
FEW = 10  # below, what is planned with is the usual rate, not the one seen


@dataclass(frozen=True, slots=True)
class Against:
    """One judge, the panel or another person beside the labels: share of equal values, and beyond chance."""

    name: str
    agreement: Estimate
    beyond: Estimate


@dataclass(frozen=True, slots=True)
class Needed:
    """Labels for agreement with the panel known to +-`precision`: `total`, of which `more` are missing.

    `planned_with` is the rate it was planned with; `at_most` is the total where the true rate is at the end of its
    interval that needs most. `items` is how many the run has, `reach` the half-width that labels on all of them give.
    """

    precision: float
    planned_with: float
    have: int
    total: int
    at_most: int
    items: int
    reach: float

    @property
    def more(self) -> int:
        return max(0, self.total - self.have)


@dataclass(frozen=True, slots=True)
class Difference:
    """An item of the development half on which the person and the panel differ."""

    item: str
    label: str
    panel: str
    why: str
    note: str


@dataclass(frozen=True, slots=True)
class Findings:
    """`rates`: the labels are a random sample, so that shares hold for the run. `measure` names `beyond`."""

    labeller: str
    labels: int
    na: int
    rates: bool
    measure: str
    rows: tuple[Against, ...]
    criteria: Mapping[str, tuple[Against, ...]]
    people: tuple[Against, ...]
    everyone: Estimate
    needed: Needed | None
    differences: tuple[Difference, ...]
    differing: int
    notes: tuple[str, ...]
    commands: tuple[tuple[str, str], ...] = field(default=())


def findings(desk: Desk) -> Findings:
    """From what is on the disk now. Loads numpy; reads the results of labelled items."""
    mine = desk.mine()
    rates = desk.plan.sampling == "random"
    used = [label for label in mine if label.sampling == "random"] if rates else mine
    audit = audited(desk.source.part({label.item for label in used}), used)
    plain = not audit.labels  # a numeric scale without a pass mark
    truth = [one.label for one in audit.judged] if plain else audit.truth()
    names = [PANEL, *(audit.judges if len(audit.judges) > 1 else ())]
    rows = tuple(_against(name, _column(audit, name, plain), truth, plain) for name in names)
    everybody = _everybody(desk, plain)
    differences = list(_differences(audit, plain))
    made = Findings(
        labeller=desk.plan.labeller,
        labels=len(used),
        na=sum(label.status == "na" for label in used),
        rates=rates,
        measure="alpha" if plain else "kappa",
        rows=_drawn(rates, rows),
        criteria={key: _drawn(rates, rows) for key, rows in _criteria(audit, used, names).items()},
        people=_people(everybody, desk.plan.labeller, plain),
        everyone=_everyone(everybody, plain),
        needed=None if plain or not rates else _needed(rows[0].agreement, desk),
        differences=tuple(differences[:MOST]),
        differing=len(differences),
        notes=tuple(_notes(desk, mine, used)),
    )
    return _with_commands(made, desk, len(everybody))


_PICKED = undefined("no_data", "these items were picked, not drawn at random")


def _drawn(rates: bool, rows: tuple[Against, ...]) -> tuple[Against, ...]:
    """Agreement beyond chance depends on the mix of items: there is none where they were picked."""
    return rows if rates else tuple(replace(row, beyond=_PICKED) for row in rows)


def _column(audit: Audited, name: str, plain: bool) -> list[Category | None]:
    """What the panel or a judge said of each item; `plain` as the numbers they are."""
    if not plain:
        return audit.verdicts() if name == PANEL else audit.votes_of(name)
    if name == PANEL:
        return [one.said for one in audit.judged]
    votes = ([v for v in one.result.votes if v.judge == name and v.decided] for one in audit.judged)
    return [found[0].value if found else None for found in votes]


def _everybody(desk: Desk, plain: bool) -> dict[str, dict[str, Category]]:
    """Each person's labels by item."""
    labels = desk.run.labels()
    if not plain:
        part = desk.source.part({label.item for label in labels})
        return {name: dict(found) for name, found in audited(part).people.items()}
    made: dict[str, dict[str, Category]] = {}
    for label in labels:
        if label.value is not None:
            made.setdefault(label.labeller, {})[label.item] = desk.run.scale.read(label.value)
    return made


def _against(
    name: str, column: Sequence[Category | None], truth: Sequence[Category | None], plain: bool = False
) -> Against:
    pairs = [(s, t) for s, t in zip(column, truth, strict=True) if s is not None and t is not None]
    equal = sum(s == t for s, t in pairs)
    agreement = wilson(equal, len(pairs)) if pairs else undefined("no_data")
    if not pairs:
        return Against(name, agreement, undefined("no_data"))
    if plain:
        return Against(name, agreement, alpha_interval(pairs, seed=0, level="interval", replicates=500))
    return Against(name, agreement, cohen_kappa([s for s, _ in pairs], [t for _, t in pairs]))


def _criteria(audit: Audited, used: Sequence[Label], names: Sequence[str]) -> dict[str, tuple[Against, ...]]:
    """By criterion, panel and judges beside the labels."""
    labels = {label.item: label.values for label in used if label.values}
    table: dict[str, dict[str, list[tuple[Category, Category]]]] = {}
    for one in audit.judged:
        if one.item.id not in labels or not isinstance(one.result, PanelResult):
            continue
        for criterion in one.result.criteria:
            label = labels[one.item.id].get(criterion.key)
            if label is None:
                continue
            given = {PANEL: criterion, **{vote.judge: vote for vote in criterion.votes}}
            for name in names:
                value = _value(given[name]) if name in given else None
                if value is not None:
                    table.setdefault(criterion.key, {}).setdefault(name, []).append((value, label))
    return {
        key: tuple(_against(name, [s for s, _ in pairs], [t for _, t in pairs]) for name, pairs in found.items())
        for key, found in table.items()
    }


def _value(found: Any) -> Category | None:
    status = getattr(found, "status", None) or found.verdict.status
    if status == "not_applicable":
        return "NA"
    return found.value if status in ("decided", "scored") else None


def _people(everybody: Mapping[str, Mapping[str, Category]], labeller: str, plain: bool) -> tuple[Against, ...]:
    mine = everybody.get(labeller, {})
    found: list[Against] = []
    for name, theirs in everybody.items():
        both = [item for item in mine if item in theirs]
        if name != labeller and both:
            found.append(_against(name, [theirs[i] for i in both], [mine[i] for i in both], plain))
    return tuple(found)


def _everyone(everybody: Mapping[str, Mapping[str, Category]], plain: bool) -> Estimate:
    """Krippendorff's alpha of all labellers."""
    if len(everybody) < 2:
        return undefined("too_few_raters", "labels of one person")
    items = dict.fromkeys(item for labels in everybody.values() for item in labels)
    rows = [[labels.get(item) for labels in everybody.values()] for item in items]
    return alpha_interval(rows, seed=0, level="interval" if plain else "nominal", replicates=500)


def _needed(agreement: Estimate, desk: Desk) -> Needed:
    seen = agreement.value
    rate = USUAL_RATE if seen is None or agreement.n < FEW else seen
    precision = desk.plan.precision
    total = labels_for_half_width(rate, precision)
    ends = agreement.interval if agreement.n >= FEW else None
    worst = 0.5 if ends is None or ends[0] <= 0.5 <= ends[1] else min(ends, key=lambda end: abs(end - 0.5))
    most = max(total, labels_for_half_width(worst, precision))
    whole = wilson(round(rate * len(desk.order)), len(desk.order)).interval or (0.0, 1.0)
    return Needed(precision, rate, agreement.n, total, most, len(desk.order), (whole[1] - whole[0]) / 2)


def _differences(audit: Audited, plain: bool) -> list[Difference]:
    found: list[Difference] = []
    for one in audit.labelled():
        ours, theirs = audit.counted(one.label), audit.counted(one.said)
        if plain or theirs is None or ours == theirs or part_of(one.item.id) != "development":
            continue
        word = one.label if not isinstance(one.label, bool) else ("pass" if one.label else "fail")
        found.append(Difference(one.item.id, str(word), said(one.result), one.result.explanation[:400], one.note))
    return found


def _notes(desk: Desk, mine: Sequence[Label], used: Sequence[Label]) -> list[str]:
    found: list[str] = []
    if desk.plan.sampling != "random":
        why = "no judge settled them" if desk.plan.sampling == "people" else "the judges disagree"
        found.append(
            f"These items were chosen because {why}: the numbers describe these items only. "
            "No rate of the run follows from them."
        )
    if len(used) < len(mine):
        left = len(mine) - len(used)
        was = "is" if left == 1 else "are"
        found.append(f"{count(left, 'label')} on items that were not drawn at random {was} left out here.")
    if any(label.saw_verdict for label in used):
        found.append("Labels were given with the panel's verdict in view: they agree with it more than blind ones do.")
    return found


def _with_commands(made: Findings, desk: Desk, people: int) -> Findings:
    run, who = shlex.quote(str(desk.run.folder)), shlex.quote(desk.plan.labeller)
    found: list[tuple[str, str]] = []
    needed = made.needed
    if not made.rates:
        n = min(labels_for_half_width(USUAL_RATE, desk.plan.precision), len(desk.order))
        found.append((f"jury label {run} --as {who} --n {n}", "a random sample, for rates"))
    elif needed is not None and needed.more and made.labels < needed.items:
        n = min(needed.items, needed.total + made.na)
        found.append(
            (f"jury label {run} --as {who} --n {n}", f"on to ±{100 * max(needed.precision, needed.reach):.2g} points")
        )
    if made.measure == "kappa" and made.labels > made.na:
        sampled = "random" if made.rates else "other"
        what = "the rate people would give, weights, disagreements" if made.rates else "the disagreements"
        found.append((f"jury calibrate {run} --sampled {sampled}", what))
    if people < 2:
        found.append((f"jury label {run} --as SOMEONE", "a second person: how far do people agree?"))
    elif people > 2:
        found.append((f"jury worth {run}", "may the panel stand in for a person?"))
    return replace(made, commands=tuple(found))
