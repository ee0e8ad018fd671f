"""Reads a GPU's heat, memory errors and clocks from NVML."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from machine.devices import ClockReason, Severity
from machine.facts import Facts, Unanswered
from machine.gpus.nvml import ODD, Nvml, is_lost

NAMES = (
    *("temperature_celsius", "temperature_slowdown_celsius", "temperature_shutdown_celsius"),
    *("clock_reasons", "ecc", "ecc_pending", "remapped_rows", "remapping_pending"),
    "remapping_failed",
)

_SHUTDOWN, _SLOWDOWN = 0, 1  # nvmlTemperatureThresholds_t
_COLDEST, _HOTTEST = -100, 300
_CLOCK_REASONS: dict[int, tuple[str, Severity]] = {
    0x1: ("clock_reasons.idle", "information"),
    0x2: ("clock_reasons.application_clocks", "information"),
    0x4: ("clock_reasons.power_cap", "limit"),
    0x8: ("clock_reasons.hardware_slowdown", "warning"),
    0x10: ("clock_reasons.sync_boost", "information"),
    0x20: ("clock_reasons.software_thermal", "warning"),
    0x40: ("clock_reasons.hardware_thermal", "warning"),
    0x80: ("clock_reasons.power_brake", "warning"),
    0x100: ("clock_reasons.display_clocks", "information"),
}
Ask = Callable[..., Any]  # a call without "nvmlDeviceGet", and its arguments after the handle


def describe(library: Nvml, gpu: Any, facts: Facts) -> None:
    """Add the health of one GPU."""

    def ask(call: str, *arguments: Any) -> Any:
        return library.ask(f"nvmlDeviceGet{call}", gpu, *arguments)

    def keep(name: str, call: str, read: Callable[[], Any]) -> None:
        facts.ask(name, f"NVML: nvmlDeviceGet{call}", read)

    keep("temperature_celsius", "Temperature", partial(temperature, ask))
    for name, which in (
        ("temperature_slowdown_celsius", _SLOWDOWN),
        ("temperature_shutdown_celsius", _SHUTDOWN),
    ):
        keep(name, "TemperatureThreshold", partial(_threshold, ask, which))
    keep("clock_reasons", "CurrentClocksEventReasons", partial(clock_reasons, ask))
    keep("ecc", "EccMode", lambda: bool(ask("EccMode")[0]))
    keep("ecc_pending", "EccMode", lambda: bool(ask("EccMode")[1]))
    keep("remapped_rows", "RemappedRows", lambda: sum(ask("RemappedRows")[:2]))
    keep("remapping_pending", "RemappedRows", lambda: bool(ask("RemappedRows")[2]))
    keep("remapping_failed", "RemappedRows", lambda: bool(ask("RemappedRows")[3]))


def temperature(ask: Ask) -> float:
    """Return the temperature of the chip in Celsius. Raises Unanswered."""
    try:
        return _plausible(ask("TemperatureV", 0))
    except Unanswered as error:
        if is_lost(error.reason):
            raise
        return _plausible(ask("Temperature", 0))


def _threshold(ask: Ask, which: int) -> float:
    return _plausible(ask("TemperatureThreshold", which))


def _plausible(celsius: int) -> float:
    if not _COLDEST < celsius < _HOTTEST:
        raise Unanswered(ODD)
    return float(celsius)


def clock_reasons(ask: Ask) -> tuple[ClockReason, ...]:
    """Return why the clock is not higher now. Raises Unanswered."""
    try:
        found = ask("CurrentClocksEventReasons")
    except Unanswered as error:
        if is_lost(error.reason):
            raise
        found = ask("CurrentClocksThrottleReasons")  # its name before driver 535
    return tuple(
        ClockReason(key=key, severity=severity)
        for bit, (key, severity) in _CLOCK_REASONS.items()
        if found & bit
    )
