"""The works of a group's members in tests, and members without torch, which start at once."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from types import SimpleNamespace

from experiments.core.bench import Bench
from experiments.core.problems import UserError
from experiments.tools import group
from experiments.tools import member as real
from tests.experiments.machines import machine

ECHO_S = 0.05


class Bare:
    """A member without torch; if it waits for the others, it hears only that they are gone."""

    def __init__(self, bench, *, rank, size, device, threads, local_rank) -> None:
        self.rank, self.size, self.bench, self.device = rank, size, bench, device
        self.threads = threads
        self.dist = SimpleNamespace(FileStore=lambda path, size: None)

    def join(self, store) -> None: ...


def greet(member, *said):
    yield member.rank, member.size, member.threads, said


def killed(member, rank, *, echo_s=ECHO_S):
    if member.rank == rank:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(echo_s)
    raise RuntimeError("Connection closed by peer [127.0.0.1]:1")
    yield


def echoed_first(member, rank):
    if member.rank == rank:
        time.sleep(ECHO_S)
        os.kill(os.getpid(), signal.SIGKILL)
    raise RuntimeError("Connection closed by peer [127.0.0.1]:1")
    yield


def raises(member, rank, error):
    if member.rank == rank:
        raise error
    time.sleep(60)
    yield


def leaves(member, rank):
    if member.rank == rank:
        os._exit(7)
    time.sleep(60)
    yield


def tells_and_stays(member):
    while True:
        yield member.rank
        time.sleep(0.01)


def stays_deaf(member):
    yield member.rank
    ctypes.PyDLL(None).sleep(60)  # with the GIL, so that no thread hears anything


def troubled(member):
    raise UserError("port_taken", port=5)
    yield


def hang(member):
    """Not a work: stays away from the group, as a process that is stuck does."""
    time.sleep(60)


def added(member, kill):
    """With torch: add up over all, unless one is killed."""
    if member.rank == kill:
        os.kill(os.getpid(), signal.SIGKILL)
    ones = member.torch.ones(3) * (member.rank + 1)
    member.dist.all_reduce(ones)
    yield ones.tolist()


def be_killed() -> None:
    """Start a group whose members are deaf, say when all are there, and wait to be killed."""
    group.PROGRAM = __spec__.name
    running = group.together(Bench(machine()), stays_deaf, size=2)
    print(sorted(next(running) for _ in range(2)), flush=True)  # noqa: T201
    time.sleep(60)


if __name__ == "__main__":
    if os.environ.get("STUCK") is not None:  # the member of this rank never comes
        stuck = int(os.environ["STUCK"])
        Bare.join = lambda self, store: time.sleep(60) if self.rank == stuck else None  # type: ignore[method-assign]
    real.Member = Bare  # type: ignore[misc, assignment]
    real.main()
