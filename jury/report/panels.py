"""The panel of a run: how its judges agree, each judge's rate, failures, leaning, stability, each with a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from jury.audit import ONLY_WHERE, Audited, Polled, Stability, Worth, polled, stability
from jury.report import words
from jury.report.parts import ItemFacts, JudgeFacts, PanelFacts
from jury.results import Comparison, Failure, PairVote, Vote
from jury.stats import PairMatrix, pair_matrix, position_bias, undefined, wilson
from jury.stats.bias import PositionBias
from jury.stats.table import Category
from jury.summary import count

ODD = 0.7  # below this share of votes alike, a pair of judges is worth a look
_PART = "asking stopped early: the verdicts are not of the full panel"
MUCH = 0.1  # of votes that failed or flipped


def panel(audit: Audited, items: Sequence[ItemFacts], valued: Worth | None, seed: int) -> PanelFacts:
    """`items` as the report shows them; `valued` is None where the panel cannot be valued (a plain numeric scale)."""
    seen = polled(audit)
    votes = {judge: seen.fair(judge, audit.votes_of(judge)) for judge in audit.judges}
    rows = [list(row) for row in zip(*votes.values(), strict=True)] if votes else []
    several = len(audit.judges) > 1 and bool(rows)
    # Continuous numbers are never equal: votes are compared as pass and fail, or not at all.
    matrix = pair_matrix(rows, stat="percent") if several and audit.labels else None
    again = stability(audit, seed=seed)
    position = {judge: found for judge, found in _positions(audit).items() if judge not in seen.late}
    quotes = _quotes(items)
    judges = tuple(
        replace(
            _judge(audit, name, votes.get(name), again, (position.get(name), seen)),
            quotes_found=quotes[name, True],
            quotes_missing=quotes[name, False],
        )
        for name in _names(audit)
    )
    empty = undefined("too_few_raters") if not several else undefined("no_data", "numbers without a pass mark")
    made = PanelFacts(
        judges=judges,
        agreement=_cells(matrix, len(audit.judges)),
        common=_common(matrix, len(audit.judges)),
        alpha=words.number(valued.alpha if valued is not None and several else empty),
        effective=words.number(valued.independent.votes if valued is not None and several else empty, 1),
    )
    said = {
        "agreement": _beside(_agreement(made, audit.judges), seen),
        "rates": _beside(_rates(made, "favours A in" if audit.paired else "passes"), seen),
        "effective": _effective(made, len(audit.judges)),
        "failures": _failures(judges),
        "position": _position(judges) if audit.paired else "",
        "stability": _stability(judges, again, seen),
    }
    return replace(made, sentences={k: v for k, v in said.items() if v and judges})


def _beside(said: str, seen: Polled) -> str:
    """A sentence, with what early stopping left out."""
    if not seen.early:
        return said
    if not seen.lot:
        return f"{said} Left out: {', '.join(seen.late)}, {ONLY_WHERE}.".strip()
    items = words.count(len(seen.lot), "item")
    late = ", ".join(seen.late)
    return f"{said} What {late} said counts on the {items} that all were asked about {seen.drawn}.".strip()


def _names(audit: Audited) -> list[str]:
    """The seats, then stand-ins that voted."""
    voted = {v.judge for one in audit.judged for v in one.result.votes if v.replacement}
    return [*audit.judges, *sorted(voted - set(audit.judges))]


def _quotes(items: Sequence[ItemFacts]) -> Counter[tuple[str, bool]]:
    """By judge, how many quotes are there and how many are not."""
    found: Counter[tuple[str, bool]] = Counter()
    for item in items:
        for vote in item.votes:
            for quote in vote.quotes:
                if quote.found is not None:
                    found[vote.judge, quote.found] += 1
    return found


def _cells(matrix: PairMatrix | None, n: int) -> tuple[tuple[float | None, ...], ...]:
    if matrix is None:
        return ()
    return tuple(tuple(None if i == j else matrix.of(i, j).value for j in range(n)) for i in range(n))


def _common(matrix: PairMatrix | None, n: int) -> tuple[tuple[int, ...], ...]:
    if matrix is None:
        return ()
    return tuple(tuple(0 if i == j else matrix.of(i, j).n for j in range(n)) for i in range(n))


def _positions(audit: Audited) -> dict[str, PositionBias]:
    """Of pairs in both orders, each judge's votes by the slot."""
    if not audit.paired:
        return {}
    table = audit.table()
    if table.second is None:
        return {}
    found: dict[str, PositionBias] = {}
    for at, judge in enumerate(table.judges):
        columns: list[list[int]] = [codes[:, at].tolist() for codes in (table.first, table.second)]
        said = [[None if code < 0 else str(table.labels[code]) for code in column] for column in columns]
        found[judge] = position_bias(list(zip(said[0], said[1], strict=True)))
    return found


