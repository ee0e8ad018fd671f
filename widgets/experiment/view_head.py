"""What does a view show, how, and where does it come from? Its title, and quiet words beside it."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from widgets.controls.basics import label
from widgets.style.theme import STEP


class ViewHead(QWidget):
    """The words stand at the right of the title, or below it where there is no room."""

    def __init__(self, title: str, above_px: int) -> None:
        super().__init__()
        self.title, self.aside = label(title, "panel-title", wrap=True), label("", "small")
        self._marks = self._band = ""
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, above_px, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(self.title, 1)
        self._layout.addWidget(self.aside)

    def name(self, title: str) -> None:
        """Say what the view shows."""
        self.title.setText(title)
        self._fit()

    def mark(self, band: str) -> None:
        """Say where the view comes from."""
        self._band = band
        self._tell()

    def explain(self, marks: str) -> None:
        """Say what its marks are."""
        self._marks = marks
        self._tell()

    def _tell(self) -> None:
        self.aside.setText(" · ".join(part for part in (self._marks, self._band) if part))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the width there is."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        title, aside = (
            each.fontMetrics().horizontalAdvance(each.text()) for each in (self.title, self.aside)
        )
        fits = title + 4 * STEP + aside <= self.width()
        direction = QBoxLayout.Direction
        is_beside = fits or not self.aside.text()
        self.aside.setVisible(bool(self.aside.text()))
        self.aside.setWordWrap(not is_beside)  # beside the title it would take half of the width
        self._layout.setDirection(direction.LeftToRight if is_beside else direction.TopToBottom)
