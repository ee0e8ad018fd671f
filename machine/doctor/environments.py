"""Finds Python environments and the version of their PyTorch, without starting them.

It searches the home folder and the working folder, where people and tools put environments. There
it reads the names of the installed packages.

LIMIT: a PyTorch is recognised by its metadata folder. A PyTorch of a system's package manager may
have none, and a PyTorch on PYTHONPATH lies elsewhere. Both are seen only when the environment is
examined.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from machine.record import Record

_PROGRAMS = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")
_PACKAGES = ("lib/python3.*/site-packages", "lib/python3/dist-packages", "Lib/site-packages")
# Folders in which people keep projects, searched one level deeper than other folders: the home
# folder may be large and on a slow disk.
_SHELVES = (
    *("projects", "Projects", "code", "Code", "src", "dev", "work", "git", "repos", "github"),
    *("workspace", "Documents", "Desktop", "PycharmProjects"),
)
_PLACES = (
    *(".venv", "venv", "*/.venv", "*/venv"),
    *(f"{shelf}/*/{name}" for shelf in _SHELVES for name in (".venv", "venv")),
    *(".virtualenvs/*", ".local/share/virtualenvs/*", ".cache/pypoetry/virtualenvs/*"),
    *("miniconda3", "miniforge3", "mambaforge", "anaconda3"),
    *("miniconda3/envs/*", "miniforge3/envs/*", "mambaforge/envs/*", "anaconda3/envs/*"),
    *("micromamba/envs/*", ".conda/envs/*", ".pyenv/versions/*", ".pyenv/versions/*/envs/*"),
)
SYSTEM = ("/usr", "/usr/local", "/opt/conda")
_MOST = 200  # environments


class Environment(Record):
    """A Python with its own packages. `path` is what one types: its folder, or the program.

    `torch` is the version of its PyTorch, None if none is seen.
    """

    path: str
    torch: str | None = None


def find(
    home: Path | None = None, environment: Mapping[str, str] = os.environ
) -> tuple[Environment, ...]:
    """Return all environments but this one, those with PyTorch first. Never raises."""
    home = home or Path(os.path.expanduser("~"))
    found: dict[str, Environment] = {}
    for place in _places(home, environment):
        key = os.path.realpath(place)
        if len(found) >= _MOST or key in found or key == os.path.realpath(sys.prefix):
            continue
        python = program_in(place)
        if python is None:
            continue
        if str(place) in SYSTEM:  # it also uses packages of `pip install --user`
            torch = _torch(place) or _torch(home / ".local")
            found[key] = Environment(path=python, torch=torch)
        else:
            found[key] = Environment(path=str(place), torch=_torch(place))
    return tuple(sorted(found.values(), key=lambda each: each.torch is None))  # keeps the order


def program_in(folder: Path) -> str | None:
    """Return the Python of an environment; the unresolved link, which selects the environment."""
    programs = (folder / program for program in _PROGRAMS)
    return next((str(p.absolute()) for p in programs if os.access(p, os.X_OK)), None)


def _places(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if environment.get(name):
            yield Path(environment[name])
    for name in (".venv", "venv"):
        yield Path(name).absolute()
    for pattern in _PLACES:
        yield from _glob(home, pattern)
    try:
        known = (home / ".conda/environments.txt").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        known = ""
    yield from (Path(line.strip()) for line in known.splitlines() if line.strip())
    if sys.platform != "win32":
        yield from map(Path, SYSTEM)


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:  # a folder on the way is not readable
        return []


def _torch(folder: Path) -> str | None:
    """Return "2.9.0+cu128" for the folder torch-2.9.0+cu128.dist-info."""
    for packages in _PACKAGES:
        for place in _glob(folder, f"{packages}/torch-*.dist-info"):
            match = re.fullmatch(r"torch-([^-]+)\.dist-info", place.name)
            if match:
                return match[1]
    return None
