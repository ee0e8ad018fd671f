"""The real window with an ear beside it, which answers where things are and what they show.

`python -m tests.story.driven [coreopsis arguments]`: questions as JSON lines on standard input.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import zlib
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QMenu, QWidget

from app.cli import main
from app.window.shell.window import Window
from experiments.engine.run_state import RunState


class Ear(QObject):
    """Answers questions in the thread of the window."""

    heard = Signal(str)

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self.heard.connect(self._answer, Qt.ConnectionType.QueuedConnection)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            self.heard.emit(line)

    def _answer(self, line: str) -> None:
        question = json.loads(line)
        answer = getattr(self, question.pop("ask"))(**question)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()

    def find(self, name: str) -> list[list[int]]:
        """Return x, y, width, height on the screen of what is called so, the largest first."""
        found = [rect for widget in _in_sight() for rect in _rects(widget, name)]
        return sorted(found, key=lambda rect: rect[2] * rect[3], reverse=True)

    def names(self) -> list[str]:
        """Return what everything in sight is called."""
        return sorted({text for widget in _in_sight() for text in _names(widget)})

    def tell(self) -> dict[str, Any]:
        """Return what is shown."""
        focus = QApplication.focusWidget()
        runner = getattr(self._window.session, "runner", None)
        run_state = runner.run_state if runner is not None else None
        return {
            "place": self._window.place.name,
            "title": self._window.windowTitle(),
            "running": runner is not None and runner.is_running,
            "rows": rows(run_state),
            "outcome": run_state.finished.outcome if run_state and run_state.finished else None,
            "runs": len(self._window.session.runs),
            "entries": len(self._window.session.entries),
            "zoomed": [
                widget.accessibleName()
                for widget in self._window.findChildren(QWidget)
                if type(widget).__name__ == "Plot" and widget.isVisible() and widget.chart.is_zoomed  # type: ignore[attr-defined]
            ],
            "focus": next(iter(_names(focus)), type(focus).__name__) if focus else None,
            "mode": self._window.session.look.theme.mode,
            "zoom": self._window.session.look.theme.zoom,
        }

    def lecture(self) -> dict[str, Any] | None:
        """Return what the slide of the lecture has to show, and what is wrong; None without one."""
        show, conductor = self._window.lecture_mode.windows, self._window.lecture_mode.conductor
        if show is None or conductor is None:
            return None
        data = show.audience.slide.data
        assert data is not None
        return {
            **dataclasses.asdict(data),
            "trouble": conductor.trouble,
            "over": show.audience.over.texts,
            "rows": rows(conductor.runs.run_state),
            "arms": conductor.course.turn.shown_arms,
            "is_over": conductor.course.is_over,
            "is_frozen": conductor.is_frozen,
        }

    def picture(self) -> int:
        """Return a checksum of what the class sees."""
        show = self._window.lecture_mode.windows
        assert show is not None
        image = show.audience.slide.grab().toImage()  # whose bits go with it
        return zlib.crc32(image.constBits())

    def shot(self, path: str) -> bool:
        """Write a picture of the window, or of the lecture over it, to a file."""
        show = self._window.lecture_mode.windows
        return (show.audience if show is not None else self._window).grab().save(path)


def rows(run_state: RunState | None) -> int:
    """Return how many rows of a run have come."""
    return run_state.rows if run_state is not None else 0


def _in_sight() -> list[QWidget]:
    return [
        widget
        for top in QApplication.topLevelWidgets()
        if top.isVisible()
        for widget in [top, *top.findChildren(QWidget)]
        if widget.isVisible() and not widget.visibleRegion().isEmpty()
    ]


def _names(widget: QWidget) -> list[str]:
    names = [widget.accessibleName()]
    if isinstance(widget, QAbstractButton | QLabel):
        names.append(widget.text())
    if isinstance(widget, QLineEdit):
        names.append(widget.placeholderText())
    if isinstance(widget, QMenu):
        names += [action.text() for action in widget.actions()]
    return [name for name in names if name]


def _rects(widget: QWidget, name: str) -> Iterator[list[int]]:
    if isinstance(widget, QMenu):
        for action in widget.actions():
            if action.text().startswith(name):
                place = widget.actionGeometry(action)
                corner = widget.mapToGlobal(place.topLeft())
                yield [corner.x(), corner.y(), place.width(), place.height()]
    elif any(name == text or text.startswith(f"{name} ") for text in _names(widget)):
        yield _on_screen(widget)


def _on_screen(widget: QWidget) -> list[int]:
    seen = widget.visibleRegion().boundingRect()
    corner = widget.mapToGlobal(seen.topLeft())
    return [corner.x(), corner.y(), seen.width(), seen.height()]


def listen_too() -> None:
    """Let every window that wakes have an ear."""
    wake = Window.wake

    def wake_and_listen(window: Window) -> None:
        wake(window)
        Ear(window)

    Window.wake = wake_and_listen  # type: ignore[assignment]


if __name__ == "__main__":
    listen_too()
    sys.exit(main())
