"""The step about the sum on the accelerator, and the meaning of PyTorch's error messages."""

from __future__ import annotations

import re
from collections.abc import Callable

from machine.doctor.evidence import GPU_MAKERS, Evidence, Outcome, Vendor
from machine.doctor.hiding import choosers
from machine.doctor.remedies import (
    LOG,
    REBOOT,
    holders_of,
    install_driver,
    log_of,
    start_fabric_manager,
)
from machine.doctor.steps.installed_step import illegal_instruction
from machine.doctor.steps.nvidia_steps import driver_not_given, mismatch
from machine.doctor.torch_remedies import INTEL_PAGE, install_torch
from machine.doctor.verdicts import Verdict, counted, fine, unknown, wrong

Judge = Callable[[Evidence, Vendor | None, str], Verdict]


def works(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge the result of the sum."""
    torch = evidence.torch
    if torch is None or vendor in (None, Vendor.OTHER):
        return None
    if evidence.has_computed:
        names = (device.name or f"{device.kind}:{device.index}" for device in torch.devices)
        return fine("computes", names=counted(names))
    log = log_of(vendor)
    if torch.outcome is Outcome.SILENT:
        return wrong("torch_silent", log, REBOOT)
    again = install_torch(evidence, vendor) if vendor and vendor in GPU_MAKERS else ()
    if verdict := illegal_instruction(evidence, torch.detail or "", wrong, again):
        return verdict
    if torch.outcome is Outcome.CRASHED:
        return wrong("torch_crashes", log, said=torch.detail or "nothing")
    failed = next((d for d in torch.devices if not d.has_computed), None)
    said = torch.problem or (failed.problem if failed else None)
    if said is None:
        return unknown("nothing_tried")
    if vendor is Vendor.APPLE and failed is None:
        return wrong("mps_unavailable", "sw_vers", release=evidence.surroundings.release or "?")
    for pattern, judge in (*_OF_CUDA, *_OF_ALL) if vendor is Vendor.NVIDIA else _OF_ALL:
        if re.search(pattern, said, re.IGNORECASE):
            return judge(evidence, vendor, said)
    where = f"{failed.kind}:{failed.index}" if failed else "torch"
    return wrong("does_not_work", log, said=said, where=where)


def _uninitialized(evidence: Evidence, vendor: Vendor | None, said: str) -> Verdict:
    if evidence.nvswitches or any(device.fabric_state for device in evidence.gpus):
        return wrong("fabric_not_ready", *start_fabric_manager(evidence))
    return _unified_memory(evidence, vendor, said)


def _unified_memory(evidence: Evidence, vendor: Vendor | None, said: str) -> Verdict:
    # Where it was given to the container, the host has the trouble.
    if evidence.is_contained and not any("uvm" in node.path for node in evidence.nodes):
        return wrong("cuda_unknown_in_container", "sudo nvidia-modprobe -c 0 -u", said=said)
    return wrong(
        "cuda_unknown",
        "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm",
        "echo 'options nvidia_uvm uvm_disable_hmm=1' | sudo tee /etc/modprobe.d/nvidia-uvm.conf",
        REBOOT,
        said=said,
    )


def _nothing_found(evidence: Evidence, vendor: Vendor | None, said: str) -> Verdict:
    for name in choosers(evidence, vendor):  # perhaps by what could not be checked
        value = evidence.surroundings.environment[name]
        return wrong("perhaps_hidden", f"unset {name}", name=name, value=value, said=said)
    if vendor is Vendor.AMD:
        return wrong("hip_none_found", "rocminfo", log_of(vendor), said=said)
    if vendor is Vendor.INTEL:
        return wrong("xpu_unavailable", INTEL_PAGE, log_of(vendor))
    return wrong("none_found", LOG, said=said)


def _too_old(evidence: Evidence, vendor: Vendor | None, said: str) -> Verdict:
    commands = (*install_driver(evidence), *install_torch(evidence, Vendor.NVIDIA))
    return wrong("driver_too_old_said", *commands, said=said)


def _no_driver(evidence: Evidence, vendor: Vendor | None, said: str) -> Verdict:
    if evidence.is_contained:
        return driver_not_given()
    return wrong("libcuda_missing", *install_driver(evidence))


def _memory_error(evidence: Evidence, vendor: Vendor | None, said: str) -> Verdict:
    see = "nvidia-smi -q -d ECC" if vendor is Vendor.NVIDIA else log_of(vendor)
    return wrong("memory_error_met", see, REBOOT, said=said)


# The meaning of CUDA's errors (cudaError_t, by the texts of cudaGetErrorString).
_OF_CUDA: tuple[tuple[str, Judge], ...] = (
    (r"error 802|system not yet initialized", _uninitialized),
    (r"error 803|unsupported display driver", lambda e, v, said: mismatch(e)),
    (
        r"error 804|forward compatibility",
        lambda e, v, said: wrong("forward_compatibility", *install_driver(e), said=said),
    ),
    (
        r"error 34\b|stub library",
        lambda e, v, said: wrong("stub_library", "echo $LD_LIBRARY_PATH", said=said),
    ),
    (r"found no nvidia driver|libcuda", _no_driver),
    (r"driver on your system is too old|error 35\b|driver version is insufficient", _too_old),
    (r"error 999|unknown error", _unified_memory),
    (
        r"busy or unavailable|error 46\b",
        lambda e, v, said: wrong("busy", "nvidia-smi", "sudo nvidia-smi -c DEFAULT", said=said),
    ),
)
# Errors that CUDA, ROCm (HIP) and Intel's Level Zero (UR) share.
_OF_ALL: tuple[tuple[str, Judge], ...] = (
    (
        r"out of memory|error 2\b|OUT_OF_(DEVICE|HOST)_MEMORY",
        lambda e, v, said: wrong("out_of_memory", holders_of(e, v), said=said),
    ),
    (
        r"no kernel image|invalid device function|error 209\b|NoBinaryForGpu",
        lambda e, v, said: wrong("no_code", *install_torch(e, v or Vendor.NVIDIA), said=said),
    ),
    (r"uncorrectable ecc|error 214\b", _memory_error),
    (
        r"no (cuda|hip) gpus|no (xpu )?device|no (CUDA|ROCm)-capable|device_count\(\) is 0"
        r"|error 100\b",
        _nothing_found,
    ),
)
