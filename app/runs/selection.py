"""Selects the kept runs of an experiment that count, and estimates the time of the next."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from app.runs.library import Kept
from experiments.core.declare import Experiment
from experiments.core.judging.trust import Trust
from experiments.core.parameters import from_json, to_kept_json
from experiments.core.problems import UserError
from experiments.engine.messages import Outcome
from machine.model import Machine


def runs_of(runs: Iterable[Kept], experiment: str) -> list[Kept]:
    """Return the readable runs of an experiment, newest first."""
    found = [run for run in runs if run.experiment == experiment and run.problem is None]
    return sorted(found, key=attrgetter("at"), reverse=True)


def by_experiment(runs: Iterable[Kept]) -> dict[str, list[Kept]]:
    """Return the runs of each experiment, for those who ask for many experiments."""
    found: dict[str, list[Kept]] = {}
    for run in runs:
        found.setdefault(run.experiment, []).append(run)
    return found


def runs_here(runs: Iterable[Kept], experiment: str, machine: Machine | None) -> Iterator[Kept]:
    """Yield the readable runs of an experiment on this machine, newest first.

    None of them is known before the machine is.
    """
    return (run for run in runs_of(runs, experiment) if run.is_of(machine))


def completed(runs: Iterable[Kept], experiment: str) -> list[Kept]:
    """Return the completed runs of an experiment: full ones before quick ones, newest first.

    Those that cannot tell what was asked come last. One whose file was changed since does not
    count.
    """
    here = runs_of(runs, experiment)
    whole = [run for run in here if run.outcome == Outcome.COMPLETED and not run.is_altered]
    return sorted(whole, key=lambda run: (run.trust is Trust.DISTURBED, run.quick))


def last_run(runs: Sequence[Kept], experiment: str, machine: Machine | None) -> Kept | None:
    """Return the newest completed run on this machine, else the newest of any outcome."""
    here = list(runs_here(runs, experiment, machine))
    whole = (run for run in here if run.outcome == Outcome.COMPLETED)
    return next(whole, next(iter(here), None))


def expected_s(
    runs: Iterable[Kept],
    machine: Machine | None,
    experiment: Experiment[Any],
    params: object,
    *,
    quick: bool = False,
) -> float:
    """Return how long a run should take: as long as the last one here with these parameters.

    Without such a run, the estimate is scaled by how far it was off for another run; one that was
    as quick is preferred.
    """
    here = runs_here(runs, experiment.id, machine)
    whole = [run for run in here if run.outcome == Outcome.COMPLETED and run.taken_s]
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
