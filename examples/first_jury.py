"""A panel of two models and a function over a file of answers.

    OPENAI_API_KEY=... ANTHROPIC_API_KEY=... python examples/first_jury.py answers.jsonl

Each line of the file: {"input": ..., "output": ..., "expected_output": ...}.
"""

import json
import sys

from jury import llm_jury, summarize

if len(sys.argv) < 2:
    sys.exit(__doc__)


def names_the_reference(output: str, expected_output: str) -> tuple[bool, str]:
    return expected_output.casefold() in output.casefold(), f"looked for {expected_output!r}"


jury = llm_jury(
    criteria="The answer is factually correct and answers what was asked.",
    judges=["openai/gpt-5-mini", "anthropic/claude-haiku-4-5", names_the_reference],
    stop="decided",
)
with open(sys.argv[1], encoding="utf-8") as lines:
    results = list(jury.judge_many_sync(json.loads(line) for line in lines if line.strip()))
for result in results:
    print(result.value, [(vote.judge, vote.value, vote.error) for vote in result.votes])
summary = summarize(results)
cost = summary.to_dict()["cost"]
print(f"pass rate {summary.pass_rate}, coverage {summary.coverage}, {summary.calls} calls, cost {cost}")
