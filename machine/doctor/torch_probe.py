"""Evidence from the PyTorch of an interpreter, which runs the probe, and from the files around it.

The interpreter is not isolated: packages of `pip install --user` and PYTHONPATH count, as for its
user. Only the working folder is left out; a torch.py there, which hides the package, is looked for.

LIMIT: devices that PyTorch does not find are not searched in another way. The sum wakes a sleeping
laptop GPU and briefly needs 300 to 500 MB of its memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machine.convert import convert
from machine.doctor.environments import program_in
from machine.doctor.evidence import Outcome, Room, Torch
from machine.doctor.library_files import foreign, offered, short_torch
from machine.doctor.probe import MARK, PROBE
from machine.system.adding import Keeper, keeper
from machine.system.asking import Answer, ask
from machine.system.linux import process_limit

WITHIN_S = 90.0  # torch on a cold network disk needs half a minute
_FULL_BYTES = 2**26  # with less room than this, programs fail in odd ways
_INSTALLED = ("site-packages", "dist-packages")


class BadPython(ValueError):
    """There is no Python to examine; the text says why, and what to give instead."""


def find_python(path: str) -> str:
    """Return the program of a Python, given its path, name, environment, or project.

    Raises BadPython if there is none.
    """
    given = Path(path).expanduser()
    if os.path.isdir(given):
        for place in ("", ".venv", "venv"):
            if found := program_in(given / place):
                return found
            link = given / place / "bin/python"
            if link.is_symlink():  # the environment's Python was removed or updated
                raise BadPython(
                    f"The Python of {given / place} is gone: there is no {link.resolve()}; "
                    "make the environment anew."
                )
        raise BadPython(
            f"There is no Python in the folder {path}; give an environment (venv or conda), "
            "or the program itself."
        )
    if not os.path.exists(given):
        found = None if os.sep in path else shutil.which(path)
        if found is None:
            raise BadPython(f"There is no {path}; give a Python, or the folder of an environment.")
        given = Path(found)
    names = (given.name, given.resolve().name)
    if not any(name.lower().startswith(("python", "pypy")) for name in names):
        raise BadPython(f"{path} does not look like a Python; its name begins otherwise.")
    if not os.access(given, os.X_OK):
        raise BadPython(f"{path} cannot be run: it is not executable, or not by you.")
    return str(given.absolute())  # not resolved: the link selects the venv


def examine(
    python: str = sys.executable,
    *,
    within_s: float = WITHIN_S,
    stop: threading.Event | None = None,
) -> Torch:
    """Return the evidence about an interpreter's PyTorch. May block; raises only Stopped."""
    try:
        answer = ask((python, "-c", PROBE, MARK), within_s=within_s, mark=MARK, stop=stop)
    except OSError as error:
        return Torch(
            python=python, outcome=Outcome.UNSTARTABLE, stage="start", detail=error.strerror
        )
    return _parsed(python, answer)


def _parsed(python: str, answer: Answer) -> Torch:
    known: dict[str, Any] = {"stage": "start"}
    for line in answer.lines:
        with contextlib.suppress(ValueError):  # the line was cut off
            known.update(json.loads(line.removeprefix(MARK)))
    has_pip = known.pop("has_pip", True)
    torches, mapped = known.pop("torches", ()), known.pop("mapped", ())
    prefix = known.get("prefix")
    outcome = Outcome.ANSWERED
    if answer.status is None:
        outcome = Outcome.SILENT
    elif known["stage"] == "start":
        outcome = Outcome.UNSTARTABLE
    elif answer.status and not known.get("import_problem"):
        outcome = Outcome.CRASHED
    detail = None
    if outcome is not Outcome.ANSWERED:
        detail = answer.last_error or _ending(answer.status)
    is_loaded = bool(known.get("version"))
    first = Path(torches[0]) if torches else None
    is_whole = first is not None and _is_whole(first)
    folder = first.parent if first is not None and is_whole else None
    files = mapped if is_loaded else offered(os.environ.get("LD_LIBRARY_PATH", ""))
    said = str(known.get("import_problem") or detail)
    return convert(
        {
            **known,
            "python": python,
            "outcome": outcome,
            "memory_limit_bytes": process_limit("RLIMIT_AS"),
            "detail": detail,
            "installer": _installer(prefix, has_pip=has_pip),
            "file": str(first) if first else None,
            "others": torches[1:],
            "in_the_way": str(_shown(first)) if first and not (is_whole or is_loaded) else None,
            "beside": _beside(prefix, torches),
            "foreign_library": foreign(folder, prefix, files) if folder else None,
            "short_file": short_torch(folder, said) if folder and not is_loaded else None,
            "full": tuple(_full(prefix)),
        },
        Torch,
    )


def _is_whole(file: Path) -> bool:
    """Is this a PyTorch, or its remains, and not a module of the user's own?"""
    folder = file.parent
    is_package = file.name == "__init__.py"
    return is_package and (
        folder.parent.name in _INSTALLED or os.path.exists(folder / "version.py")
    )


def _shown(file: Path) -> Path:
    """Return what is to be renamed: the folder of a package, else the file."""
    return file.parent if file.name == "__init__.py" else file


def _beside(prefix: str | None, known: list[str]) -> str | None:
    """Return a torch of the user's in the working folder or the project, which hides PyTorch.

    A copy of PyTorch's own source is not meant.
    """
    folders = []
    with contextlib.suppress(OSError):  # the working folder was removed
        folders.append(Path.cwd())
    if prefix and Path(prefix).name.lstrip(".").startswith(("venv", "env")):
        folders.append(Path(prefix).parent)
    for folder in folders:
        for file in (folder / "torch/__init__.py", folder / "torch.py"):
            if os.path.isfile(file) and str(file) not in known and not _is_whole(file):
                return str(_shown(file))
    return None


def _full(prefix: str | None) -> Iterator[Room]:
    """Yield the full disks on which the environment, temporary files or the home folder lie."""
    seen = set()
    # Not tempfile.gettempdir(), which passes over a folder that is full.
    temporary = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    for folder in filter(None, (prefix, *temporary, "/tmp", os.path.expanduser("~"))):
        try:
            disk, free_bytes = os.stat(folder).st_dev, shutil.disk_usage(folder).free
            # What can only be read, such as an image of a container, has no room to be full.
            is_fixed = sys.platform != "win32" and os.statvfs(folder).f_flag & os.ST_RDONLY
        except OSError:
            continue
        if free_bytes < _FULL_BYTES and not is_fixed and disk not in seen:
            seen.add(disk)
            yield Room(folder=folder, free_bytes=free_bytes)


def _ending(status: int | None) -> str | None:
    if status is None:
        return None
    return f"signal {-status}" if status < 0 else f"status {status}"


def _installer(prefix: str | None, *, has_pip: bool) -> str:
    """Return the installer of an environment: conda and pipx leave metadata, uv's lack pip."""
    if prefix and any(Path(prefix, "conda-meta").glob("pytorch-*.json")):
        return "conda"
    by = keeper(Path(prefix)) if prefix else Keeper.PIP
    if by in (Keeper.PIPX, Keeper.MAKE, Keeper.NOTHING):
        return by.value
    return "pip" if has_pip else "uv"
