"""What a session is judged by: `SessionCriterion`, from a prompt of the library, of one's own, or in the format style.

Also the frame in which several of them share one call. Compiles prompts; asks nobody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from jury import namespace, prompts, templates
from jury.errors import ConfigError, ReplyError
from jury.formats import ReplyFormat
from jury.judge import Prompt
from jury.parsing import given_object
from jury.prompts import PromptSpec
from jury.providers.function import UNREADABLE, read_result
from jury.results import Failure, Usage, Verdict
from jury.sessions.events import Session
from jury.sessions.legacy import LegacyTemplate, is_legacy
from jury.sessions.reply import ReplySpec, chosen_options, joint_schema, read_joint

JOINT = "joint-session"
OF_SESSIONS = ("session", "options", "examples", "facts", "joint")  # names that only session prompts have
_EXAMPLE = re.compile(r'^\{[^\n]*"verdict"[^\n]*\}\s*$', re.MULTILINE)
_FORMS = {bool: "boolean", int: "integer", str: "string"}
Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SessionCriterion:
    """One criterion. `key` names it in results and replies.

    `context` is what the agent was to go by (rules, tools, a guide), `examples` are `{verdict, why, transcript}`.
    `every_event`: a part that was cut out may hold what decides, so that PASS is not certain without it.
    """

    key: str
    prompt: Prompt
    reply: ReplySpec
    options: Mapping[str, bool] = field(default_factory=dict[str, bool])
    needs_context: bool = False
    every_event: bool = True
    context: str | None = None
    examples: tuple[Object, ...] = ()

    def with_context(self, given: Any) -> SessionCriterion:
        """The criterion with what is given for it: a text for all, or a mapping by key."""
        text: Any = cast("Object", given).get(self.key) if isinstance(given, Mapping) else given
        if text is None:
            return self
        if not isinstance(text, str):
            raise ConfigError(f"{self.key}: the context must be a text, got {type(text).__name__}")
        return replace(self, context=text)

    def check(self) -> None:
        """Raises `ConfigError` where the context that the prompt needs is missing or blank."""
        if self.needs_context and not (self.context or "").strip():
            about = self.prompt.spec.meta.get("context")
            how = f"give context= (`jury session`: the argument after SESSION, or --context {self.key}=FILE)"
            raise ConfigError(f"{self.key} needs a context{f': {about}' if about else ''}; {how}")

    def names(self) -> dict[str, Any]:
        """What the criterion adds to the names of a prompt, beside the session and the facts."""
        return {"options": dict(self.options), "examples": list(self.examples), "context": self.context}

    @property
    def format(self) -> ReplyFormat:
        """Evidence, fields and verdict of this criterion."""

        def read(text: str | None, data: Any) -> Verdict:
            try:
                return self.read(given_object(text, data, ("verdict",)))
            except ReplyError as error:
                return Verdict("error", failure=Failure(error.kind, error.detail))

        return ReplyFormat(self.reply.schema(), read, self.result, self.reply.scale.na, criterion=self.key)

    def read(self, found: Object) -> Verdict:
        """The verdict of a reply object, with notes on what does not fit."""
        verdict, notes = self.reply.read(found)
        return replace(verdict, notes=notes) if notes else verdict

    def result(self, value: Any) -> tuple[Verdict, Usage | None]:
        """What a judge function returned: a verdict's name, or true for PASS and false for FAIL."""
        given = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
        if given and isinstance(given[0], bool):
            given = ("PASS" if given[0] else "FAIL", *given[1:])
            value = given if len(given) > 1 else given[0]
        return read_result(value, self.reply.scale)


