"""The file of the local model: found without imports, assembled once, checked or refused. Here the parts are tiny."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jury.errors import ConfigError, MissingExtra
from jury.providers import local_model
from jury.providers.local_model import Model

BYTES = [b"GGUF" + bytes(range(50)), b"\x00" * 70, b"end"]
WHOLE = b"".join(BYTES)


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model in three packages that must not be imported."""
    site = tmp_path / "site"
    for n, data in enumerate(BYTES, 1):
        package = site / f"tiny_carrier_{n}"
        (package / "data").mkdir(parents=True)
        (package / "__init__.py").write_text("raise AssertionError('a carrier was imported')")
        (package / "data" / f"part{n:02d}.bin").write_bytes(data)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("JURY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(local_model.OWN_FILE, raising=False)
    sha256 = hashlib.sha256(WHOLE).hexdigest()
    return Model("tiny", "tiny_carrier_{}", "data/part{:02d}.bin", 3, len(WHOLE), sha256, "none")


def left(model: Model) -> list[str]:
    return sorted(p.suffix for p in local_model.target(model).parent.iterdir())


def test_the_parts_become_one_file_and_none_is_imported(model):
    steps: list[tuple[int, int]] = []
    file = local_model.path_of(model, lambda done, total: steps.append((done, total)))
    assert file.read_bytes() == WHOLE
    assert steps == [(54, 127), (124, 127), (127, 127)]
    assert left(model) == [".gguf", ".json", ".lock"]
    assert not any(name.startswith("tiny_carrier") for name in sys.modules)


def test_it_is_assembled_once(model):
    file = local_model.path_of(model)
    before = file.stat().st_mtime_ns
    assert local_model.path_of(model, lambda *_: pytest.fail("assembled again")) == file
    assert file.stat().st_mtime_ns == before


def test_an_assembled_file_needs_no_packages(model, tmp_path):
    file = local_model.path_of(model)
    shutil.rmtree(tmp_path / "site")
    assert local_model.path_of(model) == file
    assert local_model.installed(model)


def test_missing_packages_are_named_with_the_command(model, tmp_path):
    shutil.rmtree(tmp_path / "site" / "tiny_carrier_2")
    with pytest.raises(MissingExtra, match=r"1 of its 3 packages missing.*pip install \"jury-llm\[local\]\""):
        local_model.path_of(model)
    shutil.rmtree(tmp_path / "site")
    with pytest.raises(MissingExtra, match=r"its packages missing"):
        local_model.path_of(model)
    assert not local_model.installed(model)


def test_other_bytes_are_refused_and_nothing_is_left(model, tmp_path):
    (tmp_path / "site" / "tiny_carrier_3" / "data" / "part03.bin").write_bytes(b"enD")
    with pytest.raises(ConfigError, match="do not hold the official model"):
        local_model.path_of(model)
    assert left(model) == [".lock"]


def test_a_file_that_changed_is_assembled_again(model):
    file = local_model.path_of(model)
    file.write_bytes(b"X" * len(WHOLE))  # same size, another time
    assert local_model.path_of(model).read_bytes() == WHOLE
    file.write_bytes(WHOLE[:-1])
    assert local_model.path_of(model).read_bytes() == WHOLE


def test_a_lost_stamp_is_written_anew_after_a_check(model):
    file = local_model.path_of(model)
    stamp = file.with_suffix(".json")
    for damage in (stamp.unlink, lambda: stamp.write_text("{")):
        damage()
        assert local_model.path_of(model, lambda *_: pytest.fail("assembled again")) == file
        assert json.loads(stamp.read_text())["sha256"] == model.sha256


def test_too_little_room_is_said_before_anything_is_written(model, monkeypatch):
    real = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda p: real(p)._replace(free=126))
    with pytest.raises(ConfigError, match=r"no room for local/tiny.*JURY_CACHE_DIR"):
        local_model.path_of(model)
    assert left(model) == [".lock"]


def test_a_disk_that_fills_up_leaves_no_partial_file(model, monkeypatch):
    def full(_fd):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="no room for local/tiny"):
        local_model.path_of(model)
    assert left(model) == [".lock"]


def test_an_interrupt_leaves_no_partial_file(model):
    def interrupt(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        local_model.path_of(model, interrupt)
    assert left(model) == [".lock"]


def test_the_remains_of_a_killed_process_are_removed(model):
    target = local_model.target(model)
    target.parent.mkdir(parents=True)
    target.with_name(f"{target.name}.1.part").write_bytes(b"half")
    local_model.path_of(model)
    assert left(model) == [".gguf", ".json", ".lock"]


def test_a_cache_that_cannot_be_made_is_a_clear_error(model, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JURY_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="cannot be assembled"):
        local_model.path_of(model)


def test_several_at_once_assemble_once(model):
    together = threading.Barrier(4)
    rounds: list[int] = []

    def one(_):
        together.wait()
        return local_model.path_of(model, lambda done, total: rounds.append(done) if done == total else None)

    with ThreadPoolExecutor(4) as pool:
        files = set(pool.map(one, range(4)))
    assert files == {local_model.target(model)}
    assert rounds == [len(WHOLE)]


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("JURY_CACHE_DIR", "~/somewhere")
    assert local_model.cache_dir() == Path("~/somewhere/models").expanduser()
    monkeypatch.delenv("JURY_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert local_model.cache_dir() == tmp_path / "jury" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    if sys.platform != "win32":
        assert local_model.cache_dir() == Path.home() / ".cache" / "jury" / "models"


def test_an_own_file_is_looked_at(monkeypatch, tmp_path):
    monkeypatch.delenv(local_model.OWN_FILE, raising=False)
    assert local_model.own_file() is None
    file = tmp_path / "mine.gguf"
    monkeypatch.setenv(local_model.OWN_FILE, str(file))
    with pytest.raises(ConfigError, match=r"JURY_LOCAL_GGUF names .*mine.gguf, which cannot be read: No such file"):
        local_model.own_file()
    file.write_bytes(b"PK\x03\x04")
    with pytest.raises(ConfigError, match="which is no GGUF file"):
        local_model.own_file()
    file.write_bytes(b"GGUF....")
    assert local_model.own_file() == file


def test_an_unknown_model_is_named_beside_the_known(monkeypatch):
    assert local_model.find("Qwen2.5-Coder-1.5B") is local_model.QWEN
    with pytest.raises(ConfigError, match=r"no local model is named 'llama': there is local/qwen2.5-coder-1.5b"):
        local_model.find("llama")


def test_the_extra_pins_every_part():
    import tomllib

    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    extra = set(project["optional-dependencies"]["local"])
    model = local_model.QWEN
    carriers = {f"{model.package.format(n).replace('_', '-')}==0.2.0" for n in range(1, model.parts + 1)}
    assert carriers < extra
    assert [r.partition("==")[0] for r in extra - carriers] == ["xllamacpp"]
    assert all("==" in requirement for requirement in extra)
    assert model.sha256 in (Path(__file__).parent.parent / "NOTICE").read_text()
