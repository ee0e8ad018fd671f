"""The one plot of a slide, and the theme that makes it big."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt

from experiments.core.declare import Experiment
from experiments.core.words import Words
from widgets.lecture.series import chosen
from widgets.plots.contents import label_column
from widgets.plots.drawing import Beside
from widgets.plots.kinds.growing import NewRows
from widgets.plots.plot import Plot
from widgets.style.look import Look
from widgets.style.theme import Theme

ZOOM, THIN, BAR = 2.0, 3.0, 0.54  # of texts and marks; of thin lines, and of bars in their rows


def slide_theme(theme: Theme, scale: float, zoom: float = 1.0) -> Theme:
    """Return a theme for the height of a slide, in heights of 720 pixels, all on one ground."""
    return replace(
        theme,
        zoom=ZOOM * zoom * scale,
        thin=max(1, round(THIN * scale)),
        bar=BAR,
        panel=theme.ground,
    )


class SlidePlot(Plot):
    """The headline view of an experiment, to be looked at: it takes neither keys nor mouse."""

    def __init__(self, experiment: Experiment[Any], words: Words, look: Look) -> None:
        super().__init__(experiment, experiment.plots[0], words, look)
        self._rows, self._labels = NewRows(), set[str]()
        self._hidden: frozenset[str] = frozenset()
        self.chart.is_mute = True  # a class needs no word about nothing
        self.setMinimumSize(1, 1)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def draw(
        self, rows: Sequence[Any], values: Mapping[str, float], *, beside: Beside | None = None
    ) -> None:
        """Show the rows, without those of more series than a slide shows."""
        column = label_column(self.chart.terms.view)
        if column is not None:
            new, is_another = self._rows.among(rows)
            known = set[str]() if is_another else self._labels
            self._labels = known.union(str(getattr(row, column)) for row in new)
            self.hold_back(self._hidden)
        super().draw(rows, values, beside=beside)

    def hold_back(self, labels: Collection[str]) -> None:
        """Do not show these marks, nor those of more series than a slide shows."""
        self._hidden = frozenset(labels)
        terms = self.chart.terms
        shown = chosen(terms.experiment, terms.view, self._labels)
        super().hold_back(self._hidden.union(self._labels.difference(shown)))
