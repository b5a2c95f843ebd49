"""The last screen in words: which side of pairs is preferred, as far as the interval tells."""

from __future__ import annotations

import pytest

from jury.cli.tables import winner


@pytest.mark.parametrize(
    ("wins", "judged", "word"), [(20, 25, "A"), (5, 25, "B"), (10, 25, "open"), (1, 1, "open"), (0, 1, "open")]
)
def test_the_winner_of_pairs(wins: int, judged: int, word: str) -> None:
    assert winner(wins, judged).startswith(f"{word}:")
