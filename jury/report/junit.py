"""JUnit XML for CI: one test case an item. Failed is a failure; no usable reply, or a target that errored, an error.

Not applicable and inconclusive items, and those that judges did not get to, are skipped, with the reason as their
message. A decided pair is a passed case whoever wins, as is a verdict without a pass mark: the run does not know who
should. Every case has the verdict as a property (`winner` of pairs), the suite how many there are of each. What XML
cannot hold is written as U+FFFD.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from xml.etree import ElementTree as ET

from jury.report.parts import ItemFacts, Report

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENDS = ("failure", "error", "skipped")
_MESSAGE = 500  # characters


def to_junit(report: Report) -> str:
    """The whole document."""
    head, counts = report.head, report.head.outcomes
    ends = Counter(map(_end, report.items))
    totals = {"tests": len(report.items), **{f"{end}s" if end != "skipped" else end: ends[end] for end in _ENDS}}
    shared = {"name": _clean(head.name or "jury"), **{k: str(n) for k, n in totals.items()}}
    root = ET.Element("testsuites", shared)
    suite = ET.SubElement(root, "testsuite", shared | ({"timestamp": head.created[:19]} if head.created else {}))
    told = {
        "criteria": head.criteria,
        head.rate_name: head.rate.text,
        "coverage": head.coverage.text,
        "judges": ", ".join(seat.id for seat in head.seats if not seat.stand_in),
        "cost": head.cost_text,
        **{f"outcome {outcome}": f"{n}" for outcome, n in counts.items() if n},
    }
    _properties(suite, told)
    said = "winner" if head.kind == "pairwise" else "verdict"
    for item in report.items:
        _case(suite, item, shared["name"], said)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(parent: ET.Element, told: Mapping[str, str]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in told.items():
        ET.SubElement(properties, "property", {"name": name, "value": _clean(value)})


def _case(suite: ET.Element, item: ItemFacts, run: str, said: str) -> None:
    seconds = sum(answer.latency_s for vote in item.votes for answer in vote.answers)
    named = {"name": _clean(item.id), "classname": run, "time": f"{seconds:.3f}"}
    case = ET.SubElement(suite, "testcase", named)
    _properties(case, {said: item.word or item.outcome})
    message = _clean(item.error or item.explanation or item.reason or item.word)
    about = {"message": message[:_MESSAGE], "type": _clean(item.reason or item.outcome)}
    votes = "\n".join(_clean(f"{vote.judge}: {vote.word}. {vote.failure or vote.explanation}") for vote in item.votes)
    end = _end(item)
    if end in ("failure", "error"):
        ET.SubElement(case, end, about).text = "\n\n".join(filter(None, (message, votes)))
    elif end:
        ET.SubElement(case, end, {"message": about["message"]})
    if votes and end not in ("failure", "error"):
        ET.SubElement(case, "system-out").text = votes


def _end(item: ItemFacts) -> str:
    """What a case ends with; empty where it passed. Judges who were not asked are no error of the target."""
    if item.outcome == "not_judged":
        return "error" if "error" in item.flags else "skipped"
    return {"fail": "failure", "error": "error", "na": "skipped", "inconclusive": "skipped"}.get(item.outcome, "")


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
