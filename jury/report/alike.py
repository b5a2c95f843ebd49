"""Which reasons say the same thing: shared words, no model. Texts in, groups out.

Two reasons are alike by the Jaccard index of their words: words in both over words in either. A word is a run of three
letters or more, or of digits, in lower case, less words that say nothing (`_EMPTY`). Reasons are taken in their order;
each joins the first group whose first reason is alike by `ALIKE` or more, else it opens one. So the same reasons always
give the same groups; another order may give others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

ALIKE = 0.3
MOST_GROUPS = 200  # beyond, a reason that is like none stands in the last group
_LONGEST = 4000  # characters of a reason that are read
_WORD = re.compile(r"[^\W\d_]{3,}|\d+")
_EMPTY_WORDS = """
about after all also although and any are because been before being both but can cannot could did does doing
each for from had has have having her here him his how into its itself just may might more most must nor not
now off once one only other our out over own same shall she should some such than that the their them then
there these they this those through too under until upon very was were what when where which while who whom
why will with would you your answer answers output response reply text judge verdict criteria criterion
question item given however therefore thus
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())


def words_of(text: str) -> frozenset[str]:
    """The words of a reason that tell it from others.

    >>> sorted(words_of("The answer is wrong: it does not cite a source."))
    ['cite', 'source', 'wrong']
    """
    return frozenset(w for w in _WORD.findall(text[:_LONGEST].lower()) if w not in _EMPTY)


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """The Jaccard index, in [0, 1]; two reasons without words are alike.

    >>> likeness(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    if not a or not b:
        return 1.0 if not a and not b else 0.0
    both = len(a & b)
    return both / (len(a) + len(b) - both)


def alike(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two reasons belong together."""
    return likeness(a, b) >= ALIKE


def groups(reasons: Sequence[frozenset[str]]) -> list[list[int]]:
    """The positions of reasons that are alike, the largest group first."""
    made: list[list[int]] = []
    for at, reason in enumerate(reasons):
        home = next((g for g in made if alike(reasons[g[0]], reason)), None)
        if home is None and len(made) >= MOST_GROUPS:
            home = made[-1]
        if home is None:
            made.append([at])
        else:
            home.append(at)
    return sorted(made, key=len, reverse=True)


def shared(reasons: Iterable[frozenset[str]], most: int = 6) -> tuple[str, ...]:
    """The words that at least half of the reasons have, the most frequent first."""
    given = list(reasons)
    counts = Counter(word for reason in given for word in reason)
    usual = sorted((w for w, n in counts.items() if 2 * n >= len(given)), key=lambda w: (-counts[w], w))
    return tuple(usual[:most])


def typical(reasons: Sequence[frozenset[str]]) -> list[int]:
    """Positions by how much of what the reasons share each one says, the most typical first."""
    common = frozenset(shared(reasons, 30))
    return sorted(range(len(reasons)), key=lambda i: (-likeness(reasons[i], common), i))
