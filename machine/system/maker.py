"""The computer as its firmware names it: maker, model, board, and the firmware itself.

DMI is the table of PCs and servers, the device tree that of most ARM boards. Serial numbers stand
beside these names and are never read.
"""

from __future__ import annotations

import re
from pathlib import Path

from machine.condition import System
from machine.facts import Notes, Reason
from machine.record import names
from machine.system.linux import read_text

_DMI = "sys/class/dmi/id"
_TREE = "proc/device-tree/model"
# What makers leave in the table instead of a name.
_NO_NAME = re.compile(
    r"to be filled.*|system (product|manufacturer|version).*|default string|not (specified|"
    r"applicable|available|defined)|o\.?e\.?m\.?|none|unknown|undefined|empty|n/a|x\.x|[0x.\s-]*",
    re.IGNORECASE,
)
_UNNAMED = Reason(
    "The firmware does not name it, or this system does not pass the name on.",
    "The label on the machine, its maker's manual, or sudo dmidecode.",
)


def read_maker(root: Path, notes: Notes) -> System:
    """Return the names of the computer and its firmware."""
    source = f"/{_DMI}"
    maker, model = _named(root, "sys_vendor"), _named(root, "product_name")
    version = _named(root, "product_version")
    if version and (maker or "").lower() == "lenovo":  # its model is a code, such as 21HM
        model = f"{version} ({model})" if model else version
    tree = None if model else read_text(root / _TREE)
    found = {
        "maker": maker,
        "model": model or tree or None,
        "board": _joined(_named(root, "board_vendor"), _named(root, "board_name")),
        "firmware": _joined(_named(root, "bios_vendor"), _named(root, "bios_version")),
        "firmware_date": _iso(_named(root, "bios_date")),
    }
    for name in names(System):
        where = f"/{_TREE}" if name == "model" and tree else source
        notes.found(f"system.{name}", found[name], where, _UNNAMED)
    return System(**found)


def _named(root: Path, file: str) -> str | None:
    text = " ".join((read_text(root / _DMI / file) or "").split())
    return None if _NO_NAME.fullmatch(text) else text


def _joined(maker: str | None, name: str | None) -> str | None:
    """Return both, without a maker that the name repeats."""
    if maker and name and name.lower().startswith(maker.lower()):
        return name
    return " ".join(filter(None, (maker, name))) or None


def _iso(date: str | None) -> str | None:
    """Return 03/25/2024 as 2024-03-25."""
    match = re.fullmatch(r"(\d\d)/(\d\d)/(\d{4})", date or "")
    return f"{match[3]}-{match[1]}-{match[2]}" if match else None
