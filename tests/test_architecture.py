"""The floors: a module imports only from a lower floor, or from an earlier place on its own (docs/design/rooms.md)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "jury"
# Each tuple is a floor; inside a floor, imports follow the order. A name ending in `.` is a folder.
FLOORS = (
    ("errors", "redaction", "frozen", "kept", "tasks", "deadlines", "allowances", "families"),
    (
        "values",
        "data",
        "scales",
        "config",
        "rubrics.",
        "plain",
        "wording",
        "brief",
        "results",
        "sync",
        "streams",
        "stats.",
    ),
    ("shapes", "messages", "names", "namespace", "lookup", "checking", "templates", "prompts", "versions"),
    ("parsing", "further", "sessions.", "checks", "declared", "rubrics.library"),
    (
        "providers.base",
        "providers.complaints",
        "providers.waits",
        "providers.faults",
        "providers.bodies",
        "providers.schemas",
        "providers.adapt",
        "providers.prices",
        "providers.scripted",
        "providers.function",
        "providers.",
        "keys",
        "cache_base",
        "cache_servers",
        "cache",
        "limits",
        "budget",
        "governed",
        "calls",
    ),
    ("formats", "ladder", "judge", "sessions.criteria"),
    (
        "aggregation",
        "stopping",
        "forecasting",
        "seating",
        "turns",
        "escalation",
        "sessions.votes",
        "clocks",
        "panel",
        "rubrics.asking",
        "rubrics.making",
        "rubrics.seeds",
        "summary",
        "weighing.",
    ),
    ("factory", "juries", "pointwise", "pairwise"),
    (
        "datasets.",
        "transcripts.",
        "targets.",
        "sessions.judging",
        "sessions.making",
        "tryouts",
        "proving",
        "injection.",
        "starting",
        "store.",
        "editions",
        "runner.",
        "sessions.recording",
        "audit.",
    ),
    ("demo.", "report.", "label.", "integrations."),
    ("cli.",),
)
MODULES = sorted(ROOT.rglob("*.py"))
DOOR = ("__init__", "__main__")  # the public door may name everything


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def place(module: str) -> tuple[int, int, str] | None:
    best = None
    for floor, rooms in enumerate(FLOORS):
        for position, room in enumerate(rooms):
            hit = module == room or (room.endswith(".") and (module + ".").startswith(room))
            if hit and (best is None or len(room) > len(best[2])):
                best = (floor, position, room)
    return best


def imports(path: Path) -> set[str]:
    """The modules of the package that a file names, those inside functions and type-checking blocks included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "jury":
            inner = node.module.removeprefix("jury").removeprefix(".")
            for alias in node.names:
                full = f"{inner}.{alias.name}".strip(".")
                is_module = (ROOT / Path(*full.split("."))).with_suffix(".py").exists() or (
                    ROOT / Path(*full.split("."))
                ).is_dir()
                found.add(full if is_module else inner)
        elif isinstance(node, ast.Import):
            found.update(a.name.removeprefix("jury.") for a in node.names if a.name.startswith("jury."))
    return {f for f in found if f}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down(path):
    module = name_of(path)
    if module in DOOR or not module:
        return
    mine = place(module)
    assert mine is not None, f"{module} has no floor: give it one here and in docs/design/rooms.md"
    for other in imports(path):
        theirs = place(other)
        if theirs is None:
            assert other in ("", "__init__"), f"{module} imports {other}, which has no floor"
            continue
        same_folder = mine[2].endswith(".") and mine[2] == theirs[2]
        assert same_folder or theirs[:2] < mine[:2], f"{module} (floor {mine[0]}) imports {other} (floor {theirs[0]})"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_rooms_stay_small(path):
    text = path.read_text("utf-8")
    assert text.count("\n") <= 400, "a module of more than 400 lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            factory = node.name in ("llm_jury", "llm_jury_pairwise", "session_jury") or "cli" in path.parts
            assert factory or node.end_lineno - node.lineno < 70, f"{node.name} is longer than 70 lines"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_room_says_what_lives_there(path):
    assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), "no docstring at the top"


def test_floors_name_only_what_exists():
    names = {name_of(p) for p in MODULES}
    coming = {"report.", "label.", "integrations."}
    for room in (r for floor in FLOORS for r in floor):
        exists = any(n == room or (n + ".").startswith(room) for n in names)
        assert exists or room in coming, f"{room} is on a floor but not in the house"


@pytest.mark.parametrize("folder", ["cli", "sessions", "providers", "rubrics", "runner", "targets"])
def test_the_first_lines_of_a_folder_name_all_that_lives_there(folder):
    told = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text("utf-8"))) or ""
    modules = {path.name for path in (ROOT / folder).glob("*.py")} - {"__init__.py"}
    assert {name for name in modules if not re.search(rf"\b{re.escape(name)}", told)} == set()
    assert set(re.findall(r"\w+\.py\b", told)) - modules == set()
