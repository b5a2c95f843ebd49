"""Recorded sessions of agents: events, what fits into a prompt, replies about them, evidence looked up in them.

Pure values (`events`, `fit`, `windows`, `reply`, `evidence` with `quotes`, and `legacy` templates): they ask nobody.
How the files of other tools become sessions is in `transcripts/`.
"""
