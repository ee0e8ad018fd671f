"""NVIDIA's GPUs, from its management library (NVML), CUDA's driver library and the kernel.

NVML reports most; CUDA adds the number of SMs, the L2 cache and the visible GPUs; the kernel adds
the rest. The three number GPUs differently, so PCI addresses match them. Both libraries would wake
a laptop's sleeping GPU, so they are not asked while it sleeps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from machine.devices import PciDevice
from machine.facts import Facts, Reason, Unanswered
from machine.gpus import cuda, nvml, nvml_child, nvml_gpu, nvml_machine
from machine.gpus.nvml_machine import Found, at, lack_unknown
from machine.gpus.pci_facts import Host, describe
from machine.system.linux import entries, fields, is_folder, read_text, to_int

VENDOR_ID = 0x10DE
_DISPLAY, _PROCESSING = 0x03, 0x12  # PCI classes
_DRIVER = "nvidia"
_PROC = "proc/driver/nvidia/gpus"

_ASLEEP = Reason(
    "A GPU is asleep to save power, and asking NVIDIA's driver would wake it.",
    "Use the GPU, and look again meanwhile.",
)
_UNLOADED = Reason(
    "The kernel has not loaded NVIDIA's driver, and asking would load it.", "coreopsis doctor"
)
_RECORDED = Reason(
    "NVIDIA's driver was not asked: this is a recording.", "nvidia-smi -q, on the machine itself."
)
_MIG_HIDES = Reason(
    "With MIG on, CUDA sees instances, not the GPU.", "Look the model up in its data sheet."
)
_NO_LINK = Reason("The GPU shares a chip with the processor.", "There is no link to look at.")
_AFTER_TROUBLE_S = 1.0
_BY_CUDA = ("sms", "l2_bytes", "unified_memory", "visible")


def read(
    host: Host,
    *,
    load: Callable[[], nvml.Library] | None = None,
    ask_cuda: Callable[[], cuda.PendingAnswer] = cuda.start,
) -> Found:
    """Return the GPUs, in NVML's order if it answers.

    NVML is asked in a process of its own; with `load`, the library is asked here.
    """
    known = known_cards(host)
    for address, card in known.items():
        _own_node(host, address, card)
    if not host.is_live:
        found = Found(_unasked(known, _RECORDED))
    elif reason := reason_not_to_ask(host, known.values()):
        found = Found(_unasked(known, reason))
    else:
        # Both at once, which saves time; no library of NVIDIA means no GPU that CUDA could know.
        is_likely = known or _is_tegra(host) or (load is None and nvml_child.is_here())
        pending = ask_cuda() if is_likely else None
        try:
            found = (
                nvml_machine.ask_child(known, host)
                if load is None
                else nvml_machine.ask(load(), known, host)
            )
            pending = pending or ask_cuda()
        except Unanswered as error:
            found = Found(_unasked(known, error.reason))
            found.trouble = error.reason if isinstance(error, nvml_child.Broken) else None
        if pending is not None:
            # A driver that hangs for NVML hangs for CUDA, too.
            answer = pending.answer(_AFTER_TROUBLE_S) if found.trouble else pending.answer()
            _add_cuda(found, answer, host)
    for gpu in found.gpus:
        gpu.keep("vendor", "NVIDIA", "PCI's number of the vendor")
        gpu.keep("torch_backend", "cuda", "the vendor")
    return found


def reason_not_to_ask(host: Host, cards: Collection[Facts]) -> Reason | None:
    """Return why not to ask NVIDIA's libraries: this would wake GPUs or load the driver."""
    if not cards or host.is_elsewhere:
        return None
    for card in cards:
        # Asking wakes all GPUs of that driver, and no others.
        if card.values.get("driver") == _DRIVER and card.values.get("asleep"):
            return _ASLEEP
    modules = host.root / "sys/module"
    is_unloaded = is_folder(modules) and not is_folder(modules / _DRIVER)
    return _UNLOADED if is_unloaded else None


