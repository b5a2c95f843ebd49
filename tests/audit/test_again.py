"""A run asked again: the same questions, into its own log, and nothing twice."""

from __future__ import annotations

import json

import pytest

from jury import (
    ConfigError,
    DataError,
    JudgeSpec,
    Labels,
    ScriptedProvider,
    llm_jury,
    llm_jury_pairwise,
    session_jury,
)
from jury.audit import Again, ask_again_sync, audited, jury_of, leanings, quote_again, repeats, stability
from jury.errors import ProviderError
from jury.results import Reply, Usage
from jury.runner import RunSpec, replay, run_sync
from jury.store import Run, RunWriter
from jury.store.at_risk import FILE as AT_RISK
from jury.store.index import JUDGMENTS
from jury.store.lines import read_lines

YES, NO = '{"explanation": "yes", "value": true}', '{"explanation": "no", "value": false}'
ROWS = [{"id": f"r{i}", "input": f"q{i}", "output": f"a{i}", "extra": [i]} for i in range(12)]


def wavering(request):
    """Says yes the first time, and then of every item whose number is odd the other way round."""
    text = request.prompt
    odd = any(f"a{i}" in text for i in (1, 3, 5, 7, 9, 11) if f"a{i}<" in text or f"a{i}\n" in text)
    return NO if odd and request.repetition else YES


def recorded(folder, answer=wavering, rows=ROWS, **options):
    judge = JudgeSpec("scripted/w", provider=ScriptedProvider(answer), settings={"temperature": 0.3})
    jury = llm_jury(criteria="Is it good?", judges=[judge], **options)
    run_sync(RunSpec(rows, jury, cache=False), folder)
    return Run.open(folder), jury


def lines_of(folder):
    return [line for _, line in read_lines(folder / JUDGMENTS)]


def test_asked_again_goes_into_the_log_and_no_verdict_changes(tmp_path):
    run, jury = recorded(tmp_path / "run")
    before = list(run.results())
    found = ask_again_sync(run, Again(items=12, repetitions=3), jury=jury)
    assert (found.items, found.asked.live, found.asked.recalled) == (12, 24, 12)
    again = Run.open(tmp_path / "run")
    assert list(again.results()) == before
    assert len(lines_of(tmp_path / "run")) == 36
    assert again.damage() == []
    assert replay(tmp_path / "run").same
    assert again.manifest.history[-1]["again"] == {"items": 12, "repetitions": 3, "seed": 0}
    assert again.manifest.finished
    told = stability(audited(again))
    assert told.repetitions == 3
    assert told.judges[0].retest.flip_rate.value == pytest.approx(0.5)
    assert told.judges[0].retest.usable == 12
    assert {item for item, _ in told.unstable} == {f"r{i}" for i in (1, 3, 5, 7, 9, 11)}


def test_nothing_is_asked_twice_and_more_items_hold_the_fewer(tmp_path):
    run, jury = recorded(tmp_path / "run")
    plan = Again(items=4, repetitions=3)
    assert ask_again_sync(run, plan, jury=jury).asked.live == 8
    assert quote_again(run, plan, jury=jury).calls == 0
    assert ask_again_sync(run, plan, jury=jury).asked.live == 0
    assert quote_again(run, Again(items=6, repetitions=3), jury=jury).calls == 4
    assert ask_again_sync(run, Again(items=6, repetitions=3), jury=jury).asked.live == 4
    assert ask_again_sync(run, Again(items=6, repetitions=4), jury=jury).asked.live == 6


def test_a_later_run_with_repetitions_uses_what_was_asked(tmp_path):
    run, jury = recorded(tmp_path / "run")
    ask_again_sync(run, Again(items=12, repetitions=3), jury=jury)
    judge = JudgeSpec("scripted/w", provider=ScriptedProvider([]), settings={"temperature": 0.3})
    thrice = llm_jury(criteria="Is it good?", judges=[judge], repetitions=3)
    report = run_sync(RunSpec(ROWS, thrice, cache=False), tmp_path / "run")
    assert (report.asked.live, report.asked.recalled) == (0, 36)


