"""Small runs of every experiment, made once."""

from __future__ import annotations

import contextlib
import os
import pickle
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

from experiments.core import sizes
from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Frame, Need, Note, Progress
from experiments.core.needs import missing_need
from experiments.core.parameters import from_text
from machine.inspect import inspect
from tests.experiments.machines import machine

# A busy machine is no failure; each run of the suite tries others, so that few are enough.
settings.register_profile("unhurried", deadline=None, max_examples=40)
settings.load_profile("unhurried")

# What makes a run of an experiment as short as it can be; others run as `--quick` does.
TINY = {
    "gil-threads": {"job_s": "5 ms", "rounds": "2", "workers": "2"},
    "start-cost": {"sample_s": "1 ms", "rounds": "2"},
    "talk-cost": {"largest_bytes": "64 KiB", "sample_s": "1 ms", "rounds": "2"},
    "waiting": {"wait_s": "2 ms", "most_waits": "16", "weighed": "100", "rounds": "2"},
    "race": {"workers": "2", "times": "20000", "pythons": "", "rounds": "2"},
    "uneven": {"workers": "2", "rows": "16", "columns": "4", "rounds": "2"},
    "amdahl": {"sample_s": "10 ms", "rounds": "2"},
    "cache-ladder": {"largest_bytes": "2 MiB", "points_per_octave": "1", "rounds": "2"},
    "numa": {"node_bytes": "1 MiB", "rounds": "5"},
    "stream": {"array_bytes": "1 MiB", "rounds": "1"},
    "storage": {"file_bytes": "8 MiB", "sample_s": "20 ms", "rounds": "2"},
    "roofline": {"array_bytes": "8 MiB", "rounds": "2"},
    "latency-numbers": {"memory_bytes": "1 MiB", "file_bytes": "8 MiB", "rounds": "2"},
    "burst-random": {"largest_bytes": "1 MiB", "rounds": "2"},
    "false-sharing": {"rounds": "2"},
    "core-to-core": {"cores": "3", "lines": "2", "rounds": "4"},
    "smt": {"chain_bytes": "1 MiB", "rounds": "2"},
    "simd": {"largest_bytes": "1 MiB", "rounds": "2"},
    "crossover": {"largest": "64", "rounds": "2"},
    "busy-not-full": {"size": "16", "copy_bytes": "64 KiB", "load_s": "2 ms", "rounds": "2"},
    "dataloader": {"most_workers": "1", "batch": "2", "batches": "4", "rounds": "2"},
    "diffusion": {"large": "64", "shown_s": "100 ms", "rounds": "2"},
    "bottleneck": {"batch": "2", "steps": "3", "rounds": "2"},
    "gpu-or-not": {"rows": "32", "columns": "16", "steps": "3", "rounds": "2"},
    "compile": {"width": "8", "layers": "2", "batch": "2", "rounds": "2"},
    "alignment": {"size": "128", "span": "4", "wide_sizes": "3", "rounds": "2"},
    "activations": {"numbers": "20000", "rounds": "2"},
    "banks-mlp": {"memory_bytes": "1 MiB", "rounds": "2"},
    "pinned": {"smallest_bytes": "64 KiB", "largest_bytes": "256 KiB", "rounds": "2"},
    "non-blocking": {"size_bytes": "1 MiB", "rounds": "2"},
    "streams": {"total_bytes": "1 MiB", "pieces": "2", "rounds": "2"},
    "placement": {"largest_bytes": "64 KiB", "rounds": "2"},
    "many-small": {"numbers": "10000", "rounds": "2"},
    "amp": {"width": "16", "batch": "8", "steps": "10", "rounds": "2"},
    "channels-last": {"images": "2", "channels": "8", "side": "8", "rounds": "2"},
    "two-gpus": {"job_s": "4 ms", "a_rows": "128", "b_rows": "128", "rounds": "2"},
    "p2p": {"size_bytes": "1 MiB", "rounds": "2"},
    "data-parallel": {
        "threads": "1",
        "batch": "16",
        "width": "32",
        "largest_bytes": "16 KiB",
        "sample_s": "1 ms",
        "rounds": "2",
    },
    "split-model": {"layers": "3", "width": "65", "batch": "33", "rounds": "2"},
    "logging": {"large": "128", "steps": "20", "rounds": "2"},
    "clinic": {"length": "64", "rounds": "2"},
}
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
        tables = {name: [] for name in self.experiment.tables}
        for row in self.rows[:count]:
            tables[names[type(row)]].append(row)
        return tables


def measured(experiment) -> tuple:
    """Measure as little as there is: machine, parameters, and all that the run yields."""
    here, clock = inspect(), time.perf_counter
    with contextlib.ExitStack() as stack:
        gpus = PLAYED.get(missing_need(experiment, here), 0)
        if gpus:
            from tests.experiments.fake_gpu import fake_gpu

            patch = stack.enter_context(pytest.MonkeyPatch.context())
            clock = stack.enter_context(fake_gpu(patch, count=gpus)).clock
            here = replace(here, gpus=machine(gpus=gpus).gpus)
        quick = experiment.params_for(here, quick=True)
        params = from_text(quick, TINY.get(experiment.id, {}), here)
        bench = Bench(here, quick=True, clock=clock)
        return here, params, list(experiment.measure(params, bench))


@pytest.fixture(scope="session")
def small_run(tmp_path_factory, worker_id):
    """Return a function from an id to a small run of it, measured once for all test processes."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder if worker_id == "master" else folder.parent) / "small"
    folder.mkdir(exist_ok=True)
    runs: dict[str, Small] = {}

    def one(experiment_id: str) -> Small:
        if experiment_id not in runs:
            runs[experiment_id] = Small(Catalogue().load(experiment_id), folder / experiment_id)
        return runs[experiment_id]

    return one


@pytest.fixture
def free_memory(monkeypatch):
    """Say how many bytes of memory are free; None is not known."""
    return lambda size: monkeypatch.setattr(sizes, "available_bytes", lambda: size)
