"""Labels with links in their text, reached by Tab and followed by Enter; a term explains itself."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from experiments.core.glossary import Glossary
from experiments.core.units import unbroken
from widgets.controls.basics import announce, column, label
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDEST_PX = 320  # of an explanation, at zoom 1
BY_TAB = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class LinkLabel(QLabel):
    """Wrapped text; Tab goes from link to link in it. `linkActivated` carries the link."""

    def __init__(self, role: str = "text") -> None:
        super().__init__()
        self.setProperty("role", role)
        self.setWordWrap(True)

    def show_text(self, text: str, html: str = "") -> None:
        """Show plain text, or `html` where that has links."""
        flags = Qt.TextInteractionFlag
        keys = flags.LinksAccessibleByKeyboard | flags.LinksAccessibleByMouse
        self.setTextFormat(Qt.TextFormat.RichText if html else Qt.TextFormat.PlainText)
        self.setText(html or unbroken(text))
        self.setTextInteractionFlags(flags.TextSelectableByMouse | (keys if html else flags(0)))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if html else Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(" ".join(text.split()))
        self.setVisible(bool(text))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Choose the first or the last link: a label alone does not show the focus."""
        super().focusInEvent(event)
        if event.reason() in BY_TAB:
            self.focusNextPrevChild(event.reason() is BY_TAB[0])


class TermLabel(LinkLabel):
    """Wrapped text whose terms of the glossary are underlined with dots, and explained."""

    def __init__(self, glossary: Glossary, look: Look, role: str = "text") -> None:
        super().__init__(role)
        self._glossary, self._look, self._said = glossary, look, ""
        self.linkActivated.connect(self._explain)
        look.changed.connect(self._paint)

    def say(self, text: str) -> None:
        """Show a text."""
        self._said = text
        self._paint()

    def _paint(self) -> None:
        html, done = [], 0
        for found in self._glossary.find(self._said):
            html += [_html(self._said[done : found.start]), self._link(*found)]
            done = found.end
        rest = _html(self._said[done:])
        self.show_text(self._said, "".join([*html, rest]) if html else "")

    def _link(self, start: int, end: int, term: str) -> str:
        colour = self._look.theme.soft if self.property("role") == "soft" else self._look.theme.ink
        style = f"color: {colour}; text-underline-style: dotted"
        return f'<a href="{escape(term)}" style="{style}">{_html(self._said[start:end])}</a>'

    def _explain(self, term: str) -> None:
        wide = round(WIDEST_PX * self._look.theme.zoom)
        Explanation(self, term, self._glossary.explain(term), wide).open()


class Explanation(QFrame):
    """A small popup below a widget, closed by Esc or a click beside it."""

    def __init__(self, below: QWidget, term: str, text: str, width_px: int) -> None:
        super().__init__(below, Qt.WindowType.Popup)
        self._below = below
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "explanation")
        self.setAccessibleName(f"{term}: {text}")
        inside = column(label(term, "strong"), label(unbroken(text), wrap=True), space=STEP)
        inside.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP)
        self.setLayout(inside)
        self.setFixedWidth(width_px)

    def open(self) -> None:
        """Show it, and say it to those who do not see it."""
        self.setFixedHeight(self.heightForWidth(self.width()))
        room = self._below.screen().availableGeometry()
        at = self._below.mapToGlobal(QPoint(0, self._below.height() + STEP))
        if at.y() + self.height() > room.bottom():
            at.setY(self._below.mapToGlobal(QPoint(0, 0)).y() - self.height() - STEP)
        at.setX(max(room.left(), min(at.x(), room.right() - self.width())))
        self.move(at)
        self.show()
        announce(self, self.accessibleName())


def _html(text: str) -> str:
    return escape(unbroken(text)).replace("\n", "<br>")
