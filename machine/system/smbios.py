"""The firmware's table of the hardware (SMBIOS): its entries, and the names of the computer.

Source: System Management BIOS Reference Specification 3.7 of 2023, sections 6.1 and 7.1 to 7.3
(DSP0134).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_HEAD_BYTES = 4
# The type of the entry, and the places of the numbers of its strings.
_NAMES = {
    0: {"bios_vendor": 4, "bios_version": 5, "bios_date": 8},
    1: {"sys_vendor": 4, "product_name": 5, "product_version": 6},
    2: {"board_vendor": 4, "board_name": 5},
}


class Entry(NamedTuple):
    """An entry of the table: its type, its bytes, and the strings behind them."""

    kind: int
    data: bytes
    strings: list[bytes]

    def word(self, offset: int, size: int = 2) -> int:
        """Return a number; 0 beyond the end of the entry."""
        return int.from_bytes(self.data[offset : offset + size], "little")

    def text(self, offset: int) -> str | None:
        """Return the string whose number stands there."""
        number = self.word(offset, 1)
        said = self.strings[number - 1] if 0 < number <= len(self.strings) else b""
        return said.decode(errors="replace").strip() or None


def entries(table: bytes) -> Iterator[Entry]:
    """Yield the entries that follow each other; a damaged one ends the table."""
    while len(table) >= _HEAD_BYTES and _HEAD_BYTES <= table[1] <= len(table):
        kind, length = table[0], table[1]
        strings, found, _ = table[length:].partition(b"\0\0")
        yield Entry(kind, table[:length], strings.split(b"\0"))
        if not found:
            return
        table = table[length + len(strings) + 2 :]


def names(table: bytes) -> dict[str, str]:
    """Return the names of computer, board and firmware, as Linux names its files of them."""
    found: dict[str, str] = {}
    for entry in entries(table):
        for name, offset in _NAMES.get(entry.kind, {}).items():
            if said := entry.text(offset):
                found.setdefault(name, said)
    return found
