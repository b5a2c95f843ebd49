"""The targets of a run on its items: what each of them makes, put into the item before it is judged.

One target makes outputs (pointwise) or sessions; two, or one of two, make the sides of pairs. Asks through
`targeting.py`; here is what they have in common: the manifest, what changed, what can be known before the first call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from jury.budget import Budget
from jury.data import DataPoint, Output
from jury.results import Comparison, PanelResult
from jury.runner.entries import Entry, item_entry, pair_entry
from jury.runner.governors import Governors
from jury.runner.recordings import Recording
from jury.runner.spec import RunSpec
from jury.runner.target_words import ALONE
from jury.runner.targeting import Maker, Outcomes, ready, routed, unpaid
from jury.store import RunManifest, RunWriter
from jury.store.lines import digest
from jury.targets import Target
from jury.targets.sessions import session_of
from jury.tasks import together

Targets = Mapping[str, Target]  # by side of a pair, or one under `ALONE`


class Producer:
    """What the targets make of the items of one pass."""

    def __init__(self, targets: Targets, spec: RunSpec, writer: RunWriter, budget: Budget | None = None) -> None:
        self.targets = targets
        self._sessions = spec.kind == "session"
        self._makers = {side: Maker(target, spec, writer, budget) for side, target in targets.items()}

    @property
    def asked(self) -> Outcomes:
        """What came of the questions of all targets in this pass."""
        made = Outcomes()
        for one in self.by_side.values():
            for name in (f.name for f in fields(Outcomes)):
                setattr(made, name, getattr(made, name) + getattr(one, name))
        return made

    @property
    def by_side(self) -> dict[str, Outcomes]:
        return {side: maker.asked for side, maker in self._makers.items()}

    async def produced(self, entry: Entry) -> Entry | None:
        """The item with what was made of it; None where it could not be paid. Raises `DataError` where nothing can be
        kept."""
        if entry.point is None or errored(entry):
            return filled(entry, {}, self._sessions)
        point, item = entry.point, entry.item.id
        made = await together([maker.output(maker.target.question(point), item) for maker in self._makers.values()])
        outputs = {side: one for side, one in zip(self._makers, made, strict=True) if one is not None}
        return filled(entry, outputs, self._sessions) if len(outputs) == len(self._makers) else None

    def route(self, spec: RunSpec, govern: Governors) -> None:
        """Puts limits and the budget before every target's provider."""
        for target in self.targets.values():
            routed(target, spec, govern)

    async def close(self) -> None:
        """Takes them away again, and closes the connections to addresses."""
        for target in self.targets.values():
            target.route(Governors.gone)
            await target.close()


def errored(entry: Entry) -> bool:
    """Whether a side that the data holds has failed: nothing that a target makes could be compared with it."""
    half = entry.half
    return half is not None and any(side.target_error is not None for side in (half.response_a, half.response_b))


def filled(entry: Entry, outputs: Mapping[str, Output], sessions: bool) -> Entry:
    """The item with the outputs of its targets in it. `sessions`: the output of its only target is one."""
    if entry.half is not None:
        return pair_entry(replace(entry.half, **{f"response_{side}": output for side, output in outputs.items()}))
    if entry.point is None or ALONE not in outputs:
        return entry
    made = outputs[ALONE]
    return _recorded(entry.point, made) if sessions else item_entry(entry.point, made)


def _recorded(point: DataPoint, made: Output) -> Entry:
    session = session_of(made, point)
    one = Recording(str(point.id), point.number or 0, session, point.context, point.trace_id)
    return Entry(one.item, recording=one)


def ready_all(targets: Targets, spec: RunSpec) -> None:
    """What can be known before the first call. Raises `ConfigError`."""
    for target in targets.values():
        ready(target, spec)


def identity(targets: Targets) -> str:
    """A text that differs where any target does."""
    return "".join(f" {side}{target.identity}" for side, target in targets.items())


def named(manifest: RunManifest, targets: Targets) -> RunManifest:
    """The manifest with the targets in it."""
    if not targets:
        return manifest
    told = {side: _about(one) for side, one in targets.items()}
    return replace(
        manifest, data={**manifest.data, **({"target": told[ALONE]} if ALONE in told else {"targets": told})}
    )


def _about(target: Target) -> dict[str, Any]:
    made = {"name": target.spec.label, "digest": digest(target.identity.encode("utf-8", "surrogatepass"))}
    return {**made, **({"model": target.spec.model} if target.spec.model else {})}


def target_changes(before: RunManifest | None, now: RunManifest) -> list[str]:
    """What is different about the targets since the last pass, in sentences."""
    if before is None:
        return []
    old, new = before.targets, now.targets
    said: list[str] = []
    for side in sorted(old.keys() | new.keys()):
        a, b = old.get(side), new.get(side)
        if a and b and (a["name"], a["digest"]) == (b["name"], b["digest"]):
            continue
        whose = f"response {side.upper()} comes" if side else "the outputs come"
        if a is None:
            said.append(f"{whose} from a target now")
        elif b is None:
            said.append(f"{whose} from the data again, from no target")
        else:
            told = f" from {a['name']} to {b['name']}" if a["name"] != b["name"] else ""
            said.append(f"target {f'{side} ' if side else ''}changed{told}")
    return said


def unpaid_for(entry: Entry, limit: float) -> PanelResult | Comparison:
    """The result of an item for whose output there is no money."""
    one = unpaid(entry, limit)
    if entry.half is None:
        return one
    about: Any = {"item_id": one.item_id, "trace_id": one.trace_id, "explanation": one.explanation}
    return Comparison(one.status, reason=one.reason, **about)
