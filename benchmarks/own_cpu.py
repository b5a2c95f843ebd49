"""The framework's own CPU per judge call: the provider is a stub that returns a ready reply without waiting.

    python -m benchmarks.own_cpu [--runs 5] [--items 2000] [--profile] [--json]

What is left: namespace, rendering, scheduling, deadline, parsing, vote, panel result. Three judges share one prompt, as
panels do; the figure is CPU of the process divided by judge calls. Goal: 60 us or less.

A busy machine stretches microseconds up to twofold, so three figures stand beside it: the calmest 50 items of the run,
what one bare asyncio task with a timeout costs in the same process, and how many functions are called, which no
neighbour can change.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import json
import logging
import pstats
from typing import Any

from benchmarks.measure import CRITERIA, JUDGES, child, cpu, finish, items, machine, show, spread
from benchmarks.mock_provider import VERDICT, pin

GOAL_US = 60.0
PART = 50  # items


class Stub:
    """A provider that is always ready."""

    name = "stub"

    def __init__(self) -> None:
        from jury.results import Reply, Usage

        self.reply = Reply(json.dumps(VERDICT), model="mock-1", usage=Usage(1, 420, 38, cost=0.001))
        self.calls = 0

    def rungs(self, model: str, settings: Any = None) -> tuple[Any, ...]:
        return ("schema", "text")

    async def complete(self, request: Any) -> Any:
        self.calls += 1
        return self.reply


async def _judge(jury: Any, work: list[dict[str, str]]) -> None:
    async for result in jury.judge_many(work):
        assert result.passed is True, result.explanation


async def _task_us(count: int = 500) -> float:
    """CPU of one task that yields once within a timeout, the least of five rounds."""

    async def nothing() -> None:
        async with asyncio.timeout(90):
            await asyncio.sleep(0)

    best = float("inf")
    for _ in range(5):
        start = cpu()
        for _ in range(count):
            await asyncio.create_task(nothing())
        best = min(best, (cpu() - start) / count * 1e6)
    return best


def _jury() -> tuple[Any, Stub]:
    from jury import llm_jury
    from jury.judge import JudgeSpec

    logging.disable(logging.WARNING)  # three judges of one family, on purpose
    stub = Stub()
    jury = llm_jury(criteria=CRITERIA, judges=[JudgeSpec(f"stub/{j}", provider=stub) for j in JUDGES])
    logging.disable(logging.NOTSET)
    return jury, stub


def profile(count: int) -> pstats.Stats:
    """Where the calls go, for `count` items after a warm-up."""
    jury, _ = _jury()
    work = list(items(count))

    async def main() -> pstats.Stats:
        await _judge(jury, work[:50])
        profiler = cProfile.Profile()
        gc.collect()
        gc.disable()  # what others left behind to be tidied up is no call of this one
        try:
            profiler.enable()
            await _judge(jury, work)
            profiler.disable()
        finally:
            gc.enable()
        return pstats.Stats(profiler)

    return asyncio.run(main())


def function_calls(count: int = 50) -> float:
    """Functions called per judge call, those of C included: the same on every run of one Python version."""
    total: Any = profile(count)
    return total.total_calls / (count * len(JUDGES))


def run(count: int) -> dict[str, float]:
    """Judges `count` items in this process, after a warm-up."""
    jury, stub = _jury()
    work = list(items(count))
    parts = [work[at : at + PART] for at in range(0, count, PART)]

    async def main() -> tuple[list[float], float]:
        await _judge(jury, work[: min(100, count)])
        before = await _task_us()
        stub.calls = 0
        took: list[float] = []
        for part in parts:
            start = cpu()
            await _judge(jury, part)
            took.append((cpu() - start) / (len(part) * len(JUDGES)) * 1e6)
        return took, (before + await _task_us()) / 2

    took, task_us = asyncio.run(main())
    assert stub.calls == count * len(JUDGES)
    per_call = sum(us * len(part) for us, part in zip(took, parts, strict=True)) / count
    return {"us_per_call": per_call, "calmest_us": min(took), "task_us": task_us, "in_tasks": per_call / task_us}


def main() -> None:
    parser = argparse.ArgumentParser(description="The framework's own CPU per judge call.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--profile", action="store_true", help="one run under cProfile (its overhead included)")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once or options.profile:
        pin(1)
        if options.profile:
            profile(options.items).sort_stats("tottime").print_stats(30)
        else:
            print(json.dumps(run(options.items)))
        return
    runs = [child("benchmarks.own_cpu", "--once", f"--items={options.items}") for _ in range(options.runs)]
    result: dict[str, Any] = {name: spread([one[name] for one in runs]) for name in runs[0]}
    result |= {
        "function_calls": round(function_calls(), 1),
        "goal_us": GOAL_US,
        "items": options.items,
    }
    result["machine"] = machine("pydantic")
    if not options.json:
        row = ["{median:.1f} ({low:.1f}-{high:.1f})".format(**result[name]) for name in runs[0]]
        row.append(f"{result['function_calls']:.0f}")
        heads = ["us per call", "calmest 50 items", "us per bare task", "in bare tasks", "function calls", "goal"]
        title = f"Own CPU per judge call, client stubbed, {options.runs} runs of {options.items} items"
        show(title, heads, [[*row, f"{GOAL_US:g} us or less"]])
    finish(result, options.json)


if __name__ == "__main__":
    main()
