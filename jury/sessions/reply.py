"""A session judge's reply: evidence, the fields of its prompt, then PASS, FAIL or NA. `ReplySpec`: schema and reading.

A spec comes from a prompt's front matter. The verdict decides; fields are read beside it, and where they are of
another form than asked for, or contradict the verdict, a note says so and the vote stands. Several criteria can share
one reply, each with its own verdict and evidence. Asks no model, knows no session.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, cast

from jury.errors import ConfigError, ReplyError
from jury.further import check_forms, form_schema, formed
from jury.parsing import read_fields
from jury.results import Failure, Verdict
from jury.scales import NA_TEXTS, Labels

PASS, FAIL, NA = "PASS", "FAIL", "NA"
Object = Mapping[str, Any]
_CONDITION = re.compile(r"(?:not )?\w+(?: and (?:not )?\w+)*\Z")


@dataclass(frozen=True, slots=True)
class ReplySpec:
    """What one criterion asks back.

    `fields`: name -> form: `"string"`, `"boolean"`, `"integer"`, a list of one of them such as `["string"]`, or
    `[{name: form, ...}]` for a list of objects. `contradictions`: verdict -> conditions over fields that it cannot
    stand beside, such as `"required and not escalated"`; a list or text counts as true if it is not empty.
    """

    name: str = "session"
    verdicts: tuple[str, ...] = (PASS, FAIL, NA)
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    contradictions: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def __post_init__(self) -> None:
        if PASS not in self.verdicts or FAIL not in self.verdicts:
            raise ConfigError(f"{self.name}: verdicts need {PASS} and {FAIL}, got {', '.join(self.verdicts)}")
        check_forms(self.name, self.fields)
        for verdict, conditions in self.contradictions.items():
            for condition in conditions:
                names = re.sub(r"\b(?:not|and) ", "", condition).split()
                wrong = [name for name in names if name not in self.fields]
                if verdict not in self.verdicts or wrong or not _CONDITION.match(condition):
                    raise ConfigError(f"{self.name}: contradictions of {verdict}: {condition!r} names no field")

    @classmethod
    def from_meta(cls, meta: Object, name: str, options: Mapping[str, bool] | None = None) -> ReplySpec:
        """The spec in a prompt's front matter, with what its options add."""
        chosen = chosen_options(meta, name, options or {})
        verdicts = list(cast("Sequence[str]", meta.get("verdicts") or (PASS, FAIL, NA)))
        fields = dict(cast("Object", meta.get("fields") or {}))
        for option in (o for o, on in chosen.items() if on):
            added = cast("Object", meta["options"][option])
            verdicts += [v for v in added.get("verdicts") or () if v not in verdicts]
            fields |= cast("Object", added.get("fields") or {})
        return cls(name, tuple(verdicts), fields, cast("Any", meta.get("contradictions") or {}))

    @property
    def scale(self) -> Labels:
        """The verdicts as a scale: PASS passes, NA does not apply."""
        return Labels(self.verdicts, passing=[PASS], na=NA if NA in self.verdicts else None)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of a reply: evidence first, verdict last."""
        properties = {
            "evidence": {"type": "array", "items": {"type": "string"}},
            **{name: form_schema(form) for name, form in self.fields.items()},
            "verdict": {"type": "string", "enum": list(self.verdicts)},
        }
        return _object(properties)

    def read(self, found: Object) -> tuple[Verdict, tuple[str, ...]]:
        """The verdict of a reply object, and notes on what was put right or does not fit. Never raises `ReplyError`."""
        given = found.get("verdict")
        if NA in self.verdicts and isinstance(given, str) and given.strip().casefold() in NA_TEXTS:
            found = {**found, "verdict": NA}
        verdict = read_fields(found, self.scale, key="verdict")
        notes: list[str] = []
        if verdict.decided and given != verdict.value:
            notes.append(f"verdict written {given!r}")
        if isinstance(found.get("evidence"), str):
            notes.append("evidence given as one text")
        elif verdict.decided and found.get("evidence") is None:
            notes.append("no field evidence")
        fields, problems = formed(verdict.fields, self.fields)
        notes += problems
        notes += self._contradicted(str(verdict.value), fields) if verdict.decided else []
        explanation = verdict.explanation or "; ".join(verdict.evidence)
        return replace(verdict, fields=fields, explanation=explanation), tuple(notes)

    def _contradicted(self, verdict: str, fields: Object) -> list[str]:
        """The fields that the verdict contradicts; a field that is missing contradicts nothing."""
        found: list[str] = []
        for condition in self.contradictions.get(verdict, ()):
            parts = [part.split() for part in condition.split(" and ")]
            known = all(fields.get(words[-1]) is not None for words in parts)
            if known and all(bool(fields[words[-1]]) != (words[0] == "not") for words in parts):
                found.append(f"{verdict} contradicts {condition}")
        return found


def chosen_options(meta: Object, name: str, given: Mapping[str, bool]) -> dict[str, bool]:
    """A prompt's options as the caller chose them: `options.*` in the prompt. Raises `ConfigError` for unknown ones."""
    known = cast("Mapping[str, Object]", meta.get("options") or {})
    for option, value in given.items():
        if option not in known:
            near = get_close_matches(option, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f". There are: {', '.join(known) or 'none'}"
            raise ConfigError(f"{name} has no option {option!r}{hint}")
        if not isinstance(value, bool):
            raise ConfigError(f"{name}: option {option} is true or false, got {value!r}")
    return {option: given.get(option, bool(about.get("default"))) for option, about in known.items()}


def joint_schema(specs: Sequence[ReplySpec]) -> dict[str, Any]:
    """The schema of one reply about several criteria, each under its name."""
    return _object({spec.name: spec.schema() for spec in specs})


def read_joint(specs: Sequence[ReplySpec], found: Object) -> dict[str, tuple[Verdict, tuple[str, ...]]]:
    """Verdict and notes by criterion. What one criterion lacks is an error of that criterion alone."""
    read: dict[str, tuple[Verdict, tuple[str, ...]]] = {}
    for spec in specs:
        given = found.get(spec.name)
        if isinstance(given, Mapping):
            read[spec.name] = spec.read(cast("Object", given))
            continue
        kind = "missing_field" if given is None else "wrong_type"
        error = ReplyError(kind, f"no object for {spec.name}")
        read[spec.name] = (Verdict("error", failure=Failure(error.kind, error.detail)), ())
    return read


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
