"""Run folders for the tests of the auditor: votes in, a folder out. Nobody is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jury.results import Comparison, Judgment, PairVote, PanelResult, Usage, Verdict, Vote
from jury.scales import Boolean, Labels, Scale
from jury.store import Label, Run, RunManifest, RunWriter, StoredItem, StoredJudgment, StoredResult, scale_to_dict

SWAP = {"A": "B", "B": "A", "tie": "tie"}


def manifest(kind: str, judges: Sequence[str], scale: Scale | None, **more: Any) -> RunManifest:
    seats = tuple({"id": j, "model": f"{j}/model", "family": j, "prompt": "p1", "weight": 1.0} for j in judges)
    return RunManifest(
        kind, "run", scale=scale_to_dict(scale) if scale else {}, judges=seats,
        **{"criteria": "Is it good?", "prompts": {"p1": {"name": "p", "user": "?"}}, "finished": True, **more},
    )  # fmt: skip


def pointwise(
    folder: Path,
    votes: Sequence[Mapping[str, Any]],
    *,
    scale: Scale | None = None,
    labels: Mapping[int, Any] | None = None,
    items: Sequence[Mapping[str, Any]] = (),
    cost: float | None = 0.01,
    **more: Any,
) -> Run:
    """A run whose item number i is called `i`. A vote is a value, None (an error), or a list of repeated values."""
    scale = scale or Boolean()
    judges = sorted({j for row in votes for j in row})
    with RunWriter(folder) as run:
        run.save(manifest("pointwise", judges, scale, **more))
        for i, row in enumerate(votes):
            fields: dict[str, Any] = {"output": f"answer {i}", **(items[i] if items else {})}
            run.add_item(StoredItem(str(i), i, f"d{i}", **fields))
            cast = [_vote(j, v, cost) for j, v in row.items()]
            for vote in cast:
                for n, judgment in enumerate(vote.judgments):
                    run.add_judgment(StoredJudgment(f"{i}/{vote.judge}/{n}", str(i), judgment))
            run.add_result(StoredResult(str(i), i, _panel(str(i), cast, scale)))
    return _labelled(folder, labels)


def pairwise(
    folder: Path, votes: Sequence[Mapping[str, tuple[str, str]]], *, labels: Mapping[int, str] | None = None,
    items: Sequence[Mapping[str, Any]] = (), **more: Any,
) -> Run:  # fmt: skip
    """A run of pairs; a vote is (side named with A first, side named with B first), in terms of the answers."""
    judges = sorted({j for row in votes for j in row})
    with RunWriter(folder) as run:
        run.save(manifest("pairwise", judges, None, **more))
        for i, row in enumerate(votes):
            run.add_item(StoredItem(str(i), i, f"d{i}", **(items[i] if items else {})))
            cast = [_pair(j, ab, ba) for j, (ab, ba) in row.items()]
            for vote in cast:
                for judgment in vote.judgments:
                    run.add_judgment(StoredJudgment(f"{i}/{vote.judge}/{judgment.order}", str(i), judgment))
            counts = Counter(v.vote for v in cast if v.vote)
            top = counts.most_common(2)
            won = top[0][0] if top and (len(top) == 1 or top[0][1] > top[1][1]) else None
            result = Comparison(
                "decided" if won else "inconclusive", None if won else "tie", seats=len(cast),
                seats_used=sum(v.decided for v in cast), item_id=str(i), winner=won or "inconclusive",
                votes=tuple(cast), calls=2 * len(cast),
            )  # fmt: skip
            run.add_result(StoredResult(str(i), i, result))
    return _labelled(folder, labels)


def _vote(judge: str, value: Any, cost: float | None) -> Vote:
    values = value if isinstance(value, list) else [value]
    usage = None if cost is None else Usage(1, 10, 5, cost=cost)
    judgments = tuple(Judgment(judge, _verdict(v), n, usage=usage) for n, v in enumerate(values))
    usable = [v for v in values if v is not None]
    folded = Counter(usable).most_common(1)[0][0] if usable else None
    return Vote(judge, _verdict(folded), judgments)


def _verdict(value: Any) -> Verdict:
    if value is None:
        return Verdict("abstained")
    return Verdict("not_applicable" if value == "NA" else "scored", value, f"because it is {value}")


def _panel(item: str, cast: Sequence[Vote], scale: Scale) -> PanelResult:
    values = [v.value for v in cast if v.decided]
    top = Counter(values).most_common(2)
    usage = Usage.total(j.usage for v in cast for j in v.judgments)
    if not top or (len(top) == 2 and top[0][1] == top[1][1]):
        reason = "tie" if top else "errors"
        return PanelResult("inconclusive", reason, seats=len(cast), item_id=item, votes=tuple(cast), usage=usage)
    value = top[0][0]
    na = isinstance(scale, Labels) and value == scale.na
    return PanelResult(
        "not_applicable" if na else "decided", explanation=f"the panel says {value}", seats=len(cast),
        seats_used=len(values), item_id=item, value=value, passed=None if na else scale.passes(value),
        votes=tuple(cast), usage=usage, calls=sum(len(v.judgments) for v in cast),
    )  # fmt: skip


def _pair(judge: str, ab: str, ba: str) -> PairVote:
    judgments = (
        Judgment(judge, Verdict("scored", ab), order="ab"),
        Judgment(judge, Verdict("scored", SWAP[ba]), order="ba"),
    )
    kind = None if ab == ba else "mixed" if "tie" in (ab, ba) else "primacy" if ab == "A" else "recency"
    return PairVote(judge, None if kind else ab, kind is not None, kind, True, judgments=judgments)  # type: ignore[arg-type]


def _labelled(folder: Path, labels: Mapping[int, Any] | None) -> Run:
    run = Run.open(folder)
    for number, value in (labels or {}).items():
        run.add_label(Label(str(number), "ann", value, note=f"note on {number}"))
    return run
