"""`coreopsis`: open the window. What it costs before the first paint is counted in milliseconds."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from app.context import Context, ExitCode

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace, context: Context) -> ExitCode:
    """Open the window; without a display, say why in one line and take the tour in the terminal."""
    from app.window.display import loses_references, reason

    problem = reason() or loses_references()
    if problem is not None:
        from app.terminal.tour import run as tour

        context.complain(problem)
        return tour(options, context)
    return _open(context)


def _open(context: Context) -> ExitCode:
    os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")  # it would look for PyQt first
    from PySide6.QtWidgets import QApplication

    from app.window.session import Session
    from app.window.settings import load
    from app.window.single import Single
    from app.window.window import Window
    from widgets import theme as themes
    from widgets.look import Look

    application = QApplication(sys.argv[:1])
    application.setApplicationName("Coreopsis")
    application.setDesktopFileName("coreopsis")
    application.setQuitOnLastWindowClosed(False)  # a run may finish behind a hidden window
    single = Single(context.folder)
    if not single.claim():
        context.errors.print(context.words.say("frame.already_open"))
        return ExitCode.DONE
    settings, problem = load(context.folder)
    look = Look(themes.load(settings.worn, settings.zoom))
    session = Session(context, look, settings)
    window = Window(session)

    def wake() -> None:
        from app.window import crash

        crash.install(context, window)
        themes.add_fonts()
        look.wear(themes.load(themes.mode_of(settings.mode, application), settings.zoom))
        window.wake()
        application.styleHints().colorSchemeChanged.connect(window.preferences.dress)
        single.asked_to_front.connect(window.come_to_front)
        if problem is not None:
            session.troubled.emit(problem)

    window.painted.connect(wake)
    window.closed.connect(application.quit)
    window.show()
    try:
        application.exec()
    finally:
        session.close()
        single.close()
    return ExitCode.DONE