def test_the_jury_is_made_again_from_the_folder(tmp_path):
    """Prompt, settings, scale, variables and seats come from the manifest alone: every key is the same."""
    provider = ScriptedProvider(lambda request: '{"explanation": "", "value": "B"}', name="openai")
    config = {
        "criteria": "Is it {{tone}}?",
        "judges": [
            JudgeSpec("openai/gpt-5-mini", provider=provider, settings={"temperature": 0.7}),
            JudgeSpec("openai/gpt-5-mini", id="other", provider=provider, prompt="{{output.response}} {{row.extra}}"),
        ],
        "labels": ["A", "B", "NA"],
        "na": "NA",
        "variables": {"tone": "kind"},
        "repetitions": 2,
    }
    run_sync(RunSpec(ROWS, config, cache=False, map={"input": "input"}), tmp_path / "run")
    run = Run.open(tmp_path / "run")
    quote = quote_again(run, Again(items=5, repetitions=3))
    assert (quote.known, quote.calls, quote.items) == (20, 10, 5)
    assert quote.cost > 0
    made = jury_of(run)
    assert made.scale == Labels(["A", "B", "NA"], na="NA")
    assert [s.name for s in made.panel.seats] == ["openai/gpt-5-mini", "other"]


@pytest.mark.parametrize(
    "change", [{"settings": {"temperature": 0.9}}, {"prompt": "Something else {{output.response}}"}]
)
def test_another_question_is_refused_before_anything_is_asked(tmp_path, change):
    run, _ = recorded(tmp_path / "run")
    provider = ScriptedProvider(lambda request: YES)
    other = llm_jury(criteria="Is it good?", judges=[JudgeSpec("scripted/w", provider=provider, **change)])
    with pytest.raises(ConfigError, match="is not what it was asked"):
        ask_again_sync(run, Again(), jury=other)
    assert provider.requests == []
    assert len(lines_of(tmp_path / "run")) == 12


def length(output):
    return len(output) > 2


def test_a_judge_function_is_found_by_its_name_and_code(tmp_path):
    def load(name):
        assert name == "judges.py:length"
        return length

    config = {"criteria": "c", "judges": ["judges.py:length"]}
    run_sync(RunSpec(ROWS, config), tmp_path / "run", load=load)
    run = Run.open(tmp_path / "run")
    assert ask_again_sync(run, Again(items=12, repetitions=2), load=load).asked.live == 12
    with pytest.raises(ConfigError, match="--config"):
        quote_again(run, Again())
    with pytest.raises(ConfigError, match="not the code"):
        quote_again(run, Again(), load=lambda name: lambda output: True)


def test_items_that_failed_or_were_not_judged_are_not_drawn(tmp_path):
    def failing(request):
        return None if "a3" in request.prompt else YES

    rows = [*ROWS, {"id": "gone", "input": "q", "error": "no answer"}]
    run, jury = recorded(tmp_path / "run", failing, rows, retries=0)
    assert ask_again_sync(run, Again(items=50, repetitions=2), jury=jury).items == 11


def test_without_a_usable_item_and_with_odd_numbers_there_is_a_word(tmp_path):
    run, jury = recorded(tmp_path / "run", lambda request: None, retries=0)
    with pytest.raises(ConfigError, match="finish the run first"):
        ask_again_sync(run, Again(), jury=jury)
    for wrong in ({"items": 0}, {"repetitions": 0}, {"budget": -1.0}):
        with pytest.raises(ConfigError):
            Again(**wrong)


def test_a_locked_folder_is_left_alone(tmp_path):
    run, jury = recorded(tmp_path / "run")
    with RunWriter(tmp_path / "run"), pytest.raises(DataError, match="another"):
        ask_again_sync(run, Again(items=2), jury=jury)


def slots(request):
    """Likes the first slot, except for one pair."""
    return '{"explanation": "", "value": "' + ("B" if "question 3" in request.prompt else "A") + '"}'


def pairs(folder, swap):
    rows = [
        {"id": f"p{i}", "question": f"question {i}", "response_a": f"x{i}", "response_b": f"y{i}"} for i in range(10)
    ]
    judge = JudgeSpec("scripted/s", provider=ScriptedProvider(slots))
    jury = llm_jury_pairwise(judges=[judge], swap=swap)
    run_sync(RunSpec(rows, jury, cache=False), folder)
    return Run.open(folder), jury


