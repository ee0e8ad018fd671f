"""NVLinks of a GPU, and the connection of each pair of GPUs, by NVML.

Connections have the names of `nvidia-smi topo -m`. Links to a switch count for every GPU on it. If
a virtual machine hides the other end of an active link, that end can only be a switch.

LIMIT: with several NVSwitch partitions on one machine, all GPUs count as members of the same one.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from machine.devices import NvLink
from machine.facts import Facts, Reason, Unanswered
from machine.gpus.nvml import Nvml, is_refusal

# NVML_FI_DEV_...
_LINK_COUNT, _LINK_SPEED, _LINK_STATE, _SPEED_OF_ALL = 91, 164, 165, 90
_C2C_COUNT, _C2C_STATE, _C2C_SPEED = 170, 171, 172
_MOST_LINKS = 64  # Blackwell has 18, nvml.h knows of 36
_HOPPER = 9  # from this compute capability on, a field tells the state
# nvmlNvlinkVersion_t, which is not the generation; of the driver 590 (November 2026).
_VERSIONS = {1: "1.0", 2: "2.0", 3: "2.2", 4: "3.0", 5: "3.1", 6: "4.0", 7: "5.0", 8: "6.0"}
# The versions of links between these speeds (bytes/s of one direction), and of the GPUs of this
# compute capability; of newer ones, only the speed and the driver tell. Source: NVIDIA's white
# papers.
_BY_SPEED = (
    (12e9, 16e9, ("3.0", "3.1")),  # GA102
    (17e9, 22e9, ("1.0",)),
    (23e9, 29e9, ("2.0", "2.2", "3.0", "3.1", "4.0")),
    (45e9, 60e9, ("5.0", "6.0")),
)
_BY_CAPABILITY = {6: ("1.0",), 7: ("2.0", "2.2"), 8: ("3.0", "3.1"), 9: ("4.0",), 10: ("5.0",)}
_STATES: dict[int, Literal["inactive", "active", "sleep"]] = {
    0: "inactive",
    1: "active",
    2: "sleep",
}
# nvmlIntNvLinkDeviceType_t
_PEER_KINDS: dict[int, Literal["gpu", "processor", "switch"]] = {
    0: "gpu",
    1: "processor",
    2: "switch",
}
_HIDDEN_BUS = 0xFF  # of a peer that is not in this machine's PCI tree
_FABRIC: dict[int, Literal["not started", "in progress", "completed"]] = {
    1: "not started",
    2: "in progress",
    3: "completed",
}
# nvmlGpuTopologyLevel_t: two GPUs on one board, behind one PCIe switch, several, ...
_ANCESTORS = {0: "PIX", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
# pynvml 13 has a tuple in place of the first number.
_P2P_READ, _P2P_WRITE, _P2P_OK = 0, 1, 0
_DOWN = Reason("The link is down.", "nvidia-smi nvlink --status")
_UNTOLD = Reason("The driver does not tell it of this link.", "nvidia-smi nvlink --status")
_NEWER = Reason(
    "The driver's number of the version is newer than the list here.",
    "Look the model up in its maker's data sheet.",
)
_NO_FABRIC = Reason("The GPU is not part of a fabric of switches.", "There is nothing to set up.")
_NO_C2C = Reason("No NVLink-C2C joins the GPU to the processor.", "There is nothing to look at.")
_NO_NVLINK = Reason("No NVLink joins the two GPUs.", "There is nothing to look at.")
_HIDDEN = Reason(
    "The driver does not tell the address of the other end.",
    "nvidia-smi nvlink --status, on the physical machine.",
)


def describe(library: Nvml, gpu: Any, facts: Facts) -> None:
    """Add the NVLinks of one GPU and the state of its fabric."""
    major = int(facts.values.get("compute_capability", "0").partition(".")[0])
    facts.ask("nvlinks", "NVML: nvmlDeviceGetNvLink...", lambda: _links(library, gpu, major, facts))
    facts.ask("c2c_bytes_per_s", "NVML: NVML_FI_DEV_C2C_LINK...", lambda: _c2c(library, gpu))
    facts.ask("fabric", "NVML: nvmlDeviceGetGpuFabricInfoV", lambda: _fabric(library, gpu))


def is_up(link: NvLink) -> bool:
    """Does the link work? A sleeping one wakes by itself."""
    return link.state in ("active", "sleep")


def has_links(library: Nvml, gpu: Any) -> bool:
    """Has the GPU NVLinks? True also if the driver does not say."""
    try:
        return library.field(gpu, _LINK_COUNT) > 0
    except Unanswered:  # a driver that does not count them
        try:
            library.ask("nvmlDeviceGetNvLinkState", gpu, 0)
        except Unanswered as error:
            return not is_refusal(error.reason)
        return True


def _links(library: Nvml, gpu: Any, major: int, facts: Facts) -> tuple[NvLink, ...]:
    """Return the links, () for a GPU without any. Raises Unanswered if that is unknown.

    `facts` gets the reasons for missing values of single links.
    """
    try:
        most = library.field(gpu, _LINK_COUNT)
    except Unanswered:
        most = _MOST_LINKS
    links = []
    for number in range(min(most, _MOST_LINKS)):
        try:
            link = _link(library, gpu, number, major)
        except Unanswered as error:
            if is_refusal(error.reason):  # there are no more
                break
            raise
        _check_version(link, major, facts)
        links.append(NvLink(number=number, **link.values))
        for name, reason in link.missing.items():
            facts.lack(f"nvlinks[*].{name}", reason)
    return tuple(links)


def _link(library: Nvml, gpu: Any, number: int, major: int) -> Facts:
    link = Facts()

    def ask(call: str) -> Any:
        return library.ask(f"nvmlDeviceGetNvLink{call}", gpu, number)

    # A link that does not exist refuses this call; the other calls may fail for existing links.
    state = _STATES.get(ask("State"))
    if major >= _HOPPER:
        with contextlib.suppress(Unanswered):  # the older call cannot tell sleep
            state = _STATES.get(library.field(gpu, _LINK_STATE, number))
    if state:
        link.keep("state", state, "")
    if state != "inactive":
        link.ask("version", "", lambda: _version(ask("Version")))
        link.ask("peer_kind", "", lambda: _PEER_KINDS.get(ask("RemoteDeviceType")))
        link.ask("peer", "", lambda: _peer(ask("RemotePciInfo")))
        for field, scope in ((_LINK_SPEED, number), (_SPEED_OF_ALL, 0)):
            if not link.knows("bytes_per_s"):
                link.ask("bytes_per_s", "", partial(_speed, library, gpu, field, scope))
        link.lack("peer", _HIDDEN)
    for name in ("state", "version", "peer_kind", "peer", "bytes_per_s"):
        link.lack(name, _DOWN if state == "inactive" else _UNTOLD)
    return link


def _version(number: int) -> str:
    """Return the version of a number of NVML. Raises Unanswered."""
    if number not in _VERSIONS:
        raise Unanswered(_NEWER if number > max(_VERSIONS) else _UNTOLD)
    return _VERSIONS[number]


def _check_version(link: Facts, major: int, facts: Facts) -> None:
    """Correct a version that the link's speed or the GPU contradicts: drivers count differently."""
    told, speed = link.values.get("version"), link.values.get("bytes_per_s") or 0.0
    by_speed = next((names for low, high, names in _BY_SPEED if low < speed < high), ())
    by_gpu = _BY_CAPABILITY.get(major, ())
    possible = [name for name in by_speed if name in by_gpu] or by_speed or by_gpu
    if told is None or not possible or told in possible:
        return
    known = f"a speed of {speed / 1e9:.3g} GB/s" if by_speed else f"compute capability {major}"
    why = f"The driver says version {told}, but {known} is not of that version."
    if len({name[0] for name in possible}) == 1:  # 3.0 and 3.1 are of one generation
        link.values["version"] = possible[0]
        facts.sources["nvlinks[*].version"] = f"{why} The speed and the GPU's generation count."
    else:
        link.drop("version", Reason(why, "Look the model up in its maker's data sheet."))


