"""Opens the window. Every import before the first paint costs milliseconds of the start."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from app import garbage
from app.context import Context, ExitCode
from app.ending_signals import end_in_order, ending_signals

GARBAGE_MS = 1000
SWITCH_S = 5e-4  # the most that a thread lets the window wait; Python's 5 ms add up over a painting


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Open the window; if none can open, say why and take the tour in the terminal.

    Raises UserError for a fake machine that cannot be read.
    """
    from app.window.shell.display import loses_references, reason

    if context.has_fake_machine:
        _ = context.machine  # read now: a wrong file is a usage error
    problem = reason() or loses_references()
    if problem is not None:
        from app.terminal.tour import run as tour

        end_in_order()
        context.complain(problem)
        return tour(context)
    return _open(context)


def show(context: Context, file: Path) -> ExitCode:
    """Open the window, which shows this file; where one is open already, it shows it."""
    return _open(context, file.absolute())


def _open(context: Context, file: Path | None = None) -> ExitCode:
    garbage.leave_to_us()  # before the imports, which it speeds up
    sys.setswitchinterval(SWITCH_S)
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app.window.core.unread_sources import leave_sources_unread

    leave_sources_unread()
    from app.window.core.session import Session
    from app.window.core.settings import load
    from app.window.shell.single import Single
    from app.window.shell.window import Window
    from widgets.style import theme as themes
    from widgets.style.look import Look

    application = QApplication(sys.argv[:1])
    application.setApplicationName("Coreopsis")
    application.setDesktopFileName("coreopsis")
    application.setQuitOnLastWindowClosed(False)  # a run may finish behind a hidden window
    single = Single(context.folder)
    if not single.claim(file):
        context.errors.print(context.words.say("frame.already_open"))
        return ExitCode.DONE
    settings, problem = load(context.folder)
    look = Look(themes.load(settings.worn, settings.zoom))
    session = Session(context, look, settings)
    window = Window(session)

    collecting = QTimer(application, interval=GARBAGE_MS)
    collecting.timeout.connect(garbage.collect_due)

    def wake() -> None:
        from app.window.shell import crash

        crash.install(context, window)
        themes.add_fonts()
        look.wear(themes.load(themes.mode_of(settings.mode, application), settings.zoom))
        window.wake()
        application.styleHints().colorSchemeChanged.connect(window.preferences.dress)
        single.asked_to_front.connect(window.come_to_front)
        single.asked_to_show.connect(window.show_file)
        collecting.start()
        if problem is not None:
            session.troubled.emit(problem)
        if file is not None:
            window.show_file(file)

    window.painted.connect(wake)
    window.closed.connect(application.quit)
    window.show()
    _quit_by_signal(application.quit)
    try:
        application.exec()
    finally:
        single.close()  # first: ending a run takes a moment, and the window is gone
        session.close()
    return ExitCode.DONE


def _quit_by_signal(leave: Callable[[], object]) -> None:
    """Quit cleanly at a signal: an exception in the middle of Qt would crash it.

    Python handles signals when it runs code, here at the timers of the status line.
    """
    from PySide6.QtCore import QTimer

    for number in ending_signals():
        signal.signal(number, lambda *_: QTimer.singleShot(0, leave))  # Qt may be painting
