"""What people look at: the facts of a run, and the formats they are written in. Asks nobody, changes no run.

    parts.py      `Report` and its parts: what a report knows
    facts.py      `facts(run)`: from a run folder to a `Report`; with a part each: heads.py, panels.py, items.py,
                  findings.py, criteria.py, pairing.py
    votes.py      a vote with its raw replies; quoting.py: what it quotes; asking.py: the prompts as they were asked;
                  log.py: the log
    alike.py      which reasons say the same thing; rules.py: what a numbered rule and an event say
    opening.py    run folders, and the folders of `jury demo -o`
    words.py      how shares, differences and money are written
    formats.py    the formats by name: markdown.py, cells.py (CSV), junit.py, JSON, and the page
    seeds.py      of a rubric run the JSON shapes critic and rubric, a line for each item
    page.py       one HTML file; with its parts: layout.py, overview.py, panel_view.py, subject_view.py, figures.py,
                  plots.py, markup.py, packing.py, static/

Every part of the page is a function of the `Report`: what a person sees there, the JSON has too.
"""
