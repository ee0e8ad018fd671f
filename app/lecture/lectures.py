"""The lectures that are here: those that come with the program, then the user's own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.lecture.file import SUFFIX, Lecture, read
from experiments.core.problems import Problem, UserError
from experiments.core.resources import FOLDER

NAME = "lectures"  # of the folder, among the resources and in the data folder
SHIPPED = FOLDER / NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A lecture by its file; one that cannot be read has a `problem` instead."""

    path: Path
    lecture: Lecture | None = None
    problem: Problem | None = None


def lectures(data: Path) -> tuple[Found, ...]:
    """Return every lecture of the program and of a data folder, by name."""
    return tuple(_found(path) for path in _paths(data))


def meant(reference: str, data: Path) -> Path:
    """Return the file of a reference: a path, or the name of a lecture, such as ten-things."""
    if os.path.exists(reference):  # pathlib's raises for names too long
        return Path(reference)
    return next((path for path in _paths(data) if name_of(path) == reference), Path(reference))


def name_of(path: Path) -> str:
    """Return the name of a lecture's file without what every such file ends in."""
    return path.name.removesuffix(SUFFIX)


def is_shipped(path: Path) -> bool:
    """Does a lecture come with the program?"""
    return path.absolute().parent == SHIPPED


def _paths(data: Path) -> Iterator[Path]:
    for folder in (SHIPPED, data / NAME):
        with contextlib.suppress(OSError):  # most people have none of their own
            names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
            yield from (folder / name for name in names)


def _found(path: Path) -> Found:
    try:
        return Found(path=path, lecture=read(path))
    except UserError as trouble:
        return Found(path=path, problem=trouble.problem)
