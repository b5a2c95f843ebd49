"""The page on which people label a run: one item at a time, blind to the panel, every label on disk before the next.

    questions.py   what is asked about an item, and how an answer becomes a label
    sampling.py    in which order items are shown: random, or disagreement first
    source.py      items and results, read one by one
    showing.py     an item as the page shows it: texts, cut where they are long
    verdicts.py    what the panel said, where the page is asked to show it
    desk.py        `Desk`: one labeller at one run; the next item, saving, undo
    findings.py    what the labels say, and how many more are needed      words.py    ... in sentences
    app.py         the page's JSON API                                    guard.py    who may speak to it
    serving.py     socket, token, uvicorn, browser (extra `label`)        static/     the page itself, written by hand

Everything but the last two rows works without a server. Decides no verdict and computes no statistics of its own.
"""

from __future__ import annotations

from jury.label.desk import AlreadyLabelled, Desk, Plan
from jury.label.findings import Findings, findings
from jury.label.serving import serve

__all__ = ["AlreadyLabelled", "Desk", "Findings", "Plan", "findings", "serve"]
