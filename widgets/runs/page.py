"""Page of the runs: search and tags above, the list, and the details of one run beside it.

Files may be dropped anywhere on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from experiments.core.words import Words
from widgets.controls.basics import button, chip, column, label, leave_keys, panel, row
from widgets.controls.layouts import FlowLayout
from widgets.controls.place_head import BELOW, PlaceHead, chip_row
from widgets.controls.search_field import SearchField
from widgets.runs.details import Details
from widgets.runs.listed import ListedRun
from widgets.runs.table import RunsTable
from widgets.style.look import Look
from widgets.style.theme import STEP

DETAILS_PX, SEARCH_PX = 344, 220  # at zoom 1
DETAILS_FRACTION = 0.46  # of the page, at most
TAG_LIMIT = 12  # chips; other tags are found by the search


class RunsPage(QWidget):
    """Shows the runs it is given, and emits what the user asks for."""

    import_asked = Signal()
    experiments_asked = Signal()
    files_dropped = Signal(object)  # list of Path

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look, self._words = look, words
        self._runs: Sequence[ListedRun] = ()
        self._tags: tuple[str, ...] = ()
        self._made_chips: list[QPushButton] = []
        self.table, self.details = RunsTable(look, words), Details(look, words)
        self.search = SearchField(look, words.say("runs.search"), SEARCH_PX)
        self.import_button = chip(words.say("runs.import_files"))
        self.import_button.clicked.connect(lambda: self.import_asked.emit())
        self._count = label("", "soft")
        self._chips = QWidget()
        self._chip_row = FlowLayout()
        self._chips.setLayout(self._chip_row)
        self._chips.hide()
        self._left = QStackedWidget()
        self._left.addWidget(self.table)
        self._left.addWidget(self._make_not_found())
        frame = panel()
        inner = QVBoxLayout(frame)
        inner.setContentsMargins(1, 2 * STEP, 1, 2 * STEP)
        inner.addWidget(self._left)
        self._both = QWidget()
        both = row(frame, self.details, space=4 * STEP)
        both.setStretch(0, 1)
        self._both.setLayout(both)
        self._body = QStackedWidget()
        self._body.addWidget(QWidget())  # until the runs are known
        self._body.addWidget(self._make_empty())
        self._body.addWidget(self._both)
        title = label(words.say("places.runs"), "title")
        head = PlaceHead(self._count, title, chip_row(self.search, self.import_button))
        page = column(head, self._chips, self._body, space=BELOW)
        page.setStretch(2, 1)
        self.setLayout(page)
        self._drop = self._make_drop()
        self.setAcceptDrops(True)
        for field in (self.search, self.details.name, self.details.note, self.details.tags):
            field.setAcceptDrops(False)  # the page handles drops, also on its fields
        self.search.textChanged.connect(self._search_again)
        self.search.left.connect(self.table.setFocus)
        look.changed.connect(self._measure)
        self._measure()

    @property
    def is_empty(self) -> bool:
        """Whether there are no runs at all."""
        return not self._runs

    def show_runs(self, runs: Sequence[ListedRun]) -> None:
        """Show these runs."""
        self._runs = runs
        self._show_tags()
        self.table.show_runs(runs)
        self._show_found()

    def show_all(self) -> None:
        """Clear search and tags."""
        for each in self._made_chips:
            each.setChecked(False)
        self.search.clear()
        self._search_again()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Show that files can be dropped here."""
        if files_of(event.mimeData()):
            event.acceptProposedAction()
            self._drop.setGeometry(self.rect())
            self._drop.show()
            self._drop.raise_()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Hide the hint for drops."""
        self._drop.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit the dropped files."""
        self._drop.hide()
        files = files_of(event.mimeData())
        if files:
            event.acceptProposedAction()
            self.files_dropped.emit(files)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the width of the details."""
        super().resizeEvent(event)
        self._measure()

    def _make_not_found(self) -> QWidget:
        say = self._words.say
        self.show_all_button = button(say("runs.show_all"), clicked=self.show_all)
        return _centred(label(say("runs.not_found"), wrap=True), self.show_all_button)

    def _make_empty(self) -> QWidget:
        say = self._words.say
        self.to_experiments_button = button(
            say("runs.to_experiments"), "main", clicked=self.experiments_asked.emit
        )
        frame = panel()
        layout = QVBoxLayout(frame)
        layout.addWidget(
            _centred(
                label(say("runs.empty"), "head", wrap=True),
                label(say("runs.empty_hint"), "soft", wrap=True),
                self.to_experiments_button,
            )
        )
        return frame

    def _make_drop(self) -> QFrame:
        drop = QFrame(self)
        drop.setProperty("role", "drop")
        drop.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        drop.setLayout(column(_centred(label(self._words.say("runs.drop"), "head", wrap=True))))
        drop.hide()
        return drop

    def _show_tags(self) -> None:
        counts: dict[str, int] = {}
        for run in self._runs:
            for tag in run.tags:
                counts[tag] = counts.get(tag, 0) + 1
        often = sorted(counts, key=lambda tag: (-counts[tag], tag.lower()))[:TAG_LIMIT]
        tags = tuple(sorted(often, key=str.lower))
        if tags == self._tags:
            return
        self._tags, before = tags, self._chosen_tags()
        while self._chip_row.takeAt(0):
            pass
        for old in self._made_chips:
            old.hide()
            old.deleteLater()
        self._made_chips = [chip(tag, checkable=True) for tag in tags]
        leave_keys(*self._made_chips)
        for made in self._made_chips:
            made.setChecked(made.text() in before)
            made.clicked.connect(self._search_again)
            self._chip_row.addWidget(made)
            made.show()
        self._chips.setVisible(bool(tags))
        if self._chosen_tags() != before:
            self._search_again()

    def _chosen_tags(self) -> frozenset[str]:
        return frozenset(each.text() for each in self._made_chips if each.isChecked())

    def _search_again(self) -> None:
        self.table.search(self.search.text(), self._chosen_tags())
        self._show_found()

    def _show_found(self) -> None:
        found, count = len(self.table.runs.shown), len(self._runs)
        self._body.setCurrentIndex(2 if count else 1)
        had_focus = self.table.hasFocus()
        self._left.setCurrentIndex(0 if found else 1)
        self.details.setVisible(bool(found))
        if had_focus and not found:
            self.show_all_button.setFocus()
        self.search.setVisible(bool(count))
        self._count.setVisible(bool(count))
        say, values = self._words.say, {"found": found, "count": count}
        if found != count:
            self._count.setText(say("runs.found", values))
        else:
            self._count.setText(say("runs.count_one" if count == 1 else "runs.count", values))

    def _measure(self) -> None:
        zoom = self._look.theme.zoom
        most = round(self.width() * DETAILS_FRACTION)
        self.details.setFixedWidth(min(round(DETAILS_PX * zoom), most))


def _centred(*parts: QWidget) -> QWidget:
    """Return a widget that centres these parts."""
    for part in parts:
        if isinstance(part, QLabel):
            part.setAlignment(Qt.AlignmentFlag.AlignCenter)
    lines = [part if isinstance(part, QLabel) else row(None, part, None) for part in parts]
    middle = QWidget()
    middle.setLayout(column(None, *lines, None, space=3 * STEP))
    return middle


def files_of(data: QMimeData) -> list[Path]:
    """Return the files that are being dropped."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
