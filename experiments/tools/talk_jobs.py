"""Both ends of talk-cost: in each way a message crosses and a short answer returns.

The other end is a thread, or one process for each way, started before any thread runs here. Every
answer holds the message's length and last element, and is checked.
"""

from __future__ import annotations

import array
import contextlib
import mmap
import multiprocessing
import os
import pickle
import queue
import struct
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from experiments.core.processes.die_with_parent import call_tied
from experiments.tools.serving import end_with_any, serve

if sys.platform != "win32":
    import fcntl
    import resource

Ask = Callable[[], Any]

WIDER = 16  # times a usual pipe: what Linux lets any program take
HEADER = struct.Struct("qq")  # bytes to look at, and whether they have to be rebuilt
LAST = 7  # of every message


def message(kind: str, size: int) -> Any:
    """Return `size` bytes to send: plain bytes, an array or a list of 8-byte integers."""
    if kind == "bytes":
        return bytes(size - 1) + bytes([LAST])
    numbers = array.array("q", [*range(1, size // 8), LAST])
    return numbers if kind == "array" else list(numbers)


def seen(arrived: Any) -> tuple[int, int]:
    """Return the proof that a message arrived: its length and its last element."""
    return len(arrived), arrived[-1]


class TwoPipes(NamedTuple):
    """A pipe to the other end, and one back; `Pipe()` would make a socket, which holds more."""

    incoming: Any
    outgoing: Any

    def send(self, load: Any) -> None:
        """Send an object."""
        self.outgoing.send(load)

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.outgoing.send_bytes(data)

    def recv(self) -> Any:
        """Return the next object; raises EOFError at the end."""
        return self.incoming.recv()

    def recv_bytes(self) -> bytes:
        """Return the next bytes; raises EOFError at the end."""
        data: bytes = self.incoming.recv_bytes()
        return data

    def close(self) -> None:
        """Close both."""
        self.incoming.close()
        self.outgoing.close()


def resized(pipe: Any, size_bytes: int | None = None) -> int | None:
    """Return the bytes that a pipe holds, after it was given a size; None where unknown (Linux)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            if size_bytes is not None:
                fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, size_bytes)
            return fcntl.fcntl(pipe.fileno(), fcntl.F_GETPIPE_SZ)
    return None


# --- the other end ------------------------------------------------------------------------------


def answer_queue(incoming: Any, outgoing: Any) -> None:
    """Answer what comes through a queue, of threads or of processes."""
    while (arrived := incoming.get()) is not None:
        outgoing.put(seen(arrived))


def answer_pipe(connection: Any) -> None:
    """Answer objects that come through a pipe."""
    _until_closed(lambda: connection.send(seen(connection.recv())))


def answer_raw(connection: Any) -> None:
    """Answer bytes that come through a pipe as they are."""
    _until_closed(lambda: connection.send_bytes(connection.recv_bytes()[-1:]))


def answer_kept(connection: Any, most_bytes: int) -> None:
    """Answer bytes that come through a pipe after their number, read into memory that is kept."""
    if sys.platform == "win32":  # which has no such call: never asked this way, it only waits
        _until_closed(connection.recv_bytes)
    else:
        kept = memoryview(bytearray(most_bytes))

        def once() -> None:
            size, _ = HEADER.unpack(connection.recv_bytes())
            came = 0
            while came < size:
                piece = os.readv(connection.incoming.fileno(), [kept[came:size]])
                if not piece:
                    raise EOFError
                came += piece
            connection.send_bytes(kept[size - 1 : size])

        _until_closed(once)


def answer_shared(connection: Any, shared: tuple[int, str]) -> None:
    """Answer each signal with what lies in the shared memory, used in place."""
    view = memoryview(open_shared(*shared))

    def once() -> None:
        size, packed = HEADER.unpack(connection.recv_bytes())
        connection.send(seen(pickle.loads(view[:size]) if packed else view[:size]))

    _until_closed(once)


def _until_closed(once: Callable[[], None]) -> None:
    while True:
        try:
            once()
        except (EOFError, OSError):
            return


# --- this end -----------------------------------------------------------------------------------

_maps: dict[str, mmap.mmap] = {}


def open_shared(size: int, name: str) -> mmap.mmap:
    """Return shared memory without a name in the file system, so nothing is left behind.

    A forked process inherits it. On Windows it is found by its name, and goes with its users.
    """
    if name not in _maps:
        windows = {"tagname": name} if sys.platform == "win32" else {}
        _maps[name] = mmap.mmap(-1, size, **windows)  # type: ignore[arg-type,unused-ignore]
    return _maps[name]


class Talks:
    """This end of every way. `forked` says whether shared memory can be inherited."""

    def __init__(self, largest_bytes: int) -> None:
        self.others: list[Any] = []  # the processes that answer
        self.forked = "fork" in multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("fork" if self.forked else "spawn")
        self._kept = bytearray(b"\1") * largest_bytes
        name, size = f"coreopsis-{os.getpid()}", 2 * largest_bytes + mmap.PAGESIZE
        self._shared = open_shared(size, name)
        self._pipe = self._process(context, answer_pipe)
        self._raw = self._process(context, answer_raw)
        self._into_kept = self._process(context, answer_kept, size)
        self._holds_bytes = resized(self._into_kept.outgoing)
        self._signal = self._process(context, answer_shared, (size, name))
        self._queues = context.Queue(), context.Queue()
        self._start(context, answer_queue, *self._queues)
        self._between_threads: tuple[Any, Any] = queue.Queue(), queue.Queue()
        threading.Thread(target=answer_queue, args=self._between_threads, daemon=True).start()

    def _process(self, context: Any, answer: Callable[..., None], *arguments: Any) -> Any:
        down, up = context.Pipe(duplex=False), context.Pipe(duplex=False)
        here, there = TwoPipes(up[0], down[1]), TwoPipes(down[0], up[1])
        self._start(context, answer, there, *arguments)
        there.close()
        return here

    def _start(self, context: Any, answer: Callable[..., None], *arguments: Any) -> None:
        tied = (os.getpid(), answer, *arguments)
        process = context.Process(target=call_tied, args=tied, daemon=True)
        process.start()
        self.others.append(process)

    def pipes(self) -> dict[str, int]:
        """Return the bytes that the pipe into kept memory holds, and holds at most (Linux)."""
        if self._holds_bytes is None:
            return {}
        wide_bytes = resized(self._into_kept.outgoing, WIDER * self._holds_bytes)
        known = {"into_kept_memory": self._holds_bytes, "through_wide_pipe": wide_bytes}
        return {part: size for part, size in known.items() if size is not None}

    def way(self, method: str, kind: str, size: int) -> Ask:
        """Return a call that hands one message over and waits for its answer."""
        load = message(kind, size)
        right = seen(load)
        if self._holds_bytes is not None:
            wider = WIDER if method == "through_wide_pipe" else 1
            resized(self._into_kept.outgoing, wider * self._holds_bytes)
        plain = _plain(load, size)

        def queued(there: Any, back: Any) -> None:
            there.put(load)
            check_answer(back.get(), right)

        def piped() -> None:
            self._pipe.send(load)
            check_answer(self._pipe.recv(), right)

        ways: dict[str, Ask] = {
            "thread_queue": lambda: queued(*self._between_threads),
            "process_queue": lambda: queued(*self._queues),
            "pipe": piped,
            "shared_memory": lambda: self._through_memory(load, right),
            "copy": lambda: self._copy(plain),
            **self._parts(load),
        }
        return ways[method]

    def _parts(self, load: Any) -> dict[str, Ask]:
        packed = bytes(ForkingPickler.dumps(load))

        def raw(data: bytes) -> None:
            self._raw.send_bytes(data)
            check_answer(self._raw.recv_bytes(), data[-1:])

        def kept(data: bytes) -> None:
            self._into_kept.send_bytes(HEADER.pack(len(data), 0))
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._into_kept.outgoing.fileno(), rest) :]
            check_answer(self._into_kept.recv_bytes(), data[-1:])

        return {
            "serialise": lambda: ForkingPickler.dumps(load),
            "through_pipe": lambda: raw(packed),
            "into_kept_memory": lambda: kept(packed),
            "through_wide_pipe": lambda: kept(packed),
            "rebuild": lambda: pickle.loads(packed),
            "wake": lambda: raw(b"\1"),
        }

    def _through_memory(self, load: Any, right: tuple[int, int]) -> None:
        view = memoryview(self._shared)
        packed = isinstance(load, list)
        data = memoryview(ForkingPickler.dumps(load) if packed else load).cast("B")
        view[: len(data)] = data
        self._signal.send_bytes(HEADER.pack(len(data), packed))
        answer = self._signal.recv()
        check_answer(answer, right if packed else (len(data), data[-1]))

    def _copy(self, data: memoryview) -> None:
        memoryview(self._kept)[: len(data)] = data


def _plain(load: Any, size: int) -> memoryview:
    # Pages never written to are one shared page of zeros, which the cache would hold.
    return memoryview(b"\1" * size if isinstance(load, list) else load).cast("B")


def check_answer(answer: Any, right: Any) -> None:
    """Raise RuntimeError unless the right message arrived."""
    if tuple(answer) != tuple(right):
        raise RuntimeError(f"{answer} arrived for {right}")


_talks: list[Talks] = []


def start(request: dict[str, Any]) -> dict[str, Any]:
    """Start the other ends, for messages up to a size."""
    _talks.append(Talks(request["largest_bytes"]))
    end_with_any(_talks[-1].others)
    return {"forked": _talks[0].forked, "pipes": _talks[0].pipes()}


def talk(request: dict[str, Any]) -> dict[str, Any]:
    """Hand over `count` messages, one after another, each answered before the next."""
    once = _talks[0].way(request["method"], request["payload"], request["bytes"])
    count = request["count"]
    before, start_s = waited(), time.perf_counter()
    for _ in range(count):
        once()
    taken_s, after = time.perf_counter() - start_s, waited()
    waits = None if before is None or after is None else (after - before) / count
    return {"taken_s": taken_s, "waits": waits}


def waited() -> int | None:
    """Return how often this process has stopped to wait for something; None where unknown."""
    told: int | None = None
    if sys.platform != "win32":
        told = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    return told


if __name__ == "__main__":
    serve({"start": start, "talk": talk})
