"""A run against people's labels: judges and panel, the corrected pass rate, weights for later runs, and their expiry.

What may be said depends on how the labels were drawn, so that is asked and never guessed:

    random      the labelled items are a random sample of the run: everything can be said
    by-class    so many passing and so many failing items by people's own label: TPR and TNR, and a rate corrected by
                them (Rogan-Gladen), hold; agreement, kappa and AC1 do not
    by-verdict  so many of each verdict of the panel: the corrected rate holds (each verdict is a stratum)
    other       picked by hand, disagreements first, ...: what is left are counts, and the items that differ
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from jury.audit.against import AgainstPeople, against, no_fair_votes, share
from jury.audit.early import Polled, polled
from jury.audit.people import SAMPLED
from jury.audit.reading import Audited, Judged
from jury.errors import ConfigError
from jury.stats import (
    Estimate,
    alpha_interval,
    brier_score,
    confidence_error,
    confusion,
    rogan_gladen,
    stratified_rate,
    undefined,
)
from jury.stats.table import Category
from jury.store import RunManifest
from jury.summary import count
from jury.weighing import ENOUGH_LABELS, Fitted, fit, held_for, plurality_of
from jury.weighing import expired as why_expired

PANEL = "the panel"
SHORTEST_SHOWN = 30  # characters of an answer that is looked for in prompts


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which panel and people differ, with both reasons."""

    item: str
    people: Category
    panel: Category
    why_people: str
    why_panel: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """What labels say about a run. `part` is `development` or `test`; `version` names judges, models and prompts.

    `brier` and `confidence_error` (ECE) judge the confidence of `weights`; on the test part alone, since they were
    fitted on the other. `people` is Krippendorff's alpha of the labellers: no judge can be held to more.
    """

    sampled: str
    part: str
    version: str
    n_labels: int
    n_used: int
    excluded: int
    rows: tuple[AgainstPeople, ...]
    raw_rate: Estimate
    coverage: Estimate
    corrected_rate: Estimate
    disagreements: tuple[Disagreement, ...]
    weights: Fitted
    brier: Estimate
    confidence_error: Estimate
    notes: tuple[str, ...] = ()
    holds_for: Mapping[str, Any] = field(default_factory=dict[str, Any])
    people: Estimate = field(default_factory=lambda: undefined("too_few_raters"))


def part_of(item: str) -> str:
    """`test` for a fixed half of all item ids, `development` for the others: the split never moves."""
    return "test" if hashlib.sha256(f"split {item}".encode("utf-8", "surrogatepass")).digest()[0] % 2 else "development"


def holds_for(manifest: RunManifest) -> dict[str, Any]:
    """Model, prompt digest and criteria of each seat: what a calibration is true of."""
    return held_for(manifest.criteria, manifest.judges)


def expired(made_for: Mapping[str, Any], manifest: RunManifest) -> str:
    """Why a calibration no longer holds for a run; empty where it does."""
    return why_expired(made_for, holds_for(manifest))


def version_of(manifest: RunManifest) -> str:
    """Twelve digits that change with any judge, model, prompt or criteria."""
    return hashlib.sha256(repr(sorted(holds_for(manifest).items())).encode()).hexdigest()[:12]


