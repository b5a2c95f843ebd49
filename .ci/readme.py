"""Prints a command of the README, so that CI runs what the README says: `python3 .ci/readme.py demo|test`.

The README marks each with a comment line before its block: `<!-- command: test -->`.
"""

import re
import sys
from pathlib import Path

text = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
found = re.search(rf"<!-- command: {re.escape(sys.argv[1])} -->\s*```[a-z]*\n(.*?)\n```", text, re.DOTALL)
if not found:
    sys.exit(f"README.md has no block marked `<!-- command: {sys.argv[1]} -->`")
print(found.group(1))
