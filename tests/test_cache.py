"""The shared cache: a key is paid for once, failures are not kept, a broken cache costs nothing but itself."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
import sys
from pathlib import Path

import pytest

from jury import ConfigError, JudgeSpec, MissingExtra, Reply, ScriptedProvider, Usage
from jury.cache import VERSION, SqliteCache, default_path, opened, shown
from jury.keys import KeyMaker
from jury.runner import RunSpec, run_sync
from jury.store import Run

KEYS = [f"{i:064x}" for i in range(1000)]
ROWS = [{"id": f"r{i}", "input": "q", "output": f"a{i}"} for i in range(4)]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("JURY_CACHE", str(tmp_path / "cache.sqlite"))
    return tmp_path / "cache.sqlite"


def test_what_is_put_is_there_for_others(path):
    first, second = SqliteCache(path), SqliteCache(path)
    first.put(KEYS[0], "one", "m")
    assert first.get(KEYS[0]) == "one"
    first.close()
    assert second.get(KEYS[0]) == "one"
    assert second.get(KEYS[1]) is None
    second.put(KEYS[0], "another", "m")
    second.close()
    assert SqliteCache(path).get(KEYS[0]) == "one"  # the first one counts


def test_entries_are_written_after_a_second_or_some(path):
    times = [0.0]
    cache = SqliteCache(path, clock=lambda: times[0])
    cache.put(KEYS[0], "x", "m")
    assert SqliteCache(path).get(KEYS[0]) is None
    times[0] = 2.0
    cache.put(KEYS[1], "y", "m")
    assert SqliteCache(path).get(KEYS[0]) == "x"
    times[0] = -100.0  # the clock went back
    cache.put(KEYS[2], "z", "m")
    assert SqliteCache(path).get(KEYS[2]) == "z"
    for key in KEYS[3:80]:
        cache.put(key, "more", "m")
    assert SqliteCache(path).get(KEYS[3]) == "more"


def test_stats_and_prune(path):
    times = [1_000_000.0]
    cache = SqliteCache(path, clock=lambda: times[0])
    for i, key in enumerate(KEYS):
        cache.put(key, "v" * 100, "big" if i % 4 else "small")
    stats = cache.stats()
    assert (stats.entries, stats.models) == (1000, (("big", 750), ("small", 250)))
    assert stats.made == (1_000_000, 1_000_000)
    assert 100_000 < stats.bytes < 1_000_000
    times[0] += 10 * 86_400
    assert cache.get(KEYS[7]) is not None  # used today
    assert cache.prune(unused_days=5) == 999
    assert [cache.get(k) is not None for k in (KEYS[6], KEYS[7])] == [False, True]
    for key in KEYS:
        cache.put(key, "v" * 100, "m")
    before = cache.stats().bytes
    assert cache.prune(max_bytes=before // 2) > 0
    assert cache.stats().bytes <= before // 2
    left = cache.stats().entries
    assert cache.prune(everything=True) == left
    assert cache.stats().made is None
    with pytest.raises(ConfigError):
        cache.prune(unused_days=-1)


def _fill(path, keys):
    cache = SqliteCache(Path(path))
    for key in keys:
        cache.put(key, key, "m")
    cache.close()


def test_processes_share_it(path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fill, args=(str(path), KEYS[i::3])) for i in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    cache = SqliteCache(path)
    assert all(cache.get(k) == k for k in KEYS)


@pytest.mark.parametrize("trouble", ["garbage", "version", "a folder", "no folder"])
def test_a_cache_that_cannot_be_used_is_a_warning(tmp_path, caplog, trouble):
    path = tmp_path / "c.sqlite"
    if trouble == "garbage":
        path.write_bytes(b"this is no database" * 500)
    elif trouble == "version":
        db = sqlite3.connect(path)
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
        db.close()
    elif trouble == "a folder":
        path.mkdir()
    else:
        path.write_text("")
        path = path / "under" / "c.sqlite"
    assert opened(path) is None
    assert "cannot be used" in caplog.text


def test_a_cache_that_breaks_on_the_way_is_a_warning(path, caplog):
    cache = SqliteCache(path)
    cache._db.close()
    cache.put(KEYS[0], "x", "m")
    assert cache.get(KEYS[1]) is None
    cache.close()
    assert "failed" in caplog.text


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("JURY_CACHE", "off")
    assert default_path() is None
    assert opened() is None
    assert opened(False) is None
    monkeypatch.setenv("JURY_CACHE", str(tmp_path / "x"))
    assert default_path() == tmp_path / "x"
    monkeypatch.delenv("JURY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert default_path() == tmp_path / "jury" / "judgments.sqlite"


def provider(fails=()):
    """A model with a price, which stumbles over some items."""

    def answer(request):
        if any(text in request.prompt for text in fails):
            return None
        return Reply('{"explanation": "e", "value": true}', model="m", usage=Usage(1, 10, 2, cost=0.25))

    return ScriptedProvider(answer, rungs=("json", "text"), name="paid")


def spec_of(one, **options):
    own = {k: options.pop(k) for k in ("cache",) if k in options}
    judge = JudgeSpec("paid/m", provider=one, settings={"retries": 0, "reask": 0})
    return RunSpec(ROWS, {"criteria": "c", "judges": [judge], **options}, **own)


def test_another_run_pays_nothing_for_the_same_question(path, tmp_path):
    first, second = provider(), provider()
    paid = run_sync(spec_of(first), tmp_path / "one")
    free = run_sync(spec_of(second), tmp_path / "two")
    assert (paid.asked.live, paid.asked.cached, paid.totals["cost"]) == (4, 0, 1.0)
    assert (free.asked.live, free.asked.cached, free.totals["cost"]) == (0, 4, 0.0)
    assert second.requests == []
    assert free.totals["n_pass"] == 4
    assert {j.source for j in Run.open(tmp_path / "two").judgments()} == {"cache"}
    again = run_sync(spec_of(second, aggregator="majority"), tmp_path / "two")  # the folder has them now
    assert (again.asked.live, again.asked.cached, again.asked.recalled) == (0, 0, 4)


def test_failures_are_not_kept(path, tmp_path):
    run_sync(spec_of(provider(fails=["a1"])), tmp_path / "one")
    healed = provider()
    report = run_sync(spec_of(healed), tmp_path / "two")
    assert (report.asked.live, report.asked.cached) == (1, 3)
    assert report.totals["n_pass"] == 4


def test_repetitions_are_questions_of_their_own(path, tmp_path):
    run_sync(spec_of(provider()), tmp_path / "one")
    report = run_sync(spec_of(provider(), repetitions=3), tmp_path / "two")
    assert (report.asked.live, report.asked.cached) == (8, 4)


def test_without_a_cache(path, tmp_path):
    run_sync(spec_of(provider(), cache=False), tmp_path / "one")
    assert not path.exists()
    other = tmp_path / "other.sqlite"
    run_sync(spec_of(provider(), cache=str(other)), tmp_path / "two")
    assert SqliteCache(other).stats().entries == 4


def test_functions_and_scripts_are_not_shared(path, tmp_path):
    direct = ScriptedProvider(lambda r: '{"value": true}')
    spec = RunSpec(ROWS, {"criteria": "c", "judges": [lambda output: True, JudgeSpec("scripted/x", provider=direct)]})
    run_sync(spec, tmp_path / "one")
    assert SqliteCache(path).stats().entries == 0


def test_an_entry_that_cannot_be_read_is_asked_again(path, tmp_path, caplog):
    spec = spec_of(provider())
    run_sync(spec, tmp_path / "one")
    db = sqlite3.connect(path)
    db.execute("UPDATE judgments SET value = '{\"key\": 1}'")
    db.commit()
    db.close()
    report = run_sync(spec_of(provider()), tmp_path / "two")
    assert (report.asked.live, report.totals["n_pass"]) == (4, 4)
    assert "cannot be read" in caplog.text
    assert len(KeyMaker("who", None, None, None).request("x")) == 64


@pytest.mark.parametrize(("name", "extra"), [("redis", "redis"), ("postgresql", "postgres")])
def test_a_missing_client_says_what_to_install(name, extra, monkeypatch):
    for module in ("redis", "pg8000", "pg8000.native"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"jury-llm\[{extra}\]"):
        opened(f"{name}://127.0.0.1/0")


def test_addresses():
    assert shown("redis://:secret@host:6379/0?x=secret") == "redis://host:6379/0"
    assert shown("postgresql://me:se@cret@host/db") == "postgresql://host/db"
    assert shown(True) is True
    with pytest.raises(ConfigError, match="begins with redis"):
        opened("mysql://u:secret@host/db")


def test_half_a_surrogate_pair_is_kept(path):
    value = json.dumps({"reply": "\ud800 half"}, ensure_ascii=False)
    cache = SqliteCache(path)
    cache.put(KEYS[0], value, "m")
    cache.close()
    again = SqliteCache(path)
    assert json.loads(again.get(KEYS[0])) == {"reply": "\ud800 half"}
    again.close()
