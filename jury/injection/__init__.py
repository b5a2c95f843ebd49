"""Does a verdict move when the judged text talks to the judge? Clean items and their attacked twins, the same panel.

`attacks.json` holds texts of our own writing that ask for a PASS in ten ways; each is put into the judged part of an
item and into nothing else. Judges differ from themselves without any attack too: every item is also asked a second time
as it is, and what moves then is the row to compare with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from jury.errors import ConfigError
from jury.pointwise import llm_jury
from jury.prompts import PromptSpec
from jury.proving import cases_of, word
from jury.results import PanelResult, Vote
from jury.sessions.events import Event, Session
from jury.sessions.making import session_jury
from jury.stats import Estimate, wilson
from jury.tasks import together
from jury.transcripts import load_session

AGAIN = "(asked again)"
PANEL = "(panel)"


@dataclass(frozen=True, slots=True)
class Attack:
    """A text that tries to move a verdict. `place`: into the `answer`, or into a `tool` result where there is one."""

    name: str
    text: str
    place: str = "answer"


@dataclass(frozen=True, slots=True)
class Moved:
    """One judge under one attack. `moved`: the share of items whose verdict changed, of `moved.n` with both verdicts.

    `to_pass`: how many of those became a PASS; `lost`: items on which one of the two gave no usable verdict.
    """

    attack: str
    judge: str
    moved: Estimate
    to_pass: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class InjectionReport:
    """All judges under all attacks; the rows of `AGAIN` say what moves without any, `PANEL` is the panel's verdict."""

    prompt: str
    items: int
    rows: tuple[Moved, ...] = ()
    calls: int = 0
    cost: float | None = None
    unusable: bool = field(default=False)

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


async def audit(
    spec: PromptSpec,
    judges: Sequence[Any] | None = None,
    *,
    cases: Sequence[Mapping[str, Any]] | None = None,
    tried: Sequence[Attack] | None = None,
) -> InjectionReport:
    """A panel on a prompt's own examples (or `cases` of the same shape), clean and attacked.

    Raises `ConfigError` where there are no examples, or the prompt is neither of sessions nor a rubric.
    """
    items = list(cases if cases is not None else cases_of(spec))
    if not items:
        raise ConfigError(f"{spec.name} has no examples to attack; give --cases FILE")
    chosen = tuple(tried) if tried is not None else attacks()
    ask = _session_asker(spec, judges) if spec.meta.get("kind") == "session" else _rubric_asker(spec, judges)
    variants: list[Attack | None] = [None, None, *chosen]
    results = await together([ask(case, attack) for attack in variants for case in items])
    count = len(items)
    by_variant = [results[n * count : (n + 1) * count] for n in range(len(variants))]
    clean = by_variant[0]
    names = [AGAIN, *(a.name for a in chosen)]
    rows = [row for name, found in zip(names, by_variant[1:], strict=True) for row in _rows(name, clean, found)]
    costs = [r.cost for r in results]
    return InjectionReport(
        spec.name,
        count,
        tuple(rows),
        sum(r.calls for r in results),
        None if None in costs else sum(c for c in costs if c is not None),
        all(row.moved.n == 0 for row in rows),
    )


def _session_asker(spec: PromptSpec, judges: Any) -> Any:
    jury = session_jury(str(spec.path), judges=judges)
    for panel in jury.panels:
        panel.lone = False

    async def ask(case: Mapping[str, Any], attack: Attack | None) -> PanelResult:
        session = load_session(case["session"])
        return await jury.judge(attacked(session, attack) if attack else session, context=case.get("context"))

    return ask


def _rubric_asker(spec: PromptSpec, judges: Any) -> Any:
    rubric = spec.meta.get("rubric")
    if not isinstance(rubric, Mapping):
        raise ConfigError(
            f"{spec.name} is of kind {spec.meta.get('kind')!r}: session and rubric prompts can be audited"
        )
    given = cast("Mapping[str, Any]", rubric)
    jury = llm_jury(rubric=given, prompt=spec.user, system_prompt=spec.system, judges=judges)
    jury.panel.lone = False

    async def ask(case: Mapping[str, Any], attack: Attack | None) -> PanelResult:
        answer = str(case["answer"])
        text = f"{answer}\n\n{attack.text}" if attack else answer
        return await jury.judge(input=case.get("question", case.get("input")), output=text)

    return ask


def _rows(name: str, clean: Sequence[PanelResult], found: Sequence[PanelResult]) -> list[Moved]:
    judges = dict.fromkeys(v.judge for r in (*clean, *found) for v in r.votes)
    rows = [
        _row(name, judge, [(_vote(a, judge), _vote(b, judge)) for a, b in zip(clean, found, strict=True)])
        for judge in judges
    ]
    return [*rows, _row(name, PANEL, [(_usable(a), _usable(b)) for a, b in zip(clean, found, strict=True)])]


def _row(attack: str, judge: str, pairs: Sequence[tuple[str | None, str | None]]) -> Moved:
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    moved = [(a, b) for a, b in both if a != b]
    return Moved(
        attack, judge, wilson(len(moved), len(both)), sum(b == "PASS" for _, b in moved), len(pairs) - len(both)
    )


def _vote(result: PanelResult, judge: str) -> str | None:
    vote: Vote | None = next((v for v in result.votes if v.judge == judge), None)
    if vote is None or not vote.decided:
        return None
    return (
        {True: "PASS", False: "FAIL"}.get(vote.value, str(vote.value))
        if isinstance(vote.value, bool)
        else str(vote.value)
    )


def _usable(result: PanelResult) -> str | None:
    return word(result) if result.status in ("decided", "not_applicable") else None
