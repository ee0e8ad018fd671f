"""The parts of a machine from the answers of Windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from machine import peaks
from machine.condition import Clock
from machine.facts import Notes, Reason, Unanswered
from machine.memory.from_modules import Wording, memory_of
from machine.memory.modules import clash_of_sizes, listed
from machine.model import Cpu, Memory, NumaNode, OperatingSystem
from machine.processor.layout import Layout, Words, tell
from machine.system import basics, smbios
from machine.system.basics import Basics
from machine.system.maker import tell_maker
from machine.system.virtualization import hypervisor_of
from machine.windows import devices, processors
from machine.windows.answers import Answers

_FIRMWARE = "GetSystemFirmwareTable('RSMB')"
_HEADER_BYTES = 8  # RawSMBIOSData: version and length before the table
_KEY = r"registry: HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_SHEET = "Look the model up in its maker's data sheet."
_COREINFO = "Coreinfo64.exe of Sysinternals."
_NOTHING = "There is nothing to look at."
_WORDS = Words(
    asked=processors.ASKED,
    kinds=f"{processors.ASKED}: EfficiencyClass",
    gaps={
        "package": Reason("Windows did not tell which threads share a package.", _COREINFO),
        "die": Reason("Windows names no dies of this processor; older versions never do.", _SHEET),
        "cluster": Reason(
            "Windows names no clusters of cores here; older versions never do.", _SHEET
        ),
        "core": Reason("Windows did not tell which threads share a core.", _COREINFO),
        "core_id": Reason("Windows gives cores no numbers of their own.", _NOTHING),
        "numa_node": Reason("Windows did not tell to which node a thread belongs.", _COREINFO),
        "kind": Reason("", _COREINFO),
        "caches": Reason("Windows describes no caches of this processor.", _COREINFO),
        "cache.size_bytes": Reason("Windows tells no size of this cache.", _SHEET),
        "cache.line_bytes": Reason("Windows tells no line size of this cache.", _SHEET),
        "cache.ways": Reason("Windows tells no ways, or the cache has no sets.", _SHEET),
    },
    no_affinity=Reason(
        "Windows numbers these threads in several groups, and a process's mask is of one.",
        "Start-Process, or Task Manager, Details, Set affinity.",
    ),
    no_groups=Reason(
        "Windows limits groups of processes by job objects, which are not read here.",
        "Process Explorer of Sysinternals, the process's properties, Job.",
    ),
)
# PF_ numbers of IsProcessorFeaturePresent (winnt.h), by Linux's names of the instruction sets.
_FEATURES = {
    **{6: "sse", 10: "sse2", 13: "pni", 19: "neon", 30: "aes", 31: "crc32", 34: "atomics"},
    **{36: "ssse3", 37: "sse4_1", 38: "sse4_2", 39: "avx", 40: "avx2", 41: "avx512f"},
    **{43: "asimddp", 46: "sve", 47: "sve2"},
}
_UNREAD = {
    "temperatures": Reason(
        "Windows tells a processor's temperature to drivers only.",
        "HWiNFO, or the firmware's menu.",
    ),
    "throttling": Reason(
        "Windows counts no slowdowns by heat for programs.",
        "Event Viewer, Windows Logs, System.",
    ),
    "power_limits": Reason(
        "Windows tells a processor's power limits to drivers only.", "HWiNFO, or the maker's tool."
    ),
    "vulnerabilities": Reason(
        "Windows lists its protections in PowerShell only.",
        "Get-SpeculationControlSettings of the module SpeculationControl.",
    ),
}
_NO_FEATURES = Reason("Windows names none of the instruction sets that it knows.", _COREINFO)
_NO_MODEL = Reason("The registry does not name the processor.", "Task Manager, Performance.")
_NO_MICROCODE = Reason(
    "The registry does not tell the microcode's version.", f"reg query HKLM\\{_KEY}"
)
_NO_BASE = Reason("The registry does not tell the processor's clock.", "Task Manager, Performance.")
_NO_RANGE = Reason("Windows tells programs the base clock only.", _SHEET)
_NO_PLAN = Reason("Windows names no power plan.", "powercfg /getactivescheme")
_NOT_GOVERNED = Reason("Windows tells this by the power plan, not apart.", "powercfg /query")
_NO_DISTRIBUTION = Reason("Only Linux has distributions.", _NOTHING)
_NO_VERSION = Reason("Python does not tell it here.", "winver")
_NO_NAMES = Reason("The firmware does not name it.", "msinfo32, or the label on the machine.")
_NO_TABLE = Reason("Windows did not pass on the firmware's table.", "msinfo32")
_UNSEEN = Reason(
    "The firmware names no hypervisor, and Windows runs on its own one on many PCs.", "msinfo32"
)
_NO_CONTAINER = Reason(
    "Windows leaves no mark of an isolated environment that is read here.", _NOTHING
)
_NO_NODES = Reason("Windows did not describe the memory nodes.", _COREINFO)
_NODE = {
    "memory_bytes": Reason(
        "Windows tells how much of a node's memory is free, not how large it is.", _COREINFO
    ),
    "distances": Reason("Windows tells programs no distances between nodes.", f"{_COREINFO} -m"),
    "allowed": Reason("Windows forbids programs no memory node.", _NOTHING),
    "side_caches": Reason("Windows tells no caches before memory.", _SHEET),
}
_HOW = "Get-CimInstance Win32_PhysicalMemory in PowerShell."
_NO_MODULES = Reason("The firmware's table lists no memory modules.", _HOW)
_NO_CHANNELS = Reason(
    "The names of the slots do not tell which modules share a channel.",
    "The manual of the mainboard.",
)
_OF_SOME = Reason("The firmware does not tell it of all modules; an empty slot has none.", _HOW)
_NO_TOTAL = Reason("Windows did not tell its memory.", "Task Manager, Performance.")
_NO_SWAP = Reason("Windows did not count its page file.", "Task Manager, Performance, Memory.")
_OF_MEMORY = {
    "limit_bytes": _WORDS.no_groups,
    "transparent_huge_pages": Reason(
        "Windows has no transparent huge pages; programs ask for large ones.", _NOTHING
    ),
    "huge_pages": Reason("Windows sets no large pages aside before a program asks.", _NOTHING),
    "swap_in_memory_bytes": Reason(
        "Windows tells the size of its compressed memory in Task Manager only.",
        "Task Manager, Performance, Memory.",
    ),
}
_MODULES = Wording(
    source=_FIRMWARE,
    no_total=_NO_TOTAL,
    no_modules=_NO_MODULES,
    of_some=_OF_SOME,
    no_channels=_NO_CHANNELS,
    no_peak=Reason(peaks.NO_DRAM, _HOW),
    no_swap=_NO_SWAP,
    never=_OF_MEMORY,
)


def parts(answers: Answers, known: Basics, notes: Notes) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a machine in Linux's order."""
    yield "os", _os(answers, known, notes)
    table = answers.firmware[_HEADER_BYTES:]
    named = smbios.names(table)
    host = hypervisor_of(f"{named.get('sys_vendor', '')} {named.get('product_name', '')}")
    notes.virtualization = notes.found("virtualization", host, _FIRMWARE, _UNSEEN)
    yield "virtualization", host
    notes.lack("container", _NO_CONTAINER)
    yield "container", None
    yield "system", tell_maker(named, _FIRMWARE, _NO_NAMES if table else _NO_TABLE, notes)
    layout: Layout | Reason
    try:
        layout = processors.read_layout(answers.processors)
    except Unanswered as error:
        layout = error.reason
    cpu = _cpu(answers, known, layout, notes)
    yield "cpu", cpu
    yield "memory", _memory(known, table, cpu, notes)
    numa = _numa(layout, known, notes)
    yield "numa", numa
    pci = devices.read_pci(answers.pci, numa, notes)
    yield "pci", pci
    yield "storage", devices.read_storage(answers.drives, answers.disks, answers.pci, pci, notes)
    yield "network", devices.read_network(answers.networks, answers.pci, notes)


