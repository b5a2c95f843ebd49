"""What many reports have in common: verdicts and scores by criterion, and the entries of the list fields. Pure.

An entry with a number or short key (a rule, a step) counts for an item where more than half of the judges with a
verdict name it; of entries in words, the number is the median over those judges, and the words are those of the first
judge who is of the panel's opinion.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from jury.results import CriterionResult, EvidenceCheck, PanelResult, Vote
from jury.stats import Estimate, bootstrap_mean, wilson

_TOP = 10  # entries in words that a report shows


@dataclass
class CriterionCounts:
    """One criterion over items. `entries`: by field, how many there were. `by_key`: items by field and key.

    `words`: the entries in words, the most frequent first. `missed` and `needless` count handovers to a person.
    """

    items: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    partial: int = 0
    scores: list[float] = field(default_factory=list[float])
    entries: Counter[str] = field(default_factory=Counter[str])
    by_key: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    words: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    missed: int = 0
    needless: int = 0
    handovers_known: int = 0

    @property
    def pass_rate(self) -> Estimate:
        """Of the items that passed or failed, with Wilson's interval; what is partial is in neither half."""
        passed, failed = self.verdicts["pass"], self.verdicts["fail"]
        return wilson(passed, passed + failed)

    @property
    def mean(self) -> Estimate | None:
        """The mean score with a bootstrap interval; None for a criterion without numbers."""
        return bootstrap_mean(self.scores, seed=1) if self.scores else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        made: dict[str, Any] = {
            "items": self.items,
            "verdicts": dict(self.verdicts.most_common()),
            "pass_rate": _plain(self.pass_rate),
        }
        if self.partial:
            made["partial"] = self.partial
        if self.scores:
            made["mean"] = _plain(self.mean)
        if self.entries:
            made["entries"] = dict(self.entries.most_common())
        made |= {f"{name} by key": dict(found.most_common()) for name, found in self.by_key.items() if found}
        made |= {f"{name} in words": dict(found.most_common(_TOP)) for name, found in self.words.items() if found}
        if self.handovers_known:
            made |= {"missed_escalations": self.missed, "needless_escalations": self.needless}
        return made


