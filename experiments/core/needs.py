"""Checks what an experiment needs of a machine, and says in a sentence what is missing."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from experiments.core.declare import Experiment, Need, Use
from experiments.core.direct_io import has_direct_io
from experiments.core.problems import UserError
from experiments.core.processes.affinity import can_keep
from experiments.core.processes.futex import FUTEX
from machine.memory.nodes import usable_nodes
from machine.model import Machine, siblings, usable_threads
from machine.system.moment import for_a_moment

_GPU_BACKENDS = frozenset({"cuda", "rocm", "xpu", "mps"})  # others are no GPUs
# By the kind of system. Windows gives huge pages only to accounts that an administrator has named.
_LACKING: dict[str, frozenset[Use]] = {
    "windows": frozenset(Use) - {Use.PINNING, Use.CACHED_READS},
    "macos": frozenset(Use) - {Use.FORK, Use.WAITS, Use.SYSTEM_CALL},
}
_spec = for_a_moment(lambda name: importlib.util.find_spec(name))


def missing_need(experiment: Experiment[Any], machine: Machine) -> Need | None:
    """Return the first need that this machine does not meet."""
    return next((need for need in experiment.needs if not _met(need, machine)), None)


def check_needs(experiment: Experiment[Any], machine: Machine) -> None:
    """Raise UserError (`needs_KEY`) for the first need that is not met."""
    need = missing_need(experiment, machine)
    if need is not None:
        raise UserError(f"needs_{need}")


def lacks(machine: Machine, use: Use) -> bool:
    """Does the system of a machine, here or recorded, lack this?"""
    return use in _LACKING.get(machine.os.kind or "", ())


def lacking(experiment: Experiment[Any], system: str | None) -> tuple[Use, ...]:
    """Return what a kind of system, as in `OperatingSystem`, lacks of all that is used.

    An experiment that imports nothing measures in processes of its own. No system marks samples
    there.
    """
    uses = (*experiment.uses, *([Use.MARKS] if experiment.imports else []))
    return tuple(use for use in uses if use in _LACKING.get(system or "", ()))


def _gpus(machine: Machine) -> int:
    """Return how many GPUs a PyTorch that fits them could use from here."""
    fitting = [gpu for gpu in machine.gpus if gpu.torch_backend in _GPU_BACKENDS]
    return sum(gpu.visible is not False for gpu in fitting)


def _met(need: Need, machine: Machine) -> bool:
    match need:
        case Need.GPU:
            return _gpus(machine) > 0
        case Need.TWO_GPUS:
            return _gpus(machine) > 1
        case Need.NUMA:
            return len(usable_nodes(machine)) > 1
        case Need.SMT:
            return any(len(siblings(machine, t.id)) > 1 for t in usable_threads(machine))
        case Need.CORE_PAIR:
            return can_keep() and len(usable_threads(machine)) > 1
        case Need.LINUX:
            return FUTEX > 0 and machine.os.kind in (None, "linux")
        case Need.POSIX:
            return os.name == "posix" and machine.os.kind != "windows"
        case Need.DIRECT_IO:
            return has_direct_io()
        case Need.NUMBA | Need.TORCH:
            return _spec(str(need)) is not None
