"""Runs of pairs with targets: both sides made on the way, or one; what a target did wrong is told by its side."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from jury import ConfigError, JudgeSpec, Reply, ScriptedProvider, Usage
from jury.audit import audited, leanings, tournament
from jury.cli.__main__ import main
from jury.runner import RunSpec, estimate, replay, run, run_batches, run_sync
from jury.runner.refill import Refill
from jury.store import Run
from jury.targets import TargetSpec
from tests.servers.answers import Answer, chat_reply
from tests.servers.batch_server import BatchServer
from tests.servers.provider_server import ProviderServer

ROWS = [{"id": f"r{i}", "question": f"q{i}", "reference": "ref", "response_b": f"given {i}"} for i in range(5)]


class Bot:
    """A target that counts; fails where a text occurs in the question."""

    def __init__(self, name, *fails):
        self.name, self.fails, self.asked = name, list(fails), []

    def __call__(self, input):
        self.asked.append(input)
        if input in self.fails:
            raise RuntimeError(f"no idea about {input}")
        return f"{self.name} says {input}"


def judge(request):
    """Whoever is called good wins, in either place."""
    first = request.prompt.find("good says")
    second = request.prompt.find("bad says") if "bad says" in request.prompt else request.prompt.find("given ")
    return {"explanation": "e", "value": "A" if first < second else "B"}


def spec_of(targets, rows=ROWS, provider=None, **options):
    judges = [JudgeSpec("scripted/j", provider=provider or ScriptedProvider(judge))]
    return RunSpec(
        rows, {"judges": judges, "retries": 0}, kind="pairwise", targets=targets, **{"cache": False, **options}
    )


def test_both_sides_are_made_and_compared_once(tmp_path):
    good, bad, provider = Bot("good"), Bot("bad"), ScriptedProvider(judge)
    spec = spec_of({"a": good, "b": bad}, provider=provider)
    first = run_sync(spec, tmp_path)
    assert (first.target.live, {s: o.live for s, o in first.targets.items()}) == (10, {"a": 5, "b": 5})
    assert (first.totals["n_a"], first.totals["n_b"], len(provider.requests)) == (5, 0, 10)
    items = list(Run.open(tmp_path).items())
    assert [(i.response_a, i.response_b) for i in items] == [(f"good says q{i}", f"bad says q{i}") for i in range(5)]
    again = run_sync(spec, tmp_path)
    assert (again.skipped, again.target.live, again.asked.live, again.changes) == (5, 0, 0, ())
    assert sorted(good.asked) == sorted(bad.asked) == [f"q{i}" for i in range(5)]
    assert replay(tmp_path).same
    assert Run.open(tmp_path).damage() == []
    refill, found = Refill(Run.open(tmp_path)), {i.id: i for i in items}
    told = [refill.texts(found[j.item], j.judgment, j.request) for j in Run.open(tmp_path).judgments()]
    assert all(t.exact for t in told)


def test_the_other_side_comes_from_the_data(tmp_path):
    good = Bot("good")
    report = run_sync(spec_of({"a": good}), tmp_path)
    assert (report.target.live, report.totals["n_a"]) == (5, 5)
    assert next((i.response_a, i.response_b) for i in Run.open(tmp_path).items()) == ("good says q0", "given 0")
    swapped = run_sync(spec_of({"b": good}, [{**r, "response_a": "given x"} for r in ROWS]), tmp_path / "swapped")
    assert (swapped.totals["n_a"], swapped.totals["n_b"]) == (0, 5)
    lacking = run_sync(spec_of({"a": good}, [{"question": "q"}]), tmp_path / "lacking")
    assert "response_b" in str(lacking.fault)


def test_a_side_that_errored_is_named_and_nobody_is_called(tmp_path):
    good, bad, provider = Bot("good", "q1"), Bot("bad", "q1", "q2"), ScriptedProvider(judge)
    spec = spec_of({"a": good, "b": bad}, provider=provider)
    first = run_sync(spec, tmp_path)
    assert (first.target.failed, first.totals["n_not_judged"], len(provider.requests)) == (3, 2, 6)
    found = {i.id: r for i, r in Run.open(tmp_path).results()}
    assert (found["r2"].winner, found["r2"].status, found["r2"].calls) == ("inconclusive", "not_judged", 0)
    assert found["r2"].errors == {"B": "exception: RuntimeError: no idea about q2"}
    assert "response B errored" in found["r2"].explanation
    assert set(found["r1"].errors) == {"A", "B"}
    kept = run_sync(spec, tmp_path, keep_errors=True)
    assert (kept.skipped, kept.target.live) == (5, 0)
    bad.fails.clear()
    good.fails.clear()
    healed = run_sync(spec, tmp_path)
    assert (healed.target.live, healed.target.recalled, healed.totals["n_not_judged"]) == (3, 1, 0)
    assert good.asked.count("q2") == 1  # only the side that failed is asked again
    assert replay(tmp_path).same


def test_where_the_given_side_errored_no_target_is_asked(tmp_path):
    good = Bot("good")
    rows = [{"id": "r", "question": "q", "error_b": "it was down"}, ROWS[0]]
    report = run_sync(spec_of({"a": good}, rows), tmp_path)
    assert (good.asked, report.totals["n_not_judged"]) == (["q0"], 1)
    found = {i.id: r for i, r in Run.open(tmp_path).results()}["r"]
    assert found.errors == {"B": "it was down"}


def test_another_target_on_one_side_is_said_and_asked(tmp_path):
    one, two = Bot("good"), Bot("bad")
    run_sync(spec_of({"a": one, "b": two}), tmp_path)
    third = TargetSpec(model="scripted/third", provider=ScriptedProvider(lambda r: Reply("third")))
    second = run_sync(spec_of({"a": one, "b": third}), tmp_path)
    assert second.changes == ("target b changed from Bot to scripted/third",)
    assert {s: (o.live, o.recalled) for s, o in second.targets.items()} == {"a": (0, 5), "b": (5, 0)}
    assert second.asked.live == 10
    back = run_sync(spec_of({"a": one}), tmp_path)
    assert back.changes == ("response B comes from the data again, from no target",)


def test_each_sides_money_is_apart_and_in_one_budget(tmp_path):
    def paid(name, cost):
        return TargetSpec(
            model=f"scripted/{name}", provider=ScriptedProvider(lambda r: Reply(name, usage=Usage(1, 9, 9, cost=cost)))
        )

    costly = ScriptedProvider(lambda r: Reply('{"value": "A"}', usage=Usage(1, 3, 1, cost=0.01)))
    report = run_sync(spec_of({"a": paid("x", 0.5), "b": paid("y", 0.25)}, provider=costly), tmp_path)
    assert {s: o.cost for s, o in report.targets.items()} == {"a": pytest.approx(2.5), "b": pytest.approx(1.25)}
    assert (report.target_spent, report.totals["cost"]) == (pytest.approx(3.75), pytest.approx(0.1))
    manifest = Run.open(tmp_path).manifest
    assert manifest.totals["target_cost"] == pytest.approx(3.75)
    assert manifest.history[-1]["targets"]["b"]["cost"] == pytest.approx(1.25)
    assert {s: t["name"] for s, t in manifest.data["targets"].items()} == {"a": "scripted/x", "b": "scripted/y"}


def test_no_call_starts_that_could_exceed_the_budget(tmp_path):
    good, bad = Bot("good"), Bot("bad")

    def priced(bot):
        def answer(input):
            return bot(input), {"cost": 0.1}

        return {"function": answer, "max_cost": 0.1, "name": bot.name}

    spec = spec_of({"a": priced(good), "b": priced(bad)}, budget=0.35)
    report = run_sync(spec, tmp_path)
    assert len(good.asked) + len(bad.asked) == 3
    judged = report.totals["n_a"]
    assert report.totals["reasons"] == {"budget": 5 - judged}
    stored = {i.id: r for i, r in Run.open(tmp_path).results()}
    assert any("does not allow to ask the target" in r.explanation for r in stored.values())
    rest = run_sync(spec.with_changes(budget=9.0), tmp_path)
    assert (rest.totals["n_a"], rest.totals["reasons"]) == (5, {})
    assert sorted(good.asked) == sorted(bad.asked) == [f"q{i}" for i in range(5)]  # nothing was asked twice
    with pytest.raises(ConfigError, match="what one call of good can cost at most: add max_cost"):
        run_sync(spec_of({"a": {"function": good, "name": "good"}, "b": bad}, budget=1), tmp_path / "other")


def test_a_target_against_itself_is_asked_twice(tmp_path):
    said = iter(range(100))
    same = TargetSpec(model="scripted/x", provider=ScriptedProvider(lambda r: Reply(f"answer {next(said)}")))
    with pytest.raises(ConfigError, match="give each side a name of its own"):
        run_sync(spec_of({"a": same, "b": same}), tmp_path / "unnamed")
    twins = {side: replace(same, name=f"x-{side}") for side in "ab"}
    report = run_sync(spec_of(twins), tmp_path / "run")
    assert (report.target.live, report.target.same) == (10, 0)
    assert all(i.response_a != i.response_b for i in Run.open(tmp_path / "run").items())
    assert run_sync(spec_of(twins), tmp_path / "run").target.live == 0


def test_who_made_the_sides_is_ranked(tmp_path):
    providers = [ScriptedProvider(lambda r, n=name: Reply(f"{n} says")) for name in ("good", "bad")]
    a, b = (TargetSpec(model=f"openai/{n}", provider=p, name=n) for n, p in zip("xy", providers, strict=True))
    run_sync(spec_of({"a": a, "b": b}, [{**r, "model_a": "stale"} for r in ROWS]), tmp_path / "both")
    audit = audited(Run.open(tmp_path / "both"))
    assert [t.target for t in tournament(audit).targets] == ["x", "y"]
    assert (audit.target("a"), audit.target("a", "model"), audit.target()) == ("x", "openai/x", None)
    run_sync(spec_of({"a": a}, [{**r, "model_b": "old"} for r in ROWS]), tmp_path / "one")
    assert {t.target for t in tournament(audited(Run.open(tmp_path / "one"))).targets} == {"x", "old"}


def test_the_row_says_which_model_a_function_asks(tmp_path):
    models = ("openai/gpt-5", "anthropic/claude-opus-4-5")
    seats = [JudgeSpec(m, provider=ScriptedProvider(judge, name=m.partition("/")[0])) for m in models]
    rows = [{**r, "model_a": "gpt-5-mini", "model_b": "claude-haiku-4-5"} for r in ROWS]
    spec = spec_of({"a": Bot("good"), "b": Bot("bad")}, rows).with_changes(jury={"judges": seats})
    run_sync(spec, tmp_path)
    assert [lean.own_family.n for lean in leanings(audited(Run.open(tmp_path)))] == [5, 5]


def test_estimate_knows_both_sides(tmp_path):
    bots = {"a": Bot("good"), "b": Bot("bad")}
    lines = {line.judge: line for line in estimate(spec_of(bots), tmp_path).lines}
    assert (lines["target a Bot"].calls, lines["target b Bot"].calls, lines["scripted/j"].calls) == (5, 5, 10)
    assert not bots["a"].asked
    run_sync(spec_of(bots, limit=2), tmp_path)
    later = {line.judge: line for line in estimate(spec_of(bots), tmp_path).lines}
    assert [(later[n].known, later[n].calls) for n in ("target a Bot", "target b Bot")] == [(2, 3)] * 2
    assert later["scripted/j"].known == 4


def test_a_model_and_an_address_against_each_other(tmp_path):
    with (
        ProviderServer(lambda r: chat_reply(f"good says {r.body['messages'][-1]['content']}")) as model,
        ProviderServer(lambda r: Answer(json.dumps({"output": f"bad says {r.body['input']}"}).encode())) as address,
    ):
        url = f"{address.openai_url}/chat/completions"
        targets = {"a": {"model": "bot", "url": model.openai_url}, "b": {"url": url}}
        report = asyncio.run(run(spec_of(targets), tmp_path))
        assert (model.count(), address.count(), report.totals["n_a"]) == (5, 5, 5)


def test_the_sides_are_made_before_a_batch_and_not_again(tmp_path):
    from jury.providers.openai import OpenAIProvider

    good = Bot("good", "q1")
    with BatchServer(lambda body: '{"explanation": "e", "value": "tie"}') as server:
        provider = OpenAIProvider(api_key="k", base_url=f"{server.url}/v1")
        spec = spec_of({"a": good})
        spec = spec.with_changes(jury={"judges": [JudgeSpec("openai/gpt-5-mini", provider=provider)], "retries": 0})

        async def sleep(seconds):
            server.finish()

        report = asyncio.run(run_batches(spec, tmp_path, sleep=sleep))
        assert (report.asked, report.answered) == (8, 8)
        final = asyncio.run(run(spec, tmp_path))
    assert (final.asked.live, final.totals["n_tie"], final.totals["n_not_judged"]) == (0, 4, 1)
    assert sorted(good.asked) == ["q0", "q1", "q1", "q2", "q3", "q4"]  # the one that failed, once more


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"kind": "pairwise", "target": "openai/x"}, "write targets: "),
        ({"targets": {"a": "openai/x"}}, "a pointwise run takes one target"),
        ({"kind": "pairwise", "targets": {"c": "openai/x"}}, "targets must be a mapping such as"),
        ({"kind": "pairwise", "targets": "openai/x"}, "targets must be a mapping such as"),
        ({"kind": "pairwise", "targets": {}}, "targets must be a mapping such as"),
        ({"kind": "pairwise", "targets": {"a": {"modle": "x"}}}, "targets, side a: unknown 'modle'"),
        ({"kind": "pairwise", "targets": {"a": "openai/x", "b": "openai/x"}}, "a and b are the same"),
        ({"kind": "pairwise", "targets": {"a": "bot.py:f"}}, "side a: 'bot.py:f' names a function"),
    ],
)
def test_wrong_words_are_told_before_anything_is_asked(tmp_path, words, says):
    with pytest.raises(ConfigError, match=says):
        RunSpec.from_mapping({"data": "x.jsonl", **words}).make_targets()


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
    (tmp_path / "bots.py").write_text(
        "def old(input):\n    return input\n\ndef new(question):\n    return question * 2\n"
        "def longer(response_a, response_b):\n    return 'A' if len(response_a) > len(response_b) else 'B'\n"
    )
    config = {"kind": "pairwise", "data": "rows.jsonl", "judges": ["bots.py:longer"], "cache": False}
    (tmp_path / "run.yaml").write_text(json.dumps({**config, "targets": {"a": "bots.py:new", "b": "bots.py:old"}}))
    with pytest.raises(SystemExit) as left:
        main(["run", "run.yaml"])
    out = capsys.readouterr().out
    assert left.value.code == 0
    assert [line.split()[:3] for line in out.splitlines() if line.startswith("target")] == [
        ["target", "a", "5"],
        ["target", "b", "5"],
    ]
    assert out.count("it reports no cost") == 2
    with pytest.raises(SystemExit):
        main(["run", "run.yaml", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["n_a"], told["target"]["recalled"], told["targets"]["a"]["live"]) == (5, 0, 0)
    with pytest.raises(SystemExit):
        main(["show", "runs/run"])
    shown = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("target")]
    assert shown == [["target", "a", "new"], ["target", "b", "old"]]
    with pytest.raises(SystemExit):
        main(["report", "runs/run", "--format", "md"])
    assert "| target a | new |" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["report", "runs/run", "-o", "run.html"])
    assert "A is made by new, B is made by old." in (tmp_path / "run.html").read_text("utf-8")
    with pytest.raises(SystemExit) as left:
        main(["check", "run.yaml"])
    assert left.value.code == 0
