"""The process in which a job runs: one command and then control messages in, events out.

The real standard output is for the protocol alone; prints of other code go to the log. If standard
input ends, the parent is gone, and the process ends. A command that was read before and is answered
in a moment is still answered. So people can pipe a line into the worker.
"""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()  # until all is loaded: to look through it again and again takes a tenth of that

import argparse
import contextlib
import functools
import importlib
import itertools
import os
import platform
import queue
import threading
import time
import traceback
from collections.abc import Iterable
from pathlib import Path

import msgspec

from experiments.core.catalogue import Catalogue
from experiments.core.limits import limit_problem
from experiments.core.problems import Problem, UserError
from experiments.core.processes.own_errors import own_problem
from experiments.core.processes.standard_pipes import take_input, take_output, write
from experiments.core.shelves import SHELVES
from experiments.devices.failures import device_problem
from experiments.engine import messages
from experiments.engine.environment import program_version
from experiments.engine.live_measuring import measure_points
from experiments.engine.measuring import measure
from experiments.engine.messages import Outcome
from machine.inspect import BadRoot, assemble, parts
from machine.live.sampler import Sampler
from machine.model import to_json
from machine.record import Record

SLOWEST_HZ, FASTEST_HZ = 0.1, 20.0
LAST_WORDS_S = 1.0  # for an answer under way at the end of the input: a driver may never return
TRACE = "Traceback (most recent call last)"
SAID_LIMIT, DETAIL_LIMIT = 300, 20_000  # characters of what an experiment raised


class Unreadable(Record, kw_only=False):
    """A line that is no command, in its place among those that are."""

    reason: str


class End(Record, kw_only=False):
    """No command comes any more."""


Heard = messages.Command | Unreadable | End


class Job:
    """The wire of this process: commands that came, events that go."""

    def __init__(self, input_: int, output: int) -> None:
        self.commands: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        self.stop = threading.Event()
        self._go, self._gone = messages.Go(), threading.Event()
        self._input, self._output = input_, output
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._fall_silent)

    def send(self, message: messages.Message) -> None:
        """Send one event. Raises messages.BadMessage for one that must not be sent."""
        line = messages.encode(message)
        while line:  # a pipe may take less than all
            line = line[write(self._output, line) :]

    def go(self, within_s: float) -> messages.Go | None:
        """Return the word to go on with a held run, None if it does not come so soon."""
        if not self._gone.wait(within_s):
            return None
        self._gone.clear()
        return self._go

    def _fall_silent(self) -> None:
        """In a forked process: it must not speak for its parent, nor keep the pipe open."""
        if self._output >= 0:
            os.close(self._output)
            self._output = -1

    def listen(self, first_line: bytes) -> None:
        """Read commands until the parent is gone; runs in a thread of its own."""
        # Unbuffered: the lock of sys.stdin, held by this thread while it reads, would abort an
        # interpreter that is ended by sys.exit in an experiment.
        with open(self._input, "rb", buffering=0) as commands:
            readline = functools.partial(commands.readline, messages.LINE_LIMIT_BYTES + 1)
            lines = itertools.chain([first_line] if first_line else [], iter(readline, b""))
            last = self._hear(lines)
        if isinstance(last, Unreadable | messages.Inspect):
            self.commands.put(End())
            time.sleep(LAST_WORDS_S)
        os._exit(3)

    def _hear(self, lines: Iterable[bytes]) -> Heard | None:
        """Hand on what the lines say; return the last of it."""
        command: Heard | None = None
        for line in lines:
            try:
                command = messages.decode_command(line)
            except messages.BadMessage as error:
                command = Unreadable(reason=str(error))
            if isinstance(command, messages.Stop):
                self.stop.set()
            elif isinstance(command, messages.Go):
                self._go = command
                self._gone.set()
            self.commands.put(command)
        return command


def main(arguments: list[str] | None = None, first_line: bytes = b"") -> None:
    """Serve one measurement, single points, or inspections and a watch until the parent goes.

    `first_line` was read from standard input already.
    """
    options = _options(arguments)
    job = Job(take_input(), take_output())
    with contextlib.suppress(BrokenPipeError):
        job.send(
            messages.Hello(
                protocol=messages.VERSION,
                program=program_version(),
                pid=os.getpid(),
                python=platform.python_version(),
            )
        )
        threading.Thread(
            target=job.listen, args=(first_line,), name="commands", daemon=True
        ).start()
        try:
            _load(options.imports)
            gc.enable()
            _serve(job, tuple(options.shelves))
        except Exception as error:  # noqa: BLE001  (the last resort: report, never swallow)
            job.send(failed(problem_of(error)))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="worker")
    parser.add_argument("--imports", nargs="*", default=[])
    parser.add_argument("--shelves", nargs="*", default=list(SHELVES))
    return parser.parse_args(arguments)


def _load(names: list[str]) -> None:
    for name in names:
        # A broken library may raise anything; told when an experiment wants it.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
            if name == "numba":
                _make_ready()


def _make_ready() -> None:
    """Load what numba otherwise loads with the first compiled loop: 200 modules, most of a second.

    Raises whatever numba raises.
    """
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def _serve(job: Job, shelves: tuple[str, ...]) -> None:
    command = job.commands.get()
    if isinstance(command, messages.Measure | messages.Live):
        job.send(_measured(job, shelves, command))
        os._exit(0)  # all is said and cleaned up; taking numba or torch apart would take 100 ms
    while True:
        following = None
        if isinstance(command, End):
            os._exit(3)
        try:
            if isinstance(command, messages.Inspect):
                _inspect(job, command)
            elif isinstance(command, messages.Watch):
                with contextlib.closing(Sampler()) as sampler:
                    following = _watch(job, sampler, command.hz)
            elif isinstance(command, Unreadable):
                job.send(failed(Problem("command_unreadable", {"reason": command.reason})))
            elif isinstance(command, messages.Measure | messages.Live | messages.Point):
                job.send(failed(Problem("command_out_of_turn")))
        except Exception as error:  # noqa: BLE001  (one job has failed, the next may go well)
            job.send(failed(_of_reading(problem_of(error))))
        command = following or job.commands.get()


