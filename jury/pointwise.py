"""`llm_jury`: is this output good enough? One item, one panel, one verdict."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from jury import factory, sync
from jury.aggregation import decide, fold
from jury.data import DataPoint, Output
from jury.errors import ConfigError
from jury.escalation import Checked
from jury.judge import Case, JudgeSpec, Seat
from jury.juries import BaseJury, Terms
from jury.messages import to_output
from jury.panel import Panel, PanelSpec
from jury.prompts import PromptSpec
from jury.results import PairVote, PanelResult, Usage, Vote
from jury.scales import INCONCLUSIVE, Boolean, Scale
from jury.streams import as_completed
from jury.values import show

if TYPE_CHECKING:
    from jury.rubrics.asking import RubricMethod
    from jury.rubrics.rubric import Rubric

_BETWEEN_CALLS = "\n\n----- another call -----\n\n"
_FIELDS = dict.fromkeys(
    ("input", "expected_output", "system_instructions", "id", "row", "context", "number", "trace_id")
)


class Jury(BaseJury):
    """A panel with a prompt and a scale or rubric; made by `llm_jury`. Safe to share between tasks and event loops."""

    kind = "pointwise"

    def __init__(self, terms: Terms, method: RubricMethod | None = None) -> None:
        self.method = method
        super().__init__(terms)

    def _seated(self) -> Panel:
        how = self.method.format(0) if self.method else None
        return Panel(self.spec, self.scale, self._prompt, self.kind, how, self.method)

    def _own_names(self) -> Mapping[str, Any]:
        return {"rubric": ""} if self.method else {}

    async def judge(self, data: Any = None, output: Any = ..., **fields: Any) -> PanelResult:
        """The panel's verdict on one item.

        Either `judge(data, output)` with a `DataPoint` (or anything that can be its input), or by name:
        `judge(input=..., output=..., expected_output=..., context=..., row={...}, id=...)`. `output` is a text, an
        `AgentResponse`, chat messages, Responses items, content blocks, or any JSON value. A target that errored is not
        judged. Raises `ConfigError` for wrong arguments, and what a lone judge function without stand-ins raises.
        """
        point, answer = item_of(data, output, fields)
        if answer.target_error is not None:
            return _not_judged(point, str(answer.target_error))
        panel = self.panel
        panel.warn_of_target(answer.model)
        seats = panel.assigned(point.number)
        questions = self.questions(point, answer, panel.wanted)
        clock = panel.clock(point.id)

        async def poll(seat: Seat, replacement: bool) -> Vote:
            judgments = await clock.asked(seat, questions(seat), propagate=panel.lone)
            verdict = self.method.fold(judgments) if self.method else fold(judgments, panel.rule)
            return Vote(seat.name, verdict, tuple(judgments), replacement, seat.spec.weight)

        votes, checked = await panel.vote(seats, poll, clock)
        if self.method is not None:
            votes = self.method.checked(point, answer, votes)
        return clock.told(self._result(point, panel, seats, votes, checked))

    def questions(
        self, point: DataPoint, answer: Output, wanted: frozenset[str]
    ) -> Callable[[Seat], Sequence[tuple[Case, int]]]:
        """What each seat is asked, the number of the repetition beside it.

        One case for all, but for a rubric in several orders or parts.
        """
        repetitions = range(self.spec.repetitions)
        if self.method is None:
            case = Case.of_output(point, answer, self.criteria, self.variables, wanted)
            return partial(_alike, [(case, i) for i in repetitions])

        def make(names: Mapping[str, Any]) -> Case:
            contexts = [c for c in (self.variables.get("context"), names.get("context"), point.context) if c]
            extra = {**self.variables, **names, **({"context": "\n\n".join(map(show, contexts))} if contexts else {})}
            return Case.of_output(point, answer, self.criteria, extra, wanted)

        cases = self.method.cases(self.panel, make)
        return lambda seat: [(case, i) for i in repetitions for case in cases(seat, i)]

    def _result(
        self, point: DataPoint, panel: Panel, seats: Sequence[Seat], votes: list[Vote], checked: Checked
    ) -> PanelResult:
        single = self.spec.assignment == "cyclic"
        foreseen = panel.foreseen(votes)
        quorum = 1 if foreseen else panel.quorum()
        told: dict[str, Any] = {}
        if self.method is None:
            decision = decide(votes, panel.rule, quorum, len(seats), single=single)
        else:
            decision, told = self.method.decided(votes, quorum, len(seats))
        course = panel.course(votes, decision, checked)
        judgments = [j for v in votes for j in v.judgments]
        asked = len([v for v in votes if not v.replacement])
        return PanelResult(  # by place: by name it takes more than twice as long
            decision.status,
            decision.reason,
            decision.explanation,
            len(seats),
            decision.deciding,
            decision.agreement if asked == len(seats) else None,  # of some votes: it says nothing about the panel
            decision.tie,
            Usage.total([j.usage for j in judgments]),
            sum([j.calls for j in judgments]),
            (len(seats) - asked) * self.spec.repetitions,
            point.id,
            point.trace_id,
            (*notes_of(votes), *panel.remarks(votes), *panel.told(course, votes)),
            decision.confidence,
            decision.confidence_source,
            course.tier,
            course.for_people,
            course.checked,
            decision.value,
            decision.passed,
            decision.mean,
            decision.std,
            tuple(votes),
            **told,
        )

    def judge_sync(self, data: Any = None, output: Any = ..., **fields: Any) -> PanelResult:
        """`judge` without `await`; works inside a running event loop (notebooks) too."""
        return sync.run(self.judge(data, output, **fields))

    def judge_many(
        self, rows: Iterable[Any] | AsyncIterable[Any], *, ordered: bool = True, in_flight: int | None = None
    ) -> AsyncIterator[PanelResult]:
        """The verdicts on many items, in the order of `rows` or (`ordered=False`) as they are done; memory stays
        bounded.

        A row is `(data, output)`, or a mapping with the keyword names of `judge`. `in_flight` items are worked on at
        once (default: the panel's `max_concurrency`, which also limits the calls). Rows are read only as they are
        needed; where reading them fails, that is raised after the results of the rows before.
        """
        return as_completed(
            rows, self._judge_row, self.spec.max_concurrency if in_flight is None else in_flight, ordered=ordered
        )

    def judge_many_sync(self, rows: Iterable[Any], *, ordered: bool = True) -> Iterator[PanelResult]:
        """`judge_many` as a plain iterator."""
        return sync.iterate(rows, lambda given: self.judge_many(given, ordered=ordered))

    async def _judge_row(self, row: Any) -> PanelResult:
        if isinstance(row, Mapping):
            return await self.judge(**names_of(cast("Mapping[Any, Any]", row)))
        if not isinstance(row, tuple | list) or len(cast("Sequence[Any]", row)) != 2:
            kind = type(cast("object", row)).__name__
            raise ConfigError(f"a row is (data, output) or a mapping with the keywords of judge, got a {kind}")
        data, output = cast("Sequence[Any]", row)
        return await self.judge(data, output)

    def render(self, data: Any = None, output: Any = None, **fields: Any) -> dict[str, dict[str, str]]:
        """The exact texts each seat would get for an item: `{judge: {"system": ..., "user": ...}}`. Calls nobody.

        Where an API cannot enforce the schema, the schema's text is appended to the system text of that call.
        """
        point, answer = item_of(data, output, fields)
        panel = self.panel
        wanted = frozenset[str]().union(*(p.wanted for p in panel.prompts))
        questions = self.questions(point, answer, wanted)
        made: dict[str, dict[str, str]] = {}
        for seat in panel.seats:
            texts = [case.render(seat.prompt) for case, repetition in questions(seat) if repetition == 0]
            made[seat.name] = {"system": texts[0][0], "user": _BETWEEN_CALLS.join(user for _, user in texts)}
        return made


def item_of(data: Any, output: Any, fields: dict[str, Any]) -> tuple[DataPoint, Output]:
    """`judge`'s arguments as a data point and an output. Raises `ConfigError` naming what does not fit.

    What is missing in `fields` is added there.
    """
    if not fields.keys() <= _FIELDS.keys():
        unknown = [k for k in fields if k not in _FIELDS]
        raise ConfigError(f"judge() got unknown {unknown}; known are {['output', *_FIELDS]}")
    if output is ...:
        raise ConfigError("judge() got no output: give output=, or (data, output). An answer without text is None")
    if isinstance(data, DataPoint):
        if fields:
            raise ConfigError(f"judge() got a DataPoint and also {sorted(fields)}: put them into the DataPoint")
        return data, to_output(output)
    if data is not None and "input" in fields:
        raise ConfigError("judge() got the input twice: as the first argument and as input=")
    fields.setdefault("input", data)
    return DataPoint(**fields), to_output(output)


def names_of(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row as keywords. Raises `ConfigError` for a name that is no text."""
    names = dict(row)
    for name in names:
        if not isinstance(name, str):
            raise ConfigError(f"a row's names must be texts, got {name!r}")
    return names


def _alike(same: Sequence[tuple[Case, int]], seat: Seat) -> Sequence[tuple[Case, int]]:
    """All seats are asked the same."""
    return same


def _not_judged(point: DataPoint, error: str) -> PanelResult:
    return PanelResult(
        status="not_judged",
        explanation=f"Not judged: the target errored ({error}).",
        item_id=point.id,
        trace_id=point.trace_id,
        value=INCONCLUSIVE,
        error=error,
    )


def notes_of(votes: Sequence[Vote | PairVote]) -> tuple[str, ...]:
    """What had to be adapted, once per judge: "openai/x: temperature" says that it ran without that setting."""
    notes = [f"{v.judge}: {note}" for v in votes for j in v.judgments for note in j.notes]
    return tuple(dict.fromkeys(notes)) if notes else ()


def llm_jury(
    *,
    name: str = "llm_jury",
    criteria: str | None = None,
    rubric: Rubric | str | Mapping[str, Any] | None = None,
    ask: str | None = None,
    permute: bool | None = None,
    prompt: str | PromptSpec | None = None,
    system_prompt: str | None = None,
    judges: Sequence[str | JudgeSpec | Callable[..., Any]] | None = None,
    model: str | None = None,
    scale: Scale | None = None,
    panel: PanelSpec | None = None,
    repetitions: int | None = None,
    replacement_judges: Sequence[str | JudgeSpec | Callable[..., Any]] | None = None,
    min_successful_judges: int | None = None,
    assignment: str | None = None,
    verdict_kind: str | None = None,
    labels: Sequence[str] | Mapping[str, str | None] | None = None,
    passing_labels: Sequence[str] | None = None,
    score_range: Sequence[float] | None = None,
    threshold: float | None = None,
    levels: Sequence[str] | None = None,
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
) -> Jury:
    """A jury that judges one output at a time. Everything is checked here; no key and no client is needed yet.

    Give `criteria` (what a good output is) or a whole `prompt` (Mustache over the documented namespace), or both.
    A `prompts.load`ed prompt brings its `verdicts` or `rubric` along; else, without `labels` and `score_range`, the
    verdict is true or false. Or give a `rubric`: several criteria with a pass rule, as a `Rubric`, a mapping, a YAML
    file, or the name of a prompt that holds one; `ask` all criteria `"together"` or one call `"each"`, `permute` their
    order. All defaults and their reasons: docs/reference/defaults.md. Raises
    `ConfigError` (a ValueError) naming the argument that is wrong.
    """
    words = locals()  # what was given, before anything else has a name
    factory.check_words(name, strict_template=strict_template)
    if rubric is None and isinstance(prompt, PromptSpec) and prompt.meta.get("rubric") is not None:
        from jury.rubrics.library import rubric_in

        rubric = rubric_in(prompt)
    if rubric is None and (ask is not None or permute is not None):
        raise ConfigError("ask and permute belong to a rubric: give rubric=")
    blank = criteria is None or not str(criteria).strip()  # another type is named by prompt_of
    if rubric is None and prompt is None and blank:
        raise ConfigError("criteria or a prompt must be given: criteria say what a good output is")
    given = (verdict_kind, labels, passing_labels, score_range, threshold, levels)
    if scale is not None and any(g is not None for g in given):
        raise ConfigError(
            "scale= already says what a verdict is; leave out verdict_kind, labels, score_range and so on"
        )
    if scale is not None and not isinstance(scale, Scale):
        raise ConfigError(f"scale must be a Boolean, Labels or Numeric, got {type(scale).__name__}")
    seated = factory.seated(words)
    names = factory.variables_of(variables)
    if rubric is not None:
        if scale is not None or any(g is not None for g in given) or criteria is not None:
            raise ConfigError(
                "a rubric has criteria and scales of its own; leave out criteria, scale, labels and so on"
            )
        from jury.rubrics.making import method_of, rubric_prompt  # only for a rubric: it takes time to load

        method, seated = method_of(rubric, ask, permute, seated)
        text, asked = method.rubric.text(), rubric_prompt(method, rubric, prompt, system_prompt)
        factory.warn_of_braces("the rubric holds", text)
        return Jury(Terms(name, text, asked, Boolean(), seated, names, strict_template), method)
    asked = factory.prompt_of("pointwise", criteria, prompt, system_prompt)
    scale = factory.scale_with(prompt, scale, given)
    return Jury(Terms(name, criteria or "", asked, scale, seated, names, strict_template))
