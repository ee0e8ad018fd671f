"""The parts of a machine from the answers of macOS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from machine import peaks
from machine.bus.names import PciNames
from machine.condition import Clock, System
from machine.facts import Notes, Reason, Unanswered
from machine.mac import devices, processors
from machine.mac.answers import Answers
from machine.memory.from_modules import Wording, memory_of
from machine.model import Cpu, Memory, OperatingSystem
from machine.processor.layout import Layout, Words, tell
from machine.system.basics import Basics
from machine.system.maker import tell_maker

_SYSCTL = "sysctl hw machdep.cpu"
_HARDWARE = "system_profiler SPHardwareDataType"
_MEMORY = "system_profiler SPMemoryDataType"
_SHEET = "Look the model up in its maker's data sheet."
_ABOUT = "About This Mac, or https://everymac.com by the model."
_NOTHING = "There is nothing to look at."
_WORDS = Words(
    asked=processors.ASKED,
    kinds="sysctl hw.perflevelN, the fastest level first",
    gaps={
        "package": Reason("sysctl did not count the packages.", "sysctl hw.packages"),
        "die": Reason("macOS names no dies.", _SHEET),
        "cluster": Reason("macOS tells of no cores that share a cache here.", _SYSCTL),
        "core": Reason("sysctl did not count the cores.", _SYSCTL),
        "core_id": Reason("macOS gives cores no numbers for programs.", _NOTHING),
        "numa_node": Reason("macOS names no memory nodes.", _NOTHING),
        "kind": Reason("", _SYSCTL),
        "caches": Reason("sysctl names no caches, or not which cores share them.", _SYSCTL),
        "cache.size_bytes": Reason("sysctl tells no size of this cache.", _SYSCTL),
        "cache.line_bytes": Reason("sysctl tells no line size.", "sysctl hw.cachelinesize"),
        "cache.ways": Reason("macOS does not tell how many ways a cache has.", _SHEET),
    },
    no_affinity=Reason("macOS pins no process to threads.", _NOTHING),
    no_groups=Reason("macOS limits no groups of processes.", _NOTHING),
)
_UNREAD = {
    "temperatures": Reason(
        "macOS tells temperatures to administrators only.", "powermetrics, as administrator."
    ),
    "throttling": Reason("macOS counts no slowdowns by heat.", "pmset -g therm"),
    "power_limits": Reason(
        "macOS tells power to administrators only.", "powermetrics, as administrator."
    ),
    "vulnerabilities": Reason("macOS lists no weaknesses of the processor.", _SHEET),
}
_MARKS = ("machdep.cpu.features", "machdep.cpu.leaf7_features", "machdep.cpu.extfeatures")
_OPTIONAL = "hw.optional."
# Apple's names of instruction sets, by Linux's names of them.
_FEATURES = {
    **{"SSE": "sse", "SSE2": "sse2", "SSE3": "pni", "SSSE3": "ssse3", "SSE4.1": "sse4_1"},
    **{"SSE4.2": "sse4_2", "AVX1.0": "avx", "AVX2": "avx2", "FMA": "fma", "F16C": "f16c"},
    **{"AVX512F": "avx512f", "AES": "aes", "BMI1": "bmi1", "BMI2": "bmi2"},
    **{"neon": "asimd", "AdvSIMD": "asimd", "arm.FEAT_DotProd": "asimddp"},
    **{"arm.FEAT_FP16": "asimdhp", "neon_fp16": "asimdhp", "arm.FEAT_BF16": "bf16"},
    **{"arm.FEAT_I8MM": "i8mm", "arm.FEAT_LSE": "atomics", "arm.FEAT_AES": "aes"},
    **{"arm.FEAT_SME": "sme", "arm.FEAT_SME2": "sme2", "armv8_crc32": "crc32"},
}
_NO_FEATURES = Reason(
    "sysctl names no instruction sets.", "sysctl hw.optional machdep.cpu.features"
)
_NO_MODEL = Reason("sysctl does not name the processor.", "sysctl machdep.cpu.brand_string")
_NO_CODE = Reason("Only Macs with Intel's processors tell the microcode.", _NOTHING)
_NO_CLOCK = Reason(
    "macOS tells clocks on Macs with Intel's processors only, and of Apple's to administrators.",
    "powermetrics, as administrator.",
)
_NO_RANGE = Reason("sysctl tells no clock but the base clock, and of Intel's only.", _SHEET)
_NOT_GOVERNED = Reason("macOS sets the clock by itself and tells no program how.", "pmset -g")
_NO_DISTRIBUTION = Reason("Only Linux has distributions.", _NOTHING)
_NO_VERSION = Reason("Neither sysctl nor Python tells it.", "sw_vers")
_NO_NAMES = Reason("macOS does not tell it apart from the model.", _ABOUT)
_NO_HOST = Reason("sysctl does not tell whether macOS runs in a virtual machine.", _NOTHING)
_NO_NODES = Reason("macOS names no memory nodes: all memory is equally near.", _NOTHING)
_NO_NETWORK = Reason(
    "Network cards are not read on macOS.", "System Information, Network, or networksetup."
)
_HOW = f"{_MEMORY}, or System Information, Memory."
_NO_MODULES = Reason("system_profiler lists no memory modules.", _HOW)
_NO_CHANNELS = Reason("macOS does not tell which modules share a channel.", _ABOUT)
_OF_SOME = Reason(
    "macOS does not tell it of all memory: an empty slot has none, and memory on the chip is told "
    "by size and kind only.",
    _HOW,
)
_NO_TOTAL = Reason("macOS did not tell its memory.", "sysctl hw.memsize")
_NO_SWAP = Reason("macOS did not tell its swap.", "sysctl vm.swapusage")
_OF_MEMORY = {
    "limit_bytes": _WORDS.no_groups,
    "transparent_huge_pages": Reason("macOS has no transparent huge pages.", _NOTHING),
    "huge_pages": Reason("macOS sets no huge pages aside.", _NOTHING),
    "swap_in_memory_bytes": Reason(
        "macOS compresses memory before it swaps, and tells that apart.", "vm_stat"
    ),
}
_MODULES = Wording(
    source=_MEMORY,
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
    told = processors.values(answers.sysctl)
    profile: Mapping[str, Any] | Reason
    try:
        profile = devices.read_profile(answers.profiler)
    except Unanswered as error:
        profile = error.reason
    yield "os", _os(told, known, notes)
    host = {"0": "none", "1": "unnamed"}.get(told.get("kern.hv_vmm_present", ""))
    notes.virtualization = notes.found(
        "virtualization", host, "sysctl kern.hv_vmm_present", _NO_HOST
    )
    yield "virtualization", host
    notes.sources["container"] = "macOS isolates no programs in this way"
    yield "container", "none"
    yield "system", _system(told, profile, notes)
    cpu = _cpu(told, known, notes)
    yield "cpu", cpu
    yield "memory", _memory(told, profile, known, cpu, notes)
    yield "numa", notes.found("numa", (), "", _NO_NODES)
    yield "pci", devices.read_pci(profile, PciNames(Path("/")), notes)
    yield "storage", devices.read_storage(profile, notes)
    yield "network", notes.found("network", (), "", _NO_NETWORK)


def _os(told: Mapping[str, str], known: Basics, notes: Notes) -> OperatingSystem:
    notes.sources["os.kind"] = "Python's platform module"
    notes.lack("os.distribution", _NO_DISTRIBUTION)
    product = told.get("kern.osproductversion")
    source = "sysctl kern.osproductversion" if product else "Python's platform module"
    return OperatingSystem(
        kind="macos",
        release=notes.found("os.release", product or known.release, source, _NO_VERSION),
        architecture=notes.found(
            "os.architecture", known.architecture, "Python's platform module", _NO_VERSION
        ),
    )


def _system(told: Mapping[str, str], profile: Mapping[str, Any] | Reason, notes: Notes) -> System:
    entries = [] if isinstance(profile, Reason) else devices.listed(profile, "SPHardwareDataType")
    entry = next(iter(entries), {})
    model = devices.text(entry, "machine_model") or told.get("hw.model", "")
    name = devices.text(entry, "machine_name")
    named = {
        "sys_vendor": "Apple" if model else None,
        "product_name": f"{name} ({model})" if name and model else name or model,
        "bios_version": devices.text(entry, "boot_rom_version"),
    }
    return tell_maker(named, f"{_HARDWARE}, sysctl hw.model", _NO_NAMES, notes)


def _cpu(told: Mapping[str, str], known: Basics, notes: Notes) -> Cpu:
    for name, reason in _UNREAD.items():
        notes.lack(f"cpu.{name}", reason)
    layout: Layout | Reason
    try:
        layout = processors.read_layout(told)
    except Unanswered as error:
        layout = error.reason
    model = " ".join(told.get("machdep.cpu.brand_string", "").split())
    code = processors.number(told, "machdep.cpu.microcode_version")
    return Cpu(
        model=notes.found("cpu.model", model or None, "sysctl machdep.cpu.brand_string", _NO_MODEL),
        features=notes.found("cpu.features", _features(told), _SYSCTL, _NO_FEATURES),
        clock=_clock(told, notes),
        microcode=notes.found(
            "cpu.microcode",
            None if code is None else f"{code:#x}",
            "sysctl machdep.cpu.microcode_version",
            _NO_CODE,
        ),
        **tell(layout, known, _WORDS, notes),
    )


def _features(told: Mapping[str, str]) -> tuple[str, ...]:
    marks = {mark for key in _MARKS for mark in told.get(key, "").split()}
    marks |= {
        key.removeprefix(_OPTIONAL)
        for key, value in told.items()
        if key.startswith(_OPTIONAL) and value == "1"
    }
    return tuple(sorted({name for mark, name in _FEATURES.items() if mark in marks}))


def _clock(told: Mapping[str, str], notes: Notes) -> Clock:
    for name in ("governor", "driver", "energy_preference", "boost"):
        notes.lack(f"cpu.clock.{name}", _NOT_GOVERNED)
    for name in ("min_hz", "max_hz"):
        notes.lack(f"cpu.clock.{name}", _NO_RANGE)
    # What it calls the highest clock is the base clock, too.
    base_hz = processors.number(told, "hw.cpufrequency")
    source = "sysctl hw.cpufrequency"
    return Clock(base_hz=notes.found("cpu.clock.base_hz", base_hz, source, _NO_CLOCK))


def _memory(
    told: Mapping[str, str],
    profile: Mapping[str, Any] | Reason,
    known: Basics,
    cpu: Cpu,
    notes: Notes,
) -> Memory:
    modules = () if isinstance(profile, Reason) else devices.read_modules(profile)
    size = processors.number(told, "hw.memsize")
    total = (size, "sysctl hw.memsize") if size else None
    wording = _MODULES if not isinstance(profile, Reason) else _MODULES._replace(no_modules=profile)
    return memory_of(modules, known, cpu, notes, wording, total)
