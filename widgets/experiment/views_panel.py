"""Plots of a run: the headline view large, the confirming one below, then the others.

One plot is drawn at a time, and only if its table has grown: drawing all would block the window.
Plots are imported when an experiment is first shown, because that is slow. A view of code is a
puzzle instead, which needs no run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QRect, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from experiments.core.declare import Experiment
from experiments.core.judging.disturbed import loss_of
from experiments.core.views import Bars, Code, Field, Limit, Lines, Plotted, Ruler, View, along
from experiments.core.words import Words
from experiments.engine.messages import Frame
from widgets.controls.basics import IconButton, column, tip
from widgets.controls.layouts import DownArea
from widgets.experiment.full_plot import FullPlot
from widgets.experiment.puzzle import Puzzle
from widgets.experiment.view_head import ViewHead
from widgets.style.look import Look
from widgets.style.theme import STEP

if TYPE_CHECKING:
    from widgets.plots.drawing import Beside
    from widgets.plots.plot import Plot

HEADLINE_PX, OTHER_PX = 210, 150  # least heights at zoom 1: three fit on a small screen
STRETCH, REST = (
    (300, 200),
    1,
)  # the rest: next to nothing until no plot can grow
MARKS = {Lines: "plot.dots_line", Bars: "plot.dots_bar", Ruler: "plot.dots_pin"}
ALONE = "plot.dots_point"  # of lines: a single place has no line
STATISTICS = {"median": "plot.median", "least": "plot.lowest", "greatest": "plot.highest"}
SCROLL_BAR_PX = 16
MOST_PX = 16_777_215  # Qt's QWIDGETSIZE_MAX, which the bindings lack

Tables = Mapping[str, Sequence[Any]]
Other = tuple[str, str, Tables, Mapping[str, float]]


class ViewsPanel(DownArea):
    """Every view of one experiment."""

    table_wanted = Signal()
    save_wanted = Signal(object, str)  # Plot, suffix
    plots_made = Signal()  # of another experiment

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._experiment: Experiment[Any] | None = None
        self.plots: list[Plot] = []
        self._shown: list[Plot | Puzzle] = []  # one per view
        self._heads: list[ViewHead] = []
        self._drawn: list[object] = []  # the state that each plot was drawn from
        self._left_out: Set[str] = frozenset()  # tables whose plots are hidden
        self._only: Set[str] = frozenset()  # keys of the views that are shown; empty for all
        self.place = 0  # index of the plot that had the focus last
        self._brought = ""  # key of the view to show first, once its plot is there
        self.method = ""  # tip of the headline's title
        self._full: FullPlot | None = None
        self._turn = 0
        self._generation = 0
        look.changed.connect(self._fit)

    def show_experiment(self, experiment: Experiment[Any]) -> None:
        """Create the plots of an experiment, without drawing them."""
        if experiment is self._experiment:
            return
        if self._full is not None:
            self._full.dismiss()
        self._experiment = experiment
        content = _Content()
        layout = column(space=STEP, edges=(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP))
        content.setLayout(layout)
        self.plots, self._shown, self._heads, self._drawn, self.place = [], [], [], [], 0
        self._left_out = self._only = frozenset()
        for place, view in enumerate(experiment.views):
            head = ViewHead(self._title(place), 2 * STEP if place else 0)
            if not place:  # the method is that of the headline
                head.title.setToolTip(tip(self.method))
            layout.addWidget(head)
            if isinstance(view, Code):
                puzzle = Puzzle(experiment, view, self._words, self._look)
                puzzle.moved.connect(partial(self._follow, puzzle))
                layout.addWidget(puzzle)
                self._shown.append(puzzle)
            else:
                plot = self._plot(experiment, view)
                layout.addWidget(plot, STRETCH[min(place, 1)])
                self.plots.append(plot)
                self._shown.append(plot)
            self._heads.append(head)
            self._drawn.append(None)
        self._link(experiment)
        layout.addStretch(REST)
        self.setWidget(content)  # deletes the previous content
        self._fit()
        self.bring(self._brought)
        self.plots_made.emit()

    def show_unmeasured(self, experiment: Experiment[Any]) -> None:
        """Show an experiment without a run; clear everything of another run."""
        self.show_experiment(experiment)
        self.leave_out(frozenset())
        self.mark("", "")
        for shown in self._shown:
            shown.draw([], {})
        self.forget()

    def forget(self) -> None:
        """Redraw every plot at the next turns, for another run or for the whole of one."""
        self._generation += 1
        for plot in self.plots:
            plot.chart.forget_widest()

    def leave_out(self, tables: Set[str]) -> None:
        """Hide the plots of these tables, unless no other would be left."""
        if tables != self._left_out:
            self._left_out = tables
            self._choose()

    def show_only(self, keys: Set[str]) -> None:
        """Show the views of these keys only; all of them where none are named."""
        if keys != self._only:
            self._only = keys
            self._choose()

    def _choose(self) -> None:
        if self._experiment is None:
            return
        views, plots = self._experiment.views, self._experiment.plots
        wanted = [view for view in views if not self._only or view.key in self._only]
        left = [view for view in plots if view in wanted and view.table not in self._left_out]
        left = left or [view for view in plots if view in wanted] or [*plots]
        for place, view in enumerate(views):
            is_left = view in (wanted if isinstance(view, Code) else left)
            for part in (self._heads[place], self._shown[place]):
                part.setVisible(is_left)
        for place, head in enumerate(self._heads):
            head.name(self._title(place, confirms=not self._heads[0].isHidden()))
        if plots[self.place] not in left:
            self.place = plots.index(left[0])

    def draw_next(
        self,
        tables: Tables,
        frames: Mapping[str, Frame],
        counts: Mapping[str, int],
        values: Mapping[str, float],
        beside: Other | None = None,
    ) -> bool:
        """Draw the next outdated plot; return whether there was one.

        `counts` grows with each row or frame of a table, and `values` places the limit lines.
        `beside` holds the names of both runs, and tables and values of the other one.
        """
        views = self._experiment.views if self._experiment is not None else ()
        for turn in range(len(views)):
            place = (self._turn + turn) % len(views)
            view = views[place]
            found = {limit.value: values.get(limit.value) for limit in _limits(view, views)}
            wanted = (self._generation, counts.get(view.table, 0), found)
            if wanted != self._drawn[place]:
                self._drawn[place] = wanted
                self._turn = place + 1
                shown, rows = self._shown[place], tables.get(view.table, ())
                if isinstance(shown, Puzzle):
                    shown.draw(rows, values)
                elif isinstance(view, Field) and view.table in frames:
                    shown.draw_frame(frames[view.table])
                else:
                    shown.draw(rows, values, beside=_other(beside, view.table))
                self._heads[place].explain(self._marks_of(view, rows))
                self._fit_one(place)
                return True
        return False

    def mark(self, band: str, caption: str) -> None:
        """Set the source above every plot, and the caption of its pictures."""
        for shown, head in zip(self._shown, self._heads, strict=True):
            if not isinstance(shown, Puzzle):  # a puzzle needs no run
                head.mark(band)
                shown.chart.band = band
                shown.chart.caption = caption

    def keyed_plots(self) -> dict[str, Plot]:
        """Return the plots by the keys of their views; none before an experiment is shown."""
        views = self._experiment.plots if self._experiment is not None else ()
        return {view.key: plot for view, plot in zip(views, self.plots, strict=True)}

    def bring(self, key: str) -> None:
        """Scroll to the plot of this view, as if it had had the focus last; once it is there."""
        plot = self.keyed_plots().get(key) if self.plots else None
        self._brought = key if plot is None else ""
        if plot is not None:
            self.place = self.plots.index(plot)
            QTimer.singleShot(0, plot, lambda: self.ensureWidgetVisible(plot))

    def plot_in_focus(self) -> Plot | None:
        """Return the plot that had the focus last, at first the headline."""
        return self.plots[self.place] if self.plots else None

    def fill_window(self, keys: QKeySequence) -> None:
        """Show the plot that had the focus last over the whole window, until `keys` or Esc."""
        plot, content = self.plot_in_focus(), self.widget()
        home = content.layout() if content is not None else None
        if plot is None or self._full is not None or not isinstance(home, QVBoxLayout):
            return
        closer = IconButton(self._look, "close", self._words.say("overlay.close"))
        self._full = FullPlot(plot, home, plot.accessibleName(), keys, closer)
        self._full.closed.connect(self._take_back)
        self._full.open()

    def _take_back(self) -> None:
        self._full = None
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the heights to the new size."""
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember the focused plot: a menu or the palette may take the focus."""
        if event.type() == QEvent.Type.FocusIn and watched in self.plots:
            self.place = self.plots.index(watched)
        return super().eventFilter(watched, event)

    def _link(self, experiment: Experiment[Any]) -> None:
        """Let plots over one x axis zoom together: each follows the next of them."""
        plots = self.keyed_plots()
        for view in experiment.plots:
            if isinstance(view, Lines):
                same = [other.key for other in along(view, experiment.plots)]
                followed = plots[same[(same.index(view.key) + 1) % len(same)]]
                plots[view.key].box.setXLink(followed.box)

    def _plot(self, experiment: Experiment[Any], view: Plotted) -> Plot:
        from widgets.plots.plot import Plot

        plot = Plot(experiment, view, self._words, self._look)
        plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        plot.installEventFilter(self)
        plot.table_wanted.connect(self.table_wanted)
        plot.save_wanted.connect(lambda suffix: self.save_wanted.emit(plot, suffix))
        return plot

    def _follow(self, puzzle: Puzzle, place: QRect) -> None:
        """Scroll to the current line of a puzzle."""
        content = self.widget()
        if content is not None:
            at = puzzle.mapTo(content, place.center())
            self.ensureVisible(at.x(), at.y(), 0, place.height())

    def _title(self, place: int, *, confirms: bool = True) -> str:
        """Return the title of a view; the second one confirms the first, if that is shown."""
        assert self._experiment is not None
        key = self._experiment.views[place].key
        view = self._words.say(f"{self._experiment.id}.views.{key}")
        if place != 1 or not confirms:
            return view
        return self._words.say("page.confirming", {"view": view})

    def _marks_of(self, view: View, rows: Sequence[Any]) -> str:
        """Return what dots and lines are, once a second round makes them differ."""
        if not isinstance(view, Lines | Bars | Ruler):
            return ""
        if not any(getattr(row, "repeat", 0) for row in rows):
            return ""
        is_alone = isinstance(view, Lines) and all(
            _x(row, view) == _x(rows[0], view) for row in rows
        )
        statistic = self._words.say(STATISTICS[view.statistic])
        key = ALONE if is_alone else MARKS[type(view)]
        marks = self._words.say(key, {"statistic": statistic})
        has_hollow = any(map(loss_of, rows))
        return self._words.say("plot.with_hollow", {"marks": marks}) if has_hollow else marks

    def _fit(self) -> None:
        for place in range(len(self._shown)):
            self._fit_one(place)

    def _fit_one(self, place: int) -> None:
        """Set least and greatest height of a plot, so that it is never crowded.

        In a low window the headline is lower, so that its axes are seen with it.
        """
        shown, zoom = self._shown[place], self._look.theme.zoom
        width = self.width() - 8 * STEP  # whether or not a scroll bar is there, or it could flicker
        least = OTHER_PX * zoom
        if not place:
            seen = self.height() - self._heads[0].heightForWidth(width) - 7 * STEP
            least = max(least, min(HEADLINE_PX * zoom, seen))
        if isinstance(shown, Puzzle):
            shown.fit(width - SCROLL_BAR_PX)
            return
        most = min(shown.most_height(), MOST_PX)
        height = max(min(least, most), shown.least_height(width))
        shown.setMinimumHeight(round(height))
        shown.setMaximumHeight(round(max(height, most)))


class _Content(QWidget):
    """Asks for the height of its wrapped titles and the least height of its plots."""

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.totalMinimumHeightForWidth(width) if layout is not None else -1


def _x(row: Any, view: Lines) -> Any:
    return getattr(row, view.x.column)


def _limits(view: View, views: Sequence[View]) -> list[Limit]:
    """Return the limits that a plot depends on: its own, and those on a shared axis."""
    others = along(view, views) if isinstance(view, Lines) else []
    shared = (limit for other in others for limit in other.limits if limit.axis == "x")
    return [*view.limits, *shared]


def _other(beside: Other | None, table: str) -> Beside | None:
    if beside is None:
        return None
    from widgets.plots.drawing import Beside

    a, b, tables, values = beside
    return Beside(a, b, tables[table], values)
