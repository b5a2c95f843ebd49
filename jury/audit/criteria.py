"""One criterion of a rubric or session run, as a run of its own: each can be held against people by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from jury.audit.reading import Audited, audited
from jury.errors import ConfigError
from jury.results import Comparison, PanelResult
from jury.rubrics.rubric import Rubric
from jury.scales import Numeric, Scale
from jury.store import Label, Run

_NA = "NA"


def of_criterion(run: Run, key: str, labels: Iterable[Label] | None = None) -> Audited:
    """The panel's and the judges' verdicts on one criterion, with people's labels of it (`Label.values`).

    A score counts as passing where it meets the criterion's own gate. Raises `ConfigError` for a criterion that the run
    was not judged by, `DataError` as `audited` does.
    """
    scale = criteria_of(run).get(key)
    if scale is None:
        known = ", ".join(criteria_of(run)) or "none: it was judged as a whole"
        raise ConfigError(f"{run.folder} was not judged by a criterion {key!r}; its criteria are {known}")
    given = [_label(label, key) for label in (run.labels() if labels is None else labels) if key in label.values]
    return audited(run, given, view=(scale, lambda result: _result(result, key)))


def criteria_of(run: Run) -> dict[str, Scale]:
    """The criteria that a run was judged by, with their scales; empty where there is one verdict only."""
    spec = run.manifest.spec
    if run.kind == "rubric":
        rubric = Rubric.from_dict(cast("Mapping[str, Any]", spec.get("rubric") or {}))
        return {c.key: _gated(c.measure, c.gate) for c in rubric.criteria}
    criteria = spec.get("criteria")
    if run.kind == "session" and isinstance(criteria, Mapping) and len(cast("Mapping[str, Any]", criteria)) > 1:
        return {str(key): run.scale for key in cast("Mapping[str, Any]", criteria)}
    return {}


def _gated(scale: Scale, gate: Any) -> Scale:
    if isinstance(scale, Numeric) and scale.threshold is None and isinstance(gate, int | float):
        return replace(scale, threshold=float(gate))
    return scale


def _label(label: Label, key: str) -> Label:
    value = label.values[key]
    if value in (None, _NA):
        return replace(label, value=None, values={}, status="na")
    return replace(label, value=value, values={}, status="")


def _result(result: PanelResult | Comparison, key: str) -> PanelResult | Comparison:
    """The panel's verdict on the criterion in the form of a verdict on the item; without one it is inconclusive."""
    found = next((c for c in getattr(result, "criteria", ()) if c.key == key), None)
    if found is None or result.status == "not_judged":
        return result if result.status == "not_judged" else replace(_bare(result), status="inconclusive")
    return replace(
        _bare(result), status=found.status, reason=found.reason, explanation=found.explanation, value=found.value,
        passed=found.passed, votes=found.votes, seats_used=sum(v.decided for v in found.votes),
    )  # fmt: skip


def _bare(result: PanelResult | Comparison) -> PanelResult:
    return PanelResult("inconclusive", "errors", seats=result.seats, item_id=result.item_id, usage=result.usage)