def test_pairs_of_one_order_are_asked_in_the_other(tmp_path):
    run, jury = pairs(tmp_path / "run", swap=False)
    assert leanings(audited(run))[0].position is None
    assert ask_again_sync(run, Again(items=10, repetitions=1), jury=jury).asked.live == 10
    lean = leanings(audited(Run.open(tmp_path / "run")))[0]
    assert (lean.position.primacy, lean.position.recency, lean.position.n) == (9, 1, 10)
    assert jury.orders == ("ab",)  # the jury that was given is left as it was


def test_flips_by_the_order_stand_beside_noise(tmp_path):
    run, jury = pairs(tmp_path / "run", swap=True)
    ask_again_sync(run, Again(items=10, repetitions=2), jury=jury)
    told = stability(audited(Run.open(tmp_path / "run"))).judges[0]
    assert told.retest.flip_rate.value == 0.0
    assert told.swapped.change_rate.value == 1.0
    assert told.beyond.value == 1.0


def test_answers_to_an_older_prompt_are_not_repeats(tmp_path):
    run, jury = recorded(tmp_path / "run")
    ask_again_sync(run, Again(items=12, repetitions=3), jury=jury)
    provider = ScriptedProvider(lambda request: YES)
    new = llm_jury(prompt="New: {{output.response}}", judges=[JudgeSpec("scripted/w", provider=provider)])
    run_sync(RunSpec(ROWS, new, cache=False), tmp_path / "run")
    asked = repeats(audited(Run.open(tmp_path / "run")))
    assert [len(one.values) for one in asked] == [1] * 12


def test_criteria_of_a_rubric_that_are_asked_one_by_one_are_not_repetitions(tmp_path):
    rubric = {"criteria": [{"key": k, "question": f"Is it {k}?", "scale": "0/1"} for k in ("right", "clear")]}

    def answer(request):
        key = "right" if "Is it right?" in request.prompt else "clear"
        return {key: {"evidence": [], "reasoning": "", "score": int(key == "right")}}

    judge = JudgeSpec("scripted/r", provider=ScriptedProvider(answer))
    run_sync(RunSpec(ROWS, llm_jury(rubric=rubric, ask="each", judges=[judge]), cache=False), tmp_path / "run")
    asked = repeats(audited(Run.open(tmp_path / "run")))
    assert len(asked) == 24
    assert {one.criterion for one in asked} == {"right", "clear"}
    assert {(one.criterion, one.values) for one in asked} == {("right", (1,)), ("clear", (0,))}


def test_only_those_are_asked_again_who_were_asked(tmp_path):
    """`stop="decided"`: the third judge was asked where the first two differ."""

    def answer(request):
        return NO if request.judge == "b" and "a1" in request.prompt else YES

    provider = ScriptedProvider(answer)
    judges = [JudgeSpec(f"scripted/{n}", id=n, provider=provider) for n in "abc"]
    jury = llm_jury(criteria="c", judges=judges, stop="decided")
    run_sync(RunSpec(ROWS, jury, cache=False), tmp_path / "run")
    run = Run.open(tmp_path / "run")
    votes = sum(len(result.votes) for _, result in run.results())
    assert votes == 2 * 12 + 3  # a1, a10 and a11 took a third voice
    assert quote_again(run, Again(items=12, repetitions=2), jury=jury).calls == votes
    assert ask_again_sync(run, Again(items=12, repetitions=2), jury=jury).asked.live == votes


def test_outputs_that_a_target_made_are_judged_again_as_they_were(tmp_path):
    def target(input):
        return f"answer to {input}"

    provider = ScriptedProvider(lambda request: YES)
    jury = llm_jury(criteria="c", judges=[JudgeSpec("scripted/j", provider=provider)])
    rows = [{"id": str(i), "input": f"question {i}"} for i in range(4)]
    run_sync(RunSpec(rows, jury, cache=False, target=target), tmp_path / "run")
    found = ask_again_sync(Run.open(tmp_path / "run"), Again(items=4, repetitions=2), jury=jury)
    assert (found.asked.live, found.asked.recalled) == (4, 4)


