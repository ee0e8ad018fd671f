"""The current theme, shared by all widgets, with a signal for its changes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from widgets.style import theme as themes
from widgets.style.theme import Theme


class Look(QObject):
    """The current theme. Emits `changed` after the theme has changed.

    The style sheet restyles Qt's own widgets; painted widgets and icons listen to `changed`.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme

    def follow(self, dress: Callable[[], object]) -> None:
        """Call a method of a widget now, and after each change."""
        self.changed.connect(dress)
        dress()

    def wear(self, theme: Theme) -> None:
        """Apply another theme to the whole application."""
        self.theme = theme
        application = QApplication.instance()
        if isinstance(application, QApplication):
            themes.apply(application, theme)
        self.changed.emit()
