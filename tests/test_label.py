"""Labelling without a browser: what is asked, in which order, what reaches the disk, and what the labels say."""

from __future__ import annotations

import json
import random
import threading
import webbrowser
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from jury.audit import audited, calibrate
from jury.errors import ConfigError, MissingExtra
from jury.label import AlreadyLabelled, Plan, findings, serving
from jury.label.sampling import disagreement, ordered
from jury.label.words import as_data, sayings
from jury.results import Comparison, PairVote, PanelResult, Verdict, Vote
from jury.stats import labels_for_half_width, wilson
from jury.store import Label, Run, RunWriter, StoredResult
from tests import label_runs as runs
from tests.label_runs import answer, desk, shown


def test_an_item_carries_nothing_of_the_panel(tmp_path):
    made = desk(runs.boolean(tmp_path))
    seen = json.dumps([made.about(), made.next()])
    while made.next()["item"]:
        seen += json.dumps(answer(made, 0))
    for word in ("votes", "verdict", "agreement", "secret-model", "explanation", "std", '"x"', "pass_rate"):
        assert word not in seen, word
    assert "answer 3" in seen


def test_the_verdict_is_shown_where_that_was_asked_for_and_the_label_says_so(tmp_path):
    run = runs.boolean(tmp_path)
    made = desk(run, show_verdict=True)
    verdict = shown(made)["verdict"]
    assert [v["judge"] for v in verdict["votes"]] == ["x", "y", "z"]
    answer(made, 0)
    assert run.labels()[0].saw_verdict is True
    assert any("in view" in text for text in sayings(findings(made)))


def test_a_label_is_on_the_disk_before_the_next_item(tmp_path):
    run = runs.boolean(tmp_path)
    made = desk(run)
    first = shown(made)
    after = made.save(first["place"], {"": {"choice": 1}}, "  because  ")
    (label,) = Run.open(tmp_path).labels()
    assert (label.item, label.labeller, label.value, label.note) == (first["id"], "ann", False, "because")
    assert (label.sampling, label.saw_verdict, label.status) == ("random", None, "")
    assert label.at.endswith("Z")
    assert after["item"]["id"] != first["id"]
    assert after["done"] == 1


def test_an_item_whose_target_failed_is_not_asked_about(tmp_path):
    made = desk(runs.boolean(tmp_path))
    assert "failed" not in made.order
    assert len(made.order) == 12


def test_it_goes_on_where_the_labeller_stopped_in_the_same_order(tmp_path):
    run = runs.boolean(tmp_path)
    first = desk(run, n=8)
    for _ in range(3):
        answer(first, 0)
    second = desk(Run.open(tmp_path), n=8)
    assert second.order == first.order
    assert second.next() == first.next()
    assert second.next()["done"] == 3
    assert desk(run, seed=1).order != first.order
    assert desk(run, "bob").order == first.order  # so that people label the same items
    assert desk(run, "bob").next()["done"] == 0


def test_the_random_order_does_not_move_when_the_run_grows(tmp_path):
    few = desk(runs.boolean(tmp_path / "few", 8)).order
    many = desk(runs.boolean(tmp_path / "many", 30)).order
    assert [item for item in many if item in few] == few


def test_undo_takes_back_one_label_after_the_other_and_the_file_keeps_all(tmp_path):
    run = runs.boolean(tmp_path)
    made = desk(run)
    items = []
    for choice in (0, 1, None):
        items.append(shown(made)["id"])
        made.save(made.next()["item"]["place"], {"": {"na": True} if choice is None else {"choice": choice}}, "why")
    back = made.undo()
    assert back["item"]["id"] == items[2]
    assert back["before"] == {"answers": {"": {"na": True}}, "note": "why"}
    back = made.undo()
    assert back["item"]["id"] == items[1]
    assert back["before"]["answers"] == {"": {"choice": 1}}
    assert [label.item for label in run.labels()] == items[:1]
    assert [line.status for _, line in run.label_lines()] == ["", "", "na", "undone", "undone"]
    answer(made, 0)
    assert [label.value for label in run.labels()] == [True, True]
    while made.undo().get("before"):
        pass
    assert run.labels() == []
    assert "before" not in made.undo()


