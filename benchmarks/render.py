"""CPU of rendering the shipped pointwise prompt, compiled once, with a judged answer of 2k, 20k and 200k characters.

    python -m benchmarks.render [--repeats 2000] [--json]

Beside it, what building the namespace costs (once per item, whatever the number of judges). Least of five rounds. Goal:
15 us or less for 2k; stretch 4.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.measure import CRITERIA, cpu, finish, machine, show
from benchmarks.mock_provider import pin

GOAL_US = 15.0


def _least_us(work: Callable[[], object], repeats: int) -> float:
    def once() -> float:
        start = cpu()
        for _ in range(repeats):
            work()
        return (cpu() - start) / repeats * 1e6

    return min(once() for _ in range(5))


def measure(repeats: int) -> dict[str, Any]:
    from jury import namespace, prompts
    from jury.data import DataPoint, Output
    from jury.judge import Prompt

    prompt = Prompt(prompts.shipped("pointwise"))
    rows: list[dict[str, Any]] = []
    for size in (2_000, 20_000, 200_000):
        data = DataPoint(input="What is the capital of France?", expected_output="Paris")
        output = Output("Paris lies on the Seine. "[:25] * (size // 25))
        build = partial(namespace.pointwise, data, output, criteria=CRITERIA, wanted=prompt.wanted)
        rows.append(
            {
                "characters": len(output.text),
                "render_us": _least_us(partial(prompt.user.render, build()), repeats),
                "namespace_us": _least_us(build, repeats),
            }
        )
    return {"sizes": rows, "goal_us": GOAL_US, "machine": machine("chevron")}


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU of rendering the shipped prompt.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=2000)
    options = parser.parse_args()
    pin(1)
    result = measure(options.repeats)
    if not options.json:
        rows = [[f"{r['characters']:,}", f"{r['render_us']:.1f}", f"{r['namespace_us']:.1f}"] for r in result["sizes"]]
        heads = ["characters of the answer", "render us", "namespace us"]
        show(f"Rendering the shipped prompt (goal at 2,000: {GOAL_US:g} us)", heads, rows)
    finish(result, options.json)


if __name__ == "__main__":
    main()
