"""What stands below the map? What its colours mean, and the way between two parts.

It keeps its height, so that the map stands still while the mouse goes over it.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from widgets.controls.basics import set_role
from widgets.style.look import Look

LINES = 2
ALMOST = 0.9  # of the lines can be filled: words are not broken


class FootLine(QLabel):
    """Shows the way while there is one, and the legend otherwise."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        set_role(self, "soft")
        self._look, self._legend, self._way = look, "", ""
        self._hint = ""
        look.changed.connect(self._fit)
        self._fit()

    def show_legend(self, text: str) -> None:
        """Take what the colours mean."""
        self._legend = text
        self._show()

    def show_hint(self, text: str) -> None:
        """Take how to see a way, which is said where there is room for it."""
        self._hint = text
        self._show()

    def show_way(self, text: str) -> None:
        """Take a way in words; "" for none."""
        self._way = text
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say what there is room for."""
        super().resizeEvent(event)
        self._show()

    def _show(self) -> None:
        both = f"{self._legend} {self._hint}".strip()
        fits = self.fontMetrics().horizontalAdvance(both) < ALMOST * LINES * self.width()
        text = self._way or (both if fits else self._legend)
        self.setToolTip(self._way)
        set_role(self, "note" if self._way else "soft")
        self.setText(text)

    def _fit(self) -> None:
        line = QFontMetricsF(self._look.theme.font("note")).lineSpacing()
        self.setFixedHeight(round(LINES * line) + 2)
        self._show()
