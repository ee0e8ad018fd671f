"""The connection between two GPUs: what each source says of it, and whether data arrives.

NVIDIA's management library and CUDA report peer access. Neither is certain: in virtual machines and
behind an IOMMU, copies have been seen to bring zeros without any error.
"""

from __future__ import annotations

from experiments import api as x
from experiments.devices.ceilings import link_bytes_per_s
from experiments.devices.device import gpu_of
from machine.devices import GpuLink
from machine.peaks import nvlink

from .pairs import Pair

YES, NO, UNKNOWN, RIGHT, WRONG = "yes", "no", "unknown", "right", "wrong"
NVML, CUDA, MEASURED = "nvml", "cuda", "measured"
NVLINK, PCIE = "nvlink", "pcie"
PCIE_PATHS = ("PIX", "PXB", "PHB", "NODE", "SYS")
NVLINK_PATHS = tuple(f"NV{links}" for links in range(1, 19))  # as many as a GPU has


class Access(x.Row):
    """Reports on peer access from one GPU to another, and whether its data arrived."""

    source: str
    target: str
    path: str
    nvml: str
    cuda: str
    measured: str


def access(pair: Pair, machine: x.Machine) -> Access:
    """Return the reports on a pair, and whether its data arrives. Raises UserError."""
    source, target = pair.source.device, pair.target.device
    link = link_of(machine, source.name, target.name)
    asked = getattr(source.backend, "can_device_access_peer", None)
    return Access(
        source=source.name,
        target=target.name,
        path=path_of(link),
        nvml=_said(None if link is None else link.peer_access_reported),
        cuda=_said(None if asked is None else bool(asked(source.index, target.index))),
        measured=RIGHT if pair.is_right() else WRONG,
    )


def _said(answer: bool | None) -> str:
    return UNKNOWN if answer is None else YES if answer else NO


def link_of(machine: x.Machine, source: str, target: str) -> GpuLink | None:
    """Return the connection between two GPUs as inspection knows it."""
    ends = [gpu_of(machine, name) for name in (source, target)]
    places = {gpu.index for gpu in ends if gpu is not None}
    return next((link for link in machine.gpu_links if {link.a, link.b} == places), None)


def path_of(link: GpuLink | None) -> str:
    """Return the connection between two GPUs in the words of `nvidia-smi topo -m`."""
    return UNKNOWN if link is None or link.path is None else link.path


def limit_of(machine: x.Machine, source: str, target: str) -> tuple[str, float] | None:
    """Return what joins two GPUs and its bandwidth in one direction, if known."""
    link = link_of(machine, source, target)
    if link is None:
        return None
    ceiling = nvlink(link, gpu_of(machine, source))
    if ceiling is not None:
        return NVLINK, ceiling.value
    ends = [link_bytes_per_s(machine, name) for name in (source, target)]
    known = [end for end in ends if end is not None]
    return (PCIE, min(known)) if link.path in PCIE_PATHS and len(known) == len(ends) else None


def network_bytes_per_s(machine: x.Machine) -> float | None:
    """Return what the fastest network connection carries in one direction, if one is up."""
    rates = [each.peak_bytes_per_s for each in machine.network if each.is_up]
    return max(filter(None, rates), default=None)


def disagrees(row: Access) -> bool:
    """Do the sources contradict each other? One that does not know says nothing."""
    return {row.nvml, row.cuda} >= {YES, NO} or (
        row.measured == WRONG and YES in (row.nvml, row.cuda)
    )
