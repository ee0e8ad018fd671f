"""Labels with links in their text, reached by Tab and followed by Enter; a term explains itself."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from experiments.core.teaching.glossary import Glossary
from experiments.core.units import unbroken
from widgets.controls.basics import announce, column, label
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDEST_PX = 320  # of an explanation, at zoom 1
BACK = Qt.FocusReason.BacktabFocusReason
FOLLOW = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class Link(NamedTuple):
    """A link in a text: it stands from `start` to before `end`, and leads to `target`."""

    start: int
    end: int
    target: str


class LinkLabel(QLabel):
    """Wrapped text with links; `linkActivated` carries the target. Enter follows the marked link.

    Qt's own keys go no way back, and do not show which link has the focus.
    """

    STYLE = "text-decoration: none"

    def __init__(self, look: Look, role: str = "text") -> None:
        super().__init__()
        self._look, self._said = look, ""
        self._links: Sequence[Link] = ()
        self._at = -1  # which link has the focus
        self.setProperty("role", role)
        self.setWordWrap(True)
        look.changed.connect(self._write)

    def show_text(self, text: str, links: Sequence[Link] = ()) -> None:
        """Show a text with these links, in its order."""
        self._said, self._links, self._at = text, links, -1
        flags = Qt.TextInteractionFlag
        self._write()
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.LinksAccessibleByMouse)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if links else Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(" ".join(text.split()))
        if not text or self.parentWidget() is not None:  # alone it would open as a window
            self.setVisible(bool(text))

    def link_colour(self) -> str:
        """Return the colour of a link."""
        return self._look.theme.accent_word

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Mark the first link, or the last one on the way back."""
        super().focusInEvent(event)
        self._mark(len(self._links) - 1 if event.reason() is BACK else 0)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Mark no link."""
        super().focusOutEvent(event)
        self._mark(-1)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go to the next link, and after the last one out of the label."""
        there = self._at + (1 if forward else -1)
        if 0 <= there < len(self._links):
            self._mark(there)
            return True
        parent = self.parentWidget()
        return parent is not None and parent.focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Follow the marked link."""
        if event.key() in FOLLOW and 0 <= self._at < len(self._links):
            self.linkActivated.emit(self._links[self._at].target)
        else:
            super().keyPressEvent(event)

    def _mark(self, at: int) -> None:
        if at != self._at:
            self._at = at
            self._write()
            if len(self._links) > 1 and at >= 0:
                announce(self, self._said[self._links[at].start : self._links[at].end])

    def _write(self) -> None:
        theme, html, done = self._look.theme, "", 0
        for place, (start, end, target) in enumerate(self._links):
            style = f"color: {self.link_colour()}; {self.STYLE}"
            if place == self._at:
                style = f"color: {theme.on_accent}; background-color: {theme.accent}; {self.STYLE}"
            link = f'<a href="{escape(target)}" style="{style}">{_html(self._said[start:end])}</a>'
            html, done = html + _html(self._said[done:start]) + link, end
        self.setTextFormat(Qt.TextFormat.RichText if html else Qt.TextFormat.PlainText)
        self.setText(html + _html(self._said[done:]) if html else unbroken(self._said))


class TermLabel(LinkLabel):
    """Wrapped text whose terms of the glossary are underlined with dots, and explained."""

    STYLE = "text-underline-style: dotted"

    def __init__(self, glossary: Glossary, look: Look, role: str = "text") -> None:
        super().__init__(look, role)
        self._glossary = glossary
        self.linkActivated.connect(self._explain)

    def say(self, text: str) -> None:
        """Show a text."""
        self.show_text(text, [Link(*found) for found in self._glossary.find(text)])

    def link_colour(self) -> str:
        """Return the colour of the words around: dots are enough."""
        theme = self._look.theme
        return theme.soft if self.property("role") == "soft" else theme.ink

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
        edges = (4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP)
        words = label(term, "strong"), label(unbroken(text), wrap=True)
        self.setLayout(column(*words, space=STEP, edges=edges))
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
