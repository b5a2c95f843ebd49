"""What the panel said of an item, for a page that is asked to show it (`--show-verdict`)."""

from __future__ import annotations

from typing import Any

from jury.results import Comparison, PairVote, PanelResult, Vote
from jury.wording import value_word

_SIDES = {"ab": {"A": "Answer 1", "B": "Answer 2"}, "ba": {"A": "Answer 2", "B": "Answer 1"}}
LONGEST = 2_000  # characters of a judge's reasons


def told(result: PanelResult | Comparison, shown: str | None) -> dict[str, Any]:
    """The panel's word and each judge's, sides named as the page shows them."""
    votes = [
        {"judge": vote.judge, "said": said(vote, shown), "why": vote.explanation[:LONGEST]} for vote in result.votes
    ]
    return {"said": said(result, shown), "votes": votes}


def said(result: PanelResult | Comparison | Vote | PairVote, shown: str | None = None) -> str:
    """A verdict in a word or two."""
    value = result.winner if isinstance(result, Comparison) else result.value
    if value is None:
        return "no verdict"
    return _SIDES.get(shown or "", {}).get(value, value) if isinstance(value, str) else value_word(value)
