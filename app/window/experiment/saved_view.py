"""Keeps how the page of a run was left in the notes of that run, and shows it so again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from app.runs.run_notes import LeftAs
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.page_model import PageModel
from app.window.experiment.side_controller import SideController
from app.window.experiment.status_text import State
from widgets.experiment.side_column import Tab
from widgets.experiment.views_panel import ViewsPanel


class PageLeft:
    """Lesson or numbers is a setting of the window, so a run remembers only code and data."""

    def __init__(
        self, model: PageModel, actions: ExperimentActions, side: SideController, views: ViewsPanel
    ) -> None:
        self._model, self._side, self._views = model, side, views
        self._sides = {"code": actions.code, "data": actions.data}

    def keep(self) -> None:
        """Write down how the shown run is left, if that has changed."""
        model = self._model
        shown = model.loaded.run if model.loaded is not None else None
        kept = next((each for each in model.session.runs if each.run == shown), None)
        if kept is None or model.state is not State.ENDED:
            return
        left = self._left()
        if left != kept.run_notes.left_as:
            session = model.session
            session.background.do(partial(session.library.note, kept, left_as=left))
            session.refresh_runs()

    def restore(self, path: Path) -> None:
        """Show the run in `path`, which was opened, as it was left."""
        kept = next((run for run in self._model.session.runs if run.path == path), None)
        left = kept.run_notes.left_as if kept is not None else None
        if left is None:
            return
        if left.side in self._sides:
            self._sides[left.side].setChecked(True)
        self._side.wanted_tab = next((tab for tab in Tab if tab.name.lower() == left.tab), None)
        self._views.bring(left.view)

    def _left(self) -> LeftAs | None:
        """Return how the page is now; None if it is as every run begins."""
        side = next((name for name, action in self._sides.items() if action.isChecked()), "")
        tab, views = self._side.column.tab, self._views
        is_other = tab is not None and tab not in (Tab.RESULT, Tab.COMPARISON)
        left = LeftAs(
            side=side,
            tab=tab.name.lower() if tab is not None and is_other else "",
            view=list(views.keyed_plots())[views.place] if views.place else "",
        )
        return left if left != LeftAs() else None
