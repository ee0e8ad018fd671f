"""Which environments of Python are there, and which of them have a PyTorch? Nothing is started.

Looks where people and their tools put environments, below the home folder and the one in which the
program was started, and reads the names of the packages that lie in them.

LIMIT: a PyTorch is known by its folder of metadata; one that a system's package manager brought
without it, or that lies on PYTHONPATH alone, is not seen before the environment is examined.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_PROGRAMS = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")
_PACKAGES = ("lib/python3.*/site-packages", "lib/python3/dist-packages", "Lib/site-packages")
# Folders in which people keep their projects; others are looked into no deeper than the home folder
# itself, which may be large, and on a slow disk.
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
_SYSTEM = ("/usr", "/usr/local", "/opt/conda")
_MOST = 200  # places that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A Python with packages of its own. `path` is what one types: its folder, or the program.

    `torch` is the version of its PyTorch, None where none is in sight.
    """

    path: str
    torch: str | None = None


def find(
    home: Path | None = None, environment: Mapping[str, str] = os.environ
) -> tuple[Environment, ...]:
    """Return what is there but this program's own: first those with a PyTorch. Never raises."""
    home = home or Path(os.path.expanduser("~"))
    found: dict[str, Environment] = {}
    for place in _places(home, environment):
        key = os.path.realpath(place)
        if len(found) >= _MOST or key in found or key == os.path.realpath(sys.prefix):
            continue
        python = program_in(place)
        if python is None:
            continue
        if str(place) in _SYSTEM:  # its packages are also those of `pip install --user`
            torch = _torch(place) or _torch(home / ".local")
            found[key] = Environment(path=python, torch=torch)
        else:
            found[key] = Environment(path=str(place), torch=_torch(place))
    return tuple(sorted(found.values(), key=lambda each: each.torch is None))  # keeps the order


def program_in(folder: Path) -> str | None:
    """Return the Python of an environment, not resolved: the link in it is what makes it one."""
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
        yield from map(Path, _SYSTEM)


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:  # a folder on the way may not be looked into
        return []


def _torch(folder: Path) -> str | None:
    """Return such as 2.9.0+cu128, from the folder torch-2.9.0+cu128.dist-info."""
    for packages in _PACKAGES:
        for place in _glob(folder, f"{packages}/torch-*.dist-info"):
            match = re.fullmatch(r"torch-([^-]+)\.dist-info", place.name)
            if match:
                return match[1]
    return None
