"""A run as the page of an experiment shows it: measured now, or read from a file."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.lecture.fallbacks import whole
from app.report import analysed_anew
from app.runs.comparison import are_pair
from app.runs.library import is_made_on, machine_name
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.judging.trust import Trust
from experiments.core.parameters import from_json
from experiments.core.problems import UserError
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.recording import Recording, read
from experiments.engine.run_state import RunState
from machine.model import BadMachine, Machine
from machine.model import from_json as machine_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """One run; without a recording it was measured while the window was open."""

    run_state: RunState
    recording: Recording | None = None
    path: Path | None = None
    is_opened: bool = False  # somebody asked for this very run, so it is shown as a recording
    note: messages.Note | None = None  # a remark on its finding

    @property
    def run(self) -> str | None:
        """The id of the run, None before it has begun."""
        started = self.run_state.started
        return started.run if started is not None else None

    @property
    def at(self) -> str:
        """When it began, "" before it has."""
        started = self.run_state.started
        return started.at if started is not None else ""

    @property
    def leads_pair(self) -> bool:
        """Is it the first of two runs whose rounds alternated: that of the original?"""
        started = self.run_state.started
        return started is not None and started.pair == started.run

    def is_paired_with(self, other: LoadedRun) -> bool:
        """Did the rounds of the two alternate?"""
        a, b = self.run_state.started, other.run_state.started
        return a is not None and b is not None and are_pair(a, b)

    def is_of(self, machine: Machine | None) -> bool:
        """Was it measured on this machine?"""
        started = self.run_state.started
        return started is not None and is_made_on(machine, started)


def load(
    path: Path,
    catalogue: Catalogue,
    *,
    is_opened: bool,
    stands_in_for: Experiment[Any] | None = None,
    read_as: Experiment[Any] | None = None,
) -> LoadedRun:
    """Read a run file and analyse it anew; may take a while.

    `read_as`: the original whose copy it is of, and which reads its rows.
    Raises UserError, also for one that may not stand in for a run of that experiment.
    """
    recording = whole(path, stands_in_for) if stands_in_for else read(path)
    experiment = read_as or catalogue.load(recording.started.experiment)
    recording.tables(experiment)  # refuses the tables of another version
    finished, note = analysed_anew(recording, experiment)
    run_state = RunState(experiment)
    for event in (recording.started, *recording.events, finished):
        run_state.add(event)
    return LoadedRun(
        run_state=run_state, recording=recording, path=path, is_opened=is_opened, note=note
    )


def lesson_run_of(run_state: RunState, here: Machine | None = None) -> LessonRun | None:
    """Return a run as its lesson sees it; None unless it was completed.

    `here` is its machine, if the run was made on this machine; otherwise its file names the
    machine.
    """
    started, finished = run_state.started, run_state.finished
    if started is None or finished is None:
        return None
    return as_lesson_run(run_state.experiment, started, finished, run_state.tables, here)


def as_lesson_run(
    experiment: Experiment[Any],
    started: messages.Started,
    finished: messages.Finished,
    tables: Mapping[str, Sequence[Any]],
    here: Machine | None = None,
) -> LessonRun | None:
    """Return the same of a run in its parts."""
    finding = finished.finding
    if finding is None or finished.outcome is not messages.Outcome.COMPLETED:
        return None
    with contextlib.suppress(UserError, BadMachine):  # of another version, or damaged
        params = from_json(experiment.params, started.params, check_choices=False)
        return lesson_run(params, tables, here or machine_of(started.machine), finding)
    return None


def came_to_nothing(run_state: RunState) -> bool:
    """Was a run stopped before there was anything to see?"""
    finished = run_state.finished
    is_stopped = finished is not None and finished.outcome is messages.Outcome.STOPPED
    return is_stopped and not run_state.rows and not run_state.frames


def is_disturbed(run_state: RunState | None) -> bool:
    """Was a run so disturbed that it cannot tell what was asked?"""
    finished = run_state.finished if run_state is not None else None
    finding = finished.finding if finished is not None else None
    return finding is not None and finding.trust is Trust.DISTURBED


def clear_values(finding: messages.FindingSent | None) -> Mapping[str, float]:
    """Return the values that a plot may mark."""
    return finding.clear_values() if finding is not None else {}


def band(words: Words, started: messages.Started) -> str:
    """Return the text above the plots of a recording."""
    values = {"machine": machine_name(started), "date": started.at[:10]}
    return words.say("terminal.recorded_on", values)


class Activity:
    """Puts into words what a run does, from the table that grew since the last look."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._seen: Mapping[str, int] = {}  # how many rows of each table there were
        self.text = ""

    def forget(self) -> None:
        """Begin anew, with another run."""
        self._seen, self.text = {}, ""

    def look(self, run_state: RunState) -> None:
        """Take note of new rows."""
        counts = run_state.drawn_from.items()
        grown = [table for table, count in counts if count != self._seen.get(table, 0)]
        if grown:
            self.text = _activity(self._words, run_state, grown[0])
            self._seen = dict(run_state.drawn_from)


def _activity(words: Words, run_state: RunState, table: str) -> str:
    """Return what a run has just done, from the last row of `table`.

    Rows of the headline view name the round and the way; rows of other tables are only counted.
    """
    experiment, started = run_state.experiment, run_state.started
    rows = run_state.tables.get(table, ())
    if started is None or not rows or table != experiment.plots[0].table:
        return words.say("page.rows", {"rows": run_state.rows}) if run_state.rows else ""
    row = rows[-1]
    names = (str(getattr(row, field)) for field in type(row).__struct_fields__)
    ways = [
        words.say(key)
        for key in (f"{experiment.id}.choices.{name}" for name in names if not name.isdigit())
        if words.has(key)
    ]
    round_, rounds = getattr(row, "repeat", None), started.params.get("rounds")
    if not ways or not isinstance(round_, int) or not isinstance(rounds, int):
        return words.say("page.rows", {"rows": run_state.rows})
    values = {"round": round_ + 1, "rounds": rounds, "way": ", ".join(ways)}
    return words.say("page.round", values)
