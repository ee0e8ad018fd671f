"""The slide that a class sees: a question with votes, or one plot with its verdict."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from experiments.core.declare import Experiment
from experiments.core.words import Words
from widgets.controls.basics import label
from widgets.lecture.slide_data import SlideData
from widgets.plots.plot import Plot
from widgets.style.look import Look
from widgets.style.theme import STEP

PLOTTED = ("run", "reveal", "explain")


class Slide(QWidget):
    """One slide. `plot` is that of the headline view, None where there is none."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self.data: SlideData | None = None
        self.plot: Plot | None = None
        self.has_halo = False
        self._experiment: Experiment[Any] | None = None
        self._kept: QLabel | None = None
        self._text = label("", wrap=True)
        self._below = label("", wrap=True)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(18 * STEP, 12 * STEP, 18 * STEP, 12 * STEP)
        self._layout.addWidget(self._text)
        self._layout.addWidget(self._below)
        self.setAutoFillBackground(True)
        self._dress()

    def show_experiment(self, experiment: Experiment[Any] | None) -> None:
        """Have a plot ready for the headline view of an experiment."""
        if experiment is self._experiment:
            return
        self._experiment = experiment
        if self.plot is not None:
            self._layout.removeWidget(self.plot)
            self.plot.hide()
            self.plot.deleteLater()
            self.plot = None
        if experiment is not None and experiment.plots:
            self.plot = Plot(experiment, experiment.plots[0], self._words, self._look)
            self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._layout.insertWidget(1, self.plot, 1)

    def show_data(self, data: SlideData) -> None:
        """Show a step."""
        self.data = data
        lines = [f"{data.place} / {data.count}", data.verdict or data.title]
        votes = data.votes or ("",) * len(data.options)
        lines += [
            f"{letter}  {text}  {count}"
            for letter, text, count in zip("ABCD", data.options, votes, strict=False)
        ]
        self._text.setText("\n".join(lines))
        below = (data.band, data.source, data.busy, data.said, data.hint, data.problem, data.key)
        self._below.setText("\n".join(filter(None, below)))
        if self.plot is not None:
            self.plot.setVisible(data.step in PLOTTED)

    def set_halo(self, on: bool) -> None:
        """Draw a ring around the mouse, or not."""
        self.has_halo = on

    def freeze(self) -> None:
        """Keep the picture as it is, whatever is shown."""
        if self._kept is None:
            picture = self.grab()
            self._kept = QLabel(self)
            self._kept.setPixmap(picture)
            self._kept.setGeometry(self.rect())
            self._kept.show()

    def thaw(self) -> None:
        """Show what is shown again."""
        if self._kept is not None:
            self._kept.hide()
            self._kept.deleteLater()
            self._kept = None

    @property
    def is_frozen(self) -> bool:
        """Is an earlier picture kept?"""
        return self._kept is not None

    def _dress(self) -> None:
        theme = self._look.theme
        colours = QPalette()
        colours.setColor(QPalette.ColorRole.Window, QColor(theme.ground))
        self.setPalette(colours)
        for each in (self._text, self._below):
            font = theme.font("title", weight=600)
            each.setFont(font)
            each.setStyleSheet(f"color: {theme.ink}; font-size: {theme.px('title')}px")
