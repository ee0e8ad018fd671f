"""One run inside its process: lock, started, rows one by one, finding, finished."""

from __future__ import annotations

import base64
import contextlib
import functools
import math
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec.structs import asdict

from experiments.core.bench import Bench, StopRequested
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, Frame, Note, Progress, Use, specs
from experiments.core.judging.disturbed import WATCH, mark
from experiments.core.judging.trust import leaves_open, taken_fraction
from experiments.core.needs import check_needs, lacking
from experiments.core.parameters import check_memory, from_json, to_kept_json
from experiments.core.problems import UserError
from experiments.core.processes.own_errors import problem_at
from experiments.devices.conditions import others_on
from experiments.devices.device import device_of, number_alike, uses_gpu
from experiments.engine import messages
from experiments.engine.disturbance import Disturbance, Quietest, Sleep
from experiments.engine.environment import environment
from experiments.engine.estimate import Estimate
from experiments.engine.guardian import start_of
from experiments.engine.lock import PROCESS, STOPPED, one_at_a_time
from experiments.engine.messages import Outcome
from experiments.engine.recording import analysed
from machine.inspect import inspect, portable
from machine.memory.host import available_bytes
from machine.model import Machine
from machine.model import to_json as machine_to_json
from machine.processor import counters
from machine.processor.counters import count

Send = Callable[[messages.Message], None]
Go = Callable[[float], messages.Go | None]  # waits so many seconds for it

FRAMES_PER_S = 30
LOOK_S = 0.01  # between two looks for a stop, while a run is held
MOST_TIMES = 2.0  # as long as planned, where a busy machine needs more rounds
MEMORY_SHARE = 0.9  # of what is free; beyond it the run gets a MemoryError, not the machine a jam


def measure(
    command: messages.Measure,
    catalogue: Catalogue,
    send: Send,
    stop: Callable[[], bool],
    go: Go = lambda _within_s: messages.Go(),
) -> messages.Finished:
    """Run the experiment of `command` and return its last line. Raises whatever it raises.

    `go` ends the hold that the command asks for.
    """
    experiment = catalogue.load(command.experiment)
    machine = inspect()
    check_needs(experiment, machine)
    params = from_json(experiment.params, command.params, machine)
    check_memory(experiment, params, available_bytes())
    no_counters = counters.refusal()
    bench = Bench(
        machine,
        quick=command.quick,
        stop=stop,
        watch=WATCH,
        count=None if no_counters else count,
        quietest=Quietest(),
    )
    lock: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if command.pair in ("", command.run):  # else the run beside this one has it
        lock = one_at_a_time(
            holder(command.experiment),
            waiting=lambda other: send(_waiting(other)),
            check_stop=bench.check_stop,
            unavailable=lambda error: send(_unlocked(error)),
        )
    with contextlib.suppress(StopRequested), lock:
        is_on_gpu = uses_gpu(experiment, params, machine)
        if not is_on_gpu:  # a GPU's driver reserves far more than it uses
            limit_memory()
        send(_started(command, experiment, params, machine))
        number_alike(machine, os.environ)  # after what is kept has been told: it names no device
        if is_on_gpu:  # this process has not used a GPU yet
            send(messages.Note(key="loading_gpu_libraries"))
        if experiment.confirmed_by and no_counters:
            send(_uncounted(no_counters))
        run = _Run(experiment, params, bench, send)
        if not command.quick:
            bench.wants_more = run.wants_more
        if command.hold:
            bench.before_turns = functools.partial(run.hold, go)
        if command.pair:
            bench.before_round = functools.partial(run.hold, go)
        return run.finished()
    return messages.Finished(outcome=Outcome.STOPPED)


