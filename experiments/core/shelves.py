"""The folders of experiments by id, in the teaching order of each shelf; none is imported."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import NamedTuple

YOURS = "experiments.yours"
SHELVES = (
    "experiments.python_at_work",
    "experiments.memory",
    "experiments.inside_a_core",
    "experiments.to_the_gpu",
    "experiments.numbers",
    "experiments.many_devices",
    YOURS,
)
PROBES = "experiments.checkup.probes"  # what only the checkup measures: in no catalogue
VARIABLE = "COREOPSIS_EXPERIMENTS"  # folders of YOURS, for the processes that a worker starts
MAIN = "experiment"  # the module of a folder that declares the experiment
RECORDING = "recording.jsonl.gz"
LESSON = "lesson.en.toml"


class Home(NamedTuple):
    """The place of an experiment, and what its shelf declares of it."""

    shelf: str  # the package that its folder lies in
    folder: Path
    follows: str = ""  # the id of the lesson that it is a follow-up of
    is_tool: bool = False  # it answers a question of the user's own, and has no lesson

    @property
    def module(self) -> str:
        """The module that declares the experiment."""
        return f"{self.shelf}.{self.folder.name}.{MAIN}"

    @property
    def recording(self) -> Path | None:
        """The run that comes with the experiment, if one does."""
        path = self.folder / RECORDING
        return path if path.is_file() else None

    @property
    def has_lesson(self) -> bool:
        """Is a lesson written for the experiment?"""
        return (self.folder / LESSON).is_file()


def can_name(folder: str) -> bool:
    """Can a folder of this name hold an experiment? Its hyphens may be written as in its id."""
    return folder.replace("-", "_").isidentifier()


def id_of(folder: str) -> str:
    """Return the id of the experiment in a folder of this name."""
    return folder.replace("_", "-")


def homes(shelves: tuple[str, ...] = SHELVES) -> dict[str, Home]:
    """Return every experiment's home by its id; of two with one id the first counts.

    A shelf's `__init__.py` lists its folders in `EXPERIMENTS`; what it does not name comes last.
    `FOLLOW_UPS` gives the follow-ups of its lessons, by folder; they may lie on any shelf, and come
    directly after their lesson. `TOOLS` names those that need no lesson.
    """
    found: dict[str, Home] = {}
    follow_ups: dict[str, list[str]] = {}
    for shelf in shelves:
        package = importlib.import_module(shelf)
        order = {name: place for place, name in enumerate(getattr(package, "EXPERIMENTS", ()))}
        tools = getattr(package, "TOOLS", ())
        for lesson, names in getattr(package, "FOLLOW_UPS", {}).items():
            follow_ups[id_of(lesson)] = [id_of(name) for name in names]
        for path in package.__path__:
            there = (name for name in _folders(path) if os.path.isfile(f"{path}/{name}/{MAIN}.py"))
            for name in sorted(there, key=lambda name: (order.get(name, len(order)), name)):
                home = Home(shelf, Path(path, name), is_tool=name in tools)
                found.setdefault(id_of(name), home)
    return _in_order(found, follow_ups)


def _in_order(found: dict[str, Home], follow_ups: dict[str, list[str]]) -> dict[str, Home]:
    """Move each follow-up behind its lesson; without the lesson it stays on its own shelf."""
    after = {
        lesson: [name for name in names if name in found]
        for lesson, names in follow_ups.items()
        if lesson in found
    }
    moved = {name for names in after.values() for name in names}
    ordered: dict[str, Home] = {}
    for lesson, home in found.items():
        if lesson not in moved:
            ordered[lesson] = home
            for name in after.get(lesson, ()):
                ordered[name] = found[name]._replace(follows=lesson)
    return ordered


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if can_name(entry.name) and entry.is_dir()]
    except OSError:
        return []
