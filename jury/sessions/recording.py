"""Sessions into a run folder: every judgment recorded before it is used, and what is there is not asked again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jury import __version__
from jury.errors import ConfigError
from jury.keys import shaping_settings
from jury.panel import Panel
from jury.results import PanelResult
from jury.runner.keeper import Keeper, now
from jury.runner.totals import Totals
from jury.sessions.events import Session, chat_messages
from jury.sessions.judging import SessionJury
from jury.store import RunManifest, RunWriter, StoredItem, StoredResult
from jury.store.lines import digest
from jury.streams import as_completed
from jury.versions import refuse_edits


async def record(
    jury: SessionJury, sessions: Sequence[Session], folder: str | Path, *, force: bool = False
) -> AsyncIterator[PanelResult]:
    """The reports on sessions, as they are done, kept in a run folder of kind `session`.

    Raises `ConfigError` where a prompt was edited under a version that the folder has results of, unless `force`;
    `DataError` where the folder is locked, foreign or cannot be written.
    """
    with RunWriter(folder) as writer:
        before = writer.manifest
        manifest = manifest_of(jury, writer.folder.name)
        if before is not None:
            if before.kind != "session":
                raise ConfigError(f"{folder} holds a {before.kind} run, this one is session: take another folder")
            refuse_edits(before.prompts, manifest.prompts, str(folder), force=force)
            prompts = {**before.prompts, **manifest.prompts}
            manifest = replace(manifest, prompts=prompts, history=before.history, created=before.created)
        writer.save(replace(manifest, created=manifest.created or now()))
        keeper = Keeper(writer, {})
        totals = Totals("session")
        done = False
        seats = [s for p in jury.panels for s in (*p.seats, *p.stand_ins)] if jury.criteria else []
        for seat in seats:
            seat.recorder = keeper

        async def judge(pair: tuple[int, Session]) -> PanelResult:
            number, session = pair
            name = session.id or f"session-{number + 1}"
            writer.add_item(_item(session, name, number))
            result = await jury.judge(session, id=name)
            writer.add_result(StoredResult(name, number, result))
            return result

        try:
            async for result in as_completed(
                list(enumerate(sessions)), judge, jury.spec.max_concurrency, ordered=False
            ):
                totals.add(result.to_dict())
                yield result
            done = True
        finally:
            for seat in seats:
                seat.recorder = None
            ended = {"ended": now(), "asked": keeper.asked.live, "items": len(sessions)}
            saved = writer.manifest or manifest
            saved = replace(saved, totals=totals.to_dict(), history=(*saved.history, ended))
            writer.save(replace(saved, heads=writer.heads, finished=done))


def manifest_of(jury: SessionJury, name: str) -> RunManifest:
    """What the folder says about the run: criteria, prompts by digest with their versions, seats."""
    panels = jury.panels if jury.criteria else ()
    specs = [p.spec for panel in panels for p in panel.prompts] + [c.prompt.spec for c in jury.criteria]
    criteria = {
        c.key: {
            "prompt": c.prompt.spec.digest,
            "options": dict(c.options),
            "verdicts": list(c.reply.verdicts),
            "examples": digest(json.dumps(c.examples, default=str).encode("utf-8", "surrogatepass"))
            if c.examples
            else None,
        }
        for c in jury.criteria
    }
    return RunManifest(
        kind="session",
        name=name,
        jury_version=__version__,
        spec={"criteria": criteria, "checks": [c.name for c in jury.checks], "long": jury.long},
        criteria=", ".join([*(c.key for c in jury.criteria), *(c.name for c in jury.checks)]),
        scale={"type": "labels", "labels": ["PASS", "FAIL", "NA"], "passing": ["PASS"], "na": "NA", "descriptions": {}},
        rule=panels[0].rule.name if panels else "",
        quorum=panels[0].quorum() if panels else None,
        judges=tuple(_seats(panels[:1])),
        prompts={s.digest: {"name": s.name, "version": s.version, "system": s.system, "user": s.user} for s in specs},
    )


def _seats(panels: Iterable[Panel]) -> list[dict[str, Any]]:
    return [
        {
            "id": seat.name,
            "model": seat.spec.model,
            "family": seat.spec.family_name,
            "prompt": seat.prompt.spec.digest,
            "settings": shaping_settings(seat.settings) if seat.function is None else {},
            "weight": seat.spec.weight,
        }
        for panel in panels
        for seat in panel.seats
    ]


def _item(session: Session, name: str, number: int) -> StoredItem:
    return StoredItem(
        id=name,
        number=number,
        digest=digest(session.transcript.encode("utf-8", "surrogatepass")),
        input=session.first_request,
        messages=tuple(chat_messages(session.events)),
        output=session.final_message,
        error=str(session.error) if session.error is not None else None,
        row={k: v for k, v in session.metadata.items() if isinstance(v, str | int | float)},
    )
