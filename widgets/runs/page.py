"""Page of the runs: search and tags above, the list, and the details of one run beside it.

Files may be dropped anywhere on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from experiments.core.words import Words
from widgets.controls.basics import (
    button,
    chip,
    column,
    discard,
    holding,
    label,
    leave_keys,
    panel,
    row,
)
from widgets.controls.layouts import FlowLayout
from widgets.controls.place_head import BELOW, PlaceHead, chip_row
from widgets.controls.search_field import SearchField
from widgets.runs.details import Details
from widgets.runs.listed import ListedRun
from widgets.runs.reminder import Reminder
from widgets.runs.table import RunsTable
from widgets.runs.takes_files import TakesFiles
from widgets.style.look import Look
from widgets.style.theme import STEP

DETAILS_PX, SEARCH_PX = 344, 220  # at zoom 1
DETAILS_FRACTION = 0.46  # of the page, at most
TAG_LIMIT = 12  # chips; other tags are found by the search


class RunsPage(TakesFiles):
    """Shows the runs it is given, and emits what the user asks for."""

    import_asked = Signal()
    experiments_asked = Signal()

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__(words.say("runs.drop"))
        self._look, self._words = look, words
        self.runs: Sequence[ListedRun] = ()  # all, shown or not
        self._tags: tuple[str, ...] = ()
        self._made_chips: list[QPushButton] = []
        self.table, self.details = RunsTable(look, words), Details(look, words)
        self.search = SearchField(look, words.say("runs.search"), SEARCH_PX)
        self.import_button = chip(words.say("runs.import_files"), clicked=self.import_asked.emit)
        self.surprises = chip(
            words.say("runs.surprises"),
            checkable=True,
            clicked=self._search_again,
            tip=words.say("runs.surprises_hint"),
        )
        self.reminder = Reminder(words)
        self.reminder.answered.connect(lambda _again: self.table.setFocus())
        self._count = label("", "soft")
        self._chip_row = FlowLayout()
        self._chips = holding(self._chip_row)
        self._chips.hide()
        self._left = QStackedWidget()
        self._left.addWidget(self.table)
        self._left.addWidget(self._make_not_found())
        frame = panel()
        frame.setLayout(column(self._left, edges=(1, 2 * STEP, 1, 2 * STEP)))
        self._body = QStackedWidget()
        self._body.addWidget(QWidget())  # until the runs are known
        self._body.addWidget(self._make_empty())
        self._body.addWidget(holding(row(frame, self.details, space=4 * STEP, grows=0)))
        title = label(words.say("places.runs"), "title")
        chips = chip_row(self.search, self.surprises, self.import_button)
        parts = PlaceHead(self._count, title, chips), self._chips, self.reminder, self._body
        self.setLayout(column(*parts, space=BELOW, grows=3))
        for field in (self.search, self.details.name, self.details.note, self.details.tags):
            field.setAcceptDrops(False)  # the page handles drops, also on its fields
        self.search.textChanged.connect(self._search_again)
        self.search.left.connect(self.table.setFocus)
        look.follow(self._measure)

    @property
    def is_empty(self) -> bool:
        """Return whether there are no runs at all."""
        return not self.runs

    def show_runs(self, runs: Sequence[ListedRun]) -> None:
        """Show these runs."""
        self.runs = runs
        self._show_tags()
        has_surprises = any(run.is_surprise for run in runs)
        self.surprises.setVisible(has_surprises)
        if self.surprises.isChecked() and not has_surprises:
            self.surprises.setChecked(False)
            self._search_again()
        self.table.show_runs(runs)
        self._show_found()

    def show_all(self) -> None:
        """Clear search and tags."""
        for each in (*self._made_chips, self.surprises):
            each.setChecked(False)
        self.search.clear()
        self._search_again()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the width of the details."""
        super().resizeEvent(event)
        self._measure()

    def _make_not_found(self) -> QWidget:
        say = self._words.say
        self.show_all_button = button(say("runs.show_all"), clicked=self.show_all)
        return centred(label(say("runs.not_found"), wrap=True), self.show_all_button)

    def _make_empty(self) -> QWidget:
        say = self._words.say
        self.to_experiments_button = button(
            say("runs.to_experiments"), "main", clicked=self.experiments_asked.emit
        )
        return empty(say("runs.empty"), say("runs.empty_hint"), self.to_experiments_button)

    def _show_tags(self) -> None:
        counts = Counter(tag for run in self.runs for tag in run.tags)
        often = sorted(counts, key=lambda tag: (-counts[tag], tag.lower()))[:TAG_LIMIT]
        tags = tuple(sorted(often, key=str.lower))
        if tags == self._tags:
            return
        self._tags, before = tags, self._chosen_tags()
        discard(*self._made_chips)
        self._made_chips = [chip(tag, checkable=True, clicked=self._search_again) for tag in tags]
        leave_keys(*self._made_chips)
        for made in self._made_chips:
            made.setChecked(made.text() in before)
            self._chip_row.addWidget(made)
            made.show()
        self._chips.setVisible(bool(tags))
        if self._chosen_tags() != before:
            self._search_again()

    def _chosen_tags(self) -> frozenset[str]:
        return frozenset(each.text() for each in self._made_chips if each.isChecked())

    def _search_again(self) -> None:
        self.table.search(
            self.search.text(), self._chosen_tags(), surprises=self.surprises.isChecked()
        )
        self._show_found()

    def _show_found(self) -> None:
        found, count = len(self.table.runs.shown), len(self.runs)
        self._body.setCurrentIndex(2 if count else 1)
        had_focus = self.table.hasFocus()
        self._left.setCurrentIndex(0 if found else 1)
        self.details.setVisible(bool(found))
        if had_focus and count and not found:
            self.show_all_button.setFocus()
        self.search.setVisible(bool(count))
        self._count.setVisible(bool(count))
        key = "runs.found" if found != count else "runs.count"
        self._count.setText(self._words.say(key, {"found": found, "count": count}))

    def _measure(self) -> None:
        zoom = self._look.theme.zoom
        most = round(self.width() * DETAILS_FRACTION)
        self.details.setFixedWidth(min(round(DETAILS_PX * zoom), most))


def empty(said: str, how: str, do: QPushButton) -> QFrame:
    """Return a panel that says what is missing, how to get it, and offers that."""
    frame = panel()
    texts = label(said, "head", wrap=True), label(how, "soft", wrap=True)
    QVBoxLayout(frame).addWidget(centred(*texts, do))
    return frame


def centred(*parts: QWidget) -> QWidget:
    """Return a widget that centres these parts."""
    for part in parts:
        if isinstance(part, QLabel):
            part.setAlignment(Qt.AlignmentFlag.AlignCenter)
    lines = [part if isinstance(part, QLabel) else row(None, part, None) for part in parts]
    return holding(column(None, *lines, None, space=3 * STEP))
