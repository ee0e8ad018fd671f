"""Sheets over a window of a lecture: its keys, or a question before something ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QLayout, QWidget

from widgets.controls.basics import announce, button, column, discard, grid, label, row
from widgets.sheets.shortcut_sheet import Group
from widgets.style.look import Look

# Pixels at a height of 720; a window less wide than NARROW of its heights counts by its width.
HEIGHT, NARROW = 720, 4 / 3
HEAD, TEXT, GROUP = 34, 24, 20
SPACE, LINE, MARGIN, CORNER = 44, 9, 30, 12  # between columns, between rows, around all
WIDE = 700  # a question
VEIL_ALPHA = 0.8  # the slide below stays recognisable


@dataclass(frozen=True, slots=True)
class KeySheet:
    """All keys, in groups, one column for each sequence of groups."""

    title: str
    columns: Sequence[Sequence[Group]]
    foot: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with two answers; `yes` and `no` have their keys with them."""

    title: str
    text: str
    yes: str
    no: str


class Over(QWidget):
    """Covers its parent while there is something to show. It takes no keys: the lecture does."""

    answered = Signal(bool)

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look, self._window = look, parent
        self.shown: KeySheet | Question | None = None
        self._panel: QFrame | None = None
        parent.installEventFilter(self)
        self.hide()

    def show_content(self, content: KeySheet | Question | None) -> None:
        """Show keys or a question, or nothing."""
        if content == self.shown:
            return
        self.shown = content
        self.setVisible(content is not None)
        self._build()
        if content is not None:
            self.raise_()
            self.setAccessibleName(content.title)
            announce(self, content.title, at_once=True)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Grow with the window."""
        if event.type() == QEvent.Type.Resize:
            self._build()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dim what lies below."""
        veil = QColor(self._look.theme.ground)
        veil.setAlphaF(VEIL_ALPHA)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), veil)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close the keys; a question wants one of its answers."""
        event.accept()
        if isinstance(self.shown, KeySheet):
            self.answered.emit(False)

    @property
    def texts(self) -> list[str]:
        """All that can be read."""
        return [each.text() for each in self._panel.findChildren(QLabel)] if self._panel else []

    # --- inside -------------------------------------------------------------------------------

    @property
    def _scale(self) -> float:
        return min(self.height(), self.width() / NARROW) / HEIGHT

    def _build(self) -> None:
        """Make the panel anew in the size of the window."""
        self.setGeometry(self._window.rect())
        if self._panel is not None:
            discard(self._panel)
            self._panel = None
        if self.shown is None:
            return
        self._panel = made = QFrame(self)
        theme = self._look.theme  # the slide may be light in a dark window
        frame = f"border: 1px solid {theme.line}; border-radius: {self._px(CORNER)}px"
        made.setObjectName("over")
        made.setStyleSheet(f"#over {{ background: {theme.panel}; {frame} }}")
        margin = self._px(MARGIN)
        is_keys = isinstance(self.shown, KeySheet)
        layout = self._keys(self.shown) if is_keys else self._question(self.shown)  # type: ignore[arg-type]
        layout.setContentsMargins(margin, margin, margin, margin)
        made.setLayout(layout)
        if not is_keys:
            made.setFixedWidth(min(self._px(WIDE), self.width() - margin))
        made.adjustSize()
        made.resize(made.size().boundedTo(self.size()))
        made.move((self.width() - made.width()) // 2, (self.height() - made.height()) // 2)
        made.show()

    def _keys(self, sheet: KeySheet) -> QLayout:
        columns = [self._column(groups) for groups in sheet.columns]
        foot = self._words(sheet.foot, GROUP, soft=True)
        return column(
            self._words(sheet.title, HEAD, weight=700),
            row(*columns, space=self._px(SPACE)),
            foot,
            space=self._px(2 * LINE),
        )

    def _column(self, groups: Sequence[Group]) -> QLayout:
        cells, at = grid(self._px(2 * LINE), self._px(LINE)), 0
        for group in groups:
            if at:
                cells.setRowMinimumHeight(at, self._px(LINE))
                at += 1
            cells.addWidget(self._words(group.title, GROUP, soft=True), at, 0, 1, 2)
            at += 1
            for keys, text in group.keys:
                cells.addWidget(self._words(keys, TEXT, weight=600), at, 0)
                cells.addWidget(self._words(text, TEXT), at, 1)
                at += 1
        cells.setRowStretch(at, 1)
        return cells

    def _question(self, asked: Question) -> QLayout:
        text = self._words(asked.text, TEXT)
        text.setWordWrap(True)
        theme = self._look.theme
        buttons = []
        for said, is_yes, words, ground in (
            (asked.yes, True, theme.on_accent, theme.accent),
            (asked.no, False, theme.ink, theme.panel),
        ):
            made = button(said, clicked=partial(self.answered.emit, is_yes))
            made.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            room = f"padding: {self._px(LINE)}px {self._px(2 * LINE)}px"
            frame = f"border: 1px solid {theme.line}; border-radius: {self._px(CORNER)}px"
            made.setStyleSheet(
                f"color: {words}; background: {ground}; {frame}; {room};"
                f" font-size: {self._px(TEXT)}px"
            )
            buttons.append(made)
        return column(
            self._words(asked.title, HEAD, weight=700),
            text,
            row(*buttons, None, space=self._px(2 * LINE)),
            space=self._px(2 * LINE),
        )

    def _words(self, text: str, size: int, *, weight: int = 400, soft: bool = False) -> QLabel:
        theme = self._look.theme
        made = label(text)
        colour = theme.soft if soft else theme.ink
        font = f"font-size: {self._px(size)}px; font-weight: {weight}"
        made.setStyleSheet(f"color: {colour}; {font}")
        return made

    def _px(self, size: float) -> int:
        return max(1, round(size * self._scale))
