"""Both ends of waiting: a server that answers after a fixed time, and clients that wait for it.

They run in two processes. The server does as little as it can: it answers one byte when the time is
up. All times are equal, so it serves in order of arrival.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import functools
import multiprocessing
import os
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.core.processes.die_with_parent import call_tied

HOST = "127.0.0.1"
STACK_BYTES = 256 * 2**10  # reserved for a thread, which touches little of it
ANSWER = b"."

# --- the server ---------------------------------------------------------------------------------


def listen(request: dict[str, Any]) -> dict[str, Any]:
    """Serve on a port that the system chooses, until this process ends."""
    listener = socket.create_server((HOST, 0), backlog=4096)
    listener.setblocking(False)
    threading.Thread(target=_serve, args=(listener, request["wait_s"]), daemon=True).start()
    return {"port": listener.getsockname()[1], "files": allow_files()}


def _serve(listener: socket.socket, wait_s: float) -> None:
    due: collections.deque[tuple[float, socket.socket]] = collections.deque()
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while True:
            left_s = None if not due else max(0.0, due[0][0] - time.perf_counter())
            if selector.select(left_s):
                with contextlib.suppress(OSError):  # no more clients, or no more files for now
                    while True:
                        client, _ = listener.accept()
                        due.append((time.perf_counter() + wait_s, client))
            while due and due[0][0] <= time.perf_counter():
                with due.popleft()[1] as client, contextlib.suppress(OSError):
                    client.send(ANSWER)


# --- the clients --------------------------------------------------------------------------------


def wait_once(port: int, work_s: float = 0.0) -> bytes:
    """Wait for one answer, then compute for `work_s`."""
    with socket.create_connection((HOST, port)) as connection:
        answer = connection.recv(1)
    compute(work_s)
    return answer


def compute(work_s: float) -> None:
    """Keep a core busy for that long; what other threads compute meanwhile does not count.

    LIMIT: Windows counts the time of a thread in ticks of its clock, some 16 ms each.
    """
    end_s = time.thread_time() + work_s
    while time.thread_time() < end_s:
        pass


def serial(request: dict[str, Any]) -> int:
    """Wait once after the other."""
    once = functools.partial(wait_once, request["port"], request["work_s"])
    return sum(once() == ANSWER for _ in range(request["count"]))


def coroutines(request: dict[str, Any]) -> int:
    """Wait in coroutines, all in one thread."""

    async def wait(number: int) -> bytes:
        loop = asyncio.get_running_loop()
        if number == 0 and request["one_blocks"]:
            time.sleep(request["wait_s"])  # the mistake: no other coroutine runs meanwhile
        with socket.socket() as connection:
            connection.setblocking(False)
            await loop.sock_connect(connection, (HOST, request["port"]))
            answer = await loop.sock_recv(connection, 1)
        compute(request["work_s"])
        return answer

    async def wait_for_all() -> list[bytes]:
        return await asyncio.gather(*(wait(number) for number in range(request["count"])))

    return asyncio.run(wait_for_all()).count(ANSWER)


def computing(request: dict[str, Any]) -> int:
    """Compute in coroutines, each for as long as the others wait."""

    async def work() -> bytes:
        compute(request["wait_s"] + request["work_s"])
        return ANSWER

    async def work_on_all() -> list[bytes]:
        return await asyncio.gather(*(work() for _ in range(request["count"])))

    return asyncio.run(work_on_all()).count(ANSWER)


def threads(request: dict[str, Any]) -> int:
    """Wait in threads, each started for it."""
    answers: list[bytes] = []

    def wait() -> None:
        answers.append(wait_once(request["port"], request["work_s"]))

    for thread in _started(wait, request["count"]):
        thread.join()
    return answers.count(ANSWER)


def processes(request: dict[str, Any]) -> int:
    """Wait in processes, each started for it."""
    forks = "fork" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("fork" if forks else "spawn")
    waiters = [
        context.Process(
            target=call_tied,
            args=(os.getpid(), _wait_or_fail, request["port"], request["work_s"]),
        )
        for _ in range(request["count"])
    ]
    for waiter in waiters:
        waiter.start()
    for waiter in waiters:
        waiter.join()
    return sum(waiter.exitcode == 0 for waiter in waiters)


def _wait_or_fail(port: int, work_s: float) -> None:
    if wait_once(port, work_s) != ANSWER:
        raise SystemExit(1)


def _started(target: Callable[[], None], count: int) -> list[threading.Thread]:
    """Start up to `count` threads: as many as the system allows."""
    started = []
    with contextlib.suppress(RuntimeError):
        for _ in range(count):
            thread = threading.Thread(target=target)
            thread.start()
            started.append(thread)
    return started


WAYS = {
    "serial": serial,
    "coroutines": coroutines,
    "threads": threads,
    "processes": processes,
    "computing": computing,
}


def wait(request: dict[str, Any]) -> dict[str, Any]:
    """Wait `count` times in one way; return the time, or that the system allows no more."""
    threading.stack_size(STACK_BYTES)
    start_s = time.perf_counter()
    try:
        answers = WAYS[request["way"]](request)
    except (OSError, RuntimeError):  # no more threads, processes or files
        return {"refused": True}
    taken_s = time.perf_counter() - start_s
    if answers != request["count"]:
        return {"refused": True}
    return {"refused": False, "taken_s": taken_s}


def ready(_request: dict[str, Any]) -> dict[str, Any]:
    """Allow this process its most open files; return how many."""
    return {"files": allow_files()}


def allow_files() -> int | None:
    """Raise this process's limit of open files to its maximum; None if there is none."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        if soft != resource.RLIM_INFINITY:
            return soft
    return None


