"""`SessionJury`: one recorded session, one or several criteria, one report. `making.py` makes it from keywords."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, cast

from jury import sync
from jury.aggregation import Rule
from jury.errors import ConfigError
from jury.escalation import combined
from jury.formats import ReplyFormat
from jury.judge import Case, Prompt, Seat
from jury.panel import Panel, PanelSpec
from jury.results import CriterionResult, PanelResult, Usage, Verdict, Vote
from jury.scales import INCONCLUSIVE
from jury.sessions.checks import CodeCheck, facts
from jury.sessions.criteria import SessionCriterion, joint_format, joint_names, joint_prompt
from jury.sessions.events import Session
from jury.sessions.evidence import SessionEvidence
from jury.sessions.fit import fit, is_cut
from jury.sessions.votes import Ballots, SessionReading, summed, together_of, total, verdicts_of, whole
from jury.sessions.windows import windows
from jury.streams import as_completed
from jury.tasks import Limiter, together
from jury.transcripts import load_session

SESSION_TOKENS = 100_000


@dataclass(frozen=True, slots=True)
class _View:
    """A session, or a part of it, as judges see it."""

    names: Mapping[str, Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """Criteria that are asked about in one call."""

    criteria: tuple[SessionCriterion, ...]
    panel: Panel
    format: ReplyFormat
    rules: Mapping[str, Rule]
    wanted: frozenset[str]

    def names(self, criteria: Sequence[SessionCriterion]) -> dict[str, Any]:
        return {"joint": False, **criteria[0].names()} if len(criteria) == 1 else joint_names(criteria)


class SessionJury:
    """A panel with criteria for sessions; made by `session_jury`. Safe to share between tasks and event loops.

    `shown` is set by a run: it hears what is shown of a session by each prompt before that is asked.
    """

    shown: Callable[[str, str, Prompt, Mapping[str, Any]], None] | None = None

    def __init__(
        self,
        criteria: Sequence[SessionCriterion],
        checks: Sequence[CodeCheck],
        panel: PanelSpec,
        *,
        context: str | Mapping[str, str] | None = None,
        ask: str = "each",
        long: str = "fit",
        session_tokens: int = SESSION_TOKENS,
        name: str = "session_jury",
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        if ask not in ("each", "together"):
            raise ConfigError(f"ask is 'each' (one call per criterion) or 'together' (one call), got {ask!r}")
        if long not in ("fit", "windows"):
            raise ConfigError(f"long is 'fit' or 'windows', got {long!r}")
        if isinstance(cast("Any", session_tokens), bool) or not session_tokens >= 1:
            raise ConfigError(f"session_tokens must be a whole number from 1, got {session_tokens!r}")
        if ask == "together" and panel.stop and len(criteria) > 1:
            raise ConfigError("stop= does not go with ask='together': every criterion has a vote of its own")
        self.name = name
        self.criteria = tuple(criteria)
        self.checks = tuple(checks)
        self.spec = panel
        self.context = context
        self.variables = dict(variables or {})
        self.ask = ask
        self.long = long
        self.session_tokens = session_tokens
        self._sets = shared_calls(self.criteria, ask, long)
        self._prompts = [s[0].prompt if len(s) == 1 else joint_prompt(s) for s in self._sets]
        self._groups: tuple[_Group, ...] | None = None
        self._turn = 0
        for one in self.criteria:
            Rule.of(panel.aggregator, one.reply.scale, panel.tie_break)
        if panel.judges:
            self._groups = self._make()

    @property
    def groups(self) -> tuple[_Group, ...]:
        """The panels, made at the first call where they come from the environment. Raises `ConfigError`."""
        if self._groups is None:
            self._groups = self._make()
        return self._groups

    @property
    def panels(self) -> tuple[Panel, ...]:
        return tuple(g.panel for g in self.groups)

    def _make(self) -> tuple[_Group, ...]:
        limiter = Limiter(self.spec.max_concurrency)
        made: list[_Group] = []
        for one_set, prompt in zip(self._sets, self._prompts, strict=True):
            made.append(self._group(one_set, prompt))
            made[-1].panel.limiter = limiter
        for one in made[:1]:
            one.panel.check_opinions()  # they have the same seats
        return tuple(made)

    def _group(self, criteria: tuple[SessionCriterion, ...], prompt: Prompt) -> _Group:
        how = criteria[0].format if len(criteria) == 1 else joint_format(criteria)
        rules = {c.key: Rule.of(self.spec.aggregator, c.reply.scale, self.spec.tie_break) for c in criteria}
        reading = SessionReading(criteria, rules)
        panel = Panel(self.spec, criteria[0].reply.scale, prompt, "pointwise", how, reading)
        return _Group(criteria, panel, how, rules, panel.wanted)

    async def judge(
        self,
        session: Any,
        *,
        context: str | Mapping[str, str] | None = None,
        id: str | None = None,
        number: int | None = None,
    ) -> PanelResult:
        """The report on one session: a path, messages, a record or trace of a known tool, or a `Session`.

        `context` replaces the jury's. `number` says whose turn it is in a rotation (else the order of arrival). A
        session whose target failed is not judged. Raises `ConfigError` for a missing context before any call,
        `DataError` for what cannot be read as a session.
        """
        read = session if isinstance(session, Session) else load_session(session)
        name = id if id is not None else read.id
        if read.error is not None:
            told = f"Not judged: the target errored ({read.error})."
            return PanelResult("not_judged", explanation=told, item_id=name, value=INCONCLUSIVE, error=str(read.error))
        try:
            ours = self._with_contexts(context)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}" if name else str(error)) from None
        checked = [check.run(read) for check in self.checks]
        if not ours:
            return PanelResult(**summed(checked), item_id=name, criteria=tuple(checked))
        told = facts(self.checks, checked)
        if number is None:
            number, self._turn = self._turn, self._turn + 1
        work = [
            self._vote(g, [ours[c.key] for c in g.criteria], replace(read, id=name), told, number) for g in self.groups
        ]
        ballots = await together(work)
        clock = self.groups[0].panel.clock(name)
        return clock.told(self._result(name, read, ballots, checked))

    def questions(
        self, session: Session, *, context: str | Mapping[str, str] | None = None, number: int = 0
    ) -> Iterator[tuple[Seat, Case, int]]:
        """Every question that a session raises: seat, case, repetition; stand-ins apart. Asks none of them."""
        if session.error is not None or not self.criteria:
            return
        ours = self._with_contexts(context)
        told = facts(self.checks, [check.run(session) for check in self.checks])
        for group in self.groups:
            cases = self._cases(group, [ours[c.key] for c in group.criteria], session, told)
            for seat in group.panel.assigned(number):
                yield from ((seat, case, i) for i in range(self.spec.repetitions) for case in cases)

    def check_context(self, context: str | Mapping[str, str] | None = None) -> None:
        """Raises `ConfigError` where a criterion lacks a context that it needs."""
        self._with_contexts(context)

    def _with_contexts(self, given: Any) -> dict[str, SessionCriterion]:
        return {c.key: self._with_context(c, given) for c in self.criteria}

    def _with_context(self, one: SessionCriterion, given: Any) -> SessionCriterion:
        made = one.with_context(self.context).with_context(given)
        made.check()
        return made

    async def _vote(
        self, group: _Group, criteria: Sequence[SessionCriterion], session: Session, told: Any, turn: int
    ) -> Ballots:
        """All votes on the criteria of one group."""
        panel = group.panel
        panel.warn_of_target(session.model)
        cases = self._cases(group, criteria, session, told)
        if self.shown is not None:
            prompts = {s.prompt.digest: s.prompt for s in (*panel.seats, *panel.stand_ins) if s.function is None}
            for case, prompt in product(cases, prompts.values()):
                self.shown(session.id or "", group.format.criterion or "", prompt, case.namespace)
        seats = panel.assigned(turn)
        clock = panel.clock(session.id)
        asks = [(n, case, i) for i in range(self.spec.repetitions) for n, case in enumerate(cases)]
        questions = [(case, i) for _, case, i in asks]
        kept: dict[int, Mapping[str, Verdict]] = {}

        async def poll(seat: Seat, replacement: bool) -> Vote:
            judgments = await clock.asked(seat, questions, propagate=panel.lone)
            asked = [(n, j) for (n, _, _), j in zip(asks, judgments, strict=True)]
            parts = verdicts_of(criteria, asked, group.rules)
            vote = Vote(seat.name, whole(parts), tuple(judgments), replacement, seat.spec.weight)
            kept[id(vote)] = parts
            return vote

        votes, checked = await panel.vote(seats, poll, clock)
        single = self.spec.assignment == "cyclic"
        pairs = [(v, kept[id(v)]) for v in votes]
        cut = any(is_cut(note) for case in cases if case.format for note in case.format.notes)
        early = sum(not v.replacement for v in votes) < len(seats)
        quorum = 1 if panel.foreseen(votes) else panel.quorum()
        remarks = panel.remarks(votes)
        made = Ballots(criteria, pairs, group.rules, quorum, len(seats), cut, single, remarks, early)
        if self.spec.escalate is None and checked is None:
            return made
        course = panel.course(votes, together_of(made.results(None)), checked)
        about = f"{group.format.criterion}: " if len(self.groups) > 1 else ""
        return replace(made, course=course, remarks=(*remarks, *(about + t for t in panel.told(course, votes))))

    def views(self, session: Session, criteria: Sequence[SessionCriterion]) -> list[_View]:
        """What of the session judges get to see: all that fits, or one part after the other."""
        if self.long == "windows" and all(c.every_event for c in criteria):
            parts = windows(session, max_tokens=self.session_tokens)
            if len(parts) > 1:
                told = [f"part {w.number} of {w.of}, events {w.first} to {w.last}" for w in parts]
                return [
                    _View({**w.session.namespace(), "cut": f"this is {text}"}, text)
                    for w, text in zip(parts, told, strict=True)
                ]
        fitted = fit(session, max_tokens=self.session_tokens)
        return [_View(fitted.namespace(), str(fitted.cut))]

    def _cases(self, group: _Group, criteria: Sequence[SessionCriterion], session: Session, told: Any) -> list[Case]:
        """What a judge is asked about one group of criteria: one case, or one for each part of a long session."""
        return [self._case(group, criteria, session, view, told) for view in self.views(session, criteria)]

    def _case(
        self, group: _Group, criteria: Sequence[SessionCriterion], session: Session, view: _View, told: Any
    ) -> Case:
        names = group.names(criteria)
        extra = {**self.variables, "context": None, "session": view.names, "facts": told, **names}
        context = "\n\n".join(c.context for c in criteria if c.context) or None
        data = replace(session.data, context=context)  # for judge functions, which get the whole case
        case = Case.of_output(data, session.output, "", extra, group.wanted)
        if view.note:
            case.format = replace(group.format, notes=(view.note,))
        return case

    def _result(
        self, name: str | None, session: Session, ballots: Sequence[Ballots], checked: Sequence[CriterionResult]
    ) -> PanelResult:
        evidence = SessionEvidence(session)
        found = {r.key: r for b in ballots for r in b.results(evidence)}
        criteria = [*(found[c.key] for c in self.criteria), *checked]
        votes = _merged(ballots, found)
        judgments = [j for v in votes for j in v.judgments]
        seats = len(dict.fromkeys(s.name for p in self.panels for s in p.seats))
        course = combined([b.course for b in ballots])
        return PanelResult(
            **summed(criteria, () if any(b.early for b in ballots) else votes),
            seats=1 if self.spec.assignment == "cyclic" else seats,
            seats_used=sum(any(v.decided for v in (vote.verdict, *vote.verdict.parts.values())) for vote in votes),
            usage=Usage.total(j.usage for j in judgments),
            calls=sum(j.calls for j in judgments),
            calls_saved=sum(b.seats - sum(not v.replacement for v, _ in b.votes) for b in ballots)
            * self.spec.repetitions,
            item_id=name,
            notes=tuple(dict.fromkeys([*_notes(votes, session), *(r for b in ballots for r in b.remarks)])),
            tier=course.tier,
            for_people=course.for_people,
            checked=course.checked,
            votes=votes,
            criteria=tuple(criteria),
        )

    def judge_sync(self, session: Any, **fields: Any) -> PanelResult:
        """`judge` without `await`; works inside a running event loop (notebooks) too."""
        return sync.run(self.judge(session, **fields))

    def judge_many(self, sessions: Iterable[Any], *, ordered: bool = True) -> AsyncIterator[PanelResult]:
        """The reports on many sessions: sessions, or mappings with the names of `judge`'s arguments."""
        return as_completed(sessions, self._judge_row, self.spec.max_concurrency, ordered=ordered)

    async def _judge_row(self, row: Any) -> PanelResult:
        if isinstance(row, Mapping) and "session" in row:
            return await self.judge(**cast("dict[str, Any]", row))
        return await self.judge(row)

    def judge_many_sync(self, sessions: Iterable[Any], *, ordered: bool = True) -> Iterator[PanelResult]:
        """`judge_many` as a plain iterator."""
        return sync.iterate(sessions, lambda given: self.judge_many(given, ordered=ordered))

    def render(
        self, session: Any, *, context: str | Mapping[str, str] | None = None
    ) -> dict[str, list[dict[str, str]]]:
        """The exact texts that each seat would get, one `{"system", "user"}` for each call. Calls nobody."""
        read = session if isinstance(session, Session) else load_session(session)
        ours = self._with_contexts(context)
        told = facts(self.checks, [check.run(read) for check in self.checks])
        made: dict[str, list[dict[str, str]]] = {}
        for group in self.groups:
            criteria = [ours[c.key] for c in group.criteria]
            wanted = frozenset[str]().union(*(p.wanted for p in group.panel.prompts))
            for case in self._cases(replace(group, wanted=wanted), criteria, read, told):
                for seat in group.panel.seats:
                    system, user = case.render(seat.prompt)
                    made.setdefault(seat.name, []).append({"system": system, "user": user})
        return made


