"""Which reasons say the same thing: shared words, no model. Texts in, groups out.

Two reasons are alike by the Jaccard index of their words: words in both over words in either. A word is a run of three
letters or more in lower case, without its ending (`cited`, `cites` and `citing` are one), less words that say nothing
(`_EMPTY`); a caller also takes away the words of the judged texts, since what an item is about is not why it failed.
Reasons are taken in their order; each joins the group whose first `FIRST` reasons it is most like, on average, if that
is `ALIKE` or more, else it opens one. So the same reasons always give the same groups; another order may give others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

ALIKE = 0.15
FIRST = 8
MOST_GROUPS = 100  # beyond, a reason that is like none is in no group
_LONGEST = 4000  # characters of a text that are read
_WORD = re.compile(r"[^\W\d_]{3,}")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s", "e")
_EMPTY_WORDS = """
about after all also although and any are because been before being both but can cannot could did does doing
each for from had has have having her here him his how into its itself just may might more most must nor not
now off once one only other our out over own same shall she should some such than that the their them then
there these they this those through too under until upon very was were what when where which while who whom
why will with would you your answer answers output response reply text judge verdict criteria criterion
question item given however therefore thus
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())


def stem(word: str) -> str:
    """A word without its ending; at least three letters are left. English endings: other languages keep theirs.

    >>> [stem(w) for w in ("cited", "cites", "citing", "citations", "fee")]
    ['cit', 'cit', 'cit', 'cit', 'fee']
    """
    return next((word[: -len(e)] for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 3), word)


def words_of(text: str) -> frozenset[str]:
    """The words of a text that tell it from others, without their endings.

    >>> sorted(words_of("The answer is wrong: it does not cite a source."))
    ['cit', 'sourc', 'wrong']
    """
    return frozenset(stem(w) for w in _words(text))


def spelled(stems: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """The words of these texts that have these stems, each as it is written most often."""
    counts = Counter(w for text in texts for w in _words(text))
    written: dict[str, str] = {}
    for word, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        written.setdefault(stem(word), word)
    return tuple(written.get(s, s) for s in stems)


def _words(text: str) -> list[str]:
    return [w for w in _WORD.findall(text[:_LONGEST].lower()) if w not in _EMPTY]


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """The Jaccard index, in [0, 1]; two reasons without words are alike.

    >>> likeness(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    if not a or not b:
        return 1.0 if not a and not b else 0.0
    both = len(a & b)
    return both / (len(a) + len(b) - both)


def alike(reason: frozenset[str], group: Sequence[frozenset[str]]) -> float:
    """How much a reason is like the first of a group, on average."""
    first = group[:FIRST]
    return sum(likeness(reason, one) for one in first) / len(first)


def groups(reasons: Sequence[frozenset[str]]) -> tuple[list[list[int]], list[int]]:
    """The positions of reasons that are alike, the largest group first; and of those that are in no group."""
    made: list[list[int]] = []
    texts: list[list[frozenset[str]]] = []
    rest: list[int] = []
    homes: dict[frozenset[str], int] = {}  # of reasons that came before, word for word
    for at, reason in enumerate(reasons):
        home = homes.get(reason)
        if home is None:
            score, place = max(((alike(reason, text), -g) for g, text in enumerate(texts)), default=(0.0, 0))
            if score >= ALIKE:
                home = -place
            elif len(made) < MOST_GROUPS:
                home = len(made)
                made.append([])
                texts.append([])
            else:
                rest.append(at)
                continue
            homes[reason] = home
        made[home].append(at)
        texts[home].append(reason)
    return sorted(made, key=len, reverse=True), rest


def shared(reasons: Iterable[frozenset[str]], most: int = 6) -> tuple[str, ...]:
    """The words that most of the reasons have, the most frequent first."""
    given = list(reasons)
    counts = Counter(word for reason in given for word in reason)
    usual = sorted((w for w, n in counts.items() if 2 * n > len(given)), key=lambda w: (-counts[w], w))
    return tuple(usual[:most])


def typical(reasons: Sequence[frozenset[str]]) -> list[int]:
    """Positions by how much of what the reasons share each one says, the most typical first."""
    common = frozenset(shared(reasons, 30))
    return sorted(range(len(reasons)), key=lambda i: (-likeness(reasons[i], common), i))
