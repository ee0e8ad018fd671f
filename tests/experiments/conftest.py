"""Small runs of every experiment, made once."""

from __future__ import annotations

import contextlib
import os
import pickle
import time
from pathlib import Path

import pytest
from hypothesis import settings
from msgspec.structs import replace

from experiments.core import sizes
from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Frame, Need, Note, Progress
from experiments.core.needs import missing_need
from experiments.core.shelves import PROBES, SHELVES
from experiments.engine import messages
from machine.inspect import inspect
from tests.experiments.machines import machine

# A busy machine is no failure; each run of the suite tries others, so that few are enough.
settings.register_profile("unhurried", deadline=None, max_examples=40)
settings.load_profile("unhurried")

ALL = Catalogue((*SHELVES, PROBES))
PLAYED = {Need.GPU: 1, Need.TWO_GPUS: 2}  # how many GPUs, where a machine lacks them


class Small:
    """A run that was really measured, if need be on a fake GPU: parameters, machine and rows."""

    def __init__(self, experiment, kept: Path) -> None:
        """Take the run from a file; the test process that needs it first puts it there."""
        if not kept.exists():
            writing = kept.with_suffix(f".{os.getpid()}")
            writing.write_bytes(pickle.dumps(measured(experiment)))
            writing.replace(kept)
        self.experiment = experiment
        self.machine, self.params, self.items = pickle.loads(kept.read_bytes())
        self.rows = [each for each in self.items if not isinstance(each, Progress | Note | Frame)]

    def tables(self, count: int | None = None) -> dict:
        """Return the first `count` rows, each in its table."""
        names = {row_type: name for name, row_type in self.experiment.tables.items()}
        tables: dict[str, list] = {name: [] for name in self.experiment.tables}
        for row in self.rows[:count]:
            tables[names[type(row)]].append(row)
        return tables


def measured(experiment) -> tuple:
    """Measure as little as there is: machine, parameters, and all that the run yields."""
    here, clock = inspect(), time.perf_counter
    with contextlib.ExitStack() as stack:
        if (need := missing_need(experiment, here)) in PLAYED:
            from tests.experiments.fake_gpu import fake_gpu

            gpus = PLAYED[need]
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            clock = stack.enter_context(fake_gpu(patch, count=gpus)).clock
            here = replace(here, gpus=machine(gpus=gpus).gpus)
        params = experiment.smallest(experiment.params_for(here, quick=True))
        bench, items = Bench(here, quick=True, clock=clock), []

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
    runs: dict[str, Small] = {}

    def one(experiment_id: str) -> Small:
        if experiment_id not in runs:
            runs[experiment_id] = Small(ALL.load(experiment_id), folder / experiment_id)
        return runs[experiment_id]

    return one


@pytest.fixture
def free_memory(monkeypatch):
    """Say how many bytes of memory are free; None is not known."""
    return lambda size: monkeypatch.setattr(sizes, "free_bytes_now", lambda: size)
