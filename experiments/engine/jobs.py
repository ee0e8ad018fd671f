"""The application's side of a job: starts it, hears it, and makes sure that it ends.

Every run ends in exactly one `Finished`, invented here where its process could not say it.
No Qt: the window wraps a run in a thread and a timer.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from experiments.core.declare import Experiment
from experiments.core.parameters import from_json
from experiments.core.problems import UserError
from experiments.core.processes.apart import APART, heard
from experiments.core.processes.own_environment import own_environment
from experiments.core.shelves import SHELVES
from experiments.devices.device import CPU, device_of
from experiments.engine import guardian, messages
from experiments.engine.messages import Outcome
from experiments.engine.recording import RUN_LIMIT_BYTES, RUN_LIMIT_LINES, Order
from experiments.engine.sweep import sweep
from machine.facts import Notes
from machine.system.cgroups import OutOfMemory
from machine.system.kill import kill_group
from machine.system.virtualization import read_virtualization

log = logging.getLogger(__name__)

MEMORY_S_PER_BYTE = 6.0 / 2**30  # the slowest virtual machine seen took 2.8 s a GiB
GPU_QUIET_S = 60.0  # least: GPU libraries of gigabytes come from a cold disk at their first use
LOADING_LIMIT_S = 60.0  # imports of torch, CUDA start-up: before the run has started
GRACE_S = 0.1  # between being asked to stop and being killed
GUARDIAN_S = 0.5  # for a guardian to end; it needs some 20 ms
TICK_S = 0.02  # between two looks of the watchdog
CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE")
# How Windows ends a process (ntstatus.h), and 3, by which its C library aborts.
WINDOWS_CRASHES = {
    0xC0000005: "an access to memory that is not its own, 0xC0000005",
    0xC0000006: "a page that could not be read, 0xC0000006",
    0xC0000094: "a division by zero, 0xC0000094",
    0xC00000FD: "a stack that ran over, 0xC00000FD",
    0xC0000374: "a damaged heap, 0xC0000374",
    0xC0000409: "a check of its own that failed, 0xC0000409",
    3: "it aborted itself, status 3",
}
WINDOWS_ILLEGAL_INSTRUCTION = 0xC000001D
ENDINGS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
LOG_LINES, LOG_LINE_BYTES = 60, 1000

Keep = Callable[[messages.Event, bytes], None]


class Worker:
    """A worker process behind its pipe. `guarded`: for a measurement, with a guardian between."""

    def __init__(
        self, *, guarded: bool, imports: tuple[str, ...] = (), shelves: tuple[str, ...] = SHELVES
    ) -> None:
        self.imports = imports
        self._guarded = guarded
        command = [sys.executable, "-P", "-m", "experiments.engine.worker"]
        command += ["--imports", *imports, "--shelves", *shelves]
        if guarded:
            command = guardian.command(command)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**own_environment(), guardian.PROGRAM: str(os.getpid())},
            **APART,  # Ctrl-C is for the application alone
        )
        self._said: collections.deque[str] = collections.deque(maxlen=LOG_LINES)
        # The thread knows nothing of this object, which could not be forgotten as long as it runs.
        self._log = threading.Thread(
            target=_read_log,
            args=(self._process.stderr, self._said),
            name="worker log",
            daemon=True,
        )
        self._log.start()
        assert self._process.stdout is not None
        self._output = heard(self._process.stdout)
        self._closing = threading.RLock()  # a signal may come in the middle of a send
        self.pid: int | None = None  # of the worker itself, from its hello

    def __del__(self) -> None:
        """Cut the lifeline of a worker that was not closed: Popen would keep the pipes for ever."""
        process = getattr(self, "_process", None)  # not there where it could not be started
        for pipe in (process.stdin, self._output) if process is not None else ():
            with contextlib.suppress(OSError):
                pipe.close()

    def send(self, command: messages.Command) -> None:
        """Send a command; a worker that is gone is noticed where its events are read."""
        line = messages.encode(command)
        with self._closing:
            if self._process.stdin is not None and not self._process.stdin.closed:
                with contextlib.suppress(OSError):
                    self._process.stdin.write(line)
                    self._process.stdin.flush()

    def readline(self) -> bytes:
        """Return the next line, b"" once the worker and all its children have gone. Blocks."""
        return self._output.readline(messages.LINE_LIMIT_BYTES + 1)

    def is_alive(self) -> bool:
        """Is the process still there?"""
        return self._process.poll() is None

    def wait(self, limit_s: float) -> bool:
        """Wait for the process to end; False if it has not by then."""
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> int:
        """End worker and children, whatever they do; return the exit status."""
        with self._closing:
            if self._process.stdin is not None and not self._process.stdin.closed:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()  # the lifeline: the guardian kills all and goes
        if not self.wait(GUARDIAN_S):
            self._process.kill()
            self._process.wait()
        if self._process.returncode < 0 and self._guarded:  # the guardian itself was killed
            self._end_orphans()
        return self._process.returncode

    def close(self) -> int:
        """End the worker and give back everything it held here."""
        status = self.end()
        self._log.join(GUARDIAN_S)
        self._output.close()
        return status

    def said(self) -> str:
        """Return the last lines that were printed, without personal folders."""
        self._log.join(GUARDIAN_S)
        said, home = "\n".join(self._said), os.path.expanduser("~")
        return said.replace(home, "~") if len(home) > 1 else said  # the home of nobody is /

    def _end_orphans(self) -> None:
        if self.pid is not None:
            kill_group(self.pid)
        sweep()


def _read_log(pipe: IO[bytes], said: collections.deque[str]) -> None:
    # Closed here: to close a pipe that another thread reads would wait for whoever holds it open.
    with pipe:
        while line := pipe.readline(LOG_LINE_BYTES):
            said.append(line.decode(errors="replace").rstrip())
            log.info("worker: %s", said[-1])


def _signal_of(status: int) -> str:
    """Return the name of the signal that ended a process, from its own or its guardian's status.

    Of a crash on Windows, what it was.
    """
    told = ""
    if sys.platform == "win32":
        is_illegal = status == WINDOWS_ILLEGAL_INSTRUCTION
        told = "SIGILL" if is_illegal else WINDOWS_CRASHES.get(status, "")
    else:
        with contextlib.suppress(ValueError):
            told = signal.Signals(-status if status < 0 else status - 128).name
    return told


class Job:
    """A worker's job on its way. Read `events()` in one thread; `stop()` from any."""

    def __init__(
        self, worker: Worker, experiment: Experiment[Any], command: messages.Command
    ) -> None:
        self.experiment = experiment
        self._worker = worker
        # Not an Event: its lock would be taken twice where one signal interrupts the handling of
        # another, and the thread would wait for itself.
        self._stopping = False
        self._ended = threading.Event()
        self._silent_limit_s: float | None = None  # set where it was ended for its silence
        self._listening_since_s: float | None = None
        self._out_of_memory = OutOfMemory()
        worker.send(command)

    def events(self) -> Generator[messages.Event, None, None]:
        """Yield every event as it comes, kept before it is yielded; the last is `Finished`."""
        watchdog = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        watchdog.start()
        try:
            for line, event in self._heard():
                self._take(line, event)
                yield event
        finally:
            self._ended.set()
            self._worker.close()
            watchdog.join()

    def stop(self) -> None:
        """Ask, and kill what has not ended after 100 ms; returns at once."""
        if not self._stopping:
            self._stopping = True
            self._worker.send(messages.Stop())

    def _check(self, event: messages.Event) -> None:
        """Accept what the worker says next, or raise BadMessage."""
        raise NotImplementedError

    def _take(self, line: bytes, event: messages.Event) -> None:
        """Do what must be done before an event is handed on."""

    def _limit_s(self) -> float:
        """Return how long the worker may be silent now."""
        raise NotImplementedError

    def _heard(self) -> Iterator[tuple[bytes, messages.Event]]:
        lines = total_bytes = 0
        while line := self._readline():
            lines += 1
            total_bytes += len(line)
            try:
                event = messages.decode_event(line)
                if isinstance(event, messages.Hello) and self._worker.pid is None:
                    self._worker.pid = event.pid
                    continue
                self._check(event)
            except messages.BadMessage as error:
                if not line.endswith(b"\n") and len(line) <= messages.LINE_LIMIT_BYTES:
                    break  # torn: the process died while it wrote
                yield self._invented(Outcome.FAILED, "wire_broken", reason=str(error))
                return
            yield line, event
            if isinstance(event, messages.Finished):
                self._worker.wait(GRACE_S)
                return
            if total_bytes > RUN_LIMIT_BYTES:
                yield self._invented(Outcome.FAILED, "too_much_output", limit_bytes=RUN_LIMIT_BYTES)
                return
            if lines >= RUN_LIMIT_LINES - 1:  # its end has to fit into the file as well
                yield self._invented(Outcome.FAILED, "too_many_lines", limit=RUN_LIMIT_LINES)
                return
        yield self._ending()

    def _readline(self) -> bytes:
        self._listening_since_s = time.monotonic()
        try:
            return self._worker.readline()
        finally:
            self._listening_since_s = None

    def _ending(self) -> tuple[bytes, messages.Event]:
        """The process ended without a word: say which of the endings it was."""
        # The guardian must hear of this end before that of its lifeline, or it tells of the latter.
        by_itself = self._worker.wait(GUARDIAN_S)
        status = self._worker.end()
        if self._stopping:
            return self._invented(Outcome.STOPPED, None)
        if self._silent_limit_s is not None:
            return self._invented(Outcome.KILLED, "silent_too_long", limit_s=self._silent_limit_s)
        ended_by = _signal_of(status)
        if ended_by == "SIGILL":
            virtualization = read_virtualization(Path("/"), Notes())
            is_guest = virtualization not in (None, "none")
            key = "illegal_instruction_guest" if is_guest else "illegal_instruction"
            return self._invented(Outcome.LOST, key)
        if ended_by in (*CRASHES, *WINDOWS_CRASHES.values()):
            return self._invented(Outcome.LOST, "crashed", signal=ended_by)
        if by_itself and ended_by in ENDINGS:
            # That memory ran out is said only if the system counts.
            is_by_system = self._out_of_memory.has_come()
            key = "killed_by_system" if is_by_system else "ended_from_outside"
            return self._invented(Outcome.LOST, key)
        return self._invented(Outcome.LOST, "vanished", status=status)

    def _invented(
        self, outcome: Outcome, key: str | None, **values: object
    ) -> tuple[bytes, messages.Event]:
        problem = None
        if key is not None:
            self._worker.end()
            problem = messages.ProblemSent(key=key, values=values, detail=self._worker.said())
        finished = messages.Finished(outcome=outcome, problem=problem)
        return messages.encode(finished), finished

    def _watch(self) -> None:
        """End a run that was asked to stop and has not, or that is silent beyond its limit."""
        since_s, silent_s, looked_s = None, 0.0, time.monotonic()
        while not self._ended.wait(TICK_S):
            if self._stopping:
                self._worker.wait(GRACE_S)
                self._worker.end()
                return
            if not self._worker.is_alive():  # the guardian; what it left may hold the pipe open
                self._worker.end()
                return
            limit_s = self._limit_s()  # before the silence: what is asked for now begins a new one
            before_s, looked_s = looked_s, time.monotonic()
            if since_s is None or since_s != self._listening_since_s:
                since_s, silent_s = self._listening_since_s, 0.0
                continue
            # Time in which this program was asleep itself (Ctrl-Z) is no silence of the worker.
            silent_s += min(looked_s - before_s, 5 * TICK_S)
            if silent_s > limit_s:
                self._silent_limit_s = limit_s
                self._worker.end()
                return


