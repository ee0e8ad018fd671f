"""The step about the sum on the accelerator, and the meaning of PyTorch's error messages."""

from __future__ import annotations

import re
from collections.abc import Callable

from machine.doctor.evidence import Evidence, Outcome, TorchDevice, Vendor
from machine.doctor.hiding import choosers
from machine.doctor.queries import counted, devices_of, has_computed, is_contained
from machine.doctor.remedies import (
    INTEL_PAGE,
    LOG,
    REBOOT,
    install_driver,
    install_torch,
    restart_container,
    start_fabric_manager,
)
from machine.doctor.verdicts import Verdict, fine, unknown, wrong


def works(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge the result of the sum."""
    torch = evidence.torch
    if torch is None or vendor in (None, Vendor.OTHER):
        return None
    if has_computed(evidence):
        names = (device.name or f"{device.kind}:{device.index}" for device in torch.devices)
        return fine("computes", names=counted(names))
    log = LOG if vendor is Vendor.NVIDIA else "sudo dmesg | tail -n 50"
    if torch.outcome is Outcome.SILENT:
        return wrong("torch_silent", log, REBOOT)
    if torch.outcome is Outcome.CRASHED:
        return wrong("torch_crashes", log, said=torch.detail or "nothing")
    failed = next((d for d in torch.devices if not d.has_computed), None)
    said = torch.problem or (failed.problem if failed else None)
    if said is None:
        return unknown("nothing_tried")
    for pattern, judge in _PROBLEMS:
        if re.search(pattern, said, re.IGNORECASE):
            return judge(evidence, said)
    if vendor is Vendor.APPLE:
        return wrong("mps_unavailable", "sw_vers", release=evidence.surroundings.release or "?")
    if vendor is Vendor.INTEL and failed is None:
        return wrong("xpu_unavailable", INTEL_PAGE)
    return wrong("does_not_work", log, said=said, where=_where(failed))


def _where(device: TorchDevice | None) -> str:
    return f"{device.kind}:{device.index}" if device else "torch"


def _uninitialized(evidence: Evidence, said: str) -> Verdict:
    if evidence.nvswitches or any(device.fabric_state for device in devices_of(evidence)):
        return wrong("fabric_not_ready", *start_fabric_manager(evidence))
    return _unified_memory(evidence, said)


def _unified_memory(evidence: Evidence, said: str) -> Verdict:
    if is_contained(evidence):
        return wrong("cuda_unknown_in_container", "sudo nvidia-modprobe -c 0 -u", said=said)
    return wrong(
        "cuda_unknown",
        "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm",
        "echo 'options nvidia_uvm uvm_disable_hmm=1' | sudo tee /etc/modprobe.d/nvidia-uvm.conf",
        REBOOT,
        said=said,
    )


def _compatibility(evidence: Evidence, said: str) -> Verdict:
    return wrong("forward_compatibility", *install_driver(evidence), said=said)


def _mismatch(evidence: Evidence, said: str) -> Verdict:
    if is_contained(evidence):
        return wrong("mismatch_in_container", restart_container(evidence))
    running = evidence.kernel.nvidia_version or "?"
    return wrong(
        "mismatch", REBOOT, running=running, installed=", ".join(evidence.libraries) or "?"
    )


def _no_driver(evidence: Evidence, said: str) -> Verdict:
    if is_contained(evidence):
        return wrong(
            "library_missing_in_container",
            "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ...",
        )
    return wrong("libcuda_missing", *install_driver(evidence))


def _out_of_memory(evidence: Evidence, said: str) -> Verdict:
    return wrong("out_of_memory", "nvidia-smi", said=said)


def _busy(evidence: Evidence, said: str) -> Verdict:
    return wrong("busy", "nvidia-smi", "sudo nvidia-smi -c DEFAULT", said=said)


def _no_code(evidence: Evidence, said: str) -> Verdict:
    torch = evidence.torch
    vendor = Vendor.AMD if torch is not None and torch.hip else Vendor.NVIDIA
    return wrong("no_code", *install_torch(evidence, vendor), said=said)


def _stub(evidence: Evidence, said: str) -> Verdict:
    return wrong("stub_library", "echo $LD_LIBRARY_PATH", said=said)


def _nothing_found(evidence: Evidence, said: str) -> Verdict:
    for name in choosers(evidence, Vendor.NVIDIA):  # perhaps by what could not be checked
        value = evidence.surroundings.environment[name]
        return wrong("perhaps_hidden", f"unset {name}", name=name, value=value, said=said)
    return wrong("none_found", LOG, said=said)


def _too_old(evidence: Evidence, said: str) -> Verdict:
    commands = (*install_driver(evidence), *install_torch(evidence, Vendor.NVIDIA))
    return wrong("driver_too_old_said", *commands, said=said)


def _memory_error(evidence: Evidence, said: str) -> Verdict:
    return wrong("memory_error_met", "nvidia-smi -q -d ECC", REBOOT, said=said)


# The meaning of CUDA's errors (cudaError_t, by the texts of cudaGetErrorString).
_PROBLEMS: tuple[tuple[str, Callable[[Evidence, str], Verdict]], ...] = (
    (r"error 802|system not yet initialized", _uninitialized),
    (r"error 803|unsupported display driver", _mismatch),
    (r"error 804|forward compatibility", _compatibility),
    (r"error 34\b|stub library", _stub),
    (r"found no nvidia driver|libcuda", _no_driver),
    (r"driver on your system is too old|error 35\b|driver version is insufficient", _too_old),
    (r"error 999|unknown error", _unified_memory),
    (r"out of memory|error 2\b", _out_of_memory),
    (r"busy or unavailable|error 46\b", _busy),
    (r"no kernel image|invalid device function|error 209\b|NoBinaryForGpu", _no_code),
    (r"uncorrectable ecc|error 214\b", _memory_error),
    (r"no cuda gpus|no hip gpus|no CUDA-capable|device_count\(\) is 0|error 100\b", _nothing_found),
)
