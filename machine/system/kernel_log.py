"""Lines of the kernel's log about failing hardware, or about memory that ran out.

Only lines of the kernel itself count. Its clock stands still while the machine sleeps, so a line
may be older than its age says.

Sources: Documentation/ABI/testing/dev-kmsg, drivers/pci/pcie/aer.c, drivers/edac/edac_mc.c,
arch/x86/kernel/cpu/mce/core.c and block/blk-core.c of the kernel; NVIDIA's XID Errors.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from machine.facts import Notes, Reason
from machine.model import Missing
from machine.record import Record
from machine.system import xids
from machine.system.asking import ask
from machine.system.linux import confined, read_bytes, read_text
from machine.system.virtualization import read_container
from machine.text import plain

Kind = Literal[
    "xid",
    "machine_check",
    "memory_corrected",
    "memory_uncorrected",
    "pcie_corrected",
    "pcie_nonfatal",
    "pcie_fatal",
    "disk",
    "out_of_memory",
]
RECENT_S = 86_400.0
SERIOUS = frozenset(("memory_uncorrected", "pcie_fatal", "disk"))

_KMSG = "dev/kmsg"
_COMMANDS = (
    ("journalctl", "-k", "-b", "-o", "short-monotonic", "--no-hostname", "--no-pager", "-q"),
    ("dmesg", "--kernel"),
)
_WITHIN_S = 5.0
_MOST_BYTES = 2**24
_RECORD_BYTES = 2**13  # no record of /dev/kmsg is longer
_MOST_FOUND, _MOST_EXAMPLES, _EXAMPLE_LETTERS = 50, 3, 160
_FIRST_LINE_S = 1.0  # the log begins at the boot if its first line is as early

_RECORD = re.compile(r"(\d{1,4}),\d+,(\d{1,18}),[^;]*;(.*)")  # priority, number, µs
_LINE = re.compile(r"\[ *(\d{1,12}\.\d+)\] (?:kernel: )?(.*)")
_ADDRESS = r"([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})[.0-7]*\): (\d+)")
_MACHINE_CHECK = re.compile(r"\[Hardware Error\]:|Machine Check Exception", re.IGNORECASE)
_MEMORY = re.compile(r"EDAC (MC\d+): (?:\d+ )?(CE|UE)\b")
_PCIE = re.compile(
    rf"(?:{_ADDRESS}: (?:AER: )?)?PCIe Bus Error: severity=(Unc|C)orrect\w+(.*)", re.IGNORECASE
)
_DISK = re.compile(
    r"(?:I/O|critical \w+) error(?: on|,) dev (\w+)(?!.*\(DISCARD\))"  # which many disks refuse
    r"|nvme (nvme\d+): .*(?:timeout|controller is down)"
)
_NO_DISK = re.compile(r"(?:fd|sr|loop|zram|ram)\d")  # an empty drive is no failing one
_OUT_OF_MEMORY = re.compile(r"out of memory: Kill(?:ed)? process", re.IGNORECASE)
_ANY = re.compile(
    r"NVRM: Xid|Hardware Error|Machine Check|EDAC MC|PCIe Bus Error|error(?: on|,) dev |nvme nvme"
    r"|out of memory: Kill",
    re.IGNORECASE,
)
_IS_GRAVE = re.compile(r"uncorrect|fatal|unrecover|: recoverable|deferred", re.IGNORECASE)
_BANK = re.compile(r"Bank \d+: ([0-9a-f]{16})\b")
_UNCORRECTED_BIT = 61  # of MCi_STATUS
_NAMING = (  # people, their programs, single parts
    (re.compile(r"(pid=)[^,]*, name=[^,]*"), r"\1…"),
    (re.compile(r"([Kk]ill(?:ed)? process) .*"), r"\1 …"),
    (re.compile(r"((?:PPIN|serial(?: number)?|fru_text)[ :=]+)\S+", re.IGNORECASE), r"\1…"),
    (
        re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"),
        "…",
    ),
)

_HOW = "sudo dmesg; members of the groups adm and systemd-journal may run journalctl -k -b."
_LOCKED = Reason("Only root and the system's administrators may read the kernel's log here.", _HOW)
_ABSENT = Reason(
    "There is no /dev/kmsg here, and neither journalctl nor dmesg told a line of the kernel.", _HOW
)
_EMPTY = Reason("The kernel's log could be opened, and held no line of the kernel.", _HOW)
_KEPT_FROM = "This container ({name}) may not read the kernel's log: it belongs to its host."
_HOW_ON_HOST = "sudo dmesg, on the host."
_ELSEWHERE = {
    "win32": Reason(
        "Windows keeps no log of its kernel as Linux does; its drivers report to the event log.",
        "Event Viewer, Windows Logs, System: WHEA-Logger, nvlddmkm and disk.",
    ),
    "darwin": Reason(
        "macOS keeps what its kernel says in the log of all programs, which is not read here.",
        "log show --last boot --predicate 'process == \"kernel\"'",
    ),
}
_UNKNOWN_SYSTEM = Reason(
    "Coreopsis does not know where this system keeps its kernel's log.",
    "Look into the manual of this system.",
)


class LogEntry(Record):
    """Lines of one kind about one part, the newest `newest_s` seconds ago.

    `number` is that of an Xid. `where` is a PCI address, a disk or a memory controller. `serious`
    lines report failing hardware. `examples` are the newest lines, without names of people.
    """

    kind: Kind
    lines: int
    recent_lines: int  # within RECENT_S
    newest_s: float
    serious: bool = False
    number: int | None = None
    where: str | None = None
    examples: tuple[str, ...] = ()


class KernelLog(Record):
    """The entries found, the serious and the newest first; `missing` says why none could be read.

    `reaches_back_s` is the age of the oldest line. The log `is_whole` if it begins at the boot.
    """

    found: tuple[LogEntry, ...] = ()
    source: str = ""
    reaches_back_s: float | None = None
    is_whole: bool = False
    missing: tuple[Missing, ...] = ()


class _Line(NamedTuple):
    at_s: float  # since the boot
    text: str


class _Told(NamedTuple):
    kind: Kind
    number: int | None = None
    where: str | None = None


def read_kernel_log(root: Path | None = None) -> KernelLog:
    """Return the log's entries since the boot; takes up to 10 s where two commands hang."""
    if root is None and sys.platform != "linux":
        return _unread(_ELSEWHERE.get(sys.platform, _UNKNOWN_SYSTEM))
    with confined(root):
        now_s, best = _now_s(root), ("", list[_Line]())
        for source, lines in _ways(root):
            if lines and (not best[1] or lines[0].at_s < best[1][0].at_s):
                best = source, lines
            if best[1] and _is_whole(best[1]):
                break  # else the journal may reach further back than the buffer
        if not best[1]:
            return _unread(_why_not(root))
    source, lines = best
    return KernelLog(
        found=_found(lines, now_s),
        source=source,
        reaches_back_s=max(0.0, now_s - lines[0].at_s),
        is_whole=_is_whole(lines),
    )


