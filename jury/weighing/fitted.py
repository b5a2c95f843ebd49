"""`Fitted`: what was learned about judges, ready to combine votes. Where it comes from is in its neighbours.

One form serves all methods: what a vote of judge j for `said` adds to the log odds of each label, and a prior.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast

import numpy as np

from jury.errors import DataError
from jury.stats.table import Category, FloatArray, IntArray
from jury.weighing.table import VoteTable

Source = Literal["labels", "votes only", "none"]
_SAME = 1e-9
FORMAT = 1


class Voted(Protocol):
    """What is needed of a vote (`Vote` and `PairVote` fit)."""

    @property
    def judge(self) -> str: ...
    @property
    def value(self) -> Any: ...
    @property
    def decided(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Fitted:
    """A weighing of judges. Call it with the votes on an item to get the value, or None for a tie.

    `method` is what was fitted in the end, `asked` what was asked for, `note` why they differ (empty: they do not).
    `evidence[j][said][truth]` is in log odds; `prior[truth]` too. `source` says what confidences rest on: `labels` (the
    probability that people would agree, fitted on `n_labels` labels), `votes only` (a tempered share of the weights;
    no label supports it), `none`. A judge that was not there when it was fitted gets `stranger`, the median weight.
    """

    method: str
    judges: tuple[str, ...]
    labels: tuple[Category, ...]
    evidence: tuple[tuple[tuple[float, ...], ...], ...]
    prior: tuple[float, ...]
    source: Source
    asked: str = ""
    note: str = ""
    n_items: int = 0
    n_labels: int = 0
    holds_for: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def weights(self) -> dict[str, float]:
        """How much each judge's vote moves the log odds between the right label and the others, on average."""
        q = len(self.labels)
        return {
            name: sum(rows[k][k] - (sum(rows[k]) - rows[k][k]) / (q - 1) for k in range(q)) / q
            for name, rows in zip(self.judges, self.evidence, strict=True)
        }

    def log_odds(self, table: VoteTable) -> FloatArray:
        """Unnormalised log probabilities (items, labels) of a table with the same judges and labels."""
        return table.hot().reshape(table.n, -1) @ np.array(self.evidence).reshape(-1, len(self.labels)) + self.prior

    def posterior(self, table: VoteTable) -> FloatArray:
        """Probabilities (items, labels). With `source` other than labels they are no calibrated ones."""
        logs = self.log_odds(table)
        raised = np.exp(logs - logs.max(axis=1, keepdims=True))
        return raised / raised.sum(axis=1, keepdims=True)

    def verdicts(self, table: VoteTable) -> IntArray:
        """Codes of the chosen labels; -1 for a tie and for an item without votes."""
        logs = self.log_odds(table)
        top = logs.max(axis=1, keepdims=True)
        tied = (logs > top - _SAME).sum(axis=1) > 1
        nobody = table.hot().sum(axis=(1, 2)) == 0
        return np.where(tied | nobody, -1, logs.argmax(axis=1))

    def weigh(self, votes: Iterable[Voted]) -> tuple[Category | None, float | None]:
        """The value for one item's deciding votes and how sure it is, in (0, 1); (None, None) for a tie or no vote."""
        index = {(type(c) is bool, c): k for k, c in enumerate(self.labels)}
        rows = dict(zip(self.judges, self.evidence, strict=True))
        totals, cast_votes = list(self.prior), 0
        for vote in votes:
            place = index.get((type(vote.value) is bool, vote.value)) if vote.decided else None
            if place is None:
                continue
            cast_votes += 1
            moved = rows[vote.judge][place] if vote.judge in rows else self.stranger(place)
            totals = [a + b for a, b in zip(totals, moved, strict=True)]
        top = max(totals)
        leaders = [k for k, total in enumerate(totals) if total > top - _SAME]
        if not cast_votes or len(leaders) > 1:
            return None, None
        return self.labels[leaders[0]], 1.0 / sum(math.exp(t - top) for t in totals)

    def stranger(self, place: int) -> tuple[float, ...]:
        """What a vote of an unknown judge adds: the median of the known ones."""
        return tuple(float(v) for v in np.median(np.array(self.evidence)[:, place, :], axis=0))

    def __call__(self, votes: Sequence[Any]) -> Any:
        """As an `aggregator=`: the value for the votes on one item, None for a tie."""
        return self.weigh(votes)[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "format": FORMAT,
            "method": self.method,
            "asked": self.asked,
            "note": self.note,
            "source": self.source,
            "n_items": self.n_items,
            "n_labels": self.n_labels,
            "judges": list(self.judges),
            "labels": list(self.labels),
            "prior": list(self.prior),
            "evidence": [[list(row) for row in rows] for rows in self.evidence],
            "holds_for": dict(self.holds_for),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Fitted:
        """What `to_dict` made. Raises `DataError`."""
        try:
            if data["format"] != FORMAT:
                raise DataError(f"weights of format {data['format']!r}; this jury reads {FORMAT}", "format")
            return cls(
                method=str(data["method"]),
                judges=tuple(data["judges"]),
                labels=tuple(data["labels"]),
                evidence=tuple(tuple(tuple(float(v) for v in row) for row in rows) for rows in data["evidence"]),
                prior=tuple(float(v) for v in data["prior"]),
                source=data["source"],
                asked=str(data.get("asked", "")),
                note=str(data.get("note", "")),
                n_items=int(data.get("n_items", 0)),
                n_labels=int(data.get("n_labels", 0)),
                holds_for=data.get("holds_for") or {},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not stored weights: {type(error).__name__}: {error}", "bad_json") from None


def evidence_of(weights: FloatArray, table: VoteTable) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """One weight a judge as evidence: a vote moves its label that far ahead of every other one, "tie" included."""
    q = len(table.labels)
    return nested(weights[:, None, None] * (np.eye(q) - 1.0 / q)[None])


def nested(evidence: FloatArray) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """An array (judges, said, truth) as plain numbers."""
    rows = cast("list[list[list[float]]]", evidence.tolist())
    return tuple(tuple(tuple(row) for row in judge) for judge in rows)


def plurality_of(table: VoteTable, asked: str = "plurality", note: str = "") -> Fitted:
    """All judges alike: what every method falls back to, with a `note` saying why."""
    return Fitted(
        "plurality",
        table.judges,
        table.labels,
        evidence_of(np.ones(len(table.judges)), table),
        (0.0,) * len(table.labels),
        "none",
        asked,
        note,
        n_items=table.n,
    )