def shared_calls(criteria: Sequence[SessionCriterion], ask: str, long: str) -> list[tuple[SessionCriterion, ...]]:
    """Which criteria share a call."""
    if ask == "each" or len(criteria) < 2:
        return [(c,) for c in criteria]
    if long == "fit":
        return [tuple(criteria)]
    sets = [tuple(c for c in criteria if c.every_event is kind) for kind in (False, True)]
    return [s for s in sets if s]


def _merged(ballots: Sequence[Ballots], found: Mapping[str, CriterionResult]) -> tuple[Vote, ...]:
    """One vote for each judge over all criteria, with all its calls."""
    by_judge: dict[str, list[tuple[Vote, Mapping[str, Verdict]]]] = {}
    for ballot in ballots:
        for vote, parts in ballot.votes:
            by_judge.setdefault(vote.judge, []).append((vote, parts))
    made: list[Vote] = []
    for judge, pairs in by_judge.items():
        parts = {key: verdict for _, given in pairs for key, verdict in given.items()}
        first = pairs[0][0]
        checks = [v.evidence_check for key in parts for v in found[key].votes if v.judge == judge]
        judgments = tuple(j for vote, _ in pairs for j in vote.judgments)
        made.append(replace(first, verdict=whole(parts), judgments=judgments, evidence_check=total(checks)))
    return tuple(made)


def _notes(votes: Sequence[Vote], session: Session) -> tuple[str, ...]:
    said = [f"{v.judge}: {note}" for v in votes for j in v.judgments for note in (*j.notes, *j.verdict.notes)]
    parts = [f"{v.judge}: {note}" for v in votes for p in v.verdict.parts.values() for note in p.notes]
    return tuple(dict.fromkeys([*(f"session: {note}" for note in session.notes), *said, *parts]))
