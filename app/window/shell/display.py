"""Finds out why no window can open, before Qt is loaded: Qt would end the process instead.

Qt's message names the wrong cause if a display cannot be reached. So each step is tried alone: the
display by its own library, the platform plugin by loading it, which names a missing system library.
This costs 3 to 20 ms. An X11 display that refuses is asked once more.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from experiments.core.problems import Problem

# Libraries that a window needs, with their packages in Debian and Ubuntu.
PACKAGES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
PACKAGES_X11 = {
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}
PACKAGES_WAYLAND = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
}
MISSING = re.compile(r"^(\S+): cannot open shared object file: No such file")
# It loses references to None and True, which crashes Python before 3.12 within a second.
BROKEN_VERSION, UNHURT_PYTHON = "6.12.0", (3, 12)
QT_GLIBC_ON_ARM = (2, 39)  # PySide6 6.10.2 to 6.12.0: their tags
CANARY_CALLS, CANARY_LOSS = 100, 50
ASK_AGAIN_S = 0.1


def reason(environment: Mapping[str, str] = os.environ) -> Problem | None:
    """Return why no window can open, or None if one can."""
    package = _package()
    if package is None:
        glibc = _old_glibc()
        return Problem("qt_wants_glibc", {"glibc": glibc}) if glibc else Problem("qt_missing")
    if sys.version_info < UNHURT_PYTHON and _version(package) == BROKEN_VERSION:
        return _broken(BROKEN_VERSION)
    return None if sys.platform in ("win32", "darwin") else _no_window(environment, package)


def _no_window(environment: Mapping[str, str], package: Path) -> Problem | None:
    asked = environment.get("QT_QPA_PLATFORM", "").partition(";")[0].partition(":")[0]
    if asked not in ("", "xcb", "wayland"):  # offscreen and others need no display
        return _unloadable(package / f"libq{asked}.so", {})
    problems = list(_tried(environment, package, asked))
    if not problems:
        return Problem("no_display")
    return None if None in problems else problems[0]


def loses_references() -> Problem | None:
    """Return the problem with a Qt that loses references, found by trying it.

    Loads QtCore; meant for after `reason` and before any other use of Qt.
    """
    if sys.version_info >= UNHURT_PYTHON:
        return None
    import PySide6
    from PySide6.QtCore import QObject

    watched = QObject()
    before = sys.getrefcount(None)
    for _ in range(CANARY_CALLS):
        watched.setObjectName("canary")
    lost = before - sys.getrefcount(None)
    return _broken(PySide6.__version__) if lost > CANARY_LOSS else None


def _tried(environment: Mapping[str, str], package: Path, asked: str) -> Iterator[Problem | None]:
    """Yield the problem of each window system that Qt would try, None for a usable one."""
    wayland, x11 = environment.get("WAYLAND_DISPLAY"), environment.get("DISPLAY")
    if wayland and asked != "xcb":
        runtime = environment.get("XDG_RUNTIME_DIR", "")
        refused = _wayland_refuses(os.path.join(runtime, wayland))
        if refused:
            yield Problem("display_refused", {"name": wayland}, detail=refused)
        else:
            yield _unloadable(package / "libqwayland.so", PACKAGES_WAYLAND)
    if x11 and asked != "wayland":
        yield _x11_refuses(x11) or _unloadable(package / "libqxcb.so", PACKAGES_X11)


def _wayland_refuses(path: str) -> str:
    import socket  # 4 ms that X11 does not need

    if sys.platform != "win32":
        with socket.socket(socket.AF_UNIX) as asking:
            try:
                asking.connect(path)
            except OSError as error:
                return str(error)
    return ""


def _x11_refuses(display: str) -> Problem | None:
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError as error:
        return _library_missing(str(error), PACKAGES_X11)
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    for name in ("xcb_connection_has_error", "xcb_disconnect"):
        getattr(xcb, name).argtypes = [ctypes.c_void_p]
    # When its last client leaves, Xvfb restarts and may refuse new ones meanwhile. So it is asked
    # twice, and the connection stays open until Qt has its own.
    fault = _fault(xcb, display)
    if fault:
        time.sleep(ASK_AGAIN_S)
        fault = _fault(xcb, display)
    return Problem("display_refused", {"name": display}, f"xcb error {fault}") if fault else None


def _fault(xcb: ctypes.CDLL, display: str) -> int:
    """Return why a display refuses, or 0; then the connection stays open."""
    connection = xcb.xcb_connect(os.fsencode(display), None)
    fault = int(xcb.xcb_connection_has_error(connection))
    if fault:
        xcb.xcb_disconnect(connection)
    return fault


def _unloadable(plugin: Path, packages: Mapping[str, str]) -> Problem | None:
    """Load a plugin as Qt will; the system's Qt keeps it elsewhere."""
    if not plugin.exists():
        return None
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return _library_missing(str(error), packages)
    return None


def _library_missing(message: str, packages: Mapping[str, str]) -> Problem:
    """Say which library is missing, and how to install all that are."""
    found = MISSING.match(message)
    library = found[1] if found else message.partition(":")[0]
    known = {**PACKAGES, **packages}
    if library in known and shutil.which("apt-get"):
        wanted = [package for name, package in known.items() if name == library or _lacks(name)]
        command = " ".join(("sudo apt-get install --no-install-recommends", *wanted))
        return Problem("qt_library_missing", {"library": library, "command": command}, message)
    return Problem("qt_library_unknown", {"library": library}, message)


def _lacks(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return True
    return False


def _package() -> Path | None:
    """Return the folder of Qt's window systems; None where PySide6 is not installed."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    return package / "Qt" / "plugins" / "platforms"


def _old_glibc() -> str:
    """Return the version of a glibc that is older than Qt's wheels for ARM want, else ""."""
    if sys.platform == "linux" and platform.machine() == "aarch64":
        glibc = (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ")
        found = re.match(r"(\d+)\.(\d+)", glibc)
        if found and (int(found[1]), int(found[2])) < QT_GLIBC_ON_ARM:
            return glibc
    return ""


def _version(platforms: Path) -> str:
    """Return PySide6's version; `importlib.metadata` would take 30 ms."""
    try:
        text = (platforms.parents[2] / "_config.py").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    found = re.search(r'^version\s*=\s*"([^"]+)"', text, re.MULTILINE)
    return found[1] if found else ""


def _broken(version: str) -> Problem:
    python = ".".join(map(str, sys.version_info[:2]))
    return Problem("qt_broken", {"version": version, "python": python})
