"""How does a run look? Its headline view large, the confirming one below, then any further.

One plot is drawn at a time and only where its table has grown: all at once would hold up the
window. The plots are loaded when an experiment is first shown, because that takes a while.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from experiments.declare import Experiment
from experiments.engine.messages import Frame
from experiments.views import Field
from experiments.words import Words
from widgets.experiment.view_head import ViewHead
from widgets.look import Look
from widgets.theme import STEP

if TYPE_CHECKING:
    from widgets.plots.drawing import Beside
    from widgets.plots.plot import Plot

HEADLINE_PX, OTHER_PX = 210, 150  # least heights at zoom 1: three have room on a small screen
STRETCH = (3, 2)

Tables = Mapping[str, Sequence[Any]]


class ViewsPanel(QScrollArea):
    """Every view of one experiment."""

    table_wanted = Signal()
    save_wanted = Signal(object, str)  # Plot, suffix

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._experiment: Experiment[Any] | None = None
        self.plots: list[Plot] = []
        self._heads: list[ViewHead] = []
        self._drawn: list[object] = []  # what each plot was drawn from
        self.place = 0  # of the plot that the keyboard was in last
        self._turn = 0
        self._generation = 0
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        look.changed.connect(self._fit)

    def show_experiment(self, experiment: Experiment[Any]) -> None:
        """Make the plots of an experiment; nothing is drawn yet."""
        if experiment is self._experiment:
            return
        from widgets.plots.plot import Plot

        self._experiment = experiment
        content = _Content()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP)
        layout.setSpacing(STEP)
        self.plots, self._heads, self._drawn, self.place = [], [], [], 0
        for place, view in enumerate(experiment.views):
            head = ViewHead(self._title(place))
            plot = Plot(experiment, view, self._words, self._look)
            plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
            plot.installEventFilter(self)
            plot.table_wanted.connect(self.table_wanted)
            plot.save_wanted.connect(lambda suffix, plot=plot: self.save_wanted.emit(plot, suffix))
            if place:
                layout.addSpacing(2 * STEP)
            layout.addWidget(head)
            layout.addWidget(plot, STRETCH[min(place, 1)])
            self.plots.append(plot)
            self._heads.append(head)
            self._drawn.append(None)
        self.setWidget(content)  # deletes what was there before
        self._fit()

    def forget(self) -> None:
        """Draw every plot anew at the next turns: another run is shown."""
        self._generation += 1

    def draw_next(
        self,
        tables: Tables,
        frames: Mapping[str, Frame],
        counts: Mapping[str, int],
        values: Mapping[str, float],
        beside: tuple[str, str, Tables] | None = None,
    ) -> bool:
        """Draw the next plot that is not up to date; return whether there was one.

        `counts` grows with each row or frame of a table, `values` places the limit lines, and
        `beside` is what both runs are called, and the tables of the other one.
        """
        views = self._experiment.views if self._experiment is not None else ()
        for turn in range(len(views)):
            place = (self._turn + turn) % len(views)
            view = views[place]
            found = {limit.value: values.get(limit.value) for limit in view.limits}
            wanted = (self._generation, counts.get(view.table, 0), found)
            if wanted != self._drawn[place]:
                self._drawn[place] = wanted
                self._turn = place + 1
                if isinstance(view, Field) and view.table in frames:
                    self.plots[place].draw_frame(frames[view.table])
                else:
                    self.plots[place].draw(
                        tables[view.table], values, beside=_other(beside, view.table)
                    )
                self._fit_one(place)
                return True
        return False

    def mark(self, band: str, caption: str) -> None:
        """Say above every plot where it comes from, and in pictures of it what it shows."""
        for plot, head in zip(self.plots, self._heads, strict=True):
            head.mark(band)
            plot.set_band(band)
            plot.set_caption(caption)

    def plot_in_focus(self) -> Plot | None:
        """Return the plot that the keyboard was in last, at first the headline."""
        return self.plots[self.place] if self.plots else None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What is narrower may have to be higher."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember which plot the keyboard is in: a menu or the palette may take it away."""
        if event.type() == QEvent.Type.FocusIn and watched in self.plots:
            self.place = self.plots.index(watched)
        return super().eventFilter(watched, event)

    def _title(self, place: int) -> str:
        assert self._experiment is not None
        key = self._experiment.views[place].key
        view = self._words.say(f"{self._experiment.id}.views.{key}")
        return view if place != 1 else self._words.say("page.confirming", {"view": view})

    def _fit(self) -> None:
        for place in range(len(self.plots)):
            self._fit_one(place)

    def _fit_one(self, place: int) -> None:
        """Keep a plot from being crowded, though it may then have to be scrolled to."""
        plot, least = self.plots[place], (OTHER_PX if place else HEADLINE_PX)
        width = self.width() - 8 * STEP  # with or without a scroll bar, or it might come and go
        plot.setMinimumHeight(round(max(least * self._look.theme.zoom, plot.least_height(width))))


class _Content(QWidget):
    """Asks for the height of its titles, wrapped as they are, and of a plot for the least."""

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.totalMinimumHeightForWidth(width) if layout is not None else -1


def _other(beside: tuple[str, str, Tables] | None, table: str) -> Beside | None:
    if beside is None:
        return None
    from widgets.plots.drawing import Beside

    a, b, tables = beside
    return Beside(a, b, tables[table])
