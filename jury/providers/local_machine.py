"""What this machine can bear: instruction sets, memory, processors. Looked at before the runtime is loaded.

The runtime's wheel is built for AVX2; on an older processor it would not fail, it would kill the process.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from jury.errors import ConfigError, ProviderError

NEEDED = ("avx2", "fma", "f16c", "bmi2")  # on x86-64; what the runtime reports of itself
_ROOM = 400 << 20  # bytes beside the weights: context, compute buffers, the runtime
_MOST_THREADS = 8  # more of them wait for memory, not for each other's results


def check_cpu() -> None:
    """Raises `ConfigError` if this processor lacks what the runtime uses. Where that cannot be seen, it passes."""
    if platform.machine().casefold() not in ("x86_64", "amd64"):
        return
    flags = _cpu_flags()
    missing = [f.upper() for f in NEEDED if f not in flags]
    if flags and missing:
        raise ConfigError(
            f"the local model's runtime needs a processor with AVX2; this one lacks {', '.join(missing)}. Use a judge "
            "with an API instead, or a server of your own (docs/how-to/own-provider.md)"
        )


def check_memory(file_bytes: int) -> None:
    """Raises `ProviderError` if a model file of this size will not fit: its weights are held about twice."""
    needed = 2 * file_bytes + _ROOM
    free = free_memory()
    if free is not None and free < needed:
        raise ProviderError(
            "overloaded",
            f"the local model needs {needed / 1e9:.1f} GB of free memory, {free / 1e9:.1f} GB are free",
        )


def free_memory() -> int | None:
    """Bytes that can be had without swapping, a container's limit included; None where that cannot be seen."""
    known = [int(line.split()[1]) << 10 for line in _lines("/proc/meminfo") if line.startswith("MemAvailable:")]
    limit, used = _number("/sys/fs/cgroup/memory.max"), _number("/sys/fs/cgroup/memory.current")
    if limit is not None and used is not None:
        known.append(limit - used + _reclaimable())
    return min(known, default=None)


def threads() -> int:
    """How many threads the model gets: the processors this process may use, a container's share included."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    quota = next(iter(_lines("/sys/fs/cgroup/cpu.max")), "").split()
    if len(quota) == 2 and quota[0].isdigit():
        usable = min(usable, max(1, int(quota[0]) // int(quota[1])))
    return min(usable, _MOST_THREADS)


def _cpu_flags() -> frozenset[str]:
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("flags"):
            return frozenset(line.partition(":")[2].split())
    return frozenset()


def _reclaimable() -> int:
    """The part of a container's memory that holds files and is given back when it is needed."""
    for line in _lines("/sys/fs/cgroup/memory.stat"):
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0


def _number(path: str) -> int | None:
    text = next(iter(_lines(path)), "").strip()
    return int(text) if text.isdigit() else None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