def pci_gpus(host: Host) -> Iterator[PciDevice]:
    """Yield NVIDIA's GPUs among the PCI devices, and those that only its driver lists."""
    named = set(entries(host.root / _PROC))
    for device in host.pci:
        if device.address in named or (
            device.vendor_id == VENDOR_ID
            and not device.is_virtual_function
            and (device.class_id or 0) >> 16 in (_DISPLAY, _PROCESSING)
        ):
            named.discard(device.address)
            yield device
    yield from (PciDevice(address=address) for address in sorted(named))


def known_cards(host: Host) -> dict[str, Facts]:
    """Return what PCI and the kernel report about NVIDIA's GPUs, by address."""
    return {device.address: describe(host, device) for device in pci_gpus(host)}


def _own_node(host: Host, address: str, card: Facts) -> None:
    """Keep the NUMA node that the GPU's memory forms on POWER9 and Grace."""
    file = f"{_PROC}/{address}/numa_status"
    status = fields(read_text(host.root / file))
    node, size = to_int(status.get("node")), to_int(status.get("size"), 16)
    if status.get("status") == "online" and node is not None and node >= 0:
        card.keep("memory_numa_node", node, f"/{file}")
        if size is not None:  # older drivers do not tell it
            card.keep("memory_bytes", size, f"/{file}")


def _is_tegra(host: Host) -> bool:
    """Is the GPU part of a system on a chip, and no PCI device (Jetson)?"""
    return "nvidia,tegra" in (read_text(host.root / "proc/device-tree/compatible") or "")


def _unasked(known: dict[str, Facts], reason: Reason) -> list[Facts]:
    for card in known.values():
        lack_unknown(card, (*nvml_gpu.NAMES, *_BY_CUDA), reason)
    return list(known.values())


def _add_cuda(found: Found, answer: cuda.Cuda, host: Host) -> None:
    """Match CUDA's answers to the GPUs by address, or one to one if both have a single GPU."""
    if not found.gpus:  # no NVML, and no PCI device: a Jetson
        found.gpus = [Facts() for _ in answer.gpus]
    only = len(found.gpus) == len(answer.gpus) == 1
    by_address = {gpu.address: gpu for gpu in answer.gpus}
    for gpu in found.gpus:
        seen = answer.gpus[0] if only else by_address.get(at(gpu))
        if seen is not None:
            _add(gpu, seen, host)
        address = seen.address if seen else at(gpu)
        if answer.visible is not None and address:
            gpu.keep("visible", address in answer.visible, "CUDA, started in this environment")
        lack_unknown(
            gpu, _BY_CUDA, Reason(answer.why or "CUDA does not list it.", "coreopsis doctor")
        )
    for (a, b), pair in found.pairs.items():
        seen, other = by_address.get(at(found.gpus[a])), at(found.gpus[b])
        if seen is not None and other in by_address:
            pair.keep("peer_access_cuda", other in seen.peers, "CUDA: cuDeviceCanAccessPeer")


def _add(gpu: Facts, seen: cuda.CudaGpu, host: Host) -> None:
    attribute = "CUDA: cuDeviceGetAttribute"
    if gpu.values.get("mig"):
        lack_unknown(gpu, ("sms", "l2_bytes"), _MIG_HIDES)
        return
    gpu.keep("sms", seen.sms, attribute)
    gpu.keep("l2_bytes", seen.l2_bytes, attribute)
    if gpu.keep("unified_memory", seen.is_integrated, attribute):
        gpu.drop("link", _NO_LINK)
    for name in ("name", "uuid", "compute_capability"):
        if not gpu.knows(name):
            gpu.keep(name, getattr(seen, name), "CUDA")
    if not gpu.knows("memory_bus_bits") and seen.memory_bus_bits:
        gpu.keep("memory_bus_bits", seen.memory_bus_bits, attribute)
    if not gpu.knows("memory_bytes"):
        if seen.is_integrated and host.memory_bytes:
            gpu.keep("memory_bytes", host.memory_bytes, "/proc/meminfo, which the GPU shares")
        else:
            gpu.keep("memory_bytes", seen.memory_bytes, "CUDA: cuDeviceTotalMem")
