"""Reads single values from /proc and /sys, or from a recording of them.

Every reader takes a whole path; the caller adds the root. A file that is missing, unreadable or
nonsensical gives None.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

CPU = "sys/devices/system/cpu"
PCI_DEVICES = "sys/bus/pci/devices"
PCI_ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_CHUNK_BYTES = 2**16
HIGHEST_THREAD = 2**16  # eight times what kernels support; a damaged list must not fill the memory


def read_text(path: Path | str) -> str | None:
    """Return the file's text without NULs and surrounding white space."""
    found = read_bytes(path)
    return None if found is None else found.replace(b"\0", b"").decode(errors="replace").strip()


def read_bytes(path: Path | str) -> bytes | None:
    """Return the file's bytes.

    A large machine has ten thousand small files; os.read takes half as long as Python's open.
    """
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    try:
        read = [os.read(file, _CHUNK_BYTES)]
        while read[-1]:  # one read may return only a part
            read.append(os.read(file, _CHUNK_BYTES))
    except OSError:
        return None
    finally:
        os.close(file)
    return b"".join(read)


def read_int(path: Path | str) -> int | None:
    """Return the decimal number in the file."""
    try:
        return int(read_text(path) or "")
    except ValueError:
        return None


def read_hex(path: Path | str) -> int | None:
    """Return the number in the file, such as 0x10de."""
    try:
        return int(read_text(path) or "", 16)
    except ValueError:
        return None


def read_list(path: Path | str) -> frozenset[int] | None:
    """Return the threads of a list such as "0-3,8"."""
    return _parsed(path, parse_list)


def read_set(folder: Path | str, *names: str) -> frozenset[int] | None:
    """Return the threads in the first readable file: a list if its name says so, else a mask."""
    for name in names:
        threads = _parsed(f"{folder}/{name}", parse_list if name.endswith("list") else parse_mask)
        if threads is not None:
            return threads
    return None


def _parsed(path: Path | str, parse: Callable[[str], frozenset[int]]) -> frozenset[int] | None:
    text = read_text(path)
    try:
        return None if text is None else parse(text)
    except ValueError:
        return None


@functools.lru_cache(maxsize=1024)  # siblings have equal lists
def parse_list(text: str) -> frozenset[int]:
    """Return the threads of a list such as "0-3,8". Raises ValueError."""
    threads: set[int] = set()
    for part in text.split(","):
        if not part.strip():
            continue
        first, dash, last = part.partition("-")
        start, end = int(first), int(last if dash else first)
        if not 0 <= start <= end <= HIGHEST_THREAD:
            raise ValueError(f"{part!r} is not a range of threads")
        threads.update(range(start, end + 1))
    return frozenset(threads)


def format_list(threads: Iterable[int]) -> str:
    """Return the list as the kernel writes it: "0-3,8"."""
    ranges: list[tuple[int, int]] = []
    for thread in sorted(threads):
        if ranges and thread == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], thread)
        else:
            ranges.append((thread, thread))
    return ",".join(f"{a}-{b}" if a < b else f"{a}" for a, b in ranges)


@functools.lru_cache(maxsize=1024)
def parse_mask(text: str) -> frozenset[int]:
    """Return the threads of a mask such as "00000001,0000000f". Raises ValueError."""
    digits = text.replace(",", "")
    if not re.fullmatch(r"[0-9a-fA-F]+", digits) or len(digits) * 4 > HIGHEST_THREAD:
        raise ValueError(f"{text!r} is not a mask of threads")
    bits = int(digits, 16)
    return frozenset(bit for bit in range(bits.bit_length()) if bits >> bit & 1)


def numbered(folder: Path | str, prefix: str) -> list[int]:
    """Return the numbers N of the entries prefixN, in order."""
    names = (name for name in entries(folder) if re.fullmatch(prefix + r"\d+", name))
    return sorted(int(name[len(prefix) :]) for name in names)


def entries(folder: Path | str) -> list[str]:
    """Return the sorted names in the folder; none if it does not exist."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def device_path(root: Path, link: Path) -> str:
    """Return the device path that a link of /sys leads to, "" if outside of the tree."""
    path, top = os.path.realpath(link), os.path.realpath(root).rstrip("/")
    return path.removeprefix(top) if path.startswith(f"{top}/") else ""


def pci_addresses(path: str) -> list[str]:
    """Return the PCI addresses in a device path, nearest the processor first."""
    return [part for part in path.split("/") if PCI_ADDRESS.fullmatch(part)]


def fields(text: str | None) -> dict[str, str]:
    """Return the first value of each "name : value" line, names in lower case."""
    found: dict[str, str] = {}
    for line in (text or "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip().lower(), " ".join(value.split()))
    return found


def kibibytes(value: str | None) -> int | None:
    """Return the bytes of a value such as "16384 kB", which the kernel counts in 1024."""
    number, _, unit = (value or "").partition(" ")
    return int(number) * 1024 if number.isdecimal() and unit == "kB" else None
