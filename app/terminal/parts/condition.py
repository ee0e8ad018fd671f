"""Maker, clocks, heat, power, pages and protection on the page of `coreopsis inspect`."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.core.units import show
from machine.condition import FileSystem, PowerLimit, Temperature
from machine.memory.modules import is_slowed
from machine.model import Machine
from machine.processor.protection import protection

_LIMITS = {"long_term": "long", "short_term": "short", "peak_power": "peak"}


def maker_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line about the computer and its firmware."""
    system = machine.system
    if names := [name for name in (system.maker, system.model) if name]:
        yield "machine", " ".join(names)
    if system.board:
        yield "board", system.board
    if system.firmware:
        date = f", {system.firmware_date}" if system.firmware_date else ""
        yield "firmware", f"{system.firmware}{date}"


def clock_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield the lines about the processor's clock, heat and power."""
    clock, cpu = machine.cpu.clock, machine.cpu
    parts = []
    if clock.max_hz:
        least = f"{show(clock.min_hz, 'hz')} to " if clock.min_hz else ""
        parts.append(f"{least}{show(clock.max_hz, 'hz')}")
    if clock.boost:
        state = "on for some cores" if clock.boost == "mixed" else clock.boost
        parts.append(f"boost {state}")
    if clock.governor:
        parts.append(f"governor {clock.governor}")
    if clock.energy_preference:
        parts.append(f"energy preference {clock.energy_preference}")
    if clock.driver:
        parts.append(f"driver {clock.driver}")
    if parts:
        yield "clock", ", ".join(parts)
    if told := [_temperature_text(one) for one in cpu.temperatures if one.now_celsius is not None]:
        yield "heat", ", ".join(told)
    counts = cpu.throttling
    if counts.cores or counts.packages:
        cores, packages = counts.cores or 0, counts.packages or 0
        yield (
            "throttled",
            f"by heat since the start: {cores} times a core, {packages} times a package",
        )
    for package in sorted({limit.package or 0 for limit in cpu.power_limits}):
        limits = [limit for limit in cpu.power_limits if (limit.package or 0) == package]
        yield "power", f"package {package}: {', '.join(map(_power_text, limits))}"


def _temperature_text(temperature: Temperature) -> str:
    """Return the temperature of now, and its limit."""
    text = f"{temperature.name} {show(temperature.now_celsius or 0, 'celsius')} now"
    limit = temperature.critical_celsius
    return f"{text}, limit {show(limit, 'celsius')}" if limit else text


def _power_text(limit: PowerLimit) -> str:
    watts = show(limit.watts or 0, "watts")
    window = f" over {show(limit.window_s, 's')}" if limit.window_s else ""
    return f"{watts} {_LIMITS.get(limit.name or '', limit.name or '')}{window}".rstrip()


def page_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield the lines about slow modules, huge pages and swap."""
    memory = machine.memory
    if slowed := next(filter(is_slowed, memory.modules), None):
        now, rated = slowed.transfers_per_s or 0, slowed.rated_transfers_per_s or 0
        yield (
            "remark",
            f"{now / 1e6:g} of {rated / 1e6:g} MT/s: the firmware runs the modules slower than "
            "they can. Look for XMP or EXPO in its settings; the processor may also allow no more.",
        )
    parts = []
    if memory.transparent_huge_pages:
        parts.append(f"transparent huge pages: {memory.transparent_huge_pages}")
    parts += [
        f"{page.total} of {show(page.size_bytes, 'bytes')} set aside, {page.free} free"
        for page in memory.huge_pages
        if page.total
    ]
    if parts:
        yield "pages", ", ".join(parts)
    total, used = memory.swap_total_bytes, memory.swap_used_bytes
    if total:
        text = f"{show(used or 0, 'bytes')} of {show(total, 'bytes')} used"
        if memory.swap_in_memory_bytes:
            compressed = show(memory.swap_in_memory_bytes, "bytes")
            text += f"; {compressed} of it compressed in memory (zram)"
        yield "swap", text
    elif total == 0:
        yield "swap", "none"


def protection_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield the lines about vulnerabilities and microcode."""
    told = protection(machine.cpu.vulnerabilities)
    parts = [
        f"{what}: {', '.join(names)}"
        for what, names in (("vulnerable", told.vulnerable), ("unknown", told.unknown))
        if names
    ]
    if told.mitigated:
        parts.append(f"{len(told.mitigated)} mitigated")
    if told.not_affected:
        parts.append(f"{len(told.not_affected)} do not concern it")
    if parts:
        yield "security", "; ".join(parts)
    if machine.cpu.microcode:
        yield "microcode", machine.cpu.microcode


def file_system_text(system: FileSystem) -> str:
    """Return kind, place and space of a file system."""
    name = " ".join(text for text in (system.kind, f"({system.place})") if text)
    if system.total_bytes is None or system.free_bytes is None:
        return name
    free, total = (show(n, "bytes/s")[:-2] for n in (system.free_bytes, system.total_bytes))
    return f"{name} {free} free of {total}"
