"""The line that adds a package to a Python environment, by what keeps that environment.

Sources: pipx writes `pipx_metadata.json` into each environment of its own. uv writes
`uv-receipt.toml` into those of `uv tool install`. It writes a line `uv = VERSION` into the
`pyvenv.cfg` of `uv venv`. Neither kind of uv's has pip. PyInstaller sets `sys._MEIPASS`; no package
can be added to its folder.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from enum import StrEnum
from pathlib import Path

from machine.system.installed import version_of

PROGRAM = "coreopsis"
CHECKOUT = Path(__file__).resolve().parents[2]  # where the program lies, a checkout or not


class Keeper(StrEnum):
    """The tool that installs packages into an environment."""

    MAKE = "make"
    PIPX = "pipx"
    UV = "uv"
    PIP = "pip"
    NOTHING = "nothing"  # a frozen folder


def keeper(prefix: Path, checkout: Path = CHECKOUT) -> Keeper:
    """Return what keeps the environment at `prefix`: it left a file there. Never raises."""
    if is_frozen() and os.path.realpath(prefix) == os.path.realpath(sys.prefix):
        return Keeper.NOTHING
    has_make = (checkout / "Makefile").is_file() and (checkout / "constraints.txt").is_file()
    if has_make and sys.platform != "win32":
        with_links = os.path.realpath(checkout / ".venv")
        if os.path.realpath(prefix) == with_links:
            return Keeper.MAKE
    if (prefix / "pipx_metadata.json").is_file():
        return Keeper.PIPX
    if (prefix / "uv-receipt.toml").is_file() or _is_made_by_uv(prefix / "pyvenv.cfg"):
        return Keeper.UV
    return Keeper.PIP


def adding(package: str, by: Keeper, *, python: str, prefix: Path) -> str:
    """Return the line that adds `package` to the environment of `python`, at `prefix`.

    Beside a frozen folder it installs the program anew, with the extra of that name.
    """
    if by is Keeper.NOTHING:
        return f"pipx install {quoted(f'{wheel()}[{package}]')}"
    if by is Keeper.MAKE:
        return adding_by_make()
    if by is Keeper.PIPX:
        return f"pipx inject {quoted(prefix.name)} {quoted(package)}"
    if by is Keeper.UV:
        return f"uv pip install --python {quoted(python)} {quoted(package)}"
    return f"{quoted(python)} -m pip install {quoted(package)}"


def adding_by_make() -> str:
    """Return the line that adds all that is missing to this checkout; no path is needed in it."""
    with contextlib.suppress(OSError):  # the working folder is gone
        if Path.cwd() == CHECKOUT:
            return "make run"
    return f"make -C {quoted(str(CHECKOUT))} run"


def adding_here(package: str) -> str:
    """Return the line that adds `package` to the environment that this program runs in."""
    prefix = Path(sys.prefix)
    return adding(package, keeper(prefix), python=sys.executable, prefix=prefix)


def is_frozen() -> bool:
    """Is this program a folder that PyInstaller made?"""
    return hasattr(sys, "_MEIPASS")


def wheel() -> str:
    """Return the name of this program's wheel."""
    return f"{PROGRAM}-{version_of(PROGRAM)}-py3-none-any.whl"


def quoted(text: str) -> str:
    """Return a word of a command line as the shell of this system takes it."""
    windows = f'"{text}"' if any(mark in text for mark in " <>&|") else text
    return windows if sys.platform == "win32" else shlex.quote(text)


def _is_made_by_uv(configuration: Path) -> bool:
    try:
        lines = configuration.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in lines)
