"""Long sessions within a length: what is kept, the marks, the record; and windows over all of a session."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.sessions.events import Event, Session
from jury.sessions.fit import fit, shortened, tokens
from jury.sessions.windows import combine, windows

FILLER = "[log] step finished, cache miss, unit module " * 8


def work(steps: int, *, failing: frozenset[int] = frozenset(), result: str = FILLER) -> Session:
    """A request, `steps` calls with long results and some thinking between, an outcome."""
    made: list[Event] = [Event(1, "system", "You are an agent."), Event(2, "user", "REQUEST: rename it")]
    for step in range(steps):
        made.append(Event(0, "thinking", f"next is {step}"))
        made.append(Event(0, "tool_call", id=f"c{step}", name="read", arguments={"path": f"f{step}.py"}))
        is_error = step in failing
        made.append(Event(0, "tool_result", f"E{step} " + result, f"c{step}", "read", is_error=is_error))
    made.append(Event(0, "assistant", "OUTCOME: renamed"))
    return Session(
        tuple(Event(i, e.type, e.text, e.id, e.name, e.arguments, e.is_error) for i, e in enumerate(made, 1))
    )


def kept(session: Session, kind: str) -> list[Event]:
    return [e for e in session.events if e.type == kind]


def test_a_session_that_fits_comes_back_as_it_is():
    session = work(3)
    fitted = fit(session, max_chars=len(session.transcript))
    assert fitted.session is session
    assert not fitted.cut
    assert str(fitted.cut) == ""
    assert fitted.namespace()["cut"] == ""


def test_results_give_way_first():
    session = work(20)
    fitted = fit(session, max_chars=len(session.transcript) - 500)
    assert fitted.cut.events == 0
    assert fitted.cut.shortened > 0
    assert [e.i for e in fitted.session.events] == [e.i for e in session.events]
    assert all("characters left out" in e.text for e in kept(fitted.session, "tool_result")[:12])


def test_calls_errors_request_and_outcome_stay_when_results_go():
    session = work(30, failing=frozenset({9, 14}))
    fitted = fit(session, max_chars=7000)
    assert len(fitted.transcript) <= 7000
    assert len(kept(fitted.session, "tool_call")) == 30
    assert {e.id for e in kept(fitted.session, "tool_result") if e.is_error} == {"c9", "c14"}
    assert fitted.session.first_request == "REQUEST: rename it"
    assert fitted.session.final_message == "OUTCOME: renamed"
    assert fitted.cut.types["thinking"] > 0
    assert "tool_call" not in fitted.cut.types


def test_errors_are_kept_where_the_format_cannot_say():
    events = list(work(30).events)
    at = next(i for i, e in enumerate(events) if e.id == "c15" and e.type == "tool_result")
    events[at] = Event(events[at].i, "tool_result", '{"error": "no such order"}', "c15", "read", is_error=None)
    fitted = fit(Session(tuple(events)), max_chars=7000)
    assert any(e.text == '{"error": "no such order"}' for e in fitted.session.events)


def test_gaps_are_counted_and_on_record():
    session = work(60)
    fitted = fit(session, max_chars=4000)
    gone = sorted(set(range(1, len(session.events) + 1)) - {e.i for e in fitted.session.events if e.type != "gap"})
    assert fitted.cut.events == len(gone) == sum(fitted.cut.types.values())
    assert [i for first, last in fitted.cut.gaps for i in range(first, last + 1)] == gone
    for gap, (first, last) in zip(kept(fitted.session, "gap"), fitted.cut.gaps, strict=True):
        lost = sum(len(e.line()) for e in session.events[first - 1 : last])
        assert f"{lost} characters" in gap.text
        assert str(first) in gap.text
        assert str(last) in gap.text
    assert str(fitted.cut.events) in fitted.namespace()["cut"]


def test_one_huge_message():
    session = Session((Event(1, "user", "Q"), Event(2, "assistant", "Z" * 50_000)))
    fitted = fit(session, max_chars=6000)
    assert 5900 <= len(fitted.transcript) <= 6000
    assert "characters left out" in fitted.transcript


def test_arguments_that_are_long_without_long_texts():
    session = Session(
        (
            Event(1, "user", "Q"),
            Event(2, "tool_call", id="c", name="f", arguments={"rows": list(range(5000))}),
            Event(3, "assistant", "A"),
        )
    )
    fitted = fit(session, max_chars=1500)
    assert len(fitted.transcript) <= 1500
    assert [e.i for e in fitted.session.events] == [1, 2, 3]


def test_tokens_are_counted_by_the_callers_function():
    session = work(20)
    words = lambda text: len(text.split())  # noqa: E731
    fitted = fit(session, max_tokens=400, count=words)
    assert words(fitted.transcript) <= 400
    guessed = fit(session, max_tokens=1000)
    assert tokens(guessed.transcript) <= 1000
    assert tokens("漢字") == 2


@pytest.mark.parametrize("limits", [{}, {"max_chars": 10, "max_tokens": 10}, {"max_chars": 0}, {"max_tokens": True}])
def test_limits_are_checked(limits):
    with pytest.raises(ConfigError, match="max_chars"):
        fit(work(1), **limits)


def test_a_limit_that_nothing_fits_into():
    with pytest.raises(ConfigError, match="too small for this session: it needs at least"):
        fit(work(20), max_chars=60)


@given(st.integers(0, 40), st.integers(300, 6000), st.text(max_size=300), st.frozensets(st.integers(0, 40)))
@settings(deadline=None, max_examples=60)
def test_never_longer_than_the_limit(steps, limit, text, failing):
    session = work(steps, failing=failing, result=text)
    fitted = fit(session, max_chars=limit)
    assert len(fitted.transcript) <= limit
    assert bool(fitted.cut) is (fitted.transcript != session.transcript)
    numbers = [e.i for e in fitted.session.events]
    assert numbers == sorted(numbers)
    assert 2 in numbers, "the first request"
    assert all(json.loads(line) for line in fitted.transcript.split("\n"))


@given(st.text(max_size=400), st.integers(0, 400))
def test_shortened_keeps_both_ends(text, cap):
    made = shortened(text, cap)
    assert len(made) <= len(text)
    if made != text:
        assert text.startswith(made.split(" [... ")[0])
        assert f"{len(text) - cap} characters left out" in made


class TestWindows:
    def test_one_part_if_it_fits(self):
        session = work(2)
        (part,) = windows(session, max_chars=100_000)
        assert part.session is session
        assert (part.number, part.of, part.first, part.last) == (1, 1, 1, len(session.events))

    def test_every_event_is_in_a_part_and_neighbours_overlap(self):
        session = work(40)
        parts = windows(session, max_chars=5000, overlap=3)
        assert len(parts) > 3
        assert all(len(p.transcript) <= 5000 for p in parts)
        assert all(p.session.first_request == "REQUEST: rename it" for p in parts)
        seen = {e.i for p in parts for e in p.session.events if e.type != "gap"}
        assert seen == {e.i for e in session.events}
        assert all(b.first <= a.last - 2 for a, b in pairwise(parts))
        assert [(p.number, p.of) for p in parts] == [(n, len(parts)) for n in range(1, len(parts) + 1)]

    def test_an_overlap_is_at_most_half_of_a_part(self):
        session = work(40)
        parts = windows(session, max_chars=1500, overlap=50)
        assert all(b.first > (a.first + a.last) // 2 for a, b in pairwise(parts))

    def test_marks_say_what_is_elsewhere(self):
        session = work(40)
        middle = windows(session, max_chars=5000)[2]
        before, after = (e.text for e in middle.session.events if e.type == "gap")
        assert before.startswith("events 1 to")
        assert after.endswith(f"to {len(session.events)} are in other parts of this session")

    def test_too_small(self):
        with pytest.raises(ConfigError, match="too small for parts"):
            windows(work(5), max_chars=200)
        with pytest.raises(ConfigError, match="overlap"):
            windows(work(5), max_chars=900, overlap=-1)

    @given(st.integers(1, 30), st.integers(900, 4000), st.integers(0, 8), st.text(max_size=2000))
    @settings(deadline=None, max_examples=40)
    def test_nothing_is_lost(self, steps, limit, overlap, text):
        session = work(steps, result=text)
        parts = windows(session, max_chars=limit, overlap=overlap)
        assert {e.i for p in parts for e in p.session.events if e.type != "gap"} == {e.i for e in session.events}
        assert all(len(p.transcript) <= limit for p in parts)

    @pytest.mark.parametrize(
        ("verdicts", "wanted"),
        [
            (["PASS", "FAIL", None], "FAIL"),
            (["PASS", None], None),
            (["NA", "PASS"], "PASS"),
            (["NA", "NA"], "NA"),
            ([], None),
        ],
    )
    def test_combine(self, verdicts, wanted):
        assert combine(verdicts) == wanted
