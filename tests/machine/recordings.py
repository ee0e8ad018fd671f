"""The recorded machines of the hwloc project, if they are here."""

from __future__ import annotations

import bz2
import io
import re
import tarfile
from pathlib import Path
from typing import Any

from tests.machine.trees import RECORDINGS

# What is read at all: unpacking everything takes half a minute.
READ = re.compile(
    r"/(proc/(self/)?[a-z]+|proc/driver/nvidia/gpus/[0-9a-f:.]+/numa_status"
    r"|sys/devices/cpu_[a-z]+/cpus|sys/class/dmi/id/[a-z]+_(vendor|name)"
    r"|sys/bus/pci/devices/[0-9a-f:.]+(/(class|local_cpus))?"
    r"|sys/devices/pci[0-9a-f:./]+/(class|vendor|device|numa_node|local_cpus|[a-z]+_link_[a-z]+)"
    r"|sys/class/(block|net|infiniband)/[^/]+"
    r"|sys/devices/.*/(block|net|infiniband)/[^/]+/(size|device|type|speed|operstate|carrier)"
    r"|sys/devices/.*/(queue/rotational|model|partition|ports/1/(rate|state|link_layer))"
    r"|sys/firmware/dmi/entries/17-\d+/raw"
    r"|(dev/cpuset|cgroup|sys/fs/cgroup)/(.*/)?([a-z._]*(cpus|mems)[a-z._]*|memory\.[a-z_]+)"
    r"|sys/devices/system/node/node\d+/([a-z]+|memory_side_cache/index\d/[a-z_]+)"
    r"|sys/devices/system/cpu/([a-z]+|cpu\d+/(online|cpu_capacity|regs/identification/midr_el1))"
    r"|sys/devices/system/cpu/cpu\d+/topology/[a-z_]*(list|siblings|_id)"
    r"|sys/devices/system/cpu/cpu\d+/cache/index\d/(level|type|size|ways.*|coh.*|shared.*)"
    r"|sys/devices/system/cpu/(cpufreq/policy\d+|cpu\d+/cpufreq)(/(cpuinfo_m.*|base_f.*))?)$"
)


def is_here(name: str) -> bool:
    """Is there a recording of that name?"""
    return _archive(name).exists()


def unpack(name: str, folder: Path) -> Path:
    """Unpack what the program reads of a recording below `folder`; return its root."""
    with tarfile.open(fileobj=io.BytesIO(bz2.decompress(_archive(name).read_bytes()))) as files:
        members = [member for member in files if READ.search(member.name)]
        files.extractall(folder / name, members, filter=_plain)
    (root,) = (folder / name).iterdir()
    return root


def _archive(name: str) -> Path:
    return RECORDINGS / f"{name}.tar.bz2"


def _plain(member: tarfile.TarInfo, _folder: str) -> tarfile.TarInfo:
    """Leave owner, mode and time of the recording behind: looking them up takes long."""
    nothing: Any = None  # allowed, although typeshed denies it
    return member.replace(
        mode=nothing,
        mtime=nothing,
        uid=nothing,
        gid=nothing,
        uname=nothing,
        gname=nothing,
        deep=False,
    )
