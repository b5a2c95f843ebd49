"""calibration.json of a run folder: the weights, what they hold for, and which versions the test labels were spent on.
And gate.json: what a run was last held to, and what came of it.

Whoever looks at test labels and then changes a prompt has used them up: so each look is written down, by version.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from jury.audit.calibrating import Calibration, expired, version_of
from jury.audit.gates import Gate
from jury.audit.reading import Audited
from jury.errors import DataError, unread
from jury.plain import to_plain
from jury.store import Run
from jury.weighing import Fitted

FILE, FORMAT = "calibration.json", 1
GATE_FILE = "gate.json"
GATE_EXPIRED = "expired: the run has changed since"


def keep(run: Run, found: Calibration) -> None:
    """Write a calibration into the folder of its run, in one step; a look at the test part is added to those before.

    Raises `DataError` where the folder cannot be written or holds a calibration of another format.
    """
    before = _read(run.folder) or {}
    looks = dict(cast("Mapping[str, Any]", before.get("spent") or {}))
    if found.part == "test":
        looks.setdefault(found.version, []).append(datetime.now(UTC).isoformat(timespec="seconds"))
    rows = {"development": before.get("development"), "test": before.get("test"), found.part: to_plain(found.rows)}
    data = {
        "format": FORMAT,
        "version": found.version,
        "holds_for": dict(found.holds_for),
        "sampled": found.sampled,
        "n_labels": found.n_labels,
        "raw_rate": to_plain(found.raw_rate),
        "corrected_rate": to_plain(found.corrected_rate),
        "weights": found.weights.to_dict(),
        "previous": _previous(before, found),
        "spent": looks,
        **rows,
    }
    _write(run.folder / FILE, data)


def _previous(before: Mapping[str, Any], found: Calibration) -> Any:
    """The weights that these replace, for `roll_back_weights`; those before them where nothing changed."""
    now = before.get("weights")
    if not now or now == to_plain(found.weights.to_dict()):
        return before.get("previous")
    return {name: before.get(name) for name in ("version", "holds_for", "weights", "n_labels", "sampled")}


def roll_back_weights(folder: str | Path) -> Fitted:
    """Puts the weights of the calibration before this one back into a folder; what they replace becomes the previous.

    Raises `DataError` where there is no earlier one.
    """
    path = Path(folder)
    data = _read(path) or {}
    before = cast("Mapping[str, Any]", data.get("previous") or {})
    if not before:
        raise DataError(f"{path}: there are no earlier weights to put back", "not_found", file=str(path))
    fitted = Fitted.from_dict(cast("Mapping[str, Any]", before.get("weights") or {}))
    _write(path / FILE, {**data, **before, "previous": {name: data.get(name) for name in before}})
    return fitted


def keep_gate(audit: Audited, found: Gate) -> None:
    """Write what a gate found into the folder of its run, in place of the one before; reports show it.

    What it was made on is kept with it, so that nobody takes it for one of a later state of the folder. Raises
    `DataError` where the folder cannot be written.
    """
    checks = [
        {**to_plain(check), "condition": str(check.condition), "estimate": to_plain(check.estimate)}
        for check in found.checks
    ]
    at = datetime.now(UTC).isoformat(timespec="seconds")
    data = {"outcome": found.outcome, "level": found.level, "checks": checks, "at": at, "made_on": _state(audit)}
    _write(audit.run.folder / GATE_FILE, {"format": FORMAT, **data})


def load_gate(audit: Audited) -> dict[str, Any] | None:
    """What `keep_gate` wrote last; None where the run was held to nothing. Raises `DataError`.

    Where the run has changed since, `outcome` is `expired`, `was` what it had been, and `expired` says why.
    """
    data = _read(audit.run.folder, GATE_FILE)
    if data is None or data.get("made_on") == _state(audit):
        return data
    return {**data, "outcome": "expired", "was": data.get("outcome"), "expired": GATE_EXPIRED}


def _state(audit: Audited) -> dict[str, Any]:
    """What a gate rests on: the verdicts, and the judges and prompts that gave them."""
    lines = [
        repr((one.item.id, one.item.tags, one.result.status, one.result.reason, one.said, audit.passed(one.said)))
        for one in audit.judged
    ]
    digest = hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "surrogatepass")).hexdigest()
    return {"n": len(lines), "results": digest, "version": version_of(audit.run.manifest)}


def load_calibration(run: Run) -> dict[str, Any] | None:
    """What `keep` wrote last, as it stands in the file; None where there is none. Raises `DataError`."""
    return _read(run.folder)


def spent(run: Run, version: str) -> list[str]:
    """When the test labels were looked at with this version of judges and prompts; empty: they are fresh."""
    looks = cast("Mapping[str, Any]", (_read(run.folder) or {}).get("spent") or {})
    return [str(at) for at in looks.get(version, ())]


def load_weights(folder: str | Path, *, run: Run | None = None) -> Fitted:
    """The weights in a folder's calibration.json, to be given as `aggregator=`.

    Raises `DataError` where there are none, or where they no longer hold for the judges of `run`.
    """
    path = Path(folder)
    data = _read(path)
    if data is None:
        raise DataError(f"{path}: no {FILE}: run `jury calibrate` first", "not_found", file=str(path))
    if run is not None:
        why = expired(cast("Mapping[str, Any]", data.get("holds_for") or {}), run.manifest)
        if why:
            raise DataError(f"{path / FILE} has expired: {why}", "expired", file=str(path / FILE))
    return Fitted.from_dict(cast("Mapping[str, Any]", data.get("weights") or {}))


def _write(final: Path, data: Mapping[str, Any]) -> None:
    part = final.with_name(f".{final.name}.{os.getpid()}")
    text = json.dumps(data, ensure_ascii=False, indent=2, default=str) + "\n"
    try:
        part.write_bytes(text.encode("utf-8", "backslashreplace"))
        part.replace(final)
    except OSError as error:
        raise DataError(f"{final}: cannot be written: {error}", "unwritable", file=str(final)) from None


def _read(folder: Path, name: str = FILE) -> dict[str, Any] | None:
    path = folder / name
    if not path.exists():
        return None
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {unread(error)}", "bad_json", file=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise damaged(path, unread(error)) from None
    if not isinstance(data, dict):
        raise damaged(path, "it holds no mapping")
    held = cast("dict[str, Any]", data)
    if held.get("format") != FORMAT:
        raise DataError(f"{path}: not of format {FORMAT}: {_anew(path)}", "format", file=str(path))
    wrong = [key for key in _MAPPINGS if held.get(key) is not None and not isinstance(held[key], dict)]
    if wrong:
        raise damaged(path, f"{wrong[0]} is no mapping")
    return held


_MAPPINGS = ("holds_for", "raw_rate", "corrected_rate", "weights", "previous", "spent", "made_on")


def damaged(path: Path, why: str) -> DataError:
    """One of the two files is not as it was written: why, and how to go on without it."""
    return DataError(f"{path} is damaged: {why}: {_anew(path)}", "bad_json", file=str(path))


def _anew(path: Path) -> str:
    made_by = "jury gate" if path.name == GATE_FILE else "jury calibrate"
    return f"delete the file, and `{made_by}` makes it anew"
