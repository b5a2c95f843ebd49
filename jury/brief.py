"""What a result prints: a few lines on a terminal, a small table in a notebook. Knows no result by name.

`repr` stays whole; IPython shows what `print` does. Whatever is printed is shortened, and cannot move a cursor or be
HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jury.wording import count, dollars, marked, reason, shorten, value_word

Row = tuple[str, str, str]  # a name, what is said of it, and why
_MOST = 12  # votes or criteria shown
_NAME, _VALUE, _WHY = 40, 120, 90  # letters
_SETTLED = ("decided", "not_applicable")


class Brief:
    """Prints as what `_brief` says: the head first, which has no name."""

    __slots__ = ()

    def _brief(self) -> Sequence[Row]:
        raise NotImplementedError

    def __str__(self) -> str:
        rows = [(shorten(a, _NAME), shorten(b, _VALUE), shorten(c, _WHY)) for a, b, c in self._brief()]
        first = max((len(name) for name, _, _ in rows), default=0)
        second = max((len(said) for name, said, why in rows if name and why), default=0)
        lines = (f"  {a:<{first}}  {b:<{second}}  {c}" if a else f"{b}  {c}" for a, b, c in rows)
        return "\n".join(line.rstrip() for line in lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython calls for a value that is left on a line by itself."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        from html import escape

        rows = [tuple(escape(shorten(part, 4 * _WHY)) for part in row) for row in self._brief()]
        head = "".join(f"<p><b>{said}</b> {why}</p>" for name, said, why in rows if not name)
        cells = "".join(
            f'<tr><th style="text-align:left">{name}</th><td style="text-align:left">{said}</td>'
            f'<td style="text-align:left">{why}</td></tr>'
            for name, said, why in rows
            if name
        )
        return f"{head}<table>{cells}</table>"


def verdict_word(result: Any) -> str:
    """The verdict of a panel in a word or two: `4 (pass)`, `B`, `inconclusive`, `error`, `not judged`."""
    if result.status == "not_judged" or (result.status == "inconclusive" and result.reason in ("budget", "deadline")):
        return "not judged"
    if result.reason == "errors":
        return "error"
    if hasattr(result, "winner"):
        return str(result.winner)
    return marked(result.value, result.passed) if result.status in _SETTLED else "inconclusive"


def vote_word(vote: Any) -> str:
    """A vote in a word; `*` marks a stand-in."""
    mark = "*" if vote.replacement else ""
    if getattr(vote, "flipped", False):
        return f"flip{mark}"
    if vote.decided and vote.value is not None:
        return value_word(vote.value) + mark
    return f"{'error' if vote.failed else 'none'}{mark}"


def why_word(vote: Any) -> str:
    """What a judge says for its vote: its error, its reasons, or else what it quotes."""
    said = vote.error or vote.explanation
    verdict = getattr(vote, "verdict", None)
    return said or (", ".join(f"“{quote}”" for quote in verdict.evidence) if verdict is not None else "")


def voted(result: Any) -> str:
    """`2 of 3 voted fail`; where votes are no words, or none of them won, how many decided."""
    if not result.seats:
        return "nobody was asked"
    said = result.winner if hasattr(result, "winner") else result.value
    number = isinstance(said, int | float) and not isinstance(said, bool)
    if number or result.status not in _SETTLED:
        return f"{result.seats_used} of {count(result.seats, 'vote')} decided"
    for_it = sum(vote.decided and vote.value == said for vote in result.votes)
    out = f", {result.seats - result.seats_used} did not decide" if result.seats > result.seats_used else ""
    return f"{for_it} of {result.seats} voted {value_word(said)}{out}"


def of_result(result: Any) -> list[Row]:
    """Of a verdict on an item or a pair: the verdict, its criteria, who voted what and why, what it cost."""
    agreement = f", agreement {result.agreement:.2g}" if result.agreement is not None else ""
    word = verdict_word(result)
    why = f" ({reason(result.reason)})" if result.reason and word in ("inconclusive", "not judged", "error") else ""
    head = f"{result.item_id}: " if result.item_id else ""
    rows: list[Row] = [("", f"{head}{word}{why}", voted(result) + agreement)]
    if result.explanation and (not result.votes or result.reason == "rule"):  # no vote says what the aggregator did
        rows.append(("why", result.explanation, ""))
    criteria = getattr(result, "criteria", ())
    rows += _few(((c.key, verdict_word(c), c.explanation) for c in criteria), len(criteria), "criterion", "criteria")
    votes = ((v.judge, vote_word(v), why_word(v)) for v in result.votes)
    rows += _few(votes, len(result.votes), "vote", "votes")
    if result.usage:
        rows.append(("cost", cost_word(result.cost, result.calls), ""))
    return rows


def of_criterion(found: Any) -> list[Row]:
    """Of a verdict on one criterion of several."""
    agreement = f"agreement {found.agreement:.2g}" if found.agreement is not None else ""
    votes = ((v.judge, vote_word(v), why_word(v)) for v in found.votes)
    return [("", f"{found.key}: {verdict_word(found)}", agreement), *_few(votes, len(found.votes), "vote", "votes")]


def cost_word(cost: float | None, calls: int) -> str:
    """`$0.0123 (4 calls)`; what is not known is not shown as nothing."""
    return f"{'unknown' if cost is None and calls else dollars(cost or 0.0)} ({count(calls, 'call')})"


def _few(rows: Iterable[Row], n: int, word: str, many: str) -> list[Row]:
    made = [row for row, _ in zip(rows, range(_MOST), strict=False)]
    return [*made, ("…", count(n - _MOST, f"more {word}", f"more {many}"), "")] if n > _MOST else made
