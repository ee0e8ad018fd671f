"""Which run does the page of an experiment show? One of now, the last one, or one from a file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from app.report import analysed_anew
from app.runs.library import Kept, machine_name
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.parameters import from_json, to_kept_json
from experiments.core.problems import UserError
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.recording import Recording, read
from experiments.engine.run_state import RunState
from machine.model import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """One run; without a recording it was measured while the window was open."""

    run_state: RunState
    recording: Recording | None = None
    path: Path | None = None
    is_opened: bool = False  # somebody asked for this very run, so it is shown as a recording
    note: messages.Note | None = None  # what is to be said of its finding

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

    def is_of(self, machine: Machine) -> bool:
        """Was it measured on this machine?"""
        started = self.run_state.started
        mark = started.machine.get("fingerprint") if started is not None else None
        return mark is not None and mark == machine.fingerprint


def came_to_nothing(run_state: RunState) -> bool:
    """Was a run stopped before there was anything to see?"""
    finished = run_state.finished
    is_stopped = finished is not None and finished.outcome is messages.Outcome.STOPPED
    return is_stopped and not run_state.rows and not run_state.frames


def load(path: Path, catalogue: Catalogue, *, is_opened: bool) -> LoadedRun:
    """Read a run file and analyse it anew; may take a while. Raises UserError."""
    recording = read(path)
    experiment = catalogue.load(recording.started.experiment)
    recording.tables(experiment)  # refuses the tables of another version
    finished, note = analysed_anew(recording, experiment)
    run_state = RunState(experiment)
    for event in (recording.started, *recording.events, finished):
        run_state.add(event)
    return LoadedRun(
        run_state=run_state, recording=recording, path=path, is_opened=is_opened, note=note
    )


def last_run(runs: Sequence[Kept], experiment: str, machine: Machine) -> Kept | None:
    """Return the newest run of an experiment on this machine; a completed one, if there is any."""
    here = list(runs_here(runs, experiment, machine))
    whole = (run for run in here if run.outcome == messages.Outcome.COMPLETED)
    return next(whole, next(iter(here), None))


def is_shown_unasked(
    path: Path, runs: Sequence[Kept], machine: Machine | None, own: RunState | None
) -> bool:
    """Is it the run that the page of its experiment begins with? `own` is that of this window."""
    kept = next((run for run in runs if run.path == path), None)
    if kept is None or machine is None:
        return False
    if own is not None and own.experiment.id == kept.experiment:
        return own.started is not None and own.started.run == kept.run
    return kept is last_run(runs, kept.experiment, machine)


def runs_here(runs: Sequence[Kept], experiment: str, machine: Machine) -> Iterator[Kept]:
    """Yield the runs of an experiment on this machine, the newest first."""
    name = str(machine.cpu.model or "?")
    return (run for run in runs_of(runs, experiment) if run.machine == name)


def expected_s(
    runs: Iterable[Kept], experiment: Experiment[Any], params: object, *, quick: bool = False
) -> float:
    """Return how long a run should take: as long as the same one did, the first of these runs.

    Without such a one the estimate counts, by as much longer or shorter as it was for another, if
    possible one that was as quick.
    """
    whole = [run for run in runs if run.outcome == messages.Outcome.COMPLETED and run.taken_s]
    whole.sort(key=lambda run: run.quick != quick)
    wanted = msgspec.json.decode(msgspec.json.encode(to_kept_json(params)))  # lists, no tuples
    estimate_s = experiment.seconds(params)
    for run in whole:
        if run.params == wanted:
            return run.taken_s
    for run in whole:
        with contextlib.suppress(UserError):  # another version had other parameters
            before = from_json(experiment.params, run.params, check_choices=False)
            return estimate_s * run.taken_s / experiment.seconds(before)
    return estimate_s


def runs_of(runs: Sequence[Kept], experiment: str) -> Iterator[Kept]:
    """Yield the runs of an experiment that can be read, the newest first."""
    yield from sorted(
        (run for run in runs if run.experiment == experiment and run.problem is None),
        key=lambda run: run.at,
        reverse=True,
    )


def band(words: Words, started: messages.Started) -> str:
    """Return what stands above the plots of a recording."""
    values = {"machine": machine_name(started), "date": started.at[:10]}
    return words.say("terminal.recorded_on", values)


class Doing:
    """Says what a run does, live or played, from the table that has grown since the last look."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._seen: Mapping[str, int] = {}  # how many rows of each table there were
        self.said = ""

    def forget(self) -> None:
        """Begin anew, with another run."""
        self._seen, self.said = {}, ""

    def look(self, run_state: RunState) -> None:
        """See what has come."""
        counts = run_state.drawn_from.items()
        grown = [table for table, count in counts if count != self._seen.get(table, 0)]
        if grown:
            self.said = doing(self._words, run_state, grown[0])
            self._seen = dict(run_state.drawn_from)


def doing(words: Words, run_state: RunState, table: str) -> str:
    """Return what a run has just done, from the row that came last, in `table`.

    The round and the way can be told where the headline view is fed; else how much there is.
    """
    experiment, started = run_state.experiment, run_state.started
    rows = run_state.tables.get(table, ())
    if started is None or not rows or table != experiment.plots[0].table:
        return words.say("page.rows", {"rows": run_state.rows}) if run_state.rows else ""
    row = rows[-1]
    names = (str(getattr(row, field)) for field in type(row).__dataclass_fields__)
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
