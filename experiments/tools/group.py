"""Several processes that compute together by torch.distributed: started, heard, and gone again.

Write the work of each member as a generator at the level of a module, without torch at its top:

    ```
    def work(member: Member, count: int) -> Iterator[Row]:
        torch, dist = member.torch, member.dist
        numbers = torch.ones(count, device=member.device.name)
        dist.all_reduce(numbers)  # "gloo" on the processor, "nccl" on GPUs
        if member.rank == 0:
            yield Row(...)  # whatever a member yields comes out of `together`, live
    ```

and in `measure`:

    `yield from together(bench, work, params.count, size=4, threads=1)`

Arguments and yielded rows cross a pipe, so they must be picklable. `member.bench` has the clock,
which all processes of one machine share. Its stop is never asked, since `together` asks that of
`bench` and kills. For fewer members than were started, make subgroups (`dist.new_group`, called by
all). Processes load torch anew, some 2 s, and on few cores one after the other.
DistributedDataParallel takes as long again, so start the processes once. If torchrun has started
the program, `together` does the work right here, as the member that this process is.

A member that raises, dies or never comes ends all others, and the run with one UserError.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Concatenate

from experiments.core.bench import Bench
from experiments.core.problems import UserError
from experiments.core.processes.die_with_parent import tied
from experiments.core.processes.own_environment import own_environment
from experiments.devices.device import CPU
from experiments.tools import member as one
from experiments.tools.member import Member, Task
from machine.system.cgroups import OutOfMemory

Work = Callable[Concatenate[Member, ...], Iterator[Any]]

PROGRAM = one.__name__
FOLDER = "coreopsis-members-"
LOAD_S = 60.0  # to load torch on a busy machine
JOIN_S = 1.5 * one.JOIN_S
POLL_S = 0.05
ECHO_S = 0.3  # in which the death of one member makes the others fail
END_S = 0.1  # for a member to go by itself
GONE = "gone"


def together(
    bench: Bench,
    work: Work,
    *arguments: Any,
    size: int,
    device: str = CPU,
    threads: int = 1,
) -> Iterator[Any]:
    """Yield what `work(member, *arguments)` yields in each of `size` processes, as it comes.

    `device` is a kind ("cpu", "cuda"): of GPUs each member takes that of its rank. `threads` is how
    many each computes with. Raises UserError; no process is left, however it ends.
    """
    if one.is_launched():
        yield from _here(bench, work, arguments, device, threads)
        return
    inbox: queue.SimpleQueue[tuple[int, str, Any]] = queue.SimpleQueue()
    members: list[_Process] = []
    # Through a file: torch's other store asks the name server who 127.0.0.1 is.
    with tempfile.TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True) as folder:
        try:
            for rank in range(size):
                shared = (bench.machine, bench.quick)
                meeting = os.path.join(folder, "members")
                task = Task(work, arguments, shared, rank, size, device, threads, meeting)
                members.append(_Process(task, inbox))
            yield from _Group(bench, members, inbox).until_done()
        finally:
            for process in members:
                process.let_go()
            end_s = time.monotonic() + END_S
            for process in members:
                process.end(end_s)


def _here(
    bench: Bench, work: Work, arguments: tuple[Any, ...], device: str, threads: int
) -> Iterator[Any]:
    """Work in this process, which a launcher has started."""
    member = one.launched(bench, device=device, threads=threads)
    try:
        yield from work(member, *arguments)
        member.dist.barrier()  # the others need the first one's store until they end
    except RuntimeError as error:
        if _is_echo(str(error)):
            raise UserError("member_lost", detail=str(error)) from None
        raise
    finally:
        member.dist.destroy_process_group()


class _Group:
    """The members as they report: who has said what."""

    def __init__(
        self,
        bench: Bench,
        members: list[_Process],
        inbox: queue.SimpleQueue[tuple[int, str, Any]],
    ) -> None:
        self._bench, self._members, self._inbox = bench, members, inbox
        self._out_of_memory = OutOfMemory()
        self._said: dict[str, dict[int, Any]] = {one.LOADED: {}, one.JOINED: {}, one.DONE: {}}

    def until_done(self) -> Iterator[Any]:
        """Yield the items of all members until each has finished."""
        yield from self._until_all(one.LOADED, LOAD_S)
        for process in self._members:
            process.tell(one.LOADED)
        yield from self._until_all(one.JOINED, JOIN_S)
        yield from self._until_all(one.DONE, float("inf"))

    def _until_all(self, kind: str, limit_s: float) -> Iterator[Any]:
        end_s, said = time.monotonic() + limit_s, self._said[kind]
        while len(said) < len(self._members):
            self._bench.check_stop()
            if time.monotonic() > end_s:
                late = min(set(range(len(self._members))) - said.keys())
                raise UserError("member_missing", rank=late, limit_s=limit_s)
            with contextlib.suppress(queue.Empty):
                rank, what, value = self._inbox.get(timeout=POLL_S)
                if what == one.ITEM:
                    yield value
                elif what in self._said:
                    self._said[what][rank] = value
                else:
                    raise self._trouble(rank, what, value)

    def _trouble(self, rank: int, what: str, value: Any) -> UserError:
        """Return the first cause: when one member fails, others fail too and may report sooner."""
        bad, end_s = [(rank, what, value)], time.monotonic() + ECHO_S
        with contextlib.suppress(queue.Empty):
            while (left_s := end_s - time.monotonic()) > 0:
                next_one = self._inbox.get(timeout=left_s)
                if next_one[1] in (one.FAILED, GONE):
                    bad.append(next_one)
        causes = [each for each in bad if each[1] == GONE or not _is_echo(each[2].detail)]
        rank, what, value = (causes or bad)[0]
        if what == one.FAILED:
            return UserError(value.key, detail=value.detail, **value.values)
        status = self._members[rank].status()
        if status == -getattr(signal, "SIGKILL", 9):
            ran_out = self._out_of_memory.has_come()
            return UserError("member_out_of_memory" if ran_out else "member_killed", rank=rank)
        return UserError("member_ended", rank=rank, status=status)


def _is_echo(said: str) -> bool:
    """Did the member fail only because another has gone?"""
    text = said.lower()
    return any(word in text for word in ("connection", "peer", "remote", "timed out"))


class _Process:
    """A member as this process sees it: its pipes, and the thread that reads them."""

    def __init__(self, task: Task, inbox: queue.SimpleQueue[tuple[int, str, Any]]) -> None:
        self._process = subprocess.Popen(
            tied([sys.executable, "-P", "-m", PROGRAM]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=own_environment(),
        )
        self._reader = threading.Thread(target=self._read, args=(task.rank, inbox), daemon=True)
        self._reader.start()
        self.tell(task)

    def tell(self, order: object) -> None:
        """Send the member an order; a dead member is noticed by the reader."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(pickle.dumps(order))
            self._process.stdin.flush()

    def status(self) -> int:
        """Return the exit status of a member that is gone."""
        return self._process.wait()

    def let_go(self) -> None:
        """Close the member's input; it then ends by itself if it can."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def end(self, end_s: float) -> None:
        """Wait for the end, kill what is left, and release the pipes."""
        assert self._process.stdout is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, end_s - time.monotonic()))
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    def _read(self, rank: int, inbox: queue.SimpleQueue[tuple[int, str, Any]]) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(EOFError, pickle.UnpicklingError):
            while True:
                inbox.put((rank, *pickle.load(self._process.stdout)))
        inbox.put((rank, GONE, None))
