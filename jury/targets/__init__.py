"""Targets: what is under test, run on the way to being judged. Makes outputs; judges nothing, records nothing.

spec.py       `TargetSpec`: a function, a model, or an address, from a text, a mapping or a callable
target.py     `Target`: one item in, one output or error out, with what it cost
http.py       `HttpTarget`: an address that takes JSON and gives JSON
sessions.py   what an agent gives back, as a session
usage.py      what a function reports of its cost
"""

from __future__ import annotations

from jury.targets.spec import TargetSpec
from jury.targets.target import Made, Question, Reading, Target

__all__ = ["Made", "Question", "Reading", "Target", "TargetSpec"]
