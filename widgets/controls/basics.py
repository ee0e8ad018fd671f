"""The small pieces of every page: words, buttons, chips and panels, styled by one sheet.

The property `role` chooses a widget's style in resources/themes/window.qss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from widgets.style.icons import icon
from widgets.style.look import Look
from widgets.style.theme import STEP

ICON_PX = 16  # of a button with an icon, at zoom 1


def label(text: str = "", role: str = "text", *, wrap: bool = False) -> QLabel:
    """Return words. Roles: text, soft, small, head, title, number, attention, fault, good."""
    words = QLabel(text)
    words.setProperty("role", role)
    words.setWordWrap(wrap)
    words.setTextFormat(Qt.TextFormat.PlainText)
    return words


def tip(*paragraphs: str) -> str:
    """Return the text of a tip as rich text, which is broken into lines of a readable length."""
    kept = (escape(text).replace("\n", "<br>") for text in paragraphs if text)
    return "".join(f"<p>{text}</p>" for text in kept)


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget another role, and the style that goes with it."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def button(
    text: str, role: str = "plain", *, clicked: Callable[[], object] | None = None
) -> QPushButton:
    """Return a button. Roles: plain, main (what one does here), stop, chip, link."""
    made = QPushButton(text)
    made.setProperty("role", role)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    made.setAutoDefault(True)  # Enter presses it too
    if clicked is not None:
        made.clicked.connect(lambda _checked=False: clicked())
    return made


def chip(text: str, *, checkable: bool = False) -> QPushButton:
    """Return a small round button, for filters and tabs."""
    made = button(text, "chip")
    made.setCheckable(checkable)
    return made


def leave_keys(*buttons: QPushButton) -> None:
    """Let a click on them leave the keys, such as Space, to what had them; Tab still stops here."""
    for each in buttons:
        each.setFocusPolicy(Qt.FocusPolicy.TabFocus)


class SteadyChip(QPushButton):
    """A chip as wide as the longest of its texts, so that its neighbours stand still."""

    def __init__(self, texts: Iterable[str], *, checkable: bool = False) -> None:
        super().__init__()
        self._texts = tuple(texts)
        self.setProperty("role", "chip")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(True)
        self.setCheckable(checkable)

    def sizeHint(self) -> QSize:
        """Return the size with the longest text."""
        size = super().sizeHint()
        now, *others = (self._width(text) for text in (self.text(), *self._texts))
        return QSize(size.width() + max(now, *others) - now, size.height())

    def _width(self, text: str) -> int:
        """Return the width of a text, rounded as Qt rounds it in the size of a button."""
        return self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, text).width()


class IconButton(QPushButton):
    """A button with nothing but an icon; `tip` is its name for those who do not see it."""

    def __init__(self, look: Look, name: str, tip: str) -> None:
        super().__init__()
        self._look, self._icon = look, name
        self.setProperty("role", "icon")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(True)
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        look.changed.connect(self._dress)  # a function would be called when the button has gone
        self._dress()

    def _dress(self) -> None:
        side = round(ICON_PX * self._look.theme.zoom)
        self.setIconSize(QSize(side, side))
        self.setIcon(icon(self._icon, self._look.theme.soft, side))


def panel() -> QFrame:
    """Return a frame with a hairline and round corners."""
    frame = QFrame()
    frame.setProperty("role", "panel")
    return frame


def row(*parts: QWidget | QLayout | None, space: int = 2 * STEP) -> QHBoxLayout:
    """Return parts side by side; None is a stretch between them."""
    layout = QHBoxLayout()
    _fill(layout, parts, space)
    return layout


def column(*parts: QWidget | QLayout | None, space: int = 2 * STEP) -> QVBoxLayout:
    """Return parts one below the other; None is a stretch between them."""
    layout = QVBoxLayout()
    _fill(layout, parts, space)
    return layout


def _fill(layout: QBoxLayout, parts: Iterable[QWidget | QLayout | None], space: int) -> None:
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(space)
    for part in parts:
        if part is None:
            layout.addStretch(1)
        elif isinstance(part, QLayout):
            layout.addLayout(part)
        else:
            layout.addWidget(part)


def announce(widget: QWidget, text: str, *, at_once: bool = False) -> None:
    """Have `text` said, as soon as what is being said has ended, or in the middle of it."""
    event = QAccessibleAnnouncementEvent(widget, text)
    politeness = QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if at_once else politeness.Polite)
    QAccessible.updateAccessibility(event)


def asks_for_escape(event: QEvent) -> bool:
    """Return whether Qt asks if Esc is wanted here: `QWidget.event` accepts it and returns True."""
    return (
        event.type() == QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and event.key() == Qt.Key.Key_Escape
    )