def _os(answers: Answers, known: Basics, notes: Notes) -> OperatingSystem:
    notes.sources["os.kind"] = "Python's platform module"
    build = answers.version_key.get("CurrentBuild")
    release = f"{known.release} (build {build})" if known.release and build else known.release
    source = "Python's platform module, and the registry for the build"
    notes.lack("os.distribution", _NO_DISTRIBUTION)
    return OperatingSystem(
        kind="windows",
        release=notes.found("os.release", release, source, _NO_VERSION),
        architecture=notes.found("os.architecture", known.architecture, source, _NO_VERSION),
    )


def _cpu(answers: Answers, known: Basics, layout: Layout | Reason, notes: Notes) -> Cpu:
    key = answers.processor_key
    model, source = key.get("ProcessorNameString") or known.processor, _KEY
    if not key.get("ProcessorNameString"):
        source = "platform.processor()"
    features = tuple(sorted(_FEATURES[n] for n in answers.features if n in _FEATURES))
    for name, reason in _UNREAD.items():
        notes.lack(f"cpu.{name}", reason)
    return Cpu(
        model=notes.found("cpu.model", " ".join((model or "").split()) or None, source, _NO_MODEL),
        features=notes.found(
            "cpu.features", features, "IsProcessorFeaturePresent, which knows some", _NO_FEATURES
        ),
        clock=_clock(answers, notes),
        microcode=notes.found("cpu.microcode", _microcode(key), _KEY, _NO_MICROCODE),
        **tell(layout, known, _WORDS, notes),
    )


