"""The jury of a run again, from what its folder keeps: seats, prompts, scale, rubric. Asks nobody.

A manifest holds the texts of its prompts, so a prompt file that was edited since changes nothing here. What it cannot
hold is a Python function: the configuration names it, and it must still be the same code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from jury.audit.recorded import session_jury_of
from jury.errors import ConfigError
from jury.judge import JudgeSpec
from jury.keys import function_name
from jury.pairwise import PairwiseJury, llm_jury_pairwise
from jury.pointwise import Jury, llm_jury
from jury.prompts import PromptSpec
from jury.redaction import HIDDEN
from jury.rubrics.rubric import Rubric
from jury.sessions.judging import SessionJury
from jury.store import Run, RunManifest

Loader = Callable[[str], Callable[..., Any]]


def jury_of(run: Run, *, load: Loader | None = None) -> Jury | PairwiseJury | SessionJury:
    """The panel that judged a run; stand-ins, stopping and the rule are left out, since no question depends on them.

    `load` turns `module:function` into a judge function. Raises `ConfigError` where a judge was a function that cannot
    be found or has changed.
    """
    manifest = run.manifest
    if not manifest.judges:
        raise ConfigError(f"{run.folder}: its manifest names no judges")
    spec = manifest.spec
    functions = _functions(spec, load)
    seats = [_seat(manifest, seat, functions) for seat in manifest.judges]
    if manifest.kind == "session":
        return session_jury_of(run, seats)
    user, system = _texts(manifest, str(manifest.judges[0].get("prompt") or ""))
    given: dict[str, Any] = {
        "judges": seats,
        "system_prompt": system,
        "variables": spec.get("variables"),
        "assignment": spec.get("assignment"),
        "timeout_ms": spec["timeout"] * 1000 if isinstance(spec.get("timeout"), int | float) else None,
    }
    if manifest.kind == "pairwise":
        return llm_jury_pairwise(criteria=manifest.criteria or None, prompt=user, **given)
    if manifest.kind == "rubric":
        rubric = Rubric.from_dict(cast("Mapping[str, Any]", spec.get("rubric") or {}))
        how = {"ask": spec.get("ask"), "permute": spec.get("permute"), "repetitions": _repetitions(run)}
        return llm_jury(rubric=rubric, **how, prompt=user, **given)
    return llm_jury(criteria=manifest.criteria or None, scale=run.scale, prompt=user, **given)


def _repetitions(run: Run) -> int:
    """How often each judge was asked: of a permuted rubric the order that each saw depends on it."""
    if not run.manifest.spec.get("permute"):
        return 1
    asked = (j.repetition for _, r in run.results() for v in r.votes if not v.replacement for j in v.judgments)
    return 1 + max(asked, default=0)


def _seat(manifest: RunManifest, seat: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> JudgeSpec:
    name, model, wanted = str(seat.get("id")), seat.get("model"), seat.get("function")
    if not model:
        found = functions.get(str(wanted))
        if found is None:
            why = "is not the code that judged the run" if functions else "cannot be found from its folder"
            raise ConfigError(f"judge {name} is a function that {why}: give the run's configuration (--config)")
        return JudgeSpec(function=found, id=name)
    user, system = _texts(manifest, str(seat.get("prompt") or ""))
    settings = cast("Mapping[str, Any]", seat.get("settings") or {})
    if HIDDEN in json.dumps(settings, ensure_ascii=False):
        raise ConfigError(
            f"judge {name} has a key among its settings, which no folder keeps: give the run's configuration (--config)"
        )
    family = str(seat["family"]) if seat.get("family") else None
    fields = seat.get("fields")
    prompt = PromptSpec(f"of {name}", user, meta={"fields": fields}) if fields else user
    return JudgeSpec(model, id=name, prompt=prompt, system_prompt=system, settings=settings, family=family)


def _texts(manifest: RunManifest, digest: str) -> tuple[str, str]:
    """User and system template. Raises `ConfigError` where the manifest does not hold them."""
    prompt = cast("Mapping[str, Any] | None", manifest.prompts.get(digest))
    if prompt is None:
        raise ConfigError(f"the manifest of {manifest.name} does not hold the prompt {digest}")
    return str(prompt.get("user") or ""), str(prompt.get("system") or "")


def _functions(spec: Mapping[str, Any], load: Loader | None) -> dict[str, Callable[..., Any]]:
    """The judge functions that a configuration names, by what keys call them."""
    if load is None:
        return {}
    given = spec.get("judges")
    judges: Sequence[Any] = given.split(",") if isinstance(given, str) else cast("Sequence[Any]", given or ())
    named = [cast("Mapping[str, Any]", j).get("function") if isinstance(j, Mapping) else j for j in judges]
    found = [load(n.strip()) for n in named if isinstance(n, str) and _is_function(n.strip())]
    return {function_name(f): f for f in found}


def _is_function(judge: str) -> bool:
    home, colon, name = judge.rpartition(":")
    return bool(colon) and name.isidentifier() and (home.endswith(".py") or "/" not in home)