def _why_not(root: Path | None) -> Reason:
    """Return why the log could not be read, and what to do.

    A mark of a container alone says nothing: some virtual machines start from an image of one.
    """
    if _may_open(root):
        return _EMPTY
    container = read_container(root or Path("/"), Notes(), is_live=root is None)
    if container not in (None, "none"):
        return Reason(_KEPT_FROM.format(name=container), _HOW_ON_HOST)
    return _ABSENT if _may_open(root) is None else _LOCKED


def _may_open(root: Path | None) -> bool | None:
    """May the buffer be opened? None where it is not there."""
    if root is not None:
        return True if read_bytes(root / _KMSG) is not None else None
    try:
        os.close(_opened(Path("/") / _KMSG))
    except FileNotFoundError:
        return None
    except OSError:
        return False
    return True


def _is_whole(lines: Sequence[_Line]) -> bool:
    return lines[0].at_s < _FIRST_LINE_S


def _unread(reason: Reason) -> KernelLog:
    return KernelLog(missing=(reason.of("kernel_log"),))


def _now_s(root: Path | None) -> float:
    if root is None:
        return time.monotonic()  # stands still in sleep, as the log's clock
    uptime = re.match(r"\d{1,12}(?:\.\d+)?", read_text(root / "proc/uptime") or "")
    return float(uptime[0]) if uptime else 0.0


def _ways(root: Path | None) -> Iterator[tuple[str, list[_Line]]]:
    if root is not None:
        text = (read_bytes(root / _KMSG) or b"").decode(errors="replace")
        yield f"/{_KMSG}", [*_records(text.splitlines())]
        return
    yield f"/{_KMSG}", [*_records(_kmsg(Path("/") / _KMSG))]
    for command in _COMMANDS:
        try:
            answer = ask(command, within_s=_WITHIN_S)
        except OSError:
            continue
        found = (_LINE.match(line) for line in answer.lines)
        yield " ".join(command[:2]), [_Line(float(line[1]), line[2]) for line in found if line]