def _measured(
    job: Job, shelves: tuple[str, ...], command: messages.Measure | messages.Live
) -> messages.Finished:
    try:
        # Only now: a user's own experiment may be newer than this worker.
        catalogue, stop = Catalogue(shelves), job.stop.is_set
        if isinstance(command, messages.Measure):
            return measure(command, catalogue, job.send, stop, job.go)
        return _answer(measure_points(command, catalogue, job.send, job.commands, stop, problem_of))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever is raised, said in words)
        if job.stop.is_set():  # on the way out, after it was asked to go
            traceback.print_exc()
            return messages.Finished(outcome=Outcome.STOPPED)
        return failed(problem_of(error))


def _answer(command: object) -> messages.Finished:
    """Return the last line of a worker that measured points, after what ended that."""
    if isinstance(command, Unreadable):
        return failed(Problem("command_unreadable", {"reason": command.reason}))
    if isinstance(command, messages.Stop):
        return messages.Finished(outcome=Outcome.STOPPED)
    return failed(Problem("command_out_of_turn"))


def _inspect(job: Job, command: messages.Inspect) -> None:
    found = {}
    try:
        for path, value in parts(Path(command.root) if command.root else None):
            found[path] = value
            job.send(messages.Found(path=path, value=msgspec.to_builtins(value)))
    except BadRoot as error:
        job.send(failed(Problem("root_unreadable", {"reason": str(error)})))
        return
    job.send(messages.Whole(value=to_json(assemble(found))))
    job.send(messages.Finished(outcome=Outcome.COMPLETED))


def _watch(job: Job, sampler: Sampler, hz: float) -> Heard | None:
    """Send samples; inspect and change the rate meanwhile. Return the command that ends it."""
    next_s = time.monotonic()
    while True:
        job.send(messages.Sample(**msgspec.to_builtins(sampler.sample())))
        next_s = max(next_s + _period_s(hz), time.monotonic())
        while (left_s := next_s - time.monotonic()) > 0:
            try:
                got = job.commands.get(timeout=left_s)
            except queue.Empty:
                break
            if isinstance(got, messages.Rate):
                hz = got.hz
                next_s = min(next_s, time.monotonic() + _period_s(hz))  # shares need a while
            elif isinstance(got, messages.Inspect):
                _inspect(job, got)
            elif isinstance(got, messages.Stop):
                job.send(messages.Finished(outcome=Outcome.STOPPED))
                return None
            else:
                return got


def _period_s(hz: float) -> float:
    return 1 / min(max(hz, SLOWEST_HZ), FASTEST_HZ)


def failed(problem: Problem) -> messages.Finished:
    """Return the last line of a job that failed."""
    return messages.Finished(outcome=Outcome.FAILED, problem=messages.problem_sent(problem))


def problem_of(error: BaseException) -> Problem:
    """Return the sentence for an error: its own where it is expected trouble."""
    if isinstance(error, UserError):
        return error.problem
    if (of_limit := limit_problem(error)) is not None:
        return Problem(of_limit.key, of_limit.values, _detail(error))
    if isinstance(error, MemoryError):
        return Problem("out_of_memory", detail=_detail(error))
    if (of_gpu := device_problem(error, _detail(error))) is not None:
        return of_gpu
    if (of_own := own_problem(error)) is not None:
        values = {
            name: _sendable(value, SAID_LIMIT) if isinstance(value, str) else value
            for name, value in of_own.values.items()
        }
        return Problem(of_own.key, values, _detail(error))
    if isinstance(error, ModuleNotFoundError) and error.name:
        return Problem("library_missing", {"name": error.name}, _detail(error))
    if isinstance(error, ImportError):  # it is there, and says why it does not work
        return Problem("library_broken", {"error": _said(error).rstrip(".")}, _detail(error))
    if isinstance(error, messages.BadMessage):
        return Problem("result_unsendable", {"reason": str(error)}, _detail(error))
    return Problem("experiment_raised", {"error": _said(error)}, _detail(error))


def _of_reading(problem: Problem) -> Problem:
    """Return a problem as it is worded where no experiment runs."""
    if problem.key != "experiment_raised":
        return problem
    return Problem("reading_failed", problem.values, problem.detail)


def _said(error: BaseException) -> str:
    """Return the kind of an error and its text; of a trace within, as torch has it, the last line.

    The first lines of such a text only say that another process failed.
    """
    text = str(error).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if TRACE in text and len(lines) > 1:
        return _sendable(lines[-1], SAID_LIMIT)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return _sendable(said, SAID_LIMIT)


def _detail(error: BaseException) -> str:
    """Return the trace by module and line: a kept file carries no personal path."""
    frames = [
        f"{frame.f_globals.get('__name__', '?')}:{line} in {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    text = "\n".join([*frames, *traceback.format_exception_only(error)]).strip()
    return _sendable(text, DETAIL_LIMIT)


def _sendable(text: str, limit: int) -> str:
    """Return what an experiment said, cut to a length and to characters that a line can take."""
    return text[:limit].encode(errors="replace").decode()


if __name__ == "__main__":
    main()
