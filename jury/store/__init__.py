"""A run folder that survives a kill: what is written is whole, what is read is checked. Asks nobody, decides nothing.

    lines.py      appending whole lines with a hash chain, reading them back, repairing a torn end
    manifest.py   `RunManifest` in manifest.json, written whole or not at all; scales as JSON
    records.py    `StoredItem`, `StoredJudgment`, `StoredResult`, `Label`: one line each
    outputs.py    `StoredOutput`: what the target of a run made
    shown.py      what prompts about sessions were filled in with
    index.py      where the lines of an item and of a key stand (index.sqlite: may be deleted, is made anew)
    tables.py     its SQLite file         keys.py    which keys need not be looked for in it
    locking.py    one writer at a time
    at_risk.py    how much money the calls in flight may cost: what a kill leaves behind for the next pass
    run.py        `Run`: reading, and appending people's labels
    writer.py     `RunWriter`: what the runner writes and recalls; `clear`

Files of a folder: manifest.json, items.jsonl, judgments.jsonl, results.jsonl, labels.jsonl, and what other rooms add.
Every line is handed to the system in one piece before the next call is made, so a killed process loses nothing that
was written. Against a power cut, files are synced every few seconds and at the end (`writer.SYNC_S`).
"""

from __future__ import annotations

from jury.store.manifest import FORMAT, RunManifest, scale_from_dict, scale_to_dict
from jury.store.outputs import StoredOutput
from jury.store.records import Label, StoredItem, StoredJudgment, StoredResult, standing
from jury.store.run import Run
from jury.store.writer import RunWriter, clear

__all__ = [
    "FORMAT",
    "Label",
    "Run",
    "RunManifest",
    "RunWriter",
    "StoredItem",
    "StoredJudgment",
    "StoredOutput",
    "StoredResult",
    "clear",
    "scale_from_dict",
    "scale_to_dict",
    "standing",
]
