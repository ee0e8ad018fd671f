"""Made-up runs: the lines of a run file, from numbers that a test chooses."""

from __future__ import annotations

import gzip
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, specs
from experiments.core.parameters import to_json
from experiments.engine import messages
from experiments.engine.recording import sent
from experiments.engine.seal import Seal
from machine.model import Machine
from machine.model import to_json as machine_to_json
from machine.record import Record
from tests.experiments.machines import KIB, MIB, machine

NOISE = (1.0, 1.02, 0.98, 1.01, 0.99)
STEADY = (1.0,) * 5
CATALOGUE = Catalogue()


class Made(Record, kw_only=False):
    """A run as the lines that come from a worker, and as the bytes of its file."""

    run: str
    lines: tuple[bytes, ...]

    @property
    def data(self) -> bytes:
        seal = Seal()
        return b"".join(seal.sealed(event, line) for event, line in self.events())

    def write(self, path: Path) -> Path:
        """Write the run to a file, packed where its name says so."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(self.data) if path.name.endswith(".gz") else self.data)
        return path

    def events(self) -> list[tuple[messages.Event, bytes]]:
        """Return every event with its line, as they are handed to who keeps them."""
        return [(messages.decode_event(line), line) for line in self.lines]


def made(
    experiment_id: str,
    params: Any,
    rows: Sequence[Any],
    *,
    run: str | None = None,
    at: str = "2026-05-04T03:02:01+00:00",
    here: Machine | None = None,
    outcome: str = "completed",
    change: Callable[[messages.Started], messages.Started] = lambda started: started,
) -> Made:
    """Return a run of these rows, with the finding that follows from them."""
    experiment = CATALOGUE.load(experiment_id)
    here = here or machine()
    started = change(
        messages.Started(
            format=messages.RUN_FORMAT,
            version=messages.VERSION,
            run=run or str(uuid.uuid4()),
            experiment=experiment_id,
            experiment_version=experiment.version,
            params=to_json(params),
            quick=False,
            tables={
                name: {column: spec.unit for column, spec in specs(row_type).items()}
                for name, row_type in experiment.tables.items()
            },
            machine=machine_to_json(here),
            environment={},
            at=at,
        )
    )
    key = (experiment_id, params, tuple(rows), repr(here), outcome)
    if key not in _after_first:
        _after_first[key] = _lines(experiment, params, rows, here, messages.Outcome(outcome))
    return Made(started.run, (messages.encode(started), *_after_first[key]))


_after_first: dict[object, list[bytes]] = {}  # lines of a run: many tests make the same one


def _lines(
    experiment: Experiment[Any],
    params: Any,
    rows: Sequence[Any],
    here: Machine,
    outcome: messages.Outcome,
) -> list[bytes]:
    """Return a run's lines after the first: its rows and its end."""
    tables = {row_type: name for name, row_type in experiment.tables.items()}
    measured = {name: [row for row in rows if type(row) is t] for t, name in tables.items()}
    events: list[messages.Message] = [
        messages.Row(n=n, t_s=n * 0.01, table=tables[type(row)], row=msgspec.to_builtins(row))
        for n, row in enumerate(rows)
    ]
    finding = sent(experiment.analyse(params, measured, here))
    events.append(messages.Finished(outcome=outcome, finding=finding))
    return [messages.encode(event) for event in events]


def burst(factor: float = 1.0, noise: Sequence[float] = NOISE, **more: Any) -> Made:
    """Return a run of burst-random, `factor` times slower than another."""
    from experiments.memory.burst_random.experiment import Params, Read, sizes

    params = more.pop("params", Params(largest_bytes=MIB, rounds=len(noise)))
    rows = [
        Read(
            size_bytes=size,
            order=order,
            repeat=repeat,
            element_s=element_s * factor * each,
            useful_bytes_per_s=8 / (element_s * factor * each),
        )
        for repeat, each in enumerate(noise)
        for size in sizes(params)
        for order, element_s in (("sequential", 3e-10), ("random", 6e-9), ("dependent", 1.2e-7))
    ]
    return made("burst-random", params, rows, **more)


