"""A rubric jury's result in the JSON shapes of the seeds of the shipped rubrics: `--format critic` and `rubric`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jury.errors import ConfigError
from jury.results import CriterionResult, PanelResult
from jury.rubrics.outcome import seed_json
from jury.rubrics.reply import CriterionScore, RubricReply
from jury.rubrics.rubric import Decision, Rubric
from jury.scales import Value

FORMATS = ("critic", "rubric")


def seed_report(rubric: Rubric, result: PanelResult, format: str) -> dict[str, Any]:
    """The panel's scores, evidence and verdict in the shape `critic` or `rubric`.

    A score without a verdict is null, and so is `pass`; in `critic` the status is then `INCONCLUSIVE`. Raises
    `ConfigError` for another format.
    """
    if format not in FORMATS:
        raise ConfigError(f"the formats are {' and '.join(FORMATS)}, got {format!r}")
    given = {c.key: c for c in result.criteria}
    scores = {c.key: _score(given.get(c.key), c.key) for c in rubric.criteria}
    values: dict[str, Value | None] = {key: score.value for key, score in scores.items()}
    na = frozenset(key for key, c in given.items() if c.status == "not_applicable")
    decision = replace(rubric.decide(values, na), passed=result.passed) if given else Decision(None)
    reply = RubricReply(scores, summary=result.explanation)
    shaped = rubric if rubric.shape == format else _shaped(rubric, format)
    return seed_json(shaped, reply, decision)


def _shaped(rubric: Rubric, format: Any) -> Rubric:
    return replace(rubric, shape=format)


def _score(found: CriterionResult | None, key: str) -> CriterionScore:
    if found is None or found.status != "decided":
        return CriterionScore(key, None)
    near = [v for v in found.votes if v.value == found.value] or list(found.votes)
    evidence = near[0].verdict.evidence if near else ()
    return CriterionScore(key, found.value, evidence, near[0].explanation if near else "")
