"""How does every widget hear of another theme? Through one `Look` that is handed to all of them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from widgets.style import theme as themes
from widgets.style.theme import Theme


class Look(QObject):
    """The theme of now; `changed` comes after it has become another.

    What Qt draws by style sheet follows by itself; painted widgets and icons listen to `changed`.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme

    def wear(self, theme: Theme) -> None:
        """Give the whole application another theme."""
        self.theme = theme
        application = QApplication.instance()
        if isinstance(application, QApplication):
            themes.apply(application, theme)
        self.changed.emit()
