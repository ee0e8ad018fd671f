"""The user's own experiments: where they lie, and which of them may be loaded.

Code runs only from folders that the user named: `experiments` in the data folder, those of
`--experiments`, and those that installed packages name in the entry point group
`coreopsis.experiments`. Each experiment is examined in a process of its own before it is imported.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from experiments import yours
from experiments.core.catalogue import Catalogue
from experiments.core.problems import Problem, UserError
from experiments.core.shelves import MAIN, YOURS, Home, homes
from experiments.engine.examine import examine
from machine.system.installed import changed_ns

GROUP = "coreopsis.experiments"
FOLDER = "experiments"  # in the data folder
UNEXAMINED = Problem("own_unexamined")
Print = tuple[tuple[str, int, int], ...]  # of every file: path, size, time of change


def check_given(folders: Sequence[Path]) -> None:
    """Raise UserError for a folder that is none, or is itself an experiment."""
    for folder in folders:
        if os.path.isfile(folder / f"{MAIN}.py"):
            raise UserError("own_folder_is_one", folder=folder, above=folder.resolve().parent)
        if not os.path.isdir(folder):
            raise UserError("own_folder_missing", folder=folder)


def use_folders(data: Path, given: Sequence[Path]) -> None:
    """Look for the user's own experiments there, whether the folders are there yet or not."""
    yours.use([*(folder.resolve() for folder in given), data / FOLDER, *_of_packages()])


def _of_packages() -> Iterator[Path]:
    """Yield the folders that installed packages name; none of them is imported."""
    if not any(_names_some(place, changed_ns(place)) for place in sys.path):
        return
    from importlib import metadata

    for entry in metadata.entry_points(group=GROUP):
        package, *parts = entry.value.partition(":")[0].split(".")
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            yield Path(place, *parts)


@functools.lru_cache(maxsize=32)
def _names_some(place: str, _changed_ns: int) -> bool:
    """Does a package there name experiments? Looked up here, 20 times as fast as by `metadata`."""
    for path in glob.iglob(os.path.join(place, "*-info", "entry_points.txt")):
        with contextlib.suppress(OSError):
            if GROUP.encode() in Path(path).read_bytes():
                return True
    return False


def own_homes() -> dict[str, Home]:
    """Return the user's own experiments by id, also those that must not be loaded."""
    return homes((YOURS,))


def unexamined() -> Catalogue:
    """Return a catalogue in which the user's own experiments wait to be examined."""
    return Catalogue(refuse=lambda own: dict.fromkeys(own, UNEXAMINED))


def refusals(homes: Mapping[str, Home]) -> dict[str, Problem]:
    """Examine these experiments; return the first thing wrong with each that fails. Takes long."""
    return {name: found[0] for name, found in examine(homes).items() if found}


def fingerprint(homes: Mapping[str, Home]) -> Print:
    """Return a value that changes as soon as a file is changed, added or removed."""
    return tuple(sorted(each for home in homes.values() for each in _files(home.folder)))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith((".", "__pycache__")):
                    continue
                if entry.is_dir():
                    yield from _files(Path(entry.path))
                else:
                    about = entry.stat()
                    yield entry.path, about.st_size, about.st_mtime_ns
    except OSError:
        yield str(folder), -1, -1
