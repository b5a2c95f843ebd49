"""The same work as `raw_loop.py` by a whole jury: templates, seats, deadlines, parsing, votes, a result per item.

Prints one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from typing import Any

from benchmarks.measure import CRITERIA, JUDGES, cpu, items, loop_parser, peak_mb
from benchmarks.mock_provider import pin


async def run(jury: Any, count: int) -> int:
    """How many of `count` items times the judges said yes."""
    yes = 0
    async for result in jury.judge_many(items(count)):
        assert result.passed is True, result.explanation
        yes += sum(vote.value is True for vote in result.votes)
    return yes


async def main() -> None:
    options = loop_parser("A jury of three judges.").parse_args()
    pin(1)
    os.environ.update(OPENAI_API_KEY="mock", OPENAI_BASE_URL=f"{options.url}/v1")
    os.environ.update(ANTHROPIC_API_KEY="mock", ANTHROPIC_BASE_URL=options.url)
    os.environ["JURY_TRANSPORT"] = "aiohttp" if options.transport == "aiohttp" else "httpx"
    logging.disable(logging.WARNING)  # three judges of one family, on purpose
    from jury import llm_jury

    provider = "anthropic" if options.api == "messages" else "openai"
    jury = llm_jury(criteria=CRITERIA, judges=[f"{provider}/{j}" for j in JUDGES], max_concurrency=options.in_flight)
    await run(jury, options.warm)
    start = cpu()
    yes = await run(jury, options.items)
    used = cpu() - start
    calls = options.items * len(JUDGES)
    assert yes == calls, f"{yes} of {calls} verdicts are true"
    print(json.dumps({"calls": calls, "cpu_s": used, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    asyncio.run(main())
