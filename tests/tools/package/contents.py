"""The parts of the program, of Python and of the libraries in the frozen folder."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from app.context import NAME as NAME
from tests import ROOT as ROOT

START = ROOT / "app/shells/frozen.py"
ROOMS = ("app", "widgets", "experiments", "machine", "resources")
INSTALL = ROOT / "resources/frozen/install"
NOT_SHIPPED = (
    *("resources/screenshots/*", "resources/share/*", "resources/frozen/*"),
    "*/__pycache__/*",
)
# What other programs are for: windows of Tk, installing, tests; and PyTorch, which no folder takes.
NOT_NEEDED = [
    *("tkinter", "_tkinter", "turtle", "turtledemo", "idlelib", "lib2to3", "ensurepip", "venv"),
    *("test", "_testcapi", "_testbuffer", "_testimportmultiple", "_testmultiphase", "_testclinic"),
    *("_testinternalcapi", "_ctypes_test", "_xxtestfuzz", "xxlimited", "xxlimited_35", "this"),
    *("antigravity", "torch", "scipy", "pytest", "setuptools", "pip", "matplotlib", "OpenGL"),
    *("PySide6.QtTest", "IPython", "PIL"),
]
# Of Qt: texts and ways to show a window that no desktop needs, and the look of GTK's dialogs.
NEEDLESS = (
    "PySide6/*translations/*",
    *(f"PySide6/*plugins/platforms/*q{way}*" for way in ("minimal", "eglfs", "linuxfb", "vnc")),
    *(f"PySide6/*plugins/{kind}/*" for kind in ("egldeviceintegrations", "generic", "tls")),
    "PySide6/*plugins/networkinformation/*",
    "PySide6/*plugins/platformthemes/libqgtk3*",
    "PySide6/opengl32sw.dll",
)
File = tuple[str, str, str]  # PyInstaller's: name in the folder, path here, kind


def data() -> list[tuple[str, str]]:
    """Return every file of the program, with the folder that it lies in: sources are read too."""
    ours = [
        (str(path), str(path.parent.relative_to(ROOT)))
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*"))
        if path.is_file() and not _matches(path.relative_to(ROOT).as_posix(), NOT_SHIPPED)
    ]
    return ours + [each for name in sorted(_libraries()) for each in _papers(name)]


def _libraries() -> set[str]:
    """Return the libraries that the program needs, at any remove."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found, waiting = set[str](), [*project["dependencies"]]
    while waiting:
        needed, _, condition = waiting.pop().partition(";")
        name = re.split(r"[^\w.-]", needed.strip(), maxsplit=1)[0]
        if name in found or "extra" in condition:
            continue
        with contextlib.suppress(metadata.PackageNotFoundError):  # of another system
            waiting += metadata.requires(name) or ()
            found.add(name)
    return found


def _papers(library: str) -> Iterator[tuple[str, str]]:
    """Yield what is known of a library: its version, which runs keep, and its licences."""
    for file in metadata.files(library) or ():
        folder = file.parts[0]
        if folder.endswith("-info") and re.search("METADATA|LICEN|COPYING|NOTICE", str(file)):
            yield str(file.locate()), str(file.parent)


def modules() -> list[str]:
    """Return the modules of the program: commands and experiments are imported by name."""
    return [name for room in ROOMS for name in _modules(ROOT / room)]


def _modules(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if (path.parent / "__init__.py").is_file():
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def standard() -> list[str]:
    """Return the modules of Python itself: experiments of a user's own may import any."""
    from PyInstaller.utils.hooks import collect_submodules

    names = sorted(sys.stdlib_module_names - set(NOT_NEEDED))
    there = {name: spec for name in names if (spec := find_spec(name)) is not None}
    inner = [
        each
        for name, spec in there.items()
        if spec.submodule_search_locations
        for each in collect_submodules(name, filter=lambda module: ".test" not in module)
    ]
    return [*there, *inner]


def is_needless(name: str) -> bool:
    """Is it a file of Qt that nothing here uses?"""
    return _matches(name, NEEDLESS)


def reached(binaries: Sequence[File]) -> list[File]:
    """Return the binaries without what is needless, and without what only that needs."""
    needless = [path for name, path, _ in binaries if is_needless(name)]
    wanted = [each for each in binaries if not is_needless(each[0])]
    kept = [path for _, path, kind in wanted if kind != "SYMLINK"]
    only_theirs = _needed(needless) - _needed(kept)
    return [each for each in wanted if os.path.basename(each[0]) not in only_theirs]


def _needed(paths: Sequence[str]) -> set[str]:
    """Return the names of the libraries that these need, at any remove."""
    from PyInstaller.depend.bindepend import get_imports

    names, waiting, seen = set[str](), [*paths], set[str]()
    while waiting:
        if (path := waiting.pop()) in seen:
            continue
        seen.add(path)
        for name, found in get_imports(path):
            names.add(name)
            waiting += [found] if found else []
    return names


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    plain = name.replace("\\", "/")
    return any(fnmatch.fnmatchcase(plain, pattern) for pattern in patterns)
