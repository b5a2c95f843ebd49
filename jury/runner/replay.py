"""Every verdict again, from the raw replies in the log, offline; and which of them are not what the results say."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from jury.aggregation import Decision, Rule, decide, fold
from jury.errors import REPLY_KINDS
from jury.pairwise import WINNERS, reconcile
from jury.parsing import read_reply
from jury.results import Comparison, Judgment, PairVote, PanelResult, Verdict, Vote
from jury.rubrics.asking import RubricMethod
from jury.rubrics.rubric import Rubric
from jury.runner.replay_sessions import SessionReplay, variant_of
from jury.scales import INCONCLUSIVE, Scale
from jury.store import Run, StoredJudgment
from jury.store.index import JUDGMENTS, short
from jury.store.lines import parse, read_lines
from jury.store.run import made


@dataclass(frozen=True, slots=True)
class Difference:
    """One item whose stored verdict is not what its log gives."""

    item: str
    what: str
    stored: str
    replayed: str


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """`damage`: lines that were changed, lost or added. `unfolded`: the rule is a function; only votes are compared."""

    items: int
    judgments: int
    differences: tuple[Difference, ...] = ()
    damage: tuple[str, ...] = ()
    unfolded: bool = False

    @property
    def same(self) -> bool:
        return not self.differences and not self.damage


def replay(folder: str | Path) -> ReplayReport:
    """Reads the log of a run folder and folds every verdict anew. Calls nobody, writes nothing. Raises `DataError`."""
    run = Run.open(folder)
    results = run.results()
    first = list(islice(results, 1))  # before the log, which then has all of theirs, also while the run goes on
    with closing(results), closing(_Log(run)) as log:
        again = _Again(run, log)
        found: list[Difference] = []
        items = 0
        for item, result in chain(first, results):
            items += 1
            found += again.compare(item.id, result)
        return ReplayReport(items, log.count, tuple(found), tuple(run.damage()), again.rule is None)


class _Log:
    """The judgments of a run by item, seat, order and repetition; the last one counts. Flat in memory."""

    def __init__(self, run: Run) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("CREATE TABLE log (k INTEGER PRIMARY KEY, pos INTEGER)")
        path = run.folder / JUDGMENTS
        self._file = path.open("rb") if path.exists() else None
        self.count = 0
        self._db.execute("BEGIN")
        for pos, line in read_lines(path):
            names = ("item", "judge", "order", "repetition", "criterion")
            key = _slot(*(line.get(name) for name in names), variant_of(line.get("notes")))
            self._db.execute("INSERT OR REPLACE INTO log VALUES (?, ?)", (key, pos))
            self.count += 1

    def find(self, item: str, judgment: Judgment) -> StoredJudgment | None:
        about = (judgment.order, judgment.repetition, judgment.criterion, variant_of(judgment.notes))
        key = _slot(item, judgment.judge, *about)
        row = self._db.execute("SELECT pos FROM log WHERE k = ?", (key,)).fetchone()
        if row is None or self._file is None:
            return None
        self._file.seek(row[0])
        line = parse(self._file.readline())
        return made(StoredJudgment.from_dict, line, JUDGMENTS) if line is not None else None

    def close(self) -> None:
        self._db.close()
        if self._file is not None:
            self._file.close()


def _slot(item: Any, judge: Any, *about: Any) -> int:
    return short("\0".join(str("" if part is None else part) for part in (item, judge, *about)))


class _Again:
    def __init__(self, run: Run, log: _Log) -> None:
        manifest = run.manifest
        self.scale: Scale = WINNERS if run.kind == "pairwise" else run.scale
        self.quorum = manifest.quorum or 1
        self.single = manifest.spec.get("assignment") == "cyclic"
        own = manifest.rule.startswith("function ") or manifest.spec.get("tie_break") is not None
        self.method = _method(manifest.spec) if run.kind == "rubric" else None
        self.rule = None if own else Rule.of(None if self.method else manifest.rule or None, self.scale)
        self.foreseeing = isinstance(manifest.spec.get("stop"), float) or "escalate" in manifest.spec
        self.sessions = SessionReplay(manifest, None if own else manifest.rule) if run.kind == "session" else None
        self._log = log

    def compare(self, item: str, result: PanelResult | Comparison) -> list[Difference]:
        found: list[Difference] = []
        pairwise = isinstance(result, Comparison)
        votes: list[Any] = [self._vote(item, vote, pairwise, found) for vote in result.votes]
        if self.rule is None or not votes or found or result.reason in ("budget", "stopped", "deadline"):
            return found
        if self.sessions is not None and isinstance(result, PanelResult):
            return _of_criteria(item, result, self.sessions.results(votes, result))
        asked = sum(not v.replacement for v in votes)
        quorum = 1 if self.foreseeing and asked < result.seats else self.quorum  # as `Panel.foreseen`
        if self.method is not None:
            return _changed(item, result, self.method.decided(votes, quorum, result.seats)[0])
        return _changed(item, result, decide(votes, self.rule, quorum, result.seats, single=self.single))

    def _vote(self, item: str, vote: Any, pairwise: bool, found: list[Difference]) -> Vote | PairVote:
        read = [j if _unasked(j) else self._judgment(item, j, found) for j in vote.judgments]
        rule = self.rule or Rule.of(None, self.scale)
        if self.sessions is not None:
            return self.sessions.fold(vote, read)
        if self.method is not None:
            return replace(vote, verdict=self.method.fold(read), judgments=tuple(read))
        if not pairwise:
            return replace(vote, verdict=fold(read, rule), judgments=tuple(read))
        return _pair_vote(vote, read, lambda js: fold(js, rule))

    def _judgment(self, item: str, judgment: Judgment, found: list[Difference]) -> Judgment:
        logged = self._log.find(item, judgment)
        if logged is None:
            found.append(Difference(item, f"judgment of {judgment.judge}", _told(judgment.verdict), "not in the log"))
            return judgment
        verdict = self._read(logged.judgment)
        if _said(verdict) != _said(judgment.verdict):
            found.append(Difference(item, f"judgment of {judgment.judge}", _told(judgment.verdict), _told(verdict)))
        return replace(judgment, verdict=verdict)

    def _read(self, judgment: Judgment) -> Verdict:
        failure = judgment.verdict.failure
        by_call = failure is not None and failure.kind not in REPLY_KINDS
        if judgment.reply is None or by_call:  # a function's own verdict, or a call that never came back
            return judgment.verdict
        if self.sessions is not None:
            how = self.sessions.format(judgment.criterion)
            return judgment.verdict if how is None else how.read(judgment.reply, None)
        if self.method is not None:
            return self.method.format(0, judgment.criterion).read(judgment.reply, None)
        return read_reply(judgment.reply, self.scale)


def _of_criteria(item: str, result: PanelResult, now: Mapping[str, tuple[Any, str]]) -> list[Difference]:
    """Where the report on a session is not what its votes give."""
    stored = {"": (result.value, result.status), **{c.key: (c.value, c.status) for c in result.criteria}}
    found: list[Difference] = []
    for key, (value, status) in now.items():
        was_value, was_status = stored.get(key, (None, "missing"))
        of = f" on {key}" if key else ""
        pairs = (("verdict", INCONCLUSIVE if was_value is None else was_value, value), ("status", was_status, status))
        found += [Difference(item, f"{what}{of}", str(old), str(new)) for what, old, new in pairs if old != new]
    return found


def _method(spec: Mapping[str, Any]) -> RubricMethod:
    rubric = Rubric.from_dict(cast("Mapping[str, Any]", spec.get("rubric") or {}))
    return RubricMethod(rubric, spec.get("ask", "together"), aggregator=spec.get("aggregator"))


def _changed(item: str, result: PanelResult | Comparison, now: Decision) -> list[Difference]:
    """Where a result is not what its votes give."""
    said: Any = result.winner if isinstance(result, Comparison) else result.value
    pairs = (("verdict", said, now.value), ("status", result.status, now.status))
    return [Difference(item, what, str(stored), str(new)) for what, stored, new in pairs if stored != new]


def _pair_vote(vote: PairVote, read: Sequence[Judgment], folded: Callable[[list[Judgment]], Verdict]) -> PairVote:
    first = folded([j for j in read if j.order == "ab"])
    swapped = [j for j in read if j.order == "ba"]
    if not swapped:
        value: Any = first.value if first.decided else None
    else:
        value = reconcile(first, folded(swapped))[0]
    return replace(vote, vote=value, judgments=tuple(read))


def _unasked(judgment: Judgment) -> bool:
    failure = judgment.verdict.failure
    return failure is not None and failure.kind in ("budget", "deadline")


def _said(verdict: Verdict) -> tuple[Any, ...]:
    parts = {key: (part.status, part.value) for key, part in verdict.parts.items()}
    return verdict.status, verdict.value, parts


def _told(verdict: Verdict) -> str:
    if verdict.parts:
        return ", ".join(f"{key}: {_told(part)}" for key, part in verdict.parts.items())
    return str(verdict.value) if verdict.decided else f"{verdict.status} {verdict.failure or ''}".strip()
