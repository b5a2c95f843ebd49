"""Findings: failed items that seem to fail for one reason, how many, and what to look at first.

Failed items are grouped by criterion, then by rule (or step) where judges name one, then by how alike the reasons of
the judges who failed them are (`alike.py`). An item that fails several criteria is in several findings. These are
groups to read, not causes: what fails alike in words may differ in cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from jury.audit import Audited
from jury.report import words
from jury.report.alike import ALIKE, alike, groups, shared, spelled, typical, words_of
from jury.report.criteria import rubric_of
from jury.report.parts import Finding, ItemFacts
from jury.report.rules import event_text, rule_name
from jury.results import CriterionResult, PanelResult, Vote
from jury.rubrics.rubric import Rubric
from jury.sessions.counting import Counts, key_of
from jury.summary import outcome

MOST = 50  # findings; smaller ones are one at the end
_EXAMPLES = 3
_TITLE = 110  # characters
_SPLIT = 0.5  # of a finding's items: as many split votes are worth a look before anything else


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why one item fails one criterion."""

    item: str
    criterion: str
    rule: str
    text: str
    words: frozenset[str]


def findings(audit: Audited, items: Sequence[ItemFacts], earlier: Sequence[Audited] = ()) -> tuple[Finding, ...]:
    """The largest first. `earlier` runs give the trend, oldest first. Pairs fail nothing, so they have none."""
    known = {item.id: item for item in items}
    before = [(run, list(_reasons(run))) for run in earlier]
    made: list[Finding] = []
    alone: list[_Reason] = []
    for (criterion, rule), reasons in _by_rule(_reasons(audit)).items():
        found, rest = ([list(range(len(reasons)))], []) if rule else groups([r.words for r in reasons])
        alone += [reasons[i] for i in rest]
        for group in found:
            members = [reasons[i] for i in group]
            one = _finding(criterion, rule, members, known)
            if rule:
                one = replace(one, title=_about_rule(audit, one, known))
            made.append(replace(one, trend=tuple(_trend(audit, one, members, before))) if before else one)
    made.sort(key=lambda f: (-f.count, f.criterion, f.title))
    if len(made) <= MOST and not alone:
        return tuple(made)
    return (*made[: MOST - 1], _rest(made[MOST - 1 :], alone))


def _reasons(audit: Audited) -> Iterator[_Reason]:
    rubric = rubric_of(audit)
    for one in audit.judged:
        if isinstance(one.result, PanelResult) and outcome(one.result) == "fail":
            about = words_of(" ".join((one.item.input, one.item.output, one.item.expected_output)))
            for criterion, rule, text in _of_item(one.result, rubric):
                told = words_of(text)
                yield _Reason(one.item.id, criterion, rule, text, told - about or told)


def _of_item(result: PanelResult, rubric: Rubric | None) -> Iterator[tuple[str, str, str]]:
    """Why one item failed: criterion, rule, and the reason in words."""
    failed = [c for c in result.criteria if c.passed is False]
    if not failed and rubric is not None:
        yield from _of_rule(result, rubric)
        return
    if not failed:
        yield "", "", _said(result.votes, result.value) or result.explanation
        return
    counts = Counts()
    counts.add(result)
    for criterion in failed:
        text = _said(criterion.votes, criterion.value) or criterion.explanation
        by_field = counts.criteria[criterion.key].by_key
        rules = [(name, key) for name, keys in by_field.items() for key in keys]
        for name, key in rules:
            yield criterion.key, f"{_singular(name)} {key}", _entry(criterion, name, key) or text
        if not rules:
            yield criterion.key, "", text or _entries(criterion)


def _of_rule(result: PanelResult, rubric: Rubric) -> Iterator[tuple[str, str, str]]:
    """An item that no criterion fails by itself: the clauses of the pass rule that its scores break."""
    decided = {c.key: c for c in result.criteria if c.status == "decided"}
    absent = frozenset(c.key for c in result.criteria if c.status == "not_applicable")
    breached = rubric.decide({k: c.value for k, c in decided.items()}, absent).breached
    for clause in breached:
        rule, _, scores = clause.partition(" (")
        key = next((k for k in rubric.keys if f"{k} is " in scores), "")
        yield key, rule, (_said(decided[key].votes, decided[key].value) if key in decided else "") or clause
    if not breached:
        yield "", "", result.explanation


def _said(votes: Iterable[Vote], value: object) -> str:
    """The reason of the first judge who is of the panel's opinion, with its evidence."""
    for vote in votes:
        if vote.decided and vote.value == value and (vote.explanation or vote.verdict.evidence):
            return vote.explanation or "; ".join(vote.verdict.evidence)
    return ""


