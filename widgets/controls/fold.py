"""A row that unfolds what lies below it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from widgets.controls.basics import column, discard, dress, label, row
from widgets.style.theme import STEP

CLOSED, OPEN = "▸", "▾"


class Fold(QWidget):
    """A title with a count; what it hides is made when it is first unfolded."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._make: Callable[[], QWidget] | None = None
        self._content: QWidget | None = None
        self.head = _Head()
        self.head.toggled.connect(self._turn)
        self._sign, self._count = label(CLOSED, "soft"), label("", "soft")
        edges = (STEP, 2 * STEP, STEP, 2 * STEP)
        self.head.setLayout(row(self._sign, label(title), None, self._count, edges=edges))
        for part in self.head.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._column = column(self.head)
        self.setLayout(self._column)
        self.hide()

    def hold(self, make: Callable[[], QWidget] | None, count: int | None = None) -> None:
        """Hold what `make` returns; None for nothing, and the row is hidden."""
        if self._content is not None:
            discard(self._content)
        self._make, self._content = make, None
        self._count.setText("" if count is None else str(count))
        self.head.setAccessibleName(", ".join(filter(None, (self._title, self._count.text()))))
        self.setVisible(make is not None)
        self._turn(self.head.isChecked())

    def _turn(self, is_open: bool) -> None:
        self._sign.setText(OPEN if is_open else CLOSED)
        if is_open and self._content is None and self._make is not None:
            self._content = self._make()
            self._column.addWidget(self._content)
        is_shown = is_open and self._content is not None
        self._column.setContentsMargins(0, 0, 0, 3 * STEP if is_shown else 0)
        if self._content is not None:
            self._content.setVisible(is_open)


class _Head(QPushButton):
    """A flat button as high as what lies in it."""

    def __init__(self) -> None:
        super().__init__()
        dress(self, "fold")
        self.setCheckable(True)

    def sizeHint(self) -> QSize:
        inside = self.layout()
        return inside.sizeHint() if inside is not None else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        inside = self.layout()
        return inside.minimumSize() if inside is not None else super().minimumSizeHint()
