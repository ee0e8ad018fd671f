"""The load of disks and network interfaces: rates, utilisation, queues and errors.

The kernel counts since the boot; a sample is the difference to the previous one. A disk is busy
while it has at least one request. A disk that serves many at once can do more although it is
always busy. Errors count since the first sample.

Sources: Documentation/admin-guide/iostats.rst and networking/statistics.rst of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from machine.facts import Notes, Reason, lacking
from machine.model import Missing
from machine.network import read_network
from machine.record import Record, names
from machine.storage.disks import read_storage
from machine.system.linux import is_elsewhere, read_hex, read_text

S = TypeVar("S", bound=Record)

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
_NONE_ELSEWHERE = Reason(
    "This system counts no traffic for this program.", "Look into the system's own monitor."
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


# What the kernel has counted since the boot, by the name of what becomes of it in a sample; None
# where it does not count. Times are in ms.
_Counts = Mapping[str, int | None]
_SINCE_START = ("errors", "dropped")


class _Counted(Generic[S]):
    """The previous counters of the disks or of the interfaces, and the first ones."""

    def __init__(self, sample: type[S]) -> None:
        self._sample = sample
        self._before: Mapping[str, _Counts] = {}
        self._first: dict[str, _Counts] = {}

    def samples(self, now: Mapping[str, _Counts], passed_s: float) -> tuple[S, ...]:
        """Return what each has done since the previous sample."""
        self._first = {**now, **self._first}
        is_known = 0 < passed_s < math.inf
        found = tuple(
            self._sample(
                name=name,
                **_since_start(counts, self._first[name]),
                **(_mean(counts, self._before.get(name, {}), passed_s) if is_known else {}),
            )
            for name, counts in now.items()
        )
        self._before = now
        return found


class IoSampler:
    """Samples disks and networks."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._disk_file, self._network_file = root / "proc/diskstats", root / "proc/net/dev"
        self._block = root / "sys/class/block"
        self._before_s = self._listed_s = -math.inf
        self._names: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
        self._disks, self._networks = _Counted(DiskSample), _Counted(NetworkSample)

    def sample(self, now_s: float) -> tuple[tuple[DiskSample, ...], tuple[NetworkSample, ...]]:
        """Return the traffic of disks and networks since the previous sample."""
        if now_s - self._listed_s >= _LIST_EVERY_S:
            self._names, self._listed_s = _listed(self._root), now_s
        passed_s, self._before_s = now_s - self._before_s, now_s
        disks = _read_disks(self._disk_file, self._block, self._names[0])
        networks = _read_networks(self._network_file, self._names[1])
        return self._disks.samples(disks, passed_s), self._networks.samples(networks, passed_s)


def missing(disks: Sequence[DiskSample], networks: Sequence[NetworkSample]) -> Iterator[Missing]:
    """Yield the reasons for missing values of these samples."""
    if not disks:
        yield (_NONE_ELSEWHERE if is_elsewhere() else _NO_DISKS).of("disks")
    if not networks:
        yield (_NONE_ELSEWHERE if is_elsewhere() else _NO_NETWORK).of("network")
    of_disks = {**dict.fromkeys(names(DiskSample), _NEEDS_TWO), "errors": _NO_ERRORS}
    if is_elsewhere():
        of_disks |= dict.fromkeys(("busy", "queue", "errors"), _NOT_ON_LINUX)
    yield from lacking("disks[*]", disks, of_disks)
    yield from lacking("network[*]", networks, dict.fromkeys(names(NetworkSample), _NEEDS_TWO))


def _listed(root: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of physical disks and interfaces; a container may have none."""
    if is_elsewhere():
        return frozenset(), frozenset()
    disks = (disk.name for disk in read_storage(root, (), Notes()))
    return frozenset(disks), frozenset(card.name for card in read_network(root, Notes()))


def _since_start(now: _Counts, first: _Counts) -> dict[str, int]:
    return {
        name: max(0, count - begun)
        for name in _SINCE_START
        if (count := now.get(name)) is not None and (begun := first.get(name)) is not None
    }


def _mean(now: _Counts, before: _Counts, passed_s: float) -> dict[str, float]:
    """Return the rates and shares; a counter that was reset, as after unplugging, gives 0."""
    found: dict[str, float] = {}
    for name, earlier in before.items():
        count = now[name]
        if name in _SINCE_START or count is None or earlier is None:
            continue
        more = max(0, count - earlier)
        if name.endswith("_per_s"):
            found[name] = round(more / passed_s, 1)
        else:
            found[name] = round(more / (passed_s * 1000), 4)
    if "busy" in found:
        found["busy"] = min(1.0, found["busy"])
    return found


def _read_disks(diskstats: Path, block: Path, names: frozenset[str]) -> dict[str, _Counts]:
    if is_elsewhere():
        import psutil

        counted = psutil.disk_io_counters(perdisk=True) or {}
        return {
            name: {"read_bytes_per_s": disk.read_bytes, "write_bytes_per_s": disk.write_bytes}
            for name, disk in counted.items()
        }
    found: dict[str, _Counts] = {}
    for line in (read_text(diskstats) or "").splitlines():
        words = line.split()
        if len(words) < 14 or words[2] not in names:
            continue
        # After the name: reads, merged, sectors, ms; writes, merged, sectors, ms; outstanding
        # requests, ms with any, ms times requests.
        counts = [int(word) for word in words[3:14]]
        found[words[2]] = {
            "read_bytes_per_s": counts[2] * _SECTOR_BYTES,
            "write_bytes_per_s": counts[6] * _SECTOR_BYTES,
            "busy": counts[9],
            "queue": counts[10],
            "errors": read_hex(f"{block}/{words[2]}/device/ioerr_cnt"),
        }
    return found


def _read_networks(dev: Path, names: frozenset[str]) -> dict[str, _Counts]:
    if is_elsewhere():
        import psutil

        counted = psutil.net_io_counters(pernic=True) or {}
        return {
            name: {
                "received_bytes_per_s": card.bytes_recv,
                "sent_bytes_per_s": card.bytes_sent,
                "errors": card.errin + card.errout,
                "dropped": card.dropin + card.dropout,
            }
            for name, card in counted.items()
            if not name.startswith(("lo", "Loopback"))
        }
    found: dict[str, _Counts] = {}
    for line in (read_text(dev) or "").splitlines()[2:]:
        name, _, numbers = line.partition(":")
        name, words = name.strip(), numbers.split()
        if len(words) < 16 or (name not in names if names else name == "lo"):
            continue
        # Received: bytes, packets, errors, dropped, four more; sent: the same.
        counts = [int(word) for word in words]
        found[name] = {
            "received_bytes_per_s": counts[0],
            "sent_bytes_per_s": counts[8],
            "errors": counts[2] + counts[10],
            "dropped": counts[3] + counts[11],
        }
    return found