def _c2c(library: Nvml, gpu: Any) -> float:
    links = range(min(library.field(gpu, _C2C_COUNT), _MOST_LINKS))
    up = [number for number in links if library.field(gpu, _C2C_STATE, number)]
    if not up:
        raise Unanswered(_NO_C2C)
    return sum(library.field(gpu, _C2C_SPEED, number) for number in up) * 1e6  # NVML counts MB/s


def _speed(library: Nvml, gpu: Any, field: int, scope: int) -> float | None:
    return library.field(gpu, field, scope) * 1e6 or None  # NVML counts MB/s


def _peer(info: Any) -> str | None:
    if not info.busId or info.bus >= _HIDDEN_BUS:
        return None
    return f"{info.domain:04x}:{info.bus:02x}:{info.device:02x}.0"


def _fabric(
    library: Nvml, gpu: Any
) -> Literal["not started", "in progress", "completed", "failed"]:
    info = _FabricInfo(version=ctypes.sizeof(_FabricInfo) | 2 << 24)
    library.ask("nvmlDeviceGetGpuFabricInfoV", gpu, ctypes.byref(info))
    if info.state not in _FABRIC:
        raise Unanswered(_NO_FABRIC)
    state = _FABRIC[info.state]
    return "failed" if state == "completed" and info.status else state


