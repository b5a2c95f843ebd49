"""The sessions of a run to be asked about again: as the folder shows what judges saw, else from the files it names.

What judges saw stands in shown.jsonl (`store/shown.py`), so that a session that was moved or came from memory can be
asked about all the same. Functions get the session itself, and folders of older versions hold no texts: for those the
file is read again, and refused where it is gone or changed. Asks nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from jury.data import DataPoint, Output
from jury.errors import ConfigError, DataError
from jury.formats import ReplyFormat
from jury.judge import Case, JudgeSpec, Prompt, Seat
from jury.prompts import PromptSpec
from jury.runner.described import stored_criteria
from jury.runner.entries import Entry
from jury.runner.recordings import Recording
from jury.runner.replay_sessions import variant_of
from jury.sessions.criteria import LegacyPrompt, SessionCriterion, joint_prompt
from jury.sessions.events import Session
from jury.sessions.fit import is_cut
from jury.sessions.judging import SESSION_TOKENS, SessionJury
from jury.sessions.legacy import is_legacy
from jury.sessions.making import session_jury
from jury.store import Run, RunManifest, StoredItem, StoredJudgment
from jury.store.shown import ShownFile
from jury.transcripts import load_sessions


def session_jury_of(run: Run, seats: Sequence[JudgeSpec]) -> SessionJury:
    """The jury of a run of sessions, as its manifest has the criteria. Raises `ConfigError`."""
    manifest, spec = run.manifest, run.manifest.spec
    sets = [[_criterion(manifest, one) for one in found] for found in stored_criteria(spec)]
    if not sets:
        raise ConfigError(f"{run.folder}: code alone judged these sessions: it gives the same verdicts again")
    first = sets[0][0].prompt if len(sets[0]) == 1 else joint_prompt(sets[0])
    own = [_own(seat, about, first) for seat, about in zip(seats, manifest.judges, strict=True)]
    timeout = spec.get("timeout")
    return session_jury(
        cast("Any", [one for found in sets for one in found]),
        judges=own,
        ask=str(spec.get("ask") or "each"),
        long=str(spec.get("long") or "fit"),
        session_tokens=int(spec.get("session_tokens") or SESSION_TOKENS),
        assignment=spec.get("assignment"),
        timeout_ms=timeout * 1000 if isinstance(timeout, int | float) else None,
        variables=spec.get("variables"),
    )


def _criterion(manifest: RunManifest, one: SessionCriterion) -> SessionCriterion:
    about = cast("Mapping[str, Any]", manifest.spec["criteria"][one.key])
    kept = cast("Mapping[str, Any] | None", manifest.prompts.get(str(about.get("prompt"))))
    if kept is None:
        raise ConfigError(f"the manifest of {manifest.name} does not hold the prompt of {one.key}")
    texts = [str(kept.get(name) or "") for name in ("name", "user", "system", "version")]
    spec = PromptSpec(texts[0], texts[1], texts[2], texts[3], kept.get("meta") or {}, kept.get("path"))
    prompt = LegacyPrompt(spec) if is_legacy(spec.user) else Prompt(spec)
    return replace(one, prompt=prompt, options=about.get("options") or {}, context=about.get("context"))


def _own(seat: JudgeSpec, about: Mapping[str, Any], first: Prompt) -> JudgeSpec:
    """A seat with the prompt of each criterion, but for one that had a prompt of its own."""
    return replace(seat, prompt=None, system_prompt=None) if about.get("prompt") == first.digest else seat


class Recorded:
    """The sessions of a run, one after the other. `jury` asks, and is where the seats come from."""

    def __init__(self, run: Run, jury: SessionJury) -> None:
        self._run, self._jury = run, jury
        self._shown = ShownFile(run.folder)
        self._files: dict[str, list[Session]] = {}

    def entry(self, item: StoredItem) -> Entry:
        """The item with what can be asked about it. Raises `DataError`, `ConfigError`."""
        seats = [seat for panel in self._jury.panels for seat in panel.seats]
        if not any(seat.function for seat in seats):
            found = tuple(self._as_shown(item))
            if found:
                return Entry(item, questions=found)
        return Entry(item, recording=self._read(item))

    def _as_shown(self, item: StoredItem) -> Iterator[tuple[Seat, Case]]:
        """What each seat was asked, filled in as it was; what was shown of an earlier state of the session is not."""
        log = list(self._run.judgments_of(item.id))
        for group in self._jury.groups:
            for seat in group.panel.seats:
                asked = _requests(log, seat.name, group.format.criterion)
                for names in self._shown.names(item.id, group.format.criterion or "", seat.prompt.digest):
                    case = _case(item, names)
                    stored = asked.get(seat.question(case).request)
                    if stored is not None:
                        case.format = _noted(group.format, stored)
                        yield seat, case

    def _read(self, item: StoredItem) -> Recording:
        """The session from its file, as it was judged."""
        file = item.row.get("file")
        if not isinstance(file, str):
            raise ConfigError(
                f"session {item.id} was not read from a file, and {self._run.folder} does not hold what "
                "judges saw of it: repeat the run with --repetitions 3"
            )
        if file not in self._files:
            self._files[file] = self._load(file)
        for session in self._files[file]:
            found = Recording(item.id, item.number, session, _context(item))
            if found.item.digest == item.digest:
                return found
        raise DataError(f"{file} was changed since session {item.id} was judged: judge it anew", "changed", file=file)

    def _load(self, file: str) -> list[Session]:
        try:
            return load_sessions(file, self._run.manifest.spec.get("format"))
        except DataError as error:
            raise DataError(
                f"the sessions of {self._run.folder} are read again: {error}", error.kind, file=file
            ) from None


def _requests(log: Iterable[StoredJudgment], judge: str, criterion: str | None) -> dict[str, StoredJudgment]:
    """The last of what a judge was asked about a criterion the first time, by the digest of what was sent: one for each
    part of a long session."""
    last: dict[str, StoredJudgment] = {}
    for stored in log:
        one = stored.judgment
        if stored.judge == judge and one.criterion == criterion and not one.repetition:
            last[variant_of(one.notes)] = stored
    return {stored.request: stored for stored in last.values()}


def _case(item: StoredItem, names: Mapping[str, Any]) -> Case:
    data = DataPoint(item.input, item.expected_output or None, id=item.id, context=item.context, row=dict(item.row))
    case = Case.of_output(data, Output(item.output), "", {}, frozenset())
    case.namespace = dict(names)
    return case


def _noted(how: ReplyFormat, stored: StoredJudgment) -> ReplyFormat:
    """The format with the note on what of the session was shown."""
    notes = stored.judgment.notes
    return replace(how, notes=tuple(note for note in notes if is_cut(note) or note == variant_of(notes)))


def _context(item: StoredItem) -> str | Mapping[str, str] | None:
    """The session's own context: one text, or one for each criterion."""
    if item.context is None:
        return None
    try:
        given: Any = json.loads(item.context)
    except ValueError:
        return item.context
    return cast("Mapping[str, str]", given) if isinstance(given, dict) else item.context
