"""How do the pictures, rows and code of an experiment get out of the window?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from app.report import conditions, settings
from app.source import sources
from app.window.core.saving import Saving
from app.window.core.session import Session
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.comparing import Comparing
from app.window.experiment.page_model import PageModel
from experiments.core.declare import Experiment
from experiments.core.tables import to_csv
from experiments.engine.run_state import RunState
from widgets.experiment.data_side import DataSide
from widgets.experiment.main_panel import MainPanel


class Output(QObject):
    """Connects what is asked for in the panel and by actions with the files."""

    def __init__(
        self,
        session: Session,
        model: PageModel,
        comparing: Comparing,
        panel: MainPanel,
        actions: ExperimentActions,
        saving: Saving,
    ) -> None:
        super().__init__()
        self._session, self._model, self._panel = session, model, panel
        self._comparing, self._saving, self._actions = comparing, saving, actions
        self._data: DataSide | None = None
        self._experiment: Experiment[Any] | None = None
        self._has_code = False
        panel.code.save_wanted.connect(saving.save_text)
        panel.views.save_wanted.connect(self._save_plot)
        for action, act in (
            (actions.copy_picture, self._copy_picture),
            (actions.copy_svg, self._copy_svg),
            (actions.save_picture, self._save_picture),
            (actions.save_csv, lambda: self._save_table(self._table())),
        ):
            action.triggered.connect(lambda _checked=False, act=act: act())

    def show_experiment(self, experiment: Experiment[Any]) -> None:
        """Be ready for the data of another experiment."""
        self._data = None
        self._experiment, self._has_code = experiment, False
        self._panel.code.show_sources(())

    def show_code(self) -> None:
        """Read the code, if that has not been done for this experiment."""
        experiment = self._experiment
        if experiment is None or self._has_code:
            return
        self._has_code = True

        def take(found: Sequence[tuple[str, str]]) -> None:
            if experiment is self._experiment:
                self._panel.code.show_sources(found)

        self._session.background.do_soon(partial(sources, experiment), take)

    def data_side(self, run_state: RunState) -> DataSide:
        """Return the rows of a run, to be looked at."""
        if self._data is None:
            words, look = self._session.words, self._session.look
            self._data = DataSide(run_state.experiment, words, look)
            self._data.csv_wanted.connect(self._save_table)
        self._data.show_run(run_state.tables, self._facts(run_state), self._whose())
        return self._data

    def _whose(self) -> str:
        """Return which of two compared runs has these rows."""
        loaded = self._model.loaded
        letter = self._comparing.letter(loaded) if loaded is not None else ""
        return self._session.words.say("page.rows_of", {"letter": letter}) if letter else ""

    def _facts(self, run_state: RunState) -> list[tuple[str, str]]:
        """Return what a run was started with, and where."""
        words, started = self._session.words, run_state.started
        if started is None:
            return []
        told = settings(words, run_state.experiment, started.params)
        return [*((called, value) for _, called, value in told), *conditions(words, started)]

    def refresh(self) -> None:
        """Show rows that have come since; meant for once a second."""
        if self._data is not None and self._data.isVisible():
            self._data.refresh()

    def name_shown(self) -> None:
        """Let the actions say what they would copy and save."""
        plot = self._panel.views.plot_in_focus()
        if plot is not None:
            experiment, table = self._experiment, self._table()
            assert experiment is not None
            key = next(view.key for view in experiment.views if view.table == table)
            title = self._session.words.say(f"{experiment.id}.views.{key}")
            self._actions.name_shown(plot.accessibleName(), title)

    def _table(self) -> str:
        """Return the table that is seen, or that the plot is of that was looked at last."""
        if self._data is not None and self._data.isVisible():
            return self._data.table
        assert self._experiment is not None
        return self._experiment.plots[self._panel.views.place].table

    def _save_table(self, table: str) -> None:
        run_state = self._model.run_state
        if run_state is not None and table:
            if not run_state.tables[table]:
                self._session.tell(self._session.words.say("plot.empty"))
                return
            text = to_csv(run_state.tables[table], run_state.experiment.tables[table])
            self._saving.save_text(f"{run_state.experiment.id}-{table}.csv", text)

    def _save_plot(self, plot: Any, suffix: str) -> None:
        run_state = self._model.run_state
        if run_state is not None:
            self._saving.save(f"{run_state.experiment.id}{suffix}", plot.save)

    def _save_picture(self) -> None:
        plot = self._panel.views.plot_in_focus()
        if plot is not None:
            self._save_plot(plot, ".png")

    def _copy_picture(self) -> None:
        plot = self._panel.views.plot_in_focus()
        if plot is not None:
            plot.copy_picture()
            self._session.tell(self._session.words.say("page.copied"))

    def _copy_svg(self) -> None:
        plot = self._panel.views.plot_in_focus()
        if plot is not None:
            plot.copy_svg()
            self._session.tell(self._session.words.say("page.copied"))
