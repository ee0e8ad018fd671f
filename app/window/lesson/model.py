"""The lesson on an experiment's page: its step, the prediction, what stays covered. No widgets."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.evidence import Evidence, evidence_of, evidence_of_recording
from app.loaded_run import LoadedRun, band, lesson_run_of
from app.runs.library import Kept
from app.runs.selection import last_run, runs_here
from app.window.experiment.page_model import PageModel
from app.window.lesson.recorded import Recorded
from experiments.core.declare import Experiment
from experiments.core.problems import UserError
from experiments.core.teaching.lesson_run import Guess, LessonRun
from experiments.core.teaching.lessons import Predict, Taught
from widgets.lesson.steps import LESSON, WITHOUT, Step


class LessonModel(QObject):
    """Follows the model of the page; what was answered and reached lives as long as the window.

    A prediction is also written into the notes of the first run that it was made for.
    """

    changed = Signal()

    def __init__(self, page: PageModel) -> None:
        super().__init__()
        self._page, self._session = page, page.session
        self._lessons: dict[str, Taught | None] = {}
        self._answers: dict[str, Guess | None] = {}  # by experiment; None: skipped
        self._asked_again: set[str] = set()  # experiments whose earlier answers do not count
        self._owed: set[str] = set()  # experiments whose answer no run has in its notes
        self._observed: set[str] = set()
        self._reached: dict[str, set[int]] = {}
        self._experiment: Experiment[Any] | None = None
        self._seen: LoadedRun | None = None  # the run that the step was chosen for
        self._came_from: Step | None = None  # where the run under way was started
        self._before: tuple[tuple[object, ...], Kept | None] = ((None, None, None), None)
        self._read: tuple[object, LessonRun | None] = (None, None)
        self._found: tuple[tuple[object, ...], Evidence | None] = ((), None)
        self.recorded = Recorded(page.session)
        self.recorded.arrived.connect(self._take_recorded)
        self.step = Step.QUESTION
        page.is_covered = lambda: self.is_covered
        page.changed.connect(self._follow)
        page.comparing.changed.connect(self._take_exercise)
        self._session.runs_changed.connect(self._keep_answer)

    # --- what is known ------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        """Does the page teach, or show numbers only?"""
        return not self._session.settings.numbers

    @property
    def taught(self) -> Taught | None:
        """The lesson of the shown experiment; None where none is written, or nothing can be seen.

        A machine that lacks what it needs shows the recording; without a recording there is no
        question.
        """
        experiment = self._page.experiment
        if experiment is None or self._page.has_nothing_to_show:
            return None
        if experiment.id not in self._lessons:
            self._lessons[experiment.id] = self._load(experiment)
        return self._lessons[experiment.id]

    @property
    def is_answered(self) -> bool:
        """Is there a prediction here, or was it skipped?"""
        return self._id in self._answers or self._answered_before() is not None

    @property
    def guess(self) -> Guess | None:
        """The prediction for the shown run; None where it was skipped."""
        page = self._page
        if page.experiment is None or self.taught is None:
            return None
        if page.loaded is not None and page.loaded.is_opened and not self._is_instead:
            kept = (run for run in self._session.runs if run.run == page.loaded.run)
            guess = next((run.run_notes.guess for run in kept), None)
        elif page.experiment.id in self._answers:
            guess = self._answers[page.experiment.id]
        else:
            before = self._answered_before()
            guess = before.run_notes.guess if before is not None else None
        return guess if guess is not None and self.taught.accepts(guess) else None

    @property
    def _is_instead(self) -> bool:
        """Is the recording that comes along shown, which a guess is held against as well?"""
        path = self._page.loaded.path if self._page.loaded is not None else None
        return path is not None and path == self._page.recording

    @property
    def is_covered(self) -> bool:
        """Must an earlier result of this machine not be seen yet?"""
        return self.is_on and self.taught is not None and not self.is_answered

    @property
    def earlier_run(self) -> Kept | None:
        """The run of this machine that is covered, or would be shown."""
        experiment, session = self._page.experiment, self._session
        return last_run(session.runs, experiment.id, session.machine) if experiment else None

    @property
    def run(self) -> LessonRun | None:
        """The shown run as the lesson sees it; None unless it was completed."""
        loaded = self._page.loaded
        finished = loaded.run_state.finished if loaded is not None else None
        if loaded is None or finished is None or self._page.player is not None:
            return None
        if self._read[0] is not finished:
            here = self._session.machine if self._page.is_of_here else None
            self._read = (finished, lesson_run_of(loaded.run_state, here))
        return self._read[1]

    @property
    def evidence(self) -> Evidence | None:
        """The evidence for the shown run's explanation: its own numbers, else the recording's."""
        lesson, run, guess, experiment = self.taught, self.run, self.guess, self._page.experiment
        if lesson is None or run is None or experiment is None:
            return None
        asked = (run, guess)
        if [*map(id, asked)] != [*map(id, self._found[0])]:
            words, loaded = self._page.words, self._page.loaded
            if self._page.is_stand_in and loaded is not None:
                why = self._page.why_recorded
                found = evidence_of_recording(words, lesson, loaded, guess, why)
            else:
                read = partial(self.recorded.of, experiment)
                found = evidence_of(words, lesson, run, guess, read)
            self._found = (asked, found)
        return self._found[1]

    @property
    def is_explained_by_itself(self) -> bool:
        """Is there something to be seen in the shown run?"""
        evidence = self.evidence
        return evidence is not None and (not evidence.band or self._page.is_stand_in)

    @property
    def predict(self) -> Predict:
        """The question about this machine, or about that of the recording that will be played."""
        assert self.taught is not None
        recorded = self._played
        run = lesson_run_of(recorded.run_state) if recorded is not None else None
        return self.taught.predict_on(run.machine if run else self._session.machine)

    @property
    def instead(self) -> str:
        """Names the missing need, and the recording; "" where a run can be made."""
        recorded = self._played
        started = recorded.run_state.started if recorded is not None else None
        named = band(self._page.words, started) if started is not None else ""
        return "\n".join(filter(None, (self._page.why_recorded, named)))

    @property
    def _played(self) -> LoadedRun | None:
        """The recording that takes the place of a run here, once it was read."""
        experiment = self._page.experiment
        if experiment is None or not self._page.why_recorded:
            return None
        return self.recorded.of(experiment)

    @property
    def reached(self) -> Sequence[bool]:
        """For each goal, whether it was reached since the window was opened."""
        if (lesson := self.taught) is None:
            return ()
        reached = self._reached.get(self._id, set())
        return [place in reached for place in range(len(lesson.words.goals))]

    @property
    def has_observed(self) -> bool:
        """Was the question about the plot answered, or given up?"""
        return self._id in self._observed

    @property
    def _id(self) -> str:
        """The id of the shown experiment, "" without one."""
        return self._page.experiment.id if self._page.experiment is not None else ""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the shown experiment."""
        return WITHOUT if self.taught is None else LESSON

    @property
    def reachable(self) -> Set[Step]:
        """The steps that may be gone to now."""
        has_ended = self._page.run_state is not None and self._page.under_way is None
        has_ended = has_ended and self._page.player is None
        if self.taught is None:
            return {Step.QUESTION, Step.RUN} | ({Step.RESULT} if has_ended else set())
        found = {Step.QUESTION, Step.PREDICT}
        if not self.is_covered:
            found.add(Step.RUN)
        if has_ended and not self.is_covered:
            can_observe = self.is_explained_by_itself
            found |= {Step.OBSERVE} if can_observe else set()
            found |= {Step.EXPLAIN, Step.TRY} if self.has_observed or not can_observe else set()
        return found

    # --- what happens -------------------------------------------------------------------------

    def go(self, step: Step) -> None:
        """Go to a step, if it may be gone to."""
        if step in self.reachable and step is not self.step:
            self.step = step
            self.changed.emit()

    def answer(self, guess: Guess | None) -> None:
        """Take a prediction; None skips it."""
        if self._id and not self.is_answered:
            self._answers[self._id] = guess
            self._owed.add(self._id)

    def ask_again(self, experiment_id: str) -> None:
        """Ask for a prediction once more, whatever was answered before."""
        self._answers.pop(experiment_id, None)
        self._asked_again.add(experiment_id)
        self._observed.discard(experiment_id)
        self._experiment = self._seen = None  # so that it begins with the question

    def show_earlier(self) -> None:
        """Show the run that was covered; without one, wait for a run."""
        self.step = Step.RUN
        self._page.show_own()
        self.changed.emit()

    def observe(self) -> None:
        """Take note that the question about the plot is done."""
        if self._id:
            self._observed.add(self._id)
            self.changed.emit()

    def turn(self) -> None:
        """Follow the setting: a lesson covers again what has no prediction."""
        self._experiment = self._seen = None
        if self._page.player is None and not _is_opened(self._page.loaded):
            self._page.show_own()
        self._follow()

    def _follow(self) -> None:
        """Choose the step when another run is shown, or its state changes."""
        page = self._page
        if page.experiment is not self._experiment:
            self._experiment, self._seen, self._came_from = page.experiment, None, None
            self.step = Step.QUESTION if self.is_covered or page.loaded is None else Step.RUN
        if page.state.is_under_way or page.player is not None:
            if self.is_on and (page.state.is_under_way or page.is_stand_in):
                self.answer(None)  # who starts without a prediction skips it
            if self.step is not Step.RUN:
                self._came_from, self.step = self.step, Step.RUN
            self._seen = None
        elif page.loaded is not None and page.loaded is not self._seen:
            self._seen = page.loaded
            self._take_goals()
            self.step = self._step_after()
            self._came_from = None
            self._keep_answer()
        elif page.loaded is None and self.step not in self.reachable:
            self.step = Step.RUN if Step.RUN in self.reachable else Step.QUESTION
        self.changed.emit()

    def _step_after(self) -> Step:
        """Return the step at which a run that has ended is shown."""
        if self.taught is None:
            return Step.RESULT
        if self._came_from is Step.TRY:
            return Step.TRY
        if self.evidence is None:
            return Step.RUN
        is_new = self._page.loaded is not None and self._page.loaded.recording is None
        is_to_look_at = (is_new or self._page.is_stand_in) and not self.has_observed
        if is_to_look_at and self.is_explained_by_itself:
            return Step.OBSERVE
        if self.is_explained_by_itself:
            self._observed.add(self._id)
        return Step.EXPLAIN

    def _take_recorded(self, experiment_id: str) -> None:
        """Name the recording that will play, or explain with it what could not be explained."""
        if experiment_id == self._id and self._page.why_recorded:
            self.changed.emit()
        if experiment_id != self._id or self.run is None or self.is_explained_by_itself:
            return
        self._found = ((), None)
        if self.step is Step.RUN:
            self._seen = None
            self._follow()
        elif self.step is Step.EXPLAIN:
            self.changed.emit()

    def _take_goals(self) -> None:
        lesson, run = self.taught, self.run
        if lesson is None or run is None or _is_opened(self._page.loaded):
            return
        reached = self._reached.setdefault(self._id, set())
        for place, goal in enumerate(lesson.words.goals):
            if not goal.start and lesson.call(goal.reached, run):
                reached.add(place)

    def _take_exercise(self) -> None:
        """Tick the exercises of a lesson that a copy's run beside the original has reached."""
        pair = self._page.comparing.pair
        if pair is None or not pair[0].is_paired_with(pair[1]):
            return
        original, copy = pair
        lesson = self._session.catalogue.lesson(original.run_state.experiment)
        run = lesson_run_of(copy.run_state, self._session.machine)
        if lesson is None or run is None or copy.recording is None:
            return
        reached = self._reached.setdefault(original.run_state.experiment.id, set())
        for place, goal in enumerate(lesson.words.goals):
            if goal.start and place not in reached and lesson.call(goal.reached, run):
                reached.add(place)
                text = self._session.words.say("lesson.goal_reached", {"goal": goal.goal})
                self._session.tell(text)

    def _answered_before(self) -> Kept | None:
        """Return the newest run here that was predicted or skipped; sorts the runs only once."""
        experiment, machine = self._page.experiment, self._session.machine
        if experiment is None or machine is None or experiment.id in self._asked_again:
            return None
        asked = (self._session.runs, experiment, machine)
        if any(one is not other for one, other in zip(asked, self._before[0], strict=True)):
            here = runs_here(self._session.runs, experiment.id, machine)
            answered = (run for run in here if run.run_notes.guess or run.run_notes.skipped)
            self._before = (asked, next(answered, None))
        return self._before[1]

    def _keep_answer(self) -> None:
        """Write an answer into the notes of the run that it was made for, once that is kept."""
        page, experiment = self._page, self._page.experiment
        if experiment is None or self.run is None:
            return
        loaded = page.loaded
        if page.is_stand_in:  # it has answered: no later run is what was predicted
            self._owed.discard(experiment.id)
        if loaded is None or loaded.is_opened:
            return
        here = list(runs_here(self._session.runs, experiment.id, self._session.machine))
        if (kept := self.kept) is None:
            return
        if experiment.id in self._owed:
            self._owed.discard(experiment.id)
            guess, before = self._answers[experiment.id], ""
        elif (first := _first_guessed(here, kept)) is not None:
            guess, before = first.run_notes.guess, first.run
        else:
            return
        self._note(kept, guess=guess, skipped=guess is None, guess_before=before)

    @property
    def kept(self) -> Kept | None:
        """The shown run as the library has it; None for a recording, or one not kept."""
        loaded = self._page.loaded
        if loaded is None:
            return None
        return next((run for run in self._session.runs if run.run == loaded.run), None)

    def keep_own_words(self, kept: Kept, text: str) -> None:
        """Write into the notes of a run why it came out so, as the student says it."""
        self._note(kept, own_words=text)

    def _note(self, kept: Kept, **changes: Any) -> None:
        self._session.background.do(
            partial(self._session.library.note, kept, **changes),
            lambda _none: self._session.refresh_runs(),
        )

    def _load(self, experiment: Experiment[Any]) -> Taught | None:
        try:
            return self._session.catalogue.lesson(experiment)
        except UserError as trouble:
            self._session.troubled.emit(trouble.problem)
            return None


def _first_guessed(runs: Sequence[Kept], again: Kept) -> Kept | None:
    """Return the run before which the guess was made that holds for the same run again."""
    if again.run_notes.guess is not None or again.run_notes.skipped:
        return None
    same = [run for run in runs if run.params == again.params and run.at < again.at]
    guessed = (run for run in same if run.run_notes.guess and not run.run_notes.guess_before)
    return next(guessed, None)


def _is_opened(loaded: LoadedRun | None) -> bool:
    return loaded is not None and loaded.is_opened
