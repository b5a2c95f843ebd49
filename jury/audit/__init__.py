"""How far a run can be trusted: read from its stored votes and people's labels. Calls no model.

    reading.py      verdicts, votes and labels of a run, aligned by item; label files
    calibrating.py  judges and panel against people; the corrected pass rate; weights and confidences for later runs
    keeping.py      calibration.json of a run folder: what was found, and which test labels were spent
    stable.py       the same question asked again: flips by judge and by item
    leaning.py      position, length, family
    worth.py        how many independent votes the panel is worth, and whether fewer judges would do
    annotators.py   may a judge stand in for a person?
    comparing.py    two runs on the same items
    ranking.py      many targets by pairwise verdicts
    gates.py        pass, fail or undecided, for CI
    drifting.py     a frozen set judged again: did the judge drift or the system?

Every number comes with its interval and coverage, or is None with the reason (`jury.stats.Estimate`). Loads numpy.
"""

from __future__ import annotations

from jury.audit.annotators import AlternativeAnnotator, alternative_annotator
from jury.audit.calibrating import SAMPLED, Calibration, calibrate, expired, leaning, part_of, weights_from
from jury.audit.comparing import RunDifference, compare_runs
from jury.audit.drifting import Drift, drift
from jury.audit.gates import AgreementGate, Condition, Gate, gate, gate_agreement
from jury.audit.keeping import keep, load_weights, spent
from jury.audit.leaning import JudgeLeaning, leanings
from jury.audit.ranking import Tournament, tournament
from jury.audit.reading import Audited, audited, read_labels
from jury.audit.stable import Stability, stability
from jury.audit.worth import Worth, worth

__all__ = [
    "SAMPLED",
    "AgreementGate",
    "AlternativeAnnotator",
    "Audited",
    "Calibration",
    "Condition",
    "Drift",
    "Gate",
    "JudgeLeaning",
    "RunDifference",
    "Stability",
    "Tournament",
    "Worth",
    "alternative_annotator",
    "audited",
    "calibrate",
    "compare_runs",
    "drift",
    "expired",
    "gate",
    "gate_agreement",
    "keep",
    "leaning",
    "leanings",
    "load_weights",
    "part_of",
    "read_labels",
    "spent",
    "stability",
    "tournament",
    "weights_from",
    "worth",
]
