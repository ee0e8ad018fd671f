"""Makes records fit to be shown and sent: text of strangers is plain, numbers are ordinary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from msgspec.structs import replace

from machine.devices import Peak, Peaks
from machine.record import Record, names
from machine.system.linux import HIGHEST_NUMBER
from machine.text import LINE_LETTERS, plain

T = TypeVar("T")

PEAK_UNITS = ("bytes_per_s", "flop_per_s", "op_per_s")

_SENTENCE_LETTERS = 2000
_SENTENCES = frozenset({"why", "how", "sources"})


def tidy(value: T) -> T:
    """Return a record, or what it holds, with plain text; a number that is none is None."""
    fit: T = _tidy(value, LINE_LETTERS)
    return fit


def _tidy(value: Any, letters: int) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if -HIGHEST_NUMBER <= value < HIGHEST_NUMBER else None
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is tuple or kind is list:
        return kind(each for each in (_tidy(each, letters) for each in value) if each is not None)
    if kind is dict:
        return {plain(name): _tidy(each, letters) for name, each in value.items()}
    if isinstance(value, Record):
        return _tidy_record(value)
    return plain(value, letters) if isinstance(value, str) else value


def sound_peaks(peaks: Peaks) -> Peaks:
    """Return the peaks of a file without entries that lack a value or are none."""
    found: Peaks = {}
    if _is_peak(peaks.get("memory", {})):
        found["memory"] = peaks["memory"]
    if pcie := _kept(peaks.get("pcie", {}), ".*"):
        found["pcie"] = pcie
    if nvlink := _kept(peaks.get("nvlink", {}), "[0-9]{1,5}-[0-9]{1,5}"):
        found["nvlink"] = nvlink
    for index, entries in peaks.get("gpus", {}).items():
        if re.fullmatch("[0-9]{1,5}", index) and (kept := _kept(entries, ".*")):
            found.setdefault("gpus", {})[index] = kept
    return found


def _kept(entries: dict[str, Peak], pattern: str) -> dict[str, Peak]:
    return {
        name: each
        for name, each in entries.items()
        if re.fullmatch(pattern, name) and _is_peak(each)
    }


def _is_peak(entry: Peak) -> bool:
    """Is it a value in one of the units?"""
    return len([unit for unit in PEAK_UNITS if unit in entry]) == 1


def _tidy_record(value: Any) -> Any:
    changed = dict(_changes(value))
    return replace(value, **changed) if changed else value


def _changes(value: Any) -> Iterator[tuple[str, Any]]:
    for name in names(type(value)):
        before = getattr(value, name)
        after = _tidy(before, _SENTENCE_LETTERS if name in _SENTENCES else LINE_LETTERS)
        if after is not before and after != before:
            yield name, after
