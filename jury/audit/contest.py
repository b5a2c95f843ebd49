"""Many candidates compared on a budget of comparisons: Swiss rounds, each judged into one run folder, then ranked.

Answers come as rows: a question, the target that answered, its answer. A comparison is two targets on one question
that both have answered. Two of them get another question every time they meet, and each target stands first as often
as second. Everything follows from the seed and from what was judged so far: a contest that was killed goes on where it
was, and so does one that is given more comparisons.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from jury import sync
from jury.audit.ranking import games_of
from jury.audit.reading import audited
from jury.datasets import Row, find
from jury.datasets.columns import need
from jury.errors import ConfigError, DataError
from jury.runner import RunReport, RunSpec
from jury.runner import run as run_spec
from jury.runner.spec import Loader
from jury.stats import Game, swiss_round
from jury.store import Run
from jury.store.manifest import FILE

NAMES = ("model_a", "model_b")


@dataclass(frozen=True, slots=True)
class Pool:
    """Answers by question and target, with what else is known of a question (`reference`)."""

    answers: Mapping[str, Mapping[str, Any]]
    references: Mapping[str, Any]

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(sorted({target for given in self.answers.values() for target in given}))

    def shared(self, a: str, b: str) -> list[str]:
        """The questions that both have answered, in the order of the data."""
        return [q for q, given in self.answers.items() if a in given and b in given]


def pool(rows: Iterable[Row]) -> Pool:
    """Answers as they are read: each row a question, a `model` and its answer. Raises `DataError`.

    Columns go by their usual names (`input` or `question`, `output` or `answer`, `model`, `reference`). Where
    there are several files, a row that names no model goes by the name of its file.
    """
    given_rows = list(rows)
    files = len({row.file for row in given_rows})
    answers: dict[str, dict[str, Any]] = {}
    references: dict[str, Any] = {}
    for row in given_rows:
        target = Path(row.file).stem if files > 1 and find(row, "model") is None else need(row, "model")
        question, answer = need(row, "input"), _value(row, "output")
        if not isinstance(question, str) or not target:
            raise DataError(f"{row.place}: an answer needs a question (a text) and the model that gave it", "bad_json")
        if answer is None:
            continue  # the target failed on this question: it is compared on others
        given = answers.setdefault(question, {})
        if str(target) in given:
            raise DataError(f"{row.place}: {target} answers {question[:60]!r} twice", "duplicate_id")
        given[str(target)] = answer
        references.setdefault(question, _value(row, "expected_output"))
    made = Pool(answers, references)
    if len(made.targets) < 2:
        raise DataError(f"answers of two targets are needed, got {list(made.targets)}", "no_rows")
    return made


def _value(row: Row, name: str) -> Any:
    found = find(row, name)
    return found.value if found else None


def next_pairs(
    given: Pool, done: Sequence[Mapping[str, Any]], games: Sequence[Game], *, seed: int = 0
) -> list[dict[str, Any]]:
    """The rows of the next round: pairs for a pairwise run, those that tell most first; empty where none is left.

    `done` are the rows of earlier rounds, `games` what came of them.
    """
    met = {str(row["id"]) for row in done}
    first = Counter(str(row[NAMES[0]]) for row in done)
    made: list[dict[str, Any]] = []
    used = Counter(str(row["question"]) for row in done)
    open_to = {
        frozenset(pair): free
        for pair in combinations(given.targets, 2)
        if (free := [q for q in given.shared(*pair) if _id(q, *pair) not in met])
    }
    closed = {frozenset(pair) for pair in combinations(given.targets, 2)} - open_to.keys()
    for pair in swiss_round(given.targets, games, seed=len(done) * 7919 + seed, closed=closed):
        question = min(
            open_to[frozenset(pair)], key=lambda q: (used[q], hashlib.sha256(f"{seed} {q}".encode()).digest())
        )
        a, b = sorted(pair, key=lambda t: (first[t], hashlib.sha256(f"{seed} {question} {t}".encode()).digest()))
        first[a] += 1
        used[question] += 1
        row = {"id": _id(question, a, b), "question": question, NAMES[0]: a, NAMES[1]: b}
        row |= {"response_a": given.answers[question][a], "response_b": given.answers[question][b]}
        if given.references.get(question) is not None:
            row["reference"] = given.references[question]
        made.append(row)
    return made


def _id(question: str, a: str, b: str) -> str:
    """The same for both orders: a pair meets once on a question."""
    low, high = sorted((a, b))
    return f"{low} | {high} | {hashlib.sha256(question.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


async def hold_contest(
    given: Pool,
    spec: RunSpec,
    folder: str | Path,
    *,
    comparisons: int,
    seed: int = 0,
    load: Loader | None = None,
    on_round: Callable[[int, int], None] | None = None,
) -> RunReport:
    """Compare until the folder holds that many comparisons, or no pair with a common question is left.

    `spec` is a pairwise run; its data are made here. `on_round` hears how many comparisons there are, and of how many.
    Ends early where the budget is used up or a whole round gave no usable vote: `RunReport.totals` say why. Raises what
    `runner.run` raises.
    """
    if spec.kind != "pairwise":
        raise ConfigError("a contest compares: give a pairwise run (kind: pairwise)")
    if comparisons < 1:
        raise ConfigError(f"comparisons must be a whole number from 1, got {comparisons}")
    path = Path(folder)
    rows, last = rows_of(path), set[str]()
    spec = spec.with_changes(map={}, limit=None, targets=None)  # the answers are there
    report = await run_spec(spec.with_changes(data=rows), path, load=load) if rows else None
    changes = report.changes if report is not None else ()
    while report is None or not _over(report):
        games, heard = _games(path)
        if last and not heard & last:
            break  # nobody could judge the last round: the next one would be paid for nothing
        coming = next_pairs(given, rows, games, seed=seed)[: max(0, comparisons - len(rows))]
        if not coming:
            break
        rows += coming
        last = {str(row["id"]) for row in coming}
        if on_round is not None:
            on_round(len(rows), comparisons)
        report = await run_spec(spec.with_changes(data=rows), path, load=load)
    if report is None:
        raise ConfigError("no two targets have answered the same question")
    return replace(report, changes=changes)


def hold_contest_sync(given: Pool, spec: RunSpec, folder: str | Path, **options: Any) -> RunReport:
    """`hold_contest` without `await`."""
    return sync.run(hold_contest(given, spec, folder, **options))


def rows_of(folder: str | Path) -> list[dict[str, Any]]:
    """The comparisons that a contest's folder holds. Raises `DataError` where they are not those of a contest."""
    path = Path(folder)
    if not (path / FILE).exists():
        return []
    rows = [dict(item.row) for item in Run.open(path).items()]
    if any(name not in row for row in rows for name in (*NAMES, "id", "question")):
        raise DataError(f"{path} holds comparisons of another kind: take another folder for the contest", "format")
    return rows


def _over(report: RunReport) -> bool:
    return report.fault is not None or report.halted or bool(report.totals.get("reasons", {}).get("budget"))


def _games(folder: Path) -> tuple[list[Game], set[str]]:
    """What came of all comparisons so far, and the items on which some judge gave a usable reply."""
    if not (folder / FILE).exists():
        return [], set()
    audit = audited(folder)
    played, _ = games_of([audit], *NAMES)
    judgments = {one.item.id: [j for v in one.result.votes for j in v.judgments] for one in audit.judged}
    heard = {item for item, given in judgments.items() if any(j.verdict.status != "error" for j in given)}
    return [Game(g.a, g.b, g.outcome) for g, _ in played], heard