def test_undo_never_touches_what_another_person_said(tmp_path):
    run = runs.boolean(tmp_path)
    ann, bob = desk(run), desk(run, "bob")
    answer(ann, 0)
    answer(bob, 1)
    ann.undo()
    assert [(label.labeller, label.value) for label in run.labels()] == [("bob", False)]


def test_two_windows_of_one_person_do_not_label_an_item_twice(tmp_path):
    run = runs.boolean(tmp_path)
    one, two = desk(run), desk(run)  # as two processes would have it
    place = shown(one)["place"]
    assert shown(two)["place"] == place
    one.save(place, {"": {"choice": 0}})
    with pytest.raises(AlreadyLabelled):
        two.save(place, {"": {"choice": 1}})
    assert two.next()["item"]["place"] != place
    assert [label.value for label in run.labels()] == [True]


@pytest.mark.parametrize(
    "answers", [{}, None, {"": {}}, {"": {"choice": 2}}, {"": {"choice": -1}}, {"": {"choice": True}}, {"": "Pass"}]
)
def test_what_is_no_answer_is_refused_and_nothing_is_written(tmp_path, answers):
    made = desk(runs.boolean(tmp_path))
    with pytest.raises(ConfigError, match="no answer"):
        made.save(0, answers)
    assert made.run.labels() == []


def test_a_place_that_is_not_on_the_desk_and_a_note_without_end_are_refused(tmp_path):
    made = desk(runs.boolean(tmp_path), n=3)
    for place in (-1, 3, 99):
        with pytest.raises(ConfigError, match="on the desk"):
            made.save(place, {"": {"choice": 0}})
    with pytest.raises(ConfigError, match="at most"):
        made.save(0, {"": {"choice": 0}}, "x" * 10_001)


@pytest.mark.parametrize(
    "plan", [{"n": 0}, {"sampling": "best"}, {"precision": 0.0}, {"precision": 0.5}, {"labeller": " "}]
)
def test_a_wrong_plan_is_refused(plan):
    with pytest.raises(ConfigError):
        Plan(**{"labeller": "ann", **plan})


def test_a_name_is_one_with_or_without_spaces_around_it(tmp_path):
    run = runs.boolean(tmp_path)
    answer(desk(run, " ann "), 0)
    assert desk(run, "ann").next()["done"] == 1


def test_of_an_item_that_was_judged_again_the_last_verdict_counts(tmp_path):
    run = runs.points(tmp_path, [{"x": True}] * 3)
    with RunWriter(tmp_path) as writer:
        again = PanelResult("decided", value=False, passed=False, votes=(Vote("x", Verdict("scored", False)),))
        writer.add_result(StoredResult("1", 1, again))
        writer.add_result(StoredResult("2", 2, PanelResult("not_judged", error="timeout")))
    made = desk(run)
    assert set(made.order) == {"0", "1"}
    while made.next()["item"]:
        answer(made, 0)
    panel = findings(made).rows[0].agreement
    assert (panel.value, panel.n) == (0.5, 2)


def test_a_torn_last_line_is_passed_over_and_the_next_label_is_whole(tmp_path):
    run = runs.boolean(tmp_path)
    answer(desk(run), 0)
    with (tmp_path / "labels.jsonl").open("ab") as file:
        file.write(b'{"item":"3","labeller":"ann","val')  # as a power cut leaves it
    made = desk(run)
    assert made.next()["done"] == 1
    answer(made, 1)
    assert [label.value for label in run.labels()] == [True, False]


def test_a_run_without_verdicts_says_so(tmp_path):
    with pytest.raises(ConfigError, match="no verdicts yet"):
        desk(runs.points(tmp_path, []))


def test_as_many_items_as_the_interval_needs_and_more_on_request(tmp_path):
    run = runs.points(tmp_path, [{"x": True}] * 200)
    made = desk(run)
    assert made.target == labels_for_half_width(0.9, 0.05) == 141
    assert desk(run, precision=0.1).target == labels_for_half_width(0.9, 0.1)
    small = desk(run, n=1)
    assert answer(small, 0)["item"] is None
    assert small.more(2)["item"]["place"] == 1
    assert small.more(1000)["target"] == 200


