"""Recorded sessions of agents: events, what fits into a prompt, replies about them, evidence looked up in them.

Pure values, which ask nobody:
events.py     `Event`, `Session`                        reply.py      a judge's reply, its schema and reading
fit.py        a long session cut to size                windows.py    or in overlapping parts
evidence.py   is what a judge quotes there?             quotes.py     is a quote in a text?
legacy.py     templates in the format style             examples.py   judged sessions from a file
checks.py     checks by code                            criteria.py   what a session is judged by
votes.py      calls -> votes on each criterion          counting.py   what many reports have in common

What asks: judging.py (`SessionJury`), making.py (`session_jury`), recording.py (sessions into a run folder).
How the files of other tools become sessions is in `transcripts/`.
"""