class Run(Job):
    """One measurement on its way."""

    def __init__(
        self,
        worker: Worker,
        experiment: Experiment[Any],
        params: Mapping[str, Any],
        *,
        quick: bool,
        keep: Keep | None = None,
        hold: bool = False,
        run_id: str = "",
        pair: str = "",
    ) -> None:
        self.id = run_id or str(uuid.uuid4())
        self._keep = keep
        self._order = Order()
        self._waiting = False  # for another program's run, or to be let go: as long as it takes
        command = messages.Measure(
            experiment=experiment.id,
            params=dict(params),
            quick=quick,
            run=self.id,
            hold=hold,
            pair=pair,
        )
        super().__init__(worker, experiment, command)

    def go(self, first: str = "") -> None:
        """End one wait of a run, also before it begins; returns at once.

        `first` is the name of the arm to begin with.
        """
        self._worker.send(messages.Go(first=first))

    def _check(self, event: messages.Event) -> None:
        self._order.check(event)
        waits = (*messages.WAITING, messages.HELD)
        self._waiting = isinstance(event, messages.Note) and event.key in waits

    def _take(self, line: bytes, event: messages.Event) -> None:
        if self._keep is not None and self._order.started is not None:
            self._keep(event, line)

    def _limit_s(self) -> float:
        if self._waiting:
            return float("inf")
        return self._quiet_limit_s if self._order.started else LOADING_LIMIT_S

    @functools.cached_property
    def _quiet_limit_s(self) -> float:
        """As its experiment has it, and longer on a GPU or where much memory is made ready."""
        started, limit_s = self._order.started, self.experiment.quiet_limit_s
        assert started is not None
        with contextlib.suppress(UserError):  # a private folder is not told, and may be needed
            params = from_json(self.experiment.params, started.params, check_choices=False)
            if device_of(params) != CPU:
                limit_s = max(limit_s, GPU_QUIET_S)
            limit_s += self.experiment.memory_bytes(params) * MEMORY_S_PER_BYTE
        return limit_s


