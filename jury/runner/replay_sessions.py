"""Reports on sessions again from their judgments: replies re-read, votes folded by criterion, rules re-applied. Pure.

What a session was cut to and what code found in it is taken as recorded: the recording itself is not read again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from jury.aggregation import Rule
from jury.formats import ReplyFormat
from jury.results import CriterionResult, Judgment, PanelResult, Verdict, Vote
from jury.runner.described import stored_criteria
from jury.scales import INCONCLUSIVE
from jury.sessions.criteria import SessionCriterion, joint_format, joint_key
from jury.sessions.fit import is_cut
from jury.sessions.votes import Ballots, summed, verdicts_of, whole
from jury.store import RunManifest

_PART = re.compile(r"part \d+ of \d+, events \d+ to \d+\Z")
_ORDER = "order: "  # as `RubricMethod` writes it


def variant_of(notes: Any) -> str:
    """Which of several questions a judgment answers, from its notes: on a part of a long session, or with the criteria
    of a rubric in another order. Empty where there is one."""
    told = cast("Sequence[Any]", notes) if isinstance(notes, list | tuple) else ()
    texts = (note for note in told if isinstance(note, str))
    return next((note for note in texts if _PART.match(note) or note.startswith(_ORDER)), "")


class SessionReplay:
    """The criteria of a run as its manifest has them, and the rule of this name for the votes on each."""

    def __init__(self, manifest: RunManifest, rule: str | None) -> None:
        self._groups = {joint_key(found): found for found in stored_criteria(manifest.spec)}
        self._formats = {
            label: found[0].format if len(found) == 1 else joint_format(found) for label, found in self._groups.items()
        }
        self._rules = {
            one.key: Rule.of(rule or None, one.reply.scale) for found in self._groups.values() for one in found
        }
        self._foreseeing = _is_share(manifest.spec.get("stop")) or "escalate" in manifest.spec
        self._quorum = manifest.quorum or 1
        self._seats = len(manifest.judges)
        self._single = manifest.spec.get("assignment") == "cyclic"

    def format(self, label: str | None) -> ReplyFormat | None:
        """How a judgment about these criteria was to be answered; None for criteria that the manifest does not have."""
        return self._formats.get(label or "")

    def parts(self, judgments: Sequence[Judgment]) -> dict[str, Verdict]:
        """A judge's verdict on each criterion."""
        made: dict[str, Verdict] = {}
        for label, criteria in self._groups.items():
            mine = [j for j in judgments if j.criterion == label]
            if mine:
                made |= verdicts_of(criteria, [(0, j) for j in mine], self._rules)
        return made

    def fold(self, vote: Vote, judgments: Sequence[Judgment]) -> Vote:
        """The vote as its judgments make it."""
        parts = self.parts(judgments)
        return replace(vote, verdict=whole(parts) if parts else vote.verdict, judgments=tuple(judgments))

    def results(self, votes: Sequence[Vote], stored: PanelResult) -> dict[str, tuple[Any, str]]:
        """Value and status by criterion, and under an empty key those of the whole report."""
        found: dict[str, CriterionResult] = {}
        for label, criteria in self._groups.items():
            for result in self._ballots(label, criteria, votes).results(None):
                found[result.key] = result
        criteria = [found.get(c.key, c) for c in stored.criteria]  # checks by code stand as they are
        made: dict[str, tuple[Any, str]] = {key: (_value(c.value), c.status) for key, c in found.items()}
        total: Mapping[str, Any] = summed(criteria)
        return {**made, "": (_value(total.get("value")), total["status"])}

    def _ballots(self, label: str, criteria: Sequence[SessionCriterion], votes: Sequence[Vote]) -> Ballots:
        pairs: list[tuple[Vote, Mapping[str, Verdict]]] = []
        cut = False
        for vote in votes:
            mine = [j for j in vote.judgments if j.criterion == label]
            if mine:
                pairs.append((vote, verdicts_of(criteria, [(0, j) for j in mine], self._rules)))
                cut = cut or any(is_cut(note) for j in mine for note in j.notes)
        seats = 1 if self._single else self._seats
        asked = sum(not vote.replacement for vote, _ in pairs)
        quorum = 1 if self._foreseeing and asked < seats else self._quorum  # as `Panel.foreseen`
        return Ballots(criteria, pairs, self._rules, quorum, seats, cut, self._single)


def _is_share(stop: Any) -> bool:
    """Was this a probability, and not the word `decided`?"""
    return stop is not None and stop != "decided"


def _value(value: Any) -> Any:
    return INCONCLUSIVE if value is None else value