@dataclass
class JudgeCounts:
    """One judge over items: votes, failures, evidence that was found and not, and contradictions of its own word."""

    votes: int = 0
    failed: int = 0
    quotes_found: int = 0
    quotes_missing: int = 0
    references_valid: int = 0
    references_invalid: int = 0
    contradictions: int = 0

    def to_dict(self) -> dict[str, int]:
        """Plain JSON values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass
class Counts:
    """The counts over reports: `add` each, read the rest. `whole` counts the verdicts on items, over all criteria.

    Flat in memory, but for scores.
    """

    whole: CriterionCounts = field(default_factory=CriterionCounts)
    items: int = 0
    not_judged: int = 0
    contested: int = 0
    criteria: dict[str, CriterionCounts] = field(default_factory=dict[str, CriterionCounts])
    judges: dict[str, JudgeCounts] = field(default_factory=dict[str, JudgeCounts])

    def add(self, result: PanelResult) -> None:
        """Counts one report."""
        self.items += 1
        self.not_judged += result.status == "not_judged"
        self.contested += result.contested
        for one in _alone(result):
            self.whole.items += 1
            self.whole.partial += result.partial
            self.whole.verdicts["partial" if result.partial else _word(one)] += 1
        for one in result.criteria or _alone(result):
            self._criterion(self.criteria.setdefault(one.key, CriterionCounts()), one)
        for vote in result.votes:
            self._judge(vote, result.contradictions)

    def _criterion(self, counts: CriterionCounts, one: CriterionResult) -> None:
        counts.items += 1
        counts.partial += one.partial
        counts.verdicts[_word(one)] += 1
        if isinstance(one.value, int | float) and not isinstance(one.value, bool) and one.status == "decided":
            counts.scores.append(float(one.value))
        deciding = [v for v in one.votes if v.decided]
        for name in dict.fromkeys(n for v in deciding for n in v.verdict.fields):
            lists = [_entries(v, name) for v in deciding]
            _count(counts, name, lists, [v.value == one.value for v in deciding])
        _handover(counts, deciding)

    def _judge(self, vote: Vote, contradictions: Mapping[str, str]) -> None:
        judge = self.judges.setdefault(vote.judge, JudgeCounts())
        judge.votes += 1
        judge.failed += vote.failed
        judge.contradictions += vote.judge in contradictions
        check = vote.evidence_check or EvidenceCheck()
        judge.quotes_found += check.quotes_found
        judge.quotes_missing += check.quotes_missing
        judge.references_valid += check.references_valid
        judge.references_invalid += check.references_invalid

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "items": self.items,
            "not_judged": self.not_judged,
            "contested": self.contested,
            "verdicts": dict(self.whole.verdicts.most_common()),
            "pass_rate": _plain(self.whole.pass_rate),
            "criteria": {key: found.to_dict() for key, found in self.criteria.items()},
            "judges": {key: found.to_dict() for key, found in self.judges.items()},
        }


def counted(results: Iterable[PanelResult]) -> Counts:
    """The counts over reports."""
    counts = Counts()
    for result in results:
        counts.add(result)
    return counts


def _alone(result: PanelResult) -> tuple[CriterionResult, ...]:
    """A jury of one verdict as a criterion without a name of its own."""
    if result.status == "not_judged":
        return ()
    r = result
    return (CriterionResult("verdict", r.status, r.value, r.passed, r.reason, r.explanation, r.agreement, r.votes),)


def _word(one: CriterionResult) -> str:
    if one.partial:
        return "partial"
    if one.status == "not_applicable":
        return "na"
    if one.status == "inconclusive":
        return "error" if one.reason == "errors" else "inconclusive"
    return "scored" if one.passed is None else "pass" if one.passed else "fail"


def _entries(vote: Vote, name: str) -> list[Any] | None:
    value = vote.verdict.fields.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else None


def _count(counts: CriterionCounts, name: str, lists: Sequence[list[Any] | None], agreeing: Sequence[bool]) -> None:
    """One list field of one item."""
    known = [found for found in lists if found is not None]
    if not known:
        return
    counts.entries[name] += round(statistics.median(len(found) for found in known))
    keys = Counter(key for found in known for key in {key_of(entry) for entry in found} if key)
    counts.by_key[name].update(key for key, n in keys.items() if 2 * n > len(known))
    telling = next((found for found, yes in zip(lists, agreeing, strict=True) if yes and found), None)
    counts.words[name].update(_words(entry) for entry in telling or ())


def key_of(entry: Any) -> str:
    """The rule or step of an entry; empty where it has none."""
    if isinstance(entry, int) and not isinstance(entry, bool):
        return str(entry)
    if isinstance(entry, Mapping):
        given = cast("Mapping[str, Any]", entry)
        return next((str(given[k]) for k in ("rule", "step") if isinstance(given.get(k), int | str)), "")
    return ""


def _words(entry: Any) -> str:
    if isinstance(entry, Mapping):
        given = cast("Mapping[str, Any]", entry)
        return "; ".join(f"{k} {v}" for k, v in given.items())
    return str(entry)


def _handover(counts: CriterionCounts, votes: Sequence[Vote]) -> None:
    """Missed against needless handovers to a person, by the majority of the judges who say both."""
    said = [(v.verdict.fields.get("required"), v.verdict.fields.get("escalated")) for v in votes]
    known = [(r, e) for r, e in said if isinstance(r, bool) and isinstance(e, bool)]
    if known:
        counts.handovers_known += 1
        counts.missed += 2 * sum(r and not e for r, e in known) > len(known)
        counts.needless += 2 * sum(e and not r for r, e in known) > len(known)


def _plain(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    reason = {"reason": estimate.why} if estimate.reason else {}
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n, **reason}
