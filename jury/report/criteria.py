"""The criteria of a rubric or of sessions over all items: verdicts, scores, violations by rule, each judge's rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, cast

from jury.audit import Audited
from jury.errors import ConfigError
from jury.report import words
from jury.report.parts import CriterionFacts, Rate
from jury.results import CriterionResult, PanelResult
from jury.rubrics.asking import NA
from jury.rubrics.criterion import Criterion
from jury.rubrics.rubric import Rubric
from jury.scales import Numeric
from jury.sessions.counting import Counts, CriterionCounts
from jury.stats import bootstrap_mean, wilson

_WORDS = 10  # entries in words that a report shows
_REPLICATES = 500  # of a judge's mean, one of many
Passes = Callable[[str, Any], bool | None]


def criteria(audit: Audited, seed: int) -> tuple[CriterionFacts, ...]:
    """One for each criterion, in the order of the results; none for a jury of one verdict."""
    counts = Counts()
    given: dict[str, list[CriterionResult]] = {}
    for one in audit.judged:
        if isinstance(one.result, PanelResult) and one.result.criteria:
            counts.add(one.result)
            for found in one.result.criteria:
                given.setdefault(found.key, []).append(found)
    rubric = rubric_of(audit)
    known = {c.key: c for c in rubric.criteria} if rubric else {}
    passes = passing(known)
    return tuple(
        _facts(key, results, counts.criteria[key], known.get(key), passes, seed) for key, results in given.items()
    )


def rubric_of(audit: Audited) -> Rubric | None:
    """The rubric of a rubric run; None for other runs."""
    if audit.run.kind != "rubric":
        return None
    try:
        return Rubric.from_dict(cast("Mapping[str, Any]", audit.run.manifest.spec.get("rubric") or {}))
    except ConfigError:  # written by another version: the results still say what was decided
        return None


def passing(rubric: Mapping[str, Criterion]) -> Passes:
    """Whether a judge's value on a criterion passes; None where that is not known (a score, not applicable)."""

    def passes(key: str, value: Any) -> bool | None:
        if not rubric:
            return {"PASS": True, "FAIL": False}.get(value) if isinstance(value, str) else None
        alone = gates.get(key)
        return alone.decide({key: value}).passed if alone is not None and value != NA else None

    gates = {key: Rubric([c], name=key) for key, c in rubric.items() if not isinstance(c.measure, Numeric)}
    return passes


def _facts(
    key: str,
    results: list[CriterionResult],
    counts: CriterionCounts,
    criterion: Criterion | None,
    passes: Passes,
    seed: int,
) -> CriterionFacts:
    decided = [r.value for r in results if r.status == "decided"]
    scores = Counter(decided)
    return CriterionFacts(
        key=key,
        question=criterion.question if criterion else "",
        items=counts.items,
        verdicts=dict(counts.verdicts.most_common()),
        rate=words.rate(counts.pass_rate, counts.verdicts["pass"]),
        mean=words.number(bootstrap_mean(counts.scores, seed=seed)) if counts.scores else None,
        scores={words.shown(value): n for value, n in sorted(scores.items(), key=_low_first)},
        entries=dict(counts.entries.most_common()),
        by_key={name: dict(found.most_common()) for name, found in counts.by_key.items() if found},
        words={name: dict(found.most_common(_WORDS)) for name, found in counts.words.items() if found},
        judges=_judges(key, results, passes, seed),
    )


def _low_first(pair: tuple[Any, int]) -> tuple[bool, float, str]:
    value = pair[0]
    return (isinstance(value, str), 0.0 if isinstance(value, str) else float(value), str(value))


def _judges(key: str, results: list[CriterionResult], passes: Passes, seed: int) -> dict[str, Rate]:
    """Each judge's pass rate on the criterion, or its mean score."""
    values: dict[str, list[Any]] = {}
    for result in results:
        for vote in result.votes:
            if vote.decided:
                values.setdefault(vote.judge, []).append(vote.value)
    made: dict[str, Rate] = {}
    for judge, said in values.items():
        rated = [p for v in said if (p := passes(key, v)) is not None]
        numbers = [float(v) for v in said if isinstance(v, int | float) and not isinstance(v, bool)]
        if rated:
            made[judge] = words.rate(wilson(sum(rated), len(rated)), sum(rated))
        elif numbers:
            made[judge] = words.number(bootstrap_mean(numbers, seed=seed, replicates=_REPLICATES))
    return made
