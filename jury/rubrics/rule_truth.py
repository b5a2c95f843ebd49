"""A parsed pass rule and scores -> true, false, or None where a missing score could still change it.

A score that is missing counts as the range of its scale, so `min(all) >= 3` is false as soon as one known score is 2,
whatever the others will be. Knows no rubric and no judge: values, ranges and weights come in.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jury.rubrics.rule_parser import COMPARISONS, Node
from jury.scales import TOLERANCE

Score = float | str
Range = tuple[float, float]
_ENUMERATED = 20_000  # combinations of scores that are tried to see whether a rule can pass and fail


class _Skip:
    """A clause about a criterion that does not apply, where such clauses do not count."""


SKIP = _Skip()
Truth = bool | None | _Skip


@dataclass(frozen=True, slots=True)
class Scores:
    """What is known: `values` by key (numbers, labels), `ranges` of every criterion with numbers, weights.

    `na` are the criteria that do not apply: left out of `all` and of functions. A clause that names one is open, or
    with `skip_na` does not count. Any other key without a value is unknown.
    """

    values: Mapping[str, Score]
    ranges: Mapping[str, Range]
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    na: frozenset[str] = frozenset()
    skip_na: bool = False


def truth(node: Node, scores: Scores) -> Truth:
    """The truth of a node."""
    if node.op == "not":
        inner = truth(node.parts[0], scores)
        return not inner if isinstance(inner, bool) else inner
    if node.op in ("and", "or"):
        return _joined([truth(part, scores) for part in node.parts], ends=node.op == "or")
    if node.op == "in":
        options = [_compared("==", node.parts[0], item, scores) for item in node.parts[1:]]
        return _joined(options, ends=True)
    if node.op in COMPARISONS:
        return _compared(node.op, node.parts[0], node.parts[1], scores)
    return _compared("!=", node, Node("number", (), 0.0), scores)  # a 0/1 criterion on its own


def _joined(found: Sequence[Truth], *, ends: bool) -> Truth:
    """`or` ends at a true part, `and` at a false one; then what is open keeps the whole open."""
    counted = [value for value in found if not isinstance(value, _Skip)]
    if ends in counted:
        return ends
    if not counted:
        return SKIP
    return None if None in counted else not ends


def _compared(op: str, left: Node, right: Node, scores: Scores) -> Truth:
    for side in (left, right):
        if side.op in ("all", "any"):
            found = [
                _compared(op, _put(left, side, key), _put(right, side, key), scores)
                for key in scores.ranges
                if key not in scores.na
            ]
            return _joined(found, ends=side.op == "any")
    for side in (left, right):
        if side.op == "name" and side.value in scores.na:
            return SKIP if scores.skip_na else None
    labels = [_label(side, scores) for side in (left, right)]
    if any(isinstance(side, str) for side in labels):
        return None if None in labels else (labels[0] == labels[1]) == (op == "==")
    low, high = _range(left, scores), _range(right, scores)
    if low is None or high is None:
        return SKIP if scores.skip_na else None
    return _ordered(op, low, high)


def _put(node: Node, stand_in: Node, key: str) -> Node:
    return Node("name", (), key) if node is stand_in else node


def _label(node: Node, scores: Scores) -> str | None:
    if node.op == "text":
        return str(node.value)
    found = scores.values.get(str(node.value)) if node.op == "name" else None
    if found is None and node.op == "name" and node.value not in scores.ranges:
        return None
    return found if isinstance(found, str) else None


def _range(node: Node, scores: Scores) -> Range | None:
    """What a number may be. None: there is nothing to take it from, since nothing applies."""
    if node.op == "number":
        return float(node.value), float(node.value)
    if node.op == "name":
        key = str(node.value)
        found = scores.values.get(key)
        if found is None:
            return scores.ranges.get(key, (float("-inf"), float("inf")))
        return float(found), float(found)
    if node.op == "count":
        return _count(node, scores)
    parts: list[tuple[Range, float]] = []
    for part in node.parts:
        keys = list(scores.ranges) if part.op == "all" else [str(part.value)] if part.op == "name" else [None]
        for key in keys:
            if key is not None and key in scores.na:
                continue
            found = _range(part if key is None else Node("name", (), key), scores)
            if found is not None:
                parts.append((found, scores.weights.get(key, 1.0) if key is not None else 1.0))
    return _folded(node.op, parts)


def _folded(op: str, parts: Sequence[tuple[Range, float]]) -> Range | None:
    if not parts:
        return None
    lows, highs = [r[0] for r, _ in parts], [r[1] for r, _ in parts]
    if op in ("min", "max"):
        fold = min if op == "min" else max
        return fold(lows), fold(highs)
    if op == "sum":
        return sum(lows), sum(highs)
    weights = [w for _, w in parts] if op == "weighted_mean" else [1.0] * len(parts)
    whole = sum(weights)
    if whole <= 0:
        return None
    both = [sum(v * w for v, w in zip(side, weights, strict=True)) / whole for side in (lows, highs)]
    return both[0], both[1]


def _count(node: Node, scores: Scores) -> Range:
    """How many comparisons are true: at least, at most. One over `all` counts once for each criterion."""
    found: list[Truth] = []
    for part in node.parts:
        spread = next((p for p in part.parts if p.op in ("all", "any")), None) if part.op in COMPARISONS else None
        if spread is None:
            found.append(truth(part, scores))
            continue
        left, right = part.parts
        found += [
            _compared(part.op, _put(left, spread, key), _put(right, spread, key), scores)
            for key in scores.ranges
            if key not in scores.na
        ]
    sure = sum(value is True for value in found)
    return float(sure), float(sure + sum(value is None for value in found))


def _ordered(op: str, left: Range, right: Range) -> bool | None:
    """Two ranges compared; equal within the tolerance of all thresholds."""
    gap = TOLERANCE * max(1.0, *(abs(v) for v in (*left, *right) if abs(v) != float("inf")))
    if op in ("<", "<="):
        return _ordered(">" if op == "<" else ">=", right, left)
    if op == ">=":
        return True if left[0] >= right[1] - gap else False if left[1] < right[0] - gap else None
    if op == ">":
        return True if left[0] > right[1] + gap else False if left[1] <= right[0] + gap else None
    apart = left[1] < right[0] - gap or right[1] < left[0] - gap
    fixed = left[0] == left[1] and right[0] == right[1]
    equal = False if apart else True if fixed else None
    return equal if op == "==" or equal is None else not equal


def reachable(root: Node, options: Mapping[str, Sequence[Score]], scores: Scores) -> tuple[bool, bool]:
    """(can pass, can fail), over the scores in `options`; True where it could not be ruled out.

    Ranges decide it at once for many rules; else combinations are tried, all of them if there are few enough.
    """
    whole = truth(root, scores)
    if isinstance(whole, bool):
        return whole, not whole
    keys = list(options)
    size = 1
    for key in keys:
        size *= len(options[key])
    passes = fails = False
    for values in _combinations([options[key] for key in keys], size):
        found = truth(root, Scores(dict(zip(keys, values, strict=True)), scores.ranges, scores.weights))
        passes, fails = passes or found is True, fails or found is False
        if passes and fails:
            break
    complete = size <= _ENUMERATED
    return passes or not complete, fails or not complete


def _combinations(options: Sequence[Sequence[Score]], size: int) -> itertools.chain[tuple[Score, ...]]:
    ends = [tuple(o[0] for o in options), tuple(o[-1] for o in options)]
    if size <= _ENUMERATED:
        return itertools.chain(ends, itertools.product(*options))
    draw = random.Random(0)  # a fixed seed: the same rubric always warns or never
    return itertools.chain(ends, (tuple(draw.choice(o) for o in options) for _ in range(2000)))
