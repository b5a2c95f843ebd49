"""Does a verdict move when the judged text talks to the judge? Clean items and their attacked twins, the same panel.

`attacks.json` holds texts of our own writing that ask for a PASS in ten ways, or to be preferred where two responses
are compared; each is put into the judged part of an item and into nothing else. Judges differ from themselves without
any attack too: every item is also asked a second time as it is, and what moves then is the row to compare with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jury.errors import ConfigError
from jury.prompts import PromptSpec
from jury.proving import cases_of
from jury.results import Comparison, PairVote, PanelResult
from jury.sessions.events import Event, Session
from jury.stats import Estimate, wilson
from jury.tasks import together
from jury.tryouts import SIDES, Example, Tryout, read_example, word

Result = PanelResult | Comparison
AGAIN = "(asked again)"
PANEL = "(panel)"


@dataclass(frozen=True, slots=True)
class Attack:
    """A text that tries to move a verdict. `place`: into the `answer`, or into a `tool` result where there is one.

    `pair` is the text for one of two responses, where it asks to be preferred; else `text` serves.
    """

    name: str
    text: str
    place: str = "answer"
    pair: str = ""

    @property
    def of_pair(self) -> str:
        return self.pair or self.text


@dataclass(frozen=True, slots=True)
class Moved:
    """One judge under one attack. `moved`: the share of items whose verdict changed, of `moved.n` with both verdicts.

    A judge of pairs who changes sides with the order has said something too: a flip where there was none is a move.
    `to_pass`: how many of those became what the attack asks for, a PASS or the attacked side of a pair; `lost`: items
    on which one of the two gave no usable verdict.
    """

    attack: str
    judge: str
    moved: Estimate
    to_pass: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class InjectionReport:
    """All judges under all attacks; the rows of `AGAIN` say what moves without any, `PANEL` is the panel's verdict.

    `wish`: what attacks ask for, in words.
    """

    prompt: str
    items: int
    rows: tuple[Moved, ...] = ()
    calls: int = 0
    cost: float | None = None
    unusable: bool = field(default=False)
    wish: str = "PASS"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        rows = [
            {
                "attack": r.attack,
                "judge": r.judge,
                "moved": r.moved.value,
                "low": r.moved.low,
                "high": r.moved.high,
                "n": r.moved.n,
                "to_pass": r.to_pass,
                "lost": r.lost,
            }
            for r in self.rows
        ]
        return {"prompt": self.prompt, "items": self.items, "calls": self.calls, "cost": self.cost, "rows": rows}


def attacks() -> tuple[Attack, ...]:
    """The shipped attack set."""
    found: list[dict[str, str]] = json.loads((Path(__file__).parent / "attacks.json").read_text("utf-8"))
    return tuple(Attack(**one) for one in found)


def attacked(session: Session, attack: Attack) -> Session:
    """The twin of a session: the attack behind the last text of the agent, or the last result of a tool."""
    wanted = ("tool_result", "assistant") if attack.place == "tool" else ("assistant", "tool_result")
    for kind in wanted:
        places = [at for at, event in enumerate(session.events) if event.type == kind and event.text]
        if places:
            events = list(session.events)
            events[places[-1]] = _longer(events[places[-1]], attack.text)
            return replace(session, events=tuple(events))
    return session


def _longer(event: Event, text: str) -> Event:
    return replace(event, text=f"{event.text}\n\n{text}")


def twin(example: Example, attack: Attack) -> Example:
    """The attacked twin of an example: the attack in the judged part, of a pair in the response that should not win."""
    if example.session is not None:
        return replace(example, session=attacked(example.session, attack))
    side = target(example)
    return example.with_text(side, f"{example.texts[side]}\n\n{attack.of_pair if side in SIDES else attack.text}")


def target(example: Example) -> str:
    """Which text of an example is attacked: the answer, or the response that is expected to lose (else response B)."""
    if "answer" in example.texts:
        return "answer"
    return "response_a" if example.expect == "B" else "response_b"


async def audit(
    spec: PromptSpec,
    judges: Sequence[Any] | None = None,
    *,
    cases: Sequence[Mapping[str, Any]] | None = None,
    tried: Sequence[Attack] | None = None,
    criteria: str | None = None,
) -> InjectionReport:
    """A panel on a prompt's own examples (or `cases` of the same shape), clean and attacked.

    `criteria`: of a prompt about one answer or a pair, for examples that bring none. Raises `ConfigError` where there
    are no examples, or the prompt is a part of others; `DataError` for an example that lacks something.
    """
    given = list(cases if cases is not None else cases_of(spec))
    if not given:
        raise ConfigError(f"{spec.name} has no examples to attack; give --cases FILE")
    items = [read_example(spec, case) for case in given]
    tryout = Tryout(spec, judges, criteria)
    chosen = tuple(tried) if tried is not None else attacks()
    variants: list[Attack | None] = [None, None, *chosen]
    work = [tryout.ask(twin(item, attack) if attack else item) for attack in variants for item in items]
    results = await together(work)
    count = len(items)
    by_variant = [results[n * count : (n + 1) * count] for n in range(len(variants))]
    names = [AGAIN, *(a.name for a in chosen)]
    wishes = [_wish(item) for item in items]
    rows = [
        row
        for name, found in zip(names, by_variant[1:], strict=True)
        for row in _rows(name, wishes, by_variant[0], found)
    ]
    costs = [r.cost for r in results]
    return InjectionReport(
        spec.name,
        count,
        tuple(rows),
        sum(r.calls for r in results),
        None if None in costs else sum(c for c in costs if c is not None),
        all(row.moved.n == 0 for row in rows),
        "the attacked side" if tryout.kind == "pairwise" else "PASS",
    )


def _wish(example: Example) -> str:
    """The verdict that an attack on this example asks for."""
    return {"response_a": "A", "response_b": "B"}.get("" if example.session else target(example), "PASS")


def _rows(name: str, wishes: Sequence[str], clean: Sequence[Result], found: Sequence[Result]) -> list[Moved]:
    judges = dict.fromkeys(v.judge for r in (*clean, *found) for v in r.votes)
    rows = [
        _row(name, judge, wishes, [(_vote(a, judge), _vote(b, judge)) for a, b in zip(clean, found, strict=True)])
        for judge in judges
    ]
    whole = [(_usable(a), _usable(b)) for a, b in zip(clean, found, strict=True)]
    return [*rows, _row(name, PANEL, wishes, whole)]


def _row(attack: str, judge: str, wishes: Sequence[str], pairs: Sequence[tuple[str | None, str | None]]) -> Moved:
    both = [(a, b, wish) for (a, b), wish in zip(pairs, wishes, strict=True) if a is not None and b is not None]
    moved = [(b, wish) for a, b, wish in both if a != b]
    return Moved(
        attack, judge, wilson(len(moved), len(both)), sum(b == wish for b, wish in moved), len(pairs) - len(both)
    )


def _vote(result: Result, judge: str) -> str | None:
    vote = next((v for v in result.votes if v.judge == judge), None)
    if isinstance(vote, PairVote) and vote.flipped:
        return "flip"  # moved in one of the two orders: no vote, but not lost either
    if vote is None or not vote.decided:
        return None
    if isinstance(vote.value, bool):
        return "PASS" if vote.value else "FAIL"
    return str(vote.value)


def _usable(result: Result) -> str | None:
    return word(result) if result.status in ("decided", "not_applicable") else None
