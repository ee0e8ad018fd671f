"""The small pieces of every page: labels, buttons, chips, panels, rows and columns.

The property `role` chooses a widget's style in resources/themes/window.qss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import TypeVar

from PySide6.QtCore import QEvent, QMargins, QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from widgets.style.icons import icon
from widgets.style.look import Look
from widgets.style.theme import STEP

LONGEST_WORD = 24  # letters
ICON_PX = 16  # of a button with an icon, at zoom 1
Edges = tuple[int, int, int, int]  # room at the left, top, right and bottom
Box = TypeVar("Box", bound=QBoxLayout)
Policy = QSizePolicy.Policy


class _Wrapping(QLabel):
    """A label whose lines break; a word of hundreds of letters is cut, and widens nothing."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setWordWrap(True)

    def minimumSizeHint(self) -> QSize:
        """Return the size of its longest word, or of one that is as long as any should be."""
        hint = super().minimumSizeHint()
        most = self.fontMetrics().averageCharWidth() * LONGEST_WORD
        return hint.boundedTo(QSize(most, hint.height()))


def label(text: str = "", role: str = "text", *, wrap: bool = False) -> QLabel:
    """Return a label. Roles: text, soft, small, head, title, number, attention, fault, good."""
    words = _Wrapping(text) if wrap else QLabel(text)
    words.setProperty("role", role)
    words.setTextFormat(Qt.TextFormat.PlainText)
    return words


def tip(*paragraphs: str) -> str:
    """Return the text of a tooltip as rich text, which Qt breaks into lines."""
    kept = (escape(text).replace("\n", "<br>") for text in paragraphs if text)
    return "".join(f"<p>{text}</p>" for text in kept)


def set_role(widget: QWidget, role: str) -> None:
    """Change the role of a widget, and so its style."""
    restyle(widget, "role", role)


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Change a property that the style sheet asks for."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def button(
    text: str, role: str = "plain", *, clicked: Callable[[], object] | None = None, tip: str = ""
) -> QPushButton:
    """Return a button. Roles: plain, main (the main action of the page), stop, chip, link."""
    made = QPushButton(text)
    dress(made, role, clicked=clicked, tip=tip)
    return made


def dress(
    made: QPushButton, role: str, *, clicked: Callable[[], object] | None = None, tip: str = ""
) -> None:
    """Give a button its role, the mouse over it its shape, and a click what it does."""
    made.setProperty("role", role)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    made.setAutoDefault(True)  # Enter presses it too
    made.setToolTip(tip)
    if clicked is not None:
        made.clicked.connect(lambda _checked=False: clicked())


class Chip(QPushButton):
    """A small round button: with a tick while it is on, with a plus where it adds something."""

    TICK, PLUS, TAIL = "✓ ", "+ ", ""

    def __init__(self, text: str = "", *, checkable: bool = False, adds: bool = False) -> None:
        super().__init__(text)
        self._adds = adds
        dress(self, "chip")
        self.setCheckable(checkable)

    def sizeHint(self) -> QSize:
        """Return the size with its sign, so that its neighbours do not move."""
        size = super().sizeHint()
        may_have_sign = self._is_chip and (self.isCheckable() or self._adds)
        width = self._width(self.TAIL) + (self._width(self.TICK) if may_have_sign else 0)
        return size.grownBy(QMargins(width, 0, 0, 0))

    def initStyleOption(self, option: QStyleOptionButton) -> None:
        """Draw the sign before the text, which has none for those who read the text alone."""
        super().initStyleOption(option)
        sign = self.TICK if self.isChecked() else self.PLUS if self._adds else ""
        option.text = f"{sign if self._is_chip else ''}{self.text()}{self.TAIL}"

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw with the sign."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)

    @property
    def _is_chip(self) -> bool:
        return bool(self.property("role") == "chip")  # else it switches a view: choices.joined

    def _width(self, text: str) -> int:
        """Return the width of a text, rounded as Qt rounds it in the size of a button."""
        return self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, text).width()


def chip(
    text: str,
    *,
    checkable: bool = False,
    adds: bool = False,
    clicked: Callable[[], object] | None = None,
    tip: str = "",
) -> Chip:
    """Return a small round button, for filters and small actions."""
    made = Chip(text, checkable=checkable, adds=adds)
    dress(made, "chip", clicked=clicked, tip=tip)
    return made


def leave_keys(*buttons: QPushButton) -> None:
    """Let a click leave the focus where it was; Tab still reaches these buttons."""
    for each in buttons:
        each.setFocusPolicy(Qt.FocusPolicy.TabFocus)