# --- scales -----------------------------------------------------------------------------------------------------------


def test_labels_of_the_scale_with_its_own_na(tmp_path):
    run = runs.labels(tmp_path)
    made = desk(run)
    (question,) = made.about()["questions"]
    assert [(c["key"], c["text"], c["hint"]) for c in question["choices"]] == [
        ("1", "good", "as it should be"),
        ("2", "poor", ""),
    ]
    assert question["na"]["text"] == "NA"
    for choice in (0, 1, None):
        answer(made, choice)
    assert [(label.value, label.status) for label in run.labels()] == [("good", ""), ("poor", ""), ("NA", "")]
    assert made.undo()["before"]["answers"] == {"": {"na": True}}


def test_numbers_are_entered_and_checked(tmp_path):
    run = runs.numeric(tmp_path)
    made = desk(run)
    (question,) = made.about()["questions"]
    assert (question["low"], question["high"], question["choices"]) == (0.0, 1.0, [])
    for text in ("0.25", "1", 0.5):
        made.save(shown(made)["place"], {"": {"number": text}})
    assert [label.value for label in run.labels()] == [0.25, 1.0, 0.5]
    assert made.undo()["before"]["answers"] == {"": {"number": 0.5}}
    for text in ("2", "much", "nan", "", None):
        with pytest.raises(ConfigError):
            made.save(shown(made)["place"], {"": {"number": text}})


def test_numbers_without_a_pass_mark_are_compared_by_alpha(tmp_path):
    made = desk(runs.numeric(tmp_path))
    while made.next()["item"]:
        item = made.next()["item"]
        made.save(item["place"], {"": {"number": int(item["id"]) / 10}})
    found = findings(made)
    by_name = {row.name: row for row in found.rows}
    assert found.measure == "alpha"
    assert by_name["x"].beyond.value == pytest.approx(1.0)
    assert by_name["y"].beyond.value < 1.0
    assert found.needed is None
    assert "alpha" in sayings(found)[0]


def test_numbers_with_a_pass_mark_count_as_pass_or_fail(tmp_path):
    made = desk(runs.numeric(tmp_path, threshold=0.5))
    while made.next()["item"]:
        item = made.next()["item"]
        made.save(item["place"], {"": {"number": 0.9 if int(item["id"]) >= 5 else 0.1}})
    found = findings(made)
    assert found.measure == "kappa"
    assert {row.name: row.agreement.value for row in found.rows}["x"] == 1.0


def test_each_criterion_of_a_rubric_is_a_question_and_the_rule_makes_the_value(tmp_path):
    run = runs.rubric(tmp_path)
    made = desk(run)
    questions = made.about()["questions"]
    assert [q["key"] for q in questions] == ["right", "tone", "source"]
    assert [c["key"] for c in questions[0]["choices"]] == ["1", "2", "3", "4", "5"]
    assert questions[0]["choices"][4]["hint"] == "all of it"
    assert [c["key"] for c in questions[1]["choices"]] == ["1", "0"]
    answer(made, 3, 0, None)  # 4, yes, NA
    answer(made, 3, 1, 0)  # 4, no (a gate), yes
    answer(made, 1, 0, 0)  # 2
    told = [(label.value, dict(label.values)) for label in run.labels()]
    assert told == [
        (True, {"right": 4.0, "tone": True, "source": "NA"}),
        (False, {"right": 4.0, "tone": False, "source": True}),
        (False, {"right": 2.0, "tone": True, "source": True}),
    ]
    assert made.undo()["before"]["answers"] == {"right": {"choice": 1}, "tone": {"choice": 0}, "source": {"choice": 0}}
    with pytest.raises(ConfigError, match="tone: no answer"):
        made.save(shown(made)["place"], {"right": {"choice": 0}})


