"""What do the facts say to the questions that several steps ask?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from machine.doctor.facts import Card, Facts, Node, NvmlDevice, Torch, Vendor

MODULES: dict[Vendor | None, tuple[str, ...]] = {
    Vendor.NVIDIA: ("nvidia",),
    Vendor.AMD: ("amdgpu",),
    Vendor.INTEL: ("xe", "i915"),
}
_LITTLE = 10  # one part in so many


def cards_of(facts: Facts, vendor: Vendor | None) -> list[Card]:
    """Return the cards of a vendor; those that only draw count where there are no others."""
    cards = [card for card in facts.cards if card.vendor is vendor]
    return [card for card in cards if not card.only_draws] or cards


def is_contained(facts: Facts) -> bool:
    """Does the program run in a container?"""
    return facts.surroundings.container not in (None, "none")


def devices_of(facts: Facts) -> tuple[NvmlDevice, ...]:
    """Return the GPUs that NVML sees."""
    return facts.nvml.devices if facts.nvml is not None else ()


def has_computed(facts: Facts) -> bool:
    """Has PyTorch computed on every device that it finds?"""
    devices = facts.torch.devices if facts.torch is not None else ()
    return bool(devices) and all(device.has_computed for device in devices)


def has_failed(facts: Facts) -> bool:
    """Did PyTorch look for a device, and say why it has none?"""
    return facts.torch is not None and facts.torch.problem is not None


def built_for(torch: Torch, vendor: Vendor) -> str | None:
    """Return what a PyTorch was built with for a maker's accelerators, None if for others."""
    is_xpu = torch.xpu or (torch.version or "").endswith("+xpu")
    return {
        Vendor.NVIDIA: f"CUDA {torch.cuda}" if torch.cuda else None,
        Vendor.AMD: f"ROCm {torch.hip}" if torch.hip else None,
        Vendor.INTEL: "Intel GPUs (XPU)" if is_xpu else None,
        Vendor.APPLE: "Apple's Metal (MPS)" if torch.has_mps else None,
    }.get(vendor)


def nodes_of(facts: Facts, vendor: Vendor | None) -> list[Node]:
    """Return the device files of a vendor's driver."""
    if vendor is Vendor.NVIDIA:
        return [node for node in facts.nodes if node.path.startswith("/dev/nvidia")]
    own = {c.render_node for c in cards_of(facts, vendor)}
    is_amd = vendor is Vendor.AMD
    return [n for n in facts.nodes if n.path in own or (is_amd and n.path == "/dev/kfd")]


def pass_to_container(container: str, vendor: Vendor | None) -> tuple[str, ...]:
    """Return how a container is given the cards."""
    if container == "kubernetes":
        names = {Vendor.NVIDIA: "nvidia.com/gpu", Vendor.AMD: "amd.com/gpu"}
        name = names.get(vendor or Vendor.OTHER, "gpu.intel.com/i915")
        return (f"resources: {{limits: {{{name}: 1}}}}",)
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
    """Return such as "2 × NVIDIA A100, NVIDIA T4"."""
    counts = Counter(names)
    return ", ".join(f"{n} × {name}" if n > 1 else name for name, n in counts.items())
