"""Several criteria and a pass rule: `Rubric`, with `Criterion` and `PassRule`. Data in; prompt text and decision out.

The decision is computed from the scores; what a judge itself says about passing is only compared with it. How replies
become scores is in `reply.py`, the language of the rule in `passrule.py`. Asks no model.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from jury.config import read_yaml
from jury.errors import ConfigError
from jury.rubrics.criterion import Criterion
from jury.rubrics.passrule import PassRule
from jury.rubrics.rule_parser import Node, walk
from jury.rubrics.rule_truth import SKIP, Score, Scores, reachable, truth
from jury.scales import Boolean, Value

log = logging.getLogger("jury.rubrics.rubric")

Shape = Literal["plain", "rubric", "critic"]
SHAPES: tuple[Shape, ...] = ("plain", "rubric", "critic")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decision:
    """What the pass rule makes of scores. `passed` is None where a missing score could change it, or without a rule.

    `breached` are the clauses that failed, each with the scores it names; `open` those that could not be settled.
    """

    passed: bool | None
    breached: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rubric:
    """Criteria, and when an item passes.

    `pass_rule` is a text in the rule language; every gate of a criterion holds beside it. With neither, an item passes
    if every criterion passes by its own scale. `task` says what the system under test is for, `reference` what is true.
    `na`: a clause about a criterion that does not apply leaves the item open (`"inconclusive"`) or does not count
    (`"skip"`). `shape`: how the reply of a judge is laid out (`reply.py`). Raises `ConfigError`; a rule that can
    never pass, or never fail, is logged as a warning and named in `warnings`.
    """

    criteria: Sequence[Criterion]
    pass_rule: str | None = None
    name: str = "rubric"
    task: str = ""
    reference: str = ""
    na: Literal["inconclusive", "skip"] = "inconclusive"
    shape: Shape = "plain"
    rules: tuple[PassRule, ...] = field(default=(), init=False, repr=False, compare=False)
    warnings: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        criteria = tuple(self.criteria)
        if not criteria or not all(isinstance(c, Criterion) for c in criteria):
            raise ConfigError(f"{self.name}: criteria must be a list of at least one Criterion")
        folded: dict[str, str] = {}
        for key in (c.key for c in criteria):
            if key.casefold() in folded:
                raise ConfigError(f"{self.name}: the criterion {key!r} occurs twice")
            folded[key.casefold()] = key
        if self.na not in ("inconclusive", "skip"):
            raise ConfigError(f"{self.name}: na is 'inconclusive' or 'skip', got {self.na!r}")
        if self.shape not in SHAPES:
            raise ConfigError(f"{self.name}: shape is one of {', '.join(SHAPES)}, got {self.shape!r}")
        object.__setattr__(self, "criteria", criteria)
        object.__setattr__(self, "rules", tuple(self._rules()))
        object.__setattr__(self, "warnings", tuple(self._warnings()))
        for text in self.warnings:
            log.warning("%s", text)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, name: str = "rubric") -> Rubric:
        """A rubric from data: its fields, `criteria` as a list of mappings with a `key`, or as a mapping by key."""
        given = dict(data)
        label = str(given.get("name", name))
        _known(given, ("criteria", "pass_rule", "name", "task", "reference", "na", "shape"), label)
        found = given.pop("criteria", None)
        if isinstance(found, Mapping):
            found = [{"key": k, **_body(v, k)} for k, v in cast("Mapping[str, Any]", found).items()]
        if not isinstance(found, Sequence) or isinstance(found, str):
            raise ConfigError(f"{label}: criteria must be a list or a mapping")
        criteria: list[Criterion] = []
        for number, item in enumerate(cast("Sequence[Any]", found), 1):
            body = _body(item, number)
            _known(
                body, ("key", "question", "scale", "anchors", "weight", "gate", "na"), f"{label}, criterion {number}"
            )
            if "key" not in body:
                raise ConfigError(f"{label}, criterion {number}: the key is missing")
            criteria.append(Criterion(**body))
        fields: dict[str, Any] = {**given, "name": label}
        return cls(criteria, **fields)

    @classmethod
    def from_file(cls, path: str | Path) -> Rubric:
        """A rubric from a YAML or JSON file. Raises `ConfigError` naming the file, and the place where it is broken."""
        file = Path(path)
        data: Any = read_yaml(file)
        if not isinstance(data, Mapping):
            raise ConfigError(f"{file}: a rubric is a mapping with criteria")
        return cls.from_dict(cast("Mapping[str, Any]", data), name=file.stem)

    def to_dict(self) -> dict[str, Any]:
        """As data that `from_dict` reads; what is empty is left out."""
        made = {name: getattr(self, name) for name in ("name", "task", "reference", "pass_rule", "na", "shape")}
        return {**{k: v for k, v in made.items() if v}, "criteria": [c.to_dict() for c in self.criteria]}

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(c.key for c in self.criteria)

    def __getitem__(self, key: str) -> Criterion:
        for criterion in self.criteria:
            if criterion.key == key:
                return criterion
        near = get_close_matches(key, self.keys, n=1)
        raise KeyError(f"no criterion {key!r}" + (f"; did you mean {near[0]}?" if near else ""))

    def decide(self, values: Mapping[str, Value | None], na: Sequence[str] | frozenset[str] = ()) -> Decision:
        """Gates and rule over scores by key. A key that is missing or None is unknown, unless it is in `na`."""
        scores = self._scores({k: v for k, v in values.items() if v is not None}, frozenset(na))
        breached: list[str] = []
        unsettled: list[str] = []
        found: list[Any] = []
        for rule in self.rules:
            for clause in rule.clauses:
                outcome = truth(clause, scores)
                found.append(outcome)
                if outcome is False:
                    breached.append(self._explained(rule, clause, scores))
                elif outcome is None:
                    unsettled.append(self._explained(rule, clause, scores))
        counted = [outcome for outcome in found if outcome is not SKIP]
        passed = False if breached else True if counted and not unsettled else None
        return Decision(passed, tuple(dict.fromkeys(breached)), tuple(dict.fromkeys(unsettled)))

    def weighted_mean(self, values: Mapping[str, Value | None]) -> float | None:
        """The mean of the scores with numbers, each on 0 to 1 of its scale, by weight; None without any."""
        parts: list[tuple[float, float]] = []
        for criterion in self.criteria:
            value = values.get(criterion.key)
            if criterion.labels is None and value is not None and not isinstance(value, str):
                low, high = criterion.range
                parts.append(((float(value) - low) / (high - low), criterion.weight))
        whole = sum(weight for _, weight in parts)
        return sum(value * weight for value, weight in parts) / whole if whole > 0 else None

    def text(self, number: int = 0) -> str:
        """The rubric as a judge reads it: task, criteria, and the rule where the judge is to apply it itself.

        `number` chooses the order (`order`).
        """
        described = [self[key].describe(self.labels(key, number)) for key in self.order(number)]
        parts = [f"What the answers are for: {self.task}"] if self.task else []
        parts.append("\n".join(f"{place}. {text}" for place, text in enumerate(described, 1)))
        if self.shape != "plain" and self.rules:
            parts.append(f"An answer passes if: {self.rule_text}")
        return "\n\n".join(parts)

    @property
    def rule_text(self) -> str:
        """Gates and rule as one text of the rule language."""
        texts = [(rule.source(clause), clause.op) for rule in self.rules for clause in rule.clauses]
        return " and ".join(f"({text})" if op == "or" and not text.startswith("(") else text for text, op in texts)

    def namespace(self, number: int = 0) -> dict[str, Any]:
        """What a rubric adds to the names of a prompt: `rubric`, and its reference material as `context`."""
        return {"rubric": self.text(number), **({"context": self.reference} if self.reference else {})}

    def order(self, number: int) -> tuple[str, ...]:
        """The order of the criteria in ask `number`, counted over repetitions and seats; 0 is the rubric's own."""
        return balanced(self.keys, number)

    def labels(self, key: str, number: int) -> tuple[str, ...] | None:
        """The order of a criterion's options in ask `number`; None without labels."""
        labels = self[key].labels
        return None if labels is None else balanced(labels, number)

    def _rules(self) -> list[PassRule]:
        kinds = {c.key: c.labels for c in self.criteria}
        flags = [c.key for c in self.criteria if isinstance(c.measure, Boolean)]
        rules = [PassRule(t, f"{self.name}, gate of {c.key}") for c in self.criteria if (t := c.gate_text)]
        if self.pass_rule is not None:
            rules.append(PassRule(self.pass_rule, f"{self.name}, pass rule"))
        if not rules:
            texts = [text for c in self.criteria if (text := c.default_text)]
            rules = [PassRule(text, self.name) for text in texts]
        for rule in rules:
            rule.check(kinds, flags)
        return rules

    def _scores(self, values: Mapping[str, Value], na: frozenset[str]) -> Scores:
        return Scores(
            values={k: v if isinstance(v, str) else float(v) for k, v in values.items()},
            ranges={c.key: c.range for c in self.criteria if c.labels is None},
            weights={c.key: c.weight for c in self.criteria},
            na=na,
            skip_na=self.na == "skip",
        )

    def _explained(self, rule: PassRule, clause: Node, scores: Scores) -> str:
        named = [str(n.value) for n in walk(clause) if n.op == "name"]
        if any(n.op in ("all", "any") for n in walk(clause)):
            named += scores.ranges
        told = [f"{k} {_shown(scores.values.get(k), k in scores.na)}" for k in dict.fromkeys(named)]
        return f"{rule.source(clause)} ({', '.join(told)})" if told else rule.source(clause)

    def _warnings(self) -> list[str]:
        if not self.rules:
            return []
        root = Node("and", tuple(clause for rule in self.rules for clause in rule.clauses))
        uses_all = any(rule.uses_all for rule in self.rules)
        named = {name for rule in self.rules for name in rule.names}
        numbers = sorted({n for rule in self.rules for n in rule.numbers})
        options = {c.key: _options(c, numbers) for c in self.criteria if c.key in named or (uses_all and not c.labels)}
        passes, fails = reachable(root, options, self._scores({}, frozenset()))
        found = [] if passes else [f"{self.name}: no scores can pass this rubric"]
        return found if fails else [*found, f"{self.name}: no scores can fail this rubric"]


