"""What stands beside the plots? What is going on in words, the settings, and the result."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from PySide6.QtCore import QObject

from app.report import Report, report
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.comparing import Comparing
from app.window.experiment.loaded_run import Shown, expected_s, runs_here
from app.window.experiment.page_model import Showing
from app.window.experiment.status_text import (
    Standing,
    State,
    after,
    before,
    details_of,
    disturbances_of,
    during,
    elsewhere,
    notes_of,
    playing,
)
from app.window.runs.listing import Listing
from experiments.core.declare import Experiment, Need
from experiments.core.parameters import from_json
from experiments.core.problems import Problem, UserError
from experiments.core.units import DURATION, show
from widgets.controls.basics import button
from widgets.experiment.action_button import ActionButton
from widgets.experiment.side_column import SideColumn, Tab
from widgets.form.form import ParamsForm


class Side(QObject):
    """Fills the side column, and holds what is set in the form."""

    def __init__(
        self, session: Session, showing: Showing, comparing: Comparing, actions: ExperimentActions
    ) -> None:
        super().__init__()
        self._session, self._showing, self._comparing = session, showing, comparing
        self._actions = actions
        self.run_button = ActionButton(actions.run, "main")
        self._stop_button = ActionButton(actions.stop, "stop", hint="Esc")
        self._quick_button = ActionButton(actions.quick)
        self._live_button = ActionButton(actions.live)
        self.doctor_button = button(
            session.words.say("doctor.page.why"), clicked=session.asked_for_doctor.emit
        )
        buttons = (
            self.doctor_button,
            self.run_button,
            ActionButton(actions.go_there),
            self._stop_button,
            self._quick_button,
            ActionButton(actions.replay),
            ActionButton(actions.recording),
            self._live_button,
        )
        self.column = SideColumn(session.words, session.look, buttons)
        self.column.result.experiment_wanted.connect(
            lambda wanted: session.go(EXPERIMENTS, experiment=wanted)
        )
        self._form: ParamsForm | None = None
        self._form_shows: object = None
        self._experiment: Experiment[Any] | None = None
        self._params: dict[str, Any] = {}  # as they were left, by experiment
        self._refused: Problem | None = None
        self.told: Problem | None = None  # what went wrong, as it stands there now

    def show_experiment(self, experiment: Experiment[Any]) -> None:
        """Make the form of an experiment."""
        self._experiment, self._form_shows = experiment, None
        self._form = ParamsForm(experiment, self._session.words, self._session.look)
        self._form.changed.connect(self._take_params)
        self.column.set_form(self._form)

    def params(self) -> Any:
        """Return what a run is to start with. Raises UserError where that cannot be."""
        assert self._form is not None
        assert self._experiment is not None
        params = self._form.params()
        self._params[self._experiment.id] = params
        return params

    def reset(self) -> None:
        """Go back to the settings that suit this machine."""
        if self._form is not None:
            self._form.reset()

    def refuse(self, problem: Problem | None) -> None:
        """Say why something that was asked for cannot be; None when that is over."""
        self._refused = problem
        self._show_trouble()

    def focus(self) -> bool:
        """Give the keyboard to what one would press next; False while there is no such thing."""
        buttons = (self.run_button, self._stop_button, self._live_button, self.doctor_button)
        for each in buttons:
            if each.isEnabled() and not each.isHidden():
                each.setFocus()
                return True
        return False

    def refresh(self) -> None:
        """Show what is the case now."""
        self._show_params()
        self.show_standing()
        self.show_result()
        self._show_trouble()

    def show_standing(self) -> None:
        """Say what is going on."""
        self.column.state.show_state(**asdict(self._standing()))
        entry, is_kept_away = self._showing.entry, self._showing.state is State.CANNOT
        lacks_gpu = entry is not None and entry.need in (Need.GPU, Need.TWO_GPUS)
        self.doctor_button.setVisible(is_kept_away and lacks_gpu)

    def show_result(self) -> None:
        """Offer result, settings and comparison, as far as they are there."""
        words, showing, shown = self._session.words, self._showing, self._showing.shown
        following = showing.following
        tabs: list[Tab] = []
        self.column.show_comparison(self._comparing.found)
        if self._comparing.is_on:
            tabs.append(Tab.COMPARISON)
        if shown is not None and following is not None and following.finished is not None:
            told = self.report()
            lead = told.finding if told.ending else ""
            remarks, notes = (*disturbances_of(words, shown), *told.remarks), notes_of(words, shown)
            if told.values:
                notes += (
                    words.say(
                        "page.measured_so",
                        {"method": words.say(f"{following.experiment.id}.method")},
                    ),
                )
            self.column.show_result(told.values, remarks, notes, lead)
            if told.values or remarks or notes:
                tabs.append(Tab.RESULT)
        if self._form_shows is not None and showing.state is not State.READING:
            tabs.append(Tab.SETTINGS)
        self.column.offer(tabs)

    def report(self) -> Report:
        """Return the shown run, which has ended, in words."""
        following = self._showing.following
        assert following is not None
        assert following.finished is not None
        return report(
            self._session.words,
            following.experiment,
            following.finished,
            rows=following.rows,
            quick=following.started is not None and following.started.quick,
        )

    def _standing(self) -> Standing:
        words, showing, state = self._session.words, self._showing, self._showing.state
        shown, entry, under_way = showing.shown, showing.entry, showing.under_way
        if self._experiment is None and state is not State.READING:
            return Standing()
        if state is State.ELSEWHERE and under_way is not None:
            return elsewhere(words, under_way, same=under_way.experiment is self._experiment)
        if shown is None or state is State.READING:
            need = entry.need if entry is not None else None
            return before(words, state, self._seconds(), need)
        if state.is_under_way:
            return during(words, state, shown.following, showing.doing.said)
        following = showing.following
        if following is None or following.finished is None:
            left_out_s = showing.player.left_out_s if showing.player is not None else 0.0
            return playing(words, shown, showing.doing.said, self._name(shown), left_out_s)
        names = (self._comparing.letter(shown), self._name(shown))
        return after(words, shown, self.report(), self._changed(shown), names)

    def _changed(self, shown: Shown) -> Iterator[str]:
        """Yield the settings of a run that are not those which one here starts from."""
        session, started = self._session, shown.following.started
        if started is not None:
            listing = Listing(session.words, session.catalogue, session.entries)
            yield from listing.changed(started.experiment, started.params, quick=started.quick)

    def _name(self, shown: Shown) -> str:
        kept = (run.meta.name for run in self._session.runs if run.run == shown.run)
        return next(kept, "")

    def _seconds(self) -> float | None:
        """Return how long a run would take, and say it at the buttons."""
        entry, experiment = self._showing.entry, self._experiment
        if entry is None or experiment is None:
            return None
        params = self._wanted(experiment)
        quick_s = self._expected_s(experiment, experiment.quick(params), quick=True)
        values = {"duration": quick_s}
        self._quick_button.set_hint(self._session.words.say("page.seconds", values))
        full_s = self._expected_s(experiment, params)
        key = self._actions.run.shortcut().toString()
        again = self._session.words.say("page.key_and_seconds", {"key": key, "duration": full_s})
        shown = self._showing.shown
        if shown is not None and shown.is_opened:  # longer words leave no room for the key
            again = show(full_s, DURATION)
        self.run_button.set_hint(again if self._showing.state is State.ENDED else None)
        return full_s

    def _expected_s(
        self, experiment: Experiment[Any], params: object, *, quick: bool = False
    ) -> float:
        """Return how long such a run should take, by those that were made here."""
        runs, machine = self._session.runs, self._session.machine
        here = runs_here(runs, experiment.id, machine) if machine is not None else ()
        return expected_s(here, experiment, params, quick=quick)

    def _show_params(self) -> None:
        """Show in the form what the shown run was made with, else what one would start from."""
        experiment, form, entry = self._experiment, self._form, self._showing.entry
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
        """Are the settings those of the shown run, which can only be read?"""
        state, shown = self._showing.state, self._showing.shown
        is_opened = shown is not None and shown.is_opened
        return state.is_under_way or state is State.PLAYING or is_opened

    def _wanted(self, experiment: Experiment[Any]) -> Any:
        shown, entry = self._showing.shown, self._showing.entry
        started = shown.following.started if shown is not None else None
        kept = self._params.get(experiment.id)
        if started is not None and (self._is_fixed() or (kept is None and not started.quick)):
            with contextlib.suppress(UserError):  # of another version: start from today's
                return from_json(experiment.params, started.params, check_choices=False)
        return kept or (entry.params if entry is not None else None)

    def _take_params(self) -> None:
        """Remember what was turned, and say how long a run would take with it."""
        with contextlib.suppress(UserError):  # said in the form, at what cannot be
            self._form_shows = (self.params(), self._showing.entry is not None)
        self._seconds()
        self.show_standing()

    def _show_trouble(self) -> None:
        """Say what went wrong, once, until something else is done."""
        problem = self._refused or self._trouble_of_run()
        if problem == self.told:
            return
        self.told = problem
        if problem is None:
            self.column.trouble.clear()
            return
        steps = []
        if self._refused is None and self._showing.can_run:
            words = self._session.words.say("page.try_smaller")
            steps = [(words, self._actions.quick.trigger)]
        self.column.trouble.tell(self._session.say(problem), actions=steps, detail=problem.detail)

    def _trouble_of_run(self) -> Problem | None:
        shown = self._showing.shown
        finished = shown.following.finished if shown is not None else None
        if shown is None or finished is None or self._showing.state is not State.ENDED:
            return None
        if finished.problem is not None:
            detail = details_of(shown.following, finished)
            return Problem(finished.problem.key, finished.problem.values, detail)
        runner = self._session.runner
        return runner.not_kept if shown.following is runner.following else None
