"""Steps about NVIDIA's driver and the health of its GPUs, judged by NVML's answers."""

from __future__ import annotations

from machine.doctor.evidence import Evidence, NvmlDevice, Vendor
from machine.doctor.nvml import UNKNOWN
from machine.doctor.remedies import (
    DRIVERS_PAGE,
    LOG,
    REBOOT,
    install_driver,
    pass_to_container,
    restart_container,
    start_fabric_manager,
)
from machine.doctor.verdicts import Verdict, fine, is_nearly_full, look, wrong
from machine.gpus.nvml_child import LIBRARY

_LOST, _RESET = 15, 16  # of nvmlReturn_t in nvml.h
# Of nvmlGpuFabricState_t, and of nvmlComputeMode_t.
_FABRIC_NOT_STARTED, _FABRIC_IN_PROGRESS, _FABRIC_COMPLETED = 1, 2, 3
_PROHIBITED, _EXCLUSIVE = 2, 3

_CONTROLLER_3D = 0x0302  # a display controller without a screen: a server's or laptop's GPU
_PERSONAL = {"GeForce", "Quadro", "Laptop"}  # in the names of GPUs for desktops and laptops
_UPDATE_WSL = ("wsl --update", DRIVERS_PAGE, "wsl --shutdown")


def library(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether driver and library work together.

    A library that hangs or crashes is reported without a card, too: it alone may hide the card.
    """
    nvml = evidence.nvml
    for short in evidence.short_libraries:
        file, size_bytes = short.path, short.size_bytes
        if evidence.is_contained:  # an image that was made while it had the driver
            again = (f"rm {file}", *pass_to_container(evidence, vendor))
            return wrong("library_short_in_container", *again, file=file, size_bytes=size_bytes)
        return wrong("library_short", *install_driver(evidence), file=file, size_bytes=size_bytes)
    if nvml is None:
        return None
    how = look if vendor is None else wrong
    if nvml.trouble == "crashed":
        return how("nvml_crashed", LOG, REBOOT, library=LIBRARY)
    if nvml.trouble == "odd":
        return how("nvml_odd", "ldconfig -p | grep libnvidia-ml", library=LIBRARY)
    if nvml.trouble == "silent" or nvml.code is None:
        return how("nvml_silent", LOG, REBOOT, library=LIBRARY)
    if nvml.code == 0:
        return _answered(evidence)
    container, given = evidence.is_contained, pass_to_container(evidence, vendor)
    match nvml.code:
        case 18:
            return mismatch(evidence)
        case 12 if container:
            return driver_not_given()
        case 12:
            return wrong("library_missing", *install_driver(evidence))
        case 9:
            return wrong("driver_does_not_answer", "sudo modprobe nvidia", LOG)
        case 4 | 17 if evidence.surroundings.wsl and container:
            return wrong("nvml_blocked_in_wsl_container", *given, *_UPDATE_WSL)
        case 4 | 17 if evidence.surroundings.wsl:
            return wrong("nvml_blocked_in_wsl", *_UPDATE_WSL)
        case 4 | 17 if container:
            return wrong("nvml_not_permitted_in_container", *given)
        case 4 | 17:
            return wrong("nvml_not_permitted", "ls -l /dev/nvidia*")
        case 15:
            return wrong("gpu_lost", LOG, REBOOT)
        case code if code == UNKNOWN and container:
            return wrong("container_lost_gpu", restart_container(evidence))
        case code:
            return wrong("nvml_failed", LOG, REBOOT, code=code)


def mismatch(evidence: Evidence) -> Verdict:
    """Return the verdict of a driver whose kernel module and library have different versions."""
    if evidence.is_contained:
        return wrong("mismatch_in_container", restart_container(evidence))
    running, installed = evidence.kernel.nvidia_version or "?", ", ".join(evidence.libraries)
    return wrong("mismatch", REBOOT, running=running, installed=installed or "?")


def driver_not_given() -> Verdict:
    """Return the verdict of a container to which NVIDIA's driver was not given."""
    return wrong(
        "library_missing_in_container",
        "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ...",
    )


def _answered(evidence: Evidence) -> Verdict:
    assert evidence.nvml is not None
    if not evidence.gpus and "SLURM_JOB_ID" in evidence.surroundings.environment:
        return wrong("slurm_without_gpu", "srun --gpus=1 ...")
    if not evidence.gpus:
        return wrong("nvml_without_gpus", LOG)
    driver, cuda = evidence.nvml.driver or "?", ".".join(map(str, evidence.nvml.cuda or "?"))
    return fine("driver_answers", driver=driver, cuda=cuda)


def health(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether each GPU is on the bus and its memory intact."""
    devices = evidence.gpus
    for device in devices:
        if device.code == _LOST:
            return wrong("gpu_lost", LOG, REBOOT)
        if device.code == _RESET:
            return wrong("reset_required", _reset(device), REBOOT, index=device.index)
        if device.code:
            return wrong("gpu_refuses", LOG, index=device.index, code=device.code)
        if device.has_remap_failed:
            return wrong("memory_broken", "nvidia-smi -q -d ROW_REMAPPER", index=device.index)
    held = _held(evidence)
    if devices and held > len(devices):
        return look("gpus_missing", LOG, held=held, offered=len(devices))
    for device in devices:
        now, limit = device.temperature_celsius, device.slowdown_celsius
        if now is not None and limit and now >= limit:
            return look(
                "too_hot",
                "nvidia-smi -q -d TEMPERATURE",
                index=device.index,
                now_celsius=now,
                limit_celsius=limit,
            )
        if device.is_remap_pending:
            return look("repair_pending", _reset(device), REBOOT, index=device.index)
        if device.uncorrected_errors:
            count = device.uncorrected_errors
            return look("memory_errors", "nvidia-smi -q -d ECC", index=device.index, count=count)
    return fine("healthy") if devices else None


def _held(evidence: Evidence) -> int:
    """Count the cards that the driver holds; 0 if a container or job may hide some."""
    if evidence.is_contained or "SLURM_JOB_ID" in evidence.surroundings.environment:
        return 0
    return sum(card.driver == "nvidia" for card in evidence.cards_of(Vendor.NVIDIA))


def _reset(device: NvmlDevice) -> str:
    return f"sudo nvidia-smi --gpu-reset -i {device.index}"


def fabric(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether the NVSwitches have been set up; without them CUDA does not start."""
    states = {device.fabric_state for device in evidence.gpus}
    known = states & {_FABRIC_NOT_STARTED, _FABRIC_IN_PROGRESS, _FABRIC_COMPLETED}
    if not known and not evidence.nvswitches:
        return None
    failed = [d.fabric_status for d in evidence.gpus if d.fabric_state == _FABRIC_COMPLETED]
    how = look if evidence.has_computed else wrong
    if any(failed):
        return how("fabric_failed", *start_fabric_manager(evidence))
    is_stopped = not known and evidence.has_fabric_manager is False  # NVML: from Hopper on
    if is_stopped or known & {_FABRIC_NOT_STARTED, _FABRIC_IN_PROGRESS}:
        return how("fabric_not_ready", *start_fabric_manager(evidence))
    return fine("fabric_ready") if known or evidence.has_fabric_manager else None


def partitions(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether a GPU in MIG mode has instances."""
    devices = [device for device in evidence.gpus if device.is_mig or device.is_mig_pending]
    for device in devices:
        if device.is_mig and not device.mig_instances:
            commands = (
                f"sudo nvidia-smi mig -i {device.index} -lgip",
                f"sudo nvidia-smi mig -i {device.index} -cgi PROFILE -C",
                f"sudo nvidia-smi -i {device.index} -mig 0",
            )
            return wrong("mig_without_instances", *commands, index=device.index)
        if device.is_mig_pending:
            return look("mig_pending", _reset(device), REBOOT, index=device.index)
    if not devices:
        return None
    return fine("mig_instances", count=sum(device.mig_instances or 0 for device in devices))


def mode(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether the compute mode allows programs, and more than one."""
    for device in evidence.gpus:
        command = f"sudo nvidia-smi -i {device.index} -c DEFAULT"
        if device.compute_mode == _PROHIBITED:
            return wrong("prohibited", command, index=device.index)
        is_held = device.gpu_processes and not evidence.has_computed
        if device.compute_mode == _EXCLUSIVE and is_held:
            return wrong("exclusive", command, index=device.index, pid=device.gpu_processes[0].pid)
    return None


def memory(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether enough memory is free. Unified memory has no figure of its own."""
    told = [d for d in evidence.gpus if d.total_bytes and d.free_bytes is not None]
    for device in told:
        total, free = device.total_bytes or 0, device.free_bytes or 0
        if not is_nearly_full(free, total):
            continue
        if not device.gpu_processes:
            return look("memory_full", "nvidia-smi", index=device.index, free_bytes=free,
                        total_bytes=total)  # fmt: skip
        first = device.gpu_processes[0]
        return look(
            "memory_held",
            "nvidia-smi",
            f"kill {first.pid}",
            index=device.index,
            free_bytes=free,
            total_bytes=total,
            pid=first.pid,
            name=first.name or "?",
            user=first.user or "?",
        )
    if not told:
        return None
    least = min(told, key=lambda d: (d.free_bytes or 0) / (d.total_bytes or 1))
    return fine("memory_free", free_bytes=least.free_bytes or 0, total_bytes=least.total_bytes or 0)


def persistence(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether a server's driver stays loaded between programs (persistence mode)."""
    is_server = any((c.class_id or 0) >> 8 == _CONTROLLER_3D for c in evidence.cards_of(vendor))
    told = [d for d in evidence.gpus if d.is_persistent is not None]
    if not is_server or evidence.is_contained or not told:
        return None
    if any(d.drives_display or _PERSONAL & set((d.name or "").split()) for d in told):
        return None
    if all(device.is_persistent for device in told):
        return fine("persistent")
    return look("not_persistent", "sudo nvidia-smi -pm 1")