def criterion(
    source: str | Path | SessionCriterion,
    options: Mapping[str, bool],
    strict: bool = False,
    variables: Mapping[str, Any] | None = None,
) -> SessionCriterion:
    """A criterion from a shipped name (`tool-use` or `tool_use`), or the path of a prompt of one's own.

    `variables`: a user's own names, which the prompt may use as well. Raises `ConfigError` with the nearest names for
    an unknown prompt, `TemplateError` with the place for a broken one.
    """
    if isinstance(source, SessionCriterion):
        return source
    if not isinstance(cast("Any", source), str | Path):
        raise ConfigError(f"criteria must be the names or paths of session prompts, got {source!r}")
    given = source if Path(source).exists() else str(source).replace("_", "-")
    spec = prompts.load(given)
    if is_legacy(spec.user):
        return _legacy(spec, options)
    kind = spec.meta.get("kind", "session")
    if kind != "session":
        known = ", ".join(n for n in prompts.names() if prompts.shipped(n).meta.get("kind") == "session")
        raise ConfigError(f"{spec.name} is a {kind} prompt, not one about sessions; those are {known}")
    prompt = Prompt(spec)
    if not any(name.split(".")[0] in ("session", "output", "input", "log") for name in prompt.wanted):
        raise ConfigError(f"{spec.name}: the prompt shows nothing of a session; use {{{{session.transcript}}}}")
    for template in (prompt.user, prompt.system):
        templates.check(template, known_names(spec, variables), strict=strict, prompt_name=spec.name)
    key = str(spec.meta.get("key") or spec.name)
    return SessionCriterion(
        key,
        prompt,
        replace(ReplySpec.from_meta(spec.meta, spec.name, options), name=key),
        chosen_options(spec.meta, spec.name, options),
        bool(spec.meta.get("needs_context", "context" in prompt.wanted)),
        bool(spec.meta.get("every_event", True)),
    )


def known_names(spec: PromptSpec, variables: Mapping[str, Any] | None = None) -> namespace.Known:
    """What a prompt about sessions may use: the pointwise names, `session.*`, its options, a user's `variables`.

    Raises `ConfigError` for a variable that has the name of something else.
    """
    options = dict.fromkeys(cast("Object", spec.meta.get("options") or {}))
    ours = {"session": Session(()).namespace(), "options": options, **dict.fromkeys(OF_SESSIONS[2:])}
    taken = sorted((variables or {}).keys() & {*OF_SESSIONS, "context"})
    if taken:
        raise ConfigError(f"variables: {', '.join(taken)}: a documented name of session prompts cannot be replaced")
    return namespace.known("pointwise", {**ours, **(variables or {})})


class LegacyPrompt(Prompt):
    """A template in the format style in the place of a Mustache prompt: the user text alone, without a system text."""

    def __init__(self, spec: PromptSpec) -> None:
        template = LegacyTemplate(spec.user, name=spec.name)
        super().__init__(replace(spec, user="", system=""))
        self.spec = replace(spec, system="")
        self.digest = self.spec.digest
        self.user = cast("Any", _Filled(template))
        self.wanted = frozenset({"session.transcript", "context"})


class _Filled:
    def __init__(self, template: LegacyTemplate) -> None:
        self.template = template
        self.names = template.names

    def render(self, names: Object) -> str:
        return self.template.render({"transcript": names["session"]["transcript"], "context": names.get("context")})


def _legacy(spec: PromptSpec, options: Mapping[str, bool]) -> SessionCriterion:
    """A template of the format style. Its verdicts and fields are those of the reply that it shows as an example."""
    chosen_options({}, spec.name, options)
    prompt = LegacyPrompt(spec)
    names = prompt.user.names
    blank = LegacyTemplate(spec.user, name=spec.name).render({"transcript": "", "context": ""})
    verdicts = ("PASS", "FAIL", "NA") if re.search(r"\bNA\b", blank) else ("PASS", "FAIL")
    reply = ReplySpec(spec.name, verdicts, _fields(blank))
    return SessionCriterion(spec.name, prompt, reply, {}, "context" in names, True)


def _fields(text: str) -> dict[str, Any]:
    """The fields beside evidence and verdict in the example reply of a template; none where it has no clear one."""
    for match in reversed(list(_EXAMPLE.finditer(text))):
        try:
            example: Any = json.loads(match[0])
        except ValueError:
            continue
        found = {k: _form(v) for k, v in cast("Object", example).items() if k not in ("evidence", "verdict")}
        return {k: form for k, form in found.items() if form is not None}
    return {}