def test_criteria_are_compared_one_by_one(tmp_path):
    made = desk(runs.rubric(tmp_path))
    while made.next()["item"]:
        answer(made, 3, 0, None)
    found = findings(made)
    shares = {key: {row.name: row.agreement.value for row in rows} for key, rows in found.criteria.items()}
    assert shares["right"] == {"the panel": 0.5, "x": 0.5, "y": 0.5}  # the panel says 4 and 5 in turn
    assert shares["tone"]["the panel"] == 1.0
    assert shares["source"]["the panel"] == 1.0


def test_a_session_shows_its_transcript_and_is_asked_about_by_criterion(tmp_path):
    run = runs.session(tmp_path)
    made = desk(run)
    blocks = [(b["title"], b["role"], b["text"]) for b in shown(made)["blocks"]]
    assert blocks == [
        ("User", "user", "Refund me"),
        ("Calls refund", "call", '{"amount": 9}'),
        ("Tool result", "tool", "done"),
        ("Assistant", "assistant", "It is done."),
    ]
    assert [told["text"] for told in made.about()["instructions"]] == ["Judge by policy.", "Judge by task."]
    answer(made, 1, 0)
    assert (run.labels()[0].value, dict(run.labels()[0].values)) == ("FAIL", {"policy": "FAIL", "task": "PASS"})


def test_a_session_of_one_criterion_is_one_question(tmp_path):
    run = runs.session(tmp_path, ["tool-use"])
    made = desk(run)
    assert [q["title"] for q in made.about()["questions"]] == ["tool use"]
    answer(made, None)
    assert run.labels()[0].value == "NA"


# --- pairs ------------------------------------------------------------------------------------------------------------


def test_pairs_are_shown_in_random_order_and_stored_by_their_true_sides(tmp_path):
    run = runs.pairwise(tmp_path, 40)
    made = desk(run)
    left_first: dict[str, bool] = {}
    while (item := made.next()["item"]) is not None:
        texts = [b["text"] for b in item["blocks"] if b["role"] == "judged"]
        left_first[item["id"]] = texts[0].startswith("left")
        made.save(item["place"], {"": {"choice": 0}})  # always the first one shown
    stored = {label.item: label for label in run.labels()}
    assert {label.value for label in stored.values()} == {"A", "B"}
    for item, first in left_first.items():
        assert stored[item].value == ("A" if first else "B")
        assert stored[item].shown == ("ab" if first else "ba")
    assert 8 < sum(left_first.values()) < 32
    assert desk(run, "bob").next()["item"] is not None
    orders = {who: [desk(run, who)._shown(item) for item in made.order] for who in ("ann", "bob")}
    assert orders["ann"] != orders["bob"]
    assert orders["ann"] == [desk(run)._shown(item) for item in made.order]


def test_a_tie_stays_one_and_undo_presses_the_button_as_it_was_shown(tmp_path):
    run = runs.pairwise(tmp_path)
    made = desk(run)
    for choice in (2, 0, 1, None):
        answer(made, choice)
    assert run.labels()[0].value == "tie"
    assert (run.labels()[3].value, run.labels()[3].status) == (None, "na")
    made.undo()
    assert made.undo()["before"]["answers"] == {"": {"choice": 1}}
    assert made.undo()["before"]["answers"] == {"": {"choice": 0}}


def test_a_page_of_pairs_does_not_know_the_sides(tmp_path):
    made = desk(runs.pairwise(tmp_path))
    seen = json.dumps([made.about(), made.next()])
    for word in ('"ab"', '"ba"', '"A"', '"B"', "response_a", "shown", "secret", "first"):
        assert word not in seen, word


# --- sampling ---------------------------------------------------------------------------------------------------------


def test_disagreement_comes_first_and_every_line_says_so(tmp_path):
    run = runs.boolean(tmp_path)
    results = {one.item: one.result.to_dict() for one in run.stored_results()}
    made = desk(run, sampling="disagreement", n=4)
    apart = [disagreement(results[item]) for item in made.order]
    assert apart == sorted(apart, reverse=True)
    assert apart[0] > apart[-1]
    answer(made, 0)
    assert run.labels()[0].sampling == "disagreement"
    found = findings(made)
    assert not found.rates
    assert found.needed is None
    assert all("picked" in row.beyond.why for row in found.rows)  # kappa depends on the mix
    assert found.rows[0].agreement.value is not None  # a count of these items, and said to be that
    assert "No rate" in " ".join(sayings(found))
    assert found.commands[0][0].endswith("--as ann --n 12")
    assert any("--sampled other" in command for command, _ in found.commands)


