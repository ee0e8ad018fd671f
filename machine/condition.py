"""Records of a computer's maker and present condition: firmware, heat, power, pages.

machine/model.py explains what None and empty mean. Changing values are those at the inspection.
"""

from __future__ import annotations

from typing import Literal

from machine.record import Record


class System(Record):
    """The computer as its maker names it. `firmware_date` is ISO 8601. Never a serial number."""

    maker: str | None = None
    model: str | None = None
    board: str | None = None
    firmware: str | None = None  # maker and version
    firmware_date: str | None = None


class Clock(Record):
    """Clocks that the hardware reports; if cores differ, the range over all cores.

    If cores are governed differently, a text names each way and its number of policies.
    """

    min_hz: int | None = None
    max_hz: int | None = None
    base_hz: int | None = None
    governor: str | None = None
    driver: str | None = None
    energy_preference: str | None = None
    boost: Literal["on", "off", "mixed"] | None = None


class Temperature(Record):
    """A sensor of the processor, at the inspection; at `critical` it slows down or switches off."""

    name: str
    now_celsius: float | None = None
    critical_celsius: float | None = None


class Throttling(Record):
    """Counts of slowdowns by heat since the start, summed over the processor's parts."""

    cores: int | None = None
    packages: int | None = None


class PowerLimit(Record):
    """A limit that the processor keeps on average over `window_s`; `max_watts` may be set."""

    package: int | None = None
    name: str | None = None  # long_term, short_term, peak_power
    watts: float | None = None
    max_watts: float | None = None
    window_s: float | None = None


class HugePages(Record):
    """The pages of one size that are set aside, and how many of them are free."""

    size_bytes: int
    total: int | None = None
    free: int | None = None


class FileSystem(Record):
    """A mounted file system. `place` is the kind of its folder, because paths name people."""

    kind: str | None = None  # ext4, xfs, btrfs, ...
    place: str | None = None  # system, boot, home, removable, other
    total_bytes: int | None = None
    free_bytes: int | None = None
