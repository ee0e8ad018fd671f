"""What does a view show, and where does it come from? Its title, and a quiet word beside it."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from widgets.basics import label
from widgets.theme import STEP


class ViewHead(QWidget):
    """The word stands at the right of the title, or below it where there is no room."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title, self.band = label(title, "panel-title", wrap=True), label("", "small")
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(self.title, 1)
        self._layout.addWidget(self.band)

    def mark(self, band: str) -> None:
        """Say where the view comes from."""
        self.band.setText(band)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the width there is."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        title = self.title.fontMetrics().horizontalAdvance(self.title.text())
        fits = title + 4 * STEP + self.band.sizeHint().width() <= self.width()
        direction = QBoxLayout.Direction
        is_beside = fits or not self.band.text()
        self.band.setVisible(bool(self.band.text()))
        self._layout.setDirection(direction.LeftToRight if is_beside else direction.TopToBottom)