def balanced(items: Sequence[T], number: int) -> tuple[T, ...]:
    """Order `number` of a balanced series: over every `len(items)` asks, each item stands once in each place.

    The rows are shifted copies of 0, 1, n-1, 2, n-2, ... (a Williams design for an even number of items), put so that
    order 0 is the given one; an item does not always follow the same other item.
    """
    count = len(items)
    zigzag = [0, *((step + 1) // 2 if step % 2 else count - step // 2 for step in range(1, count))]
    row = [(place + number) % count for place in zigzag]
    rank = {place: at for at, place in enumerate(zigzag)}
    return tuple(items[rank[place]] for place in row)


def _options(criterion: Criterion, numbers: Sequence[float]) -> list[Score]:
    """Scores between which a rule can tell: the ends, the rule's numbers and what lies beside them; or the labels."""
    if criterion.labels is not None:
        return list(criterion.labels)
    low, high = criterion.range
    if isinstance(criterion.measure, Boolean):
        return [0.0, 1.0]
    near = (high - low) / 1000
    beside = {v for n in numbers for v in (n - near, n, n + near) if low < v < high}
    return [low, *sorted(beside), high]


def _shown(value: Score | None, not_applicable: bool) -> str:
    if value is None:
        return "is not applicable" if not_applicable else "has no verdict"
    return f"is {value if isinstance(value, str) else format(value, 'g')}"


def _body(item: Any, place: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return {"question": item}
    if not isinstance(item, Mapping):
        raise ConfigError(f"criterion {place}: expected a mapping, got {item!r:.60}")
    return dict(cast("Mapping[str, Any]", item))


def _known(given: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    for name in given:
        if name not in names:
            near = get_close_matches(str(name), names, n=1)
            hint = f"; did you mean {near[0]}?" if near else f". There are: {', '.join(names)}"
            raise ConfigError(f"{where}: unknown field {name!r}{hint}")
