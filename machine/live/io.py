"""The load of disks and network interfaces: rates, utilisation, queues and errors.

The kernel counts since the boot; a sample is the difference to the previous one. A disk is busy
while it has at least one request. A disk that serves many at once can do more although it is
always busy. Errors count since the first sample.

Sources: Documentation/admin-guide/iostats.rst and networking/statistics.rst of the kernel.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from machine.facts import Notes, Reason, lacking
from machine.model import Missing
from machine.network import read_network
from machine.record import Record, names
from machine.storage.disks import read_storage
from machine.system.linux import read_hex, read_text

_SECTOR_BYTES = 512  # the unit of /proc/diskstats for every disk
_LIST_EVERY_S = 10.0  # new ones may be plugged in
_NEEDS_TWO = Reason("A rate needs two samples; this is the first.", "Wait for the next sample.")
_NO_ERRORS = Reason(
    "The driver of this disk does not count its errors for all to see.",
    "sudo smartctl --all /dev/DISK",
)
_NOT_ON_LINUX = Reason(
    "This system does not tell it to every program.", "Look into the system's own monitor."
)
_NO_DISKS = Reason("No disk is in sight below /sys.", "lsblk, on the machine itself.")
_NO_NETWORK = Reason(
    "No network interface is in sight but the one to the machine itself.", "ip link"
)


class DiskSample(Record):
    """`busy` is a share of the time, `queue` the mean number of outstanding requests."""

    name: str
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    busy: float | None = None
    queue: float | None = None
    errors: int | None = None


class NetworkSample(Record):
    """The traffic of an interface; `dropped` packets found no free buffer."""

    name: str
    received_bytes_per_s: float | None = None
    sent_bytes_per_s: float | None = None
    errors: int | None = None
    dropped: int | None = None


class _Disk(NamedTuple):
    read_bytes: int
    written_bytes: int
    busy_ms: int | None
    waiting_ms: int | None
    errors: int | None


class _Network(NamedTuple):
    received_bytes: int
    sent_bytes: int
    errors: int
    dropped: int


class IoSampler:
    """Samples disks and networks; remembers the previous counters, and the first errors."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._disk_file, self._network_file = root / "proc/diskstats", root / "proc/net/dev"
        self._block = root / "sys/class/block"
        self._before_s = self._listed_s = -math.inf
        self._names: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
        self._disks: Mapping[str, _Disk] = {}
        self._networks: Mapping[str, _Network] = {}
        self._first_disks: dict[str, _Disk] = {}
        self._first_networks: dict[str, _Network] = {}

    def sample(self, now_s: float) -> tuple[tuple[DiskSample, ...], tuple[NetworkSample, ...]]:
        """Return the traffic of disks and networks since the previous sample."""
        if now_s - self._listed_s >= _LIST_EVERY_S:
            self._names, self._listed_s = _listed(self._root), now_s
        passed_s = now_s - self._before_s
        disks = _read_disks(self._disk_file, self._block, self._names[0])
        networks = _read_networks(self._network_file, self._names[1])
        for name, disk in disks.items():
            self._first_disks.setdefault(name, disk)
        for name, network in networks.items():
            self._first_networks.setdefault(name, network)
        samples = (
            tuple(
                _disk(name, self._disks.get(name), now, self._first_disks[name], passed_s)
                for name, now in disks.items()
            ),
            tuple(
                _network(name, self._networks.get(name), now, self._first_networks[name], passed_s)
                for name, now in networks.items()
            ),
        )
        self._disks, self._networks, self._before_s = disks, networks, now_s
        return samples


def missing(disks: Sequence[DiskSample], networks: Sequence[NetworkSample]) -> Iterator[Missing]:
    """Yield the reasons for missing values of these samples."""
    if not disks:
        yield _NO_DISKS.of("disks")
    if not networks:
        yield _NO_NETWORK.of("network")
    of_disks = {**dict.fromkeys(names(DiskSample), _NEEDS_TWO), "errors": _NO_ERRORS}
    if sys.platform != "linux":
        of_disks |= dict.fromkeys(("busy", "queue"), _NOT_ON_LINUX)
    yield from lacking("disks[*]", disks, of_disks)
    yield from lacking("network[*]", networks, dict.fromkeys(names(NetworkSample), _NEEDS_TWO))


