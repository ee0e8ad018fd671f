from __future__ import annotations

import importlib.util
import os
import platform
import socket
import subprocess
import sys
import types
from pathlib import Path
from unittest.mock import Mock

import pytest

from app.window.shell import display
from app.window.shell.display import loses_references, reason
from experiments.core import words
from machine.system.adding import adding_here

WORDS = words.load()
QT = "PySide6-Essentials<6.12" if sys.version_info < (3, 12) else "PySide6-Essentials"
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
pytestmark = ON_LINUX


def qt(folder: Path, version: str = "6.11.3") -> Path:
    """Return the folder of the window systems of a Qt that is none."""
    package = folder / "PySide6"
    platforms = package / "Qt" / "plugins" / "platforms"
    platforms.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "_config.py").write_text(f'version = "{version}"\n')
    return platforms


@pytest.fixture
def fake_qt(tmp_path, monkeypatch) -> Path:
    platforms = qt(tmp_path)
    use(monkeypatch, platforms)
    return platforms


def use(monkeypatch, platforms: Path) -> None:
    origin = str(platforms.parents[2] / "__init__.py")
    found = types.SimpleNamespace(origin=origin)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: found)


@pytest.fixture
def wayland(tmp_path):
    """Return the environment of a desktop that takes connections."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-9"))
        server.listen()
        yield {"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path)}


def sentence(problem) -> str:
    text = WORDS.say(f"problems.{problem.key}", problem.values)
    assert "{" not in text
    return text


def test_without_any_display_it_is_said_so():
    assert reason({}).key == "no_display"
    assert "DISPLAY" in sentence(reason({}))


def test_a_dead_display_is_named():
    problem = reason({"DISPLAY": ":4711"})

    assert problem.key == "display_refused"
    assert ":4711" in sentence(problem)


@pytest.mark.parametrize("faults", [(0,), (1, 0)], ids=["at once", "when asked again"])
def test_a_display_is_asked_twice_and_not_left_before_qt_is_there(monkeypatch, faults):
    xcb = Mock()
    xcb.xcb_connection_has_error.side_effect = faults
    monkeypatch.setattr(display.ctypes, "CDLL", lambda _name: xcb)

    assert reason({"DISPLAY": ":0"}) is None
    assert xcb.xcb_connect.call_count - xcb.xcb_disconnect.call_count == 1


def test_a_dead_wayland_display_is_named(tmp_path):
    problem = reason({"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(tmp_path)})

    assert problem.key == "display_refused"
    assert "wayland-7" in sentence(problem)


@pytest.mark.parametrize("platform", ["offscreen", "minimal", "offscreen:size=800x600"])
def test_who_asks_for_no_display_needs_none(platform):
    assert reason({"QT_QPA_PLATFORM": platform}) is None


def test_what_is_asked_for_is_what_is_tried(wayland, fake_qt):
    assert reason(wayland) is None
    assert reason({**wayland, "QT_QPA_PLATFORM": "xcb"}).key == "no_display"
    assert reason({"DISPLAY": ":4711", "QT_QPA_PLATFORM": "wayland"}).key == "no_display"


def test_one_display_that_works_is_enough(wayland, fake_qt):
    assert reason({**wayland, "DISPLAY": ":4711"}) is None


def test_a_missing_library_is_named_with_the_command_that_installs_it(
    wayland, fake_qt, monkeypatch
):
    (fake_qt / "libqwayland.so").touch()

    def refuse(name, *_):
        if name.endswith("libqwayland.so"):
            raise OSError("libEGL.so.1: cannot open shared object file: No such file or directory")
        if name == "libfontconfig.so.1":
            raise OSError("not there either")

    monkeypatch.setattr(display.ctypes, "CDLL", refuse)
    monkeypatch.setattr(display.shutil, "which", lambda _name: "/usr/bin/apt-get")

    problem = reason(wayland)

    assert problem.key == "qt_library_missing"
    assert problem.values["library"] == "libEGL.so.1"
    assert problem.values["command"].split()[-2:] == ["libegl1", "libfontconfig1"]
    assert "sudo apt-get install" in sentence(problem)

    monkeypatch.setattr(display.shutil, "which", lambda _name: None)
    assert reason(wayland).key == "qt_library_unknown"
    assert "libEGL.so.1" in sentence(reason(wayland))


def test_a_plugin_that_is_no_library_is_named(wayland, fake_qt):
    (fake_qt / "libqwayland.so").write_text("no library")

    problem = reason(wayland)

    assert problem.key == "qt_library_unknown"
    assert "libqwayland.so" in sentence(problem)


def test_no_qt_is_said_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    assert reason({"DISPLAY": ":0"}).key == "qt_missing"
    assert f"`{adding_here(QT)}`" in sentence(reason({}))


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
@pytest.mark.parametrize(
    ("machine", "glibc", "key"),
    [
        ("aarch64", "2.36", "qt_wants_glibc"),
        ("aarch64", "2.39", "qt_missing"),
        ("aarch64", "3.0", "qt_missing"),
        ("x86_64", "2.36", "qt_missing"),
    ],
)
def test_on_arm_a_system_too_old_for_qt_is_said_to_be(monkeypatch, machine, glibc, key):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(os, "confstr", lambda _name: f"glibc {glibc}")

    problem = reason({"DISPLAY": ":0"})

    assert problem.key == key
    assert key == "qt_missing" or (glibc in sentence(problem) and "2.39" in sentence(problem))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None lives for ever there")
def test_the_broken_qt_is_refused_and_others_are_not(tmp_path, monkeypatch):
    use(monkeypatch, qt(tmp_path / "bad", "6.12.0"))
    problem = reason({"QT_QPA_PLATFORM": "offscreen"})
    assert problem.key == "qt_broken"
    assert "6.12.0" in sentence(problem)

    use(monkeypatch, qt(tmp_path / "good", "6.11.3"))
    assert reason({"QT_QPA_PLATFORM": "offscreen"}) is None


def test_the_version_is_read_of_the_qt_that_is_installed(monkeypatch):
    import PySide6

    monkeypatch.setattr(display, "BROKEN_VERSION", PySide6.__version__)
    monkeypatch.setattr(display, "UNHURT_PYTHON", (99, 0))
    assert reason({"QT_QPA_PLATFORM": "offscreen"}).key == "qt_broken"


def test_the_qt_that_is_installed_loses_no_references():
    assert loses_references() is None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None lives for ever there")
def test_a_qt_that_loses_references_is_found_by_its_loss(monkeypatch):
    counts = iter((5000, 4900))
    monkeypatch.setattr(display.sys, "getrefcount", lambda _what: next(counts))

    assert loses_references().key == "qt_broken"


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_windows_and_macos_have_a_display(monkeypatch, platform):
    monkeypatch.setattr(display.sys, "platform", platform)

    assert reason({}) is None


def test_it_is_asked_without_loading_qt():
    code = (
        "import sys; from app.window.shell.display import reason; problem = reason(); "
        "print(problem.key); sys.exit(any(name.startswith('PySide6') for name in sys.modules))"
    )
    kept = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    environment = {name: value for name, value in os.environ.items() if name not in kept}

    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout == "no_display\n"