def _opened(path: Path) -> int:
    """Open the kernel's buffer, which would wait for its next record. Raises OSError."""
    never_waits = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # Windows has neither
    return os.open(path, os.O_RDONLY | never_waits)


def _kmsg(path: Path) -> Iterator[str]:
    """Yield the records of the kernel's buffer; none if it may not be read."""
    try:
        file = _opened(path)
    except OSError:
        return
    end_s, left = time.monotonic() + _WITHIN_S, _MOST_BYTES
    try:
        while left > 0 and time.monotonic() < end_s:
            try:
                told = os.read(file, _RECORD_BYTES)
            except OSError as error:
                if error.errno == errno.EPIPE:  # overwritten meanwhile: the next is a newer one
                    continue
                return
            if not told:
                return
            left -= len(told)
            yield told.partition(b"\n")[0].decode(errors="replace")
    finally:
        os.close(file)


def _records(texts: Iterable[str]) -> Iterator[_Line]:
    for text in texts:
        if (match := _RECORD.match(text)) and int(match[1]) >> 3 == 0:  # of the kernel
            yield _Line(int(match[2]) / 1e6, match[3])


def _found(lines: Iterable[_Line], now_s: float) -> tuple[LogEntry, ...]:
    by_part: dict[_Told, list[_Line]] = {}
    for line in lines:
        if _ANY.search(line.text) and (told := _told(line.text)):
            by_part.setdefault(told, []).append(line)
    entries = [_entry(told, found, now_s) for told, found in by_part.items()]
    entries.sort(key=lambda entry: (not entry.serious, entry.newest_s))
    return tuple(entries[:_MOST_FOUND])


def _entry(told: _Told, found: list[_Line], now_s: float) -> LogEntry:
    ages_s = [max(0.0, now_s - line.at_s) for line in found]
    return LogEntry(
        kind=told.kind,
        number=told.number,
        where=told.where,
        lines=len(found),
        recent_lines=sum(age_s <= RECENT_S for age_s in ages_s),
        newest_s=min(ages_s),
        serious=_is_serious(told, found),
        examples=tuple(_example(line.text) for line in found[-_MOST_EXAMPLES:]),
    )


def _is_serious(told: _Told, found: list[_Line]) -> bool:
    if told.kind == "xid":
        return xids.is_serious(told.number, (line.text for line in found))
    if told.kind != "machine_check":
        return told.kind in SERIOUS
    banks = (bank for line in found for bank in _BANK.findall(line.text))
    return any(int(bank, 16) >> _UNCORRECTED_BIT & 1 for bank in banks) or any(
        _IS_GRAVE.search(line.text) for line in found
    )


def _told(text: str) -> _Told | None:
    """Return what a line reports, and of which part; None for a line of another kind."""
    if match := _XID.search(text):
        return _Told("xid", int(match[2][:4]), f"{match[1].lower()}.0")
    if match := _PCIE.search(text):
        if match[2].lower() == "c":
            return _Told("pcie_corrected", where=match[1])
        is_fatal = "(fatal" in match[3].lower()
        return _Told("pcie_fatal" if is_fatal else "pcie_nonfatal", where=match[1])
    if match := _MEMORY.search(text):
        kind: Kind = "memory_corrected" if match[2] == "CE" else "memory_uncorrected"
        return _Told(kind, where=match[1])
    if _MACHINE_CHECK.search(text):
        return _Told("machine_check")
    if _OUT_OF_MEMORY.search(text):
        return _Told("out_of_memory")
    if (match := _DISK.search(text)) and not _NO_DISK.match(name := match[1] or match[2]):
        return _Told("disk", where=plain(name))
    return None


def _example(text: str) -> str:
    for pattern, instead in _NAMING:
        text = pattern.sub(instead, text)
    return plain(text.strip(), _EXAMPLE_LETTERS)


def matching(pattern: re.Pattern[str], root: Path | None = None) -> list[re.Match[str]]:
    """Return where lines of the log match; none in a container, or without the right to read it."""
    if root is None and sys.platform != "linux":
        return []
    with confined(root):
        container = read_container(root or Path("/"), Notes(), is_live=root is None)
        if container not in (None, "none"):
            return []
        for _, lines in _ways(root):
            if found := [match for line in lines if (match := pattern.search(line.text))]:
                return found
    return []
