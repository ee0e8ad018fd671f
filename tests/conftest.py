"""Every test leaves its process as it found it: threads, children, descriptors, a quiet log."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import logging
import os
import subprocess
import sys
import threading
import time
import tomllib
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app import garbage
from app.window.core.unread_sources import leave_sources_unread
from experiments.core.problems import UserError
from experiments.core.shelves import VARIABLE, YOURS
from machine.system.files import DATA_FOLDER

# What names folders of the developer's own: nothing of them may come into a test.
OWN_FOLDERS = ("XDG_DATA_HOME", DATA_FOLDER, VARIABLE)
OURS = ("app", "widgets", "experiments", "machine")
PATIENCE_S = 5.0  # for what is on its way out; a busy machine is no failure
QT_PATIENCE_MS = 60_000  # pytest-qt's own 5 s are too few for a busy machine
HAS_TORCH = importlib.util.find_spec("torch") is not None
NO_TORCH = "needs PyTorch, which LITE=1 left out"
DESCRIPTORS = 5  # a library that is used for the first time may keep a few open


for name in OWN_FOLDERS:
    os.environ.pop(name, None)
garbage.leave_to_us()  # as in the window's process
# Hundreds of processes are started: where the environment forbids it, each would compile us anew,
# and pytest would rewrite the asserts of every test file in each of its processes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before an application is made
os.environ["OMP_WAIT_POLICY"] = "passive"  # or torch's idle threads keep all cores busy
# Hundreds of programs begin in one process, and each reads the same words.
tomllib.loads = functools.cache(tomllib.loads)
for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitCallback):
    wait.__kwdefaults__["timeout"] = QT_PATIENCE_MS


@pytest.fixture(scope="session")
def qapp(qapp: Any) -> Any:
    """Return the application with the program's own letters: those of a machine need other room."""
    from widgets.style.theme import add_fonts

    add_fonts()
    return qapp


def pytest_xdist_auto_num_workers() -> int:
    """Work in one process more than there are processors: many tests wait for others."""
    return len(psutil.Process().cpu_affinity() or ()) + 1 if sys.platform == "linux" else 2


def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Compile a fresh checkout before the whole suite runs: each process would compile all of it.

    That takes one process as long as all of them side by side, and a third of the work.
    """
    compiled = Path(__file__).parent.glob("experiments/*/__pycache__/test_*.pyc")
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and not any(compiled):
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0"]
        # What fails here fails again where it is seen.
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False)


def pytest_sessionstart() -> None:
    """Import as the window does, where pytest has loaded PySide before."""
    leave_sources_unread()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the stories, which take longest: at the end, others would wait for them."""
    items.sort(key=lambda item: "tests/story" not in item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Skip a test whose fixture needs PyTorch, where there is none."""
    return (yield from _skipped_without_torch())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Skip a test that needs PyTorch, by its marker or by what it imports, where there is none."""
    if not HAS_TORCH and item.get_closest_marker("torch"):
        pytest.skip(NO_TORCH)
    return (yield from _skipped_without_torch())


def _skipped_without_torch() -> Iterator[None]:
    try:
        return (yield)
    except ModuleNotFoundError as error:
        if error.name == "torch" and not HAS_TORCH:
            pytest.skip(NO_TORCH)
        raise
    except UserError as error:
        is_torch = error.problem.values.get("name") == "torch"
        if error.problem.key == "library_missing" and is_torch and not HAS_TORCH:
            pytest.skip(NO_TORCH)
        raise


def pytest_collection_finish() -> None:
    """Take what stays to the end out of every collection."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # a test leaves little, and looking for it takes long


@pytest.fixture(autouse=True, scope="session")
def data_folder(tmp_path_factory) -> Iterator[None]:
    """Give the program, and all that it starts, an empty data folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(autouse=True)
def nothing_is_left_behind(request) -> Iterator[None]:
    """Fail a test that leaves something running or open, or logs a warning that it ignores.

    A test that expects warnings asks for `caplog`, and looks at them itself.
    """
    threads, children, descriptors = set(threading.enumerate()), _children(), _descriptors()
    modules, had_qt = len(sys.modules), "PySide6.QtGui" in sys.modules
    _remember_timers()
    heard = _Warnings()
    with heard:
        yield
    _delete_later_is_now()
    garbage.collect_due()
    _undress()
    _forget_own(modules)
    end_s = time.monotonic() + PATIENCE_S
    while (left := _left(threads, children)) and time.monotonic() < end_s:
        time.sleep(0.01)
    assert not left, f"left running: {left}"
    assert not (shown := _left_open()), f"left open: {shown}"
    assert not (ticking := _left_ticking()), f"left ticking: {ticking}"
    if _descriptors() > descriptors + DESCRIPTORS and had_qt == ("PySide6.QtGui" in sys.modules):
        gc.collect()  # costs too much to be done after every test
        assert _descriptors() <= descriptors + DESCRIPTORS, "left open: descriptors"
    if "caplog" not in request.fixturenames:
        assert not heard.records, [record.getMessage() for record in heard.records]


def _forget_own(modules: int) -> None:
    """Know no experiments of a user's own any more, nor what was imported of them.

    Nothing is looked for where there are as many modules as before, and no folder is in use.
    """
    yours = sys.modules.get(YOURS)
    if yours is None or not (yours.__path__ or len(sys.modules) != modules):
        return
    yours.use([])
    for name in [name for name in sys.modules if name.startswith(f"{YOURS}.")]:
        del sys.modules[name]


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def __enter__(self) -> None:
        for name in OURS:
            logging.getLogger(name).addHandler(self)

    def __exit__(self, *_: object) -> None:
        for name in OURS:
            logging.getLogger(name).removeHandler(self)


def _left(threads: set[threading.Thread], children: set[int]) -> list[str]:
    new = [repr(thread) for thread in set(threading.enumerate()) - threads]
    return new + [child for pid in _children() - children if (child := _ours(pid))]


def _delete_later_is_now() -> None:
    """Delete what was to be deleted later: Qt does so in an event loop, and here often none runs.

    Each widget that stays slows down the styles of every test that follows.
    """
    core = sys.modules.get("PySide6.QtCore")
    if core is not None and core.QCoreApplication.instance() is not None:
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)


