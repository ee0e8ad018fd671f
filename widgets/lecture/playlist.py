"""The panel in which a lecture is put together, beside the cards of the experiments."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from experiments.core.words import Words
from widgets.catalogue.card import EXPERIMENT_MIME, dropped
from widgets.controls.basics import IconButton, button, column, label, row, show_text
from widgets.controls.layouts import FlowLayout, scrolling
from widgets.lecture.edit_list import EditList
from widgets.lecture.presenter_data import ItemLine
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 328  # at zoom 1
LEAST_PX = 220  # at zoom 1: narrower, titles are cut
PAUSE_MS = 600  # without typing, before a text is taken
NOTE_LINES = 4
MOST_MINUTES, MINUTES_PX = 24 * 60, 22 * STEP


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaylistData:
    """A lecture as its editor shows it; notes, minutes and settings are of the selected item."""

    title: str
    lines: tuple[ItemLine, ...]
    place: int  # -1 without items
    notes: str = ""
    minutes: float | None = None
    settings: str = ""
    can_use_page: bool = False
    total: str = ""
    checking: str = ""  # what preflight does now
    found: str = ""  # what it found that concerns all items
    can_check: bool = True
    can_undo: bool = False
    is_saved: bool = False


class Playlist(QFrame):
    """`asked` carries the name of a button: open, save, check, begin, undo, close."""

    asked = Signal(str)
    added = Signal(str, int)  # the id of an experiment, and where
    moved = Signal(int, int)
    removed = Signal(int)
    selected = Signal(int)
    titled = Signal(str)
    noted = Signal(int, str)
    timed = Signal(int, object)  # minutes, None for none
    settings_wanted = Signal(int)  # those of the experiment's page

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._place, self._typed_at = -1, -1
        self._minutes: float | None = None
        self.setProperty("role", "playlist")
        self.setAccessibleName(words.say("playlist.name"))
        self.setAcceptDrops(True)
        self.title = QLineEdit()
        self.title.setPlaceholderText(words.say("playlist.title"))
        self.title.setAccessibleName(words.say("playlist.title"))
        self.title.editingFinished.connect(lambda: self.titled.emit(self.title.text()))
        close = partial(self.asked.emit, "close")
        closer = IconButton(look, "close", words.say("playlist.close"), clicked=close)
        self.items = EditList(look, words.say("lecture.items"))
        self.items.dropped.connect(self.added)
        self.items.moved.connect(self.moved)
        self.items.removed.connect(self.removed)

        self.items.selected.connect(self._select)
        self._empty = label(words.say("playlist.empty"), "soft", wrap=True)
        self.notes = QPlainTextEdit()
        self.notes.setProperty("role", "note")
        self.notes.setAccessibleName(words.say("lecture.notes"))
        self.notes.setPlaceholderText(words.say("playlist.notes_hint"))
        self.notes.setTabChangesFocus(True)
        self.notes.textChanged.connect(self._type)
        self.notes.installEventFilter(self)
        self.items.entered.connect(self.notes.setFocus)
        self.minutes = QLineEdit()
        self.minutes.setFixedWidth(MINUTES_PX)
        self.minutes.setPlaceholderText(words.say("playlist.no_minutes"))
        self.minutes.setAccessibleName(words.say("playlist.minutes"))
        self.minutes.editingFinished.connect(self._time)
        self._settings = label(role="soft", wrap=True)
        say = words.say
        self.of_page = button(
            say("playlist.of_page"),
            "small-link",
            clicked=lambda: self.settings_wanted.emit(self._place),
        )
        self.remove = button(
            say("playlist.remove"), "small-link", clicked=lambda: self.removed.emit(self._place)
        )
        self._total, self._checking = label(role="soft"), label(role="soft", wrap=True)
        self.open, self.save = self._button("open"), self._button("save")
        self.undo, self.check = self._button("undo"), self._button("check")
        self.begin = self._button("begin", "main")
        self._pause = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._pause.timeout.connect(self._tell_notes)
        fields = QWidget()
        self._of_item = scrolling(fields, words.say("playlist.of_item"))
        self._of_item.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._arrange(closer, fields)
        look.follow(self._fit)

    def show_data(self, data: PlaylistData) -> None:
        """Show a lecture; what is typed at the moment stays."""
        if not self.title.hasFocus():
            self.title.setText(data.title)
        with QSignalBlocker(self.items):
            self.items.show_lines(data.lines, max(data.place, 0))
            if data.place >= 0:
                self.items.select(data.place)
        is_other, self._place = data.place != self._place, data.place
        if is_other or not self._pause.isActive():
            with QSignalBlocker(self.notes):
                if self.notes.toPlainText() != data.notes:
                    self.notes.setPlainText(data.notes)
        self._minutes = data.minutes
        if is_other or not self.minutes.isModified():
            self.minutes.setText("" if data.minutes is None else f"{data.minutes:g}")
        self._settings.setText(data.settings)
        self.of_page.setEnabled(data.can_use_page)
        has_items = bool(data.lines)
        self._empty.setVisible(not has_items)
        self.items.setVisible(has_items)
        self._of_item.setVisible(data.place >= 0)
        self._total.setText(data.total)
        show_text(self._checking, data.checking or data.found)
        self.undo.setEnabled(data.can_undo)
        self.save.setEnabled(has_items and not data.is_saved)
        self.save.setText(self._words.say("playlist.saved" if data.is_saved else "playlist.save"))
        self.begin.setEnabled(has_items)
        self.check.setEnabled(has_items and data.can_check)
        key = "playlist.stop_check" if data.checking else "playlist.check"
        self.check.setText(self._words.say(key))

    def use_room(self, room_px: int) -> bool:
        """Be as wide as the room allows; False where that is too little."""
        width = min(round(WIDTH_PX * self._look.theme.zoom), room_px)
        least = max(self.minimumSizeHint().width(), round(LEAST_PX * self._look.theme.zoom))
        has_room = width >= least
        if has_room:
            self.setFixedWidth(width)
        return has_room

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the notes when their field is left."""
        if watched is self.notes and event.type() == QEvent.Type.FocusOut:
            self._take_notes()
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take an experiment anywhere on the panel."""
        if event.mimeData().hasFormat(EXPERIMENT_MIME):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Add it as the last."""
        event.acceptProposedAction()
        name = dropped(event.mimeData(), EXPERIMENT_MIME)
        self.added.emit(name, self.items.model().rowCount())

    def _arrange(self, closer: QWidget, fields: QWidget) -> None:
        head = row(label(self._words.say("playlist.name"), "head"), None, closer)
        times = row(label(self._words.say("playlist.minutes"), "soft"), self.minutes, None)
        links = FlowLayout(self.of_page, self.remove, space=3 * STEP)
        fields.setLayout(column(self.notes, times, self._settings, links))
        buttons = FlowLayout(self.open, self.save, self.undo, self.check)
        whole = column(
            head, self.title, self._empty, self.items, self._of_item, self._total,
            self._checking, buttons, self.begin, space=3 * STEP,
            edges=(4 * STEP, 3 * STEP, 4 * STEP, 4 * STEP),
        )  # fmt: skip
        whole.insertStretch(8)
        whole.setStretch(3, 100)
        self.setLayout(whole)

    def _button(self, name: str, role: str = "plain") -> QPushButton:
        text = self._words.say(f"playlist.{name}")
        return button(text, role, clicked=lambda: self.asked.emit(name))

    def _select(self, place: int) -> None:
        if place >= 0 and place != self._place:
            self._take_notes()
            self.selected.emit(place)

    def _type(self) -> None:
        self._typed_at = self._place
        self._pause.start()

    def _take_notes(self) -> None:
        if self._pause.isActive():
            self._pause.stop()
            self._tell_notes()

    def _tell_notes(self) -> None:
        if self._typed_at >= 0:
            self.noted.emit(self._typed_at, self.notes.toPlainText())

    def _time(self) -> None:
        """Take the minutes; a text that is no valid number gives way to the previous minutes."""
        self.minutes.setModified(False)
        text, minutes = self.minutes.text().strip().replace(",", "."), self._minutes
        with contextlib.suppress(ValueError):
            minutes = float(text) if text else None
        if minutes is None or 0 < minutes <= MOST_MINUTES:
            self.timed.emit(self._place, minutes)
        self.minutes.setText("" if self._minutes is None else f"{self._minutes:g}")

    def _fit(self) -> None:
        self.notes.setFixedHeight(round((NOTE_LINES + 1) * self._look.theme.px("text") * 1.4))