def _listed(root: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of physical disks and interfaces; a container may have none."""
    if sys.platform != "linux":
        return frozenset(), frozenset()
    disks = (disk.name for disk in read_storage(root, (), Notes()))
    return frozenset(disks), frozenset(card.name for card in read_network(root, Notes()))


def _disk(name: str, before: _Disk | None, now: _Disk, first: _Disk, passed_s: float) -> DiskSample:
    errors = None
    if now.errors is not None and first.errors is not None:
        errors = max(0, now.errors - first.errors)
    if before is None or not 0 < passed_s < math.inf:
        return DiskSample(name=name, errors=errors)

    def mean(after: int | None, earlier: int | None) -> float | None:
        if after is None or earlier is None:
            return None
        return round(max(0, after - earlier) / (passed_s * 1000), 4)

    busy = mean(now.busy_ms, before.busy_ms)
    return DiskSample(
        name=name,
        read_bytes_per_s=_rate(now.read_bytes, before.read_bytes, passed_s),
        write_bytes_per_s=_rate(now.written_bytes, before.written_bytes, passed_s),
        busy=None if busy is None else min(1.0, busy),
        queue=mean(now.waiting_ms, before.waiting_ms),
        errors=errors,
    )


def _network(
    name: str, before: _Network | None, now: _Network, first: _Network, passed_s: float
) -> NetworkSample:
    received = sent = None
    if before is not None and 0 < passed_s < math.inf:
        received = _rate(now.received_bytes, before.received_bytes, passed_s)
        sent = _rate(now.sent_bytes, before.sent_bytes, passed_s)
    return NetworkSample(
        name=name,
        received_bytes_per_s=received,
        sent_bytes_per_s=sent,
        errors=max(0, now.errors - first.errors),
        dropped=max(0, now.dropped - first.dropped),
    )


def _rate(after: int, before: int, passed_s: float) -> float:
    """Return a rate; a reset counter, as after unplugging, gives 0."""
    return round(max(0, after - before) / passed_s, 1)


def _read_disks(diskstats: Path, block: Path, names: frozenset[str]) -> dict[str, _Disk]:
    if sys.platform != "linux":
        import psutil

        counted = psutil.disk_io_counters(perdisk=True) or {}
        return {
            name: _Disk(disk.read_bytes, disk.write_bytes, None, None, None)
            for name, disk in counted.items()
        }
    found = {}
    for line in (read_text(diskstats) or "").splitlines():
        words = line.split()
        if len(words) < 14 or words[2] not in names:
            continue
        # After the name: reads, merged, sectors, ms; writes, merged, sectors, ms; outstanding
        # requests, ms with any, ms times requests.
        counts = [int(word) for word in words[3:14]]
        found[words[2]] = _Disk(
            read_bytes=counts[2] * _SECTOR_BYTES,
            written_bytes=counts[6] * _SECTOR_BYTES,
            busy_ms=counts[9],
            waiting_ms=counts[10],
            errors=read_hex(f"{block}/{words[2]}/device/ioerr_cnt"),
        )
    return found


def _read_networks(dev: Path, names: frozenset[str]) -> dict[str, _Network]:
    if sys.platform != "linux":
        import psutil

        counted = psutil.net_io_counters(pernic=True) or {}
        return {
            name: _Network(
                card.bytes_recv,
                card.bytes_sent,
                card.errin + card.errout,
                card.dropin + card.dropout,
            )
            for name, card in counted.items()
            if not name.startswith(("lo", "Loopback"))
        }
    found = {}
    for line in (read_text(dev) or "").splitlines()[2:]:
        name, _, numbers = line.partition(":")
        name, words = name.strip(), numbers.split()
        if len(words) < 16 or (name not in names if names else name == "lo"):
            continue
        # Received: bytes, packets, errors, dropped, four more; sent: the same.
        counts = [int(word) for word in words]
        found[name] = _Network(
            received_bytes=counts[0],
            sent_bytes=counts[8],
            errors=counts[2] + counts[10],
            dropped=counts[3] + counts[11],
        )
    return found
