"""The samplers of the latency ruler: one function for each number, as other experiments time it.

Processes, the file and the connection exist from the start, and end with the stack.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.core.processes.futex import FUTEX
from experiments.tools.batches import batch
from experiments.tools.buffers import Buffer, Untouched
from experiments.tools.chasing import step_s
from experiments.tools.disk_file import DiskFile
from experiments.tools.interpreters import own
from experiments.tools.side_by_side import CAN_PIN, Futex, handed_s
from machine.storage.place import usual_folder

Number = Callable[[int], float]  # takes the round, returns the seconds of one operation

ECHO = Path(__file__).with_name("echo_jobs.py")
SAMPLE_S = 0.01
BEYOND_L2 = 4  # times the L2: nearer, the L2 still answers; a guest may have a small part of L3
GUESSED, TRIES = 2**18, 3  # bytes, too many to be learned by heart; of a round
HALF = 128  # of 256 bytes reach it
MESSAGE_BYTES, BLOCK_BYTES, TOUCHED_BYTES = 64, 4096, 8 * x.MIB
_METHODS = {"call": "call", "thread": "thread", "process": "spawn"}  # as start-cost names them


def distances(bench: x.Bench, memory_bytes: int) -> dict[str, Number]:
    """Return one dependent read from each cache, and from memory if `memory_bytes` is not 0."""
    known = x.cache_sizes(bench.machine)
    sizes = {name: size // 2 for name, size in known.items()}
    if x.is_guest(bench.machine) and "l3" in sizes and "l2" in known:
        sizes["l3"] = min(sizes["l3"], BEYOND_L2 * known["l2"])
    if memory_bytes:
        sizes["memory"] = memory_bytes
    if not sizes:
        return {}
    with bench.pinned():
        buffer = Buffer(max(sizes.values()))

    def distance(size_bytes: int, turn: int) -> float:
        with bench.pinned():  # not longer: child processes would inherit it
            return step_s(buffer, size_bytes, bench, turn=turn, at_random=True)

    return {name: functools.partial(distance, size) for name, size in sizes.items()}


def asked(bench: x.Bench) -> dict[str, Number]:
    """Return an uncontended lock, and a system call where it can be timed."""
    lock = threading.Lock()
    take, give = lock.acquire, lock.release

    def locks(times: int) -> None:
        for _ in range(times // 10):
            take(), give(), take(), give(), take(), give(), take(), give(), take(), give()
            take(), give(), take(), give(), take(), give(), take(), give(), take(), give()

    loops = {"lock": locks}
    if sys.platform != "win32":
        from experiments.kernels.system_calls import ask_kernel

        loops["system_call"] = ask_kernel
    return {name: _each(loop, bench) for name, loop in loops.items()}


def guessed(bench: x.Bench) -> dict[str, Number]:
    """Return the price of a wrong guess: half of the shuffled bytes are added, and none by heart.

    The order changes nothing else, so the difference to sorted bytes is the price of every second.
    """
    import numpy as np

    from experiments.kernels.branches import with_branch

    shuffled = np.random.default_rng(x.SEED).integers(0, 256, GUESSED, np.uint8)
    both = np.sort(shuffled), shuffled

    works = [functools.partial(with_branch, numbers, HALF, 1) for numbers in both]

    def price_s(_turn: int) -> float:
        with bench.pinned():
            tries = [[bench.time(work) for work in works] for _ in range(TRIES)]
        sorted_s, shuffled_s = (min(each) for each in zip(*tries, strict=True))
        return float(2 * (shuffled_s - sorted_s) / GUESSED)

    return {"mispredict": price_s}


def by_kernel(bench: x.Bench) -> dict[str, Number]:
    """Return the first touch of a page, and a switch of threads on one core, where they can be."""
    found: dict[str, Number] = {}
    if hasattr(mmap, "MAP_PRIVATE"):
        found["page_fault"] = functools.partial(_first_touch_s, bench)
    if CAN_PIN and FUTEX:
        switched_s = functools.partial(_switched_s, Futex(), bench)
        found["switch"] = _batch(switched_s, 100)
    return found


def _first_touch_s(bench: x.Bench, _turn: int) -> float:
    from experiments.kernels.pages import touch

    pages = TOUCHED_BYTES // mmap.PAGESIZE
    with bench.pinned(), Untouched(TOUCHED_BYTES, huge=False) as address:
        return bench.time(lambda: touch(address, mmap.PAGESIZE, pages)) / pages


def _switched_s(link: Futex, bench: x.Bench, count: int) -> float:
    with bench.pinned() as core:
        return handed_s(link, core, bench, count)


def started(bench: x.Bench, stack: contextlib.ExitStack) -> dict[str, Number]:
    """Return a call, and a thread and a process that do nothing and are waited for."""
    from experiments.tools import start_jobs

    python = stack.enter_context(contextlib.closing(own(start_jobs, bench.check_stop)))
    taken_s = functools.partial(python.taken_s, arm="start", module="nothing")
    return {
        name: _batch(functools.partial(taken_s, method=method), 1000 if method == "call" else 1)
        for name, method in _METHODS.items()
    }


def handed_over(bench: x.Bench, stack: contextlib.ExitStack) -> dict[str, Number]:
    """Return a round trip of a word to another thread, and to another process by loopback."""
    from experiments.tools import talk_jobs

    from .echo_jobs import connected  # with sockets, which no list of experiments needs

    python = stack.enter_context(contextlib.closing(own(talk_jobs, bench.check_stop)))
    python.do(arm="start", largest_bytes=MESSAGE_BYTES)
    taken_s = functools.partial(
        python.taken_s, arm="talk", method="thread_queue", payload="bytes", bytes=MESSAGE_BYTES
    )
    echo = stack.enter_context(contextlib.closing(own(ECHO, bench.check_stop)))
    connection = stack.enter_context(connected(echo.do(arm="listen")["port"]))
    send, receive = connection.send, connection.recv

    def round_trips(count: int) -> None:
        for _ in range(count):
            send(b".")
            receive(1)

    return {"handoff": _batch(taken_s, 10), "loopback": _each(round_trips, bench)}


def from_disk(
    bench: x.Bench, stack: contextlib.ExitStack, folder: str, file_bytes: int
) -> dict[str, Number]:
    """Return a read of 4 KiB past the page cache, nothing where that is impossible."""
    try:
        file = DiskFile(Path(folder) if folder else usual_folder(), file_bytes, bench)
        stack.enter_context(file)
        for _ in file.write():
            pass
    except (x.UserError, OSError):
        return {}

    def read_s(_turn: int) -> float:
        return 1 / file.reads_per_s(BLOCK_BYTES, 1, at_random=True, sample_s=2 * SAMPLE_S)

    return {"disk": read_s}


def _each(loop: Callable[[int], Any], bench: x.Bench) -> Number:
    return _batch(lambda count: bench.time(lambda: loop(count)), 1000)


def _batch(taken_s: Callable[[int], float], first: int) -> Number:
    count = batch(taken_s, SAMPLE_S, start=first)
    return lambda _turn: taken_s(count) / count
