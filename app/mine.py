"""Make it mine: copies an experiment to the user's own shelf, with the measured loop marked.

The copy has all Python files and words of its original, but neither its recording nor its lesson.
The loop may lie in a module that several experiments share. Then the copy also gets that module,
and the shared modules that lead to it. Otherwise the copy would still run the shared loop, and a
change would have no effect.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from app.own_experiments import FOLDER
from app.source import shared_with_loop
from experiments.core.catalogue import Catalogue
from experiments.core.measured_loop import measured_loop
from experiments.core.origin import NAME as ORIGIN
from experiments.core.origin import Origin, origin_of, written
from experiments.core.problems import UserError
from experiments.core.shelves import MAIN, YOURS, Home, homes, id_of

START = "start.py"  # beside a lesson: what an exercise begins with, in place of the loop's file
COMMENT = "# Yours to change: this is what is measured"
MARKED = re.compile(rf"{re.escape(COMMENT)}\n\s*def (\w+)")
LEFT_OUT = (START, "lesson.py", "diagram.toml")
QUESTION = re.compile(r'^question = "(.*)"$', re.MULTILINE)
KINDS = ("*.py", "*/*.py", "words.*.toml")


def folder_for(name: str, into: Path) -> Path:
    """Return where an experiment of this name would lie. Raises UserError if it may not.

    The folders of the user's own experiments must be in use.
    """
    called = name.lower().replace("-", "_")
    if not (called.isascii() and called.isidentifier()):
        raise UserError("own_name", name=name)
    folder = into / called
    if id_of(folder.name) in homes():
        raise UserError("own_id_taken", id=id_of(folder.name))
    if os.path.exists(folder):
        raise UserError("own_there", folder=folder)
    return folder


def free_name(experiment_id: str) -> str:
    """Return a name for a copy that is not taken: my-ilp, my-ilp-2 and so on."""
    taken, name, number = homes(), f"my-{experiment_id}", 2
    while name in taken:
        name, number = f"my-{experiment_id}-{number}", number + 1
    return name


def start_of(home: Home) -> Path | None:
    """Return what the exercise of an experiment begins with, if it has one."""
    path = home.folder / START
    return path if path.is_file() else None


def make_mine(
    catalogue: Catalogue, experiment_id: str, name: str, data: Path, *, start: bool = False,
    into: Path | None = None,
) -> Path:  # fmt: skip
    """Copy an experiment to `into`, or to the user's shelf in the data folder; return the folder.

    `start`: with what its exercise begins with. Raises UserError.
    """
    experiment = catalogue.load(experiment_id)
    home = catalogue.homes[experiment_id]
    if home.shelf == YOURS:
        raise UserError("mine_of_own", id=experiment_id)
    folder = folder_for(name, into or data / FOLDER)
    beginning = start_of(home) if start else None
    if start and beginning is None:
        raise UserError("mine_no_start", id=experiment_id)
    shared = shared_with_loop(experiment)
    files = {
        path.relative_to(home.folder).as_posix(): path.read_text(encoding="utf-8")
        for kind in KINDS
        for path in sorted(home.folder.glob(kind))
        if path.name not in LEFT_OUT and "__pycache__" not in path.parts
    }
    moved = {module: _place(path, files) for module, path in shared.items()}
    files |= {moved[module]: path.read_text(encoding="utf-8") for module, path in shared.items()}
    files = {
        place: _near(text, place, moved) if place.endswith(".py") else text
        for place, text in files.items()
    }
    loop = experiment.loop
    for module, place in moved.items():
        loop = loop.replace(f"{'/'.join(module.split('.')[1:])}.py:", f"{place}:")
    if beginning is not None:
        text = files[loop.partition(":")[0]] = beginning.read_text(encoding="utf-8")
        marked = MARKED.search(text)
        if marked is not None and marked[1] not in loop:  # the exercise changes another function
            loop = f"{loop.partition(':')[0]}:{marked[1]}"
    files[f"{MAIN}.py"] = files[f"{MAIN}.py"].replace(f'"{experiment.loop}"', f'"{loop}"')
    found = measured_loop(loop, [*files.items()])
    if found is not None and COMMENT not in files[found.file]:
        lines = files[found.file].splitlines(keepends=True)
        indent = re.match(r"\s*", lines[found.first - 1])
        lines.insert(found.first - 1, f"{indent[0] if indent else ''}{COMMENT}\n")
        files[found.file] = "".join(lines)
    for place in [place for place in files if place.startswith("words.")]:
        files[place] = QUESTION.sub(rf'question = "\1 · {id_of(folder.name)}"', files[place], 1)
    files[ORIGIN] = written(Origin(original=experiment_id, version=experiment.version))
    _write(folder, files)
    return folder


def _place(path: Path, taken: Mapping[str, str]) -> str:
    """Return the name of a shared module's file in the copy."""
    return path.name if path.name not in taken else f"shared_{path.name}"


def _near(text: str, place: str, moved: Mapping[str, str]) -> str:
    """Return a file's text with the imports of what came along from its own folder."""
    dots = "." * (place.count("/") + 1)
    for module, there in moved.items():
        package, _, name = module.rpartition(".")
        near = there.removesuffix(".py")
        named = re.escape(package), rf"{re.escape(name)}(?=\s*(?:$|#))"
        text = re.sub(rf"from {re.escape(module)} import", f"from {dots}{near} import", text)
        given = name if near == name else f"{near} as {name}"
        text = re.sub(
            rf"from {named[0]} import {named[1]}", f"from {dots} import {given}", text,
            flags=re.MULTILINE,
        )  # fmt: skip
    return text


def _write(folder: Path, files: Mapping[str, str]) -> None:
    """Write all files, or none. Raises UserError."""
    half = folder.with_name(f".{folder.name}")  # its name is none of an experiment
    try:
        shutil.rmtree(half, ignore_errors=True)
        for place, text in files.items():
            path = half / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        half.rename(folder)
    except OSError as error:
        shutil.rmtree(half, ignore_errors=True)
        raise UserError("own_not_written", folder=folder, reason=error.strerror or "?") from None


def original_of(catalogue: Catalogue, experiment_id: str) -> str:
    """Return the id of what an experiment is a copy of.

    Raises UserError if it is no copy, if its original is gone, or if `mine.toml` cannot be read.
    """
    home = catalogue.own.get(experiment_id)
    origin = origin_of(home.folder) if home is not None else None
    if origin is None:
        raise UserError("not_a_copy", id=experiment_id)
    if origin.original not in catalogue.homes or origin.original in catalogue.own:
        raise UserError("original_gone", id=experiment_id)
    return origin.original


def is_copy(catalogue: Catalogue, experiment_id: str) -> bool:
    """Is an experiment a copy of another, as far as its folder says?"""
    home = catalogue.own.get(experiment_id)
    return home is not None and os.path.isfile(home.folder / ORIGIN)
