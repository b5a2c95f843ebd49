"""The command line: words, and nothing that decides a verdict.

__main__.py   the entry: text encoding, errors as one line, exit codes of the shell
app.py        the commands and their options; loads nothing heavy, so that `--help` is cheap
asked.py      what was asked for -> a jury          functions.py  `module:function` -> a judge
judging.py    `judge` and `compare`                 inspect.py    `render` and `check`
items.py      rows on their way to the jury         writing.py    results.jsonl, summary.json, JSON on stdout
progress.py   what stderr shows while it runs       tables.py     what stdout shows at the end
exits.py      the exit codes
"""
