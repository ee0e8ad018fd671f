"""How are some plain facts shown? Quietly, each as a soft word and its value, in one text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from widgets.style.look import Look

SHORT = 24  # characters of a name that is kept in one line
BESIDE, BETWEEN = "&nbsp;&nbsp;", "&nbsp;&nbsp;&nbsp; "  # a name and its value, two facts


class FactsList(QLabel):
    """A paragraph of facts: it breaks wherever its line ends, but not between name and value.

    Nor within a short name; a long one might be wider than the line.
    """

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._facts: Sequence[tuple[str, str]] = ()
        self.setProperty("role", "note")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        look.changed.connect(self._write)

    def show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show other facts."""
        self._facts = facts
        self._write()

    def _write(self) -> None:
        soft = self._look.theme.soft
        facts = (
            f'<span style="color:{soft}">{_unbroken(name)}</span>{BESIDE}{escape(value)}'
            for name, value in self._facts
        )
        self.setText(BETWEEN.join(facts))
        self.setAccessibleName("; ".join(f"{name}: {value}" for name, value in self._facts))


def _unbroken(name: str) -> str:
    shown = escape(name)
    return shown.replace(" ", "&nbsp;") if len(name) <= SHORT else shown
