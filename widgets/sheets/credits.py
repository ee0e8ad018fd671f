"""Licences of the program, its fonts and its libraries.

Read from the metadata of the installed packages, without importing them.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata

from experiments.core.resources import read_resource

OURS = "coreopsis"
SHOWN_VERSIONS = {"PySide6": "PySide6_Essentials", "NumPy": "numpy"}
LGPL = ("PySide6_Essentials", "shiboken6")  # their wheels contain no licence text
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
FOR_OTHERS = re.compile(r"extra\s*==\s*['\"](?!torch)")  # test dependencies are not shipped
LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice)", re.IGNORECASE)
LONGEST_NAME = 120  # of a licence; some packages put the whole text there


@dataclass(frozen=True, slots=True)
class Credit:
    """One package or font, and its licence."""

    name: str
    version: str
    licence: str
    read: Callable[[], str]  # the whole text; "" if the distribution has none


def versions() -> list[tuple[str, str]]:
    """Return (name, version) of what a bug report needs."""
    from PySide6.QtCore import qVersion

    found = [("Coreopsis", _version(OURS)), ("Python", platform.python_version())]
    found.append(("Qt", qVersion()))
    return found + [(name, _version(package)) for name, package in SHOWN_VERSIONS.items()]


def all_credits() -> list[Credit]:
    """Return the program, the fonts, Qt, and then every library by name."""
    fonts = Credit(
        "Inter, JetBrains Mono", "", "OFL-1.1", lambda: read_resource("fonts", "OFL.txt")
    )
    libraries = sorted(
        _libraries(OURS), key=lambda each: (each.name not in LGPL, each.name.lower())
    )
    ours = Credit("Coreopsis", _version(OURS), "MIT", lambda: _texts(OURS))
    return [ours, fonts, *libraries]


def _libraries(root: str) -> Iterator[Credit]:
    """Yield the installed dependencies of `root`, direct and indirect."""
    seen, waiting = {_plain(root)}, [root]
    while waiting:
        for needed in _needs(waiting.pop()):
            if _plain(needed) in seen:
                continue
            seen.add(_plain(needed))
            try:
                yield _credit(metadata.distribution(needed))
            except metadata.PackageNotFoundError:
                continue
            waiting.append(needed)


def _needs(name: str) -> Iterator[str]:
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    for line in lines:
        found = NAME.match(line)
        if found and not FOR_OTHERS.search(line):
            yield found[0]


def _credit(library: metadata.Distribution) -> Credit:
    about = library.metadata
    name = about["Name"]
    said = [*(about.get_all("License-Expression") or []), *(about.get_all("License") or [])]
    said += [
        kind.rpartition(" :: ")[2]
        for kind in about.get_all("Classifier") or []
        if kind.startswith("License ::")
    ]
    short = (text.strip() for text in said if len(text.strip()) <= LONGEST_NAME)
    licence = next((text for text in short if text), "")
    if name in LGPL:
        return Credit(name, library.version, "LGPL-3.0-only", _lgpl)
    return Credit(name, library.version, licence, lambda: _texts(name))


def _lgpl() -> str:
    """Return the LGPL and the GPL, on which it is based."""
    return "\n\n".join(read_resource("licences", f"{name}-3.0.txt") for name in ("LGPL", "GPL"))


def _texts(name: str) -> str:
    """Return all licence texts of a distribution."""
    try:
        listed = metadata.distribution(name).files or []
    except metadata.PackageNotFoundError:
        return ""
    texts = []
    for path in listed:
        if LICENCE_FILE.search(path.name) and path.suffix in ("", ".txt", ".md", ".rst", ".APACHE"):
            try:
                texts.append(path.read_text(encoding="utf-8").strip())
            except (OSError, UnicodeDecodeError):
                continue
    return "\n\n".join(dict.fromkeys(texts))


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "?"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
