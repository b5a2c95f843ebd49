"""Is the new bot better than the old one? Every judge sees both orders; one that follows the slot counts for nothing.

    python examples/compare_two_bots.py examples/pairs.jsonl

Each line of the file: {"question": ..., "response_a": <old bot>, "response_b": <new bot>}.
"""

import json
import sys

from jury import llm_jury_pairwise
from jury.stats import wilson

if len(sys.argv) < 2:
    sys.exit(__doc__)

jury = llm_jury_pairwise(
    criteria="The better response solves the user's problem without a further question.",
    judges=["openai/gpt-5-mini", "anthropic/claude-haiku-4-5"],
)
with open(sys.argv[1], encoding="utf-8") as lines:
    comparisons = list(jury.compare_many_sync(json.loads(line) for line in lines if line.strip()))
for c in comparisons:
    flips = [v.judge for v in c.votes if v.flipped]
    print(c.item_id, c.winner, f"(changed sides with the order: {', '.join(flips)})" if flips else "")
decided = [c for c in comparisons if c.winner in ("A", "B")]
wins = sum(c.winner == "B" for c in decided)
if decided:
    rate = wilson(wins, len(decided))
    print(f"new bot wins {wins} of {len(decided)} decided pairs, 95% interval {rate.low:.0%} to {rate.high:.0%}")
print(f"{len(comparisons) - len(decided)} of {len(comparisons)} pairs: a tie or no verdict")