class _Run:
    """One experiment on its way: its rows so far, and the messages about it."""

    def __init__(self, experiment: Experiment[Any], params: Any, bench: Bench, send: Send) -> None:
        self._experiment, self._params, self._bench, self._send = experiment, params, bench, send
        self._tables: dict[str, list[Any]] = {name: [] for name in experiment.tables}
        self._table_of = {row_type: name for name, row_type in experiment.tables.items()}
        self._rows = self._frames = 0
        self._frame_s, self._fraction = -math.inf, 0.0
        self._start_s = time.monotonic()
        self._has_told_others = False
        self._estimate = Estimate()
        self._disturbance = Disturbance(is_measured=experiment.measures_load)
        self._sleep = Sleep()
        self._planned_s, self._more = 0.0, 0  # when the planned rounds had ended; rounds since

    def finished(self) -> messages.Finished:
        """Measure to the end, or until the user stops; then analyse what there is."""
        outcome = Outcome.COMPLETED
        self._tell_progress(0.0)
        self._tell_others()
        generator = self._experiment.measure(self._params, self._bench)
        try:
            with closing(generator):
                for item in generator:
                    if (slept := self._sleep.note()) is not None:
                        self._tell(slept)
                    try:
                        self._tell(item)
                    except (messages.BadMessage, TypeError) as error:
                        with contextlib.suppress(StopIteration):
                            generator.throw(error)  # where it was yielded: its line is told
                        raise
                    self._bench.check_stop()
        except StopRequested:
            outcome = Outcome.STOPPED
        finding = None
        if self._rows or outcome is Outcome.COMPLETED:
            notes = list(self._disturbance.notes())
            for note in notes:  # nothing else can have been disturbed
                self._tell(note)
            finding = self._analysed(notes)
        return messages.Finished(outcome=outcome, finding=finding)

    def _analysed(self, notes: Iterable[Note]) -> messages.FindingSent:
        """Return the finding. Raises what `analyse` raises; UserError where its line is known."""
        machine = self._bench.machine
        try:
            return analysed(self._experiment, self._params, self._tables, machine, notes)
        except messages.BadMessage as error:  # nothing but its function is known
            told = problem_at(self._experiment.analyse, TypeError(str(error)))
            if told is None:
                raise
            raise UserError(told.key, **told.values) from error

    def wants_more(self) -> bool:
        """Are more rounds worth their time: is the machine busy, and something still open?

        They may take as long as the run has taken before them.
        """
        now_s = self._elapsed_s()
        self._planned_s = self._planned_s or now_s
        round_s = (now_s - self._planned_s) / self._more if self._more else 0.0
        if now_s + round_s > MOST_TIMES * self._planned_s:
            return False
        notes = list(self._disturbance.notes(still_runs=True))
        if not taken_fraction(notes):
            return False
        found = self._analysed(notes)
        if not leaves_open(found.message, found.trust):
            return False
        if not self._more:
            self._tell(Note(messages.MORE_ROUNDS))
        self._more += 1
        return True

    def hold(self, go: Go) -> str:
        """Wait until the run may go on, and return with which arm. Raises StopRequested.

        The wait is no part of the run.
        """
        if (said := go(0.0)) is None:
            begun_s = time.monotonic()
            self._tell(Note(messages.HELD))
            with self._disturbance.left_out():
                while (said := go(LOOK_S)) is None:
                    self._bench.check_stop()
            self._sleep = Sleep()
            self._start_s += time.monotonic() - begun_s
            self._tell_progress(self._fraction)  # the time left was told before the wait
            self._tell_others()
        return said.first

    def _tell_others(self) -> None:
        """Report once who else uses the device."""
        others = others_on(self._bench.machine, device_of(self._params))
        if others is not None and not self._has_told_others:
            self._has_told_others = True
            self._tell(others)

    def _tell(self, item: Any) -> None:
        if isinstance(item, Progress):
            self._tell_progress(item.fraction)
        elif isinstance(item, Note):
            lacks = lacking(self._experiment, self._bench.machine.os.kind)
            if item.key == "not_pinned" and Use.PINNING in lacks:
                return  # that its system cannot do so is among what the run cannot tell
            self._send(messages.Note(key=item.key, values=dict(item.values)))
        elif isinstance(item, Frame):
            self._tell_frame(item)
        else:
            if type(item) not in self._table_of:
                raise TypeError(f"measure yields {type(item).__name__}, which no table has")
            table = self._table_of[type(item)]
            loss, counts = self._bench.disturbed, self._bench.take_counts()
            message = messages.Row(
                n=self._rows,
                t_s=self._elapsed_s(),
                table=table,
                row=asdict(item),
                disturbed=loss,
                counters=counts,
            )
            self._send(message)
            self._tables[table].append(mark(item, loss, counts))
            self._rows += 1

    def _tell_frame(self, frame: Frame) -> None:
        now_s = time.monotonic()
        if now_s - self._frame_s < 1 / FRAMES_PER_S:
            return
        self._frame_s = now_s
        data = base64.b64encode(zlib.compress(frame.data, 1)).decode()
        self._send(
            messages.Frame(
                n=self._frames,
                t_s=self._elapsed_s(),
                table=frame.table,
                shape=frame.shape,
                data=data,
            )
        )
        self._frames += 1

    def _tell_progress(self, fraction: float) -> None:
        self._fraction = fraction
        expected_s = self._experiment.seconds(self._params)
        left_s = self._estimate.left_s(self._elapsed_s(), fraction, expected_s)
        self._send(messages.Progress(fraction=fraction, left_s=left_s))

    def _elapsed_s(self) -> float:
        return round(time.monotonic() - self._start_s, 6)


def holder(experiment_id: str) -> dict[str, str]:
    """Return what this process says of itself while it holds the lock."""
    return {
        "experiment": experiment_id,
        "since": datetime.now(UTC).astimezone().strftime("%H:%M:%S"),
        PROCESS: f"{os.getpid()}:{start_of(os.getpid())}",
    }


def _unlocked(error: OSError) -> messages.Note:
    return messages.Note(key="lock_unavailable", values={"reason": error.strerror or "?"})


def _uncounted(why: str) -> messages.Note:
    if why in counters.KNOWN_REFUSALS:
        return messages.Note(key=f"no_counters_{why}")
    return messages.Note(key="no_counters", values={"reason": why})


def _waiting(other: Mapping[str, str]) -> messages.Note:
    key = "waiting_for_stopped" if STOPPED in other else "waiting_for_machine"
    return messages.Note(key=key, values=dict(other))


def _started(
    command: messages.Measure, experiment: Experiment[Any], params: object, machine: Machine
) -> messages.Started:
    return messages.Started(
        format=messages.RUN_FORMAT,
        version=messages.VERSION,
        run=command.run,
        experiment=experiment.id,
        experiment_version=experiment.version,
        params=to_kept_json(params),
        quick=command.quick,
        tables={
            name: {column: spec.unit for column, spec in specs(row).items()}
            for name, row in experiment.tables.items()
        },
        machine=machine_to_json(portable(machine)),
        environment=environment(),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        pair=command.pair or msgspec.UNSET,
    )


def limit_memory() -> None:
    """Let this process have nine tenths of what is free, where the system can limit it."""
    free_bytes = available_bytes()
    if sys.platform != "win32" and free_bytes is not None:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = int(free_bytes * MEMORY_SHARE)
        if soft != resource.RLIM_INFINITY:
            limit = min(limit, soft)  # a limit that the user has set already is kept
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
