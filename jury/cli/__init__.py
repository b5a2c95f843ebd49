"""The command line: words, and nothing that decides a verdict.

__main__.py        the entry: text encoding, errors as one line, exit codes of the shell
app.py             the root: the commands, each with a line  front.py      `jury --help`, without typer
options.py         one value is given once; errors name what was typed
*commands.py       the options of each command: commands.py, session_commands.py, run_commands.py, audit_commands.py,
                   label_commands.py, report_commands.py; what runs it is a module of its own:
  judging.py       judge, compare                            render.py, check.py, checking_run.py, demo.py
  session.py       session                                   rubric.py, library.py (prompts), counting.py (counts)
  running.py       run                                       showing.py, watching.py, replaying.py, caching.py
  auditing.py      calibrate, stability, bias, worth         audit_gates.py (diff, rank, gate, drift)
  asking_again.py  --ask of stability and bias               contesting.py (rank --answers)
  injecting.py     audit injection                           labelling.py, reporting.py
asked.py           what was asked for -> a jury              functions.py  `module:function` -> a judge
items.py           rows on their way to the jury             writing.py    summary.json, JSON on stdout
keeping.py         the run folder of a command               paying.py     a budget, or a quote instead of verdicts
item_view.py       one item of a run                         prompt_view.py  its prompts
following.py       a run folder as it grows                  rates.py      its rate in words
progress.py        what stderr shows meanwhile               run_progress.py  of a run
pace.py            how long the rest will take               tally.py      what the last screen keeps
tables.py          what stdout shows at the end              closing.py    the last screen of rubric and session
quoting.py         a quote as a table                        audit_words.py  how the auditor's numbers are written
calling.py         how this program was called               consoles.py   where words go, and cannot act there
exits.py           the exit codes
"""
