"""Who is asked, in which order, until when: seats, repetitions, stand-ins, rotation, early stopping. Decides nothing.

`PanelSpec` is the description; `Panel` the running object, made at the first call since a panel may come from the
environment. What one seat's vote is (one order or both) is the jury's affair: it passes `poll`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeVar, cast

from jury import config
from jury.aggregation import Ballot, Decision, Rule
from jury.clocks import ItemClock
from jury.errors import ConfigError
from jury.escalation import Checked, Course, Escalation, OneVerdict, Reading
from jury.families import family
from jury.forecasting import Forecaster, Unasked
from jury.formats import ReplyFormat
from jury.judge import JudgeSpec, Prompt, Seat
from jury.prompts import PromptSpec
from jury.providers.base import Settings
from jury.scales import Scale
from jury.seating import check_calls, check_count, check_seconds, check_stop, distinct, doubles, question_of, seats_from
from jury.stopping import next_wave
from jury.tasks import Limiter, together
from jury.turns import cheapest_first, relative, usual_costs
from jury.versions import with_system

logger = logging.getLogger("jury.panel")
V = TypeVar("V", bound=Ballot)
Poll = Callable[[Seat, bool], Coroutine[Any, Any, V]]  # one judge's vote; whether it stands in for another
ASSIGNMENTS = ("all", "cyclic")
_UNCHECKED = Course()


@dataclass(frozen=True, slots=True)
class PanelSpec:
    """A panel as data. Everything is checked here, before any item is judged; errors use the factories' words.

    `judges`: the seats; empty means "from `JURY_JUDGES`, `JUDGE_MODEL` or the configuration file, at the first call".
    `stand_ins` are asked in order, as many as seats failed. `quorum`: how many seats must decide (default: more than
    half of them, 1 in rotation). `assignment`: `all`, or `cyclic` (one judge per item, in turn). `aggregator`: a
    rule's name or a function over the votes. `stop`: None, `decided`, or how sure to be that the rest would not change
    the verdict, such as 0.98 (`forecasting.py`). `escalate`: who is asked first, and when the others are
    (`escalation.py`). `vote_deadline_s` and `item_deadline_s`: how long asking one seat, and all of them, may take
    (`clocks.py`). `max_concurrency` limits the calls in flight of this jury.
    """

    judges: tuple[JudgeSpec, ...] = ()
    stand_ins: tuple[JudgeSpec, ...] = ()
    repetitions: int = 1
    quorum: int | None = None
    assignment: str = "all"
    aggregator: str | Callable[[Sequence[Any]], Any] | None = None
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    tie_break: Callable[[Sequence[Any]], Any] | None = None
    stop: str | float | None = None
    escalate: Any = None
    vote_deadline_s: float | None = None
    item_deadline_s: float | None = None
    strict: bool = False
    max_concurrency: int = 64
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        for name in ("repetitions", "max_concurrency"):
            check_count(name, getattr(self, name))
        if self.quorum is not None:
            check_count("min_successful_judges", self.quorum)
        if self.assignment not in ASSIGNMENTS:
            raise ConfigError(f"assignment must be one of {list(ASSIGNMENTS)}, got {self.assignment!r}")
        if self.assignment == "cyclic" and (self.quorum or 1) > 1:
            raise ConfigError(
                f"assignment='cyclic' asks one judge per item: min_successful_judges must be 1, got {self.quorum}"
            )
        object.__setattr__(self, "stop", check_stop(self.stop))
        object.__setattr__(self, "escalate", Escalation.of(self.escalate))
        for name in ("vote_deadline_s", "item_deadline_s"):
            check_seconds(name, getattr(self, name))
        if self.escalate is not None and (self.stop or self.assignment != "all"):
            other = f"stop={self.stop!r}" if self.stop else f"assignment={self.assignment!r}"
            raise ConfigError(f"escalate does not go with {other}: both say who is asked")
        if self.stop and callable(self.aggregator):
            raise ConfigError(f"stop={self.stop!r} needs a built-in aggregator: nobody foresees what a function says")
        if not isinstance(cast("Any", self.strict), bool):
            raise ConfigError(f"strict_panel must be True or False, got {self.strict!r}")
        if not isinstance(cast("Any", self.weights), Mapping):
            raise ConfigError(f"weights must be a mapping by judge, got {self.weights!r}")
        object.__setattr__(self, "judges", seats_from("judges", self.judges))
        object.__setattr__(self, "stand_ins", seats_from("replacement_judges", self.stand_ins))
        check_calls(self.settings, (*self.judges, *self.stand_ins))
        if self.judges:
            self.check(self.seats())

    def seats(self) -> tuple[JudgeSpec, ...]:
        """The seats, doubles dropped and every name its own; resolves a panel that none was given for."""
        return tuple(self._weighted(distinct(self.named())))

    def named(self) -> tuple[JudgeSpec, ...]:
        """The judges as they were given, or as the environment or the configuration file names them."""
        return self.judges or tuple(JudgeSpec(model=j) for j in config.default_judges())

    def reserve(self, seats: Sequence[JudgeSpec]) -> tuple[JudgeSpec, ...]:
        """The stand-ins that do not sit on the panel anyway."""
        seated = [question_of(s) for s in seats]
        others = [s for s in self.stand_ins if question_of(s) not in seated]
        return tuple(self._weighted(distinct(others, {s.name for s in seats})))

    def check(self, seats: Sequence[JudgeSpec]) -> None:
        """What depends on the number of seats and their names."""
        if self.quorum is not None and self.quorum > len(seats):
            raise ConfigError(
                f"min_successful_judges is {self.quorum}, but the panel has {len(seats)} "
                f"judge{'s' if len(seats) != 1 else ''}: {', '.join(s.name for s in seats)}"
            )
        unknown = set(self.weights) - {s.name for s in seats} - {s.name for s in self.reserve(seats)}
        if unknown:
            raise ConfigError(f"weights names {sorted(unknown)}, who are not on the panel: {[s.name for s in seats]}")

    def votes_needed(self, seats: int) -> int:
        """The quorum in force."""
        if self.assignment == "cyclic":
            return 1
        return self.quorum or seats // 2 + 1

    def _weighted(self, specs: Sequence[JudgeSpec]) -> list[JudgeSpec]:
        return [replace(s, weight=self.weights[s.name]) if s.name in self.weights else s for s in specs]


class Panel:
    """The seats of one jury, ready to be asked."""

    def __init__(
        self,
        spec: PanelSpec,
        scale: Scale,
        prompt: Prompt,
        kind: str,
        how: ReplyFormat | None = None,
        reading: Reading | None = None,
    ) -> None:
        seats = spec.seats()
        spec.check(seats)
        self.spec = spec
        self.rule = Rule.of(spec.aggregator, scale, spec.tie_break)
        self.reading = reading or OneVerdict(self.rule)
        prompts = {_asking(prompt.spec): prompt}

        def seat(judge: JudgeSpec) -> Seat:
            return Seat(judge, judge.name, _prompt_of(judge, prompt, prompts), spec.settings, how or scale, kind)

        self.seats = tuple(seat(j) for j in seats)
        self.stand_ins = tuple(seat(j) for j in spec.reserve(seats))
        self.prompts = tuple(prompts.values())
        self.limiter = Limiter(spec.max_concurrency)
        self.wanted = frozenset[str]().union(*(s.wanted for s in (*self.seats, *self.stand_ins)))
        self.lone = len(self.seats) == 1 and not self.stand_ins  # one that sits there anyway stands in for nobody
        self._turns = count()
        self._warned: set[str] = set()
        self.forecaster = self._forecaster(scale) if isinstance(spec.stop, float) else None
        self._tiers: tuple[tuple[int, ...], ...] | None = None
        self._order: list[int] | None = None
        if spec.escalate is not None:
            self._fit(spec.escalate)

    def _fit(self, how: Escalation) -> None:
        how.fit(self.reading.scales)
        if isinstance(how.tiers, int):
            how.reaches(how.tiers, self.spec.quorum)
        else:
            self._tiers = how.places([s.name for s in self.seats], ())
            how.reaches(len(self._tiers[0]), self.spec.quorum)

    def _forecaster(self, scale: Scale) -> Forecaster | None:
        if len(self.seats) < 3 or self.spec.assignment != "all":
            return None
        weights = [s.spec.weight for s in self.seats]
        return Forecaster(scale.values, weights, self.rule, self.quorum(), cast("float", self.spec.stop))

    def forget(self) -> None:
        """Learns anew when to stop early, as every pass of a run does: its folder tells what came before."""
        self.forecaster = self._forecaster(self.rule.scale) if isinstance(self.spec.stop, float) else None

    @property
    def tiers(self) -> tuple[tuple[int, ...], ...]:
        """The places of the seats of a cascade, tier by tier; one tier of all seats where there is none.

        Where it says how many of the cheapest come first, prices are looked up at the first use.
        """
        if self.spec.escalate is None:
            return (tuple(range(len(self.seats))),)
        if self._tiers is None:
            made = self._tiers = self.spec.escalate.places([s.name for s in self.seats], self._cheapest())
            return made
        return self._tiers

    def _cheapest(self) -> list[int]:
        """The places of the seats, the cheapest first; prices are looked up once."""
        if self._order is None:
            self._order = cheapest_first(self.seats, usual_costs(self.seats))
        return self._order

    def course(self, votes: Sequence[Ballot], whole: Decision, checked: Checked) -> Course:
        """How a cascade went that ended with this decision; where there is none, what was `checked` alone."""
        how = self.spec.escalate
        if how is None:
            return _UNCHECKED if checked is None else Course(checked=checked)
        said = {v.judge: v for v in votes if not v.replacement}
        names = [[self.seats[i].name for i in tier] for tier in self.tiers]
        tiers = [[said[n] for n in tier if n in said] for tier in names]
        return how.course(tiers, self.reading, whole, self.spec.quorum)

    def assigned(self, number: int | None) -> tuple[Seat, ...]:
        """The seats for one item: all, or in rotation the one whose turn it is (by item number, else by arrival)."""
        if self.spec.assignment == "all":
            return self.seats
        if number is None:
            number = next(self._turns)  # one step: two threads never have the same turn
        return (self.seats[number % len(self.seats)],)

    def quorum(self) -> int:
        return self.spec.votes_needed(len(self.seats))

    def clock(self, item: str | None = None) -> ItemClock:
        """The limits of asking about one item. Called in the event loop that asks."""
        return ItemClock(self.spec.vote_deadline_s, self.spec.item_deadline_s, item, self.limiter.gate())

    async def vote(
        self, seats: Sequence[Seat], poll: Poll[V], clock: ItemClock | None = None
    ) -> tuple[list[V], Checked]:
        """All votes on one item, stand-ins last, and what they say of stopping early where the item was to check that.

        `poll(seat, replacement)` gives one judge's vote. Nobody stands in after the item's time.
        """
        checked: Checked = None
        if self.forecaster is not None:
            item = clock.item if clock else None
            votes, settled, checked = await self._as_foreseen(self.forecaster, seats, poll, item)
        elif self.spec.escalate is not None:
            votes, settled = await self._in_tiers(self.spec.escalate, seats, poll, clock.item if clock else None)
        elif not self.spec.stop or len(seats) < 2:
            votes, settled = await together([poll(s, False) for s in seats]), False
        else:
            votes, settled = await self._in_waves(seats, poll)
        reserve = self.stand_ins[: sum(v.failed for v in votes)]
        if reserve and not settled and not (clock is not None and clock.over):
            votes += await together([poll(s, True) for s in reserve])
        return votes, checked

    def foreseen(self, votes: Sequence[Ballot]) -> bool:
        """Whether these votes are all there are because the rest would most likely not change the verdict, or because
        the first tier of a cascade agrees."""
        some = self.forecaster is not None or self.spec.escalate is not None
        return some and sum(not v.replacement for v in votes) < len(self.seats)

    def remarks(self, votes: Sequence[Ballot]) -> tuple[str, ...]:
        """What a result says about how it was polled."""
        waiting = self.rule.waiting
        told: tuple[str, ...] = ()
        if waiting:
            told = (f"aggregator {waiting!r} is not fitted yet, the votes count alike: jury calibrate fits it",)
        if self.forecaster is None or not self.foreseen(votes):
            return told
        asked, sure = f"{len(votes)} of {len(self.seats)} seats", cast("float", self.spec.stop)
        return (
            *told,
            f"stopped after {asked}: at least {sure:.1%} likely the verdict of the full panel",
        )

    def told(self, course: Course, votes: Sequence[Ballot]) -> tuple[str, ...]:
        """What a result says about its cascade, or about being polled to check when to stop."""
        if course.tier is None:
            said = {"same": "the same", "differs": "something else"}.get(course.checked or "")
            return (f"polled in full to check stop={self.spec.stop:g}: it would have said {said}",) if said else ()
        asked = f"{sum(not v.replacement for v in votes)} of {len(self.seats)} seats were asked"
        if course.checked is not None:
            told = f"settled by tier {course.tier}, and checked: {asked}, their verdict {course.checked}"
            return (told.replace("verdict same", "verdict is the same"),)
        people = ("for people: the judges do not settle it",) if course.for_people else ()
        return (f"asked up to tier {course.tier}: {asked}", *people)

    async def _in_tiers(
        self, how: Escalation, seats: Sequence[Seat], poll: Poll[V], item: str | None
    ) -> tuple[list[V], bool]:
        """The votes of one tier after the other, in the order of the seats, until one settles it; whether one did
        before all were asked. An item that is drawn is asked about in full."""
        if how.drawn(item):
            return await together([poll(s, False) for s in seats]), False
        votes: dict[int, V] = {}
        for tier in self.tiers:
            polled = await together([poll(seats[i], False) for i in tier])
            votes.update(zip(tier, polled, strict=True))
            so_far = [votes[i] for i in sorted(votes)]
            if how.settled(polled, so_far, self.reading, self.spec.quorum):
                return so_far, len(so_far) < len(seats)
            if any(v.unasked for v in polled):  # nobody knows yet whether it settles the item
                return so_far, True
        return [votes[i] for i in sorted(votes)], False

    async def _as_foreseen(
        self,
        forecaster: Forecaster,
        seats: Sequence[Seat],
        poll: Poll[V],
        item: str | None,
    ) -> tuple[list[V], bool, Checked]:
        """The votes up to the moment when the verdict is sure enough, or all of them to learn from; whether it came;
        and whether it would have come to the same."""
        plan = forecaster.plan()
        if plan is None:
            checked: Checked = None
            polled = await together([poll(s, False) for s in seats])
            if not any(v.failed for v in polled) and item not in forecaster.taught:
                checked = forecaster.learn([v.value if v.decided else None for v in polled])
                if forecaster.due:
                    forecaster.price(relative(usual_costs(self.seats)))
                    await asyncio.to_thread(forecaster.fit)
            return polled, False, checked
        votes: list[V] = []
        known: list[Any] = [Unasked] * len(seats)
        while (place := plan(known)) is not None:
            vote = await poll(seats[place], False)
            votes.append(vote)
            known[place] = vote.value if vote.decided else None
            if vote.failed:  # what the others say then was never learned: they are all asked
                rest = [s for s, said in zip(seats, known, strict=True) if said is Unasked]
                return votes + await together([poll(s, False) for s in rest]), False, None
        return votes, True, None

    async def _in_waves(self, seats: Sequence[Seat], poll: Poll[V]) -> tuple[list[V], bool]:
        """The votes up to the moment when the rest, stand-ins included, cannot change the outcome; whether it came.

        The cheap seats are asked first, which changes no verdict: it is settled or not whoever has spoken.
        """
        order = self._cheapest()  # of all seats: in rotation nobody asks in waves
        votes: dict[int, V] = {}
        spare = max((s.spec.weight for s in self.stand_ins), default=0.0)
        while True:
            rest, said = order[len(votes) :], [votes[i] for i in sorted(votes)]
            pending = [max(seats[i].spec.weight, spare) for i in rest]
            pending += [s.spec.weight for s in self.stand_ins[: sum(v.failed for v in said)]]
            wave = next_wave(said, self.rule, self.quorum(), pending)
            if wave == 0 or not rest:
                return said, wave == 0
            asked = rest[:wave]
            votes.update(zip(asked, await together([poll(seats[i], False) for i in asked]), strict=True))

    def warn_of_target(self, model: str | None) -> None:
        """Warns once (strict: raises) where a judge is of the target's family: models favour their own kind."""
        if not model or family(model) in self._warned:
            return
        judges = (*self.seats, *self.stand_ins)
        kin = [s.name for s in judges if s.function is None and s.spec.family_name == family(model)]
        if kin:
            self._complain(f"judges {kin} are of the family of the target {model}: judges favour their own kind")
        self._warned.add(family(model))

    def check_opinions(self) -> None:
        """Warns (strict: raises) where there are fewer opinions than seats: a judge twice, or all of one family."""
        for fault in doubles(self.spec.named()):
            self._complain(f"{fault}; to ask a judge several times, set repetitions")
        models = [s for s in self.seats if s.function is None]
        families = {s.spec.family_name for s in models}
        if len(models) > 1 and len(families) == 1 and len(models) == len(self.seats):
            self._complain(
                f"all {len(models)} judges are of one family ({families.pop()}): they err alike, so their agreement "
                "says less than it seems; seat models of different families"
            )

    def _complain(self, text: str) -> None:
        if self.spec.strict:
            raise ConfigError(f"{text} (strict_panel=True)")
        logger.warning("%s", text)


def _asking(spec: PromptSpec) -> tuple[str, str, str]:
    """What seats must have in common to share a prompt: its texts, and the further fields that it asks for."""
    return spec.system, spec.user, repr(spec.meta.get("fields"))


def _prompt_of(judge: JudgeSpec, default: Prompt, prompts: dict[tuple[str, str, str], Prompt]) -> Prompt:
    if judge.prompt is None and judge.system_prompt is None:
        return default
    given = judge.prompt
    if isinstance(given, str):
        given = PromptSpec(f"of {judge.name}", given)
    spec = with_system(given or default.spec, judge.system_prompt, default.spec.system)
    return prompts.setdefault(_asking(spec), Prompt(spec))