class Engine:
    """Starts measurements, and keeps one worker warm: started, and its imports done."""

    def __init__(self, shelves: tuple[str, ...] = SHELVES) -> None:
        self._shelves = shelves
        self._warm: Worker | None = None

    def warm(self, experiment: Experiment[Any]) -> None:
        """Have a worker ready for this experiment; returns at once."""
        if not self.is_warm(experiment):
            self.close()
            imports, shelves = experiment.imports, self._shelves
            self._warm = Worker(guarded=True, imports=imports, shelves=shelves)

    def is_warm(self, experiment: Experiment[Any]) -> bool:
        """Is a worker ready that has the imports of this experiment?"""
        warm = self._warm
        return warm is not None and warm.imports == experiment.imports and warm.is_alive()

    def start(
        self,
        experiment: Experiment[Any],
        params: Mapping[str, Any],
        *,
        quick: bool = False,
        keep: Keep | None = None,
        hold: bool = False,
        run_id: str = "",
        pair: str = "",
    ) -> Run:
        """Start a measurement, in the warm worker where there is a fitting one.

        With `hold` its first turn waits for the run's `go`, with a `pair` each of its rounds.
        """
        self.warm(experiment)
        assert self._warm is not None
        run = Run(
            self._warm, experiment, params,
            quick=quick, keep=keep, hold=hold, run_id=run_id, pair=pair,
        )  # fmt: skip
        self._warm = None  # only now: parameters that cannot be sent leave it as it is
        return run

    def close(self) -> None:
        """End the warm worker."""
        if self._warm is not None:
            self._warm.close()
            self._warm = None
