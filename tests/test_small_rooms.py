"""Small rooms: configuration, prompts, families, scripted provider, streams, tasks, the synchronous edge, summaries."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref

import pytest

from jury import (
    CallError,
    ConfigError,
    JudgeSpec,
    PanelResult,
    ProviderError,
    Reply,
    Request,
    ScriptedProvider,
    Usage,
    config,
    llm_jury_pairwise,
    prompts,
    summarize,
    sync,
    win_rate,
)
from jury.families import family
from jury.streams import as_completed
from jury.summary import Summary
from jury.tasks import Limiter, together

# Nine lists, each of nine of the one before: four hundred million entries, and each list is there once.
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture
def clean(bare_folder):
    return bare_folder


def test_the_environment_comes_before_the_file(clean, monkeypatch):
    (clean / "jury.yaml").write_text("judges: [a/file]\n", "utf-8")
    assert config.default_judges() == ("a/file",)
    monkeypatch.setenv("JUDGE_MODEL", "a/single")
    assert config.default_judges() == ("a/single",)
    monkeypatch.setenv("JURY_JUDGES", "a/one, b/two ,")
    assert config.default_judges() == ("a/one", "b/two")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("judges: a/b", "must be a list"),
        ("[1, 2]", "mapping"),
        ("judge: [a/b]", "unknown"),
        ("defaults: {temperature: 1}", "unknown"),
        ("providers: {x: 3}", "providers.x"),
        ("a: [", "not a readable YAML"),
    ],
)
def test_a_wrong_configuration_file_is_named(clean, text, says):
    (clean / "jury.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=says):
        config.load()


def test_a_named_configuration_must_exist(clean, monkeypatch):
    assert config.load() == config.Config()
    monkeypatch.setenv("JURY_CONFIG", str(clean / "none.yaml"))
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        config.load()


def test_shipped_prompts_have_names_versions_and_digests():
    for name in prompts.names():
        spec = prompts.load(name)
        assert spec.name == name
        assert spec.version != "0"
        assert len(spec.digest) == 16
        assert spec.user.strip()
    with pytest.raises(ConfigError, match="pointwise"):
        prompts.load("pointwize")


def test_own_prompts_are_files_with_or_without_front_matter(tmp_path):
    plain = tmp_path / "plain.md"
    plain.write_text("Judge: {{output.response}}\n", "utf-8")
    assert prompts.load(plain).user == "Judge: {{output.response}}"
    fronted = tmp_path / "fronted.md"
    fronted.write_text('---\nname: mine\nversion: "2"\nsystem: Be fair.\n---\n\nText “quoted”\n', "utf-8")
    spec = prompts.load(fronted)
    assert (spec.name, spec.version, spec.system, spec.user) == ("mine", "2", "Be fair.", "Text “quoted”")
    for content, says in (
        ("---\nname: x\n", "never closed"),
        ("---\n[1]\n---\nx", "mapping"),
        ("---\na: [\n---\n", "YAML"),
        ("---\nname: x\nname: y\n---\nz", "line 3.*'name' stands twice"),
        ("---\nfields: {a: string, a: integer}\n---\nz", "'a' stands twice"),
        (f"---\na: {'[' * 5000}{']' * 5000}\n---\nz", "nested too deep"),
        ("---\na: &a [*a]\n---\nz", "unfold into too much"),
        (f"---\n{BOMB}---\nz", "unfold into too much"),
    ):
        fronted.write_text(content, "utf-8")
        with pytest.raises(ConfigError, match=says):
            prompts.load(fronted)
    fronted.write_bytes(b"caf\xe9")
    with pytest.raises(ConfigError, match="UTF-8"):
        prompts.load(fronted)


@pytest.mark.parametrize(
    ("written", "version"),
    [
        ("1.10", "1.10"),
        ("1.1  # new", "1.1"),
        ("2", "2"),
        ('"1.10"', "1.10"),
        ("2026-03-01", "2026-03-01"),
        ("1e3", "1e3"),
    ],
)
def test_a_version_is_what_the_front_matter_says(tmp_path, written, version):
    (tmp_path / "own.md").write_text(f"---\nname: own\nversion: {written}\n---\nversion: 3.30", "utf-8")
    assert prompts.load(tmp_path / "own.md").version == version


def test_aliases_of_a_usual_length_are_read(tmp_path):
    (tmp_path / "own.md").write_text("---\na: &a {x: [1, 2]}\nb: *a\nc: {<<: *a, x: 3}\n---\ntext", "utf-8")
    assert prompts.load(tmp_path / "own.md").meta == {"a": {"x": [1, 2]}, "b": {"x": [1, 2]}, "c": {"x": 3}}


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "", "../pointwise", 5, None, b"pointwise"])
def test_what_can_be_no_prompt_is_told_in_a_word(clean, name):
    with pytest.raises(ConfigError) as refused:
        prompts.load(name)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("anthropic/claude-x", "anthropic"),
        ("openrouter/meta-llama/llama-3.3-70b", "meta"),
        ("azure/gpt-5-mini", "openai"),
        ("local/qwen2.5-coder-1.5b", "qwen"),
        ("vllm/our-own", "vllm/our-own"),
        ("ollama/our-own", "ollama/our-own"),
        ("ollama/llama3.2:3b", "meta"),
        ("ollama/deepseek-r1:8b", "deepseek"),
        ("ollama/phi3", "microsoft"),
        ("groq/openai/gpt-oss-20b", "openai"),
        ("openai/another-name", "openai"),
        ("openai/qwen3", "qwen"),
        ("openrouter/x-ai/another-name", "xai"),
        ("writer/palmyra-x5", "writer/palmyra-x5"),
        ("us.anthropic.claude-sonnet-4-v1:0", "anthropic"),
        ("nvidia/llama-3.1-nemotron", "meta"),
    ],
)
def test_families(model, expected):
    assert family(model) == expected


def complete(provider, judge="a"):
    return asyncio.run(provider.complete(Request("m", "s", (), judge=judge)))


def test_scripts_are_lists_mappings_and_functions():
    provider = ScriptedProvider(["x", {"value": 1}, Reply("r"), None, CallError("no_data", "d")])
    assert [complete(provider).text for _ in range(3)] == ["x", '{"value": 1}', "r"]
    with pytest.raises(ProviderError, match="scripted failure"):
        complete(provider)
    with pytest.raises(CallError, match="no_data"):
        complete(provider)
    with pytest.raises(ProviderError, match="no reply left"):
        complete(provider)
    table = ScriptedProvider({"a": ["1", "2"], "b": "always"})
    assert [complete(table, j).text for j in "abab"] == ["1", "always", "2", "always"]
    with pytest.raises(ProviderError, match="'z'"):
        complete(table, "z")
    assert complete(ScriptedProvider(lambda request: request.judge)).text == "a"
    with pytest.raises(ConfigError):
        ScriptedProvider("text")


def test_a_script_may_be_an_async_function():
    from jury import llm_jury

    async def script(request):
        return {"explanation": "Right.", "value": request.judge == "scripted/a"}

    jury = llm_jury(criteria="x", judges=[JudgeSpec("scripted/a", provider=ScriptedProvider(script))])
    assert jury.judge_sync(input="q", output="a").value is True


@pytest.mark.parametrize("script", [5, None, "text"])
def test_what_is_no_script_is_named(script):
    with pytest.raises(ConfigError, match="a script is a list"):
        ScriptedProvider(script)


def test_a_script_file_plays_in_order(tmp_path):
    from jury import llm_jury

    file = tmp_path / "replies.json"
    file.write_text(json.dumps(['{"value": true}', None]), "utf-8")
    jury = llm_jury(criteria="c", judges=[f"scripted/{file}"])
    assert [jury.judge_sync("q", "a").status for _ in range(2)] == ["decided", "inconclusive"]
    file.write_text("{", "utf-8")
    with pytest.raises(ConfigError, match="not a readable JSON"):
        llm_jury(criteria="c", judges=[f"scripted/{tmp_path}/replies.json", "scripted/other"]).judge_sync("q", "a")


def test_judge_specs_say_what_is_wrong():
    for arguments, says in (
        ({}, "model or a function"),
        ({"model": "a/b", "function": print}, "model or a function"),
        ({"model": "  "}, "blank"),
        ({"model": "a/b", "weight": -1}, "weight"),
        ({"model": "a/b", "settings": {"temprature": 1}}, "temprature"),
        ({"model": "a/b", "provider": 3}, "complete"),
        ({"function": 3}, "function"),
    ):
        with pytest.raises(ConfigError, match=says):
            JudgeSpec(**arguments)


def test_together_keeps_the_order_and_leaves_no_strays():
    log = []

    async def work(i, wait, fail=False):
        try:
            await asyncio.sleep(wait)
        except asyncio.CancelledError:
            log.append(i)
            raise
        if fail:
            raise ValueError(i)
        return i

    assert asyncio.run(together([work(1, 0.01), work(2, 0)])) == [1, 2]
    with pytest.raises(ValueError, match="2"):
        asyncio.run(together([work(1, 9), work(2, 0, True), work(3, 9)]))
    assert sorted(log) == [1, 3]


def test_a_limiter_serves_several_loops():
    limiter = Limiter(1)

    async def crowd():
        most = running = 0

        async def one(number, *, more):
            nonlocal most, running
            async with limiter.gate():
                running += 1
                most = max(most, running)
                await asyncio.sleep(0)
                running -= 1
            return number + more

        assert await asyncio.gather(*[one(n, more=1) for n in range(3)]) == [1, 2, 3]
        assert most == 1

    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []
    for _ in range(5):
        with asyncio.Runner() as runner:
            loops.append(weakref.ref(runner.get_loop()))
            runner.run(crowd())
        del runner
    gc.collect()
    assert sum(loop() is not None for loop in loops) <= 1  # those before are gone, with all that waited in them


def test_streams_read_no_further_than_needed():
    read = []

    def rows():
        for i in range(100):
            read.append(i)
            yield i

    async def double(i):
        await asyncio.sleep(0)
        return 2 * i

    async def first_three():
        stream = as_completed(rows(), double, 4, ordered=True)
        got = [await anext(stream) for _ in range(3)]
        await stream.aclose()
        return got

    assert asyncio.run(first_three()) == [0, 2, 4]
    assert len(read) <= 7
    with pytest.raises(ConfigError):
        asyncio.run(anext(as_completed([], double, 0, ordered=True)))


def test_streams_raise_what_the_work_raises():
    async def fail(i):
        raise ValueError(i)

    async def collect():
        return [r async for r in as_completed([1, 2], fail, 2, ordered=False)]

    with pytest.raises(ValueError, match=r"[12]"):
        asyncio.run(collect())


@pytest.mark.parametrize("ordered", [True, False])
def test_a_result_does_not_wait_for_the_next_row(ordered):
    async def work(i):
        return i

    async def collect():
        more = asyncio.Event()

        async def rows():
            yield 1
            await more.wait()
            yield 2

        stream = as_completed(rows(), work, 4, ordered=ordered)
        got = [await asyncio.wait_for(anext(stream), 30)]
        more.set()
        return [*got, *[r async for r in stream]]

    assert asyncio.run(collect()) == [1, 2]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("asynchronous", [True, False])
def test_rows_that_fail_cost_no_result(ordered, asynchronous):
    def rows():
        yield from range(5)
        raise OSError("torn")

    async def later():
        for row in rows():
            yield row

    async def work(i):
        await asyncio.sleep(0.001 * (5 - i))
        return i

    async def collect():
        stream = as_completed(later() if asynchronous else rows(), work, 3, ordered=ordered)
        got = [await anext(stream) for _ in range(5)]
        with pytest.raises(OSError, match="torn"):
            await anext(stream)
        return got

    got = asyncio.run(collect())
    assert (got if ordered else sorted(got)) == list(range(5))


def test_closing_a_stream_early_leaves_no_strays():
    cancelled = []
    begun = asyncio.Event()

    async def work(i):
        if i == 1:
            begun.set()
        try:
            await asyncio.sleep(0 if i == 0 else 60)
        except asyncio.CancelledError:
            cancelled.append(i)
            raise
        return i

    async def rows():
        for i in range(3):
            yield i
        await asyncio.Event().wait()

    async def collect():
        stream = as_completed(rows(), work, 9, ordered=False)
        assert await anext(stream) == 0
        await asyncio.wait_for(begun.wait(), 120)
        await stream.aclose()
        return [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]

    assert asyncio.run(collect()) == []
    assert cancelled[0] == 1


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("asynchronous", [True, False])
def test_cancelling_who_reads_a_stream_does_not_depend_on_the_work(ordered, asynchronous):
    """Work that takes a cancellation for any other failure gives a result, which nobody is to get."""
    begun = asyncio.Event()

    async def work(i):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "swallowed"

    async def later():
        yield 1
        yield 2

    async def read():
        return [r async for r in as_completed(later() if asynchronous else [1, 2], work, 1, ordered=ordered)]

    async def cancelled():
        reader = asyncio.create_task(read())
        await begun.wait()
        reader.cancel()
        await asyncio.wait([reader])
        return reader.cancelled()

    assert asyncio.run(asyncio.wait_for(cancelled(), 60))


@pytest.mark.parametrize("in_flight", [0, -1, 1.5, "2", True])
def test_in_flight_is_a_number_from_one(in_flight):
    with pytest.raises(ConfigError, match="in_flight"):
        asyncio.run(anext(as_completed([], asyncio.sleep, in_flight, ordered=True)))


def test_a_sync_call_from_the_own_loop_is_refused():
    async def inner():
        return sync.run(asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="await"):
        sync.run(inner())


def test_summaries_keep_their_counts_apart():
    results = [
        PanelResult("decided", value=True, passed=True, usage=Usage(1, 5, 5, cost=0.25), calls=1),
        PanelResult("decided", value=False, passed=False, usage=Usage(1, 5, 5, cost=0.5), calls=1, calls_saved=2),
        PanelResult("not_applicable", value="NA"),
        PanelResult("inconclusive", "errors"),
        PanelResult("inconclusive", "tie"),
        PanelResult("not_judged"),
        PanelResult("decided", value="red"),
    ]
    s = summarize(results)
    assert (s.pass_rate, s.coverage, s.n_total) == (0.5, 4 / 7, 7)
    assert (s.n_pass, s.n_fail, s.n_na, s.n_error, s.n_inconclusive, s.n_not_judged, s.n_unrated) == (1,) * 7
    assert (s.usage.cost, s.calls, s.calls_saved) == (0.75, 2, 2)
    assert s.to_dict()["pass_rate"] == 0.5
    assert summarize(["PASS", "NA", " na ", "Fail"]).pass_rate == 0.5
    pair = llm_jury_pairwise(judges=[lambda response_a, response_b: "A"]).compare_sync(response_a="a", response_b="b")
    with pytest.raises(ConfigError, match="win_rate; got a Comparison"):
        summarize([pair])
    with pytest.raises(ConfigError, match="summarize; got a PanelResult"):
        win_rate([PanelResult("decided", value=True, passed=True)])
    empty = summarize([])
    assert (empty.pass_rate, empty.coverage, empty.met(0.0)) == (None, None, False)
    assert Summary(n_total=3, n_pass=3).met(1.0)


@pytest.mark.parametrize("count", [summarize, win_rate])
def test_an_unknown_word_is_not_counted_but_named(count):
    with pytest.raises(ConfigError, match="'passed' is no outcome; there are"):
        count(["passed"])


def test_a_provider_may_look_at_the_item_before_it_is_asked():
    from dataclasses import replace

    from jury import Turn, llm_jury

    class Preparing(ScriptedProvider):
        async def prepare(self, request, case):
            return replace(request, turns=(*request.turns, Turn("user", f"about {case.output}")))

    provider = Preparing(['{"value": true}'])
    llm_jury(criteria="c", judges=[JudgeSpec("scripted/x", provider=provider)]).judge_sync("q", "the answer")
    assert provider.requests[0].turns[-1].text == "about the answer"
