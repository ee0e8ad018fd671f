"""Reads single values from /proc and /sys, or from a recording of them.

Every reader takes a whole path; the caller adds the root. A file that is missing, unreadable or
nonsensical gives None. Within `confined`, so does what is no plain file, or leads out of the root.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

CPU = "sys/devices/system/cpu"
PCI_DEVICES = "sys/bus/pci/devices"
PCI_ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_CHUNK_BYTES = 2**16
_LIMIT_BYTES = 2**24  # of lists such as /proc/cpuinfo
_SYS_LIMIT_BYTES = 2**17  # of a recorded /sys, whose files may be huge
HIGHEST_THREAD = 2**14  # twice what kernels support; a damaged list must not fill the memory
HIGHEST_NUMBER = 2**63  # what JSON and SQLite hold; a longer one is damaged

_root: ContextVar[str | None] = ContextVar("root", default=None)


def is_elsewhere() -> bool:
    """Does this program run on another system than Linux?"""
    return sys.platform != "linux"


@contextlib.contextmanager
def confined(root: Path | str | None) -> Iterator[None]:
    """Let readers keep to a recording: its links may lead anywhere, its files may be devices."""
    top = None if root is None else os.path.realpath(root)
    _real_folder.cache_clear()
    before = _root.set(None if top == "/" else top)
    try:
        yield
    finally:
        _root.reset(before)


def exists(path: Path | str) -> bool:
    """Is there such a file or folder, readable or not?"""
    return os.path.exists(path) and _is_inside(path)


def is_folder(path: Path | str) -> bool:
    """Is it a folder?"""
    return os.path.isdir(path) and _is_inside(path)


def _is_inside(path: Path | str) -> bool:
    root = _root.get()
    if root is None:
        return True
    folder, name = os.path.split(path)
    real = f"{_real_folder(folder)}{os.sep}{name}"
    if name in ("", ".", "..") or os.path.islink(real):
        real = os.path.realpath(path)
    return f"{real}{os.sep}".startswith(f"{root}{os.sep}")


@functools.lru_cache(maxsize=1024)  # a folder of a recording has a dozen files
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder)


def _may_read(path: Path | str) -> bool:
    # Before it is opened: a pipe would wait for a writer, a device may act.
    return stat.S_ISREG(os.stat(path).st_mode) and _is_inside(path)


def read_text(path: Path | str) -> str | None:
    """Return the file's text without NULs and surrounding white space."""
    found = read_bytes(path)
    return None if found is None else found.replace(b"\0", b"").decode(errors="replace").strip()


def read_bytes(path: Path | str, most: int | None = None) -> bytes | None:
    """Return the file's first bytes, all of them unless it is larger than any such file.

    A large machine has ten thousand small files; os.read takes half as long as Python's open.
    """
    left = most or _LIMIT_BYTES
    try:
        if _root.get() is not None:
            if not _may_read(path):
                return None
            name = str(path)
            if name.rfind("/sys/") > name.rfind("/proc/"):
                left = min(left, _SYS_LIMIT_BYTES)
        file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    try:
        read = [os.read(file, min(left, _CHUNK_BYTES))]
        while read[-1] and (left := left - len(read[-1])) > 0:  # one read may be only a part
            read.append(os.read(file, min(left, _CHUNK_BYTES)))
    except OSError:
        return None
    finally:
        os.close(file)
    return b"".join(read)


def read_int(path: Path | str) -> int | None:
    """Return the decimal number in the file."""
    return to_int(read_text(path))


def read_hex(path: Path | str) -> int | None:
    """Return the number in the file, such as 0x10de."""
    return to_int(read_text(path), 16)


def to_int(text: str | None, base: int = 10) -> int | None:
    """Return the number in a text; None for none, and for one that no machine has."""
    try:
        number = int(text or "", base)
    except ValueError:  # also for thousands of digits
        return None
    return number if abs(number) < HIGHEST_NUMBER else None


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
        if not 0 <= start <= end < HIGHEST_THREAD:
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
    names = (name for name in entries(folder) if re.fullmatch(prefix + "[0-9]{1,9}", name))
    found = (to_int(name[len(prefix) :]) for name in names)
    return sorted(number for number in found if number is not None)


def entries(folder: Path | str) -> list[str]:
    """Return the sorted names in the folder; none if it does not exist."""
    try:
        return sorted(os.listdir(folder)) if _is_inside(folder) else []
    except (OSError, ValueError):
        return []


def device_path(root: Path, link: Path) -> str:
    """Return the device path that a link of /sys leads to, "" if outside of the tree.

    Devices are real folders: only the link is followed. `realpath` would ask of each folder above.
    """
    folder, name = os.path.split(link)
    real, top = f"{_real_folder(folder)}/{name}", _real_folder(str(root)).rstrip("/")
    with contextlib.suppress(OSError, ValueError):  # it is no link
        real = os.path.join(_real_folder(folder), os.readlink(real))
    path = os.path.normpath(real)
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
    kib = to_int(number) if number.isdecimal() and unit == "kB" else None
    return None if kib is None else kib * 1024


def process_limit(name: str) -> int | None:
    """Return a limit of this process (`ulimit`), such as RLIMIT_AS; None where it has none."""
    try:
        resource: Any = importlib.import_module("resource")
    except ImportError:  # Windows has no such limits, or no file can be opened any more
        return None
    limit: int = resource.getrlimit(getattr(resource, name))[0]
    return None if limit in (resource.RLIM_INFINITY, -1) else limit


def link_name(link: Path) -> str | None:
    """Return the name of what a link leads to, such as a device's driver; None for no link."""
    try:
        return os.path.basename(os.readlink(link))
    except OSError:
        return None
