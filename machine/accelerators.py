"""Which GPUs and other accelerators are there, what would use them, and how are they joined?

The makers of GPUs have modules of their own. All others are known by PCI's numbers of their makers,
or by their class, "processing accelerators", which their makers mostly give them; what is known of
those is the name, and which backend of PyTorch its maker provides. Displays that compute nothing
(the console of a server, the screen of a virtual machine) stay out: they are in `pci`.

Sources: the PCI ID Repository for makers and devices; libtpu's clients (JAX, torch_xla) for
Google's; the documentation of PyTorch and of the makers for the backends.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from machine import amd, apple, gpu_paths, intel, nvidia, nvlink, windows_gpus
from machine.devices import Gpu, GpuLink, PciDevice
from machine.facts import Facts, Reason, Unanswered, note
from machine.notes import Notes
from machine.pci_facts import Host, describe

_PROCESSING = 0x1200  # PCI class "processing accelerators"
# Vendor: its name, the backend (torch.device's word where it has one), its devices; None: all of
# the class.
_TPU = frozenset({0x0027, 0x0056, 0x005E, 0x0062, 0x0063, 0x006F, 0x0076})
_NEURON = frozenset({0x7064, 0x7164, 0x7264, 0x7364, 0x7564, 0x7565})
_MAKERS: dict[int, tuple[str, str | None, frozenset[int] | None]] = {
    0x1AE0: ("Google", "xla", _TPU),
    0x1D0F: ("Amazon", "xla", _NEURON),
    0x1DA3: ("Habana (Intel)", "hpu", None),
    0x1D95: ("Graphcore", "ipu", None),
    0x19E5: ("Huawei", "npu", None),
    0xCABC: ("Cambricon", "mlu", None),
    0x1ED5: ("Moore Threads", "musa", None),
    0x1E36: ("Enflame", "gcu", None),
    0x1E52: ("Tenstorrent", None, None),
    0x1E60: ("Hailo", None, None),
    0x1DE0: ("Groq", None, None),
    0x1ED2: ("FuriosaAI", None, None),
    0x1EFF: ("Rebellions", None, None),
    0x1F9D: ("Axelera", None, None),
    0x17CB: ("Qualcomm", None, None),
    0x1022: ("AMD", None, frozenset({0x1502, 0x17F0})),  # the NPU of Ryzen AI
    0x8086: ("Intel", None, None),  # the NPU of Core Ultra
    0x1AC1: ("Google", None, frozenset({0x089A})),  # Coral Edge TPU
}
_TPU_NAMES = {
    0x0027: "TPU v2 or v3",
    0x005E: "TPU v4",
    0x0062: "TPU v5p",
    0x0063: "TPU v5e",
    0x006F: "TPU v6e",
    0x0076: "TPU7x",
}
_WHOLE_VENDOR = frozenset({0x1DA3, 0x1D95, 0x1ED5, 0x1E36, 0x1E52, 0x1E60, 0x1DE0, 0x1ED2, 0x1EFF})
_BRIDGE, _SOUND = 0x06, 0x04
_NVSWITCH = 0x0680, nvidia.VENDOR_ID  # "bridge, other" of NVIDIA
_NO_BACKEND = Reason(
    "PyTorch has no backend for this accelerator.", "See what its maker's own software offers."
)
_NO_TREE = Reason(
    "The PCI tree of this machine does not tell how the two are connected.",
    "nvidia-smi topo --matrix, or lspci -tv",
)
_NO_NVLINK = Reason("Only GPUs of NVIDIA have NVLinks.", "There is nothing to look at.")
_MIXED = Reason("The two are not of one maker.", "There is nothing to look at.")
_NO_CUDA = Reason("CUDA was not asked, or sees only one of them.", "coreopsis doctor")
_NO_WORD = Reason("Its driver does not tell it.", "Look the model up in its maker's data sheet.")
_NAMES = tuple(field.name for field in fields(Gpu) if field.name != "index")
_LINK_NAMES = tuple(field.name for field in fields(GpuLink) if field.name not in ("a", "b"))


def parts(
    host: Host,
    notes: Notes,
    *,
    ask_nvidia: Callable[[Host], nvidia.Found] = nvidia.read,
    ask_apple: Callable[[int | None], list[Facts]] = apple.read,
    ask_windows: Callable[[], list[Facts]] = windows_gpus.read,
) -> Iterator[tuple[str, Any]]:
    """Yield `gpus`, `gpu_links` and `nvswitch` of the machine.

    Numbers follow NVIDIA's own, then come AMD, Intel and all others, so that GPU 0 is the one that
    programs call so.
    """
    found = ask_nvidia(host)
    gpus = [*found.gpus, *amd.read(host), *intel.read(host), *_others(host)]
    if host.is_live and sys.platform == "win32":
        gpus += ask_windows()
    if host.is_live and sys.platform == "darwin":
        try:
            gpus += ask_apple(host.memory_bytes)
        except Unanswered as error:
            notes.lack("gpus", why=error.reason.why, how=error.reason.how)
    _note_gpus(host, gpus, notes)
    yield "gpus", tuple(Gpu(index=n, **gpu.values) for n, gpu in enumerate(gpus))
    links = _links(host, gpus, found.pairs)
    note(list(links.values()), "gpu_links", _LINK_NAMES, notes)
    notes.sources["gpu_links"] = "each two of gpus"
    yield "gpu_links", tuple(GpuLink(a=a, b=b, **link.values) for (a, b), link in links.items())
    yield "nvswitch", _nvswitch(host, gpus, notes)


def _note_gpus(host: Host, gpus: Sequence[Facts], notes: Notes) -> None:
    for gpu in gpus:
        for name in _NAMES:
            if name not in gpu.sources:
                gpu.lack(name, _NO_WORD)
    note(gpus, "gpus", _NAMES, notes)
    if host.pci or gpus:
        notes.sources["gpus"] = "pci, and the drivers of the makers"
    elif not any(entry.what == "gpus" for entry in notes.missing):
        notes.lack(
            "gpus",
            why="No PCI bus is in sight, and no driver of a GPU answers.",
            how="lspci, nvidia-smi --list-gpus, or the system's own list of devices.",
        )


def _others(host: Host) -> Iterator[Facts]:
    for device in host.pci:
        maker, backend, devices = _MAKERS.get(device.vendor_id or 0, (None, None, None))
        if device.is_virtual_function or not _is_accelerator(device, devices):
            continue
        gpu = describe(host, device)
        if device.vendor_id == 0x1AE0 and (name := _TPU_NAMES.get(device.device_id or 0)):
            gpu.keep("name", name, "PCI's number of the device")
        if maker:
            gpu.keep("vendor", maker, "PCI's number of the vendor")
        if backend:
            gpu.keep("torch_backend", backend, "what its maker provides for PyTorch")
        else:
            gpu.lack("torch_backend", _NO_BACKEND)
        yield gpu


def _is_accelerator(device: PciDevice, devices: frozenset[int] | None) -> bool:
    kind = (device.class_id or 0) >> 8
    if devices is not None:
        return device.device_id in devices
    if device.vendor_id in (nvidia.VENDOR_ID, amd.VENDOR_ID):  # read by their modules
        return False
    if device.vendor_id in _WHOLE_VENDOR:  # they make nothing else; some have odd classes
        return kind >> 8 not in (_BRIDGE, _SOUND)  # these are parts of the card
    return kind == _PROCESSING


def _links(
    host: Host, gpus: Sequence[Facts], told: dict[tuple[int, int], Facts]
) -> dict[tuple[int, int], Facts]:
    """Return the ways between each two, by what the driver told and else by the PCI tree."""
    vendors = [gpu.values.get("vendor") for gpu in gpus]
    addresses = [gpu.values.get("pci_address") for gpu in gpus]
    ours = [address if v == "AMD" else None for address, v in zip(addresses, vendors, strict=True)]
    told = told | amd.pairs(host, ours)
    links = {}
    for a, b in itertools.combinations(range(len(gpus)), 2):
        link = links[a, b] = told.get((a, b)) or Facts()
        if not link.knows("path"):
            path = gpu_paths.path(host.pci, addresses[a], addresses[b])
            if path:
                link.keep("path", path, "the PCI tree in pci[*].parent")
            else:
                link.lack("path", _NO_TREE)
        are_nvidia = vendors[a] == vendors[b] == "NVIDIA"
        if not are_nvidia:
            link.lack("nvlinks", _NO_NVLINK)
            link.lack("nvlink_version", _NO_NVLINK)
        reason = _NO_WORD if vendors[a] == vendors[b] else _MIXED
        if are_nvidia:
            for name in _LINK_NAMES:
                link.lack(name, _why_silent(gpus[a], gpus[b], name))
        link.lack("peer_access_reported", reason)
        link.lack("peer_access_cuda", _NO_CUDA if are_nvidia else reason)
    return links


def _why_silent(a: Facts, b: Facts, name: str) -> Reason:
    """Return why nothing is known of a pair of NVIDIA's: because one of the two is silent."""
    asked = "visible" if name == "peer_access_cuda" else "nvlinks"
    return a.missing.get(asked) or b.missing.get(asked) or _NO_CUDA


def _nvswitch(host: Host, gpus: Sequence[Facts], notes: Notes) -> bool | None:
    """Return whether NVSwitches join the GPUs, seen in the PCI tree or at the end of a link."""
    if any(
        (d.class_id or 0) >> 8 == _NVSWITCH[0] and d.vendor_id == _NVSWITCH[1] for d in host.pci
    ):
        notes.sources["nvswitch"] = "pci: a bridge of NVIDIA"
        return True
    links = [gpu.values.get("nvlinks") for gpu in gpus if gpu.values.get("vendor") == "NVIDIA"]
    if any(nvlink.is_up(n) and nvlink.leads_to_switch(n) for known in links for n in known or ()):
        notes.sources["nvswitch"] = "gpus[*].nvlinks[*].peer_kind"
        return True
    if None in links:
        silent = next(gpu for gpu in gpus if "nvlinks" in gpu.missing)
        why, how = silent.missing["nvlinks"]
        notes.lack("nvswitch", why=why, how=how)
        return None
    if not host.pci and not gpus:
        notes.lack("nvswitch", why="It is not known which GPUs there are.", how="lspci")
        return None
    notes.sources["nvswitch"] = "gpus[*].nvlinks: none leads to a switch"
    return False