def test_sides_and_sessions_that_targets_made_are_judged_again_as_they_were(tmp_path):
    rows = [{"id": str(i), "input": f"question {i}", "response_b": "a column"} for i in range(4)]
    provider = ScriptedProvider(lambda request: '{"explanation": "e", "value": "A"}')
    pairs = llm_jury_pairwise(judges=[JudgeSpec("scripted/j", provider=provider)])
    spec = RunSpec(rows, pairs, cache=False, targets={"b": lambda task: f"answer to {task}", "a": lambda x: "a"})
    run_sync(spec, tmp_path / "pairs")
    found = ask_again_sync(Run.open(tmp_path / "pairs"), Again(items=4, repetitions=2), jury=pairs)
    assert (found.asked.live, found.asked.recalled) == (8, 8)

    seen = ScriptedProvider(lambda request: '{"evidence": [], "verdict": "PASS"}')
    jury = session_jury("tone", context="Be kind.", judges=[JudgeSpec("scripted/j", provider=seen)])
    agent = RunSpec(rows, jury, cache=False, target=lambda task: [{"role": "assistant", "content": f"done: {task}"}])
    run_sync(agent, tmp_path / "agent")
    found = ask_again_sync(Run.open(tmp_path / "agent"), Again(items=4, repetitions=2), jury=jury)
    assert (found.asked.live, found.asked.recalled) == (4, 4)


@pytest.mark.parametrize("given", [{"items": 1.5}, {"items": "3"}, {"repetitions": True}, {"repetitions": 0}])
def test_wrong_plans_are_told(given):
    with pytest.raises(ConfigError, match="must be a whole number from 1"):
        Again(**given)


KEYS = ("right", "clear", "short")
RUBRIC = {"criteria": [{"key": k, "question": f"Is it {k}?", "scale": "0/1"} for k in KEYS]}


def by_order(request):
    """Passes what it is asked where `right` comes first, and wavers over `a1` when it is asked again."""
    first = request.prompt.index("Is it right?") < min(request.prompt.index(f"Is it {k}?") for k in KEYS[1:])
    good = first and not (request.repetition % 2 and "a1<" in request.prompt.replace("\n", "<"))
    return {k: {"evidence": [], "reasoning": "", "score": int(good)} for k in KEYS}


def permuted(folder, ask="together", **options):
    judges = [JudgeSpec(f"scripted/{n}", id=n, provider=ScriptedProvider(by_order)) for n in ("r", "s")]
    jury = llm_jury(rubric=RUBRIC, judges=judges, permute=True, ask=ask, **options)
    run_sync(RunSpec(ROWS, jury, cache=False), folder)
    return Run.open(folder), jury


def test_a_permuted_rubric_is_asked_again_in_the_order_that_each_judge_saw(tmp_path):
    run, jury = permuted(tmp_path / "run")
    found = ask_again_sync(run, Again(items=12, repetitions=3), jury=jury)
    assert (found.asked.live, found.asked.recalled) == (48, 24)
    notes = {(line["judge"], tuple(line["notes"])) for line in lines_of(tmp_path / "run")}
    assert len(notes) == 2  # two judges, each in its own order
    assert replay(tmp_path / "run").same
    told = stability(audited(Run.open(tmp_path / "run")))
    r, s = told.judges
    assert (r.retest.usable, r.retest.flipped, s.retest.flipped) == (12, 1, 0)
    assert r.reordered.value is None  # each judge saw one order


def test_the_orders_of_a_permuted_rubric_are_no_repetitions(tmp_path):
    run, jury = permuted(tmp_path / "run", repetitions=3)
    before = stability(audited(run))
    assert before.reason.startswith("no order of this permuted rubric was asked twice")
    assert before.judges[0].reordered.value == 1.0  # it passes only where `right` comes first
    assert quote_again(run, Again(items=12, repetitions=2), jury=jury).calls == 24
    found = ask_again_sync(run, Again(items=12, repetitions=2), jury=jury)
    assert (found.asked.live, found.asked.recalled) == (24, 24)
    assert replay(tmp_path / "run").same  # the answers in other orders are still told apart
    told = stability(audited(Run.open(tmp_path / "run"))).judges[0]
    assert told.retest.flip_rate.value == pytest.approx(1 / 12)  # a1
    assert told.beyond.value > 0.5


