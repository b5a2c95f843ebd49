"""A prompt tried on examples: one example of any kind of prompt as the texts that judges get, and the panel asked.

An example of a session prompt has `session` and perhaps `context`; of a rubric or of a prompt about one answer
`question` (or `input`) and `answer` (or `output`), perhaps `criteria`, `reference`, `context`; of a prompt about pairs
`question`, `response_a`, `response_b`. `expect` is what a right panel says: PASS, FAIL, NA, a label, or A, B, tie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jury import declared, prompts
from jury.errors import ConfigError, DataError, TemplateError
from jury.messages import to_output
from jury.pairwise import PairwiseJury, llm_jury_pairwise
from jury.pointwise import Jury, llm_jury
from jury.prompts import PromptSpec
from jury.results import Comparison, PanelResult
from jury.rubrics.library import prompt_for, rubric_in
from jury.sessions.events import Session
from jury.sessions.legacy import is_legacy
from jury.sessions.making import session_jury
from jury.templates import Template
from jury.transcripts import load_session

SIDES = ("response_a", "response_b")
_QUESTION = ("question", "input")
_ANSWER = ("answer", "output", "response")
_REFERENCE = ("reference", "expected_output")


@dataclass(frozen=True, slots=True)
class Example:
    """One example, read. `session` for session prompts; else `texts`, the judged ones under `answer` or the sides."""

    texts: Mapping[str, str]
    session: Session | None = None
    expect: str = ""
    id: str | None = None

    def with_text(self, name: str, text: str) -> Example:
        return replace(self, texts={**self.texts, name: text})


def kind_of(spec: PromptSpec) -> str:
    """`session`, `rubric`, `pairwise` or `pointwise`. Raises `ConfigError` for a prompt that is not asked by itself."""
    kind = declared.kind_of(spec)
    if kind not in declared.KINDS or (kind == "rubric" and "rubric" not in spec.meta):
        raise ConfigError(
            f"{spec.name} (kind {kind!r}) cannot be tried by itself: prompts about sessions, about one answer, about a "
            "pair, or with a rubric of their own can"
        )
    return kind


def as_asked(spec: PromptSpec) -> PromptSpec:
    """The prompt with the texts that are sent, whose digest results carry.

    A prompt about one answer, a pair or a rubric that has no system text is sent with the shipped one of its kind; a
    `{transcript}` template never has one. One that is broken is never sent, and comes back as it is.
    """
    if is_legacy(spec.user):
        return replace(spec, system="")
    try:
        kind = declared.kind_of(spec)
        if spec.system or kind not in ("pointwise", "pairwise", "rubric"):
            return spec
        rubric = rubric_in(spec)
        of_rubric = kind == "pointwise" and "rubric" in Template(spec.user, name=spec.name).names
    except (ConfigError, TemplateError):
        return spec
    default = prompt_for(rubric, "together") if rubric else prompts.shipped("rubric" if of_rubric else kind)
    return replace(spec, system=default.system)


def read_example(spec: PromptSpec, case: Mapping[str, Any]) -> Example:
    """An example of this prompt. Raises `DataError` where what it needs is missing."""
    kind = kind_of(spec)
    expect = str(case.get("expect", ""))
    given = None if case.get("id") is None else str(case["id"])
    if kind == "session":
        context = case.get("context")
        session = load_session(_there(spec, case, ("session",)))
        return Example({} if context is None else {"context": context}, session, expect, given)
    question = "" if kind == "pointwise" else _there(spec, case, _QUESTION)
    texts = {"question": _first(case, _QUESTION) or question}
    if kind == "pairwise":
        texts |= {side: _shown(_there(spec, case, (side,))) for side in SIDES}
    else:
        texts["answer"] = _shown(_there(spec, case, _ANSWER))
    for name, names in (("reference", _REFERENCE), ("criteria", ("criteria",)), ("context", ("context",))):
        value = _first(case, names)
        if value is not None:
            texts[name] = value
    return Example(texts, None, expect, given)


def _first(case: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((case[name] for name in names if case.get(name) is not None), None)


def _there(spec: PromptSpec, case: Mapping[str, Any], names: Sequence[str]) -> Any:
    value = _first(case, names)
    if value is None:
        wanted = " or ".join(names)
        raise DataError(f"an example of {spec.name} needs {wanted}, this one has {', '.join(case)}", "bad_shape")
    return value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else to_output(value).text


class Tryout:
    """A panel with a prompt, asked about examples. Makes one jury for each text of criteria. Raises `ConfigError`."""

    def __init__(self, spec: PromptSpec, judges: Sequence[Any] | None, criteria: str | None = None) -> None:
        self.spec = spec
        self.kind = kind_of(spec)
        self._judges = judges
        self._criteria = criteria
        self._juries: dict[str | None, Any] = {}

    async def ask(self, example: Example) -> PanelResult | Comparison:
        """What the panel says of one example."""
        texts = example.texts
        jury = self._jury(texts.get("criteria", self._criteria))
        if self.kind == "session":
            return await jury.judge(example.session, context=texts.get("context"))
        if self.kind == "pairwise":
            return await jury.compare(
                texts["question"], *(texts[side] for side in SIDES), reference=texts.get("reference"), id=example.id
            )
        return await jury.judge(
            input=texts["question"] or None,
            output=texts["answer"],
            expected_output=texts.get("reference"),
            context=texts.get("context"),
            id=example.id,
        )

    def _jury(self, criteria: str | None) -> Any:
        if criteria not in self._juries:
            self._juries[criteria] = self._made(criteria)
        return self._juries[criteria]

    def _made(self, criteria: str | None) -> Any:
        spec, judges = self.spec, self._judges
        if self.kind == "session":
            sessions = session_jury(str(spec.path), judges=judges)
            for panel in sessions.panels:
                panel.lone = False
            return sessions
        if self.kind != "rubric" and not criteria and "criteria" in Template(spec.user, name=spec.name).names:
            raise ConfigError(f"{spec.name} needs criteria: give some, or `criteria` in each example")
        made: Jury | PairwiseJury
        if self.kind == "rubric":
            made = llm_jury(prompt=spec, judges=judges)
        elif self.kind == "pairwise":
            made = llm_jury_pairwise(criteria=criteria, prompt=spec, judges=judges)
        else:
            made = llm_jury(criteria=criteria, prompt=spec, judges=judges)
        made.panel.lone = False
        return made


def word(result: PanelResult | Comparison) -> str:
    """A verdict in a word: PASS, FAIL, NA, a label, A, B or tie; ERROR or INCONCLUSIVE where there is none."""
    if result.status == "inconclusive":
        return "ERROR" if result.reason in ("errors", "quorum") else "INCONCLUSIVE"
    if isinstance(result, Comparison):
        return str(result.winner)
    if isinstance(result.value, bool):
        return "PASS" if result.value else "FAIL"
    return str(result.value)
