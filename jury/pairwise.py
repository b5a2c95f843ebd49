"""`llm_jury_pairwise`: which of two answers is better? Every judge sees both orders, so the slot counts for nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from jury import factory, sync
from jury.aggregation import Rule, decide, fold
from jury.data import ResponsePair
from jury.errors import ConfigError
from jury.escalation import Checked
from jury.judge import Case, JudgeSpec, Seat
from jury.juries import BaseJury, Terms
from jury.messages import to_output
from jury.panel import Panel, PanelSpec
from jury.pointwise import names_of, notes_of
from jury.prompts import PromptSpec
from jury.results import Comparison, Failure, Flip, Judgment, Order, PairVote, Usage, Verdict, Winner
from jury.scales import INCONCLUSIVE, Labels
from jury.streams import as_completed
from jury.wording import count

WINNERS = Labels(("A", "B", "tie"))
DEFAULT_CRITERIA = (
    "The better response is the one that is right, answers what was asked, and is clear. A mistake weighs more than an "
    "omission, an omission more than style; length counts for nothing."
)
_FIELDS = ("question", "response_a", "response_b", "reference", "id", "row", "number", "trace_id")
_SWAPPED = {"A": "B", "B": "A", "tie": "tie"}


class PairwiseJury(BaseJury):
    """A panel that compares; made by `llm_jury_pairwise`. Safe to share between tasks and event loops."""

    kind = "pairwise"

    def __init__(self, terms: Terms, *, swap: bool) -> None:
        self.orders: tuple[Order, ...] = ("ab", "ba") if swap else ("ab",)
        super().__init__(terms)

    async def compare(
        self,
        question: str = "",
        response_a: Any = ...,
        response_b: Any = ...,
        *,
        reference: str = "",
        id: str | None = None,
        row: Mapping[str, Any] | None = None,
        number: int | None = None,
        trace_id: str | None = None,
    ) -> Comparison:
        """The panel's choice between two answers: `A`, `B`, `tie` or `inconclusive`.

        An answer is whatever `judge` takes as an output. A side that errored makes the comparison inconclusive, names
        the side and its error, and calls nobody. `reference` is there for prompts as `{{reference}}`.
        """
        missing = [name for name, o in (("response_a", response_a), ("response_b", response_b)) if o is ...]
        if missing:
            raise ConfigError(f"compare() got no {' and no '.join(missing)}. An answer without text is None")
        a, b = to_output(response_a), to_output(response_b)
        pair = ResponsePair(question, a, b, reference, id, row or {}, number, trace_id)
        errors = {side: str(o.target_error) for side, o in (("A", a), ("B", b)) if o.target_error is not None}
        if errors:
            return _not_judged(pair, errors)
        panel = self.panel
        panel.warn_of_target(a.model)
        panel.warn_of_target(b.model)
        seats = panel.assigned(number)
        cases = [Case.of_pair(pair, o, self.criteria, self.variables, panel.wanted) for o in self.orders]
        questions = [(case, i) for case in cases for i in range(self.spec.repetitions)]
        clock = panel.clock(id)

        async def poll(seat: Seat, replacement: bool) -> PairVote:
            judgments = await clock.asked(seat, questions, propagate=panel.lone)
            return _vote(seat, judgments, panel.rule, replacement, len(cases) == 2)

        votes, checked = await panel.vote(seats, poll, clock)
        return clock.told(self._result(pair, panel, seats, votes, checked))

    def _result(
        self, pair: ResponsePair, panel: Panel, seats: Sequence[Seat], votes: list[PairVote], checked: Checked
    ) -> Comparison:
        single = self.spec.assignment == "cyclic"
        foreseen = panel.foreseen(votes)
        decision = decide(votes, panel.rule, 1 if foreseen else panel.quorum(), len(seats), single=single)
        course = panel.course(votes, decision, checked)
        explanation = decision.explanation
        flips = Counter(v.flip_kind for v in votes if v.flipped)
        if decision.value == INCONCLUSIVE and flips:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(flips.items(), key=str))
            explanation += (
                f" {sum(flips.values())} of {count(len(votes), 'judge')} changed sides with the order ({kinds})."
            )
        asked = sum(not v.replacement for v in votes)
        judgments = [j for v in votes for j in v.judgments]
        return Comparison(
            status=decision.status,
            reason=decision.reason,
            explanation=explanation,
            seats=len(seats),
            seats_used=decision.deciding,
            agreement=decision.agreement if asked == len(seats) else None,
            tie=decision.tie,
            confidence=decision.confidence,
            confidence_source=decision.confidence_source,
            usage=Usage.total(j.usage for j in judgments),
            calls=sum(j.calls for j in judgments),
            calls_saved=(len(seats) - asked) * self.spec.repetitions * len(self.orders),
            item_id=pair.id,
            trace_id=pair.trace_id,
            notes=(*notes_of(votes), *panel.remarks(votes), *panel.told(course, votes)),
            tier=course.tier,
            for_people=course.for_people,
            checked=course.checked,
            winner=cast("Winner", decision.value),
            votes=tuple(votes),
        )

    def compare_sync(
        self, question: str = "", response_a: Any = ..., response_b: Any = ..., **fields: Any
    ) -> Comparison:
        """`compare` without `await`; works inside a running event loop (notebooks) too."""
        return sync.run(self.compare(question, response_a, response_b, **_fields_of(fields)))

    def compare_many(
        self, rows: Iterable[Any] | AsyncIterable[Any], *, ordered: bool = True, in_flight: int | None = None
    ) -> AsyncIterator[Comparison]:
        """The comparisons of many pairs.

        A row is `(question, response_a, response_b)` or a mapping of `compare`'s names.
        """
        return as_completed(
            rows, self._compare_row, self.spec.max_concurrency if in_flight is None else in_flight, ordered=ordered
        )

    def compare_many_sync(self, rows: Iterable[Any], *, ordered: bool = True) -> Iterator[Comparison]:
        """`compare_many` as a plain iterator."""
        return sync.iterate(rows, lambda given: self.compare_many(given, ordered=ordered))

    async def _compare_row(self, row: Any) -> Comparison:
        if isinstance(row, Mapping):
            return await self.compare(**_fields_of(names_of(cast("Mapping[Any, Any]", row))))
        if not isinstance(row, tuple | list) or len(cast("Sequence[Any]", row)) != 3:
            form = "(question, response_a, response_b) or a mapping of compare's names"
            raise ConfigError(f"a row is {form}, got a {type(cast('object', row)).__name__}")
        question, response_a, response_b = cast("Sequence[Any]", row)
        return await self.compare(question, response_a, response_b)

    def render(
        self, question: str = "", response_a: Any = None, response_b: Any = None, *, reference: str = "", **fields: Any
    ) -> dict[str, dict[str, str]]:
        """The exact texts each seat would get: `{judge: {"system", "user", "user_swapped"}}`. Calls nobody."""
        a, b = to_output(response_a), to_output(response_b)
        pair = ResponsePair(question, a, b, reference, **_fields_of(fields))
        panel = self.panel
        wanted = frozenset[str]().union(*(p.wanted for p in panel.prompts))
        cases = [Case.of_pair(pair, o, self.criteria, self.variables, wanted) for o in self.orders]
        texts: dict[str, dict[str, str]] = {}
        for seat in panel.seats:
            system, user = cases[0].render(seat.prompt)
            texts[seat.name] = {"system": system, "user": user}
            if len(cases) == 2:
                texts[seat.name]["user_swapped"] = cases[1].render(seat.prompt)[1]
        return texts


def _vote(seat: Seat, judgments: Sequence[Judgment], rule: Rule, replacement: bool, swap: bool) -> PairVote:
    """One judge's vote: each order's repetitions folded, the swapped order un-swapped, the two reconciled."""
    first = fold([j for j in judgments if j.order == "ab"], rule)
    if not swap:
        vote, flip, completed = (cast("Any", first.value) if first.decided else None), None, False
        verdicts = (first,)
    else:
        second = fold([j for j in judgments if j.order == "ba"], rule)
        verdicts = (first, second)
        vote, flip, completed = reconcile(first, second)
    failure: Failure | None = next((v.failure for v in verdicts if v.failure is not None), None)
    return PairVote(
        judge=seat.name,
        vote=vote,
        flipped=flip is not None,
        flip_kind=flip,
        completed=completed,
        explanation=first.explanation or verdicts[-1].explanation,
        failure=failure,
        abstained=failure is None and any(v.status == "abstained" for v in verdicts),
        judgments=tuple(judgments),
        replacement=replacement,
        weight=seat.spec.weight,
    )


def _fields_of(given: dict[str, Any]) -> dict[str, Any]:
    unknown = [k for k in given if k not in _FIELDS]
    if unknown:
        raise ConfigError(f"compare() got unknown {unknown}; known are {list(_FIELDS)}")
    return given


def reconcile(first: Verdict, second: Verdict) -> tuple[Any, Flip | None, bool]:
    """Vote, kind of flip and completeness of one judge's two verdicts; `second` as said, with B in the first slot.

    The same response both times is a vote. Both times the first slot is a primacy flip, both times the second a recency
    flip, a tie against a side a mixed one; a flip is no vote. A missing order is neither.
    """
    if not (first.decided and second.decided):
        return None, None, False
    one, other = str(first.value), _SWAPPED[str(second.value)]
    if one == other:
        return one, None, True
    if "tie" in (one, other):
        return None, "mixed", True
    return None, ("primacy" if one == "A" else "recency"), True


def _not_judged(pair: ResponsePair, errors: Mapping[str, str]) -> Comparison:
    sides = " and ".join(f"response {side} errored ({error})" for side, error in errors.items())
    return Comparison(
        status="not_judged",
        explanation=f"Not judged: {sides}.",
        item_id=pair.id,
        trace_id=pair.trace_id,
        errors=dict(errors),
    )


def llm_jury_pairwise(
    *,
    name: str = "llm_jury_pairwise",
    criteria: str | None = None,
    prompt: str | PromptSpec | None = None,
    system_prompt: str | None = None,
    judges: Sequence[str | JudgeSpec | Callable[..., Any]] | None = None,
    model: str | None = None,
    panel: PanelSpec | None = None,
    swap: bool = True,
    repetitions: int | None = None,
    replacement_judges: Sequence[str | JudgeSpec | Callable[..., Any]] | None = None,
    min_successful_judges: int | None = None,
    assignment: str | None = None,
    aggregator: str | Callable[[Sequence[PairVote]], Any] | None = None,
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
) -> PairwiseJury:
    """A jury that compares two answers. Everything is checked here; no key and no client is needed yet.

    `swap=False` asks one order only: half the calls, and a judge that follows the slot goes unnoticed. The other
    keywords are those of `llm_jury`. Raises `ConfigError` (a ValueError) naming the argument that is wrong.
    """
    words = locals()  # what was given, before anything else has a name
    factory.check_words(name, strict_template=strict_template, swap=swap)
    text = DEFAULT_CRITERIA if criteria is None else criteria
    asked = factory.prompt_of("pairwise", criteria, prompt, system_prompt)
    seated, names = factory.seated(words), factory.variables_of(variables)
    return PairwiseJury(Terms(name, text, asked, WINNERS, seated, names, strict_template), swap=swap)
