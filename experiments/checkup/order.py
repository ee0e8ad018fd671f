"""The order: the lines of an invoice, kept as TOML in the data folder.

The older form of the file, with counts in place of lines, is read as lines that say the same.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from experiments.checkup.result import Row, Word
from experiments.core.problems import UserError
from machine.convert import convert
from machine.record import Record, names
from machine.system.files import read_file
from machine.text import LINE_LETTERS, plain

FILE, STANDARD_INPUT = "order.toml", "-"
LIMIT_BYTES = 2**16
MOST_LINES = 100
GIB = 2**30
Reason = Literal[
    "here", "in_sum", "less", "nearly", "slower", "split", "renamed", "other", "missing",
    "untold", "hidden",
]  # fmt: skip
Kind = Literal["here", "less", "other", "missing", "untold"]
# What each reason says of a line, and how much that matters.
SAYS: Mapping[Reason, tuple[Kind, Word]] = {
    "here": ("here", Word.FINE),
    "in_sum": ("here", Word.FINE),  # of memory whose modules cannot be read
    "less": ("less", Word.PROBLEM),
    "nearly": ("less", Word.LOOK),
    "slower": ("less", Word.LOOK),  # memory that is set slower than it was bought
    "split": ("other", Word.LOOK),  # as much memory in other modules
    "renamed": ("other", Word.LOOK),  # a disk of that size with another name
    "other": ("other", Word.PROBLEM),
    "missing": ("missing", Word.PROBLEM),
    "untold": ("untold", Word.UNCHECKED),
    "hidden": ("untold", Word.UNCHECKED),  # by the host of a virtual machine
}
BY_WEIGHT: Sequence[Reason] = (
    "untold", "hidden", "here", "in_sum", "split", "renamed", "nearly", "slower", "less", "other",
    "missing",
)  # fmt: skip
RULE = "devices"  # the rule that an order is held against by
REST = "order"  # the part of its row about all lines that nobody can tell
_SAYS_SOMETHING = re.compile(r"[^\W_]")
# An invoice may name the very piece that was sold, and where to write to: neither is a part.
_PRIVATE = re.compile(
    r"\b(?:s/n|sn(?=\s*[:#])|serial(?:\s*(?:number|no|nr))?|serien-?(?:nummer|nr))\b[.:#\s]*"
    r"(?=[\w-]*\d)[\w-]{5,}|\S+@\S+\.\w+",
    re.IGNORECASE,
)


class Order(Record):
    """The lines of an order."""

    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The lines as a person would type them."""
        return "\n".join(self.lines)


class _Counts(Record):
    """The content of an order's file before it had lines."""

    cores: int | None = None
    memory_bytes: int | None = None
    gpus: int | None = None
    disks: int | None = None


def order_of(text: str) -> Order:
    """Return the order in a text of lines; blank ones and remarks (#) are none.

    Serial numbers and addresses of mail are left out. Raises UserError for too much.
    """
    lines = [" ".join(_PRIVATE.sub("", line).split()) for line in text.splitlines()]
    said = [line for line in lines if _SAYS_SOMETHING.search(line) and not line.startswith("#")]
    if len(said) > MOST_LINES:
        raise UserError("order_too_long", count=len(said), most=MOST_LINES)
    if (longest := max(map(len, said), default=0)) > LINE_LETTERS:
        raise UserError("order_line_too_long", count=longest, most=LINE_LETTERS)
    return Order(lines=tuple(map(plain, said)))


def _decoded(data: bytes) -> Order:
    """Return the order in a file's bytes: lines of text, or TOML as it is kept.

    A text that is no TOML of an order is lines. Raises UserError, UnicodeDecodeError and
    msgspec.ValidationError.
    """
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        told = {}
    is_kept = told.keys() & {*names(Order), *names(_Counts)}
    return _of_toml(told) if is_kept else order_of(text)


def read_order_file(path: Path) -> Order:
    """Return the order in a file that the user named; "-" is standard input. Raises UserError."""
    try:
        is_piped = str(path) == STANDARD_INPUT
        data = sys.stdin.buffer.read(LIMIT_BYTES) if is_piped else read_file(path, LIMIT_BYTES)
        order = _decoded(data)
    except OSError as error:
        raise UserError("order_file_unreadable", reason=error.strerror or str(error)) from None
    except (msgspec.ValidationError, UnicodeDecodeError) as error:
        raise UserError("order_file_unreadable", reason=str(error)) from None
    if not order.lines:
        raise UserError("order_file_unreadable", reason="no line in it names a part")
    return order


def read_order(folder: Path) -> Order | None:
    """Return the order in a data folder, None if there is none. Raises UserError."""
    try:
        order = _of_toml(tomllib.loads(read_file(folder / FILE, LIMIT_BYTES).decode()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError("order_unreadable", reason=error.strerror or str(error)) from None
    except (msgspec.ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError("order_unreadable", reason=str(error)) from None
    return order if order.lines else None


def write_order(folder: Path, order: Order) -> None:
    """Keep an order in a data folder. Raises OSError."""
    lines = "".join(f"  {json.dumps(line, ensure_ascii=False)},\n" for line in order.lines)
    folder.mkdir(parents=True, exist_ok=True)
    about = "# What was bought, as on the invoice; the checkup holds the machine against it.\n"
    (folder / FILE).write_text(f"{about}lines = [\n{lines}]\n", encoding="utf-8")


def is_of_order(row: Row) -> bool:
    """Is a row of a checkup about lines of an order?"""
    return row.rule == RULE and row.reason in SAYS


def _of_toml(told: dict[str, Any]) -> Order:
    """Return the order in TOML. Raises UserError and msgspec.ValidationError."""
    counts = convert(told, _Counts)
    said = list(convert(told, Order).lines)
    if counts.memory_bytes:
        said.append(f"{counts.memory_bytes / GIB:g} GiB of memory")
    others = {"cores": counts.cores, "gpus": counts.gpus, "disks": counts.disks}
    said += [f"{count} {name}" for name, count in others.items() if count]
    return order_of("\n".join(said))
