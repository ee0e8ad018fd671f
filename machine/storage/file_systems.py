"""The file systems on each disk, and how worn the disk is.

Paths name people, so only the kind of a mount point is kept. Of a device that is mounted several
times, the shortest path counts.

Source: proc_pid_mountinfo(5); for wear Documentation/driver-api/mmc/mmc-dev-attrs.rst.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from machine.condition import FileSystem
from machine.facts import Facts, Reason
from machine.storage.place import disks_of
from machine.system.linux import entries, exists, read_text

_MOUNTS = "proc/self/mountinfo"
_PLACES = (
    ("system", r"/"),
    ("boot", r"/(boot|efi)(/.*)?"),
    ("home", r"/home(/.*)?|/root"),
    ("removable", r"/(run/)?media/.*"),
)
_NONE = Reason("None of its file systems is mounted where this program can see it.", "lsblk --fs")
_NOT_RECORDED = Reason("A recording does not tell how full a disk was.", "df, on the machine.")
_NOT_ASKED = Reason("The file system did not answer.", "df")
_WEAR = {
    "nvme": Reason("Only root may ask an NVMe disk for its wear.", "sudo smartctl -a /dev/nvme0"),
    "ssd": Reason("Only root may ask an SSD for its wear.", "sudo smartctl -a /dev/sda"),
    "hdd": Reason("A hard disk does not count its wear.", "sudo smartctl -a /dev/sda, for errors."),
    "virtual": Reason("A virtual disk does not wear out.", "smartctl on the host."),
}
_NO_WEAR = Reason("This disk does not tell its wear.", "sudo smartctl --scan, then smartctl -a.")


def mounts_by_disk(root: Path) -> dict[str, list[tuple[str, str]]]:
    """Return folder and kind of the file systems on each disk."""
    by_disk: dict[str, list[tuple[str, str]]] = {}
    seen: dict[str, tuple[str, str, str]] = {}
    for device, source, folder, kind in _mounted(root):
        known = seen.get(device)
        if known is None or len(folder) < len(known[1]):
            seen[device] = source, folder, kind
    for device, (source, folder, kind) in seen.items():
        for disk in _disks(root, device, source):
            by_disk.setdefault(disk, []).append((folder, kind))
    return by_disk


def read_file_systems(facts: Facts, mounts: Iterable[tuple[str, str]], *, is_live: bool) -> None:
    """Add the file systems at these folders, of these kinds, to the facts of their disk."""
    found = []
    name, source = "file_systems", f"/{_MOUNTS}"
    for folder, kind in sorted(mounts):
        is_asked = is_live and not kind.startswith("fuse")  # a program, which may hang
        total, free = _space(folder) if is_asked else (None, None)
        found.append(
            FileSystem(kind=kind, place=_place(folder), total_bytes=total, free_bytes=free)
        )
        if total is None:
            for part in ("total_bytes", "free_bytes"):
                facts.lack(f"{name}[*].{part}", _NOT_ASKED if is_live else _NOT_RECORDED)
    facts.found(name, tuple(found) or None, f"{source}; space: statvfs(3), now", _NONE)


def read_wear(facts: Facts, folder: Path) -> None:
    """Add the wear to the facts of the disk in `folder`; eMMC counts it in tenths."""
    told = re.findall(r"0x0?([0-9a-f])\b", read_text(folder / "device/life_time") or "")
    tenths = max((int(tenth, 16) for tenth in told), default=0)
    facts.found(
        "wear_fraction",
        tenths / 10 if tenths else None,
        "/sys/class/block/*/device/life_time, in steps of a tenth",
        _WEAR.get(facts.values.get("kind") or "", _NO_WEAR),
    )


def _mounted(root: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield major:minor, source, folder and kind of every mount of a device."""
    for line in (read_text(root / _MOUNTS) or "").splitlines():
        before, _, after = line.partition(" - ")
        mount, what = before.split(), after.split()
        if len(mount) < 5 or len(what) < 2 or not what[1].startswith("/dev/"):
            continue
        source = _unescaped(what[1])
        device = source if mount[2].startswith("0:") else mount[2]  # btrfs has no device number
        yield device, source, _unescaped(mount[4]), what[0]


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _disks(root: Path, device: str, source: str) -> tuple[str, ...]:
    if disks := _numbered(root, device):
        return disks
    blocks = root / "sys/class/block"
    name = source.removeprefix("/dev/")
    if name.startswith("mapper/"):
        name = next(
            (
                block
                for block in entries(blocks)
                if block.startswith("dm-")
                and read_text(blocks / block / "dm/name") == name.removeprefix("mapper/")
            ),
            name,
        )
    if "/" in name or not exists(blocks / name):
        return ()
    if disks := _numbered(root, read_text(blocks / name / "dev") or ""):
        return disks
    place = (blocks / name).resolve()
    return (place.parent.name if exists(place / "partition") else name,)


def _numbered(root: Path, device: str) -> tuple[str, ...]:
    numbers = re.fullmatch(r"(\d{1,9}):(\d{1,9})", device)
    return disks_of(int(numbers[1]), int(numbers[2]), root=root) if numbers else ()


def _space(folder: str) -> tuple[int | None, int | None]:
    """Return the size, and what a user may still write."""
    try:
        space = shutil.disk_usage(folder)
    except OSError:
        return None, None
    return space.total, space.free


def _place(folder: str) -> str:
    return next((place for place, path in _PLACES if re.fullmatch(path, folder)), "other")
