"""How far a run can be trusted, from its stored votes and people's labels. Only `again.py` and `contest.py` ask judges.

    people.py       label files, and the one label of an item where several people gave one
    reading.py      verdicts, votes and labels of a run, aligned by item
    early.py        runs that stopped early: whose votes still say something about the judge
    criteria.py     one criterion of several, as a run of its own
    against.py      one judge or the panel beside labels: confusion, agreement, a raw rate that leans
    calibrating.py  judges and panel against people; the corrected pass rate; weights and confidences for later runs
    keeping.py      calibration.json of a run folder: what was found, and which test labels were spent
    repeats.py      every answer to the very same question, from results and log
    stable.py       the same question asked again: flips by judge and by item
    rebuilding.py   the jury of a run again, from its folder
    recorded.py     the sessions of a run again, from what its folder shows or from their files
    again.py        a run asked again about some of its items, into its own log
    leaning.py      position, length, family
    worth.py        how many independent votes the panel is worth, and whether fewer judges would do
    annotators.py   may a judge stand in for a person?
    comparing.py    two runs on the same items
    ranking.py      many targets by pairwise verdicts
    contest.py      who is compared next, on a budget of comparisons; rounds into one run folder
    gates.py        pass, fail or undecided, for CI
    rollback.py     the earlier version of a prompt back into its file
    drifting.py     a frozen set judged again: did the judge drift or the system?

Every number comes with its interval and coverage, or is None with the reason (`jury.stats.Estimate`). Loads numpy.
"""

from __future__ import annotations

from jury.audit.again import Again, AskedAgain, ask_again, ask_again_sync, quote_again
from jury.audit.against import leaning
from jury.audit.annotators import AlternativeAnnotator, alternative_annotator
from jury.audit.calibrating import SAMPLED, Calibration, calibrate, expired, part_of, weights_from
from jury.audit.comparing import RunDifference, compare_runs
from jury.audit.contest import Pool, hold_contest, hold_contest_sync, next_pairs, pool
from jury.audit.criteria import criteria_of, of_criterion
from jury.audit.drifting import Drift, drift
from jury.audit.early import ONLY_WHERE, Polled, polled
from jury.audit.gates import AgreementGate, Condition, Gate, gate, gate_agreement
from jury.audit.keeping import keep, load_weights, roll_back_weights, spent
from jury.audit.leaning import JudgeLeaning, leanings
from jury.audit.people import keep_labels, read_labels
from jury.audit.ranking import Tournament, tournament
from jury.audit.reading import Audited, audited
from jury.audit.rebuilding import jury_of
from jury.audit.repeats import Repeats, repeats
from jury.audit.rollback import PutBack, roll_back
from jury.audit.stable import Stability, stability
from jury.audit.worth import Worth, worth

__all__ = [
    "ONLY_WHERE",
    "SAMPLED",
    "Again",
    "AgreementGate",
    "AlternativeAnnotator",
    "AskedAgain",
    "Audited",
    "Calibration",
    "Condition",
    "Drift",
    "Gate",
    "JudgeLeaning",
    "Polled",
    "Pool",
    "PutBack",
    "Repeats",
    "RunDifference",
    "Stability",
    "Tournament",
    "Worth",
    "alternative_annotator",
    "ask_again",
    "ask_again_sync",
    "audited",
    "calibrate",
    "compare_runs",
    "criteria_of",
    "drift",
    "expired",
    "gate",
    "gate_agreement",
    "hold_contest",
    "hold_contest_sync",
    "jury_of",
    "keep",
    "keep_labels",
    "leaning",
    "leanings",
    "load_weights",
    "next_pairs",
    "of_criterion",
    "part_of",
    "polled",
    "pool",
    "quote_again",
    "read_labels",
    "repeats",
    "roll_back",
    "roll_back_weights",
    "spent",
    "stability",
    "tournament",
    "weights_from",
    "worth",
]
