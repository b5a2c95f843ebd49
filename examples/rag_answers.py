"""Answers of a RAG assistant beside what it retrieved: a rubric whose gate no good style can make up for.

    python examples/rag_answers.py examples/rag.jsonl

Each line of the file: {"input": ..., "output": ..., "context": ...}.
"""

import json
import sys

from jury import Criterion, Rubric, llm_jury, summarize

if len(sys.argv) < 2:
    sys.exit(__doc__)

RUBRIC = Rubric(
    [
        Criterion("grounded", "Does every claim of the answer stand in the context?", scale="0/1", gate=1),
        Criterion("complete", "Does it say all of the context that the question asks for?", scale="1-5"),
        Criterion("short", "Does it hold nothing that was not asked?", scale="0/1"),
    ],
    pass_rule="complete >= 4 and short >= 1",
    name="rag",
    task="an assistant that answers from retrieved passages alone",
)

jury = llm_jury(rubric=RUBRIC, judges=["openai/gpt-5-mini", "anthropic/claude-haiku-4-5"])
with open(sys.argv[1], encoding="utf-8") as lines:
    results = list(jury.judge_many_sync(json.loads(line) for line in lines if line.strip()))
for result in results:
    print(result.item_id, "passed" if result.passed else result.status, "-", result.explanation)
summary = summarize(results)
print(f"pass rate {summary.pass_rate}, coverage {summary.coverage}")
