"""Files of samples: reads and writes a recorded watch.

`NAME.coreopsis-watch.jsonl`: the first line has format, time and machine; then one line per sample
and one per mark. The output of `coreopsis watch --json`, which lacks that first line, and
compressed files (`.gz`) can be read too. Nothing in a file identifies its owner.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from machine import inspect
from machine.convert import UNREADABLE, convert
from machine.live import sampler as live
from machine.model import BadMachine, Machine, from_json
from machine.record import Record
from machine.system.files import open_file

FORMAT, VERSION = "coreopsis.watch", 1
SUFFIX = ".coreopsis-watch.jsonl"
SUFFIXES = (SUFFIX, f"{SUFFIX}.gz", ".watch.jsonl", ".watch.jsonl.gz")
LIMIT_BYTES = 256 * 2**20  # unpacked: an hour of a large machine
LIMIT_LINES = 1_000_000  # half a day at the highest rate, 20 Hz


class BadWatch(ValueError):
    """The file is no recorded watch; the text says why in one sentence."""


class RecordedWatch(Record):
    """At least one sample, ordered by time. `at` is ISO-8601, "" if unknown.

    A made-up watch was never measured: it shows what another machine may look like.
    """

    samples: tuple[live.Sample, ...]
    marks_s: tuple[float, ...] = ()  # on the clock of the samples
    at: str = ""
    machine: Machine | None = None
    is_made_up: bool = False
    is_torn: bool = False  # its last line was incomplete and is left out

    @property
    def seconds(self) -> float:
        """The time from the first sample to the last."""
        return self.samples[-1].t_s - self.samples[0].t_s


class _Mark(Record, kw_only=False):
    t_s: float


def write(
    path: Path,
    samples: Iterable[Mapping[str, Any]],
    *,
    at: str,
    machine: Machine | None,
    marks_s: Iterable[float] = (),
    made_up: bool = False,
) -> None:
    """Write samples, as JSON objects, without what identifies people. Raises OSError."""
    encoder = msgspec.json.Encoder()
    first = {
        "type": "watch",
        "format": FORMAT,
        "version": VERSION,
        "at": at,
        "made_up": made_up,
        "machine": None if machine is None else inspect.portable(machine),
    }
    kept = (live.portable(convert(sample, live.Sample)) for sample in samples)
    lines = [encoder.encode(first)]
    lines += [encoder.encode({"type": "sample", **msgspec.to_builtins(each)}) for each in kept]
    lines += [encoder.encode({"type": "mark", "t_s": round(t_s, 6)}) for t_s in marks_s]
    text = b"\n".join(lines) + b"\n"
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)


def read(path: Path) -> RecordedWatch:
    """Read a file. Raises BadWatch, and OSError if it cannot be opened."""
    at, machine, is_made_up = "", None, False
    samples: list[live.Sample] = []
    marks: list[_Mark] = []
    text = _text(path)
    if text.count(b"\n") > LIMIT_LINES:
        raise BadWatch(f"The file has more than {LIMIT_LINES} lines.")
    lines = text.splitlines(keepends=True)
    is_torn = len(lines) > 1 and not lines[-1].endswith(b"\n")
    for number, line in enumerate(lines[:-1] if is_torn else lines, start=1):
        try:
            plain = msgspec.json.decode(line)
            if isinstance(plain, dict) and (plain.get("type") == "watch" or "format" in plain):
                at, machine = _head(plain)
                is_made_up = plain.get("made_up") is True
            elif isinstance(plain, dict) and plain.get("type") == "mark":
                marks.append(convert(plain, _Mark))
            else:
                samples.append(convert(plain, live.Sample))
        except BadMachine as error:
            raise BadWatch(str(error)) from None
        except UNREADABLE as error:
            raise BadWatch(f"Line {number} is no sample of a watch: {error}.") from None
        if len(samples) > 1 and samples[-1].t_s <= samples[-2].t_s:
            raise BadWatch(f"Line {number} is not later than the one before it.")
    if not samples:
        raise BadWatch("There is no sample in this file.")
    return RecordedWatch(
        samples=tuple(samples),
        marks_s=tuple(sorted(mark.t_s for mark in marks)),
        at=at,
        machine=machine,
        is_made_up=is_made_up,
        is_torn=is_torn,
    )


def beside(machine_file: Path) -> Path | None:
    """Return the watch file that lies beside a machine file, None if there is none."""
    name = machine_file.with_suffix("")
    files = (name.with_name(name.name + suffix) for suffix in reversed(SUFFIXES))
    return next((file for file in files if os.path.isfile(file)), None)


def _text(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            source = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            text = source.read(LIMIT_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise BadWatch("The file is not packed as its name says, or it is torn.") from None
    if len(text) > LIMIT_BYTES:
        raise BadWatch(f"The file is larger than {LIMIT_BYTES // 2**20} MiB.")
    return text


def _head(plain: dict[str, Any]) -> tuple[str, Machine | None]:
    if plain.get("format") != FORMAT:
        raise BadWatch("This file is no recording of Live; a run is opened in Runs.")
    if plain.get("version") != VERSION:
        raise BadWatch("This file is no watch of a version that this program reads: update it.")
    at, machine = plain.get("at"), plain.get("machine")
    return at if isinstance(at, str) else "", None if machine is None else from_json(machine)