def test_a_permuted_rubric_is_made_again_from_its_folder(tmp_path):
    provider = ScriptedProvider(by_order, name="openai")
    judges = [JudgeSpec(f"openai/gpt-5-{n}", id=n, provider=provider) for n in ("mini", "nano")]
    config = {"rubric": RUBRIC, "permute": True, "judges": judges, "repetitions": 2}
    run_sync(RunSpec(ROWS, config, cache=False), tmp_path / "run")
    quote = quote_again(Run.open(tmp_path / "run"), Again(items=12, repetitions=3))
    assert (quote.known, quote.calls) == (24, 48)


def test_criteria_of_a_permuted_rubric_are_asked_again_one_by_one(tmp_path):
    def answer(request):
        key = next(k for k in KEYS if f"Is it {k}?" in request.prompt)
        return {key: {"evidence": [], "reasoning": "", "score": request.repetition % 2}}

    judge = JudgeSpec("scripted/r", provider=ScriptedProvider(answer))
    jury = llm_jury(rubric=RUBRIC, ask="each", permute=True, judges=[judge])
    run_sync(RunSpec(ROWS, jury, cache=False), tmp_path / "run")
    found = ask_again_sync(Run.open(tmp_path / "run"), Again(items=2, repetitions=2), jury=jury)
    assert (found.asked.live, found.asked.recalled) == (6, 6)
    assert stability(audited(Run.open(tmp_path / "run"))).judges[0].retest.flip_rate.value == 1.0


def test_money_of_its_own_is_at_risk_in_the_folder_while_it_is_spent(tmp_path):
    seen = []

    def dear(output):
        record = tmp_path / AT_RISK
        seen.append(json.loads(record.read_text())["dollars"] if record.exists() else None)
        return {"value": True, "usage": {"cost": 0.25}}

    jury = llm_jury(criteria="c", judges=[JudgeSpec(function=dear, id="f", max_cost=0.5)])
    run_sync(RunSpec(ROWS[:4], jury, cache=False), tmp_path)
    assert seen == [None] * 4
    seen.clear()
    run = Run.open(tmp_path)
    found = ask_again_sync(run, Again(items=1, repetitions=2, budget=3.0), jury=jury)
    assert (found.spent, found.unsure, seen) == (0.25, 0.0, [1.5])  # what the run did cost, and the most of this call
    assert not (tmp_path / AT_RISK).exists()

    (tmp_path / AT_RISK).write_text('{"dollars":2.0}\n')  # as a kill with a call in flight leaves it
    ask_again_sync(run, Again(items=1, repetitions=3, budget=3.0), jury=jury)
    told = [h for h in Run.open(tmp_path).manifest.history if h.get("killed")]
    assert [h["unsure"] for h in told] == [pytest.approx(0.75)]
    assert seen == [1.5, pytest.approx(2.5)]
    assert not (tmp_path / AT_RISK).exists()
    capped = run_sync(RunSpec(ROWS, jury, cache=False, budget=2.5), tmp_path)
    assert capped.spent + capped.unsure <= 2.5


def test_a_lost_call_under_its_own_budget_counts_in_those_of_the_run(tmp_path):
    judge = JudgeSpec(
        "gpt-5-mini", id="m", provider=Priced(len(ROWS)), settings={"temperature": 0.3, "retries": 0, "max_tokens": 100}
    )
    jury = llm_jury(criteria="Is it good?", judges=[judge])
    run_sync(RunSpec(ROWS, jury, cache=False), tmp_path)
    found = ask_again_sync(Run.open(tmp_path), Again(items=1, repetitions=2, budget=1.0), jury=jury)
    assert found.unsure > 0
    assert Run.open(tmp_path).manifest.history[-1]["unsure"] == pytest.approx(found.unsure)
    later = run_sync(RunSpec(ROWS, jury, cache=False, budget=1.0), tmp_path)
    assert later.unsure == pytest.approx(found.unsure)


class Priced:
    """Has a list price, and is lost after so many answers."""

    name = "openai"

    def __init__(self, answers):
        self.left = answers

    async def complete(self, request):
        self.left -= 1
        if self.left < 0:
            raise ProviderError("timeout", "no answer")
        return Reply(YES, model=request.model, usage=Usage(1, 100, 10))
