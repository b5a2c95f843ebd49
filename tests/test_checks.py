"""Checks by the letter: exact match and the recall of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury import DataPoint, llm_jury
from jury.checks import exact_match, normalised, recall, reference_recall, words

NOTHING = DataPoint()


@pytest.mark.parametrize(
    ("output", "reference", "same"),
    [
        ("Paris", "paris", True),
        ("  Paris.\n", "Paris", True),
        ("“Paris”", "Paris", True),
        ("ﬁne", "fine", True),  # a ligature
        ("It is Paris", "Paris", False),
        ("Paris, France", "Paris France", False),
        ("1.5", "15", False),
        ("-5", "5", False),
    ],
)
def test_exact_match_forgives_case_space_and_outer_marks(output, reference, same):
    verdict = exact_match(output, reference)
    assert verdict is not None
    assert verdict[0] is same
    assert verdict[1]


@pytest.mark.parametrize("reference", ["", "  \n"])
def test_without_a_reference_nothing_can_be_said(reference):
    assert exact_match("x", reference) is None
    assert reference_recall("x", reference, NOTHING) is None


def test_recall_counts_different_words_that_carry_meaning():
    share, missing = recall("The painting is by Leonardo.", "It was painted by Leonardo da Vinci")
    assert missing == ["painted", "da", "vinci"]
    assert share == pytest.approx(1 / 4)


def test_words_fold_case_and_the_possessive():
    assert words("The Earth’s 1,000 moons") == ["earth", "1,000", "moons"]
    assert words("to be or not") == ["not"]
    assert words("to be") == ["to", "be"]  # nothing else there


def test_a_script_without_spaces_is_read_by_characters():
    assert recall("首都是巴黎", "巴黎") == (1.0, [])


def test_recall_of_the_reference():
    assert reference_recall("Leonardo da Vinci painted it.", "Leonardo da Vinci", NOTHING) == (
        True,
        "100% of the reference's words",
    )
    verdict = reference_recall("Rome.", "Paris", NOTHING)
    assert verdict == (False, "0% of the reference's words; not found: paris")


def test_without_a_reference_the_context_must_hold_the_answers_words():
    data = DataPoint(context="The shop opens at nine.")
    assert reference_recall("It opens at nine.", "", data) == (True, "100% of its words stand in the context")
    verdict = reference_recall("At noon, every single day", "", data)
    assert verdict is not None
    assert verdict[0] is False
    assert "noon, every, single, day" in verdict[1]


@given(st.text(), st.text())
def test_recall_is_a_share(text, reference):
    share, missing = recall(text, reference)
    assert 0 <= share <= 1
    assert (share == 1) is (not missing)


@given(st.text())
def test_a_text_holds_itself(text):
    assert recall(text, text) == (1.0, [])
    assert normalised(normalised(text)) == normalised(text)


def test_they_sit_on_a_panel():
    jury = llm_jury(criteria="c", judges=[exact_match, reference_recall], min_successful_judges=1)
    result = jury.judge_sync(input="q", output="It is Paris", expected_output="Paris")
    assert [v.value for v in result.votes] == [False, True]
    bare = jury.judge_sync(input="q", output="Paris")
    assert [v.abstained for v in bare.votes] == [True, True]
