"""Counts layout requests, to find a window that never comes to rest."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QApplication

ROUNDS = 40  # of events, in each of which such a window asks for another layout


class Layouts(QObject):
    """Counts how often something is laid out anew."""

    count = 0

    def __enter__(self) -> Layouts:
        _application().installEventFilter(self)
        return self

    def __exit__(self, *_error: object) -> None:
        _application().removeEventFilter(self)

    def eventFilter(self, watched, event) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def _application() -> QCoreApplication:
    application = QApplication.instance()
    assert application is not None
    return application


def is_restless() -> bool:
    """Are layouts asked for again and again while nothing happens?"""
    for _ in range(2):  # what was changed just before may take its time
        with Layouts() as layouts:
            for _ in range(ROUNDS):
                QApplication.processEvents()
        if layouts.count < ROUNDS / 2:
            return False
    return True
