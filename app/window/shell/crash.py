"""Catches unexpected errors, shows a report, and lets the window go on.

It catches exceptions that leave a slot, an event or a thread, and logs the warnings of Qt. A report
holds versions, the place and the trace, without what names its owner (anonymous.py).
"""

from __future__ import annotations

import logging
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QCoreApplication,
    QMessageLogContext,
    QObject,
    Qt,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QWidget

from app.anonymous import anonymous
from experiments.core.processes.own_errors import own_problem
from experiments.core.words import Words
from machine.text import escaped

if TYPE_CHECKING:
    from app.context import Context
    from app.window.shell.window import Window
    from widgets.sheets.trouble import CrashDialog

log = logging.getLogger(__name__)
qt_log = logging.getLogger("app.qt")

SAME_AGAIN_S = 5.0  # the same error is not shown again sooner: it may come with each paint
QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
QT_NOISE = ("This plugin does not support ",)  # of the offscreen platform


class Crashes(QObject):
    """The hooks of the window's process. `situation` returns what was going on."""

    _caught = Signal(str, str)  # a trace, from any thread, and what is to be mended

    def __init__(
        self, words: Words, situation: Callable[[], Mapping[str, str]], window: QWidget | None
    ) -> None:
        super().__init__(window)
        self._words, self._situation, self._window = words, situation, window
        self._dialog: CrashDialog | None = None
        self._quiet: tuple[str, float] = ("", 0.0)  # the last trace, and how long to ignore it
        self._hooks: tuple[Any, Any, Any] | None = None
        # Queued: no dialog during a paint or in another thread.
        self._caught.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Set the hooks, again if others have replaced them."""
        if self._hooks is None:
            before = qInstallMessageHandler(_log_qt)
            self._hooks = (sys.excepthook, threading.excepthook, before)
        sys.excepthook = self._catch
        threading.excepthook = self._catch_in_thread

    def uninstall(self) -> None:
        """Restore the hooks."""
        if self._hooks is not None:
            sys.excepthook, threading.excepthook, before = self._hooks
            qInstallMessageHandler(before)
            self._hooks = None

    def _catch(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        try:
            of_own = own_problem(error)
            to_mend = self._words.say(f"problems.{of_own.key}", of_own.values) if of_own else ""
            said = "".join(traceback.format_exception(kind, error, trace))
            self._caught.emit(anonymous(said), to_mend)
        except BaseException:  # noqa: BLE001  the first error must not be lost
            sys.__excepthook__(kind, error, trace)

    def _catch_in_thread(self, caught: threading.ExceptHookArgs) -> None:
        if caught.exc_type is not SystemExit and caught.exc_value is not None:
            self._catch(caught.exc_type, caught.exc_value, caught.exc_traceback)

    def _show(self, trace: str, to_mend: str) -> None:
        from widgets.sheets.trouble import CrashDialog

        if self._dialog is not None:
            self._dialog.add(trace)
            return
        last, until_s = self._quiet
        if trace == last and time.monotonic() < until_s:
            return
        text = report(trace, self._situation)
        log.error("%s", text)
        dialog = CrashDialog(text, self._words, self._window, to_mend=to_mend)
        dialog.quit_wanted.connect(QCoreApplication.quit)
        dialog.finished.connect(lambda _result: self._closed(trace))
        self._dialog = dialog
        dialog.open()

    def _closed(self, trace: str) -> None:
        self._dialog = None
        self._quiet = (trace, time.monotonic() + SAME_AGAIN_S)


def install(context: Context, window: Window) -> Crashes:
    """Catch errors as long as the application lives."""

    def situation() -> Mapping[str, str]:
        session = window.session
        is_running = session.is_awake and session.runner.is_running
        run_state = session.runner.run_state if is_running else None
        return {
            "place": window.place.name,
            "run": run_state.experiment.id if run_state is not None else "none",
        }

    crashes = Crashes(context.words, situation, window)
    crashes.install()
    application = QCoreApplication.instance()
    assert application is not None
    application.aboutToQuit.connect(crashes.uninstall)
    return crashes


def report(trace: str, situation: Callable[[], Mapping[str, str]]) -> str:
    """Return versions, situation and trace, without names."""
    from widgets.sheets.credits import versions

    lines = [f"{name}: {version}" for name, version in versions()]
    lines.append(f"System: {platform.platform()}")
    try:
        lines += [f"{name}: {value}" for name, value in situation().items()]
    except Exception as error:  # noqa: BLE001  the failing part may be asked here
        lines.append(f"situation: {type(error).__name__}")
    return escaped(anonymous("\n".join((*lines, "", trace))))  # it is copied, and logged


def _log_qt(kind: QtMsgType, _context: QMessageLogContext, message: str | None) -> None:
    is_noise = (message or "").startswith(QT_NOISE)
    qt_log.log(logging.DEBUG if is_noise else QT_LEVELS[kind], "%s", message)
