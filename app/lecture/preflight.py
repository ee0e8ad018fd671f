"""Tries each item of a lecture small on this machine, and sees that a recording stands behind it.

A failed item is a result, not an error. Its worker may die or hang, and the machine may lack a need
or refuse a setting. An experiment that was tried starts faster later: its loops are compiled, and
the files of its imports are cached.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.lecture.fallbacks import Fallback, Fallbacks, Origin, StandIns
from app.lecture.file import MINUTE_S, Item, Lecture
from app.runs.selection import expected_s
from experiments.core.declare import Experiment
from experiments.core.judging.trust import doubt
from experiments.core.needs import check_needs
from experiments.core.parameters import check_memory, from_json, to_json
from experiments.core.problems import Problem, UserError
from experiments.core.processes.own_errors import unexpected
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.jobs import Engine, Run
from experiments.engine.seal import Seal
from experiments.presentation.guesses.questions import named
from machine.memory.host import available_bytes

log = logging.getLogger(__name__)

LONGEST_S = 60.0  # longer, and a class looks at its telephones
PATIENCE_S, PATIENCE = 60.0, 10.0  # a run may take so long, and so many times what is expected

Earned = Callable[[Experiment[Any]], Mapping[str, float]]
Disturbed = Callable[[Sequence[messages.Note]], messages.Note | None]


class Mark(StrEnum):
    """The state of an item on this machine."""

    READY = "ready"
    BUSY = "busy"  # it runs, but other programs or the host took so much that numbers would be off
    LONG = "long"  # it runs, but longer than its minutes or a class can wait
    RECORDING = "recording"  # it cannot run here, a recording stands in
    NEITHER = "neither"


class Work(StrEnum):
    """The kind of work on an item."""

    TRY = "try"
    RECORD = "record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """On the way: what is done, how far it is, and the note of what it waits for."""

    place: int
    work: Work
    fraction: float = 0.0
    left_s: float | None = None
    waits: messages.Note | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One item with its mark; `seconds` is what its run will take here, if it can be made."""

    place: int
    item: Item
    mark: Mark
    seconds: float | None = None
    reason: Problem | None = None  # why it cannot run here
    disturbance: messages.Note | None = None  # what else used the machine while it was tried
    fallback: Fallback | None = None
    faults: Mapping[Origin, Problem] = field(default_factory=dict)  # of recordings

    @property
    def is_well(self) -> bool:
        """Is there nothing to look at?"""
        return self.mark is Mark.READY and self.fallback is not None and not self.faults


Event = Step | Checked