def _undress() -> None:
    """Take off the theme that was worn: larger letters break lines in tests that wear none."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    application = widgets and widgets.QApplication.instance()
    if application and application.styleSheet():
        gui = sys.modules["PySide6.QtGui"]
        application.setStyleSheet("")
        application.setFont(gui.QFontDatabase.systemFont(gui.QFontDatabase.SystemFont.GeneralFont))
        application.setPalette(gui.QPalette())


def _left_open() -> list[str]:
    """Return the windows and menus of Qt that are left, and close them."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or widgets.QApplication.instance() is None:
        return []
    left = [window for window in widgets.QApplication.topLevelWidgets() if window.isVisible()]
    for window in left:  # or it would catch the mouse of every test that follows
        window.close()
        window.deleteLater()
    return [repr(window) for window in left]


timers: weakref.WeakSet[Any] = weakref.WeakSet()


def _remember_timers() -> None:
    """Keep a list of Qt's timers from now on: Qt itself has none."""
    core = sys.modules.get("PySide6.QtCore")
    if core is None or core.QTimer.__init__.__name__ == "remembered":
        return
    make = core.QTimer.__init__

    def remembered(timer: object, *given: object, **named: object) -> None:
        make(timer, *given, **named)
        timers.add(timer)

    core.QTimer.__init__ = remembered


def _left_ticking() -> list[str]:
    """Return the timers of Qt that still run, and stop them."""
    for timer in [timer for timer in timers if not _is_there(timer)]:
        timers.discard(timer)  # or every test that follows would look at it
    if not any(_ticks(timer) for timer in timers):
        return []
    gc.collect()  # what holds itself is gone for whoever made it
    left = [timer for timer in timers if _ticks(timer)]
    for timer in left:
        timer.stop()
    return [f"{timer!r} of {timer.parent()!r}" for timer in left]


def _ticks(timer: Any) -> bool:
    return _is_there(timer) and timer.isActive() and not timer.isSingleShot()


def _is_there(timer: Any) -> bool:
    return bool(sys.modules["shiboken6"].isValid(timer))


def _children() -> set[int]:
    """Return the children's ids by Linux' own list: psutil looks at every process there is."""
    if sys.platform != "linux":
        return {child.pid for child in psutil.Process().children()}
    try:
        # Mostly there are none, and this says so at once: Qt and torch have many threads.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return set()
    found: set[int] = set()
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/children") as file:
            found.update(map(int, file.read().split()))  # unless the thread has just ended
    return found


def _ours(pid: int) -> str:
    """Return what the child is, "" if it is gone or stays by design."""
    try:
        child = psutil.Process(pid)
        # The tracker of multiprocessing stays until the end of the program.
        stays = child.status() == psutil.STATUS_ZOMBIE or "tracker" in " ".join(child.cmdline())
    except psutil.Error:
        return ""
    return "" if stays else repr(child)


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
