"""CPU per judge call of a whole jury beside a plain loop over the official client, and beside evaluatorq if it is had.

    python -m benchmarks.call_cpu [--pairs 5] [--calls 2000] [--transport default|aiohttp] [--api chat|messages]
                                  [--evaluatorq PYTHON] [--json]

Each program runs in a fresh process against the same mock provider, one after the other, the order turned around in
every second round. The figure is user + system time of the process between the end of a warm-up and the last verdict,
divided by the calls that the provider counted. The ratio is to the raw loop (default transport) of the same round: a
busy machine moves both. Goals: 0.85 or less on the default transport, 0.50 or less with the `aiohttp` extra.
"""

from __future__ import annotations

import argparse
import subprocess
from typing import Any

from benchmarks.measure import JUDGES, child, finish, machine, show, spread
from benchmarks.mock_provider import MockProvider

GOALS = {"default": 0.85, "aiohttp": 0.50}


def _programs(transport: str, evaluatorq: str | None) -> dict[str, tuple[str, str, str | None]]:
    """Name -> module, transport, interpreter."""
    programs: dict[str, tuple[str, str, str | None]] = {"raw": ("benchmarks.raw_loop", "default", None)}
    if transport == "aiohttp":
        programs["raw, aiohttp"] = ("benchmarks.raw_loop", "aiohttp", None)
    programs["jury"] = ("benchmarks.jury_loop", transport, None)
    if evaluatorq:
        programs["evaluatorq"] = ("benchmarks.evaluatorq_loop", "default", evaluatorq)
    return programs


def _without(evaluatorq: str | None) -> str | None:
    """Why evaluatorq is not measured, or None."""
    if evaluatorq is None:
        return "evaluatorq is left out: name an interpreter that has it with --evaluatorq PYTHON"
    try:
        done = subprocess.run([evaluatorq, "-c", "import evaluatorq"], capture_output=True, check=False)
    except OSError as error:
        return f"evaluatorq is left out: {error}"
    return None if done.returncode == 0 else f"evaluatorq is left out: {evaluatorq} cannot import it"


def measure(
    pairs: int, calls: int, transport: str, evaluatorq: str | None, in_flight: int = 64, api: str = "chat"
) -> dict[str, Any]:
    """All rounds: per program `us_per_call`, `ratio` to raw, `bytes_per_call`, `peak_mb`."""
    reason = _without(evaluatorq)
    programs = _programs(transport, None if reason else evaluatorq)
    items = max(1, calls // len(JUDGES))
    warm = min(40, items)
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    with MockProvider() as mock:
        for number in range(pairs):
            for name in list(programs) if number % 2 == 0 else list(reversed(programs)):
                module, wire, python = programs[name]
                sizes = [f"--items={items}", f"--warm={warm}", f"--in-flight={in_flight}"]
                sizes += [f"--transport={wire}", f"--api={api}"]
                given = {"python": python} if python else {}
                got = child(module, "--url", mock.url, *sizes, **given)
                seen = mock.stats()
                expected = got["calls"] + warm * len(JUDGES)
                if seen["requests"] != expected:
                    raise RuntimeError(f"{name} made {seen['requests']} requests for {expected} judgments")
                per_call = got["cpu_s"] / got["calls"] * 1e6
                size = seen["bytes"] / seen["requests"]
                rounds[name].append({"us": per_call, "bytes": size, "peak_mb": got["peak_mb"]})
    return {
        "transport": transport,
        "api": api,
        "goal": GOALS[transport],
        "pairs": pairs,
        "calls": items * len(JUDGES),
        "in_flight": in_flight,
        "programs": {name: _summary(runs, rounds["raw"]) for name, runs in rounds.items()},
        "left_out": reason,
        "machine": machine("openai", "anthropic", "httpx2", "httpx", "aiohttp", "pydantic"),
    }


def _summary(runs: list[dict[str, float]], raw: list[dict[str, float]]) -> dict[str, Any]:
    return {
        "ratio": spread([run["us"] / base["us"] for run, base in zip(runs, raw, strict=True)]),
        "us_per_call": spread([run["us"] for run in runs]),
        "bytes_per_call": round(runs[-1]["bytes"]),
        "peak_mb": round(max(run["peak_mb"] for run in runs)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU per judge call beside a plain loop over the official client.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--calls", type=int, default=2000, help="judge calls of each program in each round")
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--transport", choices=sorted(GOALS), default="default")
    parser.add_argument("--api", choices=["chat", "messages"], default="chat", help="OpenAI's or Anthropic's")
    parser.add_argument("--evaluatorq", metavar="PYTHON", help="an interpreter that has evaluatorq")
    options = parser.parse_args()
    sizes = (options.pairs, options.calls, options.transport)
    result = measure(*sizes, options.evaluatorq, options.in_flight, options.api)
    if not options.json:
        rows = [
            [
                name,
                "{median:.2f} ({low:.2f}-{high:.2f})".format(**one["ratio"]),
                "{median:.0f} ({low:.0f}-{high:.0f})".format(**one["us_per_call"]),
                str(one["bytes_per_call"]),
                str(one["peak_mb"]),
            ]
            for name, one in result["programs"].items()
        ]
        rounds = f"{options.pairs} rounds of {result['calls']} calls"
        title = f"CPU per judge call, {options.api}, {options.transport} transport, {rounds}"
        show(title, ["program", "ratio to raw", "us per call", "request bytes", "peak MB"], rows)
        print(f"\ngoal for jury: {result['goal']} or less" + (f"\n{result['left_out']}" if result["left_out"] else ""))
    finish(result, options.json)


if __name__ == "__main__":
    main()
