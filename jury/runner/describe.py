"""A jury as a run's manifest holds it: seats, prompts, rule; its fingerprint; and what changed since the last pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from jury import __version__
from jury.datasets import Joined
from jury.errors import ConfigError
from jury.escalation import Escalation
from jury.judge import Seat
from jury.keys import function_name, shaping_settings
from jury.pairwise import WINNERS, PairwiseJury
from jury.panel import Panel
from jury.pointwise import Jury
from jury.providers import prices
from jury.runner.described import criteria_of, session_changes, session_scale, session_shaping
from jury.runner.spec import AnyJury, RunSpec
from jury.sessions.judging import SessionJury
from jury.store import RunManifest, scale_to_dict
from jury.store.lines import digest
from jury.versions import refuse_edits


def panels_of(jury: AnyJury) -> tuple[Panel, ...]:
    """The panels of a jury: one, or one for each call that a session jury makes; none where it has only checks."""
    return jury.panels if isinstance(jury, SessionJury) else (jury.panel,)


def seats_of(jury: AnyJury) -> list[Seat]:
    """Every seat and stand-in of a jury; one that sits on several panels is there for each."""
    return [seat for panel in panels_of(jury) for seat in (*panel.seats, *panel.stand_ins)]


def manifest_of(spec: RunSpec, jury: AnyJury, name: str) -> RunManifest:
    """The manifest of a run with this jury, before anything was judged."""
    if isinstance(jury, SessionJury):
        return _session_manifest(spec, jury, name)
    panel = jury.panel
    pairwise = isinstance(jury, PairwiseJury)
    method = None if isinstance(jury, PairwiseJury) else jury.method
    prompts = {p.spec.digest: p.spec.kept() for p in panel.prompts}
    return RunManifest(
        kind="pairwise" if pairwise else "pointwise" if method is None else "rubric",
        name=spec.name or name,
        jury_version=__version__,
        spec={
            **spec.to_dict(),
            **_panel_words(jury),
            **({"rubric": method.rubric.to_dict(), **method.settings} if method else {}),
        },
        criteria=jury.criteria,
        scale=scale_to_dict(WINNERS if isinstance(jury, PairwiseJury) else jury.scale),
        rule=_rule_name(jury),
        quorum=panel.quorum(),
        judges=tuple(_seat(s) for s in panel.seats),
        stand_ins=tuple(_seat(s) for s in panel.stand_ins),
        prompts=prompts,
        data={**source_of(spec), "map": dict(spec.map)},
    )


def _session_manifest(spec: RunSpec, jury: SessionJury, name: str) -> RunManifest:
    panels = jury.panels
    first = panels[0] if panels else None
    specs = [p.spec for panel in panels for p in panel.prompts] + [c.prompt.spec for c in jury.criteria]
    given = {k: v for k, v in spec.to_dict().items() if k not in ("context", "examples")}  # they are in the criteria
    how = {"ask": jury.ask, "long": jury.long, "session_tokens": jury.session_tokens}
    return RunManifest(
        kind="session",
        name=spec.name or name,
        jury_version=__version__,
        spec={
            **given,
            **_panel_words(jury),
            **how,
            "criteria": criteria_of(jury),
            "checks": [c.name for c in jury.checks],
        },
        criteria=", ".join([*(c.key for c in jury.criteria), *(c.name for c in jury.checks)]),
        scale=session_scale(),
        rule=_rule_name(jury) if first else "",
        quorum=first.quorum() if first else None,
        judges=tuple(_seat(s) for s in first.seats) if first else (),
        stand_ins=tuple(_seat(s) for s in first.stand_ins) if first else (),
        prompts={s.digest: s.kept() for s in specs},
        data=source_of(spec),
    )


def source_of(spec: RunSpec) -> dict[str, Any]:
    """Where the data came from, as far as it has a name: a path or a pattern, a list of them, or two files of pairs."""
    data: Any = spec.data
    if isinstance(data, Joined):
        return {"path": None, "joined": list(data.files)}
    if isinstance(data, list | tuple) and data and all(isinstance(d, str | Path) for d in cast("list[Any]", data)):
        return {"path": None, "paths": [str(d) for d in cast("list[Any]", data)]}
    return {"path": data if isinstance(data, str) else None}


def _panel_words(jury: AnyJury) -> dict[str, Any]:
    """What a ready jury says of its panel beyond what a manifest has a place for; a replay needs it."""
    spec = jury.spec
    words = {
        "assignment": spec.assignment if spec.assignment != "all" else None,
        "stop": spec.stop,
        "tie_break": function_name(spec.tie_break) if spec.tie_break else None,
        "escalate": cascade_of(jury),
    }
    return {name: word for name, word in words.items() if word is not None}


def cascade_of(jury: AnyJury) -> dict[str, Any] | None:
    """A jury's cascade with the names of its seats, tier by tier; None without one."""
    how: Escalation | None = jury.spec.escalate
    panels = panels_of(jury)
    if how is None or not panels:
        return None
    panel = panels[0]
    tiers = [[panel.seats[i].name for i in tier] for tier in panel.tiers]
    return {
        "tiers": tiers,
        "agreement": how.agreement,
        "always": list(how.always),
        "within": how.within,
        "check": how.check,
        "people": how.people,
    }


