"""Cases of stage one: devices, kernel log, errors of memory and GPUs."""

from __future__ import annotations

from msgspec.structs import replace

from experiments.checkup.result import Word
from machine.live.gpu_samples import GpuSample
from machine.memory.errors import ControllerErrors, MemoryErrors
from machine.model import Missing
from machine.system.kernel_log import KernelLog, Kind, LogEntry
from tests.experiments.checkup.made import Case, baseline, evidence, server, workstation

GIB = 2**30


def limited():
    here = workstation()
    return evidence(replace(here, memory=replace(here.memory, limit_bytes=8 * GIB)))


def as_before():
    return evidence(workstation(), baseline=baseline(here=workstation()))


def had_more(**parts):
    """The baseline had other parts than the machine has today."""
    here = workstation()
    return lambda: evidence(here, baseline=baseline(here=replace(here, **parts)))


def had_memory(share: float):
    memory = workstation().memory
    modules = [replace(m, size_bytes=round((m.size_bytes or 0) * share)) for m in memory.modules]
    return had_more(memory=replace(memory, modules=tuple(modules)))


def with_a_stick_before():
    here = workstation()
    stick = replace(here.storage[0], name="sda", transport="usb")
    return evidence(here, baseline=baseline(here=replace(here, storage=(*here.storage, stick))))


def modules_seen_by_root_before():
    """Graphics keep 15 % of the memory; only root reads of the modules."""
    root = workstation()
    whole_bytes = sum(module.size_bytes or 0 for module in root.memory.modules)
    assert whole_bytes
    before = replace(root, memory=replace(root.memory, total_bytes=round(0.85 * whole_bytes)))
    here = replace(before, memory=replace(before.memory, modules=()))
    return evidence(here, baseline=baseline(here=before))


DEVICES = [
    Case("devices", Word.FINE, "as_before", as_before),
    Case("devices", Word.FINE, "as_before", with_a_stick_before),
    Case("devices", Word.FINE, "as_before", modules_seen_by_root_before),
    Case("devices", Word.LOOK, "memory_less", had_memory(1.07)),
    Case("devices", Word.LOOK, "limited", limited, "memory"),
    Case("devices", Word.PROBLEM, "memory_missing", had_memory(2)),
    Case("devices", Word.PROBLEM, "cores_missing", had_more(cpu=server().cpu)),
    Case("devices", Word.PROBLEM, "disks_missing", had_more(storage=server().storage)),
    Case("devices", Word.PROBLEM, "gpus_missing", had_more(gpus=server().gpus)),
    Case("devices", Word.UNCHECKED, "recorded", lambda: evidence(workstation())),
    Case(  # a stranger's file
        "devices",
        Word.UNCHECKED,
        "recorded",
        lambda: evidence(workstation(), baseline=baseline()),
    ),
]


def log(*found: LogEntry, is_whole: bool = True, missing: tuple[Missing, ...] = ()):
    kernel_log = KernelLog(found=found, reaches_back_s=86400.0, is_whole=is_whole, missing=missing)
    return lambda: evidence(workstation(), kernel_log=kernel_log)


def entry(kind: Kind, *, serious: bool = False, recent: int = 0) -> LogEntry:
    return LogEntry(
        kind=kind,
        lines=3,
        recent_lines=recent,
        newest_s=60.0,
        serious=serious,
        examples=("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.",),
    )


LOCKED = Missing(what="kernel_log", why="Only root may read it.", how="sudo dmesg")
KERNEL_LOG = [
    Case("kernel-log", Word.FINE, "clean", log()),
    Case("kernel-log", Word.FINE, "clean_so_far", log(is_whole=False)),
    Case("kernel-log", Word.LOOK, "old", log(entry("xid", serious=True))),
    Case("kernel-log", Word.LOOK, "corrected", log(entry("pcie_corrected"))),
    Case("kernel-log", Word.LOOK, "mild", log(entry("out_of_memory"))),
    Case("kernel-log", Word.LOOK, "mild", log(entry("xid", recent=1))),  # of a program
    Case("kernel-log", Word.LOOK, "unlisted", log(replace(entry("xid"), number=199))),
    Case("kernel-log", Word.PROBLEM, "recent", log(entry("xid", serious=True, recent=1))),
    Case("kernel-log", Word.UNCHECKED, "unreadable", log(missing=(LOCKED,))),
    Case("kernel-log", Word.UNCHECKED, "not_run", lambda: evidence(workstation())),
]


def counted(corrected: int | None, uncorrected: int | None):
    controller = ControllerErrors(number=0, corrected=corrected, uncorrected=uncorrected)
    why = Missing(what="memory_errors", why="The memory has no ECC.", how="sudo dmidecode")
    found = MemoryErrors(
        corrected=corrected,
        uncorrected=uncorrected,
        controllers=() if corrected is None else (controller,),
        missing=(why,) if corrected is None else (),
    )
    return lambda: evidence(server(), memory_errors=found)


MEMORY_ERRORS = [
    Case("memory-errors", Word.FINE, "none", counted(0, 0)),
    Case("memory-errors", Word.LOOK, "corrected", counted(2, 0)),
    Case("memory-errors", Word.PROBLEM, "uncorrected", counted(2, 1)),
    Case("memory-errors", Word.UNCHECKED, "untold", counted(None, None)),
    Case("memory-errors", Word.UNCHECKED, "not_run", lambda: evidence(server())),
]


def gpus(machine=server, **told):
    sample = GpuSample(index=0, **told)
    return lambda: evidence(machine(), gpu_samples=(sample,))


CALM = {"ecc_corrected": 0, "ecc_uncorrected": 0, "remapped_rows": 0}


def untold():
    here = server()
    return evidence(replace(here, gpus=(replace(here.gpus[0], ecc=None, remapped_rows=None),)))


def no_gpu():
    return evidence(replace(workstation(), gpus=()))


GPU_ERRORS = [
    Case("gpu-errors", Word.FINE, "none", gpus(**CALM), "gpu0"),
    Case("gpu-errors", Word.LOOK, "corrected", gpus(**{**CALM, "ecc_corrected": 1}), "gpu0"),
    Case("gpu-errors", Word.LOOK, "remapped", gpus(**{**CALM, "remapped_rows": 1}), "gpu0"),
    Case("gpu-errors", Word.PROBLEM, "uncorrected", gpus(ecc_uncorrected=1), "gpu0"),
    Case("gpu-errors", Word.PROBLEM, "remapping_pending", gpus(remapping_pending=True), "gpu0"),
    Case("gpu-errors", Word.PROBLEM, "remapping_failed", gpus(remapping_failed=True), "gpu0"),
    Case("gpu-errors", Word.UNCHECKED, "ecc_off", gpus(workstation), "gpu0"),
    Case("gpu-errors", Word.UNCHECKED, "not_told", untold, "gpu0"),
    Case("gpu-errors", Word.ABSENT, "no_gpu", no_gpu),
]

CASES = [*DEVICES, *KERNEL_LOG, *MEMORY_ERRORS, *GPU_ERRORS]
