"""Fills the column beside the plots: status, settings, result and comparison."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from textwrap import shorten
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer

from app.loaded_run import LoadedRun
from app.report import problem_text, without
from app.runs.run_notes import RunNotes
from app.runs.selection import expected_s
from app.window.core.listing import Listing
from app.window.core.target import EXPERIMENTS
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.page_model import PageModel
from app.window.experiment.status_text import (
    State,
    StatusText,
    after,
    before,
    details_of,
    during,
    elsewhere,
    playing,
    result_of,
)
from experiments.core.declare import Experiment
from experiments.core.parameters import from_json, to_json
from experiments.core.problems import Problem, UserError
from experiments.core.units import DURATION, show
from widgets.controls.basics import button
from widgets.experiment.action_button import ActionButton
from widgets.experiment.result import Further, Result
from widgets.experiment.side_column import SideColumn, Tab
from widgets.form.form import ParamsForm

NOTE_LETTERS = 200
HIDDEN_MS = 150  # a result that nobody sees waits for what is seen


class SideController(QObject):
    """Fills the side column, and holds the settings of the form."""

    def __init__(self, model: PageModel, actions: ExperimentActions) -> None:
        super().__init__()
        self._model, self._actions, session = model, actions, model.session
        self.run_button = ActionButton(actions.run, "main")
        self._stop_button = ActionButton(actions.stop, "stop", hint="Esc")
        self._quick_button = ActionButton(actions.quick)
        self._live_button = ActionButton(actions.live)
        self.doctor_button = button(
            session.words.say("doctor.page.why"), clicked=session.asked_for_doctor.emit
        )
        buttons = (
            self.doctor_button,
            ActionButton(actions.beside),
            self.run_button,
            ActionButton(actions.recording),
            ActionButton(actions.go_there),
            self._stop_button,
            ActionButton(actions.copy_result),
            ActionButton(actions.report, hint="", short=session.words.say("report.short")),
            self._quick_button,
            ActionButton(actions.replay),
            self._live_button,
        )
        self.column = SideColumn(session.words, session.look, buttons)
        self.column.result.experiment_wanted.connect(
            lambda wanted: session.go(EXPERIMENTS, experiment=wanted)
        )
        self.column.result.setting_wanted.connect(self.use_settings)
        self.wanted_tab: Tab | None = None  # is shown once, as soon as it is offered
        self._form: ParamsForm | None = None
        self._form_shows: object = None
        self._params: dict[str, Any] = {}  # by experiment, as the form was left
        self._refused: Problem | None = None
        self.told: Problem | None = None  # the trouble that is shown now
        # A long result takes as long to build as the rest of the page: it gets a turn of its own.
        self._result_soon = QTimer(self.column, interval=0, singleShot=True)
        self._result_soon.timeout.connect(self.show_result)

    def show_experiment(self, experiment: Experiment[Any]) -> None:
        """Build the form of an experiment."""
        self._form_shows = None
        self._form = ParamsForm(experiment, self._model.words, self._model.session.look)
        self._form.changed.connect(self._take_params)
        self.column.set_form(self._form)

    def params(self) -> Any:
        """Return the settings of the form. Raises UserError where they are invalid."""
        assert self._form is not None
        assert self._model.experiment is not None
        params = self._form.params()
        self._params[self._model.experiment.id] = params
        return params

    def reset(self) -> None:
        """Go back to the settings that suit this machine."""
        if self._form is not None:
            self._form.reset()

    def use_settings(self, changed: Mapping[str, Any]) -> None:
        """Change settings in the form, and focus Run; what the form refuses is said."""
        experiment, entry, form = self._model.experiment, self._model.entry, self._form
        if experiment is None or entry is None or form is None:
            return
        try:
            params = {**to_json(self.params()), **changed}
            form.show_params(
                from_json(experiment.params, params), entry.choices, start=entry.params
            )
        except UserError as trouble:
            self.refuse(trouble.problem)
            return
        self._take_params()
        self.column.choose(Tab.SETTINGS)
        self.run_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def refuse(self, problem: Problem | None) -> None:
        """Say why a request cannot be met; None takes that back."""
        self._refused = problem
        self._show_trouble()

    def focus(self) -> bool:
        """Focus the button one would press next; False while there is none."""
        buttons = (self.run_button, self._stop_button, self._live_button, self.doctor_button)
        for each in buttons:
            if each.isEnabled() and not each.isHidden():
                each.setFocus()
                return True
        return False

    def refresh(self) -> None:
        """Refresh after any change of state."""
        self._show_params()
        self.show_status()
        self._show_trouble()
        self._result_soon.start(0 if self.column.isVisible() else HIDDEN_MS)

    def show_status(self) -> None:
        """Refresh the status."""
        self.column.state.show_state(**asdict(self._status()))
        is_kept_away = self._model.state is State.CANNOT or self._model.is_stand_in
        self.doctor_button.setVisible(is_kept_away and self._model.lacks_gpu)

    def show_result(self) -> None:
        """Offer result, settings and comparison, if they are there."""
        words, model, run_state = self._model.words, self._model, self._model.run_state
        tabs: list[Tab] = []
        self.column.show_comparison(model.comparing.found)
        if model.comparing.is_on:
            tabs.append(Tab.COMPARISON)
        if run_state is not None and run_state.finished is not None:
            result = result_of(words, self._model.report(), run_state)
            further = self._further(run_state.experiment)
            self.column.show_result(replace(result, further=further))
            if result != Result():
                tabs.append(Tab.RESULT)
        may_run = model.state not in (State.READING, State.CANNOT)  # else nothing is to be set
        if self._form_shows is not None and may_run:
            tabs.append(Tab.SETTINGS)
        self.column.offer(tabs)
        if self.wanted_tab in tabs:
            self.column.choose(self.wanted_tab)
            self.wanted_tab = None

    def _further(self, experiment: Experiment[Any]) -> Further:
        """Return what to do next; no settings where they cannot be changed here and now."""
        next_, say = experiment.next, self._model.words.say
        if next_ is None:
            return Further()
        run_state = self._model.run_state
        started = run_state.started if run_state is not None else None
        changes = next_.changes(started.params) if started is not None else {}
        own, question = f"{experiment.id}.next.experiment", f"{next_.experiment}.question"
        can_set = changes and self._model.can_run and not self._is_fixed()
        return Further(
            setting_text=say(f"{experiment.id}.next.setting") if can_set else "",
            setting=changes,
            experiment_text=say(own if self._model.words.has(own) else question),
            experiment=next_.experiment,
        )

    def _status(self) -> StatusText:
        words, model, state = self._model.words, self._model, self._model.state
        loaded, entry, under_way = model.loaded, model.entry, model.under_way
        if model.experiment is None and state is not State.READING:
            return StatusText()
        if state is State.ELSEWHERE and under_way is None:
            say = words.say
            return StatusText(title=say("checkup_page.runs_now"), detail=say("page.runs_one"))
        if state is State.ELSEWHERE and under_way is not None:
            return elsewhere(words, under_way, same=under_way.experiment is model.experiment)
        if loaded is None or state is State.READING:
            need = entry.need if entry is not None else None
            return before(words, state, self._seconds(), need, self._without())
        if state.is_under_way:
            return during(words, state, loaded.run_state, model.activity.text)
        run_state, notes = model.run_state, self._notes(loaded)
        if run_state is None or run_state.finished is None:
            left_out_s = model.player.left_out_s if model.player is not None else 0.0
            why = model.why_recorded
            return playing(words, loaded, model.activity.text, notes.name, left_out_s, why)
        names = (model.comparing.letter(loaded), notes.name)
        told = after(words, loaded, self._model.report(), self._changed(loaded), names)
        if why := model.why_recorded:
            told = replace(told, detail="\n".join(filter(None, (why, told.detail))))
        if note := shorten(notes.note, NOTE_LETTERS, placeholder=" …"):
            detail = "\n".join(filter(None, (told.detail, words.say("page.note", {"note": note}))))
            told = replace(told, detail=detail)
        return told

    def _without(self) -> str:
        experiment, machine = self._model.experiment, self._model.session.machine
        if experiment is None or machine is None:
            return ""
        return without(self._model.words, experiment, machine.os.kind)

    def _changed(self, loaded: LoadedRun) -> Iterator[str]:
        """Yield the settings of a run that differ from the defaults here."""
        session, started = self._model.session, loaded.run_state.started
        if started is not None:
            listing = Listing(session.words, session.catalogue, session.entries)
            yield from listing.changed(started.experiment, started.params, quick=started.quick)

    def _notes(self, loaded: LoadedRun) -> RunNotes:
        """Return what a person noted about a run."""
        kept = (run.run_notes for run in self._model.session.runs if run.run == loaded.run)
        return next(kept, RunNotes())

    def _seconds(self) -> float | None:
        """Return how long a run would take, and show it on the buttons."""
        entry, experiment = self._model.entry, self._model.experiment
        if entry is None or experiment is None:
            return None
        params = self._wanted(experiment)
        quick_s = self._expected_s(experiment, experiment.reduced(params), quick=True)
        values = {"duration": quick_s}
        self._quick_button.set_hint(self._model.words.say("page.seconds", values))
        full_s = self._expected_s(experiment, params)
        key = self._actions.run.shortcut().toString()
        again = self._model.words.say("page.key_and_seconds", {"key": key, "duration": full_s})
        loaded = self._model.loaded
        if loaded is not None and loaded.is_opened:  # longer words leave no room for the key
            again = show(full_s, DURATION)
        self.run_button.set_hint(again if self._model.state is State.ENDED else None)
        return full_s

    def _expected_s(
        self, experiment: Experiment[Any], params: object, *, quick: bool = False
    ) -> float:
        """Return how long such a run should take, judging by earlier runs here."""
        session = self._model.session
        return expected_s(session.runs, session.machine, experiment, params, quick=quick)

    def _show_params(self) -> None:
        """Show the settings of the shown run in the form, else the defaults."""
        experiment, form, entry = self._model.experiment, self._form, self._model.entry
        if experiment is None or form is None:
            return
        self._seconds()
        form.set_enabled_for_run(not self._is_fixed())
        wanted = self._wanted(experiment)
        if wanted is not None and (wanted, entry is not None) != self._form_shows:
            self._form_shows = (wanted, entry is not None)
            choices = entry.choices if entry is not None else {}
            form.show_params(wanted, choices, start=entry.params if entry is not None else None)

    def _is_fixed(self) -> bool:
        """Does the form show the settings of a run, to be read only?"""
        state, loaded = self._model.state, self._model.loaded
        is_opened = loaded is not None and loaded.is_opened
        return state.is_under_way or state is State.PLAYING or is_opened

    def _wanted(self, experiment: Experiment[Any]) -> Any:
        loaded, entry = self._model.loaded, self._model.entry
        started = loaded.run_state.started if loaded is not None else None
        kept = self._params.get(experiment.id)
        if started is not None and (self._is_fixed() or (kept is None and not started.quick)):
            with contextlib.suppress(UserError):  # of another version: use today's defaults
                return from_json(experiment.params, started.params, check_choices=False)
        return kept or (entry.params if entry is not None else None)

    def _take_params(self) -> None:
        """Remember the settings, and show how long a run would take with them."""
        with contextlib.suppress(UserError):  # the form says it beside the invalid setting
            self._form_shows = (self.params(), self._model.entry is not None)
        self._seconds()
        self.show_status()

    def _show_trouble(self) -> None:
        """Show trouble once, until the next action."""
        problem = self._refused or self._trouble_of_own() or self._trouble_of_run()
        if problem == self.told:
            return
        self.told = problem
        if problem is None:
            self.column.trouble.clear()
            return
        steps = []
        if self._refused is None and self._model.can_run:
            words = self._model.words.say("page.try_smaller")
            steps = [(words, self._actions.quick.trigger)]
        experiment = self._model.experiment
        text = problem_text(self._model.words, problem, experiment.id if experiment else "")
        self.column.trouble.tell(text, actions=steps, detail=problem.detail)

    def _trouble_of_own(self) -> Problem | None:
        """Return what has become wrong with an experiment of the user's own since it was shown."""
        experiment, catalogue = self._model.experiment, self._model.session.catalogue
        if experiment is None or experiment.id not in catalogue.own:
            return None
        return catalogue.refused.get(experiment.id)

    def _trouble_of_run(self) -> Problem | None:
        loaded = self._model.loaded
        finished = loaded.run_state.finished if loaded is not None else None
        if loaded is None or finished is None or self._model.state is not State.ENDED:
            return None
        if finished.problem is not None:
            detail = details_of(loaded.run_state, finished)
            return Problem(finished.problem.key, finished.problem.values, detail)
        runner = self._model.session.runner
        return runner.not_kept if loaded.run_state is runner.run_state else None
