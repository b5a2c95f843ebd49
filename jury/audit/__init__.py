"""How far a run can be trusted: read from its stored votes and people's labels. Calls no model.

    reading.py      verdicts, votes and labels of a run, aligned by item; label files
    calibrating.py  judges and panel against people; the corrected pass rate; weights and confidences for later runs

Every number comes with its interval and coverage, or is None with the reason (`jury.stats.Estimate`). Loads numpy.
"""
