"""Machines that strangers made: recorded roots and machine files, damaged in every way."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from machine.model import to_json
from tests.machine import gpu_trees
from tests.machine.doctor.buses import geforce
from tests.machine.storage.test_disks import AHCI, NVME, disk
from tests.machine.test_network import adapter, interface
from tests.machine.trees import Tree
from tests.widgets.map.machines import MACHINES

# What a terminal obeys, or what turns the order of letters round; without tab and line feed.
OBEYED = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\r?\x1b\[[12]?[AK]")  # colours, a bar of progress
SECRET = "a secret outside of the root"
EVIL = "\x1b]0;evil\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\u200f\u061c\u2028\x7f\r\x08\ud800"

TEXTS = st.sampled_from(
    [
        "",
        "\n",
        "\0" * 4096,
        "0",
        "-1",
        "-5",
        "4294967295",
        "9" * 19,
        "9" * 30,
        "9" * 5000,
        "0x" + "f" * 5000,
        "9" * 300 + ".0 GT/s PCIe",
        "0-99999999999",
        "0-16383",
        "0-3,1-2,2",
        "3-0",
        "ffffffff," * 600,
        "\u0663",
        "9" * 400 + " 100000",
        "1 0",
        "nan",
        "inf",
        "N" * 5000,
        f"Model {EVIL} name",
        f"MemTotal: {'9' * 5000} kB\nMemTotal: 1 kB\n",
        f"model name : {EVIL}\nflags : {EVIL} {'f ' * 5000}\n",
        "NAME=" + EVIL,
        "node : 99999999999\nstatus : online\nsize : " + "f" * 5000,
        "a\nb\tc",
        "M M: : :\n" * 200,
        "cgroup2 / cgroup2 rw 0 0\n" * 50,
        "0::/../../../..",
        "cgroup2 /../../etc cgroup2 rw 0 0",
    ]
)
# One in twenty of the names is a name of strangers, as a network interface may have.
NAMES = st.sampled_from(
    [b"\x1b[2J", "\u202egnp".encode(), b"\xff\xfe", b"n" * 250, b"cpu999999999", b"node99999999999"]
)
DAMAGES = st.one_of(
    st.tuples(st.just("text"), st.integers(0, 9999), TEXTS),
    st.tuples(st.just("text"), st.integers(0, 9999), st.text(max_size=80)),
    st.tuples(st.just("flip"), st.integers(0, 9999), st.binary(min_size=1, max_size=4)),
    st.tuples(
        st.sampled_from(["folder", "gone", "pipe", "sparse", "zero", "outside", "itself", "up"]),
        st.integers(0, 9999),
        st.none(),
    ),
    st.tuples(st.just("name"), st.integers(0, 9999), NAMES),
)


@contextlib.contextmanager
def told(*, traces: bool = False) -> Iterator[io.StringIO]:
    """Collect what a terminal gets; nothing in it may be obeyed, but colours of ours."""
    terminal, before = io.StringIO(), dict(os.environ)
    os.environ.update(FORCE_COLOR="1", COLUMNS="100", TERM="xterm-256color")
    try:
        with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
            yield terminal
    finally:
        os.environ.clear()
        os.environ.update(before)
    said = OURS.sub("", terminal.getvalue())
    assert not (found := OBEYED.search(said)), (found, said[:2000])
    assert traces or "Traceback" not in said
    assert SECRET not in said


def base(root: Path) -> Tree:
    """Write a machine that has some of everything."""
    tree = Tree(root)
    tree.cpus(8, threads_per_core=2, packages=2)
    for n in range(8):
        tree.cache(n, 0, 1, "Data", "32K", f"{n // 2 * 2}-{n // 2 * 2 + 1}")
        tree.cache(n, 1, 3, "Unified", "8M", f"{n // 4 * 4}-{n // 4 * 4 + 3}")
    tree.write("/proc/cpuinfo", "processor : 0\nmodel name : Test CPU\nflags : avx2 hypervisor\n")
    tree.write("/proc/meminfo", "MemTotal: 16384000 kB\nMemAvailable: 8000000 kB\n")
    tree.write("/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
    tree.write("/proc/self/cgroup", "0::/job\n")
    tree.write("/proc/modules", "nvidia 1 0 - Live 0x0\n")
    tree.write("/proc/sys/kernel/osrelease", "6.8.0\n")
    tree.write("/etc/os-release", 'ID=debian\nPRETTY_NAME="Debian"\n')
    tree.write("/sys/fs/cgroup/job/cpu.max", "200000 100000\n")
    tree.write("/sys/fs/cgroup/job/cpuset.cpus.effective", "0-7\n")
    tree.write("/sys/class/dmi/id/sys_vendor", "Maker\n")
    tree.write("/sys/class/dmi/id/product_name", "Model\n")
    tree.pinned("0-7")
    for node in (0, 1):
        folder = f"/sys/devices/system/node/node{node}"
        tree.write(f"{folder}/cpulist", f"{node * 4}-{node * 4 + 3}\n")
        tree.write(f"{folder}/meminfo", f"Node {node} MemTotal: 8192000 kB\n")
        tree.write(f"{folder}/distance", "10 21\n" if node == 0 else "21 10\n")
    for number, path in enumerate(("0000:01:00.0", "0000:02:00.0")):
        tree.pci(
            f"pci0000:00/0000:00:0{number + 1}.0", "0x060400", now="16.0 GT/s PCIe x16",
            able="16.0 GT/s PCIe x16",
        )  # fmt: skip
        tree.pci(
            f"pci0000:00/0000:00:0{number + 1}.0/{path}", "0x120000", "0x1002",
            now="2.5 GT/s PCIe x8", able="16.0 GT/s PCIe x16",
        )  # fmt: skip
    gpu_trees.processor(tree)
    gpu_trees.amd(tree, "0000:01:00.0", 1, others=(2,))
    gpu_trees.amd(tree, "0000:02:00.0", 2, others=(1,))
    geforce(tree)
    disk(tree, "nvme0n1", NVME.replace("01:00.0", "04:00.0"), queue_rotational="0")
    tree.write(f"/sys/devices/{NVME}/model".replace("01:00.0", "04:00.0"), "Samsung\n")
    disk(tree, "sda", AHCI, queue_rotational="1")
    tree.write(f"/sys/devices/{AHCI}/vendor", "ATA\n")
    interface(tree, "eth0", speed="25000")
    adapter(tree)
    tree.write("/sys/devices/system/edac/mc/mc0/mc_name", "controller\n")
    for n in range(2):
        dimm = f"/sys/devices/system/edac/mc/mc0/dimm{n}"
        tree.write(f"{dimm}/size", "16384\n")
        tree.write(f"{dimm}/dimm_label", f"DIMM_A{n}\n")
        tree.write(f"{dimm}/dimm_mem_type", "Unbuffered-DDR5\n")
        tree.write(f"{dimm}/dimm_location", f"channel {n} slot 0\n")
    return tree


def damage(root: Path, damages: list[tuple[str, int, Any]], outside: Path) -> None:
    """Damage files of a recorded root; `outside` is a file that it must not lead to."""
    for kind, place, how in damages:
        files = sorted(
            os.path.join(folder, name)
            for folder, folders, names in os.walk(root)
            for name in (*folders, *names)
        )
        if not files:
            return
        path = Path(files[place % len(files)])
        if kind == "name":
            if path.parent != root:
                with contextlib.suppress(OSError):  # a folder of that name is there
                    os.rename(path, os.path.join(os.fsencode(path.parent), how))
            continue
        if kind == "text" and path.is_dir():
            continue
        before = b""
        if path.is_file():
            with path.open("rb") as file:
                before = file.read(9999)  # it may be huge by now
        if path.is_dir() and not path.is_symlink():
            os.rename(path, outside.parent / f"away-{place}-{len(files)}")
        else:
            path.unlink()
        _replace(path, kind, how, before, outside)


def _replace(path: Path, kind: str, how: Any, before: bytes, outside: Path) -> None:
    match kind:
        case "text":
            path.write_bytes(how.encode(errors="surrogatepass"))
        case "flip":
            path.write_bytes(before[: len(before) // 2] + how + before[len(before) // 2 + 1 :])
        case "folder":
            path.mkdir()
        case "pipe":
            if sys.platform != "win32":
                os.mkfifo(path)
        case "sparse":
            with path.open("wb") as file:
                file.truncate(10 * 2**30)
        case "zero":
            path.symlink_to("/dev/zero")
        case "outside":
            path.symlink_to(outside)
        case "itself":
            path.symlink_to(path)
        case "up":
            path.symlink_to("..")


# --- machine files --------------------------------------------------------------------------------

LEAF_LIST: list[Any] = [
    None,
    True,
    -1,
    0,
    -(2**62),
    2**31,
    2**53,
    2**63 - 1,
    2**64,
    10**4000,
    -0.0,
    -1.5,
    1e-300,
    1e300,
    float("nan"),
    float("inf"),
    "",
    "N" * 5000,
    EVIL,
    f"0000:{EVIL}",
    "0000:01:00.0",
    "a\nb",
    [],
    {},
    [0] * 5000,
    [2**40],
    list(range(-3, 3)),
]
LEAVES = st.sampled_from(LEAF_LIST)
CHANGES = st.tuples(
    st.sampled_from(["like", "like", "like", "like", "leaf", "drop", "again", "many", "same"]),
    st.integers(0, 10**6),
    LEAVES,
)
FILES = st.sampled_from(sorted(MACHINES))
PLAIN = {name: to_json(make()) for name, make in MACHINES.items()}


def damaged_file(name: str, changes: list[tuple[str, int, Any]]) -> Any:
    """Return the JSON of a machine with some of its values replaced, dropped or repeated."""
    return damaged(copy.deepcopy(PLAIN[name]), changes)


def damaged(data: Any, changes: list[tuple[str, int, Any]]) -> Any:
    """Replace, drop or repeat some of the values of parsed JSON; return it."""
    for kind, place, what in changes:
        leaf = copy.deepcopy(what)  # or a later change would change it for all
        holders = _holders(data)
        holder, key = holders[place % len(holders)]
        match kind:
            case "leaf":
                holder[key] = leaf
            case "like":  # of the same kind, which is not refused at once
                kinds = [each for each in LEAF_LIST if type(each) is type(holder[key])]
                holder[key] = copy.deepcopy(kinds[place % len(kinds)]) if kinds else leaf
            case "drop":
                del holder[key]
            case "again" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case "many" if isinstance(holder, list):
                size = len(_holders([holder[key]]))
                holder.extend(copy.deepcopy(holder[key]) for _ in range(20_000 // (size + 9)))
            case "same":  # a value from elsewhere: a cycle of parents, a wrong thread
                other, name_there = holders[place // 7 % len(holders)]
                holder[key] = copy.deepcopy(other[name_there])
    return data


def _holders(data: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """Return (holder, key) of every value."""
    found = [] if found is None else found
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            found.append((data, key))
            _holders(value, found)
    return found
