"""The start values of each experiment on this machine, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from experiments.core.declare import Experiment, Need, specs
from experiments.core.needs import missing_need
from machine.model import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One experiment as it stands on this machine: what it starts from, and how long it takes."""

    experiment: Experiment[Any]
    params: Any
    quick_params: Any
    seconds: float
    need: Need | None  # what this machine lacks for it
    choices: Mapping[str, tuple[str, ...]]  # of every parameter that has some


def suited(
    catalogue: Iterable[Experiment[Any]], machine: Machine, earned: Mapping[str, float]
) -> dict[str, Entry]:
    """Suit every experiment to the machine, and to what was `earned` on it.

    Looks for other Pythons, so it takes a while.
    """
    return {experiment.id: _entry(experiment, machine, earned) for experiment in catalogue}


def _entry(experiment: Experiment[Any], machine: Machine, earned: Mapping[str, float]) -> Entry:
    params = experiment.params_for(machine, quick=False, earned=earned)
    quick = experiment.params_for(machine, quick=True, earned=earned)
    return Entry(
        experiment=experiment,
        params=params,
        quick_params=quick,
        seconds=experiment.seconds(params),
        need=missing_need(experiment, machine),
        choices={
            name: spec.known_choices(machine)
            for name, spec in specs(experiment.params).items()
            if spec.choices
        },
    )
