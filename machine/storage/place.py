"""The disk and the file system of a folder.

Source: the kernel's `/sys/dev/block`, where every mounted device leads to the disks below it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from machine.record import Record

KEPT_FREE_FRACTION = 0.1
IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"})
FAR_AWAY = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "ceph", "glusterfs", "lustre", "afs")


class Place(Record):
    """The place of a folder; `disks` are the machine's names, several if they work as one."""

    disks: tuple[str, ...]
    file_system: str  # "" if the system does not tell

    @property
    def is_in_memory(self) -> bool:
        """Is the folder in memory, not on a disk?"""
        return self.file_system in IN_MEMORY or any(
            disk.startswith(("zram", "ram")) for disk in self.disks
        )


def usual_folder() -> Path:
    """Return the user's cache folder, or its nearest parent that exists."""
    import platformdirs

    folder = platformdirs.user_cache_path("coreopsis", appauthor=False)
    while not folder.is_dir():
        folder = folder.parent
    return folder


def room_bytes(folder: Path) -> int:
    """Return how much may be written if a tenth of the file system must stay free."""
    usage = shutil.disk_usage(folder)
    return max(0, int(usage.free - KEPT_FREE_FRACTION * usage.total))


def place_of(folder: Path, *, root: Path = Path("/")) -> Place:
    """Return where a folder lies, as far as the system shows it."""
    import psutil

    device, file_system = "", ""
    real, longest = Path(os.path.realpath(folder)), -1
    for mount in psutil.disk_partitions(all=True):
        length, is_around = len(mount.mountpoint), real.is_relative_to(mount.mountpoint)
        if length >= longest and is_around:  # the last one is on top
            device, file_system, longest = mount.device, mount.fstype, length
    if sys.platform == "linux":
        numbers = [os.stat(folder).st_dev]
        if device.startswith("/dev/"):  # on btrfs, a folder's own number belongs to no device
            with contextlib.suppress(OSError):
                numbers.append(os.stat(device).st_rdev)
        for number in numbers:
            if disks := disks_of(os.major(number), os.minor(number), root=root):
                return Place(disks=disks, file_system=file_system)
    return Place(disks=(), file_system=file_system)


def disks_of(major: int, minor: int, *, root: Path = Path("/")) -> tuple[str, ...]:
    """Return the disks below a device: its own, or those of a volume."""
    device = root / f"sys/dev/block/{major}:{minor}"
    return tuple(sorted(set(_below(device.resolve())))) if device.exists() else ()


def _below(device: Path) -> Iterator[str]:
    parts = list((device / "slaves").iterdir()) if (device / "slaves").is_dir() else []
    for part in parts:
        yield from _below(part.resolve())
    if not parts:
        yield device.parent.name if (device / "partition").exists() else device.name