def _form(value: Any) -> Any:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        inner = _form(items[0]) if items else "string"
        return [inner] if inner is not None and not isinstance(inner, list) else None
    if isinstance(value, Mapping):
        forms = {k: _plain_form(v) for k, v in cast("Object", value).items()}
        return forms if forms and all(forms.values()) else None
    return _plain_form(value)


def _plain_form(value: Any) -> str | None:
    return next((form for kind, form in _FORMS.items() if isinstance(value, kind)), None)


def joint_prompt(criteria: Sequence[SessionCriterion]) -> Prompt:
    """One prompt for several criteria: the session once, each criterion's prompt as a question of its own.

    Raises `ConfigError` for a prompt that does not leave out its own session block where `joint` is set.
    """
    for one in criteria:
        if "joint" not in one.prompt.wanted:
            raise ConfigError(f"{one.key} cannot share a call: its prompt has no {{{{^joint}}}} around the session")
    frame = prompts.shipped(JOINT)
    questions = [
        f"{{{{#criterion_{n}}}}}\n===== Question {n}: {c.key} =====\n\n{c.prompt.spec.user}\n{{{{/criterion_{n}}}}}"
        for n, c in enumerate(criteria, 1)
    ]
    reply = json.dumps({c.key: "..." for c in criteria}).replace('"..."', "{...}")
    user = frame.user.replace("QUESTIONS", "\n\n".join(questions)).replace("REPLY", reply)
    name = "+".join(c.prompt.spec.name for c in criteria)
    version = "+".join(c.prompt.spec.version for c in criteria)
    return Prompt(replace(frame, name=name, user=user, version=version))


def joint_names(criteria: Sequence[SessionCriterion]) -> dict[str, Any]:
    """The names of a joint prompt, beside the session and the facts."""
    return {"joint": True, **{f"criterion_{n}": c.names() for n, c in enumerate(criteria, 1)}}


def joint_format(criteria: Sequence[SessionCriterion]) -> ReplyFormat:
    """One reply about several criteria: a verdict with a part for each. What one lacks is an error of that part.

    The whole has a failure while any part has one, so that the judge is asked again; a value of its own it has not.
    """
    specs = [c.reply for c in criteria]
    keys = tuple(c.key for c in criteria)

    def read(text: str | None, data: Any) -> Verdict:
        try:
            given = given_object(text, data, keys)
        except ReplyError as error:
            return Verdict("error", failure=Failure(error.kind, error.detail))
        found = read_joint(specs, given)
        return _whole({key: replace(v, notes=notes) for key, (v, notes) in found.items()})

    def result(value: Any) -> tuple[Verdict, Usage | None]:
        if not isinstance(value, Mapping):
            detail = f"a judge function of several criteria returns a mapping by {', '.join(keys)}"
            return Verdict("error", failure=Failure("wrong_type", detail)), None
        given = cast("Object", value)
        lacking = Verdict("error", failure=Failure("missing_field", "the function said nothing about it"))
        told = {c.key: c.result(given[c.key]) if c.key in given else (lacking, None) for c in criteria}
        usages = [usage for _, usage in told.values() if usage is not None]
        usage = UNREADABLE if any(u is UNREADABLE for u in usages) else Usage.total(usages) if usages else None
        return _whole({key: verdict for key, (verdict, _) in told.items()}), usage

    return ReplyFormat(joint_schema(specs), read, result, "NA", criterion=joint_key(criteria))


def joint_key(criteria: Sequence[SessionCriterion]) -> str:
    """What a judgment says it is about: the key of its criterion, or those that share its call."""
    return "+".join(c.key for c in criteria)


def _whole(parts: Mapping[str, Verdict]) -> Verdict:
    failed = [(key, v.failure) for key, v in parts.items() if v.failure is not None]
    if failed:
        key, failure = failed[0]
        return Verdict("error", failure=replace(failure, detail=f"{key}: {failure.detail}"), parts=parts)
    return Verdict("scored", parts=parts)
