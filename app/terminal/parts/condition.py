"""Maker, clocks, heat, power, pages and protection on the page of `coreopsis inspect`."""

from __future__ import annotations

from collections.abc import Iterator

from app.terminal.parts.listed import listed
from experiments.core.units import show
from experiments.presentation.grouped import grouped
from machine.condition import PowerLimit, Temperature
from machine.memory.setting import setting
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
        yield "firmware", listed(system.firmware, system.firmware_date)


def clock_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield the lines about the processor's clock, heat and power."""
    clock, cpu = machine.cpu.clock, machine.cpu
    least = f"{show(clock.min_hz, 'hz')} to " if clock.min_hz else ""
    governed_by = "power plan" if machine.os.kind == "windows" else "governor"
    boost = "on for some cores" if clock.boost == "mixed" else clock.boost
    if told := listed(
        clock.max_hz and f"{least}{show(clock.max_hz, 'hz')}",
        clock.boost and f"boost {boost}",
        clock.governor and f"{governed_by} {clock.governor}",
        clock.energy_preference and f"energy preference {clock.energy_preference}",
        clock.driver and f"driver {clock.driver}",
    ):
        yield "clock", told
    known = (one for one in cpu.temperatures if one.now_celsius is not None)
    if heat := listed(*map(_temperature_text, known)):
        yield "heat", heat
    counts = cpu.throttling
    if counts.cores or counts.packages:
        cores, packages = counts.cores or 0, counts.packages or 0
        yield (
            "throttled",
            f"by heat since the start: {cores} times a core, {packages} times a package",
        )
    limits = grouped((limit.package or 0, _power_text(limit)) for limit in cpu.power_limits)
    for package in sorted(limits):
        yield "power", f"package {package}: {', '.join(limits[package])}"


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
    if (speed := setting(machine)) is not None and speed.is_short:
        now, rated = speed.set_transfers_per_s, speed.rated_transfers_per_s
        yield (
            "remark",
            f"{now / 1e6:g} of {rated / 1e6:g} MT/s: the firmware runs the modules slower than "
            "they can. Look for XMP or EXPO in its settings; the processor may also allow no more.",
        )
    mode = memory.transparent_huge_pages
    if pages := listed(
        mode and f"transparent huge pages: {mode}",
        *(
            f"{page.total} of {show(page.size_bytes, 'bytes')} set aside, {page.free} free"
            for page in memory.huge_pages
            if page.total
        ),
    ):
        yield "pages", pages
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
    if security := listed(
        told.vulnerable and f"vulnerable: {', '.join(told.vulnerable)}",
        told.unknown and f"unknown: {', '.join(told.unknown)}",
        told.mitigated and f"{len(told.mitigated)} mitigated",
        told.not_affected and f"{len(told.not_affected)} do not concern it",
        by="; ",
    ):
        yield "security", security
    if machine.cpu.microcode:
        yield "microcode", machine.cpu.microcode
