"""What a person is asked about an item, and how their answer becomes the value of a label. Knows no page and no file.

One question for most runs; one a criterion for rubrics and sessions that were judged by several. `Asked.read` takes
what the page sends and gives `value`, `values` and `status` of a `Label`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from jury.errors import ConfigError, ReplyError
from jury.rubrics.criterion import Criterion
from jury.rubrics.rubric import Rubric
from jury.scales import Boolean, Labels, Numeric, Scale, Value
from jury.sessions.votes import overall
from jury.store import Run, RunManifest

NA = "NA"
NA_KEY = "n"
_KEYS = "123456789abcdefghijklmopqrstvxyz"  # n, u and w have other work
_NA_HINT = "does not apply, or cannot be told"
_SIDES = {"ab": {"first": "A", "second": "B"}, "ba": {"first": "B", "second": "A"}}


@dataclass(frozen=True, slots=True)
class Choice:
    """One button: the key that presses it (empty: none), its text, what it means, and the value it stands for."""

    hotkey: str
    text: str
    value: Value
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: one of `choices`, or a number on `scale`; NA is always an answer.

    `key` is the criterion, empty where the item is asked about as a whole. `na`: the scale's own label for it.
    """

    key: str
    title: str
    text: str = ""
    choices: tuple[Choice, ...] = ()
    scale: Numeric | None = None
    na: str | None = None

    def read(self, answer: Any) -> Value | None:
        """The value of an answer, None for NA. Raises `ConfigError` for what is no answer."""
        given = mapping(answer)
        if given.get("na") is True:
            return None
        choice = given.get("choice")
        if isinstance(choice, int) and not isinstance(choice, bool) and 0 <= choice < len(self.choices):
            return self.choices[choice].value
        if self.scale is not None and "number" in given:
            try:
                return self.scale.read(given["number"])
            except ReplyError as error:
                raise ConfigError(f"{self.title}: {error.detail}") from None
        raise ConfigError(f"{self.title}: no answer")

    def answer(self, value: Any) -> dict[str, Any] | None:
        """The answer that gave this value, for a page that shows it again; None where there is none."""
        if value in (None, NA, self.na):
            return {"na": True}
        for at, choice in enumerate(self.choices):
            if choice.value == value and isinstance(choice.value, bool) == isinstance(value, bool):
                return {"choice": at}
        return {"number": value} if self.scale is not None else None

    def to_dict(self) -> dict[str, Any]:
        """For the page. Values stay here: a page of pairs must not know which side is which."""
        made: dict[str, Any] = {"key": self.key, "title": self.title, "text": self.text}
        made["choices"] = [{"key": c.hotkey, "text": c.text, "hint": c.hint} for c in self.choices]
        made["na"] = {"key": NA_KEY, "text": self.na or NA, "hint": _NA_HINT}
        if self.scale is not None:
            made["low"], made["high"] = self.scale.low, self.scale.high
        return made


@dataclass(frozen=True, slots=True)
class Read:
    """The part of a `Label` that an answer decides."""

    value: Value | None
    values: Mapping[str, Any]
    status: Literal["", "na"]


@dataclass(frozen=True, slots=True)
class Asked:
    """All questions about an item of a run, and what their answers come to."""

    kind: str
    questions: tuple[Question, ...]
    rubric: Rubric | None = None

    @property
    def several(self) -> bool:
        return bool(self.questions[0].key)

    def read(self, answers: Any, shown: str | None = None) -> Read:
        """Answers by question key. Raises `ConfigError` naming the question that has none."""
        given = mapping(answers)
        found = {q.key: q.read(given.get(q.key)) for q in self.questions}
        if not self.several:
            value, question = found[""], self.questions[0]
            if value is None and question.na is None:
                return Read(None, {}, "na")
            value = question.na if value is None else value
            return Read(_SIDES.get(shown or "", {}).get(str(value), value), {}, "")
        values = {key: NA if value is None else value for key, value in found.items()}
        if self.rubric is not None:
            whole = self.rubric.decide(found, [key for key, value in found.items() if value is None]).passed
        else:
            whole = overall([str(v) for v in values.values()])[0]
        return Read(whole, values, "na" if all(v is None for v in found.values()) and whole is None else "")

    def answers(self, value: Any, values: Mapping[str, Any], shown: str | None) -> dict[str, Any]:
        """The answers that gave a label, by question key."""
        if self.several:
            return {q.key: q.answer(values.get(q.key)) for q in self.questions}
        sides = {side: place for place, side in _SIDES.get(shown or "", {}).items()}
        return {"": self.questions[0].answer(sides.get(str(value), value))}


def mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object as one; anything else as an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else dict[str, Any]()


def asked_of(run: Run) -> Asked:
    """What people are asked about the items of a run. Raises `DataError` where its scale cannot be read."""
    manifest = run.manifest
    if run.kind == "pairwise":
        return Asked(run.kind, (_PAIR,))
    if run.kind == "rubric":
        rubric = Rubric.from_dict(mapping(manifest.spec.get("rubric")))
        return Asked(run.kind, tuple(_of_criterion(c) for c in rubric.criteria), rubric)
    criteria = session_criteria(manifest) if run.kind == "session" else []
    if len(criteria) > 1:
        return Asked(run.kind, tuple(_of_scale(run.scale, key, _spoken(key)) for key in criteria))
    return Asked(run.kind, (_of_scale(run.scale, "", _spoken(criteria[0]) if criteria else "Verdict"),))


def session_criteria(manifest: RunManifest) -> list[str]:
    """The criteria that judges were asked about; code checks are not asked of people."""
    return list(mapping(manifest.spec.get("criteria")))


_PAIR = Question(
    "",
    "Which is better?",
    choices=(
        Choice("1", "Answer 1", "first"),
        Choice("2", "Answer 2", "second"),
        Choice("3", "Tie", "tie", "neither is better"),
    ),
)


def _of_scale(scale: Scale, key: str, title: str) -> Question:
    if isinstance(scale, Boolean):
        choices = (Choice("1", "Pass", True, scale.true_means), Choice("2", "Fail", False, scale.false_means))
        return Question(key, title, choices=choices)
    if isinstance(scale, Labels):
        names = [str(name) for name in scale.labels if name != scale.na]
        hints = scale.descriptions
        choices = tuple(
            Choice(_KEYS[at] if at < len(_KEYS) else "", name, name, hints.get(name, ""))
            for at, name in enumerate(names)
        )
        return Question(key, title, choices=choices, na=scale.na)
    return Question(key, title, f"{scale.low:g} to {scale.high:g}", _levels(scale), scale)


def _spoken(key: str) -> str:
    return key.replace("_", " ").replace("-", " ")


def _levels(scale: Numeric) -> tuple[Choice, ...]:
    """The named steps of a scale; they have no keys, since the digits enter the number."""
    if not scale.levels:
        return ()
    step = (scale.high - scale.low) / (len(scale.levels) - 1)
    places = [scale.low + at * step for at in range(len(scale.levels))]
    return tuple(Choice("", name, place, f"{place:g}") for place, name in zip(places, scale.levels, strict=True))


def _of_criterion(criterion: Criterion) -> Question:
    scale, key = criterion.measure, criterion.key
    title, anchors = _spoken(key), criterion.anchors
    if isinstance(scale, Boolean):
        keys: Sequence[str] = ("1", "0") if criterion.zero_one else ("1", "2")
        pair = zip(keys, ("Yes", "No"), (True, False), strict=True)
        choices = tuple(Choice(k, text, value, anchors.get(int(value), "")) for k, text, value in pair)
        return Question(key, title, criterion.question, choices)
    if isinstance(scale, Labels):
        found = _of_scale(scale, key, title)
        named = tuple(Choice(c.hotkey, c.text, c.value, anchors.get(c.value, c.hint)) for c in found.choices)
        return Question(key, title, criterion.question, named, na=scale.na)
    whole = scale.low.is_integer() and scale.high.is_integer() if isinstance(scale.low, float) else True
    if whole and scale.low >= 0 and scale.high <= 9:
        points = range(int(scale.low), int(scale.high) + 1)
        choices = tuple(Choice(str(n), str(n), float(n), anchors.get(float(n), "")) for n in points)
        return Question(key, title, criterion.question, choices)
    told = f"{criterion.question} ({scale.low:g} to {scale.high:g})".strip()
    return Question(key, title, told, _levels(scale), scale)