def ladder(
    factor: float = 1.0, reaches: int = 256 * MIB, clock_hz: float = 0.0, **more: Any
) -> Made:
    """Return a run of cache-ladder that reaches memory, or only a working set of that size."""
    from experiments.memory.cache_ladder.experiment import Params, Step, sizes
    from experiments.tools.core_clock import Clock

    params = Params(largest_bytes=256 * MIB, points_per_octave=2, rounds=3)
    rows: list[Any] = [
        Step(
            size_bytes=size,
            order=order,
            repeat=repeat,
            latency_s=factor * (1e-9 if order == "sequential" else 1e-9 * (1 + size / (32 * KIB))),
        )
        for repeat in range(params.rounds)
        for size in sizes(params)
        if size <= reaches
        for order in ("random", "sequential")
    ]
    if clock_hz:
        rows += [Clock(repeat=repeat, core_hz=clock_hz) for repeat in range(params.rounds)]
    return made("cache-ladder", params, rows, **more)


def threads(serial_s: float = 0.4, threads_s: float = 0.41, **more: Any) -> Made:
    """Return a run of gil-threads with two Pythons, slices and a sleeper."""
    from experiments.python_at_work.gil_threads.experiment import Params, Slice, Timing, Wake

    params = Params(workers=2, rounds=len(NOISE), pythons=("3.13",))
    rows: list[Any] = [
        Slice(
            method=method,
            python=python,
            worker=worker,
            start_s=worker * 0.2 * (method == "serial"),
            end_s=worker * 0.2 + 0.2,
        )
        for python in ("3.11", "3.13")
        for method in ("serial", "threads")
        for worker in range(2)
    ]
    rows += [
        Timing(method=method, python=python, repeat=repeat, wall_s=wall_s * each, gil=True)
        for repeat, each in enumerate(NOISE)
        for python in ("3.13", "3.11")
        for method, wall_s in (("serial", serial_s), ("threads", threads_s))
    ]
    rows += [
        Wake(burners=burners, repeat=repeat, late_s=1e-4 * (1 + 50 * burners) * each)
        for repeat, each in enumerate(NOISE)
        for burners in (0, 1, 2)
    ]
    return made("gil-threads", params, rows, **more)


def crossover(flop_per_s: float, *, precision: str = "fp32", **more: Any) -> Made:
    """Return a run of crossover on a processor that reaches so much."""
    from experiments.to_the_gpu.crossover.experiment import Params, Product

    params = Params(precision=precision)
    once_s = 2 * 64**3 / flop_per_s
    row = Product(size=64, kind="all_cores", repeat=0, product_s=once_s, flop_per_s=flop_per_s)
    return made("crossover", params, [row], **more)


def activations() -> Made:
    """Return a run of an experiment that has no lesson of its own."""
    from experiments.numbers.activations.experiment import Params, Pass

    rows = [
        Pass(function=function, device="cpu", what=f"{function}_cpu", repeat=n, numbers=1_000_000,
             element_s=each_s * noise, over_copy=each_s / 1e-9)
        for n, noise in enumerate(NOISE)
        for function, each_s in (("copy", 1e-9), ("relu", 1e-9), ("tanh", 3e-9))
    ]  # fmt: skip
    return made("activations", Params(), rows)


def many_small(device: str, **more: Any) -> Made:
    """Return a run of many-small that was on this device."""
    from experiments.to_the_gpu.many_small.experiment import EMPTY, SEPARATE, Params, Pass

    params = Params(device=device, rounds=1)
    rows = [
        Pass(calls=calls, way=way, repeat=0, numbers=1_000_000, took_s=took_s)
        for calls, way, took_s in ((1, SEPARATE, 1e-4), (1000, SEPARATE, 5e-3), (1000, EMPTY, 5e-3))
    ]
    return made("many-small", params, rows, **more)
