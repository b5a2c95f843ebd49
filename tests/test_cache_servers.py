"""The cache on a server, against real ones from Debian's packages: as the file is, and a fault costs only itself."""

from __future__ import annotations

import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from jury import ConfigError, JudgeSpec, Reply, ScriptedProvider, Usage
from jury.cache import opened
from jury.cache_servers import connect
from jury.cli.__main__ import main
from jury.runner import RunSpec, run_sync
from jury.store import Run
from tests.servers import stores

KEYS = [f"{i:064x}" for i in range(300)]
ROWS = [{"id": f"r{i}", "input": "q", "output": f"a{i}"} for i in range(4)]


@pytest.fixture(scope="module")
def redis():
    pytest.importorskip("redis")
    if stores.redis_binary() is None:
        pytest.skip("SKIPPED: Debian's redis-server is not installed")
    with stores.redis_server() as url:
        yield url


@pytest.fixture(scope="module")
def postgres():
    pytest.importorskip("pg8000")
    if stores.postgres_home() is None:
        pytest.skip("SKIPPED: Debian's postgresql is not installed")
    with stores.postgres_server() as url:
        yield url


@pytest.fixture(params=["redis", "postgres"])
def url(request):
    found = request.getfixturevalue(request.param)
    cache = connect(found)
    cache.prune(everything=True)
    cache.close()
    return found


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    monkeypatch.setattr("jury.cache_servers.TIMEOUT_S", 60.0)


pytestmark = pytest.mark.slow


def test_what_is_put_is_there_for_others(url):
    first, second = connect(url), connect(url)
    first.put(KEYS[0], "one", "m")
    assert first.get(KEYS[0]) == "one"
    first.close()
    assert second.get(KEYS[0]) == "one"
    assert second.get(KEYS[1]) is None
    second.put(KEYS[0], "another", "m")
    second.close()
    third = connect(url)
    assert third.get(KEYS[0]) == "one"  # the first one counts
    third.close()


@pytest.mark.parametrize("text", ["ü\u2028 \U0001f600", 'a "quote" \\ and \\u0000', "\ud800 half a pair"])
def test_every_text_comes_back(url, text):
    value = json.dumps({"reply": text}, ensure_ascii=False)
    cache = connect(url)
    cache.put(KEYS[0], value, "m")
    cache.close()
    again = connect(url)
    assert json.loads(again.get(KEYS[0])) == {"reply": text}
    again.close()


def test_stats_and_prune(url):
    cache, start = connect(url), int(time.time())
    for key in KEYS:
        cache.put(key, "x" * 100, "openai/m")
    found = cache.stats()
    assert found.entries == 300
    assert found.bytes > 300 * 100
    assert "only-for-tests" not in str(found)
    assert found.models == (("openai/m", 300),)
    assert start <= found.made[0] <= found.made[1] <= time.time()
    assert cache.prune(unused_days=1) == 0
    gone = cache.prune(max_bytes=20_000)
    assert 0 < gone < 300
    assert cache.stats().models == (("openai/m", 300 - gone),)
    assert cache.prune(unused_days=0) == 300 - gone
    assert (cache.stats().entries, cache.stats().models, cache.stats().made) == (0, (), None)
    with pytest.raises(ConfigError):
        cache.prune(unused_days=-1)
    cache.close()


def test_models_and_what_the_server_threw_out(redis):
    import redis as client

    cache, db = connect(redis), client.Redis.from_url(redis)
    cache.prune(everything=True)
    for at, model in enumerate(("a/few", "b/many", "b/many", "ü/\ud800")):
        cache.put(KEYS[at], "x", model)
    assert cache.stats().models == (("b/many", 2), ("a/few", 1), ("ü/?", 1))
    cache.put(KEYS[0], "y", "c/late")  # the first one counts
    assert dict(cache.stats().models)["a/few"] == 1
    db.set(f"jury:1:{KEYS[9]}", "x")  # of a version that did not tell
    db.delete(f"jury:1:{KEYS[1]}")
    assert (cache.stats().entries, cache.stats().models) == (4, (("a/few", 1), ("b/many", 1), ("ü/?", 1)))
    assert db.hlen("jury-about:1") == 4
    assert cache.prune(unused_days=1) == 0
    assert db.hlen("jury-about:1") == 3
    assert cache.prune(everything=True) == 4
    assert list(db.scan_iter()) == []
    db.close()
    cache.close()


def test_lookups_that_wait_share_a_trip(url):
    cache = connect(url)
    for key in KEYS[:200]:
        cache.put(key, f"value {key}", "m")
    cache.stats()  # sends them
    trips, read = [], cache._read
    asked, crowd = [], threading.Event()

    def slowly(keys):
        trips.append(len(keys))
        if len(trips) == 1:
            crowd.wait(120)
        time.sleep(0.02)
        return read(keys)

    def get(key):
        asked.append(key)
        if len(asked) == 32:
            crowd.set()
        return cache.get(key)

    cache._read = slowly
    with ThreadPoolExecutor(64) as pool:
        found = list(pool.map(get, KEYS))
    assert found == [f"value {key}" for key in KEYS[:200]] + [None] * 100
    assert sum(trips) == 300
    assert max(trips) > 8
    assert len(trips) < 60
    cache.close()


