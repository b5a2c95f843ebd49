"""What a panel that stops early (`stop=0.98`) learns from the results that its folder holds already."""

from __future__ import annotations

from typing import Any, cast

from jury.pairwise import WINNERS, PairwiseJury
from jury.runner.describe import AnyJury, voters
from jury.sessions.judging import SessionJury
from jury.store import RunWriter
from jury.store.index import RESULTS
from jury.store.lines import read_lines

_MOST = 20_000  # results read: enough to learn from


def remember(jury: AnyJury, writer: RunWriter) -> None:
    """Teaches the panel the items that were polled in full and without a failure by these very seats: each item once,
    as it was judged last, with the prompts, settings and criteria of today.

    The panels of a session jury, one for each criterion, learn anew in every pass.
    """
    if isinstance(jury, SessionJury):
        return
    panel = jury.panel
    panel.forget()
    forecaster = panel.forecaster
    if forecaster is None:
        return
    names = [s.name for s in panel.seats]
    known = set(WINNERS.values if isinstance(jury, PairwiseJury) else jury.scale.values)
    count, today = 0, voters(jury)
    for place, line in read_lines(writer.folder / RESULTS):
        last = writer.known(str(line.get("item")))
        if line.get("voters") != today or last is None or last.pos != place:
            continue
        result = cast("dict[str, Any]", line.get("result") or {})
        votes = cast("list[dict[str, Any]]", result.get("votes") or [])
        if [v.get("judge") for v in votes] != names:
            continue
        values = [_value(v) for v in votes]
        if "failed" in values or any(v is not None and v not in known for v in values):
            continue
        forecaster.learn(values)
        forecaster.taught.add(str(line["item"]))
        count += 1
        if count >= _MOST:
            break
    if forecaster.due:
        forecaster.fit()


def _value(vote: dict[str, Any]) -> Any:
    """A label, None for a vote for nothing, "failed" for a failure."""
    if "verdict" in vote:
        verdict = vote["verdict"]
        if verdict["status"] == "error":
            return "failed"
        return verdict["value"] if verdict["status"] in ("scored", "not_applicable") else None
    return "failed" if vote.get("failure") else vote.get("vote")