class _FabricInfo(ctypes.Structure):
    """nvmlGpuFabricInfo_v2_t of nvml.h; pynvml passes the pointer on unchanged."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("cluster", ctypes.c_ubyte * 16),
        ("status", ctypes.c_uint),
        ("clique", ctypes.c_uint32),
        ("state", ctypes.c_ubyte),
        ("health", ctypes.c_uint32),
    )


# --- pairs ----------------------------------------------------------------------------------------


def pairs(
    library: Nvml, handles: Mapping[int, Any], gpus: Sequence[Facts]
) -> dict[tuple[int, int], Facts]:
    """Return the connection of each pair of GPUs with a handle, by their indexes."""
    found = {}
    for a, b in itertools.combinations(sorted(handles), 2):
        pair = found[a, b] = Facts()
        for name, call, read in (
            ("path", "nvmlDeviceGetTopologyCommonAncestor", _ancestor),
            ("peer_access_reported", "nvmlDeviceGetP2PStatus", _can_reach),
        ):
            pair.ask(name, f"NVML: {call}", partial(read, library, handles[a], handles[b]))
        _join(pair, gpus[a], gpus[b])
    return found


def _ancestor(library: Nvml, a: Any, b: Any) -> str | None:
    return _ANCESTORS.get(library.ask("nvmlDeviceGetTopologyCommonAncestor", a, b))


def _can_reach(library: Nvml, a: Any, b: Any) -> bool:
    return all(
        library.ask("nvmlDeviceGetP2PStatus", a, b, what) == _P2P_OK
        for what in (_P2P_READ, _P2P_WRITE)
    )


def _join(pair: Facts, a: Facts, b: Facts) -> None:
    """Add the NVLinks between two GPUs; if there are any, they are the path."""
    for gpu in (a, b):
        if "nvlinks" not in gpu.values:
            for name in ("nvlinks", "nvlink_version"):
                pair.lack(name, gpu.missing["nvlinks"])
            return
    links = between(a, b)
    source = "counted in gpus[*].nvlinks"
    pair.keep("nvlinks", len(links), source)
    if not links:
        pair.lack("nvlink_version", _NO_NVLINK)
        return
    pair.keep("path", f"NV{len(links)}", source)
    version = min((link.version for link in links if link.version), default=None)
    if version:
        pair.keep("nvlink_version", version, source)


def between(a: Facts, b: Facts) -> list[NvLink]:
    """Return the links from one GPU to another, directly or through a switch."""
    peer = b.values.get("pci_address", "")
    direct = [link for link in a.values["nvlinks"] if is_up(link) and link.peer == peer]
    return direct or min(_to_switches(a), _to_switches(b), key=len)


def _to_switches(gpu: Facts) -> list[NvLink]:
    return [link for link in gpu.values["nvlinks"] if is_up(link) and leads_to_switch(link)]


def leads_to_switch(link: NvLink) -> bool:
    """Is the other end a switch, or hidden, so that it must be one?"""
    return link.peer_kind == "switch" or (link.peer_kind is None and link.peer is None)
