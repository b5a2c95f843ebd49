"""The synchronous edge: one loop that survives what its tasks raise, rows read where they belong, interrupts."""

import asyncio
import os
import signal
import subprocess
import sys
import threading

import pytest

from jury import llm_jury, sync


def doubled(rows, in_flight=4):
    from jury.streams import as_completed

    async def double(i):
        await asyncio.sleep(0)
        return 2 * i

    return as_completed(rows, double, in_flight, ordered=True)


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_the_loop_survives_what_ends_a_process(ending):
    async def ends():
        raise ending("now")

    async def fine():
        return 1

    with pytest.raises(ending, match="now"):
        sync.run(ends())
    assert sync.run(fine()) == 1


def test_rows_are_read_in_the_callers_thread_and_no_further_than_needed():
    read = []

    def rows():
        for i in range(50):
            read.append(threading.current_thread())
            yield i

    results = sync.iterate(rows(), doubled)
    assert [next(results) for _ in range(3)] == [0, 2, 4]
    results.close()
    assert set(read) == {threading.current_thread()}
    assert len(read) <= 8
    assert list(sync.iterate(range(20), doubled)) == [2 * i for i in range(20)]
    assert list(sync.iterate([1, 2], doubled)) == [2, 4]


def test_rows_that_wait_hold_up_nobody_elses_calls():
    jury = llm_jury(criteria="c", judges=[lambda output: True])
    reached, release = threading.Event(), threading.Event()

    def rows():
        reached.set()
        assert release.wait(120)
        yield {"output": "o"}

    got = []
    other = threading.Thread(target=lambda: got.extend(jury.judge_many_sync(rows())))
    other.start()
    try:
        assert reached.wait(120)
        assert jury.judge_sync(output="o").passed  # on the same loop
    finally:
        release.set()
        other.join()
    assert [r.passed for r in got] == [True]


def test_what_reading_the_rows_raises_comes_after_the_results_before_it():
    def rows():
        yield 1
        yield 2
        raise OSError("torn")

    results = sync.iterate(rows(), doubled)
    assert [next(results), next(results)] == [2, 4]
    with pytest.raises(OSError, match="torn"):
        next(results)


def test_an_interrupt_leaves_as_such_and_the_edge_goes_on():
    code = (
        "import asyncio, os, signal\n"
        "from jury import llm_jury\n"
        "async def slow(output):\n"
        "    if output == 'stop': os.kill(os.getpid(), signal.SIGINT)\n"
        "    await asyncio.sleep(0 if output == 'fast' else 60); return True\n"
        "jury = llm_jury(criteria='c', judges=[slow])\n"
        "got = []\n"
        "try:\n"
        "    for r in jury.judge_many_sync({'output': o} for o in ('fast', 'stop', 'slow')): got.append(r.value)\n"
        "except KeyboardInterrupt as error:\n"
        "    print('interrupted', error.__context__, got)\n"
        "print(jury.judge_sync(output='fast').value)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout in ("interrupted None [True]\nTrue\n", "interrupted None []\nTrue\n")
    assert ran.stderr == ""


def test_an_interrupt_before_a_step_is_held_leaves_nothing_running(monkeypatch):
    ended: list[str] = []

    async def forever(_):
        try:
            yield 1
            await asyncio.sleep(60)
        finally:
            ended.append("closed")

    results = sync.iterate([], forever)
    assert next(results) == 1
    submit = asyncio.run_coroutine_threadsafe

    def interrupted(work, loop):
        monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", submit)
        submit(work, loop)
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert ended == ["closed"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_loop_and_threads_of_its_own():
    code = (
        "import os, sys\n"
        "from jury import llm_jury\n"
        "jury = llm_jury(criteria='c', judges=[lambda output: True])\n"
        "jury.judge_sync(output='o')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if jury.judge_sync(output='o').passed else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        assert child.wait(120) == 0
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
