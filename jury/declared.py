"""What the front matter of a prompt declares: what it asks about, and the verdicts it asks for. Makes no jury.

verdicts: [PASS, FAIL, NA]     # or [true, false], or {PASS: what it means, FAIL: ...}
passing: [PASS]                # those that pass; PASS where there is one and nothing is said
na: NA                         # the one for "does not apply"; NA where there is one and nothing is said
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from jury.errors import ConfigError
from jury.prompts import PromptSpec
from jury.scales import Boolean, Labels
from jury.sessions.legacy import is_legacy
from jury.templates import Template

KINDS = ("session", "rubric", "pairwise", "pointwise")
_ASKED_BY = {
    "session": "asks about sessions of agents: session_jury(...), or jury session",
    "rubric": "scores the criteria of a rubric: llm_jury(rubric=...), or jury rubric",
    "pairwise": "compares two responses: llm_jury_pairwise(...), or jury compare",
    "pointwise": "asks about one answer: llm_jury(...), or jury judge",
}


def kind_of(spec: PromptSpec) -> str:
    """`session`, `rubric`, `pairwise` or `pointwise`; of a prompt that is not asked by itself what it calls itself.

    Where the front matter does not say, the rubric in it and the names in its text do.
    """
    if is_legacy(spec.user):
        return "session"
    kind = spec.meta.get("kind")
    if kind is not None:
        return str(kind)
    if isinstance(spec.meta.get("rubric"), Mapping):
        return "rubric"
    roots = {name.split(".")[0] for name in Template(spec.user, name=spec.name).names}
    return "session" if "session" in roots else "pairwise" if roots & {"response_a", "response_b"} else "pointwise"


def check_kind(spec: PromptSpec, *fitting: str) -> None:
    """Raises `ConfigError` for a prompt that says it asks about something else. One that says nothing is taken."""
    if "kind" not in spec.meta and not is_legacy(spec.user):
        return
    kind = kind_of(spec)
    if kind not in fitting:
        raise ConfigError(f"the prompt {spec.name} {_ASKED_BY.get(kind, f'({kind}) is not asked by itself')}")


def declared_scale(spec: PromptSpec) -> Boolean | Labels | None:
    """The verdicts of a prompt about one answer; None where it declares none. Raises `ConfigError`."""
    found: Any = spec.meta.get("verdicts")
    others = [name for name in ("passing", "na") if spec.meta.get(name) is not None]
    if not found:
        if others:
            raise ConfigError(f"{spec.name}: {' and '.join(others)} in the front matter need verdicts")
        return None
    given = list(cast("Iterable[Any]", found)) if isinstance(found, list | Mapping) else []
    if given and all(isinstance(v, bool) for v in given):  # YAML reads yes and no so, too
        if len(given) != 2 or set(given) != {True, False} or others:
            raise ConfigError(f"{spec.name}: verdicts that are true and false need nothing else (quote texts)")
        return Boolean()
    if not given or not all(isinstance(v, str) for v in given):
        raise ConfigError(f"{spec.name}: verdicts are a list of texts (quote numbers, yes and no), got {found!r:.80}")
    passing: Any = spec.meta.get("passing")
    listed: Any = [passing] if isinstance(passing, str) else passing
    na = spec.meta.get("na")
    try:
        return Labels(
            cast("Any", found),
            passing=[v for v in given if v == "PASS"] if listed is None else listed,
            na="NA" if na is None and "NA" in given else na,
        )
    except ConfigError as error:
        raise ConfigError(f"{spec.name}, front matter: {error}") from None
