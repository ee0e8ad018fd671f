"""Key numbers and their marks: pointing at one lights the other."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from app.window.experiment.page_model import PageModel
from experiments.core.declare import Key
from experiments.core.teaching.lesson_run import Spot
from widgets.experiment.verdict import VerdictBlock
from widgets.experiment.views_panel import ViewsPanel

NEAR = 1.02  # times: a place on the x axis that is this near is the same


class KeyMarks(QObject):
    """Joins the cards of the verdict that is seen with the plots of the page."""

    def __init__(self, model: PageModel, views: ViewsPanel) -> None:
        super().__init__()
        self._model, self._views = model, views
        self._verdict: VerdictBlock | None = None
        views.plots_made.connect(self._follow)

    def join(self, verdict: VerdictBlock | None) -> None:
        """Join another verdict, or none, in place of the previous."""
        if verdict is self._verdict:
            return
        if self._verdict is not None:
            self._verdict.key_pointed.disconnect(self._light_mark)
        self._verdict = verdict
        if verdict is not None:
            verdict.key_pointed.connect(self._light_mark)

    def _follow(self) -> None:
        for key, plot in self._views.keyed_plots().items():
            plot.pointed.connect(partial(self._light_card, key))

    def _light_mark(self, key: Key | None) -> None:
        for view, plot in self._views.keyed_plots().items():
            plot.light(self._spot(key) if key is not None and view == key.view else None)

    def _light_card(self, view: str, name: str, x: float) -> None:
        if self._verdict is None:
            return
        experiment = self._model.experiment
        keys = experiment.keys if experiment is not None else ()
        lit = (key.value for key in keys if key.view == view and self._is_at(key, name, x))
        self._verdict.light_key(next(lit, ""))

    def _is_at(self, key: Key, name: str, x: float) -> bool:
        if key.names and name not in key.names:
            return False
        at = self._model.values.get(key.at)
        return bool(key.names) if at is None else at / NEAR <= x <= at * NEAR

    def _spot(self, key: Key) -> Spot:
        at = self._model.values.get(key.at)
        return Spot(
            names=key.names,
            low=None if at is None else at / NEAR,
            high=None if at is None else at * NEAR,
        )