def test_disagreement_by_hand():
    def votes(*values):
        return tuple(Vote(f"j{i}", Verdict("scored", v)) for i, v in enumerate(values))

    def apart(result):
        return disagreement(result.to_dict())

    assert apart(PanelResult("decided", value=True, votes=votes(True, True, True))) == 0.0
    split = PanelResult("decided", value=True, mean=2 / 3, std=0.47, votes=votes(True, True, False))
    assert apart(split) == pytest.approx(2 / 3)  # of truth values the pairs count
    assert apart(PanelResult("inconclusive", votes=votes(True, False))) == 1.0
    assert apart(PanelResult("inconclusive", votes=votes(True))) == 0.5
    assert apart(PanelResult("decided", value=0.4, std=0.3, votes=votes(0.1, 0.7))) == 0.3
    abstained = (*votes(True, True), Vote("z", Verdict("abstained")))
    assert apart(PanelResult("decided", value=True, votes=abstained)) == 0.0
    flip = PairVote("a", None, flipped=True, flip_kind="primacy", completed=True)
    assert apart(Comparison("decided", winner="A", votes=(flip,))) == 1.0
    both = (PairVote("a", "A", completed=True), PairVote("b", "tie", completed=True))
    assert apart(Comparison("decided", winner="A", votes=both)) == 1.0


def test_disagreements_labelled_before_belong_to_the_random_sample_and_are_not_asked_again(tmp_path):
    run = runs.boolean(tmp_path)
    odd = desk(run, sampling="disagreement", n=4)
    items = [shown(odd)["id"]]
    while answer(odd, 1)["item"]:
        items.append(shown(odd)["id"])
    made = desk(run, n=12)
    assert made.next()["done"] == 4
    assert {label.item for label in run.labels() if label.sampling == "random"} == set(items)
    part = desk(run, "bob", sampling="disagreement", n=4)
    while part.next()["item"]:
        answer(part, 0)
    few = desk(run, "bob", n=5)  # of the others nothing is carried over: they are not in the sample
    drawn = [label.item for label in run.labels() if label.labeller == "bob" and label.sampling == "random"]
    assert set(drawn) == set(few.order[:5]) & set(items)


def test_the_order_is_a_random_sample():
    """Each item stands among the first ten of forty about as often as any other."""
    results = [(str(i), {"status": "decided"}) for i in range(40)]
    counts = Counter(item for seed in range(400) for item in ordered(results, "random", seed)[:10])
    assert len(counts) == 40
    assert all(60 < n < 140 for n in counts.values())  # 100 +- 4.6 standard deviations


# --- what the labels say ----------------------------------------------------------------------------------------------


def labelled(tmp_path, count=120, right=0.85, who="ann"):
    rng = random.Random(3)
    truth = [rng.random() < 0.6 for _ in range(count)]
    votes = [{j: t if rng.random() < r else not t for j, r in (("x", 0.9), ("y", right), ("z", 0.7))} for t in truth]
    run = runs.points(tmp_path, votes)
    made = desk(run, who, n=count)
    while (item := made.next()["item"]) is not None:
        made.save(item["place"], {"": {"choice": 0 if truth[int(item["id"])] else 1}}, f"note on {item['id']}")
    return made, truth


def test_agreement_with_each_judge_and_the_panel(tmp_path):
    made, truth = labelled(tmp_path)
    found = findings(made)
    audit = audited(made.run)
    for row in found.rows:
        column = audit.verdicts() if row.name == "the panel" else audit.votes_of(row.name)
        pairs = [(a, b) for a, b in zip(column, truth, strict=True) if a is not None]
        assert row.agreement == wilson(sum(a == b for a, b in pairs), len(pairs))
    assert [row.name for row in found.rows] == ["the panel", "x", "y", "z"]
    assert sayings(found)[0].startswith(
        f"The panel agrees with you on {round(found.rows[0].agreement.value * 120)} of 120"
    )


