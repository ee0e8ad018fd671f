"""The rail at the left of the window: an icon and a word for each place and tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolButton

from experiments.core.words import Words
from widgets.controls.basics import column
from widgets.style.icons import icon, pixmap
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH, LOGO, ICON = 84, 32, 24  # pixels at zoom 1
SPACE = 2 * STEP  # between two entries; half of it in a low window
MARGIN = 10  # beside the longest word: of the rail, the button and Qt's own padding
Style = Qt.ToolButtonStyle


@dataclass(frozen=True, slots=True)
class Stop:
    """One entry of the rail; its icon has the same `name`."""

    name: str
    text: str
    keys: str


class _Button(QToolButton):
    """A button that Enter presses too, like all other buttons."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class Rail(QFrame):
    """Places above, tools below. `chosen` emits the name of a place, `used` of a tool.

    In a low window the words are left out, first those of the tools.
    """

    chosen = Signal(str)
    used = Signal(str)

    def __init__(
        self, places: Sequence[Stop], tools: Sequence[Stop], words: Words, look: Look
    ) -> None:
        super().__init__()
        self._look = look
        self._least = 0
        self.setProperty("role", "rail")
        self._logo = QLabel()
        self._logo.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._logo.setAccessibleName(words.say("frame.program"))
        self._buttons = {stop.name: self._button(stop) for stop in places}
        self._tools = {stop.name: self._button(stop) for stop in tools}
        self._all = {**self._buttons, **self._tools}
        for name, button in self._buttons.items():
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.clicked.connect(lambda _checked=False, name=name: self.chosen.emit(name))
        for name, button in self._tools.items():
            button.clicked.connect(lambda _checked=False, name=name: self.used.emit(name))
        parts = self._logo, *self._buttons.values(), None, *self._tools.values()
        self._layout = column(*parts, space=SPACE, edges=(STEP, 4 * STEP, STEP, 3 * STEP))
        self._layout.insertSpacing(1, 4 * STEP)
        self.setLayout(self._layout)
        look.follow(self._restyle)

    def choose(self, name: str) -> None:
        """Mark the open place."""
        self._buttons[name].setChecked(True)
        self._restyle()

    def tool(self, name: str) -> QToolButton:
        """Return the button of a tool, to open a menu beside it."""
        return self._tools[name]

    def minimumSizeHint(self) -> QSize:
        """Return the size that shows all icons."""
        return QSize(self.width(), self._least)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many words as the height allows."""
        super().resizeEvent(event)
        self._fit()

    def _button(self, stop: Stop) -> QToolButton:
        button = _Button()
        button.setText(stop.text)
        button.setAccessibleName(stop.text)
        button.setToolTip(f"{stop.text}  {stop.keys}" if stop.keys else stop.text)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setProperty("role", "rail")
        return button

    def _restyle(self) -> None:
        theme = self._look.theme
        side = round(ICON * theme.zoom)
        words = QFontMetrics(theme.bold("small"))
        widest = max(words.horizontalAdvance(button.text()) for button in self._all.values())
        self.setFixedWidth(max(WIDTH, widest + 2 * MARGIN))
        self._logo.setPixmap(pixmap("coreopsis", theme.accent, round(LOGO * theme.zoom)))
        for name, button in self._all.items():
            colour = theme.accent_word if button.isChecked() else theme.soft
            button.setIcon(icon(name, colour, side))
            button.setIconSize(QSize(side, side))
        self._arrange(False, False, SPACE // 2)
        self._least = self._needed()
        self.updateGeometry()
        self._fit()

    def _fit(self) -> None:
        """In a low window leave out the words of the tools, those of the places, and room."""
        for has_words in ((True, True), (True, False), (False, False)):
            self._arrange(*has_words, SPACE)
            if self._needed() <= self.height():
                return
        self._arrange(False, False, SPACE // 2)

    def _arrange(self, of_places: bool, of_tools: bool, space_px: int) -> None:
        """Show words below the icons of places and tools, or leave them out."""
        self._layout.setSpacing(space_px)
        for buttons, has_words in ((self._buttons, of_places), (self._tools, of_tools)):
            style = Style.ToolButtonTextUnderIcon if has_words else Style.ToolButtonIconOnly
            for button in buttons.values():
                button.setToolButtonStyle(style)

    def _needed(self) -> int:
        return self._layout.totalMinimumSize().height()
