"""Runs: many items, one panel, one folder. Streaming, resumable, bounded in memory and money. No command line here.

spec.py       `RunSpec`: what to judge, with whom, how; from a YAML file or from keywords
entries.py    rows of the data as items on their way to the jury
recordings.py, session_words.py, described.py   of runs of sessions: the sessions, the words of the file, the manifest
targeting.py, producing.py, target_words.py   a target and its outputs; the targets of a run on its items; their words
escalating.py a cascade's first tier against people's labels
questions.py  all questions that an item raises, and its result
describe.py   a jury as the manifest holds it; what changed since the last pass
keeper.py     what stands between a seat and its judge in a run: recalls, records, asks identical questions once
memory.py     what a panel that stops early learns from the results of its folder
governors.py  limits and money before every provider of a run
totals.py     counts over results, from their plain values
engine.py     `run`, `run_sync`: one pass over the data
estimate.py   what a run will ask and cost, before anything is paid
outlook.py    where a run that its budget ended stands
stopped.py    what stopping early saved, and what its checks found
replay.py, replay_sessions.py   every verdict again from the log, offline
batching.py, returned.py, under_way.py   the questions through the vendors' batch APIs; what came back; what has not yet
tiers.py      which tier of a cascade an item has come to, for batches
refill.py     the prompt of a recorded judgment again, checked by its digest
halting.py    `Halt`: ends a pass early
"""

from __future__ import annotations

from jury.runner.batching import BatchReport, run_batches
from jury.runner.engine import Halt, RunReport, run, run_sync
from jury.runner.estimate import Quote, estimate
from jury.runner.outlook import Outlook, outlook
from jury.runner.replay import ReplayReport, replay
from jury.runner.spec import RunSpec

__all__ = [
    "BatchReport",
    "Halt",
    "Outlook",
    "Quote",
    "ReplayReport",
    "RunReport",
    "RunSpec",
    "estimate",
    "outlook",
    "replay",
    "run",
    "run_batches",
    "run_sync",
]
