"""Single points of one experiment inside their process: ready once, then a few rows a point.

The lock is held only while a point is measured. Otherwise an open page with a slider would make
another program's run wait for hours. Things that all points share are made once, also under the
lock.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

from msgspec.structs import asdict

from experiments.core.bench import Bench, StopRequested
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, Measured, Note, Progress
from experiments.core.judging.disturbed import WATCH
from experiments.core.needs import check_needs
from experiments.core.parameters import from_json
from experiments.core.problems import Problem, UserError
from experiments.engine import messages
from experiments.engine.disturbance import Quietest
from experiments.engine.lock import one_at_a_time
from experiments.engine.measuring import Send, holder, limit_memory
from machine.inspect import inspect

PATIENCE_S = 1.0  # for another program's measurement: two sliders take turns, a run is told of


def measure_points(
    command: messages.Live,
    catalogue: Catalogue,
    send: Send,
    commands: queue.SimpleQueue[Any],
    stop: Callable[[], bool],
    problem_of: Callable[[Exception], Problem],
) -> object:
    """Measure points until another command comes, and return that. Raises if none can be measured.

    If a point raises, its `PointDone` carries the problem; the next point may succeed.
    """
    points = _Points(catalogue.load(command.experiment), send, stop)
    send(messages.Ready())
    while isinstance(asked := _newest(commands), messages.Point):
        problem = None
        try:
            points.measure(asked.params)
        except StopRequested:
            continue  # the command that says so comes next
        except Exception as error:  # noqa: BLE001  (whatever an experiment raises)
            problem = messages.problem_sent(problem_of(error))
        send(messages.PointDone(point=asked.point, problem=problem))
    return asked


def _newest(commands: queue.SimpleQueue[Any]) -> object:
    """Wait for a command; of several points that have come by then return the last."""
    command = commands.get()
    with contextlib.suppress(queue.Empty):
        while isinstance(command, messages.Point):
            command = commands.get_nowait()
    return command


class _Points:
    """Shared by the points of one experiment."""

    def __init__(self, experiment: Experiment[Any], send: Send, stop: Callable[[], bool]) -> None:
        if experiment.live is None:
            raise UserError("no_points", experiment=experiment.id)
        machine = inspect()
        check_needs(experiment, machine)
        limit_memory()
        self._experiment, self._live, self._send = experiment, experiment.live, send
        self._bench = Bench(machine, stop=stop, watch=WATCH, quietest=Quietest())
        self._table_of = {row_type: name for name, row_type in experiment.tables.items()}
        self._rows = 0
        self._start_s = time.monotonic()
        with self._machine_to_itself():
            self._measure: Callable[[Any], Measured] = self._live.prepare(self._bench)
            for _ in self._turn(self._live.params()):  # the first is slow: code is loaded
                pass

    def measure(self, plain: Mapping[str, Any]) -> None:
        """Measure one point and send its rows. Raises UserError for one that cannot be."""
        params = from_json(self._live.params, plain, self._bench.machine)
        with self._machine_to_itself():
            for item in self._turn(params):
                if not isinstance(item, Progress | Note):  # the run says what there is to say
                    self._tell(item)

    def _turn(self, params: object) -> Iterator[Any]:
        """Yield rows inside a turn of the bench: it watches, but measures nothing again."""
        with (
            closing(self._bench.interleave((None,), 1)) as turns,  # type: ignore[type-var]
            closing(self._measure(params)) as rows,
        ):
            next(turns)
            yield from rows

    def _tell(self, row: Any) -> None:
        self._send(
            messages.Row(
                n=self._rows,
                t_s=round(time.monotonic() - self._start_s, 6),
                table=self._table_of[type(row)],
                row=asdict(row),
                disturbed=self._bench.disturbed,
            )
        )
        self._rows += 1

    def _machine_to_itself(self) -> contextlib.AbstractContextManager[None]:
        until_s = time.monotonic() + PATIENCE_S
        others: dict[str, str] = dict.fromkeys(("experiment", "since"), "?")

        def check_stop() -> None:
            self._bench.check_stop()
            if time.monotonic() > until_s:
                raise UserError("points_machine_busy", **others)

        return one_at_a_time(
            holder(self._experiment.id),
            waiting=others.update,
            check_stop=check_stop,
            unavailable=lambda error: None,
        )
