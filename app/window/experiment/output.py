"""Copies and saves the pictures, rows and code of the shown experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.notebook import notebook
from app.report import conditions, processor, settings
from app.source import script, sources
from app.window.core.saving import Saving
from app.window.experiment.page_model import PageModel
from experiments.core.measured_loop import MeasuredLoop, measured_loop
from experiments.core.parameters import to_kept_json
from experiments.core.tables import csv_name, to_csv
from experiments.engine import messages
from experiments.engine.run_state import RunState
from widgets.experiment.data_side import DataSide
from widgets.experiment.main_panel import MainPanel


class Output(QObject):
    """Serves the main panel: fills its code and data, and writes what is asked for."""

    def __init__(self, model: PageModel, panel: MainPanel) -> None:
        super().__init__()
        self._model, self._panel = model, panel
        self.saving = Saving(model.session, panel)
        self._data: DataSide | None = None
        self._has_code = False
        panel.code.copy_wanted.connect(
            lambda: self._make_script(lambda _name, text: self.saving.copy_text(text))
        )
        panel.code.save_wanted.connect(lambda: self._make_script(self.saving.save_text))
        panel.code.notebook_wanted.connect(self.save_notebook)
        panel.views.save_wanted.connect(self._save_plot)

    def forget(self) -> None:
        """Drop the code and data of the experiment before."""
        self._data, self._has_code = None, False
        self._panel.code.show_sources(())

    def show_code(self) -> None:
        """Read the code, once for each experiment; say what ran in it."""
        experiment = self._model.experiment
        if experiment is None:
            return
        self._panel.code.show_ran(self._ran())
        if self._has_code:
            return
        self._has_code = True

        def read() -> tuple[Sequence[tuple[str, str]], MeasuredLoop | None]:
            files = sources(experiment)
            return files, measured_loop(experiment.loop, files)

        def take(found: tuple[Sequence[tuple[str, str]], MeasuredLoop | None]) -> None:
            if experiment is self._model.experiment:
                self._panel.code.show_sources(*found)
                self._panel.code.show_ran(self._ran())

        self._model.session.background.do_soon(read, take)

    def _ran(self) -> str:
        """Return the settings of the shown run in a sentence, "" where there is none."""
        started, experiment, words = self._started(), self._model.experiment, self._model.words
        if started is None or experiment is None:
            return ""
        listed = ", ".join(map(" ".join, settings(words, experiment, started.params)))
        return words.say("page.loop_ran", {"settings": listed}) if listed else ""

    def _make_script(self, use: Callable[[str, str], object]) -> None:
        """Make a script of the experiment in the background, and use its name and text."""
        if (experiment := self._model.experiment) is not None:
            question = self._model.words.say(f"{experiment.id}.question")
            make = partial(script, experiment, question)
            self._model.session.background.do_soon(make, lambda made: use(*made))

    def save_notebook(self) -> None:
        """Make a notebook of the experiment in the background, and ask where to save it."""
        if (experiment := self._model.experiment) is None:
            return
        head, params, started = self._notebook_head(), self._params(), self._started()
        quick = started is not None and started.quick
        make = partial(notebook, experiment, self._model.words, head, params, quick=quick)
        self._model.session.background.do_soon(make, lambda made: self.saving.save_text(*made))

    def _notebook_head(self) -> dict[str, str]:
        """Return the machine and the date of the shown run; without one those of here and now."""
        started, machine = self._started(), self._model.session.machine
        if started is not None:
            return {"machine": processor(started.machine) or "?", "at": started.at[:10]}
        known = machine.cpu.model if machine is not None else None
        return {"machine": known or "?", "at": datetime.now().astimezone().date().isoformat()}

    def _params(self) -> Mapping[str, Any]:
        """Return the parameters of the shown run; without one those that a run starts from."""
        if (started := self._started()) is not None:
            return started.params
        assert self._model.experiment is not None
        entry = self._model.session.entries.get(self._model.experiment.id)
        return to_kept_json(entry.params) if entry is not None else {}

    def _started(self) -> messages.Started | None:
        run_state = self._model.run_state
        return run_state.started if run_state is not None else None

    def data_side(self, run_state: RunState) -> DataSide:
        """Return the widget with the rows of a run."""
        if self._data is None:
            look = self._model.session.look
            self._data = DataSide(run_state.experiment, self._model.words, look)
            self._data.csv_wanted.connect(self._save_table)
        self._data.show_run(run_state.tables, self._facts(run_state), self._whose())
        return self._data

    def _whose(self) -> str:
        """Return which of two compared runs has these rows."""
        loaded = self._model.loaded
        letter = self._model.comparing.letter(loaded) if loaded is not None else ""
        return self._model.words.say("page.rows_of", {"letter": letter}) if letter else ""

    def _facts(self, run_state: RunState) -> list[tuple[str, str]]:
        """Return the settings and the conditions of a run."""
        words, started = self._model.words, run_state.started
        if started is None:
            return []
        told = settings(words, run_state.experiment, started.params)
        return [*told, *conditions(words, started)]

    def refresh(self) -> None:
        """Show new rows; meant for once a second."""
        if self._data is not None and self._data.isVisible():
            self._data.refresh()

    def names(self) -> tuple[str, str] | None:
        """Return what would be copied and saved now: the plot and the table, in words."""
        plot, experiment = self._panel.views.plot_in_focus(), self._model.experiment
        if plot is None or experiment is None:
            return None
        table = self._table()
        key = next(view.key for view in experiment.views if view.table == table)
        return plot.accessibleName(), self._model.words.say(f"{experiment.id}.views.{key}")

    def save_csv(self) -> None:
        """Save the rows of the table that is seen, or of the plot that was looked at last."""
        self._save_table(self._table())

    def save_picture(self) -> None:
        """Save the plot that was looked at last."""
        if (plot := self._panel.views.plot_in_focus()) is not None:
            self._save_plot(plot, ".png")

    def copy_picture(self) -> None:
        """Copy the plot that was looked at last."""
        if (plot := self._panel.views.plot_in_focus()) is not None:
            plot.copy_picture()
            self._tell("page.copied")

    def copy_result(self) -> None:
        """Copy the verdict and its cause with the headline plot below them."""
        plot = next((plot for plot in self._panel.views.plots if not plot.isHidden()), None)
        if plot is not None:
            told = self._model.report()
            picture = plot.picture(told.finding or told.ending, told.because)
            QGuiApplication.clipboard().setImage(picture)
            self._tell("page.copied")

    def report(self) -> None:
        """Show what a report of the shown run would contain, and offer to write it."""
        from app.window.core.reporting import open_run  # with all that writes reports

        if (path := self._model.path) is not None:
            open_run(self._model.session, self._panel, path)

    def worksheet(self) -> None:
        """Show the page to hand in that the shown run makes, and offer to write it."""
        from app.window.core.reporting import open_worksheet  # with all that writes reports

        if (path := self._model.path) is not None:
            open_worksheet(self._model.session, self._panel, path)

    def copy_svg(self) -> None:
        """Copy it as SVG."""
        if (plot := self._panel.views.plot_in_focus()) is not None:
            plot.copy_svg()
            self._tell("page.copied")

    def _table(self) -> str:
        if self._data is not None and self._data.isVisible():
            return self._data.table
        assert self._model.experiment is not None
        return self._model.experiment.plots[self._panel.views.place].table

    def _save_table(self, table: str) -> None:
        run_state = self._model.run_state
        if run_state is None or not table:
            return
        if not run_state.tables[table]:
            self._tell("plot.empty")
            return
        text = to_csv(run_state.tables[table], run_state.experiment.tables[table])
        self.saving.save_text(csv_name(run_state.experiment.id, table), text)

    def _save_plot(self, plot: Any, suffix: str) -> None:
        run_state = self._model.run_state
        if run_state is not None:
            self.saving.save(f"{run_state.experiment.id}{suffix}", plot.save)

    def _tell(self, key: str) -> None:
        self._model.session.tell(self._model.words.say(key))
