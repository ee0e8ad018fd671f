"""Records of a GPU's load, rates from counters, and the processes that hold GPU memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

from machine.devices import ClockReason
from machine.facts import Facts, Reason
from machine.record import Record, names

_COMMAND_LIMIT = 300  # characters
_MOST_KNOWN = 1000  # processes; then all are forgotten

State = Literal["awake", "asleep", "lost"]

NEEDS_TWO = Reason("A rate needs two samples; this is the first.", "Wait for the next sample.")
ASLEEP = Reason(
    "The GPU is asleep to save power, and asking would wake it.", "Use it, and it will be told."
)
_HIDDEN = Reason(
    "The process is not visible from here.",
    "ps -fp PID, as root on the machine itself.",
)


class GpuProcess(Record):
    """A process that holds GPU memory. It identifies people, so it is never saved to a file."""

    pid: int
    memory_bytes: int | None = None
    kind: Literal["compute", "graphics"] | None = None
    user: str | None = None
    age_s: float | None = None
    command: str | None = None


class GpuSample(Record):
    """The load of one GPU; `index` and `pci_address` are those of the machine's `gpus`.

    `busy` is the share of the time with at least one running kernel, not how full the GPU was.
    `memory_busy` is the share of the time with memory reads or writes. The GPU sends and receives
    the traffic. Errors count since the driver was loaded.
    """

    index: int
    pci_address: str | None = None
    state: State = "awake"
    busy: float | None = None
    memory_busy: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    sm_hz: int | None = None
    memory_hz: int | None = None
    power_watts: float | None = None
    power_limit_watts: float | None = None
    temperature_celsius: float | None = None
    clock_reasons: tuple[ClockReason, ...] | None = None
    pcie_received_bytes_per_s: float | None = None
    pcie_sent_bytes_per_s: float | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    nvlink_received_bytes_per_s: float | None = None
    nvlink_sent_bytes_per_s: float | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    remapped_rows: int | None = None
    remapping_pending: bool | None = None
    remapping_failed: bool | None = None
    pcie_replays: int | None = None
    xid: int | None = None
    processes: tuple[GpuProcess, ...] | None = None


NAMES = tuple(name for name in names(GpuSample) if name not in ("index", "pci_address", "state"))


def lack_all(gpu: Facts, reason: Reason) -> None:
    """Keep one reason for all unknown values."""
    for name in NAMES:
        gpu.lack(name, reason)


class Rates:
    """Turns counters into rates, by the difference to the previous sample."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float]] = {}

    def per_s(self, name: str, now_s: float, count: float) -> float | None:
        """Return the rate since the previous sample of this counter, None at the first."""
        before = self._before.get(name)
        self._before[name] = now_s, count
        if before is None or now_s <= before[0] or count < before[1]:  # it was reset
            return None
        return round((count - before[1]) / (now_s - before[0]), 3)


class Processes:
    """Looks up processes; user and command are asked once per process."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, str | None, str | None]] = {}

    def describe(
        self, gpu: Facts, held: Sequence[tuple[int, int | None, Literal["compute", "graphics"]]]
    ) -> tuple[GpuProcess, ...]:
        """Return the processes of `held` (pid, bytes, kind), the largest first."""
        import psutil

        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        found = []
        for pid, memory_bytes, kind in held:
            user = age_s = command = None
            try:
                started_s = psutil.Process(pid).create_time()
                if self._known.get(pid, (None,))[0] != started_s:  # pids are used again
                    self._known[pid] = (started_s, *_who(pid))
                _, user, command = self._known[pid]
                age_s = round(max(0.0, time.time() - started_s), 1)
            except psutil.Error:
                pass
            process = GpuProcess(
                pid=pid,
                memory_bytes=memory_bytes,
                kind=kind,
                user=user,
                age_s=age_s,
                command=command,
            )
            for name in ("user", "age_s", "command"):
                if getattr(process, name) is None:
                    gpu.lack(f"processes[*].{name}", _HIDDEN)
            found.append(process)
        return tuple(sorted(found, key=lambda p: p.memory_bytes or 0, reverse=True))


def _who(pid: int) -> tuple[str | None, str | None]:
    """Return user and command, None if this user may not know them."""
    import psutil

    process = psutil.Process(pid)
    user = command = None
    try:
        user = process.username()
        command = " ".join(process.cmdline())[:_COMMAND_LIMIT] or process.name()
    except (psutil.Error, KeyError, UnicodeDecodeError):  # KeyError: a user without a name
        pass
    return user, command
