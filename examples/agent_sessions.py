"""What did an agent do? Judges read the whole session; what code can tell exactly, code tells.

python examples/agent_sessions.py examples/session.jsonl
"""

import sys

from jury import code_check, session_jury

if len(sys.argv) < 2:
    sys.exit(__doc__)

RULES = "1. Waive a fee only up to 5 EUR.\n2. Never ask for a password."

jury = session_jury(
    ["task-completion", "honest-reporting", "policy"],
    context={"policy": RULES},
    judges=["openai/gpt-5-mini", "anthropic/claude-haiku-4-5"],
    checks=[
        code_check("no failed tools", lambda s: sum(e.is_error is True for e in s.events), passes=lambda n: n == 0)
    ],
)
report = jury.judge_sync(sys.argv[1])
print("session:", report.value)
for criterion in report.criteria:
    print(f"  {criterion.key}: {criterion.value} - {criterion.explanation}")
