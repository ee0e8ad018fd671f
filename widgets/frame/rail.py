"""Where can one go? The rail at the left: an icon and a word for each place, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolButton, QVBoxLayout

from experiments.core.words import Words
from widgets.style.icons import icon, pixmap
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH, LOGO, ICON = 84, 32, 24  # pixels at zoom 1
MARGIN = 10  # around the longest word: of the rail, of the button, and what Qt leaves free
Style = Qt.ToolButtonStyle


@dataclass(frozen=True, slots=True)
class Stop:
    """One entry of the rail; `name` is that of its icon too."""

    name: str
    text: str
    keys: str


class _Button(QToolButton):
    """A button that Enter presses too, as it does all others."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class Rail(QFrame):
    """Places above, tools below. `chosen` names a place, `used` a tool.

    Where the window is not high enough for all words, the icons stand alone.
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
        self._layout = layout = QVBoxLayout(self)
        layout.setContentsMargins(STEP, 4 * STEP, STEP, 3 * STEP)
        layout.setSpacing(2 * STEP)
        layout.addWidget(self._logo)
        layout.addSpacing(4 * STEP)
        for name, button in self._buttons.items():
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.clicked.connect(lambda _checked=False, name=name: self.chosen.emit(name))
            layout.addWidget(button)
        layout.addStretch(1)
        for name, button in self._tools.items():
            button.clicked.connect(lambda _checked=False, name=name: self.used.emit(name))
            layout.addWidget(button)
        look.changed.connect(self._dress)
        self._dress()

    def choose(self, name: str) -> None:
        """Show which place is open."""
        self._buttons[name].setChecked(True)
        self._dress()

    def tool(self, name: str) -> QToolButton:
        """Return the button of a tool, for what opens beside it."""
        return self._tools[name]

    def minimumSizeHint(self) -> QSize:
        """Return the size at which all icons are seen."""
        return QSize(self.width(), self._least)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the height there is."""
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

    def _dress(self) -> None:
        theme = self._look.theme
        side = round(ICON * theme.zoom)
        words = QFontMetrics(theme.font("small", weight=QFont.Weight.DemiBold))
        buttons = {**self._buttons, **self._tools}
        widest = max(words.horizontalAdvance(button.text()) for button in buttons.values())
        self.setFixedWidth(max(WIDTH, widest + 2 * MARGIN))
        self._logo.setPixmap(pixmap("coreopsis", theme.accent, round(LOGO * theme.zoom)))
        for name, button in buttons.items():
            colour = theme.accent_word if button.isChecked() else theme.soft
            button.setIcon(icon(name, colour, side))
            button.setIconSize(QSize(side, side))
        self._show_words(of_places=False, of_tools=False)
        self._least = self._needed()
        self.updateGeometry()
        self._fit()

    def _fit(self) -> None:
        """Leave the words of the tools out where height ends, then those of the places."""
        for of_places, of_tools in ((True, True), (True, False), (False, False)):
            self._show_words(of_places=of_places, of_tools=of_tools)
            if self._needed() <= self.height():
                return

    def _show_words(self, *, of_places: bool, of_tools: bool) -> None:
        for buttons, has_words in ((self._buttons, of_places), (self._tools, of_tools)):
            style = Style.ToolButtonTextUnderIcon if has_words else Style.ToolButtonIconOnly
            for button in buttons.values():
                button.setToolButtonStyle(style)

    def _needed(self) -> int:
        return self._layout.totalMinimumSize().height()
