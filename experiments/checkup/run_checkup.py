"""Carries out a checkup: looks, measures, judges, and measures again before a result goes red.

Each measurement is an ordinary run in a process of its own (engine/jobs.py), behind the same lock;
a plain worker watches the machine meanwhile. No Qt: the terminal and the window read the events.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from experiments.checkup.checks import rows_of
from experiments.checkup.checks.common import is_of_device
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import UNCONFIRMED, is_steady
from experiments.checkup.order import Order
from experiments.checkup.plan import SHELVES_HERE, ToRun, chosen, steps
from experiments.checkup.result import Kind, Measurement, Result, Row
from experiments.checkup.rules import Rule, Stage, rules
from experiments.engine import messages
from experiments.engine.environment import environment
from experiments.engine.jobs import Engine, Run, Worker
from experiments.engine.run_state import RunState
from machine.convert import convert
from machine.doctor.diagnosis import diagnose
from machine.doctor.gather import gather
from machine.doctor.nvml import ask_nvml
from machine.doctor.torch_probe import examine
from machine.inspect import inspect, portable
from machine.live.gpus import GpuSampler
from machine.live.sampler import Sample
from machine.live.surroundings import Surroundings, look_around
from machine.memory.errors import read_memory_errors
from machine.model import Machine, is_virtual, to_json
from machine.record import Record
from machine.system.asking import Stopped
from machine.system.kernel_log import read_kernel_log

MORE_RUNS = 3  # of what scatters, at most
MORE_S: Mapping[Kind, float] = {"quick": 6.0, "check": 30.0, "soak": 30.0}  # for all repeats
WATCH_HZ = 2.0


class Planned(Record, kw_only=False):
    """The measurements to come, and about how long all of them take."""

    rules: tuple[Rule, ...]
    steps: tuple[ToRun, ...]
    seconds: float


class Surrounded(Record, kw_only=False):
    """Surroundings that may disturb the checkup: power, other programs, a virtual machine."""

    surroundings: Surroundings


class Began(Record, kw_only=False):
    """A step is under way: a key of `checkup.doing`, and the experiment or "" ."""

    doing: str
    experiment: str = ""
    device: str = ""


class Moved(Record, kw_only=False):
    """The fraction of the whole that is done, and about how many seconds are left."""

    fraction: float
    left_s: float


class Noted(Record, kw_only=False):
    """A note of a run to be shown, such as that it waits for another program."""

    note: messages.Note
    experiment: str


class Watched(Record, kw_only=False):
    """A sample of the machine while a measurement is under way."""

    sample: Sample
    experiment: str


class Found(Record, kw_only=False):
    """The rows of a rule; they replace what was said of it before."""

    rule: Rule
    rows: tuple[Row, ...]


class Ended(Record, kw_only=False):
    """The whole result; the last event."""

    result: Result


Event = Planned | Surrounded | Began | Moved | Noted | Watched | Found | Ended


class Checkup:
    """One checkup on its way. Read `events()` in one thread; `stop()` from any.

    `references` are checkups of machines known to be good. `soak_s` is how long the load of a soak
    lasts; at `stop_celsius` its heat ends it.
    """

    def __init__(
        self,
        kind: Kind,
        *,
        baseline: Result | None = None,
        order: Order | None = None,
        references: Sequence[Result] = (),
        soak_s: float | None = None,
        stop_celsius: float | None = None,
        machine: Callable[[], Machine] = inspect,
        engine: Engine | None = None,
    ) -> None:
        self._kind: Kind = kind
        self._baseline, self._order, self._references = baseline, order, references
        self._soak_s, self._stop_celsius = soak_s, stop_celsius
        self._machine = machine
        self._engine = engine or Engine(SHELVES_HERE)
        self._stopping = threading.Event()
        self._running: Run | None = None
        self._watching: _Watching | None = None
        self._measured: list[Measurement] = []
        self._rows: dict[str, tuple[Row, ...]] = {}  # of each rule, as judged last
        self._done_s = self._whole_s = 0.0
        self._more_s = MORE_S[kind]

    def stop(self) -> None:
        """Ask to end; what was found so far stays."""
        self._stopping.set()
        running = self._running
        if running is not None:
            running.stop()

    def events(self) -> Iterator[Event]:
        """Yield what happens; the last is `Ended`. Raises UserError if nothing can be read."""
        begun_s, at = time.monotonic(), datetime.datetime.now(datetime.UTC)
        try:
            yield from self._events(begun_s, at.isoformat(timespec="seconds"))
        finally:
            self._engine.close()
            if self._watching is not None:
                self._watching.close()

    def _events(self, begun_s: float, at: str) -> Iterator[Event]:
        yield Began("looking")
        machine = self._machine()
        evidence = Evidence(
            machine=machine,
            baseline=self._baseline,
            order=self._order,
            references=self._references,
        )
        all_rules = rules()
        used = chosen(all_rules.rule, self._kind)
        plan = steps(
            used, machine, self._kind, soak_s=self._soak_s, stop_celsius=self._stop_celsius
        )
        self._whole_s = sum(step.seconds for step in plan) or 1.0
        yield Planned(used, plan, self._whole_s)
        yield from self._look(evidence)
        yield from self._judge([rule for rule in used if not rule.measure], evidence)
        if not self._stopping.is_set():
            self._watching = _Watching()
        for step in plan:
            if self._stopping.is_set():
                break
            if step.lacking is not None:
                key = (step.experiment.id, step.device)
                evidence.refused[key] = messages.ProblemSent(key=f"needs_{step.lacking}")
            else:
                yield Began("measuring", step.experiment.id, step.device)
                yield from self._run(step, evidence)
            concerned = [rule for rule in used if rule.measure == step.experiment.id]
            yield from self._judge(concerned, evidence)
            if step.lacking is None:
                yield from self._again(step, concerned, evidence)
            self._done_s += step.seconds
            yield self._moved(self._done_s)
        # A GPU may turn out slow only when the last of its like was measured.
        for step in plan:
            concerned = [rule for rule in used if rule.measure == step.experiment.id]
            yield from self._again(step, concerned, evidence, is_last=True)
        # What was never reached is said so, too; and what came later may tell of what came before.
        yield from self._judge(used, evidence)
        result = Result(
            id=str(uuid.uuid4()),
            kind=self._kind,
            at=at,
            seconds=round(time.monotonic() - begun_s, 3),
            outcome="stopped" if self._stopping.is_set() else "completed",
            rules_version=all_rules.version,
            machine=to_json(portable(machine)),
            environment=environment(),
            surroundings=msgspec.to_builtins(evidence.surroundings),
            baseline=self._baseline.id if self._baseline else "",
            rows=tuple(row for rule in used for row in self._rows.get(rule.id, ())),
            measurements=tuple(self._measured),
            trace=tuple(evidence.trace()),
        )
        yield Ended(result)

    def _look(self, evidence: Evidence) -> Iterator[Event]:
        """Read what needs no measurement: the surroundings, the log, memory, GPUs, PyTorch."""
        yield Began("asking")
        machine, root = evidence.machine, Path("/")
        evidence.surroundings = look_around(machine, wait=self._wait)
        yield Surrounded(evidence.surroundings)
        evidence.kernel_log = read_kernel_log()
        evidence.memory_errors = read_memory_errors(is_virtual=is_virtual(machine))
        sampler = GpuSampler(root)
        try:
            evidence.gpu_samples = sampler.sample(time.monotonic())[0]
        finally:
            sampler.close()
        with contextlib.suppress(Stopped):
            evidence.diagnosis = diagnose(
                gather(
                    python=sys.executable,
                    nvml=functools.partial(ask_nvml, stop=self._stopping),
                    probe=functools.partial(examine, stop=self._stopping),
                )
            )

    def _wait(self, seconds: float) -> None:
        self._stopping.wait(seconds)

    def _judge(self, used: Sequence[Rule], evidence: Evidence) -> Iterator[Event]:
        for rule in used:
            self._rows[rule.id] = rows_of(rule, evidence)
            yield Found(rule, self._rows[rule.id])

    def _moved(self, done_s: float) -> Moved:
        return Moved(done_s / self._whole_s, self._whole_s - done_s)

    def _again(
        self, step: ToRun, concerned: Sequence[Rule], evidence: Evidence, *, is_last: bool = False
    ) -> Iterator[Event]:
        """Measure again what scatters, and what would go red; sustained loads are not repeated.

        `is_last`: only what would go red.
        """
        for _ in range(MORE_RUNS):
            found = [row for rule in concerned for row in self._rows.get(rule.id, ())]
            found = [row for row in found if is_of_device(row, evidence, step.device)]
            is_red = any(row.reason == UNCONFIRMED for row in found)
            timed = [row for row in found if row.samples and row.stage is Stage.PERFORMS]
            scatters = any(not is_steady(row.samples) for row in timed) and not is_last
            has_time = self._more_s >= step.seconds
            if self._stopping.is_set() or not (is_red or (scatters and has_time)):
                return
            if not is_red:
                self._more_s -= step.seconds
            yield Began("confirming" if is_red else "repeating", step.experiment.id, step.device)
            yield from self._run(step, evidence)
            yield from self._judge(concerned, evidence)

    def _run(self, step: ToRun, evidence: Evidence) -> Iterator[Event]:
        """Run one measurement; yield its progress, its notes and what was watched."""
        begun_s = time.monotonic()
        assert self._watching is not None
        self._watching.take()
        state = RunState(step.experiment)
        watched: list[Sample] = []
        self._running = self._engine.start(step.experiment, step.params, quick=True)
        if self._stopping.is_set():
            self._running.stop()
        for event in self._running.events():
            state.add(event)
            for sample in self._watching.take():
                watched.append(sample)
                yield Watched(sample, step.experiment.id)
            if isinstance(event, messages.Progress):
                at_s = self._done_s + event.fraction * step.seconds
                yield self._moved(min(self._whole_s, at_s))  # repeats take longer
            elif isinstance(event, messages.Note):
                yield Noted(event, step.experiment.id)
        self._running = None
        finished = state.finished
        assert finished is not None  # a run always ends in one
        took_s = time.monotonic() - begun_s
        ran = Ran(
            experiment=step.experiment,
            device=step.device,
            started=state.started,
            finished=finished,
            tables=state.tables,
            notes=state.notes,
            watched=watched,
            seconds=took_s,
        )
        evidence.add(ran)
        self._measured.append(_measurement(step, ran))


def _measurement(step: ToRun, ran: Ran) -> Measurement:
    problem = ran.finished.problem
    return Measurement(
        experiment=step.experiment.id,
        version=step.experiment.version,
        device=step.device,
        params=step.params,
        seconds=round(ran.seconds, 3),
        outcome=str(ran.finished.outcome),
        values=dict(ran.values),
        notes=tuple(note.key for note in ran.notes),
        problem=problem.key if problem else "",
    )


class _Watching:
    """Samples of a plain worker, taken in a thread."""

    def __init__(self) -> None:
        self._worker = Worker(guarded=False)
        self._worker.send(messages.Watch(hz=WATCH_HZ))
        self._samples: list[Sample] = []
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, name="checkup watch", daemon=True)
        self._thread.start()

    def take(self) -> list[Sample]:
        """Return the samples since the last call."""
        with self._lock:
            taken, self._samples = self._samples, []
        return taken

    def close(self) -> None:
        """End the worker."""
        self._worker.close()
        self._thread.join()

    def _read(self) -> None:
        while line := self._worker.readline():
            try:
                event = messages.decode_event(line)
            except messages.BadMessage:
                return
            if isinstance(event, messages.Sample):
                plain: Any = msgspec.to_builtins(event)
                plain.pop("type", None)
                with self._lock:
                    self._samples.append(convert(plain, Sample))
