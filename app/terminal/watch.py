"""`coreopsis watch`: the load of the machine as it changes.

The words of disks and network are those of Live; their modules know nothing of Qt.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import msgspec
from rich.console import Group
from rich.live import Live
from rich.table import Table

from app.context import Context, ExitCode
from app.output import lost, write_line
from app.terminal.parts.gpus import load_text, process_lines
from app.terminal.stopping import asked_to_stop
from experiments.core.problems import Problem, UserError
from experiments.core.units import show
from experiments.engine import messages
from experiments.engine.jobs import Worker
from experiments.engine.worker import FASTEST_HZ, SLOWEST_HZ
from experiments.presentation.load.face import Face
from experiments.presentation.load.faces import Faces
from experiments.presentation.load.history import History, Moment
from experiments.presentation.load.io_faces import IoFaces, flow
from experiments.presentation.load.resources import HOT_CELSIUS
from machine.live.recorded_watch import RecordedWatch

BAR_WIDTH = 30  # at most, where the terminal is wide enough
FEW_THREADS = 16  # have a line each; more threads become one row of steps
STEPS = "▁▂▃▄▅▆▇█"


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Show samples until Ctrl-C, with exit code 130, or for the seconds of `--for`, with 0."""
    if not SLOWEST_HZ <= options.hz <= FASTEST_HZ:
        raise UserError("not_a_rate", hz=options.hz)
    seconds = math.inf if options.seconds is None else options.seconds
    if not seconds > 0:
        raise UserError("not_a_duration", seconds=seconds)
    if context.has_fake_machine:
        recorded = context.recorded_watch
        if recorded is None:
            raise UserError("fake_machine_unwatched")
        return _replay(recorded, context, seconds, as_json=options.json)
    worker = Worker(guarded=False)
    end = threading.Timer(min(seconds, threading.TIMEOUT_MAX), worker.send, [messages.Stop()])
    end.daemon = True
    try:
        with asked_to_stop(lambda: worker.send(messages.Stop())) as asked:
            worker.send(messages.Watch(hz=options.hz))
            end.start()
            code = _follow(worker, context, as_json=options.json)
        return ExitCode.STOPPED if asked() else code
    finally:
        end.cancel()
        worker.close()


def _follow(worker: Worker, context: Context, *, as_json: bool) -> ExitCode:
    with _Told(context, as_json=as_json) as told:
        while line := worker.readline():
            event = messages.decode_event(line)
            if isinstance(event, messages.Finished):
                if event.outcome is messages.Outcome.STOPPED:
                    return ExitCode.DONE
                if (problem := event.problem) is not None:
                    context.complain(Problem(problem.key, problem.values))
                    return ExitCode.FAILED
                break
            if isinstance(event, messages.Sample):
                told.tell(event)
                if lost() is not None:
                    return ExitCode.FAILED
    context.complain(Problem("watch_ended"))
    return ExitCode.FAILED


def _replay(
    recorded: RecordedWatch, context: Context, seconds: float, *, as_json: bool
) -> ExitCode:
    """Show a recorded watch once, each sample at its time."""
    model = (recorded.machine or context.machine).cpu.model
    name = {"machine": model or "?", "date": recorded.at[:10] or "?"}
    band = context.words.say("terminal.recorded_on", name)
    if recorded.is_made_up:
        band = context.words.say("live.made_up", {"machine": model or "?"})
    context.errors.print(band)
    stop, first_s, start_s = threading.Event(), recorded.samples[0].t_s, time.monotonic()
    with asked_to_stop(stop.set), _Told(context, as_json=as_json) as told:
        for sample in recorded.samples:
            passed_s = sample.t_s - first_s
            if passed_s >= seconds or stop.wait(max(0.0, start_s + passed_s - time.monotonic())):
                break
            told.tell(messages.Sample(**msgspec.to_builtins(sample)))
            if lost() is not None:
                break
    return ExitCode.STOPPED if stop.is_set() else ExitCode.DONE


