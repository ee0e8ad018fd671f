"""Questions to the evidence that several steps share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from machine.doctor.evidence import Card, Evidence, Node, NvmlDevice, Torch, Vendor

MODULES: dict[Vendor | None, tuple[str, ...]] = {
    Vendor.NVIDIA: ("nvidia",),
    Vendor.AMD: ("amdgpu",),
    Vendor.INTEL: ("xe", "i915"),
}
_LITTLE = 10  # less than a tenth


def cards_of(evidence: Evidence, vendor: Vendor | None) -> list[Card]:
    """Return the cards of a vendor, without integrated graphics if there are others."""
    cards = [card for card in evidence.cards if card.vendor is vendor]
    return [card for card in cards if not card.only_draws] or cards


def is_contained(evidence: Evidence) -> bool:
    """Does the program run in a container?"""
    return evidence.surroundings.container not in (None, "none")


def devices_of(evidence: Evidence) -> tuple[NvmlDevice, ...]:
    """Return the GPUs that NVML sees."""
    return evidence.nvml.devices if evidence.nvml is not None else ()


def has_computed(evidence: Evidence) -> bool:
    """Has PyTorch computed on every device that it finds?"""
    devices = evidence.torch.devices if evidence.torch is not None else ()
    return bool(devices) and all(device.has_computed for device in devices)


def has_failed(evidence: Evidence) -> bool:
    """Did PyTorch look for a device and report why it has none?"""
    return evidence.torch is not None and evidence.torch.problem is not None


def driver_cuda(evidence: Evidence) -> tuple[int, int] | None:
    """Return the newest CUDA that the driver runs."""
    if evidence.nvml is not None and evidence.nvml.cuda:
        return evidence.nvml.cuda
    return evidence.torch.driver_cuda if evidence.torch is not None else None


def is_driver_too_old(evidence: Evidence) -> bool:
    """Is PyTorch's CUDA too new for the driver? Only the major version counts.

    Source: CUDA Compatibility, minor version compatibility, in force since CUDA 11.
    """
    driver, torch = driver_cuda(evidence), evidence.torch
    if driver is None or torch is None or not torch.cuda:
        return False
    return int(torch.cuda.partition(".")[0]) > driver[0]


def built_for(torch: Torch, vendor: Vendor) -> str | None:
    """Return what PyTorch was built with for a vendor, None if it was built for others."""
    is_xpu = torch.xpu or (torch.version or "").endswith("+xpu")
    return {
        Vendor.NVIDIA: f"CUDA {torch.cuda}" if torch.cuda else None,
        Vendor.AMD: f"ROCm {torch.hip}" if torch.hip else None,
        Vendor.INTEL: "Intel GPUs (XPU)" if is_xpu else None,
        Vendor.APPLE: "Apple's Metal (MPS)" if torch.has_mps else None,
    }.get(vendor)


def built_for_gpus(torch: Torch | None) -> str | None:
    """Return what PyTorch was built with for cards; Apple's is in every build for a Mac."""
    vendors = (Vendor.NVIDIA, Vendor.AMD, Vendor.INTEL) if torch is not None else ()
    return next((name for each in vendors if torch and (name := built_for(torch, each))), None)


def nodes_of(evidence: Evidence, vendor: Vendor | None) -> list[Node]:
    """Return the device files of a vendor's driver."""
    if vendor is Vendor.NVIDIA:
        return [node for node in evidence.nodes if node.path.startswith("/dev/nvidia")]
    own = {c.render_node for c in cards_of(evidence, vendor)}
    is_amd = vendor is Vendor.AMD
    return [n for n in evidence.nodes if n.path in own or (is_amd and n.path == "/dev/kfd")]


def pass_to_container(container: str, vendor: Vendor | None) -> tuple[str, ...]:
    """Return how to pass the cards to a container."""
    if container == "kubernetes":
        names = {Vendor.NVIDIA: "nvidia.com/gpu", Vendor.AMD: "amd.com/gpu"}
        name = names.get(vendor or Vendor.OTHER, "gpu.intel.com/i915")
        return (f"resources: {{limits: {{{name}: 1}}}}",)
    if container == "lxc":
        return ("lxc config device add CONTAINER gpu gpu",)
    program = "podman" if container == "podman" else "docker"
    if vendor is Vendor.NVIDIA:
        how = "--device nvidia.com/gpu=all" if program == "podman" else "--gpus all"
        return (f"{program} run {how} ...",)
    both = "--device /dev/kfd --device /dev/dri" if vendor is Vendor.AMD else "--device /dev/dri"
    return (f"{program} run {both} --group-add render ...",)


def is_nearly_full(free_bytes: int, total_bytes: int) -> bool:
    """Is so little of a GPU's memory free that most programs will not start?"""
    return free_bytes < total_bytes / _LITTLE


def counted(names: Iterable[str]) -> str:
    """Return a text such as "2 × NVIDIA A100, NVIDIA T4"."""
    counts = Counter(names)
    return ", ".join(f"{n} × {name}" if n > 1 else name for name, n in counts.items())