def _judge(
    audit: Audited,
    name: str,
    votes: Sequence[Category | None] | None,
    again: Stability,
    measured: tuple[PositionBias | None, Polled],
) -> JudgeFacts:
    position, seen = measured
    cast = audit.votes_of(name)
    said = cast if votes is None else votes
    passed = [audit.passed(v) for v in said]
    rated = passed.count(True) + passed.count(False)
    own: list[Vote | PairVote] = [v for one in audit.judged for v in one.result.votes if v.judge == name]
    panel = audit.verdicts()
    if seen.early and not seen.exact:  # a verdict of the first tier alone is its own
        panel = [verdict if at in seen.lot else None for at, verdict in enumerate(panel)]
    both = [a == b for a, b in zip(said, panel, strict=True) if a is not None and b is not None]
    late = name in seen.late and not seen.lot
    why = ONLY_WHERE if late else "no vote that passes or fails"
    beside = (
        ONLY_WHERE if late else "asking stopped early: the verdicts are not of the full panel" if seen.early else ""
    )
    retest = None if name in seen.late else next((j.retest for j in again.judges if j.judge == name), None)
    costs = [v.usage.cost if v.usage else 0.0 for v in own]
    known = [c for c in costs if c is not None]
    told = Counter(words.shown(v) for v in cast if v is not None)
    return JudgeFacts(
        id=name,
        votes=sum(v.decided for v in own),
        rate=words.rate(
            wilson(passed.count(True), rated) if rated else undefined("no_data", why),
            passed.count(True),
        ),
        with_panel=words.rate(wilson(sum(both), len(both)) if both else undefined("no_data", beside), sum(both)),
        values=dict(told.most_common(30)),
        abstained=sum(v.abstained for v in own),
        failures=dict(Counter(f.kind for v in own if (f := _failure(v)) is not None).most_common()),
        flips=words.rate(position.change_rate) if position else None,
        flip_kinds={"primacy": position.primacy, "recency": position.recency, "mixed": position.mixed}
        if position
        else {},
        lean=words.points(position.lean) if position else None,
        retest=words.rate(retest.flip_rate) if retest and retest.usable else None,
        contradictions=_contradictions(audit, name),
        cost=sum(known) if own and len(known) == len(costs) else None,
        stand_in=votes is None,
    )


def _failure(vote: Vote | PairVote) -> Failure | None:
    return vote.failure if isinstance(vote, PairVote) else vote.verdict.failure


def _contradictions(audit: Audited, name: str) -> int:
    results = (one.result for one in audit.judged)
    return sum(not isinstance(r, Comparison) and name in r.contradictions for r in results)


def _agreement(made: PanelFacts, names: Sequence[str]) -> str:
    pairs = [(v, i, j) for i, row in enumerate(made.agreement) for j, v in enumerate(row) if j > i and v is not None]
    if not pairs:
        return "No two judges voted on the same item: agreement cannot be seen." if made.agreement else ""
    mean = sum(v for v, _, _ in pairs) / len(pairs)
    low, i, j = min(pairs)
    said = f"Two judges vote alike on {words.share(mean)} of the items they both judged."
    if len(pairs) > 1 and low < mean:
        said += f" {names[i]} and {names[j]} differ most ({words.share(low)} alike)"
        said += ": read items on which they split before you trust either." if low < ODD else "."
    return said


def _rates(made: PanelFacts, does: str) -> str:
    known = [(j.rate.value, j) for j in made.judges if j.rate.value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known, key=lambda k: k[0])[1], max(known, key=lambda k: k[0])[1]
    apart = low.rate.high is not None and high.rate.low is not None and low.rate.high < high.rate.low
    share = words.share
    if low.rate.value == high.rate.value:
        return f"Every judge {does} the same share of items, {share(low.rate.value)}."
    said = f"{low.id} {does} {share(low.rate.value)} of the items, {high.id} {share(high.rate.value)}"
    return f"{said}: " + (
        "more than chance, so the choice of judges moves the rate." if apart else "chance may do that."
    )


def _effective(made: PanelFacts, judges: int) -> str:
    if judges < 2:
        return ""
    votes = made.effective
    if votes.value is None:
        why = votes.why.split("; ")[-1] or "nothing was observed"
        return f"How many independent votes the {judges} judges are worth is not known: {why}."
    said = f"{judges} judges are worth {votes.value:.1f} independent votes"
    return said + (": they make the same mistakes." if votes.value < 0.6 * judges else ".")


def _failures(judges: Sequence[JudgeFacts]) -> str:
    failed = {j.id: sum(j.failures.values()) for j in judges}
    total = sum(failed.values())
    if not total:
        return "No vote failed."
    worst = max(judges, key=lambda j: failed[j.id])
    kinds = ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in worst.failures.items())
    asked = failed[worst.id] + worst.votes + worst.abstained
    said = f"{words.count(total, 'vote')} failed; most by {worst.id} ({kinds})."
    if asked and failed[worst.id] > MUCH * asked:
        said += f" It failed on {words.percent(failed[worst.id], asked)}: the same command again asks only what failed."
    return said


def _position(judges: Sequence[JudgeFacts]) -> str:
    known = [(j.flips.value, j) for j in judges if j.flips is not None and j.flips.value is not None]
    if not known:
        return "Pairs were shown in one order: position bias cannot be seen."
    value, worst = max(known, key=lambda k: k[0])
    if not value:
        return "No judge changed its vote with the order."
    first, second = worst.flip_kinds.get("primacy", 0), worst.flip_kinds.get("recency", 0)
    to = "the first answer" if first > second else "the second answer" if second > first else "neither slot"
    return (
        f"{worst.id} changes its vote with the order most often ({words.share(value)}), leaning to {to}; "
        "such a flip is no vote."
    )


def _stability(judges: Sequence[JudgeFacts], again: Stability, seen: Polled) -> str:
    late = [j.judge for j in again.judges if j.judge in seen.late and j.retest.usable]
    left = f" Left out: {', '.join(late)}, {ONLY_WHERE}." if late else ""
    known = [(j.retest.value, j) for j in judges if j.retest is not None and j.retest.value is not None]
    if not known:
        return "Every question was asked once: stability is not known (`repetitions: 3` shows it)."
    value, worst = max(known, key=lambda k: k[0])
    if not value:
        return f"Asked {count(again.repetitions, 'time')}, no judge contradicted itself.{left}"
    most = f"{words.share(value)} of the items, the most of all judges.{left}"
    return f"Asked again, {worst.id} contradicts itself on {most}"
