"""A jury as a run's manifest holds it: seats, prompts, rule; its fingerprint; and what changed since the last pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from jury import __version__
from jury.errors import ConfigError
from jury.judge import Seat
from jury.keys import function_name, shaping_settings
from jury.pairwise import WINNERS, PairwiseJury
from jury.pointwise import Jury
from jury.providers import prices
from jury.runner.spec import RunSpec
from jury.store import RunManifest, scale_to_dict
from jury.store.lines import digest
from jury.versions import refuse_edits

AnyJury = Jury | PairwiseJury


def manifest_of(spec: RunSpec, jury: AnyJury, name: str) -> RunManifest:
    """The manifest of a run with this jury, before anything was judged."""
    panel = jury.panel
    pairwise = isinstance(jury, PairwiseJury)
    method = None if isinstance(jury, PairwiseJury) else jury.method
    prompts = {
        p.spec.digest: {"name": p.spec.name, "version": p.spec.version, "system": p.spec.system, "user": p.spec.user}
        for p in panel.prompts
    }
    return RunManifest(
        kind="pairwise" if pairwise else "pointwise" if method is None else "rubric",
        name=spec.name or name,
        jury_version=__version__,
        spec={**spec.to_dict(), **({"rubric": method.rubric.to_dict(), **method.settings} if method else {})},
        criteria=jury.criteria,
        scale=scale_to_dict(WINNERS if isinstance(jury, PairwiseJury) else jury.scale),
        rule=_rule_name(jury),
        quorum=panel.quorum(),
        judges=tuple(_seat(s) for s in panel.seats),
        stand_ins=tuple(_seat(s) for s in panel.stand_ins),
        prompts=prompts,
        data={"path": spec.data if isinstance(spec.data, str) else None, "map": dict(spec.map)},
    )


def fingerprint(jury: AnyJury) -> str:
    """A digest of everything about the jury that can change a result; an item's seal is made of it."""
    spec = jury.spec
    panel = jury.panel
    shaping = {
        "seats": [_seat(s) for s in panel.seats],
        "stand_ins": [_seat(s) for s in panel.stand_ins],
        "scale": repr(WINNERS if isinstance(jury, PairwiseJury) else jury.scale),
        "orders": jury.orders if isinstance(jury, PairwiseJury) else (),
        "criteria": jury.criteria,
        "method": None if isinstance(jury, PairwiseJury) or jury.method is None else jury.method.shaping,
        "variables": jury.variables,
        "rule": _rule_name(jury),
        "tie_break": function_name(spec.tie_break) if spec.tie_break else None,
        "panel": (spec.repetitions, panel.quorum(), spec.assignment, spec.stop),
    }
    return digest(json.dumps(shaping, sort_keys=True, default=repr).encode("utf-8", "surrogatepass"))


def changes(before: RunManifest, now: RunManifest) -> list[str]:
    """What is different from the last pass, in sentences; empty where nothing that shapes a verdict is."""
    said: list[str] = []
    old, new = ({str(j["id"]): j for j in m.judges} for m in (before, now))
    gone, come = [j for j in old if j not in new], [j for j in new if j not in old]
    said += [f"judge {j} is new" for j in come] + [f"judge {j} is gone" for j in gone]
    for name in (n for n in new if n in old):
        said += [f"{what} of judge {name} changed" for what in _SEAT if old[name].get(what) != new[name].get(what)]
    for what in ("criteria", "scale", "rule", "quorum", "stand_ins"):
        a, b = _plain(getattr(before, what)), _plain(getattr(now, what))
        if a != b:
            said.append(f"{what.replace('_', '-')} changed" + (f" from {a} to {b}" if len(f"{a}{b}") < 60 else ""))
    return said


def continued(before: RunManifest | None, now: RunManifest, at: str) -> RunManifest:
    """The manifest at the start of a pass: the history goes on."""
    if before is None:
        return replace(now, created=at)
    prompts = {**before.prompts, **now.prompts}  # what older judgments were asked with stays readable
    return replace(now, created=before.created, history=before.history, prompts=prompts, name=before.name)


def compared(before: RunManifest | None, now: RunManifest, folder: Path, *, force: bool = False) -> list[str]:
    """`changes` since the manifest that a folder holds. Raises `ConfigError` where that is of another kind, and, unless
    `force`, where a prompt was edited under a version that has results there."""
    if before is None:
        return []
    refuse_edits(before.prompts, now.prompts, str(folder), force=force)
    if before.kind != now.kind:
        raise ConfigError(f"{folder} holds a {before.kind} run, this one is {now.kind}: take another folder")
    return changes(before, now)


def price_sources(jury: AnyJury) -> dict[str, str | None]:
    """By seat, where its price comes from."""
    found: dict[str, str | None] = {}
    for seat in (*jury.panel.seats, *jury.panel.stand_ins):
        price = prices.find(seat.provider.name, seat.model) if seat.function is None else None
        found[seat.name] = (f"list {price.date}" if price.date else "configuration") if price else None
    return found


_SEAT = ("model", "prompt", "settings", "weight", "function")


def _seat(seat: Seat) -> dict[str, Any]:
    spec = seat.spec
    return {
        "id": seat.name,
        "model": spec.model,
        "family": spec.family_name,
        "prompt": seat.prompt.spec.digest,
        "settings": shaping_settings(seat.settings) if seat.function is None else {},
        "weight": spec.weight,
        "function": function_name(seat.function.function) if seat.function else None,
    }


def _rule_name(jury: AnyJury) -> str:
    given: str | Callable[[Sequence[Any]], Any] | None = jury.spec.aggregator
    return function_name(given) if callable(given) else jury.panel.rule.name


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(cast("tuple[Any, ...]", value))
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value