def fingerprint(jury: AnyJury) -> str:
    """A digest of everything about the jury that can change a result; an item's seal is made of it."""
    spec = jury.spec
    panels = panels_of(jury)
    shaping: dict[str, Any] = {
        "seats": [_seat(s) for panel in panels for s in panel.seats],
        "stand_ins": [_seat(s) for panel in panels for s in panel.stand_ins],
        "variables": jury.variables,
        "rule": _rule_name(jury) if panels else None,
        "tie_break": function_name(spec.tie_break) if spec.tie_break else None,
        "panel": (spec.repetitions, panels[0].quorum() if panels else None, spec.assignment, spec.stop),
    }
    if (cascade := cascade_of(jury)) is not None:
        shaping["escalate"] = cascade
    if isinstance(jury, SessionJury):
        shaping |= session_shaping(jury)
    else:
        pairwise = isinstance(jury, PairwiseJury)
        shaping |= {
            "scale": repr(WINNERS if pairwise else jury.scale),
            "orders": jury.orders if pairwise else (),
            "criteria": jury.criteria,
            "method": None if pairwise or jury.method is None else jury.method.shaping,
        }
    return digest(json.dumps(shaping, sort_keys=True, default=repr).encode("utf-8", "surrogatepass"))


def voters(jury: Jury | PairwiseJury) -> str:
    """A digest of what shapes the votes of the seats, not of what is made of them."""
    asked = ("id", "model", "prompt", "settings", "function", "fields")
    pairwise = isinstance(jury, PairwiseJury)
    shaping = {
        "seats": [{k: v for k, v in _seat(seat).items() if k in asked} for seat in jury.panel.seats],
        "variables": jury.variables,
        "repetitions": jury.spec.repetitions,
        "scale": repr(WINNERS if pairwise else jury.scale),
        "orders": jury.orders if pairwise else (),
        "criteria": jury.criteria,
        "method": None if isinstance(jury, PairwiseJury) or jury.method is None else jury.method.shaping,
    }
    return digest(json.dumps(shaping, sort_keys=True, default=repr).encode("utf-8", "surrogatepass"))[:16]


def changes(before: RunManifest, now: RunManifest) -> list[str]:
    """What is different from the last pass, in sentences; empty where nothing that shapes a verdict is."""
    said: list[str] = []
    old, new = ({str(j["id"]): j for j in m.judges} for m in (before, now))
    gone, come = [j for j in old if j not in new], [j for j in new if j not in old]
    said += [f"judge {j} is new" for j in come] + [f"judge {j} is gone" for j in gone]
    for name in (n for n in new if n in old):
        said += [f"{what} of judge {name} changed" for what in _SEAT if old[name].get(what) != new[name].get(what)]
    for what in ("criteria", "scale", "rule", "quorum", "stand_ins")[now.kind == "session" :]:
        a, b = _plain(getattr(before, what)), _plain(getattr(now, what))
        if a != b:
            said.append(f"{what.replace('_', '-')} changed" + (f" from {a} to {b}" if len(f"{a}{b}") < 60 else ""))
    if before.spec.get("escalate") != now.spec.get("escalate"):
        said.append("escalate changed")
    return said + (session_changes(before.spec, now.spec) if now.kind == "session" else [])


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
    for seat in seats_of(jury):
        price = prices.find(seat.provider.name, seat.model) if seat.function is None else None
        found[seat.name] = (f"list {price.date}" if price.date else "configuration") if price else None
    return found


_SEAT = ("model", "prompt", "settings", "weight", "function", "fields")


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
        **({"fields": dict(seat.fields)} if seat.fields else {}),
    }


def _rule_name(jury: AnyJury) -> str:
    given: str | Callable[[Sequence[Any]], Any] | None = jury.spec.aggregator
    return function_name(given) if callable(given) else panels_of(jury)[0].rule.name


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(cast("tuple[Any, ...]", value))
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value
