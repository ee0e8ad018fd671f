"""The state of an experiment on this machine, as its card in the catalogue shows it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from app.own_experiments import UNEXAMINED
from app.report import number, told_values
from app.runs.library import Kept
from app.runs.selection import by_experiment, completed, expected_s, runs_here
from app.window.core.availability import Entry
from app.window.core.listing import Listing
from app.window.core.session import Session
from experiments.core.declare import Experiment
from experiments.core.found_by import found_by
from experiments.core.judging.trust import Trust
from experiments.core.problems import Problem, UserError
from experiments.core.views import Bars
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.recording import read
from experiments.engine.run_state import RunState
from experiments.presentation.paths import paths
from machine.model import Machine
from widgets.catalogue.card_data import CardData, PathData, State
from widgets.catalogue.sketch import Sketch, expected, measured

REFUSED = "refused/"  # begins the id of such a card: one of ours may have the same name


def best_run(runs: Sequence[Kept], experiment: str, machine: Machine) -> Kept | None:
    """Return the run of this machine that counts, or where none was completed the newest."""
    here = list(runs_here(runs, experiment, machine))
    return next(iter((*completed(here, experiment), *here)), None)


class Before(NamedTuple):
    """Facts for its card from the runs of an experiment on this machine."""

    run: Kept | None  # the one that counts
    seconds: float | None  # how long the next one takes; None where there can be none


def before(session: Session) -> dict[str, Before]:
    """Return facts of the runs for each card; ten thousand runs take some ten milliseconds."""
    found, kept = {}, by_experiment(session.runs)
    for name in session.catalogue.ids():
        runs, run = kept.get(name, ()), None
        if session.machine is not None and not session.context.has_fake_machine:
            run = best_run(runs, name, session.machine)
        found[name] = Before(run, _seconds(session.entries.get(name), session, runs))
    return found


def card_data(
    experiment: Experiment[Any], session: Session, before: Before, sketch: Sketch | None
) -> CardData:
    """Return what stands on the card; the `sketch` is that of the run that counts."""
    words, entry, run = session.words, session.entries.get(experiment.id), before.run
    run_state = _under_way(session, experiment.id)
    home = session.catalogue.homes[experiment.id]
    kinds = (*experiment.parts, *experiment.needs)
    return CardData(
        id=experiment.id,
        shelf=session.catalogue.shelf(experiment),
        parts=experiment.parts,
        question=words.say(f"{experiment.id}.question"),
        topic=words.say(f"{experiment.id}.topic"),
        note=_note(session, experiment.id, entry, run),
        sketch=sketch or expected(experiment.views[0]),
        found_by=found_by(words, experiment.id, kinds, has_lesson=home.has_lesson),
        is_lesson=home.has_lesson,
        is_tool=home.is_tool,
        follows=home.follows,
        lesson=words.say(f"{home.follows}.question") if home.follows else "",
        state=State.RUNNING if run_state is not None else _state(entry, run, session),
        is_measured=run is not None and _is_completed(run),
        seconds=before.seconds,
        fraction=run_state.progress.fraction if run_state is not None else 0.0,
    )


def path_data(words: Words) -> list[PathData]:
    """Return the ways through the experiments, in words."""
    return [
        PathData(
            id=path.id,
            title=words.say(f"paths.{path.id}"),
            about=words.say(f"paths.{path.id}_about"),
            experiments=path.experiments,
        )
        for path in paths().values()
    ]


def refused(name: str, problem: Problem, session: Session) -> CardData:
    """Return the card of a user's own experiment in which something is wrong."""
    is_waiting = problem.key == UNEXAMINED.key
    return CardData(
        id=REFUSED + name,
        shelf="yours",
        parts=(),
        question=name,
        topic="",
        note=session.say(problem),
        sketch=expected(Bars(key="", table="", label="", value="")),
        state=State.UNKNOWN if is_waiting else State.REFUSED,
    )


def read_sketch(experiment: Experiment[Any], path: Path) -> Sketch | None:
    """Return the marks of a run's headline view; None where there are none. May take a while."""
    view = experiment.plots[0]
    try:
        return measured(view, read(path).tables(experiment)[view.table])
    except UserError:  # said where the run itself is opened
        return None


def _under_way(session: Session, experiment_id: str) -> RunState | None:
    if not session.is_awake or not session.runner.is_running:
        return None
    run_state = session.runner.run_state
    is_this = run_state is not None and run_state.experiment.id == experiment_id
    return run_state if is_this else None


def _state(entry: Entry | None, run: Kept | None, session: Session) -> State:
    if entry is None:
        return State.UNKNOWN
    if session.context.has_fake_machine:
        return State.FROM_FILE
    if run is not None and _is_completed(run) and run.trust is not Trust.DISTURBED:
        return State.MEASURED
    if entry.need is not None:
        is_recorded = session.catalogue.recording(entry.experiment.id) is not None
        return State.RECORDED if is_recorded else State.NOT_HERE
    if run is None:
        return State.NEW
    is_partial = run.message or run.outcome == messages.Outcome.STOPPED
    return State.PARTIAL if is_partial else State.FAILED


def _seconds(entry: Entry | None, session: Session, runs: Sequence[Kept]) -> float | None:
    """Return how long a run takes here: as long as the last time, if it was made before."""
    if entry is None or entry.need is not None or session.machine is None:
        return None
    if session.context.has_fake_machine:
        return None
    return expected_s(runs, session.machine, entry.experiment, entry.params)


def _note(session: Session, experiment_id: str, entry: Entry | None, run: Kept | None) -> str:
    """Return the result in one line, or the reason why there can be none, or else the topic."""
    words = session.words
    topic = words.say(f"{experiment_id}.topic")
    if entry is None:
        return topic
    if run is not None and run.trust is Trust.DISTURBED:
        return words.say("outcomes.was_disturbed")
    if entry is not None and run is not None and words.has(f"{experiment_id}.in_short"):
        unclear = {name: number(words, name, 0.0, "", run) for name in run.unclear}
        values = {**told_values(entry.experiment, run), **unclear}
        result = words.say(f"{experiment_id}.in_short", values)
        if "{" not in result:  # else a value is missing: a part was left out, or not reached
            listing = Listing(words, session.catalogue, session.entries)
            changed = listing.changed(experiment_id, run.params, quick=run.quick)
            return " · ".join((result, *changed))
    if entry.need is not None:
        return words.say(f"problems.needs_{entry.need}")
    return topic


def _is_completed(run: Kept) -> bool:
    return run.outcome == messages.Outcome.COMPLETED
