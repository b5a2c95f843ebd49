"""What the benchmarks share: items to judge, CPU meters, children with one JSON line, medians, tables."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CRITERIA = (
    "The answer names the capital that the reference names, says on which river it lies, and does not claim anything "
    "that the question did not ask for. Spelling does not matter; a wrong country does."
)
JUDGES = ("mock-1", "mock-2", "mock-3")


def items(count: int) -> Iterator[dict[str, str]]:
    """Items of about 600 characters, no two alike."""
    filler = (
        "It lies on a wide river that has carried trade for a thousand years, and its old quarter was rebuilt twice "
        "after fires. Travellers usually arrive by train and walk from the station to the market square. "
    )
    for number in range(count):
        yield {
            "id": str(number),
            "input": f"What is the capital of province {number}, and on which river does it lie?",
            "output": f"The capital of province {number} is City {number}. {filler}{filler}It is number {number}.",
            "expected_output": f"City {number}, on the river {number % 97}.",
        }


def cpu() -> float:
    """User and system seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 2**20


def loop_parser(description: str) -> argparse.ArgumentParser:
    """The arguments of every program that `call_cpu.py` runs as a child."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--url", required=True, help="of the mock provider, without a path")
    parser.add_argument("--items", type=int, default=600)
    parser.add_argument("--warm", type=int, default=40, help="items judged before the meter starts")
    parser.add_argument("--in-flight", type=int, default=64, help="calls at the same time")
    parser.add_argument("--transport", choices=["default", "aiohttp"], default="default")
    parser.add_argument("--api", choices=["chat", "messages"], default="chat", help="OpenAI's or Anthropic's")
    return parser


def child(module: str, *arguments: str, python: str = sys.executable, env: Mapping[str, str] | None = None) -> Any:
    """What a benchmark program prints on its last line, in a fresh process. Raises `RuntimeError` with its words."""
    done = subprocess.run(
        [python, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "low": min(values), "high": max(values), "n": len(values)}


def machine(*packages: str) -> dict[str, Any]:
    """Where this was measured. `load`: of the last minute, since a busy machine moves everything but the ratios."""
    versions: dict[str, str] = {}
    for name in packages:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        names = [x for x in Path("/proc/cpuinfo").read_text().splitlines() if x.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "cpu": model,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "packages": versions,
    }


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table."""
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def finish(result: dict[str, Any], as_json: bool) -> None:
    """Prints the whole result as JSON where that was asked for."""
    if as_json:
        print(json.dumps(result, indent=2))
