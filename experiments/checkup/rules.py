"""The rules of the checkup, read from rules.toml."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from msgspec import field

from machine.convert import convert
from machine.record import Record

Devices = Literal["", "gpus", "devices", "pairs"]


class Stage(StrEnum):
    """Four questions in the order in which they make sense: is it there, set, quick, steady?"""

    PRESENT = "present"
    CONFIGURED = "configured"
    PERFORMS = "performs"
    STAYS = "stays"


class Source(StrEnum):
    """The origin of an expectation, the surest first."""

    ORDER = "order"  # what was bought
    CEILING = "ceiling"  # what the hardware could do at best
    CONSISTENCY = "consistency"  # parts of one kind, or the best moment of the same run
    BASELINE = "baseline"  # an earlier check of this machine
    REFERENCE = "reference"  # checks of machines with the same part


class Limits(Record):
    """Shares of what is expected: fine from `ok` on, a problem below `floor`."""

    ok: float
    floor: float


class Rule(Record):
    """One check. rules.toml explains the fields."""

    id: str
    version: int
    stage: Stage
    measure: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    device: Devices = ""
    quick: bool = False
    limits: Mapping[Source, Limits] = field(default_factory=dict)


class Numbers(Record):
    """Numbers that checks use beside their limits. rules.toml explains each."""

    nvme_bytes_per_s: float
    ssd_bytes_per_s: float
    gpu_memory_fraction: float
    gpu_product_fraction: float
    small_gpu_watts: float
    gpu_power_fraction: float
    turbo_s: float
    power_fraction: float
    desktop_clock_fraction: float
    desktop_cores: int
    desktop_channels: int
    least_clock_fraction: float


class Rules(Record):
    """All rules, and the version of the whole."""

    version: int
    numbers: Numbers
    rule: tuple[Rule, ...]


@functools.cache
def rules() -> Rules:
    """Return the rules that come with the program."""
    text = Path(__file__).with_name("rules.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), Rules)
