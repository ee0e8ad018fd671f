"""Small runs of every experiment, made once."""

from __future__ import annotations

import pytest
from hypothesis import settings

from experiments.bench import Bench
from experiments.catalogue import Catalogue
from experiments.declare import Frame, Note, Progress
from experiments.parameters import from_text
from machine.inspect import inspect

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
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
    "banks-mlp": {"memory_bytes": "1 MiB", "rounds": "2"},
}


class Small:
    """A run that was really measured: its parameters, machine and rows in order."""

    def __init__(self, experiment) -> None:
        self.experiment = experiment
        self.machine = inspect()
        quick = experiment.params_for(self.machine, quick=True)
        self.params = from_text(quick, TINY.get(experiment.id, {}))
        self.items = list(experiment.measure(self.params, Bench(self.machine, quick=True)))
        self.rows = [each for each in self.items if not isinstance(each, Progress | Note | Frame)]

    def tables(self, count: int | None = None) -> dict:
        """Return the first `count` rows, each in its table."""
        names = {row_type: name for name, row_type in self.experiment.tables.items()}
        tables = {name: [] for name in self.experiment.tables}
        for row in self.rows[:count]:
            tables[names[type(row)]].append(row)
        return tables


@pytest.fixture(scope="session")
def small_run():
    """Return a function from an id to a small run of it, measured once."""
    runs = {}

    def one(experiment_id: str) -> Small:
        if experiment_id not in runs:
            runs[experiment_id] = Small(Catalogue().load(experiment_id))
        return runs[experiment_id]

    return one
