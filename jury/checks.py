"""Judges without a model: does an answer say what the reference says, by its letters alone. No network, no guess.

Each is a judge function for `llm_jury(judges=[exact_match, reference_recall])` and gives a boolean with the reason, or
None (an abstention) where there is nothing to compare with. They know no paraphrase: "CO2" is not "carbon dioxide".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SPACED = ("\u3040-\u30ff", "\u3400-\u9fff", "\u0e00-\u0e7f")  # kana, Chinese characters, Thai: no spaces between words
_UNSPACED = re.compile(f"[{''.join(_SPACED)}]")
# Words that say nothing about the facts; left in only where a text has no others.
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by for from had has have he her his i in is it its of on or our she so that "
        "the their there they this to was we were which will with you your",
    )
)
RECALL = 0.6  # the share of words from which `reference_recall` passes


def normalised(text: str) -> str:
    """The text as `exact_match` compares it: compatibility forms, letter case, outer marks and white space folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" .,;:!?\"'`“”‘’()[]*_")


def words(text: str) -> list[str]:
    """The words that carry meaning, folded, in order. A script without spaces gives its characters."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    found: list[str] = []
    for word in _WORD.findall(folded):
        found.extend(word if _UNSPACED.search(word) else (word.removesuffix("'s"),))
    return [w for w in found if w not in _EMPTY] or found


def recall(text: str, reference: str) -> tuple[float, list[str]]:
    """The share of the reference's different words that the text holds (0 to 1), and those it lacks.

    A reference without words is held by every text: 1.0.
    """
    held = set(words(text))
    wanted = list(dict.fromkeys(words(reference)))
    missing = [w for w in wanted if w not in held]
    return (1.0 if not wanted else 1 - len(missing) / len(wanted)), missing


def exact_match(output: str, expected_output: str = "") -> tuple[bool, str] | None:
    """True if the output is the reference, letter case, white space and outer marks apart. None without a reference."""
    if not expected_output.strip():
        return None
    same = normalised(output) == normalised(expected_output)
    return same, "the reference, word for word" if same else f"not word for word {_shown(expected_output)}"


def reference_recall(output: str, expected_output: str = "", data: Any = None) -> tuple[bool, str] | None:
    """True if the output holds at least 60% of the reference's words. None where there is nothing to compare with.

    Without a reference: true if 60% of the output's own words stand in the item's `context`.
    """
    context = getattr(data, "context", None) or ""
    if expected_output.strip():
        share, missing = recall(output, expected_output)
        where = "of the reference's words"
    elif context.strip():
        share, missing = recall(context, output)
        where = "of its words stand in the context"
    else:
        return None
    lacking = f"; not found: {_listed(missing)}" if missing else ""
    return share >= RECALL, f"{share:.0%} {where}{lacking}"


def _listed(found: Sequence[str], most: int = 5) -> str:
    return ", ".join(found[:most]) + (", ..." if len(found) > most else "")


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return f"“{text}”" if len(text) <= 60 else f"“{text[:57]}...”"
