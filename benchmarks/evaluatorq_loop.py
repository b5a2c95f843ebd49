"""The same work as `raw_loop.py` by the `llm_jury` of evaluatorq, where an interpreter has it. Prints one JSON line.

It runs under that interpreter, so it imports nothing of `jury`. Its default ceiling of ten calls in flight is lifted.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from benchmarks.measure import CRITERIA, JUDGES, cpu, items, loop_parser, peak_mb
from benchmarks.mock_provider import pin
from benchmarks.raw_loop import client


async def run(scorer: Any, count: int, at_once: int) -> int:
    """How many of `count` items the panel passed."""
    from evaluatorq import DataPoint  # pyright: ignore[reportMissingImports]

    work = items(count)
    passed = 0

    async def worker() -> None:
        nonlocal passed
        for item in work:
            data = DataPoint(inputs={"input": item["input"]}, expected_output=item["expected_output"])
            result = await scorer({"data": data, "output": item["output"]})
            passed += getattr(result, "pass_", None) is True

    await asyncio.gather(*(worker() for _ in range(at_once)))
    return passed


async def main() -> None:
    options = loop_parser("evaluatorq's llm_jury.").parse_args()
    pin(1)
    from evaluatorq.common.llm_limit import llm_concurrency_limit  # pyright: ignore[reportMissingImports]
    from evaluatorq.llm_jury import llm_jury  # pyright: ignore[reportMissingImports]

    asked = client(options.url, options.transport)
    scorer = llm_jury(name="capital", criteria=CRITERIA, judges=list(JUDGES), temperature=0.1, client=asked)["scorer"]
    at_once = -(-options.in_flight // len(JUDGES))
    with llm_concurrency_limit(options.in_flight):
        await run(scorer, options.warm, at_once)
        start = cpu()
        passed = await run(scorer, options.items, at_once)
        used = cpu() - start
    assert passed == options.items, f"{passed} of {options.items} items passed"
    print(json.dumps({"calls": options.items * len(JUDGES), "cpu_s": used, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    asyncio.run(main())
