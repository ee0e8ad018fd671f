"""All GPUs and other accelerators of a machine, and the connections between them.

Each maker of GPUs has its own module. All other makers are in `makers.py`; of their accelerators
only the name and the PyTorch backend are known. Displays that cannot compute (a server's console,
a virtual machine's screen) are left out; `pci` has them.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from machine.bus import pcie
from machine.devices import Gpu, GpuLink, PciDevice
from machine.facts import Facts, Notes, Reason, Unanswered, note
from machine.gpus import amd, apple, intel, nvidia, nvlink
from machine.gpus import windows as windows_gpus
from machine.gpus.makers import maker_of
from machine.gpus.nvml_machine import Found
from machine.gpus.pci_facts import NO_WINDOW, Host, add_bar, describe
from machine.record import names

_NVSWITCH = 0x0680, nvidia.VENDOR_ID  # "bridge, other" of NVIDIA
_NO_BACKEND = Reason(
    "PyTorch has no backend for this accelerator.", "See what its maker's own software offers."
)
_NO_BUS = Reason(
    "No PCI bus is in sight, and no driver of a GPU answers.",
    "nvidia-smi --list-gpus, or the system's own list of devices.",
)
_NO_TREE = Reason(
    "The PCI tree of this machine does not tell how the two are connected.",
    "nvidia-smi topo --matrix, or the manual of the mainboard.",
)
_NO_NVLINK = Reason("Only GPUs of NVIDIA have NVLinks.", "There is nothing to look at.")
_MIXED = Reason("The two are not of one maker.", "There is nothing to look at.")
_NO_CUDA = Reason("CUDA was not asked, or sees only one of them.", "coreopsis doctor")
_NO_WORD = Reason("Its driver does not tell it.", "Look the model up in its maker's data sheet.")
_NAMES = tuple(name for name in names(Gpu) if name != "index")
_LINK_NAMES = tuple(name for name in names(GpuLink) if name not in ("a", "b"))


def parts(
    host: Host,
    notes: Notes,
    *,
    ask_nvidia: Callable[[Host], Found] = nvidia.read,
    ask_apple: Callable[[int | None], list[Facts]] = apple.read,
    ask_windows: Callable[[Sequence[PciDevice]], list[Facts]] = windows_gpus.read,
) -> Iterator[tuple[str, Any]]:
    """Yield `gpus`, `gpu_links` and `nvswitch` of the machine.

    NVIDIA's GPUs come first, in their own order, then AMD, Intel and all others. So GPU 0 here is
    also GPU 0 of other programs.
    """
    found = ask_nvidia(host)
    gpus = [*found.gpus]
    if not host.is_elsewhere:
        gpus += [*amd.read(host), *intel.read(host), *_others(host)]
    elif sys.platform == "win32":
        gpus += ask_windows(host.pci)
    elif sys.platform == "darwin":
        try:
            gpus += ask_apple(host.memory_bytes)
        except Unanswered as error:
            notes.lack("gpus", error.reason)
    _note_gpus(host, gpus, found.trouble, notes)
    yield "gpus", tuple(Gpu(index=n, **gpu.values) for n, gpu in enumerate(gpus))
    links = _links(host, gpus, found.pairs)
    note(list(links.values()), "gpu_links", _LINK_NAMES, notes)
    notes.sources["gpu_links"] = "each two of gpus"
    yield "gpu_links", tuple(GpuLink(a=a, b=b, **link.values) for (a, b), link in links.items())
    yield "nvswitch", _nvswitch(host, gpus, notes)


def _note_gpus(host: Host, gpus: Sequence[Facts], trouble: Reason | None, notes: Notes) -> None:
    for gpu in gpus:
        add_bar(gpu, _NO_WORD if host.is_elsewhere else NO_WINDOW)
        for name in _NAMES:
            if name not in gpu.sources:
                gpu.lack(name, _NO_WORD)
    note(gpus, "gpus", _NAMES, notes)
    if trouble is not None and not any(gpu.values.get("vendor") == "NVIDIA" for gpu in gpus):
        notes.lack("gpus", trouble)
    if host.pci or gpus:
        notes.sources["gpus"] = "pci, and the drivers of the makers"
    elif not any(entry.what == "gpus" for entry in notes.missing):
        notes.lack("gpus", _NO_BUS)


def _others(host: Host) -> Iterator[Facts]:
    for device in host.pci:
        maker = maker_of(device.vendor_id, device.device_id, device.class_id)
        if device.is_virtual_function or maker is None:
            continue
        gpu = describe(host, device)
        if name := maker.devices.get(device.device_id or 0):
            gpu.keep("name", name, "PCI's number of the device")
        if maker.name:
            gpu.keep("vendor", maker.name, "PCI's number of the vendor")
        if maker.backend:
            gpu.keep("torch_backend", maker.backend, "what its maker provides for PyTorch")
        else:
            gpu.lack("torch_backend", _NO_BACKEND)
        yield gpu


def _links(
    host: Host, gpus: Sequence[Facts], told: dict[tuple[int, int], Facts]
) -> dict[tuple[int, int], Facts]:
    """Return the connection of each pair, from the driver or else from the PCI tree."""
    vendors = [gpu.values.get("vendor") for gpu in gpus]
    addresses = [gpu.values.get("pci_address") for gpu in gpus]
    ours = [address if v == "AMD" else None for address, v in zip(addresses, vendors, strict=True)]
    told = told | amd.pairs(host, ours)
    links = {}
    for a, b in itertools.combinations(range(len(gpus)), 2):
        link = links[a, b] = told.get((a, b)) or Facts()
        if not link.knows("path"):
            path = pcie.gpu_path(host.pci, addresses[a], addresses[b])
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
    """Return why a pair of NVIDIA's GPUs is unknown: one of the two gave no answer."""
    asked = "visible" if name == "peer_access_cuda" else "nvlinks"
    return a.missing.get(asked) or b.missing.get(asked) or _NO_CUDA


def _nvswitch(host: Host, gpus: Sequence[Facts], notes: Notes) -> bool | None:
    """Return whether NVSwitches connect the GPUs, by the PCI tree or the ends of the links."""
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
        notes.lack("nvswitch", silent.missing["nvlinks"])
        return None
    if not host.pci and not gpus:
        notes.lack("nvswitch", Reason("It is not known which GPUs there are.", _NO_BUS.how))
        return None
    notes.sources["nvswitch"] = "gpus[*].nvlinks: none leads to a switch"
    return False
