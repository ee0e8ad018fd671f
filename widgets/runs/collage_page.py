"""Page of a class collage: predictions beside machines, a sentence below, the table behind them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
)

from experiments.core.tables import to_tabs
from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.actions import HERE, PAGE, Actions
from widgets.controls.basics import (
    announce,
    button,
    chip,
    column,
    discard,
    holding,
    label,
    panel,
    row,
)
from widgets.controls.choices import Segments
from widgets.controls.place_head import BELOW, PlaceHead, chip_row
from widgets.plots.readable import ReadablePlot
from widgets.runs.collage_data import Shown
from widgets.runs.collage_plots import collage_plot
from widgets.runs.page import empty
from widgets.runs.takes_files import TakesFiles
from widgets.style.look import Look
from widgets.style.theme import STEP

PLOTS_PX = 510  # greatest height of the plots, at zoom 1: below it there is nothing to see
EMPTY, PLOTS, TABLE = range(3)
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class CollagePage(TakesFiles):
    """Shows one collage, and emits what the user asks for."""

    back = Signal()
    add_asked = Signal()
    again_asked = Signal()
    chosen = Signal(str)  # the id of another experiment in the files
    report_wanted = Signal(object)  # Shown
    save_wanted = Signal(object, str)  # ReadablePlot, ".png" or ".svg"

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__(words.say("collage.drop"))
        self._look, self._words = look, words
        self._shown: Shown | None = None
        self.plots: list[ReadablePlot] = []
        say = words.say
        crumb = button(say("places.runs"), "crumb", clicked=self.back.emit)
        way = holding(row(crumb, label(f"· {say('runs.collage')}", "soft"), None, space=STEP))
        self._title = label("", "title", wrap=True)
        self._title.setTextFormat(Qt.TextFormat.RichText)
        self._actions = Actions(self, words, PAGE)
        self.turn = self._actions.add("plot.show_table", self._turn, "Ctrl+D")
        self.report = self._actions.add("collage.sheet.title", self._report, "Ctrl+P")
        self._turn_chip = chip(say("collage.table"), clicked=self.turn.trigger)
        self.report_button = chip(say("collage.report"), clicked=self.report.trigger)
        hint = say("collage.start_again_hint")
        self.again_button = chip(
            say("collage.start_again"), clicked=self.again_asked.emit, tip=hint
        )
        self.add_button = chip(say("collage.add_files"), clicked=self.add_asked.emit)
        self._chips = self._turn_chip, self.report_button, self.again_button, self.add_button
        self._reading = label("", "soft")
        self._chooser_row = column()
        self._chooser = holding(self._chooser_row)
        self._choices: Segments | None = None
        self._offered: list[tuple[str, str]] = []
        self._main, self._rest = label("", "head", wrap=True), label("", "soft", wrap=True)
        self._plot_row = row(space=5 * STEP)
        self._panels: list[QFrame] = []
        self.table = self._make_table()
        self._body = QStackedWidget()
        for each in (self._make_empty(), holding(self._plot_row), self.table):
            self._body.addWidget(each)
        head = PlaceHead(way, self._title, chip_row(*self._chips))
        said = column(self._main, self._rest, space=STEP)
        page = column(head, self._chooser, self._reading, self._body, said, None, space=BELOW)
        page.setStretch(3, 100)  # the rest comes once the plots are high enough
        self.setLayout(page)
        look.changed.connect(self._dress)
        self.show_nothing()

    def own_actions(self) -> tuple[QAction, ...]:
        """Return the actions allowed now."""
        return tuple(self._actions)

    # --- showing --------------------------------------------------------------------------------

    def show_reading(self, count: int) -> None:
        """Say that `count` files are being read; the page stays as it is."""
        self._reading.setText(self._words.say("collage.reading", {"count": count}))
        self._reading.show()

    def end_reading(self) -> None:
        """Stop saying so: it failed."""
        self._reading.hide()

    def show_nothing(self, why: str = "") -> None:
        """Explain how to fill the collage; `why` the files that came fill nothing."""
        self._shown = None
        self._show_choices((), "")
        self._main.setText(self._words.say("collage.none_counts") if why else "")
        self._rest.setText(why)
        self._show_body(EMPTY)

    def show_collage(self, shown: Shown, others: Sequence[tuple[str, str]]) -> None:
        """Show a collage; `others` are id and question of every experiment in the files."""
        at = TABLE if self._body.currentIndex() == TABLE else PLOTS
        had_focus = any(each.hasFocus() for each in (self.fill_button, *self.plots))
        self._shown = shown
        self._show_choices(others, shown.experiment.id)
        self._main.setText(unbroken(shown.main))
        self._rest.setText(unbroken(shown.rest))
        self._fill_plots(shown)
        self._fill_table(shown)
        self._show_body(at)
        if had_focus and at == PLOTS:
            self.focus_first()
        announce(self, f"{shown.main} {shown.rest}")

    def focus_first(self) -> None:
        """Give the keys to what is read first."""
        if self._body.currentIndex() == TABLE:
            self.table.setFocus()
        elif self._body.currentIndex() == PLOTS and self.plots:
            self.plots[0].setFocus()
        else:
            self.fill_button.setFocus()

    def _show_body(self, at: int) -> None:
        self._reading.hide()
        self._body.setCurrentIndex(at)
        is_full = self._shown is not None
        for each in self._chips:
            each.setVisible(is_full)
        self._main.setVisible(bool(self._main.text()))
        self._rest.setVisible(bool(self._rest.text()))
        self.turn.setEnabled(is_full)
        self.report.setEnabled(is_full)
        self._turn_chip.setText(
            self._words.say("collage.plots" if at == TABLE else "collage.table")
        )
        self._dress()

    def _turn(self) -> None:
        """Show the table in place of the plots, or the plots again."""
        self._show_body(PLOTS if self._body.currentIndex() == TABLE else TABLE)
        self.focus_first()

    def _report(self) -> None:
        self.report_wanted.emit(self._shown)

    def _dress(self) -> None:
        theme, shown = self._look.theme, self._shown
        title = shown.question if shown else self._words.say("collage.title")
        count = shown.count if shown else ""
        quiet = f'<span style="color:{theme.soft}; font-weight:400">{escape(count)}</span>'
        self._title.setText(f"{escape(title)}&nbsp; {quiet}")
        self._title.setAccessibleName(f"{title} {count}".strip())
        most = round(PLOTS_PX * theme.zoom) if self._body.currentIndex() == PLOTS else 2**14
        self._body.setMaximumHeight(most)

    # --- its parts ------------------------------------------------------------------------------

    def _make_empty(self) -> QFrame:
        say = self._words.say
        self.fill_button = button(say("collage.add_files"), "main", clicked=self.add_asked.emit)
        return empty(say("collage.empty"), say("collage.empty_how"), self.fill_button)

    def _make_table(self) -> QTableWidget:
        table = QTableWidget()
        table.setProperty("role", "data")
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)  # Tab moves to the next control
        table.verticalHeader().hide()
        table.horizontalHeader().setHighlightSections(False)
        table.horizontalHeader().setDefaultAlignment(LEFT)
        table.horizontalHeader().setStretchLastSection(True)
        table.setAccessibleName(self._words.say("collage.table"))
        Actions(table, self._words, HERE).add("collage.copy", self._copy, "Ctrl+C")
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        return table

    def _fill_table(self, shown: Shown) -> None:
        table = self.table
        table.setColumnCount(len(shown.columns))
        table.setRowCount(len(shown.rows))
        table.setHorizontalHeaderLabels(list(shown.columns))
        for line, cells in enumerate(shown.rows):
            for at, text in enumerate(cells):
                table.setItem(line, at, QTableWidgetItem(text))
        table.resizeColumnsToContents()

    def _copy(self) -> None:
        """Copy the selected lines, below the heads of their columns, separated by tabs."""
        if self._shown is None:
            return
        lines = sorted({index.row() for index in self.table.selectedIndexes()})
        if lines:
            chosen = [list(self._shown.rows[line]) for line in lines]
            text = to_tabs([list(self._shown.columns), *chosen]).removesuffix("\r\n")
            QGuiApplication.clipboard().setText(text)

    def _fill_plots(self, shown: Shown) -> None:
        discard(*self._panels)
        self.plots, self._panels = [], []
        given = shown.experiment, self._words, self._look
        for each in (shown.guesses, shown.cloud):
            if each:
                self._add_plot(collage_plot(each, *given), shown)

    def _add_plot(self, plot: ReadablePlot, shown: Shown) -> None:
        title = plot.chart.terms.title()
        plot.chart.caption = f"{shown.question}\n{title} · {shown.count}"
        plot.table_wanted.connect(self.turn.trigger)
        plot.save_wanted.connect(lambda ending: self.save_wanted.emit(plot, ending))
        frame = panel()
        edges = (4 * STEP, 4 * STEP, 3 * STEP, 2 * STEP)
        frame.setLayout(column(label(title, "head"), plot, edges=edges, grows=1))
        self._plot_row.addWidget(frame)
        self._panels.append(frame)
        self.plots.append(plot)

    def _show_choices(self, choices: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer the experiments in the files, where there are several; the same ones keep keys."""
        choices = choices if len(choices) > 1 else ()
        is_other, self._offered = list(choices) != self._offered, list(choices)
        if self._choices is not None and is_other:
            discard(self._choices)
            self._choices = None
        self._chooser.setVisible(bool(choices))
        if self._choices is not None:
            self._choices.choose(chosen)
        elif choices:
            self._choices = Segments(choices, name=self._words.say("collage.experiments"))
            self._choices.choose(chosen)
            self._choices.chosen.connect(self.chosen)
            self._chooser_row.addWidget(self._choices)
