"""`jury show RUN ITEM --prompt`: the texts that judges were asked with, and what came back as it came."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from jury.cli.tables import visible
from jury.plain import to_plain
from jury.results import Comparison, Judgment, PanelResult
from jury.runner.refill import AskedTexts, Refill
from jury.store import Run, StoredItem, StoredJudgment

_ORDERS = {"ab": "A first", "ba": "B first"}


@dataclass(frozen=True, slots=True)
class AskedOf:
    """One judgment beside the texts it answers; None of a judge function."""

    judgment: Judgment
    texts: AskedTexts | None

    @property
    def who(self) -> str:
        """`judge (B first, asked again)`."""
        j = self.judgment
        about = [_ORDERS[j.order]] if j.order in _ORDERS else []
        about += [j.criterion] if j.criterion else []
        about += [f"time {j.repetition + 1}"] if j.repetition else []
        about += [note for note in j.notes if note.startswith("part ")]  # of a long session
        return f"{j.judge} ({', '.join(about)})" if about else j.judge

    def to_dict(self) -> dict[str, Any]:
        return {"judgment": to_plain(self.judgment), "asked": asdict(self.texts) if self.texts else None}


def asked_of(run: Run, item: StoredItem, result: PanelResult | Comparison | None) -> list[AskedOf]:
    """The judgments behind a result, each with its texts; without a result all that were recorded so far."""
    log = run.judgments_of(item.id)
    requests = {_slot(one.judgment): one.request for one in log}
    judgments = _judgments(log) if result is None else [j for vote in result.votes for j in vote.judgments]
    again = Refill(run)
    return [AskedOf(j, again.texts(item, j, requests.get(_slot(j), ""))) for j in judgments]


def print_asked(console: Console, asked: Sequence[AskedOf], *, kept: bool = True) -> None:
    """Texts that several judges read are printed once; then each raw reply. `kept`: the folder holds prompts."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in asked:
        if one.texts is not None:
            for part in ("system", "user"):
                groups.setdefault((part, getattr(one.texts, part), _how(one.texts)), []).append(one.who)
    for (part, text, how), who in groups.items():
        if text:
            _write(console, f"{part} · {', '.join(who)} · {how}", text)
    for one in asked:
        if one.judgment.reply is not None:
            _write(console, f"reply · {one.who}", one.judgment.reply)
        elif one.texts is not None:
            _write(console, f"no reply · {one.who}", str(one.judgment.verdict.failure or one.judgment.verdict.status))
    if not any(one.texts for one in asked):
        why = "judge functions are called with the texts above" if kept else "it is no run folder: none is kept"
        _write(console, "no prompt", why if asked else "nobody was asked")


def _how(texts: AskedTexts) -> str:
    name = f"prompt {texts.name} {texts.version}".rstrip()
    if texts.exact:
        return f"{name}, exactly as sent"
    if texts.filled:
        return f"{name}, made again: the digest differs, so something was in it that the folder did not keep"
    return f"{name}, the template: what filled it is not kept"


def _write(console: Console, title: str, text: str) -> None:
    console.print()
    console.rule(visible(title), align="left", style="dim")
    # As it is, without wrapping and colours; on a terminal without what would act on it.
    sys.stdout.write((visible(text) if console.is_terminal else text) + "\n")


def _judgments(log: Sequence[StoredJudgment]) -> list[Judgment]:
    return list({_slot(one.judgment): one.judgment for one in log}.values())


def _slot(judgment: Judgment) -> tuple[Any, ...]:
    return judgment.judge, judgment.order, judgment.repetition, judgment.criterion, tuple(judgment.notes)
