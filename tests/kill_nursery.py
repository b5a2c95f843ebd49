"""Runs that are killed: a process that forks one run after the other and kills it at a random moment.

    python -m tests.kill_nursery PORT FOLDER KILLS SEED [target]

Its judges ask a server on PORT, which counts; with `target` so does a target, and the judges are a cascade. Prints how
often it killed, as JSON. Only for `test_kill.py`.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from jury import JudgeSpec, Reply, Usage
from jury.runner import RunSpec, run

ITEMS = 60
REPLIES = ("true", "false")


class Counted:
    """A judge behind a socket: whatever it answers was paid for."""

    def __init__(self, port: int) -> None:
        self.name = "counted"
        self._port = port

    def rungs(self, model: str, settings: Any = None) -> tuple[Any, ...]:
        return ("json",)

    async def complete(self, request: Any) -> Reply:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        text = " ".join(request.prompt.split())
        writer.write(f"{request.model} {request.repetition} {text}\n".encode())
        value = (await reader.readline()).decode().strip()
        writer.close()
        return Reply(f'{{"explanation": "e", "value": {value}}}', model=request.model, usage=Usage(1, 10, 2, cost=0.01))


class Bot:
    """A target behind the same socket; reports what it cost."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __call__(self, input: str) -> tuple[str, dict[str, float]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(f"target {input}\n".encode())
        said = (await reader.readline()).decode().strip()
        writer.close()
        return f"answer {input} {said}", {"cost": 0.02}


def with_target(port: int) -> RunSpec:
    """The same with a target that makes the outputs, and a cascade: two judges first, the third where they differ."""
    plain = spec(port)
    rows = [{"id": f"r{i}", "input": f"q{i}"} for i in range(ITEMS)]
    cascade = {"escalate": [["counted/j0", "counted/j1"], "rest"]}
    return plain.with_changes(data=rows, jury={**plain.jury, **cascade}, target=Bot(port))


def spec(port: int) -> RunSpec:
    rows = [{"id": f"r{i}", "input": "q", "output": f"answer {i}"} for i in range(ITEMS)]
    provider = Counted(port)
    judges = [JudgeSpec(f"counted/j{i}", provider=provider) for i in range(3)]
    jury = {"criteria": "c", "judges": judges, "repetitions": 2, "prompt": "{{criteria}} {{output.response}}"}
    return RunSpec(rows, jury, cache=False, concurrency=4)


def once(port: int, folder: str, mode: str = "") -> int:
    report = asyncio.run(run(with_target(port) if mode == "target" else spec(port), folder))
    return 0 if report.finished else 1


def main() -> None:
    port, home, kills, seed = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    mode = sys.argv[5] if len(sys.argv) > 5 else ""
    draw = random.Random(seed)
    done, finished, number, longest = 0, [], 0, 0.3
    while done < kills or not finished or finished[-1] != number:
        born = time.monotonic()
        child = os.fork()
        if child == 0:
            os._exit(once(port, str(home / str(number)), mode))
        moment = born + draw.random() * longest if done < kills else born + 120
        status = 0
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid or time.monotonic() >= moment:
                break
            time.sleep(0.001)
        if not pid:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            done += 1
        elif os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit(f"a run ended with {status}")
        else:
            finished.append(number)
            if done < kills:
                number += 1
    print(json.dumps({"kills": done, "folders": number + 1}))


if __name__ == "__main__":
    main()
