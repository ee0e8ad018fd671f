"""Finds the other CPythons on this machine.

Searches the folders where people and tools install interpreters, then asks all candidates at once
for their version. Scripts are skipped: the interpreters behind the shims of pyenv and asdf are
found in their own folders. A candidate that hangs, fails or is no CPython 3.8 or newer is left out.
"""

from __future__ import annotations

import functools
import glob
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from machine.record import Record
from machine.system.asking import output

OLDEST = (3, 8)
_ANSWER_WITHIN_S = 2.0
_ASK = "import sys; print(sys.implementation.name, sys.executable, sys.version, sep='\\n')"

# Folders that hold interpreters; `~` and $VARIABLES are expanded.
_POSIX_FOLDERS = (
    "$PYENV_ROOT/versions/*/bin",
    "~/.pyenv/versions/*/bin",
    "$UV_PYTHON_INSTALL_DIR/*/bin",
    "$XDG_DATA_HOME/uv/python/*/bin",
    "~/.local/share/uv/python/*/bin",
    "$CONDA_PREFIX/bin",
    "$CONDA_PREFIX/envs/*/bin",
    "~/mini[cf]*3/bin",  # miniconda3, miniforge3
    "~/mini[cf]*3/envs/*/bin",
    "~/anaconda3/bin",
    "~/anaconda3/envs/*/bin",
    "/opt/conda/bin",
    "/opt/conda/envs/*/bin",
    "~/.asdf/installs/python/*/bin",
    "~/.local/share/mise/installs/python/*/bin",
    "/usr/local/bin",
    "/usr/bin",
    "/opt/homebrew/bin",
    "/Library/Frameworks/Python*.framework/Versions/3.*/bin",
)
_WINDOWS_FOLDERS = (
    "$LOCALAPPDATA/Programs/Python/Python3*",
    "$ProgramFiles/Python3*",
    "$UV_PYTHON_INSTALL_DIR/*",
    "$APPDATA/uv/python/*",
    "~/.pyenv/pyenv-win/versions/*",
    "$CONDA_PREFIX",
    "$CONDA_PREFIX/envs/*",
    "~/miniconda3",
    "~/miniconda3/envs/*",
    "~/anaconda3",
    "~/anaconda3/envs/*",
    "~/miniforge3",
    "~/miniforge3/envs/*",
)


class Interpreter(Record):
    """A CPython and its program. `subinterpreters`: each can have its own GIL (3.12)."""

    name: str
    version: str
    path: str
    free_threaded: bool
    subinterpreters: bool
    build: str = ""


def find(
    *, free_threaded: bool = False, older_than: tuple[int, int] | None = None
) -> tuple[Interpreter, ...]:
    """Return the other CPythons of this machine, oldest first. Never raises; takes 2 s at most.

    `free_threaded`, `older_than` or both ask only those that may be so by their names, since asking
    takes a process each.

    A name is "3.13", or "3.14t" if free-threaded. If several share a name, the running interpreter
    or else the newest keeps it; the others get their full version, "3.13.0". Builds of the same
    version are numbered, "3.13.0 (2)".
    """
    running = _interpreter(os.path.realpath(sys.executable), sys.version)
    candidates = {os.path.realpath(path): path for path in _candidates()}
    candidates.pop(running.path, None)
    if free_threaded or older_than:
        hints = {real: _hint(real) for real in candidates}
        for real, (version, is_threaded) in hints.items():
            may_be_older = older_than and (version is None or OLDEST <= version < older_than)
            if not (may_be_older or (free_threaded and (is_threaded or version is None))):
                del candidates[real]
    found = {running.build: running}
    with ThreadPoolExecutor(max_workers=16) as pool:
        for interpreter in pool.map(_ask, candidates.values()):
            if interpreter is not None:
                found.setdefault(interpreter.build, interpreter)
    return tuple(_named(found.values(), running))


def _candidates() -> Iterator[str]:
    on_windows = sys.platform == "win32"
    pattern = r"python\.exe" if on_windows else r"python3(\.\d+t?)?"
    folders = os.environ.get("PATH", "").split(os.pathsep)
    for some in _WINDOWS_FOLDERS if on_windows else _POSIX_FOLDERS:
        folders += sorted(glob.glob(os.path.expandvars(os.path.expanduser(some))))
    if on_windows:  # LIMIT: written after the launcher's documentation, not yet seen on Windows
        told = output("py", "-0p", within_s=_ANSWER_WITHIN_S)
        yield from re.findall(r"[A-Za-z]:\\.*?python\.exe", told)
    for folder in dict.fromkeys(folders):
        # Both hold commands that only offer to install Python.
        if "WindowsApps" in folder or (sys.platform == "darwin" and folder == "/usr/bin"):
            continue
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:
            continue
        for name in names:
            # First the cheap question: a folder has thousands of names.
            if name.startswith("python") and re.fullmatch(pattern, name):
                yield os.path.join(folder, name)


def _hint(path: str) -> tuple[tuple[int, int] | None, bool]:
    """Return a Python's version, and whether it may be free-threaded, as far as names show it.

    Its own name counts before those of library folders, of which /usr may have several.
    """
    prefix = os.path.dirname(os.path.dirname(path))
    names = map(os.path.basename, [path, *glob.iglob(f"{prefix}/lib/python3.*")])
    told = [match for name in names if (match := re.fullmatch(r"python3\.(\d+)(t?)", name))]
    return (3, int(told[0][1])) if told else None, any(match[2] for match in told)


def _ask(path: str) -> Interpreter | None:
    try:
        with open(path, "rb") as program:
            if program.read(2) == b"#!":
                return None
            file = os.fstat(program.fileno())
        answer = _told(path, file.st_ino, file.st_mtime_ns)
    except OSError:
        return None
    kind, executable, version, *more = [*answer.split("\n"), "", "", ""]
    if kind != "cpython" or _numbers(version)[:2] < OLDEST:
        return None
    told = executable if os.path.isabs(executable) else path
    return _interpreter(os.path.realpath(told), " ".join([version, *more]))


@functools.cache
def _told(path: str, _inode: int, _changed_ns: int) -> str:
    """Return a Python's answer, cached until its file changes.

    Raises OSError if it says nothing, so that this is not cached.
    """
    if not (answer := output(path, "-I", "-S", "-c", _ASK, within_s=_ANSWER_WITHIN_S)):
        raise OSError
    return answer


def _interpreter(path: str, build: str) -> Interpreter:
    """Return the interpreter that sys.version describes; it is equal for all copies of a build."""
    build = " ".join(build.split())
    return Interpreter(
        name="",
        version=build.split(" ")[0],
        path=path,
        free_threaded="free-threading" in build,
        subinterpreters=_numbers(build)[:2] >= (3, 12),
        build=build,
    )


def _named(found: Iterable[Interpreter], running: Interpreter) -> Iterator[Interpreter]:
    given: Counter[str] = Counter()
    named = []
    for interpreter in sorted(
        found, key=lambda i: (i is running, _numbers(i.version), i.build), reverse=True
    ):
        mark = "t" if interpreter.free_threaded else ""
        name = ".".join(map(str, _numbers(interpreter.version)[:2])) + mark
        if given[name]:
            name = interpreter.version + mark
        given[name] += 1
        if given[name] > 1:
            name = f"{name} ({given[name]})"
        if interpreter is not running:
            named.append(replace(interpreter, name=name))
    yield from reversed(named)


def _numbers(version: str) -> tuple[int, ...]:
    """Return (3, 13, 0) for "3.13.0rc1 (main, ...)", () if it is no version."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return tuple(map(int, match.groups())) if match else ()
