"""Limits of the control groups on this process: threads, memory nodes, CPU time and memory.

Hosts have version 1, version 2, or both with one of them empty. The process's group and every
group above it may set a limit. So each tree is walked from there up to its mount point, and the
tightest limit holds. A container mounts its own group; the groups above are not visible.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from machine.system.linux import fields, parse_list, read_int, read_list, read_text, to_int

# Without a recorded /proc/mounts: the places that systemd uses.
_USUAL_MOUNTS = (
    "cgroup2 /sys/fs/cgroup cgroup2 rw",
    "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset",
    "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu",
    "cgroup /sys/fs/cgroup/memory cgroup rw,memory",
)
# Version 2 asks for some threads and gets others, the effective ones. In version 1 the two are the
# same: what is asked for is what the group has (kernel/cgroup/cpuset.c, struct cpuset), unless it
# is mounted to behave as version 2. Without a prefix: as /dev/cpuset is mounted.
_SETS = ("cpuset.{}.effective", "cpuset.{}", "{}")
_SETS_LIKE_V2 = ("cpuset.effective_{}", *_SETS)
_LIKE_V2 = "cpuset_v2_mode"
_NO_LIMIT = 2**62  # version 1 writes the highest number of pages


def cpuset(root: Path) -> tuple[frozenset[int], str] | None:
    """Return the threads that the control groups allow, and the deciding file."""
    return _tightest(root, "cpus")


def allowed_nodes(root: Path) -> tuple[frozenset[int], str] | None:
    """Return the memory nodes that this process may use, and the deciding file."""
    limits = _tightest(root, "mems")
    try:
        mine = parse_list(fields(read_text(root / "proc/self/status"))["mems_allowed_list"])
    except (KeyError, ValueError):
        return limits
    if limits is None or mine <= limits[0]:
        return mine, "Mems_allowed_list of /proc/self/status"
    return mine & limits[0], limits[1]


def _tightest(root: Path, what: str) -> tuple[frozenset[int], str] | None:
    """Return the threads ("cpus") or memory nodes ("mems") that the groups leave, and the file."""
    tightest: tuple[frozenset[int], str] | None = None
    is_like_v2 = _LIKE_V2 in (read_text(root / "proc/mounts") or "")
    for folder in _folders(root, "cpuset"):
        for name in _SETS_LIKE_V2 if is_like_v2 else _SETS:
            file = folder / name.format(what)
            found = read_list(file)
            if found:
                if tightest is None:
                    tightest = found, _shown(root, file)
                elif not tightest[0] <= found:
                    tightest = tightest[0] & found, _shown(root, file)
                break
    return tightest


def quota(root: Path) -> tuple[float, str] | None:
    """Return the limit of CPU time, in CPUs, and the deciding file."""
    limits = []
    for folder in _folders(root, "cpu"):
        granted, _, period = (read_text(folder / "cpu.max") or "").partition(" ")  # or "max 100000"
        if (time_us := to_int(granted)) is not None and (period_us := to_int(period)):
            limits.append((time_us / period_us, _shown(root, folder / "cpu.max")))
        time_us = read_int(folder / "cpu.cfs_quota_us")
        period_us = read_int(folder / "cpu.cfs_period_us")
        if time_us is not None and time_us > 0 and period_us:
            limits.append((time_us / period_us, _shown(root, folder / "cpu.cfs_quota_us")))
    return min(limits, default=None)


def memory_limit(root: Path) -> tuple[int, str] | None:
    """Return the limit of memory, and the deciding file."""
    limits = []
    for folder in _folders(root, "memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            limit_bytes = read_int(folder / name)
            if limit_bytes is not None and 0 < limit_bytes < _NO_LIMIT:
                limits.append((limit_bytes, _shown(root, folder / name)))
    return min(limits, default=None)


def memory_left_bytes(root: Path) -> int | None:
    """Return how much more memory the control groups allow; None without a limit.

    Inactive file cache counts as available, because the kernel drops it first.
    """
    left = []
    for folder in _folders(root, "memory"):
        for limit, usage in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            limit_bytes, used_bytes = read_int(folder / limit), read_int(folder / usage)
            if limit_bytes is not None and used_bytes is not None:
                left.append(max(0, limit_bytes - used_bytes + _droppable_bytes(folder)))
    return min(left, default=None)


def oom_kills(root: Path) -> int | None:
    """Return how many processes the system has killed for want of memory; None if unknown.

    In this process's control group; without one, on the whole machine.
    """
    for folder in _folders(root, "memory"):
        for name in ("memory.events", "memory.oom_control"):
            if (count := _oom_kill(folder / name)) is not None:
                return count
    return _oom_kill(root / "proc/vmstat")


class OutOfMemory:
    """Remembers how many processes had been killed for want of memory."""

    def __init__(self) -> None:
        self._before = oom_kills(Path("/"))

    def has_come(self) -> bool:
        """Has the system killed another since, as far as it counts?"""
        now = oom_kills(Path("/"))
        return now is not None and self._before is not None and now > self._before


def _oom_kill(path: Path) -> int | None:
    return to_int(fields((read_text(path) or "").replace(" ", ":")).get("oom_kill"))


def _droppable_bytes(folder: Path) -> int:
    stat = fields((read_text(folder / "memory.stat") or "").replace(" ", ":"))
    value = stat.get("total_inactive_file") or stat.get("inactive_file") or ""
    return to_int(value) or 0


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """Yield the process's group and those above it, in every tree with this controller."""
    paths = _paths(root)
    mounts = (read_text(root / "proc/mounts") or "").splitlines() or _USUAL_MOUNTS
    for line in mounts:
        _, mount, kind, options, *_ = [*line.split(), "", "", "", ""]
        if kind == "cgroup2":
            path = paths.get("", "/")
        elif kind == controller or (kind == "cgroup" and controller in options.split(",")):
            path = paths.get(controller, "/")
        else:
            continue
        top = root.joinpath(*(part for part in mount.split("/") if part not in ("", "..")))
        groups = [] if ".." in path else path.strip("/").split("/")  # ".." is outside of the mount
        for depth in range(len(groups), -1, -1):
            yield top.joinpath(*groups[:depth])


def _paths(root: Path) -> dict[str, str]:
    """Return the group of this process by controller; "" is version 2."""
    paths: dict[str, str] = {}
    lines = (read_text(root / "proc/self/cgroup") or "").splitlines()
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        for controller in controllers.split(","):
            paths[controller] = path
    group = read_text(root / "proc/self/cpuset")
    if group:
        paths.setdefault("cpuset", group)
        if not lines:  # recordings of old kernels have nothing else
            paths[""] = group
    return paths


def _shown(root: Path, path: Path) -> str:
    """Return the path as seen on that machine."""
    return f"/{path.relative_to(root)}"