# --- memory -------------------------------------------------------------------------------------


def weigh(request: dict[str, Any]) -> dict[str, Any]:
    """Return the growth of memory while `count` coroutines or threads wait.

    `growth_bytes` is the whole, `kernel_bytes` the kernel's part of it. That part is known for
    threads only, and None if the system does not report it.
    """
    threading.stack_size(STACK_BYTES)
    weighed = _coroutines_grow if request["kind"] == "coroutine" else _threads_grow
    try:
        weighed(8)  # one-time costs, such as the loop's modules
        growth_bytes, kernel_bytes = weighed(request["count"])
    except RuntimeError:
        return {"refused": True}
    return {
        "refused": False,
        "growth_bytes": growth_bytes + (kernel_bytes or 0),
        "kernel_bytes": kernel_bytes,
    }


def _coroutines_grow(count: int) -> tuple[int, None]:
    async def grow() -> int:
        go = asyncio.Event()

        async def wait_for_go() -> None:
            await go.wait()

        before_bytes = _resident_bytes()
        tasks = [asyncio.create_task(wait_for_go()) for _ in range(count)]
        await asyncio.sleep(0)  # each runs until it waits
        growth_bytes = _resident_bytes() - before_bytes
        go.set()
        await asyncio.gather(*tasks)
        return growth_bytes

    return asyncio.run(grow()), None


def _threads_grow(count: int) -> tuple[int, int | None]:
    go, waiting = threading.Event(), threading.Semaphore(0)

    def wait_for_go() -> None:
        waiting.release()
        go.wait()

    before_bytes, kernel_before_bytes = _resident_bytes(), kernel_bytes()
    started = _started(wait_for_go, count)
    for _ in started:
        waiting.acquire()
    growth_bytes, kernel_after_bytes = _resident_bytes() - before_bytes, kernel_bytes()
    go.set()
    for thread in started:
        thread.join()
    if len(started) < count:
        raise RuntimeError("no more threads")
    if kernel_before_bytes is None or kernel_after_bytes is None:
        return growth_bytes, None
    return growth_bytes, kernel_after_bytes - kernel_before_bytes


def _resident_bytes() -> int:
    import psutil

    resident: int = psutil.Process().memory_info().rss
    return resident


def kernel_bytes(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return the bytes of all the kernel's stacks and page tables; None if either is unknown.

    No process has them in its resident memory. The kernel's other records of a thread (its
    task_struct and more, about 5 KiB) are left out: freed ones are kept and used again.
    Source: Documentation/filesystems/proc.rst of the kernel.
    """
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return None
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    if not told.keys() >= {"KernelStack", "PageTables"}:
        return None
    return sum(int(told[name].split()[0]) * 1024 for name in ("KernelStack", "PageTables"))


if __name__ == "__main__":
    from experiments.tools.serving import serve

    serve({"listen": listen, "ready": ready, "wait": wait, "weigh": weigh})