def _entry(criterion: CriterionResult, name: str, key: str) -> str:
    """What a judge of the panel's opinion says of one rule or step."""
    for vote in criterion.votes:
        listed: Any = vote.verdict.fields.get(name) if vote.decided and vote.value == criterion.value else None
        for entry in cast("list[Any]", listed) if isinstance(listed, list) else ():
            if isinstance(entry, Mapping) and key_of(entry) == key:
                told = cast("Mapping[str, Any]", entry).items()
                return "; ".join(str(v) for k, v in told if k not in ("rule", "step") and isinstance(v, str))
    return ""


def _entries(criterion: CriterionResult) -> str:
    """What judges listed, where they gave no reason in words."""
    telling = next((v for v in criterion.votes if v.decided and v.value == criterion.value), None)
    return "; ".join(f"{k}: {v}" for k, v in telling.verdict.fields.items()) if telling else ""


def _singular(name: str) -> str:
    """A list field's name for one entry: `violations` -> `violation`."""
    return name.replace("_", " ").removesuffix("s")


def _by_rule(reasons: Iterable[_Reason]) -> dict[tuple[str, str], list[_Reason]]:
    made: dict[tuple[str, str], list[_Reason]] = {}
    for reason in reasons:
        made.setdefault((reason.criterion, reason.rule), []).append(reason)
    return made


def _finding(criterion: str, rule: str, found: Sequence[_Reason], known: dict[str, ItemFacts]) -> Finding:
    order = typical([r.words for r in found])
    examples = tuple((found[i].item, found[i].text) for i in order[:_EXAMPLES])
    told = " ".join(examples[0][1].split())
    several = len({" ".join(r.text.split()) for r in found}) > 1
    example = "e.g. " if told and several else ""  # one item's words are not those of all
    lead = rule if rule.startswith(criterion) and rule else ": ".join(part for part in (criterion, rule) if part)
    text = _cut(told)
    items = tuple(dict.fromkeys(r.item for r in found))
    named = text.startswith(f"{criterion}:") and not rule
    told = example + text if named else ": ".join(part for part in (lead, example + text) if part)
    return Finding(
        title=told or "failed without a reason",
        count=len(items),
        items=items,
        criterion=criterion,
        rule=rule,
        words=spelled(shared([r.words for r in found]), [r.text for r in found]) if len(found) > 1 else (),
        examples=examples,
        first=_first(items, examples[0][0], known),
    )


def _about_rule(audit: Audited, one: Finding, known: dict[str, ItemFacts]) -> str:
    """The title of a finding by rule or step: what the rule says, and one place where it was broken."""
    lead = rule_name(audit.run.manifest, one.criterion, one.rule)
    if lead == one.rule:
        return one.title
    item, text = one.examples[0]
    told = event_text(" ".join(text.split()), known[item].messages if item in known else ())
    several = "e.g. " if told and one.count > 1 else ""
    return ": ".join(part for part in (one.criterion, lead, several + _cut(told)) if part)


def _cut(text: str) -> str:
    return text if len(text) <= _TITLE else text[: _TITLE - 1].rstrip() + "…"


def _first(items: Sequence[str], example: str, known: dict[str, ItemFacts]) -> str:
    """What to look at first."""
    facts = [known[i] for i in items if i in known]
    n = len(facts)
    unfound = sum("evidence_missing" in f.flags for f in facts)
    split = sum("split" in f.flags for f in facts)
    if n and unfound > _SPLIT * n:
        return (
            f"On {unfound} of {words.count(n, 'item')} a judge quotes what is not in the text: "
            "check the judges before the system."
        )
    if n and split > _SPLIT * n:
        return (
            f"Judges split on {split} of {words.count(n, 'item')}: read those first; "
            "the criterion may leave open what they disagree about."
        )
    if n == 1:
        return f"One item: open {example} and see whether you agree."
    return f"Open {example}, the most typical: if you agree with the verdict, this is what to change in the system."


def _trend(
    audit: Audited, one: Finding, found: Sequence[_Reason], before: Sequence[tuple[Audited, list[_Reason]]]
) -> Iterator[tuple[str, int, int]]:
    ours = [r.words for r in found]
    for run, reasons in before:
        same = (r for r in reasons if (r.criterion, r.rule) == (one.criterion, one.rule))
        hits = {r.item for r in same if one.rule or alike(r.words, ours) >= ALIKE}
        yield _name(run), len(hits), len(run.judged)
    yield _name(audit), one.count, len(audit.judged)


def _name(audit: Audited) -> str:
    return audit.run.manifest.created[:16].replace("T", " ") or audit.run.folder.name


def _rest(small: Sequence[Finding], alone: Sequence[_Reason]) -> Finding:
    """All that is too small to be a finding of its own."""
    items = tuple(dict.fromkeys([*(i for f in small for i in f.items), *(r.item for r in alone)]))
    examples = (*(f.examples[0] for f in small), *((r.item, r.text) for r in alone))
    first = "Reasons that few items share: read some of them for a kind of failure that words do not show."
    return Finding(
        f"{len(small) + len(alone)} smaller groups", len(items), items, examples=examples[:_EXAMPLES], first=first
    )
