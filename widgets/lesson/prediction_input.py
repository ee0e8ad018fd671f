"""The base of all inputs of a prediction."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

At = tuple[float, ...]  # as `Guess.at`


class PredictionInput(QWidget):
    """Has no answer until a person gives one. Each change by a person emits `answered`."""

    answered = Signal()

    def __init__(self, ask: str) -> None:
        super().__init__()
        self._at: At | None = None
        self.setAccessibleName(ask)

    def at(self) -> At | None:
        """Return the answer, as `Guess.at` has it; None while there is none."""
        return self._at

    def set_at(self, at: At | None) -> None:
        """Show an answer, or none; nothing is emitted."""
        self._at = at
        self._show()

    def set_fixed(self, is_fixed: bool) -> None:
        """Lock the answer or unlock it; a locked answer can still be read, without its hints."""
        self.setEnabled(not is_fixed)
        self._show()

    def focus_first(self) -> None:
        """Give the focus to the part that answers."""
        raise NotImplementedError

    def _answer(self, at: At) -> None:
        self.set_at(at)
        self.answered.emit()

    def _show(self) -> None:
        """Show the answer that there is now."""
        raise NotImplementedError
