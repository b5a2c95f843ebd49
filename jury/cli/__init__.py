"""The command line: words, and nothing that decides a verdict.

__main__.py        the entry: text encoding, errors as one line, exit codes of the shell
app.py             the root: the commands, each with a line  front.py      `jury --help`, without typer
*commands.py       the options of each command; what runs it is a module of its own: judging.py, render.py, check.py,
                   demo.py, running.py, replaying.py, caching.py, ...
asked.py           what was asked for -> a jury          functions.py  `module:function` -> a judge
items.py           rows on their way to the jury         writing.py    summary.json, JSON on stdout
keeping.py         the run folder of a command
showing.py         a run in one screen              item_view.py  one item of it   prompt_view.py  its prompts
watching.py        a run under way                  following.py  its folder as it grows       rates.py
progress.py        what stderr shows while it runs       tables.py     what stdout shows at the end
pace.py            how long the rest will take           closing.py    the last screen of rubric and session
consoles.py        where words go, and cannot act there
exits.py           the exit codes
"""
