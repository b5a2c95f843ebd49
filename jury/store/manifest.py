"""manifest.json: what a run is, without its data. Written whole or not at all, refused by version when foreign."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from jury.errors import ConfigError, DataError, unread
from jury.scales import Boolean, Labels, Numeric, Scale
from jury.store.lines import unwritable

FORMAT = 1
FILE = "manifest.json"
KINDS = ("pointwise", "pairwise", "session", "rubric")


@dataclass(frozen=True, slots=True)
class RunManifest:
    """What a run folder says about itself.

    `spec` is the configuration as it was given, `judges` and `stand_ins` hold each seat's id, model, family, prompt
    digest, settings and weight; `prompts` the texts by digest. `totals` are the counts of the last pass over the data,
    `history` one entry for each pass, `heads` the digest of the last line of each file when the run was left.
    """

    kind: str
    name: str
    created: str = ""
    jury_version: str = ""
    spec: Mapping[str, Any] = field(default_factory=dict[str, Any])
    criteria: str = ""
    scale: Mapping[str, Any] = field(default_factory=dict[str, Any])
    rule: str = ""
    quorum: int | None = None
    seed: int | None = None
    judges: tuple[Mapping[str, Any], ...] = ()
    stand_ins: tuple[Mapping[str, Any], ...] = ()
    prompts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    totals: Mapping[str, Any] = field(default_factory=dict[str, Any])
    finished: bool = False
    history: tuple[Mapping[str, Any], ...] = ()
    heads: Mapping[str, str] = field(default_factory=dict[str, str])
    format: int = FORMAT

    @property
    def targets(self) -> dict[str, Mapping[str, Any]]:
        """The targets that made the outputs, by side of pairs (`a`, `b`; without pairs one under an empty key).

        Each has a `name` and a `digest`, and a `model` if it is one; none where the data held the outputs.
        """
        alone: Any = self.data.get("target")
        sides: Any = self.data.get("targets")
        made: Any = {"": alone} if alone else sides
        return dict(cast("Mapping[str, Mapping[str, Any]]", made)) if isinstance(made, Mapping) else {}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, the format first."""
        names = ["format", *(f.name for f in fields(self) if f.name != "format")]
        made = {name: getattr(self, name) for name in names}
        return {k: list(cast("tuple[Any, ...]", v)) if isinstance(v, tuple) else v for k, v in made.items()}

    def write(self, folder: Path) -> None:
        """Replaces manifest.json in one step. Raises `DataError`."""
        final, part = folder / FILE, folder / f".{FILE}.{os.getpid()}"
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2, default=str) + "\n"
        try:
            with part.open("wb") as file:
                file.write(text.encode("utf-8", errors="backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
            part.replace(final)
            _sync_folder(folder)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            raise unwritable(final, error) from None

    @classmethod
    def read(cls, folder: Path) -> RunManifest:
        """The manifest of a folder. Raises `DataError` of kind `not_found`, `unreadable`, `bad_json` or `format`."""
        path = folder / FILE
        try:
            data: Any = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise DataError(f"{folder}: {_missing(folder)}", "not_found", file=str(folder)) from None
        except NotADirectoryError:
            raise DataError(f"{folder}: a file, no run folder", "not_found", file=str(folder)) from None
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {unread(error)}", "unreadable", file=str(path)) from None
        except (ValueError, RecursionError) as error:
            told = f"{path}: cannot be read: {unread(error)}; the same jury run makes it anew"
            raise DataError(told, "bad_json", file=str(path)) from None
        return cls.from_dict(data, str(path))

    @classmethod
    def from_dict(cls, data: Any, place: str = FILE) -> RunManifest:
        """What `to_dict` made. Raises `DataError` where the version or the shape is another."""
        given = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        version = given.get("format")
        if isinstance(version, int) and not isinstance(version, bool) and version > FORMAT:
            raise DataError(
                f"{place}: written by a newer jury (format {version}); this one reads format {FORMAT}: upgrade jury",
                "format",
                file=place,
            )
        if version != FORMAT or given.get("kind") not in KINDS:
            raise DataError(f"{place}: not the manifest of a run (format {version!r})", "format", file=place)
        known = {f.name for f in fields(cls)}
        kept: dict[str, Any] = {
            k: tuple(cast("list[Any]", v)) if isinstance(v, list) else v for k, v in given.items() if k in known
        }
        empty = cls("", "")
        wrong = [k for k, v in {"name": None, **kept}.items() if not _alike(v, getattr(empty, k))]
        if wrong:
            raise DataError(f"{place}: not the manifest of a run: {', '.join(wrong)}", "format", file=place)
        return cls(**kept)


def _alike(value: Any, usual: Any) -> bool:
    """Is a stored value of the kind that its field has? A list is one of mappings; what may be missing is a number."""
    if isinstance(usual, tuple):
        return isinstance(value, tuple) and all(isinstance(v, Mapping) for v in cast("tuple[Any, ...]", value))
    if usual is None:
        return value is None or isinstance(value, int)
    return isinstance(value, type(cast("object", usual)))


def _missing(folder: Path) -> str:
    """What a folder without a manifest is, and what to do about it."""
    if (folder / "results.jsonl").is_file() and not (folder / "items.jsonl").exists():  # see `report.opening`
        whole = (folder / "summary.json").is_file()
        use = "jury show and jury report read it" if whole else "which was stopped before its end"
        return (
            f"no run folder: it holds results of `jury demo -o`, or of an earlier version; {use}. For labels, gates "
            "and all else judge the same data with `jury judge -o` into a new folder"
        )
    what = f"no run folder: it has no {FILE}" if folder.exists() else "no such folder"
    return f"{what}{near_run(folder)}"


def near_run(folder: Path) -> str:
    """A run folder with a name like that of one that is none: ` (did you mean runs/check?)`, or nothing."""
    for home in dict.fromkeys((folder.parent, Path("runs"))):
        try:
            names = [p.name for p in home.iterdir() if p.name != folder.name or home != folder.parent]
        except OSError:
            continue
        runs = [name for name in names if (home / name / FILE).exists()]
        found = get_close_matches(folder.name, runs, n=1)
        if found:
            return f" (did you mean {home / found[0]}?)"
    return ""


def scale_to_dict(scale: Scale) -> dict[str, Any]:
    """A scale as JSON values, with its `type`."""
    if isinstance(scale, Boolean):
        return {"type": "boolean", "true_means": scale.true_means, "false_means": scale.false_means}
    if isinstance(scale, Labels):
        return {
            "type": "labels",
            "labels": list(scale.labels),
            "passing": list(scale.passing),
            "na": scale.na,
            "descriptions": dict(scale.descriptions),
        }
    return {
        "type": "numeric",
        "low": scale.low,
        "high": scale.high,
        "threshold": scale.threshold,
        "levels": list(scale.levels),
    }


def scale_from_dict(data: Mapping[str, Any]) -> Scale:
    """The scale that `scale_to_dict` dumped. Raises `DataError`."""
    given = {k: v for k, v in data.items() if k != "type"}
    makers: dict[str, Any] = {"boolean": Boolean, "labels": Labels, "numeric": Numeric}
    maker = makers.get(str(data.get("type")))
    try:
        if maker is not None:
            return maker(**given)
    except (TypeError, ConfigError) as error:
        raise DataError(f"not a stored scale: {error}", "bad_json") from None
    raise DataError(f"not a stored scale: type {data.get('type')!r}", "bad_json")


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    with suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
