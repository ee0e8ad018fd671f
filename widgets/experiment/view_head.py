"""Head of a view: its title, and small text about its marks and its source."""

from __future__ import annotations

from PySide6.QtWidgets import QBoxLayout

from widgets.controls.basics import label
from widgets.controls.layouts import Fitting
from widgets.style.theme import STEP


class ViewHead(Fitting):
    """The text stands at the right of the title, or below it if room is short."""

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
        """Set the title."""
        self.title.setText(title)
        self._fit()

    def mark(self, band: str) -> None:
        """Set where the data comes from."""
        self._band = band
        self._tell()

    def explain(self, marks: str) -> None:
        """Set what the marks are."""
        self._marks = marks
        self._tell()

    def _tell(self) -> None:
        self.aside.setText(" · ".join(part for part in (self._marks, self._band) if part))
        self._fit()

    def _fit(self) -> None:
        title, aside = (
            each.fontMetrics().horizontalAdvance(each.text()) for each in (self.title, self.aside)
        )
        fits = title + 4 * STEP + aside <= self.width()
        direction = QBoxLayout.Direction
        is_beside = fits or not self.aside.text()
        self.aside.setVisible(bool(self.aside.text()))
        self.aside.setWordWrap(not is_beside)  # beside the title it would take half the width
        self._layout.setDirection(direction.LeftToRight if is_beside else direction.TopToBottom)
