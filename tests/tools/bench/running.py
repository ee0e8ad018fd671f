"""Times until a run begins and ends, and the rows that go through its wire."""

from __future__ import annotations

import itertools
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.runs.library import Library
from app.runs.run_writer import RunWriter
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.needs import missing_need
from experiments.core.parameters import to_json
from experiments.core.shelves import SHELVES
from experiments.core.units import digits, show
from experiments.engine import messages
from experiments.engine.guardian import MARK
from experiments.engine.jobs import Engine, Run
from machine.inspect import inspect
from machine.model import Machine
from tests.tools.bench.lines import Line
from tests.tools.bench.shelf.many_rows.experiment import EXPERIMENT as MANY_ROWS

STOPS = 50
STARTS = 5
STOP_BUDGET_S = 0.25
WARM_BUDGET_S, COLD_BUDGET_S = 0.3, 3.0


def lines() -> Iterator[Line]:
    yield from _first_progress()
    yield _stops()
    yield _rows()


def _runnable(machine: Machine) -> list[Experiment[Any]]:
    """Return what runs here of the first two shelves: enough to know the engine by."""
    return [each for each in Catalogue(SHELVES[:2]) if missing_need(each, machine) is None]


def _first_progress() -> Iterator[Line]:
    machine = inspect()
    for experiment in _runnable(machine):
        params = to_json(experiment.params_for(machine, quick=True))
        times: dict[bool, list[float]] = {True: [], False: []}
        for warm in (True, False) * STARTS:
            engine = Engine()
            if warm:
                engine.warm(experiment)
                time.sleep(2.0)  # a person reads the page meanwhile
            start_s = time.perf_counter()
            run = engine.start(experiment, params, quick=True)
            for event in run.events():
                if isinstance(event, messages.Progress):
                    times[warm].append(time.perf_counter() - start_s)
                    break
            engine.close()
        for warm, budget_s in ((True, WARM_BUDGET_S), (False, COLD_BUDGET_S)):
            median_s = statistics.median(times[warm])
            yield Line(
                f"first progress of {experiment.id}, {'warm' if warm else 'cold'}",
                f"{show(median_s, 's')}, worst {show(max(times[warm]), 's')}",
                show(budget_s, "s"),
                median_s <= budget_s,
            )


def _stops() -> Line:
    """Stop at random moments, and time until the last process of the run is gone."""
    machine, moments = inspect(), random.Random(7)
    times = []
    for _, experiment in zip(range(STOPS), itertools.cycle(_runnable(machine)), strict=False):
        engine = Engine()
        params = to_json(experiment.params_for(machine, quick=False))
        run = engine.start(experiment, params)
        reader = threading.Thread(target=lambda run=run: list(run.events()))
        reader.start()
        time.sleep(moments.uniform(0.0, 4.0))
        start_s = time.perf_counter()
        run.stop()
        while _left_over(run):
            time.sleep(0.002)
        times.append(time.perf_counter() - start_s)
        reader.join()
        engine.close()
    return Line(
        f"stop, until the last process is gone ({STOPS} at random moments)",
        f"{show(statistics.median(times), 's')}, worst {show(max(times), 's')}",
        f"{show(STOP_BUDGET_S, 's')} at worst",
        max(times) <= STOP_BUDGET_S,
    )


def _left_over(run: Run) -> bool:
    """Is any process of this run alive?"""
    mark = f"{MARK}={run._worker._process.pid}:".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes():
                return True
        except OSError:
            continue
    return False


def _rows() -> Line:
    engine = Engine(shelves=(*SHELVES, "tests.tools.bench.shelf"))
    with tempfile.TemporaryDirectory() as folder:
        writer = RunWriter(Library(Path(folder)))
        run = engine.start(MANY_ROWS, {"rows": 100_000}, keep=writer.keep)
        first_s = last_s = 0.0
        for event in run.events():
            if isinstance(event, messages.Row):
                last_s = time.perf_counter()
                first_s = first_s or last_s
        writer.close()
        engine.close()
    return Line("rows through the wire and onto the disk", f"{digits(1e5 / (last_s - first_s))} /s")