def calibrate(audit: Audited, *, sampled: str, part: str = "development", exclude: Iterable[str] = ()) -> Calibration:
    """Judges and panel against the labels of one part, with the corrected pass rate from all labels.

    `sampled` is one of `SAMPLED` (see the top of this module). Items whose text a prompt shows are no test and are left
    out (`shown_in_prompts`); `exclude` names further ones.
    Weights are fitted on the development part alone. Without a usable label the estimates are None with a reason.
    Raises `ConfigError` for an unknown word.
    """
    if sampled not in SAMPLED:
        raise ConfigError(f"say how the labels were drawn: sampled must be one of {list(SAMPLED)}, got {sampled!r}")
    if part not in ("development", "test"):
        raise ConfigError(f"part must be 'development' or 'test', got {part!r}")
    left_out = set(exclude) | shown_in_prompts(audit)
    labelled = audit.labelled()
    usable = [one for one in labelled if one.item.id not in left_out]
    kept = {one.item.id for one in usable if part_of(one.item.id) == part}
    table_rows = [i for i, one in enumerate(audit.judged) if one.item.id in kept]
    truth, panel = audit.truth(), audit.verdicts()
    columns, seen = {PANEL: panel}, polled(audit)
    if len(audit.judges) > 1:
        columns |= {judge: seen.fair(judge, audit.votes_of(judge)) for judge in audit.judges}
    rows = [
        no_fair_votes(name) if name in seen.late and not seen.lot
        else against(name, votes, [truth[i] for i in table_rows], table_rows, (audit, sampled))
        for name, votes in columns.items()
    ]  # fmt: skip
    raw, corrected = _rates(audit, usable, sampled)
    made_for, weights = holds_for(audit.run.manifest), weights_from(audit, left_out)
    brier, error = _confidence(audit, weights, table_rows) if part == "test" else (_UNSEEN, _UNSEEN)
    return Calibration(
        sampled=sampled,
        part=part,
        version=version_of(audit.run.manifest),
        n_labels=len(labelled),
        n_used=len(kept),
        excluded=len(labelled) - len(usable),
        rows=tuple(rows),
        raw_rate=raw,
        coverage=audit.coverage,
        corrected_rate=corrected,
        disagreements=tuple(_differences(audit, [one for one in usable if one.item.id in kept])),
        weights=weights,
        brier=brier,
        confidence_error=error,
        notes=(*_notes(sampled, len(labelled) - len(usable), rows[0]), *_of_people(audit), *_of_early(seen, weights)),
        holds_for=made_for,
        people=people_agree(audit),
    )


def shown_in_prompts(audit: Audited) -> set[str]:
    """The labelled items whose answer stands word for word in a prompt, the criteria or a variable of the run.

    Answers of fewer than 30 characters are not looked for: they occur by chance.
    """
    manifest = audit.run.manifest
    prompts = [str(p.get(part) or "") for p in manifest.prompts.values() for part in ("user", "system")]
    variables: Any = manifest.spec.get("variables")
    given = [str(v) for v in cast("Mapping[str, Any]", variables).values()] if isinstance(variables, Mapping) else []
    texts = " ".join(" ".join([*prompts, manifest.criteria, *given]).split())  # white space counts alike
    found: set[str] = set()
    for one in audit.labelled():
        for answer in (one.item.output, one.item.response_a, one.item.response_b):
            words = " ".join(answer.split())
            if len(words) >= SHORTEST_SHOWN and words in texts:
                found.add(one.item.id)
    return found


def people_agree(audit: Audited) -> Estimate:
    """Krippendorff's alpha of the labellers, with an interval over items; undefined with fewer than two."""
    names = list(audit.people)
    if len(names) < 2:
        return undefined("too_few_raters", "labels of one person" if names else "no labels")
    items = dict.fromkeys(item for labels in audit.people.values() for item in labels)
    rows = [[audit.people[name].get(item) for name in names] for item in items]
    return alpha_interval(rows, seed=0, level="nominal" if audit.labels else "interval", replicates=500)


def _of_people(audit: Audited) -> list[str]:
    found: list[str] = []
    if audit.contested:
        shown = ", ".join(audit.contested[:5]) + (", ..." if len(audit.contested) > 5 else "")
        found.append(f"people tie on {count(len(audit.contested), 'item')}, without a label: {shown}")
    if audit.strays:
        named = ", ".join(map(repr, audit.stray_items[:3])) + (", ..." if len(audit.stray_items) > 3 else "")
        strays = count(audit.strays, "label is", "labels are")
        found.append(f"{strays} of items that the run has no verdict on: {named}")
    seen = sum(one.saw_verdict for one in audit.labelled())
    if seen:
        given = count(seen, "label was", "labels were")
        found.append(f"{given} given with the panel's verdict in view: people lean to what they are shown")
    return found


def weights_from(audit: Audited, exclude: Iterable[str] = (), method: str = "auto") -> Fitted:
    """Weights fitted on the votes of a run and the labels of the development part (`jury.weighing.fit`).

    Where asking stopped early, on the items that all were asked about in any case, if these have labels enough; else
    without the judges that were asked late, whose votes then count as the median of the others.
    """
    if not audit.labels:
        raise ConfigError("weights need verdicts with labels or a pass mark; the run has a plain numeric scale")
    left_out, seen = set(exclude), polled(audit)
    ground, truth = audit, _development(audit, left_out)
    if seen.early:
        drawn = seen.whole(audit)
        ground = replace(audit, judges=tuple(judge for judge in audit.judges if judge not in seen.late))
        labels = [] if drawn is None else _development(drawn, left_out)
        if drawn is not None and sum(label is not None for label in labels) >= ENOUGH_LABELS:
            ground, truth = drawn, labels
    table = ground.table() if ground.judges else audit.table()
    if not ground.judges:
        made = plurality_of(table, method, "no judge was asked about every item: all judges count alike")
    else:
        made = fit(method, table, truth) if table.n else plurality_of(table, method, "the run has no results")
    return replace(made, holds_for=holds_for(audit.run.manifest))


