"""Machines that are not there: small trees of /proc and /sys, and the recordings of hwloc."""

from __future__ import annotations

import os
import re
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tests.machine.trees import RECORDINGS, Tree

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")

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
    r"|(dev/cpuset|cgroup|sys/fs/cgroup)/(.*/)?[a-z._]*cpus[a-z._]*"
    r"|sys/devices/system/node/node\d+/[a-z]+"
    r"|sys/devices/system/cpu/([a-z]+|cpu\d+/(online|cpu_capacity))"
    r"|sys/devices/system/cpu/cpu\d+/topology/[a-z_]*(list|siblings|_id)"
    r"|sys/devices/system/cpu/cpu\d+/cache/index\d/(level|type|size|ways.*|coh.*|shared.*)"
    r"|sys/devices/system/cpu/(cpufreq/policy\d+|cpu\d+/cpufreq)(/(cpuinfo_m.*|base_f.*))?)$"
)


@pytest.fixture
def tree(tmp_path) -> Tree:
    """Return an empty tree to write files into."""
    return Tree(tmp_path / "root")


@pytest.fixture(scope="session")
def recording():
    """Return a function from the name of a recording to the root of its files, unpacked once."""
    unpacked: dict[str, Path] = {}
    # Twenty thousand small files: on a slow disk that alone would take twenty seconds.
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:

        def unpack(name: str) -> Path:
            archive = RECORDINGS / f"{name}.tar.bz2"
            if not archive.exists():
                pytest.skip("the recorded machines are not here")
            if name not in unpacked:
                with tarfile.open(archive) as files:
                    members = [member for member in files if READ.search(member.name)]
                    files.extractall(f"{folder}/{name}", members, filter=plain)
                (unpacked[name],) = Path(folder, name).iterdir()
            return unpacked[name]

        yield unpack


def plain(member: tarfile.TarInfo, _folder: str) -> tarfile.TarInfo:
    """Leave owner, mode and time of the recording behind: looking them up takes long."""
    return member.replace(mode=None, mtime=None, uid=None, gid=None, uname=None, gname=None)
