"""A run at scale with a scripted judge: memory must not grow with the items, a finished run must cost next to nothing.

    python -m benchmarks.scale --items 1000000

(b) streams the items into a run folder; its peak memory stands beside that of a hundredth (at least 10,000). (c) runs
the finished folder again: calls, and CPU for each judgment that is known.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import cpu, items, peak_mb
from jury import JudgeSpec, ScriptedProvider
from jury.runner import RunSpec, run_sync

REPLY = '{"explanation": "It names the capital and the river.", "value": true}'
GOALS = {"growth_mb": 4.0, "peak_mb": 120.0, "us_for_a_known_judgment": 40.0}


class Items:
    """Items that can be walked again."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[Mapping[str, str]]:
        return items(self.count)


def one_pass(count: int, judges: int, folder: str) -> dict[str, Any]:
    """One pass in this process, as a line of numbers."""
    provider = ScriptedProvider(_Script())
    seats = [JudgeSpec(f"scripted/judge-{i}", provider=provider) for i in range(judges)]
    spec = RunSpec(Items(count), {"criteria": "The answer is right.", "judges": seats}, cache=False)
    provider.requests = _Nothing()
    began, wall = cpu(), time.monotonic()
    report = run_sync(spec, folder)
    spent = cpu() - began
    return {
        "items": count,
        "judged": report.judged,
        "skipped": report.skipped,
        "calls": report.asked.live,
        "seconds": round(time.monotonic() - wall, 1),
        "cpu_s": round(spent, 1),
        "us_for_a_judgment": round(spent / (count * judges) * 1e6, 1),
        "peak_mb": round(peak_mb(), 1),
    }


class _Script:
    def __call__(self, request: Any) -> str:
        return REPLY


class _Nothing(list[Any]):
    """The requests of a million items are not kept."""

    def append(self, value: Any) -> None:
        pass


def child(count: int, judges: int, folder: Path) -> dict[str, Any]:
    """`one_pass` in a process of its own, for its memory's sake."""
    command = [sys.executable, "-m", "benchmarks.scale", "--child", str(folder), "--items", str(count)]
    done = subprocess.run([*command, "--judges", str(judges)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--judges", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(one_pass(given.items, given.judges, given.child)))
        return
    with tempfile.TemporaryDirectory() as home:
        few = child(min(given.items, max(10_000, given.items // 100)), given.judges, Path(home) / "few")
        many = child(given.items, given.judges, Path(home) / "many")
        again = child(given.items, given.judges, Path(home) / "many")
    found = {
        "few": few,
        "many": many,
        "again": again,
        "growth_mb": round(many["peak_mb"] - few["peak_mb"], 1),
        "peak_mb": many["peak_mb"],
        "us_for_a_known_judgment": again["us_for_a_judgment"],
        "calls_again": again["calls"],
        "goals": GOALS,
    }
    if given.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{'pass':8}{'items':>10}{'calls':>10}{'CPU s':>8}{'us/judgment':>13}{'peak MB':>9}")
    for name in ("few", "many", "again"):
        p = found[name]
        print(f"{name:8}{p['items']:>10}{p['calls']:>10}{p['cpu_s']:>8}{p['us_for_a_judgment']:>13}{p['peak_mb']:>9}")
    print(f"growth {found['growth_mb']} MB (goal {GOALS['growth_mb']}), {found['calls_again']} calls the second time")


if __name__ == "__main__":
    main()
