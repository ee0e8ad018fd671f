"""The time of a single point while a slider moves, from the question to its rows."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, specs
from experiments.core.needs import missing_need
from experiments.core.parameters import to_json
from experiments.core.units import show
from experiments.engine import messages
from experiments.engine.live import Points
from machine.inspect import inspect
from tests.tools.bench.lines import Line

MOVES = 60  # of each experiment
BUDGET_S = 0.1


def lines() -> Iterator[Line]:
    machine = inspect()
    for experiment in Catalogue():
        if experiment.live is not None and missing_need(experiment, machine) is None:
            yield _moves(experiment)


def _moves(experiment: Experiment[Any]) -> Line:
    points, heard = Points(experiment), queue.SimpleQueue[messages.Event]()

    def read() -> None:
        for event in points.events():
            heard.put(event)

    reader = threading.Thread(target=read)
    start_s = time.perf_counter()
    reader.start()
    _until(heard, messages.Ready)
    ready_s = time.perf_counter() - start_s
    chance, times = random.Random(5), []
    for _ in range(MOVES):
        params = to_json(_somewhere(experiment, chance))
        start_s = time.perf_counter()
        points.ask(params)
        _until(heard, messages.PointDone)
        times.append(time.perf_counter() - start_s)
    points.stop()
    reader.join()
    times.sort()
    late_s = times[int(0.95 * MOVES)]
    return Line(
        f"a live point of {experiment.id}, 95 % of {MOVES} moves",
        f"{show(late_s, 's')}, half {show(times[MOVES // 2], 's')}, ready {show(ready_s, 's')}",
        show(BUDGET_S, "s"),
        late_s <= BUDGET_S,
    )


def _somewhere(experiment: Experiment[Any], chance: random.Random) -> Any:
    """Return a point anywhere on its sliders, each with the scale that it declares."""
    assert experiment.live is not None
    chosen: dict[str, Any] = {}
    for name, spec in specs(experiment.live.params).items():
        if isinstance(spec.choices, tuple) and spec.choices:
            chosen[name] = chance.choice(spec.choices)
            continue
        assert spec.minimum is not None
        assert spec.maximum is not None
        share = chance.random()
        if spec.scale == "linear":
            chosen[name] = round(spec.minimum + share * (spec.maximum - spec.minimum))
        else:
            chosen[name] = round(spec.minimum * (spec.maximum / spec.minimum) ** share)
    return msgspec.structs.replace(experiment.live.params(), **chosen)


def _until(heard: queue.SimpleQueue[messages.Event], kind: type[messages.Event]) -> None:
    while not isinstance(event := heard.get(timeout=60), kind):
        if isinstance(event, messages.Finished) or getattr(event, "problem", None):
            raise RuntimeError(f"no point came: {event}")
