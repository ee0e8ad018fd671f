"""One process of a group: how it starts, finds the others, works and reports.

It is started in two ways. `group.together` starts this module as a program, once for each member,
and talks to it through pipes. Or torchrun has started the whole program on one machine or several;
then the environment describes the member.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import threading
from datetime import timedelta
from typing import Any

from experiments.core.bench import Bench
from experiments.core.problems import UserError
from experiments.core.processes.standard_pipes import take_input, take_output
from experiments.devices.device import CPU, Device
from machine.record import Record

LOOPBACK = "127.0.0.1"
JOIN_S = 10.0  # to find each other; on several machines a person starts them
LAUNCHED_JOIN_S = 60.0
SILENT_S = 60.0  # for one exchange; longer means that the network or a member is gone
BACKENDS = {"cpu": "gloo", "cuda": "nccl", "xpu": "xccl"}

LOADED, JOINED, ITEM, DONE, FAILED = "loaded", "joined", "item", "done", "failed"


class Task(Record, kw_only=False):
    """A member's task, sent through its pipe at its start."""

    work: Any
    arguments: tuple[Any, ...]
    bench: tuple[Any, bool]  # machine, and whether the run is a quick one
    rank: int
    size: int
    device: str  # its kind: "cpu", "cuda" or "xpu"
    threads: int
    meeting: str  # the file through which the members find each other


class Member:
    """This process as `rank` of `size`, with its device and torch.distributed."""

    def __init__(
        self, bench: Bench, *, rank: int, size: int, device: str, threads: int, local_rank: int
    ) -> None:
        """Load torch, and take a device of that kind. Raises UserError if there is none."""
        self.rank, self.size, self.bench = rank, size, bench
        self.device = Device(CPU if device == CPU else f"{device}:{local_rank}", bench)
        self.torch = self.device.torch
        self.torch.set_num_threads(threads)
        import torch.distributed

        self.dist = torch.distributed

    def join(self, store: Any) -> None:
        """Find the other members through the store. Blocks until all are there."""
        self.dist.init_process_group(
            BACKENDS[self.device.kind],
            store=store,
            rank=self.rank,
            world_size=self.size,
            timeout=timedelta(seconds=SILENT_S),
        )

    def agreed(self, value: Any) -> Any:
        """Return the first member's value: on several machines a person typed it on each."""
        shared = [value]
        self.dist.broadcast_object_list(shared, device=self.torch.device(self.device.name))
        return shared[0]

    def store(self, host: str, port: int, *, limit_s: float = JOIN_S) -> Any:
        """Return the store through which members find each other; the first member keeps it.

        Raises UserError if the port is taken, or if the first member does not answer within
        `limit_s`.
        """
        try:
            return self.dist.TCPStore(
                host,
                port,
                self.size,
                is_master=self.rank == 0,
                timeout=timedelta(seconds=limit_s),
                wait_for_workers=False,
            )
        except self.dist.DistNetworkError as error:
            if self.rank == 0:
                raise UserError("port_taken", port=port, detail=str(error)) from None
            raise UserError("first_member_missing", limit_s=limit_s, detail=str(error)) from None


def is_launched() -> bool:
    """Has torchrun, or another launcher, started this process as one of several?"""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def local_size(size: int) -> int:
    """Return how many of `size` members are on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", size)) if is_launched() else size


def machines() -> int:
    """Return how many machines the members are on, as far as their launcher shows."""
    return int(os.environ.get("GROUP_WORLD_SIZE", "1")) if is_launched() else 1


def launched(bench: Bench, *, device: str, threads: int) -> Member:
    """Return this process as its launcher's member, joined with the others."""
    of = os.environ
    host, port = of.get("MASTER_ADDR", LOOPBACK), int(of.get("MASTER_PORT", "29500"))
    member = Member(
        bench,
        rank=int(of["RANK"]),
        size=int(of["WORLD_SIZE"]),
        device=device,
        threads=threads,
        local_rank=int(of.get("LOCAL_RANK", "0")),
    )
    speak_through(interface_towards(host))
    if of.get("TORCHELASTIC_USE_AGENT_STORE") == "True":  # torchrun keeps the list itself
        store = member.dist.TCPStore(host, port, timeout=timedelta(seconds=LAUNCHED_JOIN_S))
    else:
        store = member.store(host, port, limit_s=LAUNCHED_JOIN_S)
    try:
        member.join(store)
    except (RuntimeError, ValueError) as error:
        raise UserError("members_missing", size=member.size, detail=str(error)) from None
    return member


def interface_towards(host: str) -> str | None:
    """Return the name of the network interface that leads to a host."""
    import socket

    import psutil

    interfaces: dict[str, list[Any]] = psutil.net_if_addrs()

    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))  # sends nothing
        own: str = probe.getsockname()[0]
        for name, addresses in interfaces.items():
            if any(address.address == own for address in addresses):
                return name
    return None


def speak_through(interface: str | None) -> None:
    """Let gloo and NCCL use this interface, unless the environment names one.

    By default the machine's name decides. On many machines it stands for 127.0.1.1, where no other
    machine finds it.
    """
    for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        if interface is not None:
            os.environ.setdefault(name, interface)


# --- as a program of its own --------------------------------------------------------------------


class _Wire:
    """Standard output, kept for pickled (kind, value); prints, also of C code, go to the log."""

    def __init__(self) -> None:
        self._out = os.fdopen(take_output(), "wb")

    def send(self, kind: str, value: Any = None) -> None:
        with contextlib.suppress(OSError):  # nobody listens; the end of input will end us
            pickle.dump((kind, value), self._out)
            self._out.flush()


def main() -> None:
    """Take a task from standard input, do it, and stay until that input ends."""
    gc.disable()  # until torch is loaded: to look through it again and again takes a tenth of that
    wire = _Wire()
    with open(take_input(), "rb", buffering=0) as orders:
        task: Task = pickle.load(orders)
        try:
            _serve(task, wire, orders)
        except BaseException as error:  # noqa: BLE001  (whatever it is, said in words)
            from experiments.engine.worker import problem_of

            wire.send(FAILED, problem_of(error))
        else:
            wire.send(DONE)
        _die_with(orders)  # until then the others may need what this process holds


def _serve(task: Task, wire: _Wire, orders: Any) -> None:
    machine, is_quick = task.bench
    member = Member(
        Bench(machine, quick=is_quick),
        rank=task.rank,
        size=task.size,
        device=task.device,
        threads=task.threads,
        local_rank=task.rank,
    )
    gc.enable()
    speak_through(interface_towards(LOOPBACK))
    wire.send(LOADED)
    pickle.load(orders)  # all have loaded, and will join at once
    threading.Thread(target=_die_with, args=(orders,), daemon=True).start()
    member.join(member.dist.FileStore(task.meeting, task.size))
    wire.send(JOINED)
    for item in task.work(member, *task.arguments):
        wire.send(ITEM, item)


def _die_with(orders: Any) -> None:
    """End this process when the other end of its input is gone."""
    while orders.read(1):
        pass
    os._exit(3)


if __name__ == "__main__":
    main()
