"""A lecture on its way: what each key does, and that it goes on whatever happens to a run.

No windows. Each act is guarded: an exception in it becomes one line for the presenter, and the
recording is shown in place of the run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Concatenate, ParamSpec

from PySide6.QtCore import QObject, QTimer, Signal

from app.lecture.file import Lecture
from app.lecture.lecture_state import RECORDING, LectureState, Step, Turn
from app.window.core.session import Session
from app.window.lecture.item_run import ItemRun
from app.window.lecture.items import Prepared, prepare
from app.window.lecture.shown_runs import ShownRuns, pause_s
from experiments.core.problems import Problem, UserError
from experiments.core.processes.own_errors import unexpected
from experiments.core.teaching.playable import Playable
from experiments.engine.run_state import RunState

log = logging.getLogger(__name__)
P = ParamSpec("P")

SECOND_MS = 1000
SLEPT_S = 10.0  # between two looks, on the clock on the wall
MOST_DIGITS = 4


class Over(StrEnum):
    """The sheet over the window of the person who leads the lecture."""

    NOTHING = ""
    KEYS = "keys"
    LEAVE = "leave"  # the question whether it shall end
    ANEW = "anew"  # and whether it shall begin again


@dataclass(frozen=True, slots=True)
class Left:
    """The state of a lecture that was left, with which it goes on when it begins again."""

    lecture: Lecture
    course: LectureState
    measured: Mapping[int, RunState]
    by_recording: frozenset[int]
    began_s: float


def guarded(
    act: Callable[Concatenate[Conductor, P], object],
) -> Callable[Concatenate[Conductor, P], None]:
    """Let an act fail without ending the lecture."""

    def safely(self: Conductor, /, *given: P.args, **named: P.kwargs) -> None:
        try:
            act(self, *given, **named)
        except Exception as error:
            log.exception("in a lecture")
            self.rescue(error)
        self.changed.emit()

    return safely


class Conductor(QObject):
    """The course of a lecture with its runs and recordings."""

    changed = Signal()  # another step, item, vote, reason
    moved = Signal()  # rows, or the time has gone on
    left = Signal()
    wanted_anew = Signal()

    def __init__(
        self,
        session: Session,
        lecture: Lecture,
        path: Path | None = None,
        before: Left | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Take a lecture of at least one item; `path` is its file.

        It goes on where it was left `before`.
        """
        super().__init__()
        self._session, self.lecture, self._clock, self._wall = session, lecture, clock, wall
        self.items = [prepare(session, item) for item in lecture.item]
        self.course = LectureState([prepared.turn() for prepared in self.items])
        if before is not None:
            self.course = _with_new_answers(before.course, self.course.turns)
        self._live = ItemRun(session, clock)
        self.reason = ""  # what else is wrong, in one line
        self.aside = ""  # what is wrong but concerns no run
        self.is_halo = self.is_black = self.is_frozen = False
        self.is_moving = False  # the drawing of the explanation, in place of its plot
        self.over = Over.NOTHING
        self.typed = ""  # the digits of a number, before Enter
        self._chosen = (0, Step.QUESTION, 0)  # item, step, and the option that was voted for last
        self.runs = ShownRuns(session, self.items, self.course, path)
        self._by_recording: set[int] = set()  # items that R was pressed for
        self._began_s, self._looked_s = clock(), wall()
        if before is not None:
            self.runs.measured.update(before.measured)
            self._by_recording.update(before.by_recording)
            self._began_s = before.began_s
        self._live.moved.connect(self._move)
        self._live.ended.connect(self._take_run)
        self._live.failed.connect(self._fail)
        self.runs.came.connect(self._take_recording)
        session.entries_changed.connect(self._know_machine)
        session.runner.ended.connect(self._warm_next)  # one that is dropped takes its process along
        self._seconds = QTimer(self, interval=SECOND_MS)
        self._seconds.timeout.connect(self.look_again)
        self._seconds.start()
        self._arrive()
        self._follow(self.course.place)

    # --- what is shown ------------------------------------------------------------------------

    @property
    def prepared(self) -> Prepared:
        """The item of now."""
        return self.items[self.course.place]

    @property
    def trouble(self) -> str:
        """The troubles now, in one line; "" for none."""
        return " ".join(filter(None, (self._live.reason, self.reason)))

    @property
    def doing(self) -> str:
        """The run's activity, in a few words; "" without a run."""
        return self._live.told()

    @property
    def is_measuring(self) -> bool:
        """Is a run under way, or about to be?"""
        return self._live.is_under_way

    @property
    def is_ready(self) -> bool:
        """Would the run of this item, or the next one, begin at once?"""
        place = self.course.place + self.course.turn.is_measured
        experiment = self.items[place].experiment if place < len(self.items) else None
        is_warm = experiment is not None and self._session.runner.is_warm(experiment)
        return self._live.is_at_rest or is_warm

    @property
    def next_step(self) -> str:
        """The key of what comes next, "" for a wait."""
        by_recording = self.is_by_recording
        return self.course.coming(is_troubled=bool(self.trouble), by_recording=by_recording)

    def after(self) -> LectureState:
        """Return the course as it would be after the next key, however the run ends."""
        return self.course.next(by_recording=self.next_step == RECORDING)

    @property
    def chosen(self) -> int:
        """The option that a typed number of hands is for: the last one voted for, else the first.

        Its number, from 0.
        """
        *where, option = self._chosen
        return option if where == [self.course.place, self.course.turn.step] else 0

    @property
    def motion(self) -> Playable | None:
        """The motion of the explanation shown now; None at any other step, and without a motion."""
        if self.course.turn.step is not Step.EXPLAIN:
            return None
        try:
            return self.runs.playable()
        except UserError as trouble:
            self.aside = self._session.say(trouble.problem)
            return None

    @property
    def is_under_way(self) -> bool:
        """Is there something to come back to?"""
        last = self.course.place == len(self.items) - 1
        return not (self.course.is_over or (last and self.course.turn.step is Step.EXPLAIN))

    @property
    def is_by_recording(self) -> bool:
        """Shall the recording of the item of now stand in for its run?"""
        return self.course.place in self._by_recording

    @property
    def elapsed_s(self) -> float:
        """The time since the lecture began."""
        return self._clock() - self._began_s

    # --- keys ---------------------------------------------------------------------------------

    @guarded
    def forward(self) -> None:
        """Go one step on; where a run has failed, its recording is the step."""
        turn = self.course.turn
        if turn.step is Step.RUN and not turn.is_measured:
            if self._live.is_under_way and not self.trouble:
                return
            if not self._show_recording():
                if not self.runs.is_read(self.course.place):
                    return  # it comes as soon as it is read
                self.course.measured()  # there is nothing to show, and the lecture goes on
                self.course.forward()
            return
        place = self.course.place
        self.course.forward()
        self._follow(place)

    @guarded
    def back(self) -> None:
        """Go one step back; a run under way goes on within its item."""
        place = self.course.place
        self.course.back()
        self._follow(place)

    @guarded
    def vote(self, option: int, by: int = 1) -> None:
        """Count a hand, or take one away."""
        if self.course.vote(option, by):
            self._chosen = (self.course.place, self.course.turn.step, option)

    @guarded
    def hide_votes(self) -> None:
        """Hide votes until they are closed, or show them again."""
        self.course.hide_votes()

    @guarded
    def type_number(self, typed: str) -> None:
        """Take the digits of a number, which `enter` uses; "" forgets it."""
        self.typed = typed[:MOST_DIGITS]

    @guarded
    def enter(self) -> None:
        """Give the typed number of hands to the chosen option of a vote; else go to that item."""
        typed, self.typed = self.typed, ""
        if not typed:
            return
        if self.course.is_voting:
            self.course.give(self.chosen, int(typed))
        elif 0 < int(typed) <= len(self.items):
            before = self.course.place
            self.course.go(int(typed) - 1)
            self._follow(before)

    @guarded
    def vote_again(self) -> None:
        """Begin the second vote."""
        self.course.vote_again()

    @guarded
    def show_recording(self) -> None:
        """Show the recording at the same place; before the run, have it stand in for it."""
        self._by_recording.add(self.course.place)
        if self.course.turn.step in (Step.RUN, Step.REVEAL, Step.EXPLAIN):
            self._show_recording()
        else:
            self._live.drop()

    @guarded
    def show_live(self) -> None:
        """Show the run of this machine again, or measure anew where there is no whole one."""
        place, turn = self.course.place, self.course.turn
        self._by_recording.discard(place)
        self.reason = ""
        if turn.step not in (Step.RUN, Step.REVEAL, Step.EXPLAIN):
            self._make_ready()
            return
        if self.runs.has_whole():
            self.course.measured()
            self.runs.know_arms()
        elif not self._live.is_under_way:
            self.course.measure()
            self._begin_run()

    @guarded
    def play_motion(self) -> None:
        """Play the motion of an explanation in place of its plot, or show the plot again."""
        self.is_moving = not self.is_moving and self.motion is not None

    @guarded
    def go(self, place: int) -> None:
        """Go to an item."""
        before = self.course.place
        self.course.go(place)
        self._follow(before)

    @guarded
    def freeze(self) -> None:
        """Keep the picture that the class sees, or let it go on."""
        self.is_frozen = not self.is_frozen

    @guarded
    def blacken(self) -> None:
        """Make the screen of the class black, or show the slide again."""
        self.is_black = not self.is_black

    @guarded
    def use_halo(self) -> None:
        """Draw a ring around the mouse, or not."""
        self.is_halo = not self.is_halo

    @guarded
    def show_keys(self) -> None:
        """Show all keys."""
        self.over = Over.KEYS

    @guarded
    def ask_to_leave(self) -> None:
        """Ask before the lecture ends."""
        self.over = Over.LEAVE

    @guarded
    def ask_anew(self) -> None:
        """Ask before the lecture begins again, without the votes that it has."""
        self.over = Over.ANEW

    def answer(self, is_yes: bool) -> None:
        """Take what lies over the window away; a question with its answer."""
        over, self.over = self.over, Over.NOTHING
        if is_yes and over is Over.LEAVE:
            self.leave()
        elif is_yes and over is Over.ANEW:
            self.wanted_anew.emit()
        else:
            self.changed.emit()

    def to_come_back(self) -> Left:
        """Return what is needed to go on later."""
        runs, by_recording = dict(self.runs.measured), frozenset(self._by_recording)
        return Left(self.lecture, self.course, runs, by_recording, self._began_s)

    def leave(self) -> None:
        """End the lecture; a run under way is stopped."""
        self._seconds.stop()
        self._live.drop()
        self.left.emit()

    def close(self) -> None:
        """Forget the runs and recordings; the lecture has been left."""
        self._live.deleteLater()
        self.runs.deleteLater()
        self.deleteLater()

    def rescue(self, error: Exception) -> None:
        """Take note of an exception, and show the recording in place of the run."""
        if self.course.turn.step in (Step.RUN, Step.REVEAL, Step.EXPLAIN):
            try:
                self._show_recording()
            except Exception:  # the next key goes on without it
                log.exception("in a lecture, once more")
                self._live.drop()
                self.course.measured(is_recording=True)
        self.reason = self._session.say(unexpected(error))

    @guarded
    def remark(self, problem: Problem) -> None:
        """Show the presenter a problem that does not harm the run; the next item clears it."""
        self.aside = self._session.say(problem)

    @guarded
    def look_again(self) -> None:
        """Notice what does not come, and a machine that was asleep; meant for once a second."""
        self._live.look_again()
        now_s = self._wall()
        slept_s, self._looked_s = now_s - self._looked_s, now_s
        if slept_s > SLEPT_S and self._live.is_under_way:
            say, key_of = self._session.words.say, self._session.settings.key_of
            recording, live = key_of("R"), key_of("G")
            told = {"duration": slept_s, "recording": recording, "live": live}
            self._live.fail(say("lecture.slept", told))

    # --- inside -------------------------------------------------------------------------------

    def _follow(self, before: int) -> None:
        """Do what another step or item asks for."""
        self.is_moving = False
        if self.course.place != before:
            self._live.drop()
            self.reason = self.aside = ""
            self._arrive()
        turn = self.course.turn
        if turn.step is Step.RUN and not turn.is_measured and not self._live.is_under_way:
            self._begin_run()
        cannot_tell = turn.step is Step.EXPLAIN and self.runs.is_disturbed
        if cannot_tell and not turn.is_recording and self._show_recording():
            self.reason = self._session.words.say("lecture.too_busy")

    def _arrive(self) -> None:
        """Have ready what this item and the next one need."""
        place = self.course.place
        for wanted in (place, place + 1):
            self.runs.want(wanted)
        self.runs.know_arms()
        self._warm_next()
        self._make_ready()

    @guarded
    def _know_machine(self) -> None:
        self._make_ready()

    def _make_ready(self) -> None:
        """Bring the run of this item up to its first turn while the class thinks."""
        turn, experiment = self.course.turn, self.prepared.experiment
        is_to_come = turn.step in (Step.QUESTION, Step.VOTE, Step.AGAIN) and not turn.is_measured
        can_wait = experiment is not None and experiment.can_wait and not experiment.is_own
        if is_to_come and can_wait and not self.is_by_recording and not self._live.is_under_way:
            self._live.make_ready(self.prepared)

    def _warm_next(self) -> None:
        """Keep a process ready for the run of this item, or the next one."""
        place = self.course.place + self.course.turn.is_measured
        if place < len(self.items) and not self._session.context.has_fake_machine:
            experiment = self.items[place].experiment
            entry = self._session.entries.get(experiment.id) if experiment is not None else None
            if experiment is not None and (entry is None or entry.need is None):
                self._session.runner.warm(experiment)

    def _begin_run(self) -> None:
        place = self.course.place
        self.reason = ""
        if place in self._by_recording:
            self._show_recording()
            return
        self.runs.measured.pop(place, None)
        first = next(iter(self.course.turn.arms), "")  # the one that is seen first
        self._live.start(self.prepared, pause_s(self.runs.recording), first)
        if self._live.run_state is not None:
            self.runs.measured[place] = self._live.run_state
        elif (entry := self._session.entries.get(self.prepared.item.experiment)) and entry.need:
            self._show_recording()  # no key can mend that

    def _show_recording(self) -> bool:
        """Show the recording at the same step; False while it is not there."""
        place = self.course.place
        self._by_recording.add(place)
        if self.runs.recording is None:
            self.runs.want(place)
            key = "lecture.no_recording" if self.runs.is_read(place) else "lecture.reading"
            self.reason = self._session.words.say(key)
            return False
        self.reason = self._live.reason
        self._live.drop()
        self.course.measured(is_recording=True)
        self.runs.know_arms()
        self._warm_next()
        return True

    @guarded
    def _take_run(self) -> None:
        run_state = self._live.run_state
        if run_state is None or self.course.turn.is_recording:
            return
        self.runs.measured[self.course.place] = run_state
        self.course.measured()
        self.runs.know_arms()
        self._warm_next()

    @guarded
    def _fail(self) -> None:
        """Have the recording ready; the next key shows it."""
        self.runs.want(self.course.place)

    @guarded
    def _take_recording(self, place: int) -> None:
        if place != self.course.place:
            return
        turn = self.course.turn
        self.runs.know_arms()
        is_wanted = place in self._by_recording and not turn.is_measured
        if is_wanted and turn.step in (Step.RUN, Step.REVEAL, Step.EXPLAIN):
            self._show_recording()

    def _move(self) -> None:
        try:
            run_state = self._live.run_state
            if run_state is not None:
                self.runs.measured[self.course.place] = run_state
                self.runs.know_arms()
        except Exception as error:
            log.exception("in a lecture")
            self.rescue(error)
            self.changed.emit()
        self.moved.emit()


def _with_new_answers(course: LectureState, turns: Sequence[Turn]) -> LectureState:
    """Return a course so far; an item that has other answers by now begins anew."""
    pairs = zip(course.turns, turns, strict=True)
    course.turns = [old if old.options == new.options else new for old, new in pairs]
    return course