def test_how_many_more(tmp_path):
    made, _ = labelled(tmp_path)
    fine = findings(desk(made.run, precision=0.02))
    seen = fine.rows[0].agreement
    assert fine.needed.total == labels_for_half_width(seen.value, 0.02)
    assert fine.needed.more == fine.needed.total - 120
    low = min(seen.interval, key=lambda end: abs(end - 0.5))
    assert fine.needed.at_most == labels_for_half_width(low, 0.02)
    assert fine.needed.reach == pytest.approx((seen.interval[1] - seen.interval[0]) / 2)
    assert "the run has fewer items: all of its 120 give ±4 points" in sayings(fine)[1]
    for item in made.order[60:]:
        made.run.add_label(Label(item, "ann", status="undone"))
    half = findings(desk(made.run, precision=0.05))
    assert half.needed.more == labels_for_half_width(half.rows[0].agreement.value, 0.05) - 60
    assert sayings(half)[1].startswith(f"{half.needed.more} more labels for ±5 points")
    coarse = findings(desk(made.run, precision=0.2))
    assert coarse.needed.more == 0
    assert "enough labels" in sayings(coarse)[1]


def test_a_few_labels_are_planned_for_with_the_usual_rate(tmp_path):
    made = desk(runs.boolean(tmp_path))
    answer(made, 0)
    needed = findings(made).needed
    assert (needed.planned_with, needed.total) == (0.9, 141)
    assert needed.at_most == labels_for_half_width(0.5, 0.05)
    assert any(
        "near 90%, as is usual: yours is counted on from 10 labels on" in said for said in sayings(findings(made))
    )


def test_nothing_labelled_yet(tmp_path):
    found = findings(desk(runs.boolean(tmp_path)))
    assert sayings(found) == ["There are no labels yet."]
    json.dumps(as_data(found), allow_nan=False)


def test_people_beside_each_other(tmp_path):
    made, truth = labelled(tmp_path)
    bob = desk(made.run, "bob", n=40)
    while (item := bob.next()["item"]) is not None:
        wrong = int(item["id"]) % 4 == 0
        bob.save(item["place"], {"": {"choice": 0 if truth[int(item["id"])] != wrong else 1}})
    (other,) = findings(bob).people
    same = sum(int(item) % 4 != 0 for item in bob.order[:40])
    assert (other.name, other.agreement) == ("ann", wilson(same, 40))
    assert findings(bob).everyone.n == 40
    assert 0 < findings(bob).everyone.value < 1
    assert not any("SOMEONE" in command for command, _ in findings(bob).commands)


def test_only_the_development_half_is_listed(tmp_path):
    from jury.audit import part_of

    made, truth = labelled(tmp_path)
    found = findings(made)
    audit = audited(made.run)
    differing = [one.item.id for one in audit.judged if one.said is not None and one.said != truth[int(one.item.id)]]
    assert found.differing == sum(part_of(item) == "development" for item in differing)
    assert {part_of(one.item) for one in found.differences} == {"development"}
    assert found.differences[0].note.startswith("note on")


def test_the_auditor_reads_the_labels(tmp_path):
    made, truth = labelled(tmp_path)
    found = calibrate(audited(made.run), sampled="random")
    assert found.n_labels == 120
    assert found.corrected_rate.value == pytest.approx(sum(truth) / 120)
    assert found.weights.source == "labels"


def test_undone_and_na_labels_are_none_for_the_auditor(tmp_path):
    run = runs.boolean(tmp_path)
    made = desk(run)
    answer(made, 0)
    answer(made, None)
    answer(made, 1)
    made.undo()
    assert [one.label for one in audited(run).labelled()] == [True]
    bob = desk(run, "bob")
    answer(bob, None)  # who cannot tell does not take away what another person said
    assert [one.label for one in audited(run).labelled()] == [True]