def test_two_processes_and_many_threads(url):
    cache, other = connect(url), connect(url)
    wrong = []

    def work(start):
        for key in KEYS[start::4]:
            cache.put(key, f"value {key}", "m")
            if cache.get(key) != f"value {key}":
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    cache.close()
    assert wrong == []
    assert all(other.get(k) == f"value {k}" for k in KEYS)
    other.close()


class Paid(ScriptedProvider):
    def __init__(self):
        super().__init__(self.answer, rungs=("json",), name="paid")

    @staticmethod
    def answer(request):
        return Reply('{"explanation": "\\ud83d half", "value": true}', model="m", usage=Usage(1, 10, 2, cost=0.5))


def spec_of(provider, url, rows=ROWS):
    judges = [JudgeSpec("paid/j", provider=provider, id="j")]
    return RunSpec(rows, {"criteria": "c", "judges": judges}, cache=url)


def test_another_run_pays_nothing(url, tmp_path):
    provider = Paid()
    twins = [*ROWS, {"id": "twin", "input": "q", "output": "a0"}]
    first = run_sync(spec_of(provider, url, twins), tmp_path / "one")
    assert (first.asked.live, first.asked.same) == (4, 1)
    second = run_sync(spec_of(provider, url, twins), tmp_path / "two")
    assert (second.asked.live, second.asked.cached + second.asked.same, second.spent) == (0, 5, 0)
    assert len(provider.requests) == 4
    assert [r.value for _, r in Run.open(tmp_path / "two").results()] == [True] * 5
    for folder in ("one", "two"):
        for file in (tmp_path / folder).iterdir():
            assert b"only-for-tests" not in file.read_bytes()
    assert "127.0.0.1" in Run.open(tmp_path / "two").manifest.spec["cache"]


def test_a_damaged_entry_is_asked_again(redis, tmp_path, caplog):
    import redis as client

    def spec(provider):
        return RunSpec(
            ROWS[:1], {"criteria": "damaged", "judges": [JudgeSpec("scripted/j", provider=provider)]}, cache=redis
        )

    run_sync(spec(ScriptedProvider(lambda r: '{"value": true}', rungs=("json",))), tmp_path / "one")
    db = client.Redis.from_url(redis)
    for name in db.scan_iter(match="jury:*"):
        db.set(name, b"\xff\xfe")
    db.close()
    report = run_sync(spec(ScriptedProvider(lambda r: '{"value": true}', rungs=("json",))), tmp_path / "two")
    assert (report.asked.live, report.totals["n_pass"]) == (1, 1)
    assert "cannot be read" in caplog.text


def test_the_command_line(url, monkeypatch, capsys):
    monkeypatch.setenv("JURY_CACHE", url)
    cache = opened(True)
    cache.put(KEYS[0], "x", "m")
    cache.close()
    for arguments, entries in ((["stats"], 1), (["prune", "--all"], 0)):
        with pytest.raises(SystemExit) as left:
            main(["cache", *arguments, "--json"])
        out, err = capsys.readouterr()
        assert (left.value.code or 0) == 0
        assert json.loads(out)["entries"] == entries
        assert "only-for-tests" not in out + err


def test_a_server_that_goes_away_costs_only_itself(tmp_path, caplog, request):
    for kind, start in (("redis", stores.redis_server), ("postgres", stores.postgres_server)):
        request.getfixturevalue(kind)  # skips where it is not installed
        caplog.clear()
        with start() as url:
            cache = connect(url)
            cache.put(KEYS[0], "one", "m")
            cache.stats()
            assert cache.get(KEYS[0]) == "one"
        with caplog.at_level(logging.WARNING):
            assert cache.get(KEYS[1]) is None
            assert cache.get(KEYS[2]) is None  # it is left alone for a while
            cache.put(KEYS[3], "x", "m")
            cache.close()
        said = [r.getMessage() for r in caplog.records]
        assert len(said) == 1, said
        assert "going on without it" in said[0]
        assert "only-for-tests" not in said[0]
        report = run_sync(spec_of(Paid(), url), tmp_path / kind)
        assert report.totals["n_pass"] == 4


def test_a_wrong_password_is_a_warning_without_it(url, caplog):
    wrong = url.replace("only-for-tests", "some-other-secret")
    with caplog.at_level(logging.WARNING):
        assert opened(wrong) is None
    assert "going on without" in caplog.text
    assert "some-other-secret" not in caplog.text
