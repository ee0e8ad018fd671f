"""`coreopsis watch`: the load of the machine as it changes."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
from types import SimpleNamespace
from typing import Any

from rich.live import Live
from rich.table import Table

from app.context import Context, ExitCode
from app.terminal.gpus import load_text, process_lines
from app.terminal.stopping import asked_to_stop
from experiments.engine import messages as wire
from experiments.engine.jobs import Worker
from experiments.engine.worker import FASTEST_HZ, SLOWEST_HZ
from experiments.problems import Problem, Trouble
from experiments.units import show
from experiments.words import Words

BAR_WIDTH = 30


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Show samples until told otherwise; exit code 130 after Ctrl-C, 0 after `--for`."""
    if not SLOWEST_HZ <= options.hz <= FASTEST_HZ:
        raise Trouble("not_a_rate", hz=options.hz)
    seconds = math.inf if options.seconds is None else options.seconds
    if not seconds > 0:
        raise Trouble("not_a_duration", seconds=seconds)
    worker = Worker(guarded=False)
    end = threading.Timer(min(seconds, threading.TIMEOUT_MAX), worker.send, [wire.Stop()])
    end.daemon = True
    try:
        with asked_to_stop(lambda: worker.send(wire.Stop())) as asked:
            worker.send(wire.Watch(hz=options.hz))
            end.start()
            code = _follow(worker, context, as_json=options.json)
        return ExitCode.STOPPED if asked() else code
    finally:
        end.cancel()
        worker.close()


def _follow(worker: Worker, context: Context, *, as_json: bool) -> ExitCode:
    console = context.console
    with contextlib.ExitStack() as stack:
        live = None
        if console.is_terminal and not as_json:
            live = stack.enter_context(Live(console=console, auto_refresh=False))
        while line := worker.readline():
            event = wire.decode_event(line)
            if isinstance(event, wire.Finished):
                if event.outcome is wire.Outcome.STOPPED:
                    return ExitCode.DONE
                break
            if not isinstance(event, wire.Sample):
                continue
            if as_json:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
            elif live is not None:
                live.update(_table(event, context.words), refresh=True)
            else:
                console.print(_line(event))
    context.complain(Problem("watch_ended"))
    return ExitCode.FAILED


def _table(sample: wire.Sample, words: Words) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(width=BAR_WIDTH)
    table.add_column(justify="right")
    for thread in sample.threads:
        table.add_row(f"thread {thread['id']}", _bar(thread["busy"]), _share(thread["busy"]))
    used, total = sample.memory["used_bytes"], sample.memory["total_bytes"]
    table.add_row("memory", _bar(used / total), f"{show(used, 'bytes')} of {show(total, 'bytes')}")
    for disk in sample.disks:
        rates = _rates(disk, read_bytes_per_s="read", write_bytes_per_s="written")
        table.add_row(f"disk {disk['name']}", _bar(disk["busy"]), rates)
    for card in sample.network:
        rates = _rates(card, received_bytes_per_s="received", sent_bytes_per_s="sent")
        table.add_row(f"network {card['name']}", "", rates)
    for gpu in sample.gpus:
        table.add_row(f"gpu {gpu['index']}", _bar(gpu["busy"]), load_text(gpu, words))
    for label, text in process_lines(sample.gpus):
        table.add_row(label, "", text)
    return table


def _line(sample: wire.Sample) -> str:
    threads = " ".join(f"{t['id']}:{_share(t['busy'])}" for t in sample.threads)
    used = show(sample.memory["used_bytes"], "bytes")
    gpus = "".join(f"  gpu{gpu['index']}:{_share(gpu['busy'])}" for gpu in sample.gpus)
    return f"{sample.t_s:.1f} s  {threads}  memory {used}{gpus}"


def _rates(sample: dict[str, Any], **names: str) -> str:
    known = ((sample[name], what) for name, what in names.items() if sample[name] is not None)
    return ", ".join(f"{show(rate, 'bytes/s')} {what}" for rate, what in known) or "?"


def _share(busy: Any) -> str:
    return "?" if busy is None else f"{busy * 100:.0f} %"


def _bar(share: float | None) -> str:
    return "" if share is None else "█" * round(share * BAR_WIDTH)
