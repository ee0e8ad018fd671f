"""Generations of NVIDIA's GPUs: which one a card is of, and which drivers serve it.

A card without a driver shows only its PCI numbers. The generation follows from the name of its chip
in pci.ids, or without that file from the device's number.

Sources, as of November 2026: the PCI ID Repository of 2026-08-22 for chips and numbers; NVIDIA's
"Supported NVIDIA GPU Products" of the drivers 390, 470, 580 and 590 for the branches; the README of
NVIDIA's open kernel modules (Turing and newer; Blackwell needs them). A card that is newer than
these tables is of no known generation, and nothing is said of its drivers.
"""

from __future__ import annotations

import re

from machine.record import Record


class Generation(Record):
    """A generation: the first driver that knows it, and the last branch, None if it goes on.

    `open_modules`: whether NVIDIA's open kernel modules cannot run it, may, or must.
    """

    name: str
    first: int
    last: int | None = None
    open_modules: str = "may"


# By the letters that the names of its chips begin with, oldest first.
GENERATIONS = {
    "GF": Generation(name="Fermi", first=256, last=390, open_modules="cannot"),
    "GK": Generation(name="Kepler", first=295, last=470, open_modules="cannot"),
    "GM": Generation(name="Maxwell", first=331, last=580, open_modules="cannot"),
    "GP": Generation(name="Pascal", first=367, last=580, open_modules="cannot"),
    "GV": Generation(name="Volta", first=384, last=580, open_modules="cannot"),
    "TU": Generation(name="Turing", first=410),
    "GA": Generation(name="Ampere", first=450),
    "AD": Generation(name="Ada", first=520),
    "GH": Generation(name="Hopper", first=515),
    "GB": Generation(name="Blackwell", first=570, open_modules="must"),
}
UNSERVED = frozenset(("Fermi", "Kepler"))  # no build of PyTorch since 2.0 has code for them
_CHIP = re.compile(r"\b(GF|GK|GM|GP|GV|TU|GA|AD|GH|GB)\d{2}[0-9B]")
# The first number of each run of devices, and their generation; where a run is unknown, "".
_RUNS = (
    *((0x06C0, "GF"), (0x06E0, ""), (0x0DC0, "GF"), (0x0E40, ""), (0x0F00, "GF"), (0x0FA0, "")),
    *((0x0FC0, "GK"), (0x1040, "GF"), (0x10C0, ""), (0x1140, "GF"), (0x1150, "")),
    *((0x1180, "GK"), (0x1200, "GF"), (0x1260, ""), (0x1280, "GK"), (0x12C0, "")),
    *((0x1340, "GM"), (0x1440, ""), (0x15C0, "GP"), (0x1600, ""), (0x1610, "GM"), (0x1680, "")),
    *((0x1720, "GP"), (0x1740, "GM"), (0x1800, ""), (0x1B00, "GP"), (0x1D80, "GV")),
    *((0x1E00, "TU"), (0x2000, ""), (0x2080, "GA"), (0x2100, ""), (0x2180, "TU"), (0x2200, "GA")),
    *((0x2290, ""), (0x2300, "GH"), (0x2400, "GA"), (0x2600, ""), (0x2680, "AD"), (0x2900, "GB")),
    *((0x2F80, ""), (0x3180, "GB"), (0x3280, "")),
)


def generation(name: str, device_id: int | None) -> Generation | None:
    """Return the generation of a card by its name in pci.ids, else by its number; None if new."""
    if found := _CHIP.search(name):
        return GENERATIONS[found[1]]
    below = [letters for first, letters in _RUNS if device_id is not None and first <= device_id]
    return GENERATIONS.get(below[-1]) if below else None
