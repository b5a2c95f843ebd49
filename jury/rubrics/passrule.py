"""The language of pass rules: `correctness >= 4 and min(all) >= 3`. Parsed and checked when made, evaluated by hand.

    rule        = and-terms joined by `or`; terms joined by `and`; `not`; round brackets
    comparison  = value (>= | > | <= | < | == | !=) value, chains allowed; value [not] in (a, b, ...)
    value       = number | 'text' | true | false | criterion | function(...)
    functions   = min, max, mean, sum, weighted_mean of `all` or of criteria; count of comparisons
    all, any    = every, or at least one, criterion with a number: `all >= 3`, `any == 5`

A 0/1 criterion is a number here and may stand alone. Three outcomes: true, false, and None where a score is missing and
could still change the outcome (`rule_truth.py` works on ranges for that reason). No Python is evaluated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn

from jury.errors import ConfigError
from jury.rubrics.rule_parser import COMPARISONS, FUNCTIONS, Fail, Node, Parser, walk


@dataclass(frozen=True, slots=True)
class PassRule:
    """A pass rule, parsed. Raises `ConfigError` that points at the place of what is wrong.

    `names` are the criteria it names, in order; `clauses` its parts joined by `and` at the top. `check` (called by the
    rubric) compares it with the criteria that there are.
    """

    text: str
    where: str = "pass rule"
    root: Node = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise ConfigError(f"{self.where}: the rule is empty")
        object.__setattr__(self, "root", Parser(self.text, self._fail).rule())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(n.value) for n in walk(self.root) if n.op == "name"))

    @property
    def uses_all(self) -> bool:
        return any(n.op in ("all", "any") for n in walk(self.root))

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers that stand in the rule."""
        return tuple(float(n.value) for n in walk(self.root) if n.op == "number")

    @property
    def clauses(self) -> tuple[Node, ...]:
        return self.root.parts if self.root.op == "and" else (self.root,)

    def source(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def check(self, kinds: Mapping[str, Sequence[str] | None], flags: Collection[str] = ()) -> None:
        """Compare with the criteria: key -> its labels, or None for a number. Raises `ConfigError` with the place.

        `flags` are the keys of the 0/1 criteria, which may stand without a comparison.
        """
        _Checker(kinds, flags, self._fail).truth(self.root)

    def _fail(self, message: str, at: int) -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        start = self.text.rfind("\n", 0, at) + 1
        shown = self.text[start:].split("\n")[0]
        where = f"line {line}, column {at - start + 1}" if "\n" in self.text else f"column {at - start + 1}"
        raise ConfigError(f"{self.where}, {where}: {message}\n  {shown}\n  {' ' * (at - start)}^")


class _Checker:
    """Names exist, numbers meet numbers, labels meet their own labels, truth stands where truth is asked."""

    def __init__(self, kinds: Mapping[str, Sequence[str] | None], flags: Collection[str], fail: Fail) -> None:
        self.kinds, self.flags, self.fail = kinds, flags, fail

    def truth(self, node: Node, *, counted: bool = False) -> None:
        """A node that must be true or false."""
        if node.op in ("and", "or", "not"):
            for part in node.parts:
                self.truth(part, counted=counted)
        elif node.op in COMPARISONS or node.op == "in":
            self._comparison(node, counted=counted)
        elif node.op == "name":
            if self._labels(node) is not None:
                self.fail(f"{node.value} has labels: compare it with one of them", node.start)
            if node.value not in self.flags:
                self.fail(f"{node.value} is a number: compare it, such as {node.value} >= 4", node.start)
        else:
            self.fail("a comparison belongs here, such as correctness >= 4", node.start)

    def _comparison(self, node: Node, *, counted: bool) -> None:
        left = node.parts[0]
        for part in node.parts:
            self._value(part, quantified=node.op != "in")
        labels = [(p, found) for p in node.parts if (found := self._labels(p)) is not None]
        texts = [p for p in node.parts if p.op == "text"]
        if labels and node.op not in ("==", "!=", "in"):
            self.fail(f"{labels[0][0].value} has labels: only ==, != and in compare them", node.start)
        if len(labels) + len(texts) not in (0, len(node.parts)):
            wrong = next(p for p in node.parts if (p.op == "text") or self._labels(p) is not None)
            self.fail("a text and a number cannot be compared", wrong.start if wrong is not left else left.start)
        for owner, known in labels:
            for text in texts:
                if text.value not in known:
                    self.fail(f"{text.value!r} is no label of {owner.value}: {', '.join(known)}", text.start)

    def _value(self, node: Node, *, quantified: bool) -> None:
        """A node that must have a value."""
        if node.op in FUNCTIONS:
            for part in node.parts:
                if node.op == "count":
                    self.truth(part, counted=True)
                    continue
                self._value(part, quantified=len(node.parts) == 1)
                if self._labels(part) is not None or part.op == "text":
                    self.fail(f"{node.op} needs numbers", part.start)
                if part.op == "any":
                    self.fail(f"{node.op} takes all, not any", part.start)
        elif node.op in ("all", "any"):
            if not quantified:
                self.fail(f"{node.op} cannot stand here", node.start)
            if not any(labels is None for labels in self.kinds.values()):
                self.fail(f"{node.op} stands for the criteria with numbers, and there are none", node.start)
        elif node.op == "name":
            self._labels(node)
        elif node.op not in ("number", "text"):
            self.fail("a number or a criterion belongs here, not a comparison", node.start)

    def _labels(self, node: Node) -> Sequence[str] | None:
        if node.op != "name":
            return None
        key = str(node.value)
        if key not in self.kinds:
            near = get_close_matches(key, self.kinds, n=1)
            hint = f"; did you mean {near[0]}?" if near else f". There are: {', '.join(self.kinds)}"
            self.fail(f"there is no criterion {key!r}{hint}", node.start)
        return self.kinds[key]