def test_calibrate_knows_how_labels_were_drawn(tmp_path, capsys):
    from jury.cli.__main__ import main

    def jury(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return int(ended.value.code or 0), capsys.readouterr().out

    made, _ = labelled(tmp_path)
    code, out = jury("calibrate", str(tmp_path))
    assert code == 0
    assert "drawn random" in out
    run = made.run
    for item in made.order[:20]:
        run.add_label(Label(item, "ann", True, sampling="disagreement"))
    code, out = jury("calibrate", str(tmp_path))
    assert "20 labels on items that were not drawn at random were left out" in out
    data = json.loads(jury("calibrate", str(tmp_path), "--json")[1])
    assert (data["sampled"], data["n_labels"], data["left_out"]) == ("random", 100, 20)
    for item in made.order:
        run.add_label(Label(item, "ann", True, sampling="disagreement"))
    assert json.loads(jury("calibrate", str(tmp_path), "--json")[1])["sampled"] == "other"


# --- texts ------------------------------------------------------------------------------------------------------------


def test_a_long_text_is_cut_and_to_be_had_whole(tmp_path):
    long = "ab" * 500_000
    run = runs.points(tmp_path, [{"x": True}], items=[{"input": "short", "output": long}])
    made = desk(run)
    asked, judged = shown(made)["blocks"]
    assert "length" not in asked
    assert (judged["length"], len(judged["text"])) == (1_000_000, 6_000)
    assert made.text(0, 1) == long
    with pytest.raises(ConfigError, match="no text 2"):
        made.text(0, 2)


def test_an_item_of_very_many_texts_stays_small(tmp_path):
    turns = tuple({"role": "user", "content": "x" * 5_000} for _ in range(300))
    run = runs.points(tmp_path, [{"x": True}], items=[{"messages": turns, "output": "done"}])
    blocks = shown(desk(run))["blocks"]
    assert len(blocks) == 301
    assert sum(len(block["text"]) for block in blocks) < 300_000


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    told = r"starlette and uvicorn: pip install \"jury-llm\[label\]\".*checkout: pip install -e \"\.\[label\]\""
    with pytest.raises(MissingExtra, match=told):
        serving.check_extra()


def test_who_was_shown_verdicts_has_seen_them_after_a_restart_too(tmp_path):
    run = runs.boolean(tmp_path)
    made = desk(run, show_verdict=True)
    in_view = shown(made)["id"]  # and then the page was closed, without a label
    desk(run, "bob").reveal(["i2"])
    blind = desk(Run.open(tmp_path))
    while blind.next()["item"]:
        answer(blind, 0)
    assert {label.item for label in run.labels() if label.saw_verdict} == {in_view}
    blind.reveal(["i5", in_view])
    blind.undo()
    last = shown(blind)["id"]
    blind.reveal([last])
    again = desk(Run.open(tmp_path))
    answer(again, 1)
    assert {label.item for label in run.labels() if label.saw_verdict} == {in_view, last}
    assert run.seen("bob") == {"i2"}
    assert len((tmp_path / "seen.jsonl").read_text().splitlines()) == len({in_view, "i5", last}) + 1


def test_the_browser_is_opened_without_the_token_on_a_command_line(tmp_path, monkeypatch):
    opened: list[tuple[str, str, int]] = []
    closed = threading.Event()

    def browser(address: str) -> bool:
        file = Path(url2pathname(urlsplit(address).path))
        opened.append((address, file.read_text(), file.stat().st_mode & 0o777))
        closed.set()
        return True

    def served(self: Any, sockets: Any) -> None:
        closed.wait(120)

    monkeypatch.setattr(webbrowser, "open", browser)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("uvicorn.Server.run", served)
    told: list[str] = []
    serving.serve(desk(runs.boolean(tmp_path / "a run é")), told=told.append)
    ((address, text, mode),) = opened
    token = told[0].partition("token=")[2]
    assert len(token) >= 32
    assert address.startswith("file:///")
    assert token not in address
    assert f"url={told[0]}" in text
    assert mode == 0o600
    assert list((tmp_path / "a run é").glob("*.html")) == []
