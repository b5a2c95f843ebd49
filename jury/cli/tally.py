"""What is kept of a run for its last screen: bounded, however many results there are. Prints nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from jury.results import Comparison, CriterionResult, PairVote, PanelResult, Usage, Vote
from jury.summary import UNSETTLED, Summary, WinRate, outcome, win_rate

_EVEN = ("pass", "unrated", "A", "B", "tie")  # outcomes of rows that need no look
FEW = 5  # rows shown of many among which none is remarkable


@dataclass(frozen=True, slots=True)
class Kept:
    """A result with the number of its row."""

    number: int
    result: Any  # PanelResult or Comparison

    @property
    def name(self) -> str:
        """What `jury show` finds it by: an id stands above a number, which may be another item's id."""
        name = self.result.item_id
        return str(self.number) if name is None or name.startswith(("#", "-")) else name


def unpriced(votes: Iterable[Vote | PairVote]) -> list[str]:
    """The judges of which nobody knows what their calls cost."""
    paid = [(vote.judge, vote.usage) for vote in votes]
    return [judge for judge, usage in paid if usage is not None and usage.cost is None]


@dataclass
class Several:
    """One criterion of several over all items: outcomes in words, and the sum of its numbers."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    total: float = 0.0
    numbers: int = 0

    def add(self, one: CriterionResult) -> None:
        """Counts one result; a PASS on a session that was cut is neither half of a rate."""
        self.outcomes["partial" if one.partial else outcome(one)] += 1
        if one.status == "decided" and isinstance(one.value, int | float) and not isinstance(one.value, bool):
            self.total += one.value
            self.numbers += 1


@dataclass
class Tally:
    """Feed it every result. `limit`: how many rows the last screen shows."""

    limit: int
    n: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    usage: Usage | None = None
    calls: int = 0
    empty: int = 0  # outputs that hold nothing
    saved: int = 0
    judges: list[str] = field(default_factory=list[str])
    unpriced: dict[str, None] = field(default_factory=dict[str, None])  # judges of which some calls have no known cost
    criteria: dict[str, Several] = field(default_factory=dict[str, Several])
    values: Counter[str] = field(default_factory=Counter[str])
    reasons: Counter[str] = field(default_factory=Counter[str])
    errors: dict[tuple[str, str], list[Any]] = field(default_factory=dict[tuple[str, str], list[Any]])
    flips: Counter[str] = field(default_factory=Counter[str])
    both_orders: int = 0
    twice: Counter[str] = field(default_factory=Counter[str])  # votes in both orders, by judge
    turned: Counter[str] = field(default_factory=Counter[str])  # those that changed with the order
    several: int = 0  # results on which at least two votes decided, with a verdict or not
    unanimous: int = 0
    free: bool = False  # nobody but functions is asked, and what reports no cost has none
    total: float = 0.0  # of numeric verdicts
    numbers: int = 0
    _first: list[Kept] = field(default_factory=list[Kept])
    _odd: list[Kept] = field(default_factory=list[Kept])

    def add(self, number: int, result: PanelResult | Comparison) -> str:
        """Counts one result and returns its outcome in a word."""
        self.n += 1
        kept = Kept(number or self.n, result)
        _keep(self._first, kept, self.limit)
        if isinstance(result, Comparison):
            word = _outcome_of_pair(result)
            self._orders(result)
        else:
            word = outcome(result).replace("_", " ")
            self._value(result)
            for one in result.criteria if len(result.criteria) > 1 else ():
                self.criteria.setdefault(one.key, Several()).add(one)
        self.outcomes[word] += 1
        if word not in _EVEN:
            _keep(self._odd, kept, self.limit)
        self.calls += result.calls
        self.saved += result.calls_saved
        self.usage = Usage.total((self.usage, result.usage))
        if result.reason:
            self.reasons[result.reason] += 1
        if result.agreement is not None:
            self.several += 1
            self.unanimous += result.agreement == 1.0
        elif result.reason in UNSETTLED and not result.tier:
            self.several += 1
        self.unpriced |= dict.fromkeys(unpriced(result.votes))
        for vote in result.votes:
            if vote.judge not in self.judges:
                self.judges.append(vote.judge)
            if vote.failed and vote.error:
                kind, _, detail = vote.error.partition(": ")
                self.errors.setdefault((vote.judge, kind), [0, detail])[0] += 1
        return word

    def summary(self) -> Summary:
        """The counts of a pointwise run."""
        counts = {f"n_{word.replace(' ', '_')}": n for word, n in self.outcomes.items()}
        return Summary(n_total=self.n, usage=self.usage, calls=self.calls, calls_saved=self.saved, **counts)

    def win_rate(self) -> WinRate:
        """The counts of a pairwise run."""
        decided = ("A", "B", "tie")
        return win_rate(word if word in decided else "inconclusive" for word in self.outcomes.elements())

    @property
    def odd(self) -> int:
        """How many rows did not pass or have no winner."""
        return self.n - sum(self.outcomes[word] for word in _EVEN)

    @property
    def shown(self) -> tuple[list[Kept], bool]:
        """The rows for the table, in the order of the file; and whether they are only those that did not pass."""
        if self.n <= self.limit:
            return _sorted(self._first), False
        if not self._odd:
            return _sorted(self._first)[: min(self.limit, FEW)], False
        return _sorted(self._odd)[: self.limit], True

    def _value(self, result: PanelResult) -> None:
        if result.status != "decided":
            return
        if isinstance(result.value, str):
            self.values[result.value] += 1
        elif not isinstance(result.value, bool):
            self.total += result.value
            self.numbers += 1

    def _orders(self, result: Comparison) -> None:
        for vote in result.votes:
            self.both_orders += vote.completed
            self.twice[vote.judge] += vote.completed
            if vote.flip_kind:
                self.flips[vote.flip_kind] += 1
                self.turned[vote.judge] += 1


def _outcome_of_pair(result: Comparison) -> str:
    if result.status == "not_judged":
        return "not judged"
    return "error" if result.reason == "errors" else result.winner


def _sorted(kept: list[Kept]) -> list[Kept]:
    return sorted(kept, key=lambda k: k.number)


def _keep(kept: list[Kept], one: Kept, limit: int) -> None:
    """Keeps the `limit` rows with the smallest numbers; results come in any order."""
    kept.append(one)
    if len(kept) > 2 * limit:
        kept[:] = _sorted(kept)[:limit]
