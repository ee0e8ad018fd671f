"""A window with something in it, for what is laid over it; and what belongs to the look."""

from __future__ import annotations

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from experiments.core import words
from widgets.style import theme
from widgets.style.look import Look

WORDS = words.load()


class Below(QWidget):
    """A window with a button and shortcuts that say if they were used."""

    def __init__(self, qtbot, *, mode: str = "dark", zoom: float = 1.0) -> None:
        super().__init__()
        qtbot.addWidget(self)
        self.look = Look(theme.load(mode, zoom))
        self.look.wear(self.look.theme)
        self.used: list[str] = []
        self.button = QPushButton("below")
        self.button.clicked.connect(lambda: self.used.append("button"))
        QVBoxLayout(self).addWidget(self.button)
        for keys in ("F5", "P", "Ctrl+1"):
            action = QAction(self)
            action.setShortcut(QKeySequence(keys))
            action.triggered.connect(lambda _checked=False, keys=keys: self.used.append(keys))
            self.addAction(action)
        self.resize(1280, 720)
        with qtbot.waitExposed(self):
            self.show()
        self.activateWindow()
        qtbot.waitUntil(lambda: QApplication.activeWindow() is self)
        self.button.setFocus()
