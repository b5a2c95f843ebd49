"""The first run without a key: a small local model and two checks judge shipped answers, some of them wrong.

The data is ours (`items.jsonl`, `pairs.jsonl`) and easy: it shows what a verdict is, and measures nobody. Without the
extra `local` there is no verdict at all. What the screen shows is in `cli/`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jury import sync
from jury.checks import exact_match, reference_recall
from jury.judge import JudgeSpec
from jury.pairwise import PairwiseJury, llm_jury_pairwise
from jury.pointwise import Jury, llm_jury
from jury.providers import registry
from jury.providers.local_model import QWEN, Progress
from jury.results import Comparison, PanelResult

MODEL = f"local/{QWEN.name}"
CRITERIA = "The answer is factually correct."
PAIR_CRITERIA = "The better response is right, and does what was asked."
ONE_OPINION = (
    "Both seats of {model} are one small model asked in two ways: one model asked several times is one opinion. A "
    "panel that can be trusted seats models of different families; this one shows how a verdict comes about."
)
_TIMEOUT_S = 600.0  # of a call's turn; a busy machine is slow, and a verdict late is better than none here
_IN_FLIGHT = 6  # items at once: enough to keep the model's slots busy, few enough for verdicts to come one by one


@dataclass(frozen=True, slots=True)
class Item:
    """A question with an answer to judge. `right`: what the answer is, by our own word; no judge sees it."""

    id: str
    question: str
    answer: str
    right: bool
    reference: str | None = None
    context: str | None = None

    def row(self, number: int) -> dict[str, Any]:
        """The arguments of `Jury.judge`."""
        return {
            "id": self.id,
            "input": self.question,
            "output": self.answer,
            "expected_output": self.reference,
            "context": self.context,
            "number": number,
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with two answers; `better` is A or B, by our own word."""

    id: str
    question: str
    a: str
    b: str
    better: str

    def row(self, number: int) -> dict[str, Any]:
        """The arguments of `PairwiseJury.compare`."""
        return {
            "id": self.id,
            "question": self.question,
            "response_a": self.a,
            "response_b": self.b,
            "number": number,
        }


@dataclass(frozen=True, slots=True)
class DemoRun:
    """What the demo found. `results` and `comparisons` stand in the order of `items` and `pairs`; times in seconds.

    `load_s` is the time to assemble and load the model, `judge_s` that of all verdicts.
    """

    model: str
    items: tuple[Item, ...]
    pairs: tuple[Pair, ...]
    results: tuple[PanelResult, ...]
    comparisons: tuple[Comparison, ...]
    load_s: float
    judge_s: float

    @property
    def caught(self) -> tuple[str, ...]:
        """The wrong answers that the panel failed, by id."""
        return self._where(right=False, passed=False)

    @property
    def missed(self) -> tuple[str, ...]:
        """The wrong answers that the panel passed."""
        return self._where(right=False, passed=True)

    @property
    def wronged(self) -> tuple[str, ...]:
        """The right answers that the panel failed."""
        return self._where(right=True, passed=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know to take the verdicts for what they are."""
        wrong = sum(not i.right for i in self.items)
        agreed = sum(c.winner == p.better for c, p in zip(self.comparisons, self.pairs, strict=True))
        passed = sum(r.passed is True for r in self.results)
        return (
            f"{wrong} of the {len(self.items)} answers are wrong: the panel failed {len(self.caught)} of them and "
            f"passed {len(self.missed)}; of the right ones it passed {passed - len(self.missed)} and failed "
            f"{len(self.wronged)}. Of the {len(self.pairs)} pairs it preferred the better answer in {agreed}.",
            ONE_OPINION.format(model=self.model),
        )

    def _where(self, *, right: bool, passed: bool) -> tuple[str, ...]:
        both = zip(self.items, self.results, strict=True)
        return tuple(i.id for i, r in both if i.right is right and r.passed is passed)


def items() -> tuple[Item, ...]:
    """The shipped items."""
    return tuple(Item(**row) for row in _rows("items.jsonl"))


def pairs() -> tuple[Pair, ...]:
    """The shipped pairs."""
    return tuple(Pair(**row) for row in _rows("pairs.jsonl"))


def panel(model: str = MODEL) -> Jury:
    """The jury of the demo: the model with reasons, the model in one word, and two checks that weigh half as much.

    An item without a reference and a context gives the checks nothing to do, so two votes are enough.
    """
    return llm_jury(
        name="demo",
        criteria=CRITERIA,
        judges=[
            _seat(model, "local: with reasons", "auto"),
            _seat(model, "local: one word", "one_token"),
            exact_match,
            reference_recall,
        ],
        weights={"exact_match": 0.5, "reference_recall": 0.5},
        min_successful_judges=2,
    )


def pair_panel(model: str = MODEL) -> PairwiseJury:
    """The jury for the pairs: the model alone, in both orders."""
    seat = _seat(model, "local: both orders", "auto")
    return llm_jury_pairwise(name="demo pairs", criteria=PAIR_CRITERIA, judges=[seat])


async def demo(
    *,
    model: str = MODEL,
    on_load: Progress | None = None,
    on_loaded: Callable[[str], None] | None = None,
    on_verdict: Callable[[PanelResult | Comparison], None] | None = None,
) -> DemoRun:
    """Assembles and loads the model, then judges all items and pairs.

    `on_load(done, total)` is called in another thread while the model's bytes are assembled, `on_loaded(name)` once it
    is ready, `on_verdict` after each verdict. Raises `MissingExtra`, whose message is one line with the command to
    install it, `ConfigError`, and `ProviderError` where memory is short.
    """
    start = time.monotonic()
    provider: Any = registry.provider("local")
    loaded = await provider.warm_up(model.partition("/")[2], on_load)
    if on_loaded:
        on_loaded(loaded)
    ready = time.monotonic()
    results = await _all(panel(model), items(), on_verdict)
    comparisons: list[Comparison] = []
    compare = pair_panel(model)
    async for comparison in compare.compare_many(p.row(n) for n, p in enumerate(pairs())):
        if on_verdict:
            on_verdict(comparison)
        comparisons.append(comparison)
    return DemoRun(
        model=f"local/{loaded}",
        items=items(),
        pairs=pairs(),
        results=results,
        comparisons=tuple(comparisons),
        load_s=ready - start,
        judge_s=time.monotonic() - ready,
    )


def run_demo(**options: Any) -> DemoRun:
    """`demo` without `await`; the same arguments."""
    return sync.run(demo(**options))


async def _all(
    jury: Jury, given: Sequence[Item], told: Callable[[PanelResult | Comparison], None] | None
) -> tuple[PanelResult, ...]:
    results: list[PanelResult] = []
    async for result in jury.judge_many((i.row(n) for n, i in enumerate(given)), in_flight=_IN_FLIGHT):
        if told:
            told(result)
        results.append(result)
    return tuple(results)


def _seat(model: str, name: str, method: str) -> JudgeSpec:
    return JudgeSpec(model, id=name, settings={"extra": {"method": method}, "timeout_s": _TIMEOUT_S})


def _rows(name: str) -> list[dict[str, Any]]:
    text = resources.files(__name__).joinpath(name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]