class SteadyChip(Chip):
    """A chip as wide as the longest of its texts; its text says its state, so it has no tick."""

    TICK = ""

    def __init__(self, texts: Iterable[str], *, checkable: bool = False) -> None:
        super().__init__(checkable=checkable)
        self._texts = tuple(texts)

    def sizeHint(self) -> QSize:
        """Return the size with the longest text."""
        size = super().sizeHint()
        now, *others = (self._width(text) for text in (self.text(), *self._texts))
        return QSize(size.width() + max(now, *others) - now, size.height())


class IconButton(QPushButton):
    """A button with only an icon; `tip` is also its accessible name."""

    def __init__(
        self, look: Look, name: str, tip: str, *, clicked: Callable[[], object] | None = None
    ) -> None:
        super().__init__()
        self._look, self._icon = look, name
        dress(self, "icon", clicked=clicked)
        self.call(tip)
        look.follow(self._restyle)  # a lambda would outlive the button

    def call(self, name: str) -> None:
        """Say what it does, in its tooltip too."""
        self.setToolTip(name)
        self.setAccessibleName(name)

    def _restyle(self) -> None:
        side = round(ICON_PX * self._look.theme.zoom)
        self.setIconSize(QSize(side, side))
        self.setIcon(icon(self._icon, self._look.theme.soft, side))


def panel() -> QFrame:
    """Return a frame with a thin border and round corners."""
    frame = QFrame()
    frame.setProperty("role", "panel")
    return frame


def row(
    *parts: QWidget | QLayout | None,
    space: int = 2 * STEP,
    edges: Edges = (0, 0, 0, 0),
    grows: int | None = None,
) -> QHBoxLayout:
    """Return parts side by side, with None for a stretch; the part at `grows` takes what is left.

    `space` is between two parts, `edges` are around all.
    """
    return _filled(QHBoxLayout(), parts, space, edges, grows)


def column(
    *parts: QWidget | QLayout | None,
    space: int = 2 * STEP,
    edges: Edges = (0, 0, 0, 0),
    grows: int | None = None,
) -> QVBoxLayout:
    """Return parts one below the other, as `row` does side by side."""
    return _filled(QVBoxLayout(), parts, space, edges, grows)


def grid(across: int, down: int, edges: Edges = (0, 0, 0, 0)) -> QGridLayout:
    """Return an empty grid with so much room between its columns, and between its lines."""
    layout = QGridLayout()
    layout.setContentsMargins(*edges)
    layout.setHorizontalSpacing(across)
    layout.setVerticalSpacing(down)
    return layout


def holding(layout: QLayout) -> QWidget:
    """Return a widget with this layout."""
    made = QWidget()
    made.setLayout(layout)
    return made


def discard(*widgets: QWidget) -> None:
    """Hide widgets, which layouts leave out then, and delete them."""
    for each in widgets:
        each.hide()
        each.deleteLater()


def follow_width(
    widget: QWidget, down: Policy = Policy.Preferred, across: Policy = Policy.Preferred
) -> None:
    """Let layouts ask a widget for the height that it needs at a width."""
    policy = QSizePolicy(across, down)
    policy.setHeightForWidth(True)
    widget.setSizePolicy(policy)


def show_text(shown: QLabel | QPushButton, text: str) -> None:
    """Show a text; hide what has none."""
    shown.setText(text)
    shown.setVisible(bool(text))


def _filled(
    layout: Box,
    parts: Iterable[QWidget | QLayout | None],
    space: int,
    edges: Edges,
    grows: int | None,
) -> Box:
    layout.setContentsMargins(*edges)
    layout.setSpacing(space)
    for part in parts:
        if part is None:
            layout.addStretch(1)
        elif isinstance(part, QLayout):
            layout.addLayout(part)
        else:
            layout.addWidget(part)
    if grows is not None:
        layout.setStretch(grows, 1)
    return layout


def selectable(text: QLabel) -> QLabel:
    """Let the mouse select a text."""
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return text


def announce(widget: QWidget, text: str, *, at_once: bool = False) -> None:
    """Let assistive technology say `text`, after its current words or interrupting them."""
    event = QAccessibleAnnouncementEvent(widget, text)
    politeness = QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if at_once else politeness.Polite)
    QAccessible.updateAccessibility(event)


def takes_escape(event: QEvent, *, wanted: bool = True) -> bool:
    """Take Esc where it is wanted, before the window's Stop shortcut does; return whether it was.

    Qt asks the focused widget first: `QWidget.event` returns True then.
    """
    is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
    return takes_key(event, wanted=wanted and is_escape)


def takes_key(event: QEvent, *, wanted: bool) -> bool:
    """Take a key where it is wanted, before a shortcut of the window does."""
    is_taken = wanted and event.type() == QEvent.Type.ShortcutOverride
    if is_taken:
        event.accept()
    return is_taken
