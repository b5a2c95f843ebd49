"""`session_jury`: did the agent do its job? Its keywords become criteria, a panel and a `SessionJury`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from jury import factory
from jury.errors import ConfigError
from jury.judge import JudgeSpec
from jury.panel import PanelSpec
from jury.results import Vote
from jury.sessions.checks import CodeCheck
from jury.sessions.criteria import LegacyPrompt, SessionCriterion, criterion
from jury.sessions.events import Session
from jury.sessions.fit import fit
from jury.sessions.judging import SESSION_TOKENS, SessionJury
from jury.transcripts import load_session


def session_jury(
    criteria: str | Path | Sequence[str | Path] = (),
    *,
    name: str = "session_jury",
    context: str | Mapping[str, str] | None = None,
    judges: Sequence[str | JudgeSpec | Callable[..., Any]] | None = None,
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
    examples: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    checks: Sequence[CodeCheck] = (),
    ask: str = "each",
    long: str = "fit",
    session_tokens: int = SESSION_TOKENS,
    panel: PanelSpec | None = None,
    repetitions: int | None = None,
    replacement_judges: Sequence[str | JudgeSpec | Callable[..., Any]] | None = None,
    min_successful_judges: int | None = None,
    assignment: str | None = None,
    aggregator: str | Callable[[Sequence[Vote]], Any] | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    tie_break: Callable[[Sequence[Any]], Any] | None = None,
    stop: str | float | None = None,
    escalate: Any = None,
    vote_deadline_s: float | None = None,
    item_deadline_s: float | None = None,
    structured_output: bool | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    timeout_ms: float | None = None,
    retries: int | None = None,
    reask: int | None = None,
    max_concurrency: int | None = None,
    variables: Mapping[str, Any] | None = None,
    strict_template: bool = False,
    strict_panel: bool | None = None,
    client: Any = None,
) -> SessionJury:
    """A jury that judges recorded sessions of agents. Everything is checked here; no key is needed yet.

    `criteria`: shipped prompts by name (`task-completion`, `honest-reporting`, `tool-use`, `groundedness`, `policy`,
    `escalation`, `tone`), paths of your own, `{transcript}` text files among them, or several, which are asked about in
    a call `"each"` or `"together"`. `context`: the rules, tools or guide to go by, a text or a mapping by criterion.
    `options` and `examples` likewise: of all criteria that have them, or by criterion. `checks`: `code_check`s of the
    same report; with them alone no judge is needed. Sessions longer than `session_tokens` are cut (`long="fit"`) or,
    where every event counts, judged in overlapping parts (`"windows"`). The rest as in `llm_jury`, `variables` among
    them: names of your own for prompts of your own. Raises `ConfigError`.
    """
    words = locals()  # what was given, before anything else has a name
    factory.check_words(name, strict_template=strict_template)
    own = factory.variables_of(variables)
    names = [criteria] if isinstance(criteria, str | Path) else list(criteria)
    made = _criteria(names, options, strict_template, own)
    if not made and not checks:
        raise ConfigError("give the name of a session prompt, such as 'policy', or checks")
    keys = [c.key for c in made] + [c.name for c in checks]
    doubled = next((k for k in keys if keys.count(k) > 1), None)
    if doubled is not None:
        raise ConfigError(f"{doubled!r} occurs twice: criteria and checks need names of their own")
    _known_keys("context", context, keys)
    seated = factory.seated(words)
    return SessionJury(
        [with_examples(c, examples, session_tokens // 4) for c in made],
        checks,
        seated,
        context=context,
        ask=ask,
        long=long,
        session_tokens=session_tokens,
        name=name,
        variables=own,
    )


def _criteria(
    names: Sequence[str | Path], options: Mapping[str, Any] | None, strict: bool, variables: Mapping[str, Any]
) -> list[SessionCriterion]:
    """The criteria with their options: by criterion where the values are mappings, else each takes those it has."""
    if options is not None and not isinstance(cast("Any", options), Mapping):
        raise ConfigError(f"options must be a mapping from names to true or false, got {options!r}")
    given = dict(options or {})
    by_criterion = bool(given) and all(isinstance(v, Mapping) for v in given.values())
    made: list[SessionCriterion] = []
    used: set[str] = set()
    for name in names:
        plain = criterion(name, {}, strict, variables)
        mine = cast("Mapping[str, bool]", given.get(plain.key, {})) if by_criterion else given
        chosen = mine if by_criterion else {k: v for k, v in mine.items() if k in plain.options}
        used |= {plain.key} if by_criterion else chosen.keys()
        made.append(criterion(name, chosen, strict, variables) if chosen else plain)
    for option in given:
        if option not in used:
            known = [c.key for c in made] if by_criterion else sorted({o for c in made for o in c.options})
            raise ConfigError(f"options: {_unknown(option, known)}")
    return made


def _known_keys(what: str, given: Any, keys: Sequence[str]) -> None:
    if isinstance(given, Mapping):
        for key in cast("Mapping[str, Any]", given):
            if key not in keys:
                raise ConfigError(f"{what}: {_unknown(key, keys)}")


def _unknown(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"nothing is called {name!r}" + (
        f"; did you mean {near[0]}?" if near else f"; there is {', '.join(known) or 'nothing'}"
    )


def with_examples(one: SessionCriterion, examples: Any, most: int) -> SessionCriterion:
    """The criterion with a user's own judged sessions, each at most `most` tokens long. Raises `ConfigError`."""
    mine: Any = cast("Mapping[str, Any]", examples).get(one.key, ()) if isinstance(examples, Mapping) else examples
    if not mine:
        return one
    if isinstance(mine, str) or not hasattr(mine, "__iter__"):
        raise ConfigError(f"examples must be a list of judged sessions, got {mine!r}")
    if isinstance(one.prompt, LegacyPrompt):
        raise ConfigError(f"{one.key}: a {{transcript}} template has no place for examples; make a prompt of it first")
    if "examples" not in one.prompt.wanted:
        raise ConfigError(f"{one.key}: the prompt has no {{{{#examples}}}}: no judge would see them")
    return replace(one, examples=tuple(_example(one, item, most) for item in mine))


def _example(one: SessionCriterion, item: Any, most: int) -> dict[str, Any]:
    """`(session, verdict)`, `(session, verdict, why)` or a mapping with these names."""
    given: dict[str, Any]
    if isinstance(item, Mapping):
        given = dict(cast("Mapping[str, Any]", item))
    elif isinstance(item, tuple) and len(cast("tuple[Any, ...]", item)) in (2, 3):
        names: tuple[str, ...] = ("session", "verdict", "why")
        given = dict(zip(names, cast("tuple[Any, ...]", item), strict=False))
    else:
        raise ConfigError(f"{one.key}: an example is (session, verdict), perhaps with a reason, got {item!r:.60}")
    verdict = given.get("verdict", given.get("expect"))
    if verdict not in one.reply.verdicts:
        raise ConfigError(f"{one.key}: an example's verdict is one of {', '.join(one.reply.verdicts)}, got {verdict!r}")
    source = given.get("session")
    if source is None:
        raise ConfigError(f"{one.key}: an example without a session")
    session = source if isinstance(source, Session) else load_session(source)
    return {"verdict": verdict, "why": given.get("why") or "", "transcript": fit(session, max_tokens=most).transcript}
