"""A cascade: a few seats are asked first, the others only where these do not agree. Which, and when to go on. Pure.

    escalate=2                                                 # the two cheapest, then the rest
    escalate=[["openai/gpt-5-nano", "gemini/gemini-2.5-flash-lite"], "rest", "people"]
    escalate={"tiers": [["nano"], "rest"], "always": ["FAIL"]} # a FAIL of the first is always looked at by the rest

A tier settles an item where all its seats gave a verdict, they agree, and the rule makes a verdict of all votes so far,
more than half of those who were asked among them (or as many as the panel's quorum, where one is given, if these are
more): a tier never decides alone after one that failed. All votes count, by the panel's rule and weights. What the last
tier leaves open is for people, if the cascade ends so. Several criteria in one vote must all be settled (`Reading`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Protocol, Self, cast

from jury.aggregation import Ballot, Decision, Rule, decide
from jury.errors import ConfigError
from jury.scales import Numeric, Scale

Checked = Literal["same", "differs"] | None
REST, PEOPLE = "rest", "people"
CHECK = 0.05


class Point(NamedTuple):
    """One thing that the seats of a tier must agree on. `last`: it is a verdict that `always` may name."""

    scale: Scale
    votes: Sequence[Ballot]
    last: bool = True


class Reading(Protocol):
    """How a cascade reads votes: as one verdict, or as verdicts on several criteria."""

    @property
    def scales(self) -> Sequence[Scale]:
        """Those of the points that `always` and `within` may be about."""
        ...

    def points(self, votes: Sequence[Any]) -> Sequence[Point]:
        """What these votes say, point by point."""
        ...

    def decide(self, votes: Sequence[Any], quorum: int, seats: int) -> Decision:
        """What they come to; inconclusive where any of it is open."""
        ...


@dataclass(frozen=True, slots=True)
class OneVerdict:
    """The reading of a panel with one rule."""

    rule: Rule

    @property
    def scales(self) -> Sequence[Scale]:
        return (self.rule.scale,)

    def points(self, votes: Sequence[Any]) -> Sequence[Point]:
        return (Point(self.rule.scale, votes),)

    def decide(self, votes: Sequence[Any], quorum: int, seats: int) -> Decision:
        return decide(votes, self.rule, quorum, seats)


@dataclass(frozen=True, slots=True)
class Course:
    """How a cascade went: the `tier` that settled the item (or the last one), whether it is left to people, and what
    the full panel says of a verdict that was checked, also under `stop=0.98`: `same` or `differs`."""

    tier: int | None = None
    for_people: bool = False
    checked: Checked = None


@dataclass(frozen=True, slots=True)
class Escalation:
    """`tiers`: names of seats, tier by tier, `rest` for all others; or how many of the cheapest are the first tier.

    `agreement`: the share of a tier's votes that must be alike. `always`: verdicts that go on all the same.
    `within`: how far apart scores may be; without it they agree on the same side of the threshold. `people`: what the
    last tier does not settle is marked for people. `check`: the share of items, drawn by their ids, that all seats are
    asked about whatever the first tiers say, to see how often the cascade differs from the panel. Raises `ConfigError`.
    """

    tiers: int | tuple[tuple[str, ...], ...]
    agreement: float = 1.0
    always: tuple[Any, ...] = ()
    within: float | None = None
    people: bool = False
    check: float = CHECK

    def __post_init__(self) -> None:
        share: Any = self.agreement
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.5 < share <= 1:
            raise ConfigError(f"escalate: agreement must be a share above 0.5 and at most 1, got {share!r}")
        width: Any = self.within
        if width is not None and (isinstance(width, bool) or not isinstance(width, int | float) or width < 0):
            raise ConfigError(f"escalate: within must be a number from 0, got {width!r}")
        lot: Any = self.check
        if isinstance(lot, bool) or not isinstance(lot, int | float) or not 0 <= lot <= 1:
            raise ConfigError(f"escalate: check must be a share from 0 to 1, got {lot!r}")
        if isinstance(self.tiers, int) and (isinstance(cast("Any", self.tiers), bool) or self.tiers < 1):
            raise ConfigError(f"escalate: the number of seats to ask first must be at least 1, got {self.tiers!r}")

    @classmethod
    def of(cls, given: Any) -> Self | None:
        """From a number, a list of tiers, or a mapping with these fields. Raises `ConfigError`."""
        if given is None or isinstance(given, cls):
            return given
        if isinstance(given, Mapping):
            options = dict(cast("Mapping[str, Any]", given))
            known = [f.name for f in fields(cls)]
            unknown = [k for k in options if k not in known]
            if unknown or "tiers" not in options:
                raise ConfigError(
                    f"escalate needs tiers and knows {', '.join(known)}; got {', '.join(map(str, options))}"
                )
            tiers, people = _tiers(options.pop("tiers"))
            always = options.pop("always", ())
            listed = tuple(cast("Sequence[Any]", always)) if isinstance(always, list | tuple) else (always,)
            return cls(tiers, always=listed, people=bool(options.pop("people", people)), **options)
        tiers, people = _tiers(given)
        return cls(tiers, people=people)

    def places(self, names: Sequence[str], cheapest: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The places of the seats, tier by tier. `cheapest`: all places, the cheapest first. Raises `ConfigError`."""
        if isinstance(self.tiers, int):
            if self.tiers >= len(names):
                raise ConfigError(f"escalate: of {len(names)} judges at most {len(names) - 1} can be asked first")
            first = cheapest[: self.tiers]
            return tuple(sorted(first)), tuple(i for i in range(len(names)) if i not in first)
        named = [n for tier in self.tiers for n in tier if n != REST]
        unknown = [n for n in named if n not in names]
        if unknown:
            raise ConfigError(f"escalate names {unknown}, who are not on the panel: {list(names)}")
        twice = [n for n, count in Counter(named).items() if count > 1]
        if twice:
            raise ConfigError(f"escalate: {twice[0]} is in two tiers")
        rest = [i for i, name in enumerate(names) if name not in named]
        placed = any(REST in tier for tier in self.tiers)
        if rest and not placed:
            raise ConfigError(f"escalate leaves out {[names[i] for i in rest]}: add a tier, or 'rest'")
        made = [[names.index(n) for n in tier if n != REST] + (rest if REST in tier else []) for tier in self.tiers]
        tiers = tuple(tuple(sorted(tier)) for tier in made if tier)
        if len(tiers) < 2:
            raise ConfigError("escalate needs two tiers of judges: some that are asked first, and others")
        return tiers

    def fit(self, scales: Sequence[Scale]) -> None:
        """Raises `ConfigError` where the verdicts are none that this cascade can go by."""
        scores = [s for s in scales if isinstance(s, Numeric)]
        labels = [v for s in scales if not isinstance(s, Numeric) for v in s.values]
        if self.within is None and any(s.threshold is None for s in scores):
            raise ConfigError("escalate: scores without a threshold need within, how far apart they may be")
        if self.within is not None and not scores:
            raise ConfigError("escalate: within is for scores")
        if self.always and not labels:
            raise ConfigError("escalate: always is for labels; scores go on by threshold and within")
        unknown = [v for v in self.always if v not in labels]
        if unknown:
            raise ConfigError(f"escalate: always holds {unknown}; verdicts are {list(dict.fromkeys(labels))}")

    def reaches(self, first: int, quorum: int | None) -> None:
        """Raises `ConfigError` where the `first` seats are too few for a quorum: they could settle nothing."""
        if quorum is not None and quorum > first:
            judges = "judge" if first == 1 else "judges"
            raise ConfigError(
                f"escalate: the first tier has {first} {judges} and min_successful_judges is {quorum}, which every "
                "verdict needs: it could settle no item; ask more judges first, or lower min_successful_judges"
            )

    def settled(self, tier: Sequence[Any], votes: Sequence[Any], reading: Reading, quorum: int | None = None) -> bool:
        """Whether the tier that was asked last agrees, and all votes so far make a verdict. Never with a failure in it,
        nor where half of those who were asked so far, or fewer than the `quorum`, gave one.

        A vote of weight 0 agrees or disagrees like any other.
        """
        if not tier or not all(self._agreed(point) for point in reading.points(tier)):
            return False
        needed = max(quorum or 0, len(votes) // 2 + 1)
        return reading.decide(votes, needed, len(votes)).status != "inconclusive"

    def drawn(self, item: str | None) -> bool:
        """Whether this item is asked about in full in any case; the same ones every time, none without an id."""
        if not self.check or item is None:
            return False
        lot = int.from_bytes(sha256(item.encode("utf-8", "surrogatepass")).digest()[:8], "big") / 2**64
        return lot < self.check

    def course(
        self, tiers: Sequence[Sequence[Any]], reading: Reading, whole: Decision, quorum: int | None = None
    ) -> Course:
        """How it went. `tiers`: the votes tier by tier, empty where none was asked; `whole`: the decision on all."""
        so_far: list[Any] = []
        last = max((n for n, tier in enumerate(tiers, 1) if tier), default=1)
        for number, tier in enumerate(tiers[:last], 1):
            so_far += tier
            if not self.settled(tier, so_far, reading, quorum):
                continue
            if number == last:
                return Course(number)
            if whole.reason in ("quorum", "errors"):  # those who were to check it failed
                return Course(number)
            early = reading.decide(so_far, 1, len(so_far))
            same = (early.status, early.value, early.passed) == (whole.status, whole.value, whole.passed)
            return Course(number, False, "same" if same else "differs")
        return Course(last, self.people and last == len(tiers))

    def _agreed(self, point: Point) -> bool:
        values = [v.value for v in point.votes]
        if not values or not all(v.decided for v in point.votes):
            return False
        if isinstance(point.scale, Numeric):
            return self._close(values, point.scale)
        if point.last and any(v in self.always for v in values):
            return False
        return Counter(values).most_common(1)[0][1] >= self.agreement * len(values) - 1e-9

    def _close(self, values: Sequence[Any], scale: Numeric) -> bool:
        scores = [float(v) for v in values if isinstance(v, int | float)]
        if len(scores) < len(values):  # a criterion of a rubric that does not apply, for some or for all
            return not scores
        if self.within is not None and max(scores) - min(scores) > self.within + 1e-12:
            return False
        if scale.threshold is None:
            return True
        passing = sum(v >= scale.threshold for v in scores)
        return max(passing, len(scores) - passing) >= self.agreement * len(scores) - 1e-9


def combined(courses: Sequence[Course]) -> Course:
    """Of an item with several panels, one for each criterion: the last tier that any of them asked."""
    checks = {c.checked for c in courses}
    checked = "differs" if "differs" in checks else "same" if "same" in checks else None
    tiers = [c.tier for c in courses if c.tier is not None]
    return Course(max(tiers, default=None), any(c.for_people for c in courses), checked)


def _tiers(given: Any) -> tuple[int | tuple[tuple[str, ...], ...], bool]:
    """Tiers as they were given, and whether people come last."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given, False
    if not isinstance(given, list | tuple):
        raise ConfigError(f"escalate must be a number, a list of tiers or a mapping, got {given!r}")
    tiers = list(cast("Sequence[Any]", given))
    people = bool(tiers) and tiers[-1] == PEOPLE
    made: list[tuple[str, ...]] = []
    for tier in tiers[:-1] if people else tiers:
        names = [tier] if isinstance(tier, str) else list(cast("Sequence[Any]", tier))
        if not names or not all(isinstance(n, str) and n.strip() for n in names):
            raise ConfigError(f"escalate: a tier is a name or a list of names of judges, got {tier!r}")
        if PEOPLE in names:
            raise ConfigError("escalate: people come last, after all judges")
        made.append(tuple(names))
    return tuple(made), people
