"""Small runs of every experiment, made once."""

from __future__ import annotations

import contextlib
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from msgspec.structs import replace

from experiments.core import sizes
from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need, Note
from experiments.core.laws.ran import Ran
from experiments.core.needs import missing_need
from experiments.core.shelves import PROBES, SHELVES
from experiments.devices.device import torch_threads
from experiments.engine import messages
from machine.inspect import inspect
from tests.experiments.machines import machine

# A busy machine is no failure; each run of the suite tries others, so that few are enough.
settings.register_profile("unhurried", deadline=None, max_examples=40)
settings.load_profile("unhurried")

ALL = Catalogue((*SHELVES, PROBES))
PLAYED = {Need.GPU: 1, Need.TWO_GPUS: 2}  # how many GPUs, where a machine lacks them
HASTE = 5


class HastyBench(Bench):
    """Sizes samples to a part of their time, for runs whose rows count and not their figures."""

    def repeat_for(self, work: Callable[[int], object], *, at_least_s: float, start: int) -> int:
        return super().repeat_for(work, at_least_s=at_least_s / HASTE, start=start)


def kept_run(experiment, kept: Path) -> Ran:
    """Return a run that was really measured; the test process that needs it first keeps it."""
    if not kept.exists():
        writing = kept.with_suffix(f".{os.getpid()}")
        writing.write_bytes(pickle.dumps(measured(experiment)))
        writing.replace(kept)
    here, params, items = pickle.loads(kept.read_bytes())
    return Ran(experiment=experiment, params=params, machine=here, items=items)


def measured(experiment) -> tuple:
    """Measure as little as there is: machine, parameters, and all that the run yields.

    A machine without GPUs gets fake ones.
    """
    here, clock = inspect(), time.perf_counter
    with contextlib.ExitStack() as stack:
        if (need := missing_need(experiment, here)) in PLAYED:
            from tests.experiments.fake_gpu import fake_gpu

            gpus = PLAYED[need]
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            clock = stack.enter_context(fake_gpu(patch, count=gpus)).clock
            here = replace(here, gpus=machine(gpus=gpus).gpus)
        if Need.TORCH in experiment.needs:  # of small works, several threads wait for each other
            import torch

            stack.enter_context(torch_threads(torch, 1))
        params = experiment.smallest(experiment.params_for(here, quick=True))
        bench, items = HastyBench(here, quick=True, clock=clock), []

        def hold() -> str:
            items.append(Note(messages.HELD))
            return ""

        bench.before_turns = hold
        items.extend(experiment.measure(params, bench))
        return here, params, items


@pytest.fixture(scope="session")
def small_run(tmp_path_factory, worker_id):
    """Return a function from an id to a small run of it, measured once for all test processes."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder if worker_id == "master" else folder.parent) / "small"
    folder.mkdir(exist_ok=True)
    runs: dict[str, Ran] = {}

    def one(experiment_id: str) -> Ran:
        if experiment_id not in runs:
            runs[experiment_id] = kept_run(ALL.load(experiment_id), folder / experiment_id)
        return runs[experiment_id]

    return one


@pytest.fixture
def free_memory(monkeypatch):
    """Say how many bytes of memory are free; None is not known."""
    return lambda size: monkeypatch.setattr(sizes, "free_bytes_now", lambda: size)
