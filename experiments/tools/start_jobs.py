"""Jobs that start-cost starts, in a process of its own: small, single-threaded, without Qt.

So fork copies little, no thread disturbs it, and spawn does not import a whole program. The child
imports this file, so modules that only some methods need are imported there.
"""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from experiments.core.processes.die_with_parent import die_with

if TYPE_CHECKING:
    from concurrent.futures import Executor

PAGE_BYTES = 4096
TINY = shutil.which("true") or ""  # the smallest program that every Unix has
UNROLLED = 10  # so that a call contains a tenth of a turn of the loop


def nothing() -> int:
    """Return at once."""
    return 0


def import_and_end(module: str) -> None:
    """Be a child that needs a module before it can work."""
    if module != "nothing":
        importlib.import_module(module)


async def nothing_awaited() -> int:
    """Return at once, as a coroutine."""
    return 0


def calls(count: int) -> float:
    """Call a function `count` times, a multiple of ten."""
    start_s = time.perf_counter()
    for _ in range(count // UNROLLED):
        nothing(), nothing(), nothing(), nothing(), nothing()
        nothing(), nothing(), nothing(), nothing(), nothing()
    return time.perf_counter() - start_s


def coroutines(count: int) -> float:
    """Make coroutines and await each, `count` in all."""
    import asyncio

    async def await_all() -> float:
        start_s = time.perf_counter()
        for _ in range(count // UNROLLED):
            await nothing_awaited(), await nothing_awaited(), await nothing_awaited()
            await nothing_awaited(), await nothing_awaited(), await nothing_awaited()
            await nothing_awaited(), await nothing_awaited(), await nothing_awaited()
            await nothing_awaited()
        return time.perf_counter() - start_s

    return asyncio.run(await_all())


def tasks(count: int) -> float:
    """Hand coroutines to the event loop as tasks, each awaited before the next."""
    import asyncio

    async def await_all() -> float:
        start_s = time.perf_counter()
        for _ in range(count):
            await asyncio.create_task(nothing_awaited())
        return time.perf_counter() - start_s

    return asyncio.run(await_all())


def threads(count: int) -> float:
    """Start threads and join each before the next."""
    start_s = time.perf_counter()
    for _ in range(count):
        thread = threading.Thread(target=nothing)
        thread.start()
        thread.join()
    return time.perf_counter() - start_s


def processes(how: str, module: str, count: int) -> float:
    """Start processes and join each before the next; the fork server starts before the clock."""
    context: Any = multiprocessing.get_context(how)
    if how == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()
    start_s = time.perf_counter()
    for _ in range(count):
        process = context.Process(target=import_and_end, args=(module,))
        process.start()
        process.join()
        if process.exitcode:
            raise RuntimeError(f"a process ended with {process.exitcode}")
    return time.perf_counter() - start_s


def forks(count: int) -> float:
    """Fork this process, end the copy at once, and wait for it, `count` times."""
    if sys.platform != "win32":
        start_s = time.perf_counter()
        for _ in range(count):
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
        return time.perf_counter() - start_s
    raise NotImplementedError("Windows cannot copy a process.")


def programs(count: int) -> float:
    """Start a program that ends at once, by posix_spawn, and wait for it, `count` times."""
    if sys.platform != "win32":
        start_s = time.perf_counter()
        for _ in range(count):
            os.waitpid(os.posix_spawn(TINY, [TINY], {}), 0)
        return time.perf_counter() - start_s
    raise NotImplementedError("Windows has no posix_spawn.")


def subinterpreters(count: int) -> float:
    """Create subinterpreters, run nothing and destroy them. For Python 3.12 and later."""
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    module: Any = importlib.import_module(name)
    start_s = time.perf_counter()
    for _ in range(count):
        interpreter = module.create()
        module.run_string(interpreter, "pass")
        module.destroy(interpreter)
    return time.perf_counter() - start_s


def _pool_of_threads() -> Executor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(1)


def _pool_of_processes() -> Executor:
    from concurrent.futures import ProcessPoolExecutor

    # With fork, where there is one: the pool's semaphores have no names that could be left behind.
    how = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(how)
    return ProcessPoolExecutor(1, context, initializer=die_with, initargs=(os.getpid(),))


def cold_pool(new: Callable[[], Executor], count: int) -> float:
    """Make a pool, have one job done and close it, `count` times."""
    start_s = time.perf_counter()
    for _ in range(count):
        with new() as pool:
            pool.submit(nothing).result()
    return time.perf_counter() - start_s


def warm_pool(new: Callable[[], Executor], count: int) -> float:
    """Have a standing pool do jobs, each waited for."""
    with new() as pool:
        pool.submit(nothing).result()
        start_s = time.perf_counter()
        for _ in range(count):
            pool.submit(nothing).result()
        return time.perf_counter() - start_s


STARTS: dict[str, Callable[[int], float]] = {
    "call": calls,
    "coroutine": coroutines,
    "task": tasks,
    "thread": threads,
    "os_fork": forks,
    "posix_spawn": programs,
    "subinterpreter": subinterpreters,
    "thread_pool_cold": functools.partial(cold_pool, _pool_of_threads),
    "thread_pool_warm": functools.partial(warm_pool, _pool_of_threads),
    "process_pool_cold": functools.partial(cold_pool, _pool_of_processes),
    "process_pool_warm": functools.partial(warm_pool, _pool_of_processes),
}

_held: list[bytearray] = []  # memory of the parent: a fork copies its page tables


def hold(request: dict[str, Any]) -> dict[str, Any]:
    """Take memory and touch every page; return the ways to start a process that there are."""
    block = bytearray(request["bytes"])
    for place in range(0, len(block), PAGE_BYTES):
        block[place] = 1
    _held[:] = [block]
    ways = multiprocessing.get_all_start_methods()
    ways += ["os_fork"] if hasattr(os, "fork") else []
    ways += ["posix_spawn"] if TINY and hasattr(os, "posix_spawn") else []
    return {"processes": ways}


def start(request: dict[str, Any]) -> dict[str, Any]:
    """Start `count` of one method, one after another."""
    method, count = request["method"], request["count"]
    if method in STARTS:
        return {"taken_s": STARTS[method](count)}
    return {"taken_s": processes(method, request["module"], count)}


if __name__ == "__main__":
    import warnings

    from experiments.tools.serving import serve

    warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 on fork beside a pool's threads
    serve({"hold": hold, "start": start})
