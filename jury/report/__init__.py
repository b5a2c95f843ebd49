"""What people look at: the facts of a run, and the formats they are written in. Asks nobody, changes no run.

parts.py      `Report` and its parts: what a report knows
facts.py      `facts(run)`: from a run folder to a `Report`
heads.py, panels.py, items.py, votes.py, asking.py, findings.py, criteria.py, pairing.py: a part each
words.py      how shares, differences and money are written
opening.py    run folders, and the folders of `jury judge -o`
formats.py    Markdown, JSON, CSV and JUnit
page.py       one HTML file
"""
