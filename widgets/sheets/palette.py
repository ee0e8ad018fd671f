"""The command palette (Ctrl+K): reaches every page and action by a few typed letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QLineEdit, QListView, QStackedLayout, QWidget

from experiments.core.words import Words
from widgets.controls.basics import announce, label
from widgets.sheets.choice_row import CHOICE_ROLE, HIT_ROLE, ChoiceRow
from widgets.sheets.fuzzy import rank
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 680
ROWS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of the palette, and the function it runs."""

    text: str
    detail: str = ""
    keys: str = ""
    run: Callable[[], object] = lambda: None
    about: Sequence[str] = ()  # hidden phrases that also match


class Palette(Overlay):
    """A field to type in, with the matches below; used once."""

    def __init__(self, words: Words, look: Look, parent: QWidget) -> None:
        super().__init__(parent, width_px=WIDTH_PX, top=True)
        self._words = words
        self.setAccessibleName(words.say("palette.title"))
        self._choices: Sequence[Choice] = ()
        self._found = QStandardItemModel(self)
        self.field = QLineEdit()
        self.field.setProperty("role", "search")
        self.field.setPlaceholderText(words.say("palette.hint"))
        self.field.setAccessibleName(words.say("palette.title"))
        self.field.textEdited.connect(self._search)
        self.field.installEventFilter(self)
        self.list = _List(look)
        self.list.setModel(self._found)
        self.list.setAccessibleName(words.say("palette.found"))
        self.list.clicked.connect(self._run)
        self.list.selectionModel().currentChanged.connect(self._speak)
        self.nothing = label("", "soft", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._below = QStackedLayout()
        self.content.setContentsMargins(3 * STEP, 3 * STEP, 3 * STEP, 3 * STEP)
        self.content.addWidget(self.field)
        self.content.addLayout(self._below, 1)  # first: without a parent, its widgets
        self._below.addWidget(self.list)  # would be windows of their own for a moment
        self._below.addWidget(self.nothing)
        self.setFocusProxy(self.field)

    def open_with(self, choices: Sequence[Choice]) -> None:
        """Open the palette; it lists all choices in order until something is typed."""
        self._choices = choices
        self._fill("")
        self.list.rows = min(len(choices), ROWS_SHOWN)
        self.open()
        self._search("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the field's arrow and page keys move the list."""
        if watched is self.field and isinstance(event, QKeyEvent):
            return event.type() == QEvent.Type.KeyPress and self._move(event)
        return super().eventFilter(watched, event)

    def _move(self, event: QKeyEvent) -> bool:
        last, here = self._found.rowCount() - 1, self.list.currentIndex().row()
        page = max(self.list.height() // max(self.list.sizeHintForRow(0), 1) - 1, 1)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self.list.currentIndex())
            return True
        there = {
            Qt.Key.Key_Up: here - 1 if here > 0 else last,
            Qt.Key.Key_Down: here + 1 if here < last else 0,
            Qt.Key.Key_PageUp: max(here - page, 0),
            Qt.Key.Key_PageDown: min(here + page, last),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }.get(Qt.Key(event.key()))
        if there is not None:
            self.list.setCurrentIndex(self._found.index(there, 0))
        return there is not None

    def _fill(self, text: str) -> None:
        """Hold the choices that match a text, best first."""
        self._found.clear()
        for hit in rank(text, ((each.text, each.detail, each.about) for each in self._choices)):
            choice = self._choices[hit.number]
            spoken = ", ".join(filter(None, (choice.text, hit.detail, choice.keys)))
            item = QStandardItem(choice.text)
            item.setEditable(False)
            item.setData(spoken, Qt.ItemDataRole.AccessibleTextRole)
            item.setData(hit, HIT_ROLE)
            item.setData(choice, CHOICE_ROLE)
            self._found.appendRow(item)

    def _search(self, text: str) -> None:
        self._fill(text)
        if self._found.rowCount():
            self.list.setCurrentIndex(self._found.index(0, 0))
            self.list.scrollToTop()
            self._below.setCurrentWidget(self.list)
        else:
            self.nothing.setText(self._words.say("palette.nothing", {"text": text.strip()}))
            self._below.setCurrentWidget(self.nothing)
            announce(self.field, self.nothing.text())

    def _speak(self, index: QModelIndex) -> None:
        if index.isValid():
            announce(self.field, index.data(Qt.ItemDataRole.AccessibleTextRole))

    def _run(self, index: QModelIndex) -> None:
        if index.isValid():
            choice: Choice = index.data(CHOICE_ROLE)
            self.dismiss()
            choice.run()


class _List(QListView):
    """A list as high as its rows, so that the sheet stays small."""

    rows = 1

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setProperty("role", "plain")
        self.setItemDelegate(ChoiceRow(look, self))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field handles its keys
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:
        return QSize(0, self.rows * max(self.sizeHintForRow(0), 1))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, max(self.sizeHintForRow(0), 1))