def _clock(answers: Answers, notes: Notes) -> Clock:
    for name in ("min_hz", "max_hz"):
        notes.lack(f"cpu.clock.{name}", _NO_RANGE)
    for name in ("driver", "energy_preference", "boost"):
        notes.lack(f"cpu.clock.{name}", _NOT_GOVERNED)
    mhz = answers.processor_key.get("~MHz")
    base_hz = mhz * 1_000_000 if isinstance(mhz, int) and mhz > 0 else None
    plan = answers.power_plan or None
    return Clock(
        base_hz=notes.found("cpu.clock.base_hz", base_hz, f"{_KEY}, ~MHz", _NO_BASE),
        governor=notes.found("cpu.clock.governor", plan, "the active power plan", _NO_PLAN),
    )


def _microcode(key: dict[str, Any]) -> str | None:
    """Return the version from eight bytes, one half of which is 0."""
    told = key.get("Update Revision")
    number = int.from_bytes(told, "little") if isinstance(told, bytes) else 0
    return f"{number >> 32 or number:#x}" if number else None


def _memory(known: Basics, table: bytes, cpu: Cpu, notes: Notes) -> Memory:
    modules = tuple(listed(table))
    if not notes.is_virtual and (differ := clash_of_sizes(modules, known.memory_bytes)):
        notes.lack("memory.total_bytes", Reason(differ, "msinfo32, and msconfig, Boot."))
    wording = _MODULES if table else _MODULES._replace(no_modules=_NO_TABLE)
    return memory_of(modules, known, cpu, notes, wording)


def _numa(layout: Layout | Reason, known: Basics, notes: Notes) -> tuple[NumaNode, ...]:
    if isinstance(layout, Reason) or not layout.nodes:
        reason = layout if isinstance(layout, Reason) else _NO_NODES
        return notes.found("numa", (), "", reason)
    total_bytes = known.memory_bytes if len(layout.nodes) == 1 else None
    numa = tuple(
        NumaNode(id=number, threads=tuple(sorted(each)), memory_bytes=total_bytes, kind="host")
        for number, each in sorted(layout.nodes.items())
    )
    for name in ("id", "threads", "kind"):
        notes.sources[f"numa[*].{name}"] = processors.ASKED
    if total_bytes is not None:
        notes.sources["numa[*].memory_bytes"] = f"{basics.MEMORY}: the only node has all"
    for name, reason in _NODE.items():
        if name != "memory_bytes" or total_bytes is None:
            notes.lack(f"numa[*].{name}", reason)
    return numa
