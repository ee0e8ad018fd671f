"""Can this machine run an experiment? If not, which sentence says why."""

from __future__ import annotations

import importlib.util
from typing import Any

from experiments.declare import Experiment, Need
from experiments.problems import Trouble
from machine.model import Machine, siblings, usable_threads


def missing_need(experiment: Experiment[Any], machine: Machine) -> Need | None:
    """Return the first need that this machine does not meet."""
    return next((need for need in experiment.needs if not _met(need, machine)), None)


def check_needs(experiment: Experiment[Any], machine: Machine) -> None:
    """Raise Trouble (`needs_KEY`) for the first need that is not met."""
    need = missing_need(experiment, machine)
    if need is not None:
        raise Trouble(f"needs_{need}")


def _met(need: Need, machine: Machine) -> bool:
    match need:
        case Need.GPU:
            return bool(machine.gpus)
        case Need.TWO_GPUS:
            return len(machine.gpus) > 1
        case Need.NUMA:
            return sum(1 for node in machine.numa if node.memory_bytes) > 1
        case Need.SMT:
            return any(len(siblings(machine, t.id)) > 1 for t in usable_threads(machine))
        case Need.NUMBA | Need.TORCH:
            return importlib.util.find_spec(str(need)) is not None
