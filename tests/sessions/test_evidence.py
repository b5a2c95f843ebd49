"""Quotes found or not, references valid or not, and the time it takes on a long text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.sessions.events import Event, Session
from jury.sessions.evidence import EvidenceReport, SessionEvidence, TextEvidence, references_in
from jury.sessions.quotes import Haystack, fold, near_end, origins

ANSWER = (
    "Refunds take 14 days. We did not charge you twice – the second line is a “pre-authorisation”, as policy §2 says."
)
SESSION = Session(
    (
        Event(1, "user", "Please e-mail me the receipt of order K-1042 again."),
        Event(2, "tool_call", id="call_1", name="send_email", arguments={"to": "mira@example.com"}),
        Event(
            3, "tool_result", '{"error": "451 mailbox unavailable"}\nqueue: none', "call_1", "send_email", is_error=True
        ),
        Event(4, "assistant", "Done! I have e-mailed receipt RC-1042 to you. Have a nice day!"),
        Event(5, "gap", "20 events left out"),
    )
)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Refunds take 14 days", True),
        ("  refunds   TAKE 14\ndays. ", True),
        ("We did not charge you twice - the second line is a 'pre-authorisation'", True),
        ("Refunds take ... policy §2", True),
        ("Refunds take [...] as policy", True),
        ("policy §2 says … Refunds take", False),  # not in this order
        ("We did not charge you twise", True),  # one letter
        ("the second line is a pre-authorisation", True),  # one mark
        ("the third line was a pre-authorisation", False),
        ("the second line is a “preauthorisation”", True),
        ("We did charge you twice – the second line is a pre-authorisation", False),  # a negation is no small edit
        ("Refunds take 15 days. We did not charge you twice", False),  # nor is a number
        ("Refunds are free of charge", False),
        ("charge you", True),
        ("chargé", False),
        ("", False),
        ("...", False),
    ],
)
def test_quotes_in_a_text(quote: str, found: bool):
    assert (Haystack([ANSWER]).find(quote) is not None) is found


def test_json_escapes_do_not_count():
    assert Haystack(['{"a": "one\\ntwo \\"three\\""}']).find('one two "three"') == 0
    assert Haystack(['one\ntwo "three"']).find('one\\ntwo \\"three\\"') == 0


def test_a_text_does_not_run_into_the_next():
    assert Haystack(["the end of one", "start of another"]).find("one start of another") is None


class TestSession:
    @pytest.mark.parametrize(
        ("evidence", "kind", "found", "event", "references", "invalid"),
        [
            ("I have e-mailed receipt RC-1042", "quote", True, 4, (), ()),
            ("event 3: 451 mailbox unavailable", "both", True, 3, (3,), ()),
            ('{"error": "451 mailbox unavailable"}\\nqueue', "quote", True, 3, (), ()),
            ('"to": "mira@example.com"', "quote", True, 2, (), ()),
            ("e3", "reference", None, None, (3,), ()),
            ("Events 2 and 4", "reference", None, None, (2, 4), ()),
            ("steps 2-4 show it", "reference", None, None, (2, 4), ()),
            ("see [3]", "reference", None, None, (3,), ()),
            ("call_1 failed", "reference", None, None, ("call_1",), ()),
            ("event 99", "reference", None, None, (99,), (99,)),
            ("claims 'e-mailed receipt RC-1042', yet event 3 failed", "both", True, 4, (3,), ()),
            ("claims 'paid it all back', yet event 3 failed", "both", False, None, (3,), ()),
            ("E3 applies to nobody here", "quote", False, None, (), ()),
            ("the agent paid back 500 EUR", "quote", False, None, (), ()),
            ("20 events left out", "quote", False, None, (), ()),
        ],
    )
    def test_kinds(self, evidence, kind, found, event, references, invalid):
        (item,) = SessionEvidence(SESSION).check([evidence]).items
        assert (item.kind, item.found, item.event) == (kind, found, event)
        assert (item.references, item.invalid) == (references, invalid)
        assert item.ok is (found is not False and not invalid)

    def test_counts(self):
        report = SessionEvidence(SESSION).check(["event 3: 451 mailbox unavailable", "never said", "e99 and e4", "  "])
        assert report.to_dict() == {
            "quotes_found": 1,
            "quotes_missing": 1,
            "references_valid": 2,
            "references_invalid": 1,
        }
        assert EvidenceReport().to_dict()["quotes_found"] == 0


def test_texts_of_an_answer():
    report = TextEvidence("the question", ANSWER).check(["Refunds take 14 days", "the question", "neither"])
    assert [item.found for item in report.items] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("event 7", (7,)),
        ("Event 7 and e8", (7, 8)),
        ("events 3, 5 and 9", (3, 5, 9)),
        ("#4", (4,)),
        ("rule 2 was broken", ()),
        ("E2 (amount above 200 EUR)", ()),
        ("in 3 events", ()),
        ("step 3.5", ()),
        ("line 12%", ()),
        ("price 5 in step4", (4,)),
    ],
)
def test_references(text: str, found: tuple[int, ...]):
    assert references_in(text) == found


def reference_distance(pattern: str, text: str) -> int:
    """The fewest edits between the pattern and any stretch of the text: the plain recurrence."""
    row = [0] * (len(text) + 1)
    for i, sign in enumerate(pattern, 1):
        above, row = row, [i]
        for j, other in enumerate(text, 1):
            row.append(min(above[j - 1] + (sign != other), above[j] + 1, row[j - 1] + 1))
    return min(row)


@given(st.text("abc", min_size=1, max_size=12), st.text("abc", max_size=30), st.integers(0, 6))
@settings(deadline=None)
def test_edits_are_counted_as_by_the_plain_recurrence(pattern: str, text: str, allowed: int):
    end = near_end(pattern, text, allowed)
    assert (end is not None) is (text != "" and reference_distance(pattern, text) <= allowed)
    if end is not None:
        assert reference_distance(pattern, text[:end]) == reference_distance(pattern, text)


@given(st.text(min_size=1, max_size=60), st.text(max_size=60), st.text(max_size=60))
@settings(deadline=None)
def test_what_was_copied_is_found(quote: str, before: str, after: str):
    if len(fold(quote).strip("\"' .,;:!?")) >= 3 and "..." not in fold(quote):
        assert Haystack([f"{before} {quote} {after}"]).find(quote) == 0


def test_work_on_a_long_text_is_bounded(monkeypatch: pytest.MonkeyPatch):
    """The characters compared with edits stay within the budget, however the text is made to mislead."""
    compared = 0

    def counting(pattern: str, text: str, allowed: int) -> int | None:
        nonlocal compared
        compared += len(text)
        return near_end(pattern, text, allowed)

    monkeypatch.setattr("jury.sessions.quotes.near_end", counting)
    rng = random.Random(1)
    misleading = ("a b " * 250_000, "a" * 1_000_000, " ".join(rng.choice(["ab", "ba", "abab"]) for _ in range(300_000)))
    for text in misleading:
        compared = 0
        haystack = Haystack([text])
        assert haystack.find("a b a a b b a " * 40 + "z" * 60) is None
        assert compared <= 220_000


def test_a_quote_with_slips_is_found_in_a_long_text():
    rng = random.Random(2)
    words = ["".join(rng.choice("abcdefghij") for _ in range(rng.randint(2, 9))) for _ in range(3000)]
    text = " ".join(rng.choice(words) for _ in range(150_000))
    quote = list(text[500_000:500_300])
    for place in (20, 90, 150, 210, 280):
        quote[place] = "z"
    assert len(text) > 900_000
    assert Haystack([text]).find("".join(quote)) == 0


def test_a_word_for_no_evidence_is_no_quote():
    report = TextEvidence("It is on the shelf.").check(["none", " N/A. ", "-", "on the shelf", "no reader is named"])
    assert (report.quotes_found, report.quotes_missing) == (1, 1)


FOLDABLE = st.text(st.sampled_from("aB 1.\n\t\\nru00a0\"'“…ßİ\u200b–\u00a0"))


@given(FOLDABLE)
def test_every_folded_sign_knows_where_it_comes_from(text: str):
    made = origins(text)
    assert len(made) - len(fold(text)) in (0, 1)  # a blank at the end is folded away
    assert made == sorted(made)


@given(st.lists(st.sampled_from(["Refund", "“two”", "14", "…", "days\n", "\\n", "ß", "\u200b", "e-mail"]), min_size=3))
def test_a_part_is_shown_as_it_stands_in_its_text(words: list[str]):
    text = " ".join(words)
    for place in Haystack(["before", text]).places(" ".join(words[1:])):
        assert place.words in text
        assert fold(place.words) in fold(text)
