"""The house stays in order: who may know whom, how many files a folder holds, what pages name."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT

FLOORS = ("app", "widgets", "experiments", "machine")
MOST_FILES = 22
# Folders side by side that know each other; ARCHITECTURE.md says why.
KNOW_EACH_OTHER = {
    frozenset({"app/window/experiment", "app/window/lesson"}),
    frozenset({"app/window/lecture", "app/window/shell"}),
}


def modules() -> Iterator[Path]:
    """Yield the file of each module."""
    for floor in FLOORS:
        yield from (ROOT / floor).rglob("*.py")


def imported(path: Path) -> set[str]:
    """Return the names that a module imports from others."""
    return {
        name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for name in (node.module, *(f"{node.module}.{each.name}" for each in node.names))
    }


def folder_of(name: str) -> Path | None:
    """Return the folder that holds the module of a dotted name; None where it names no module."""
    path = ROOT / name.replace(".", "/")
    return path.parent if path.with_suffix(".py").exists() else None


def test_no_two_folders_know_each_other_but_those_that_are_named():
    knows: dict[Path, set[Path]] = defaultdict(set)
    for path in modules():
        knows[path.parent] |= {found for name in imported(path) if (found := folder_of(name))}
    pairs = {
        frozenset(str(each.relative_to(ROOT)) for each in (one, other))
        for one, known in knows.items()
        for other in known
        if one in knows[other] and one not in (other, *other.parents) and one not in other.parents
        if other not in one.parents
    }

    assert pairs == KNOW_EACH_OTHER
    assert len(KNOW_EACH_OTHER) <= 3


def test_no_folder_holds_more_files_than_one_takes_in_at_a_glance():
    files = (path for path in modules() if path.name != "__init__.py")
    held = Counter(path.parent.relative_to(ROOT) for path in files)

    assert {str(folder): n for folder, n in held.items() if n > MOST_FILES} == {}


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_each_file_that_a_page_names_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)*\w+\.(?:py|toml|json))`", text))
    rooms = [*FLOORS, "resources", "tests"]
    files = [f"/{path.relative_to(ROOT)}" for room in rooms for path in (ROOT / room).rglob("*.*")]

    assert [each for each in named if not any(file.endswith(f"/{each}") for file in files)] == []