class _Told(contextlib.ExitStack):
    """Prints samples: as JSON, in a table that is updated in place, or a line each."""

    def __init__(self, context: Context, *, as_json: bool) -> None:
        super().__init__()
        self._console, self._words, self._as_json = context.console, context.words, as_json
        self._history, self._live = History(), None
        self._faces = Faces(context.words)
        self._io = IoFaces(context.words, self._faces)
        if self._console.is_terminal and not as_json:
            self._live = self.enter_context(Live(console=self._console, auto_refresh=False))

    def tell(self, sample: messages.Sample) -> None:
        """Print one sample."""
        if self._as_json:
            write_line(messages.encode(sample))
            return
        self._faces.know_missing(sample.missing)
        moment = self._history.add(
            sample.t_s,
            sample.threads,
            sample.memory,
            disks=sample.disks,
            network=sample.network,
            gpus=sample.gpus,
            heat=sample.heat,
        )
        if self._live is not None:
            self._live.update(self._table(sample, moment), refresh=True)
        else:
            self._console.print(_line(sample, moment), soft_wrap=True)

    def _table(self, sample: messages.Sample, moment: Moment) -> Group:
        width = min(BAR_WIDTH, self._console.width // 4)
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="dim", no_wrap=True)
        table.add_column(width=width)
        table.add_column()
        table.add_row("cores", _bar(moment.busy_fraction, width), _text(self._faces.cores(moment)))
        for label, bar, text in _thread_rows(sample, width):
            table.add_row(label, bar, text)
        memory = _text(self._faces.memory(moment))
        table.add_row("memory", _bar(moment.memory_fraction, width), memory)
        if sample.disks:
            busiest = max((disk.get("busy") or 0.0 for disk in sample.disks), default=None)
            table.add_row("disks", _bar(busiest, width), _text(self._io.disks(moment)))
        if sample.network:
            table.add_row("network", "", _text(self._io.network(moment)))
        if moment.heat is not None:
            share = None if moment.celsius is None else moment.celsius / HOT_CELSIUS
            table.add_row("heat", _bar(share, width), _text(self._faces.heat(moment)))
        for gpu in sample.gpus:
            load = load_text(gpu, self._words)
            table.add_row(f"gpu {gpu['index']}", _bar(gpu["busy"], width), load)
        for label, text in process_lines(sample.gpus):
            table.add_row(label, "", text)
        missing = self._faces.not_sampled()[0]
        return Group(table, missing) if missing else Group(table)


def _text(face: Face) -> str:
    """Return the text of a tile on one line, errors first."""
    errors = face.errors if face.error_state in ("some", "fault") else ""
    return " · ".join(part for part in (errors, face.number, *face.detail.split("\n")) if part)


def _thread_rows(sample: messages.Sample, width: int) -> Iterator[tuple[str, str, str]]:
    threads = sample.threads
    if len(threads) <= FEW_THREADS:
        for thread in threads:
            yield f"thread {thread['id']}", _bar(thread["busy"], width), _share(thread["busy"])
        return
    for start in range(0, len(threads), width):
        some = threads[start : start + width]
        steps = "".join("?" if t["busy"] is None else _step(t["busy"]) for t in some)
        yield f"threads {some[0]['id']} to {some[-1]['id']}", steps, ""


def _step(share: float) -> str:
    return STEPS[min(int(share * len(STEPS)), len(STEPS) - 1)]


def _line(sample: messages.Sample, moment: Moment) -> str:
    if len(sample.threads) <= FEW_THREADS:
        cores = " ".join(f"{t['id']}:{_share(t['busy'])}" for t in sample.threads)
    else:
        cores = f"cores {_share(moment.busy_fraction)}"
    parts = [f"{sample.t_s:.1f} s", cores, f"memory {show(sample.memory['used_bytes'], 'bytes')}"]
    for name, rate in (
        ("disks", flow(sample.disks, "read_bytes_per_s", "write_bytes_per_s")),
        ("network", flow(sample.network, "received_bytes_per_s", "sent_bytes_per_s")),
    ):
        if rate is not None:
            parts.append(f"{name} {show(rate, 'bytes/s')}")
    if moment.celsius is not None:
        parts.append(f"heat {moment.celsius:.0f} °C")
    parts += [f"gpu{gpu['index']}:{_share(gpu['busy'])}" for gpu in sample.gpus]
    return "  ".join(parts)


def _share(busy: Any) -> str:
    return "?" if busy is None else f"{busy * 100:.0f} %"


def _bar(share: float | None, width: int) -> str:
    return "" if share is None else "█" * round(min(share, 1.0) * width)
