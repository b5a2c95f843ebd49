"""CPU of rendering a judge's prompt, beside chevron itself: values of 2k, 20k and 200k characters.

    python -m benchmarks.render [--repeats 2000] [--json]

Two prompts. `plain` has four variables and two sections, without escaping; chevron renders the same text from the
string, and from its own token list. `shipped` is the shipped pointwise prompt, with what its namespace costs: once per
item, whatever the number of judges, the fence that no value contains included. Least of five rounds each; rounds
alternate, so that the ratios hold on a busy machine. Goal for `plain` at 2k: 15 us or less; stretch 4.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.measure import CRITERIA, cpu, finish, machine, show
from benchmarks.mock_provider import pin

GOAL_US = 15.0
STRETCH_US = 4.0
SIZES = (2_000, 20_000, 200_000)
ROUNDS = 5
PLAIN = """You judge one answer by the criteria.

# Criteria
{{{criteria}}}

# Question
{{{question}}}

# Answer
{{{answer}}}

{{#reference}}
# What a right answer looks like
{{{reference}}}

{{/reference}}
{{^context}}
There is no context: judge by what you know.
{{/context}}
"""


def _least_us(works: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Microseconds of one call of each, the least of the rounds."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            start = cpu()
            for _ in range(repeats):
                work()
            best[name] = min(best[name], (cpu() - start) / repeats * 1e6)
    return best


def _works(size: int) -> dict[str, Callable[[], object]]:
    import chevron
    from chevron.tokenizer import tokenize

    from jury import namespace, prompts
    from jury.data import DataPoint, Output
    from jury.judge import Prompt
    from jury.templates import Template

    answer = "Paris lies on the Seine. " * (size // 25)
    values = {
        "criteria": CRITERIA,
        "question": "What is the capital of France?",
        "answer": answer,
        "reference": "Paris",
        "context": "",
    }
    plain, tokens = Template(PLAIN), list(tokenize(PLAIN))
    if chevron.render(PLAIN, values) != plain.render(values):
        raise RuntimeError("chevron renders the prompt to another text: nothing to compare")
    shipped = Prompt(prompts.shipped("pointwise"))
    point = DataPoint(input=values["question"], expected_output="Paris")
    build = partial(namespace.pointwise, point, Output(answer), criteria=CRITERIA, wanted=shipped.wanted)
    return {
        "plain_us": partial(plain.render, values),
        "chevron_tokens_us": partial(chevron.render, tokens, values),
        "chevron_us": partial(chevron.render, PLAIN, values),
        "shipped_us": partial(shipped.user.render, build()),
        "namespace_us": build,
    }


def measure(repeats: int) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        found = _least_us(_works(size), repeats)
        rows.append({"characters": size, **found, "chevron_ratio": found["chevron_us"] / found["plain_us"]})
    return {"sizes": rows, "goal_us": GOAL_US, "stretch_us": STRETCH_US, "machine": machine("chevron")}


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU of rendering a judge's prompt.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=2000)
    options = parser.parse_args()
    pin(1)
    result = measure(options.repeats)
    if not options.json:
        columns = ("plain_us", "chevron_tokens_us", "chevron_us", "chevron_ratio", "shipped_us", "namespace_us")
        rows = [[f"{r['characters']:,}", *(f"{r[c]:.1f}" for c in columns)] for r in result["sizes"]]
        heads = ["characters", "plain us", "chevron tokens us", "chevron us", "ratio", "shipped us", "namespace us"]
        show(f"Rendering (goal for plain at 2,000: {GOAL_US:g} us, stretch {STRETCH_US:g})", heads, rows)
    finish(result, options.json)


if __name__ == "__main__":
    main()
