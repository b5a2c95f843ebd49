"""What a machine can bear, read from texts that a test gives."""

from __future__ import annotations

import os
import platform
import sys

import pytest

from jury.errors import ConfigError, ProviderError
from jury.providers import local_machine

GIB = 1 << 30


@pytest.fixture
def files(monkeypatch):
    """The files of the kernel that are there; empty at first."""
    held: dict[str, str] = {}
    monkeypatch.setattr(local_machine, "_lines", lambda path: held.get(path, "").splitlines())
    return held


def test_a_processor_without_avx2_is_named(files, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    files["/proc/cpuinfo"] = "processor\t: 0\nflags\t\t: fpu sse4_2 avx f16c\nflags\t\t: fpu"
    with pytest.raises(ConfigError, match=r"needs a processor with AVX2; this one lacks AVX2, FMA, BMI2"):
        local_machine.check_cpu()


@pytest.mark.parametrize(
    ("machine", "cpuinfo"),
    [
        ("x86_64", "flags\t\t: fpu avx2 fma f16c bmi2 avx512f"),
        ("AMD64", ""),  # not to be seen
        ("aarch64", "flags\t\t: fp asimd"),
    ],
)
def test_other_processors_pass(files, monkeypatch, machine, cpuinfo):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    files["/proc/cpuinfo"] = cpuinfo
    local_machine.check_cpu()


def test_memory_that_is_short_is_said_in_numbers(files):
    files["/proc/meminfo"] = "MemTotal: 8000000 kB\nMemAvailable:    2000000 kB"
    with pytest.raises(ProviderError, match=r"needs 2.7 GB of free memory, 2.0 GB are free") as caught:
        local_machine.check_memory(1_117_320_768)
    assert not caught.value.retry
    local_machine.check_memory(700_000_000)


def test_a_containers_limit_counts(files):
    files["/proc/meminfo"] = f"MemAvailable: {20 * GIB >> 10} kB"
    files["/sys/fs/cgroup/memory.max"] = str(4 * GIB)
    files["/sys/fs/cgroup/memory.current"] = str(3 * GIB)
    files["/sys/fs/cgroup/memory.stat"] = f"anon 5\ninactive_file {GIB // 2}"
    assert local_machine.free_memory() == GIB + GIB // 2
    files["/sys/fs/cgroup/memory.max"] = "max"
    assert local_machine.free_memory() == 20 * GIB


def test_memory_that_cannot_be_seen_passes(files):
    assert local_machine.free_memory() is None
    local_machine.check_memory(1 << 40)


@pytest.mark.skipif(sys.platform != "linux", reason="the share of a container is read on Linux")
@pytest.mark.parametrize(("quota", "expected"), [("", 8), ("max 100000", 8), ("250000 100000", 2), ("50000 100000", 1)])
def test_threads_follow_the_share_of_the_container(files, monkeypatch, quota, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)))
    files["/sys/fs/cgroup/cpu.max"] = quota
    assert local_machine.threads() == expected


def test_this_machine_has_at_least_one_thread():
    assert local_machine.threads() >= 1
    assert local_machine.free_memory() is None or local_machine.free_memory() > 0