class Preflight:
    """Read `events()` in one thread; `stop()` from any."""

    def __init__(
        self,
        lecture: Lecture,
        stand_ins: StandIns,
        *,
        earned: Earned = lambda experiment: {},
        engine: Engine | None = None,
        patience_s: float = PATIENCE_S,
        disturbed: Disturbed = doubt,
    ) -> None:
        """Take a lecture, and what may stand in, with this machine and earlier runs on it."""
        self._lecture, self._stand_ins, self._earned = lecture, stand_ins, earned
        self._engine = engine or Engine()
        self._patience_s, self._disturbed = patience_s, disturbed
        self._run: Run | None = None
        self._is_stopping = False  # no Event: a signal may interrupt another that holds its lock

    def events(self) -> Iterator[Event]:
        """Yield the steps of each item and then what was found; ends early once it is stopped."""
        try:
            for place, item in enumerate(self._lecture.item):
                yield from self._check(place, item)
                if self._is_stopping:
                    return
        finally:
            self._engine.close()

    def stop(self) -> None:
        """End soon; the item under way is no longer reported."""
        self._is_stopping = True
        if (run := self._run) is not None:  # the other thread sets it to None at the end
            run.stop()

    def _check(self, place: int, item: Item) -> Iterator[Event]:
        try:
            experiment = self._stand_ins.catalogue.load(item.experiment)
        except UserError as trouble:  # without it no recording can be shown either
            yield Checked(place=place, item=item, mark=Mark.NEITHER, reason=trouble.problem)
            return
        yield Step(place=place, work=Work.TRY)
        found = self._stand_ins.find(item, experiment)
        seconds = reason = disturbance = None
        try:
            full, quick, small = self._params(experiment, item)
            seconds = expected_s(self._stand_ins.runs, self._stand_ins.machine, experiment, full)
            notes: list[messages.Note] = []
            taken_s = yield from self._follow(place, Work.TRY, experiment, small, notes=notes)
            seconds, disturbance = max(seconds, taken_s), self._disturbed(notes)
            if found.is_wanting and not self._is_stopping:
                found = yield from self._record(place, experiment, item, quick, found)
        except UserError as trouble:
            seconds, reason = None, trouble.problem
        if not self._is_stopping:
            yield Checked(
                place=place,
                item=item,
                mark=_mark(item, seconds, found.best, disturbance),
                seconds=seconds,
                reason=reason,
                disturbance=disturbance,
                fallback=found.best,
                faults=found.faults,
            )

    def _params(self, experiment: Experiment[Any], item: Item) -> tuple[Any, Any, Any]:
        """Return the parameters of its run, of a quick and of a smallest one. Raises UserError."""
        machine = self._stand_ins.machine
        assert machine is not None
        check_needs(experiment, machine)

        def with_settings(params: Any) -> Any:
            merged = {**to_json(params), **item.set}
            return from_json(experiment.params, merged, machine)

        try:
            if (question := named(item.guess)) is not None:
                usual = question.params(experiment, machine)
            else:
                usual = experiment.params_for(machine, quick=False, earned=self._earned(experiment))
            full = with_settings(usual)
            quick = experiment.reduced(full)
            small, quick = experiment.smallest(quick), with_settings(quick)
        except UserError:
            raise
        except Exception as error:
            log.info("%s has no parameters here", experiment.id, exc_info=True)
            told = unexpected(error, "not_started")
            raise UserError(told.key, **told.values) from None
        check_memory(experiment, full, available_bytes())
        return full, quick, small

    def _record(
        self,
        place: int,
        experiment: Experiment[Any],
        item: Item,
        params: Any,
        found: Fallbacks,
    ) -> Generator[Step, None, Fallbacks]:
        """Record a quick run, and return what stands behind the item now. Raises UserError."""
        yield Step(place=place, work=Work.RECORD)
        seal, lines = Seal(), list[bytes]()
        yield from self._follow(
            place,
            Work.RECORD,
            experiment,
            params,
            keep=lambda event, line: lines.append(seal.sealed(event, line)),
        )
        if self._is_stopping:
            return found
        try:
            self._stand_ins.keep(item, experiment, lines)
        except UserError as trouble:
            return Fallbacks(found.best, {**found.faults, Origin.MADE: trouble.problem})
        return self._stand_ins.find(item, experiment)

    def _follow(
        self,
        place: int,
        work: Work,
        experiment: Experiment[Any],
        params: Any,
        keep: Callable[[messages.Event, bytes], None] | None = None,
        notes: list[messages.Note] | None = None,
    ) -> Generator[Step, None, float]:
        """Run it to its end; return how long it measured. Raises UserError unless it completed.

        Its `notes` are added to those given.
        """
        limit_s = self._patience_s + PATIENCE * experiment.seconds(params)
        try:
            run = self._engine.start(experiment, to_json(params), quick=True, keep=keep)
        except (OSError, messages.BadMessage) as error:
            raise UserError("not_started", error=f"{type(error).__name__}: {error}") from None
        self._run = run
        if self._is_stopping:  # between the last look and now
            run.stop()
        start_s, finished = time.monotonic(), None
        try:
            for event in run.events():
                if isinstance(event, messages.Started):
                    start_s = time.monotonic()
                elif isinstance(event, messages.Finished):
                    finished = event
                elif isinstance(event, messages.Progress):
                    yield Step(place=place, work=work, fraction=event.fraction, left_s=event.left_s)
                elif isinstance(event, messages.Note) and event.key in messages.WAITING:
                    yield Step(place=place, work=work, waits=event)
                    start_s = float("inf")  # it may wait as long as it has to
                elif isinstance(event, messages.Note) and notes is not None:
                    notes.append(event)
                if time.monotonic() - start_s > limit_s:
                    run.stop()
        finally:
            self._run = None
        taken_s = time.monotonic() - start_s
        assert finished is not None  # a run always ends in one
        if finished.outcome is not messages.Outcome.COMPLETED and not self._is_stopping:
            raise _trouble(finished, limit_s)
        return taken_s


def _trouble(finished: messages.Finished, limit_s: float) -> UserError:
    """Return why a run did not complete, though the user did not stop it."""
    problem = finished.problem
    if problem is None:
        return UserError("preflight_endless", limit_s=limit_s)
    trouble = UserError(problem.key)
    trouble.problem = Problem(problem.key, problem.values, problem.detail)
    return trouble


def _mark(
    item: Item,
    seconds: float | None,
    fallback: Fallback | None,
    disturbance: messages.Note | None,
) -> Mark:
    if seconds is None:
        return Mark.NEITHER if fallback is None else Mark.RECORDING
    limit_s = LONGEST_S if item.minutes is None else min(LONGEST_S, item.minutes * MINUTE_S)
    if seconds > limit_s:
        return Mark.LONG
    return Mark.READY if disturbance is None else Mark.BUSY


def disturbance_text(words: Words, note: messages.Note) -> str:
    """Return what used the machine, how much of it, and what to do."""
    values = {
        name: round(value, 2) if isinstance(value, float) else value
        for name, value in note.values.items()
    }
    return words.say(f"preflight.disturbed.{note.key}", values)
