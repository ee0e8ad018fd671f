"""The computer as its firmware names it: maker, model, board, and the firmware itself.

DMI is the table of PCs and servers, the device tree that of most ARM boards. Serial numbers stand
beside these names and are never read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from machine.condition import System
from machine.facts import Notes, Reason
from machine.record import names
from machine.system.linux import read_text

_DMI = "sys/class/dmi/id"
_TREE = "proc/device-tree/model"
_FILES = (
    *("sys_vendor", "product_name", "product_version", "board_vendor", "board_name"),
    *("bios_vendor", "bios_version", "bios_date"),
)
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
    told = {file: read_text(root / _DMI / file) for file in _FILES}
    return tell_maker(told, f"/{_DMI}", _UNNAMED, notes, lambda: read_text(root / _TREE))


def tell_maker(
    told: Mapping[str, str | None],
    source: str,
    unnamed: Reason,
    notes: Notes,
    ask_tree: Callable[[], str | None] = lambda: None,
) -> System:
    """Return the names in `told`, which are those of Linux's files; the device tree helps out."""
    named = {file: _name(text) for file, text in told.items()}
    maker, model = named.get("sys_vendor"), named.get("product_name")
    version = named.get("product_version")
    if version and (maker or "").lower() == "lenovo":  # its model is a code, such as 21HM
        model = f"{version} ({model})" if model else version
    tree = None if model else ask_tree()
    found = {
        "maker": maker,
        "model": model or tree or None,
        "board": _joined(named.get("board_vendor"), named.get("board_name")),
        "firmware": _joined(named.get("bios_vendor"), named.get("bios_version")),
        "firmware_date": _iso(named.get("bios_date")),
    }
    for name in names(System):
        where = f"/{_TREE}" if name == "model" and tree else source
        notes.found(f"system.{name}", found[name], where, unnamed)
    return System(**found)


def _name(text: str | None) -> str | None:
    text = " ".join((text or "").split())
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