def _development(audit: Audited, left_out: set[str]) -> list[Category | None]:
    """The labels of the development part; None for the others."""
    return [
        label if one.item.id not in left_out and part_of(one.item.id) == "development" else None
        for one, label in zip(audit.judged, audit.truth(), strict=True)
    ]


def _of_early(seen: Polled, weights: Fitted) -> list[str]:
    """What stopping early left out, and what the weights rest on then."""
    if not seen.early:
        return []
    late = [judge for judge in seen.late if judge not in weights.judges]
    if late:
        return [
            seen.of_judges,
            f"weights: fitted without {', '.join(late)}, whose votes count as the median of the others",
        ]
    if weights.method == "plurality":
        return [seen.of_judges]
    return [seen.of_judges, f"weights: fitted on the {len(seen.lot)} items that all were asked about {seen.drawn}"]


_UNSEEN = undefined("no_data", "measured on the test part, which the weights have not seen")


def _confidence(audit: Audited, weights: Fitted, rows: Sequence[int]) -> tuple[Estimate, Estimate]:
    """Brier score and calibration error of "people agree with the weighed verdict", on these items."""
    if weights.source != "labels":
        nothing = undefined("no_data", "the weights are not from labels, so they claim no confidence")
        return nothing, nothing
    table = replace(audit, judges=weights.judges).table().rows(rows)
    truth = table.codes_of([audit.truth()[i] for i in rows])
    said = weights.verdicts(table)
    usable = (truth >= 0) & (said >= 0)
    sure: list[float] = weights.posterior(table).max(axis=1)[usable].tolist()
    right: list[float] = (said == truth)[usable].astype(float).tolist()
    return brier_score(sure, right, seed=0), confidence_error(sure, right, seed=0)


def _rates(audit: Audited, usable: Sequence[Judged], sampled: str) -> tuple[Estimate, Estimate]:
    """The panel's own rate, and the rate that people would give."""
    verdicts = [audit.passed(one.said) for one in audit.judged]
    raw = share(verdicts.count(True), verdicts.count(True) + verdicts.count(False))
    if sampled == "other":
        word = "labels drawn in another way say nothing about the rest: draw a random sample"
        return raw, undefined("no_data", word)
    pairs = [(audit.passed(one.said), audit.passed(one.label)) for one in usable]
    pairs = [(v, t) for v, t in pairs if t is not None]
    if sampled == "by-class":
        words = {True: "PASS", False: "FAIL", None: None}
        table = confusion([words[v] for v, _ in pairs], [words[t] for _, t in pairs])
        return raw, rogan_gladen(table, verdicts.count(True), len([v for v in verdicts if v is not None])).estimate
    strata: tuple[bool | None, ...] = (True, False, None)
    passed = [sum(1 for v, t in pairs if v is s and t) for s in strata]
    counts = [sum(1 for v, _ in pairs if v is s) for s in strata]
    items = [sum(1 for v in verdicts if v is s) for s in strata]
    return raw, stratified_rate(passed, counts, items)


def _differences(audit: Audited, usable: Sequence[Judged]) -> Iterable[Disagreement]:
    for one in usable:
        said, label = audit.counted(one.said), audit.counted(one.label)
        if said is not None and label is not None and said != label:
            yield Disagreement(one.item.id, label, said, one.note, one.result.explanation)


def _notes(sampled: str, excluded: int, panel: AgainstPeople) -> tuple[str, ...]:
    found: list[str] = []
    if sampled == "other":
        found.append("labels were not drawn at random: counts and disagreements describe the labelled items only")
    if excluded:
        found.append(f"{excluded} labelled items are shown in prompts and were left out")
    if panel.lean is not None and panel.lean.flagged:
        found.append(f"labels contradict the raw pass rate: it leans by {panel.lean.difference} (80% interval)")
    return tuple(found)
