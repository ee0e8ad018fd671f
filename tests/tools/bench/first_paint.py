"""A window that says when it was painted for the first time, and ends: `bare`, or `ours`.

`imports` says how long what only ours imports takes.
"""

from __future__ import annotations

import os
import sys
import time


def _painted() -> None:
    sys.stdout.write(f"{time.monotonic()}\n")
    sys.stdout.flush()
    os._exit(0)


def bare() -> None:
    """Show the least that PySide6 can show: an empty main window."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Bare(QMainWindow):
        def paintEvent(self, event) -> None:
            super().paintEvent(event)
            QTimer.singleShot(0, _painted)

    application = QApplication([])
    window = Bare()
    window.resize(1440, 900)
    window.show()
    application.exec()


def ours() -> None:
    """Open Coreopsis as its command does, up to its first paint."""
    from app.cli import main
    from app.window.shell import window
    from app.window.shell.window import Window

    class Watched(Window):
        def __init__(self, session) -> None:
            super().__init__(session)
            self.painted.connect(_painted)

    window.Window = Watched  # type: ignore[misc]
    main([])


def imports() -> None:
    """Say how long our own modules take to import, after all that a bare window needs."""
    import PySide6.QtWidgets  # noqa: F401

    start_s = time.perf_counter()
    import app.window.shell.window  # noqa: F401

    sys.stdout.write(f"{time.perf_counter() - start_s}\n")


if __name__ == "__main__":
    {"bare": bare, "ours": ours, "imports": imports}[sys.argv[1]]()
