"""Two checkups side by side: what changed, and what of versions and settings changed with it.

A row is compared if both checkups have it, under the same version of its rule. Their samples are
compared if units and settings agree and nothing disturbed them. `refusal` says why a pair is not
compared. Ratios have the interval of core/judging/comparing.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from experiments.checkup.judge import BY_SEVERITY
from experiments.checkup.result import Result, Row, Word
from experiments.checkup.rules import rules
from experiments.core.judging.comparing import ENOUGH, Outcome, Ratio, unpaired
from experiments.core.units import show

NEARLY_BYTES = 2  # sizes depend on free memory: within this factor they count as the same
MOST_BYTES = 2**60  # of memory; a stranger's file may tell any number
Refusal = Literal["rule_version", "settings", "unit", "disturbed", "only_before", "only_now"]


@dataclass(frozen=True, slots=True)
class RowPair:
    """One row of both checkups; `ratio` is now over before, None for what is no number."""

    before: Row | None
    now: Row | None
    ratio: Ratio | None = None
    refusal: Refusal | None = None

    @property
    def row(self) -> Row:
        """The row of today, or that of before where there is none."""
        row = self.now or self.before
        assert row is not None
        return row

    @property
    def is_changed(self) -> bool:
        """Is anything clearly different: the word, what was found, or the number?

        If neither word judges the part, only other values under the same reason are a change.
        """
        both = [row for row in (self.before, self.now) if row is not None]
        if self.ratio is None and not any(row.word in BY_SEVERITY for row in both):
            reasons = {row.reason for row in both}
            return len(both) > len(reasons) and both[0].values != both[1].values
        if self.before is None or self.now is None:
            return True
        if self.refusal is not None:
            return False
        if self.ratio is not None:
            return self.ratio.outcome is Outcome.DIFFERS or self.before.word is not self.now.word
        same = self.before.word is self.now.word and self.before.reason == self.now.reason
        is_told = not self.now.samples and self.now.word is not Word.FINE  # that counts anew
        return not same or (is_told and self.before.values != self.now.values)


@dataclass(frozen=True, slots=True)
class Change:
    """A fact that differs; `key` is that of its name, `checkup.facts.KEY`."""

    key: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Compared:
    """All pairs, in today's order, and the facts that differ."""

    before: Result
    now: Result
    pairs: tuple[RowPair, ...]
    changes: tuple[Change, ...]

    @property
    def changed(self) -> tuple[RowPair, ...]:
        """The pairs in which something is clearly different."""
        return tuple(pair for pair in self.pairs if pair.is_changed)

    @property
    def refused(self) -> tuple[RowPair, ...]:
        """The pairs that cannot be compared, though both have them."""
        return tuple(pair for pair in self.pairs if pair.refusal and pair.before and pair.now)


def compare(before: Result, now: Result) -> Compared:
    """Compare two checkups, of one machine or of two."""
    earlier = {(row.rule, row.part): row for row in before.rows}
    later = {(row.rule, row.part): row for row in now.rows}
    pairs = [
        _pair(earlier.get(key), later.get(key), before, now)
        for key in dict.fromkeys((*later, *earlier))
    ]
    return Compared(before, now, tuple(pairs), tuple(_changes(before, now)))


def _pair(one: Row | None, other: Row | None, before: Result, now: Result) -> RowPair:
    if one is None or other is None:
        return RowPair(one, other, refusal="only_now" if one is None else "only_before")
    if one.version != other.version:
        return RowPair(one, other, refusal="rule_version")
    if not one.samples or not other.samples:
        return RowPair(one, other)
    if one.unit != other.unit:
        return RowPair(one, other, refusal="unit")
    if one.disturbance or other.disturbance:
        return RowPair(one, other, refusal="disturbed")
    if _differ(one.rule, before, now):
        return RowPair(one, other, refusal="settings")
    if min(len(one.samples), len(other.samples)) < ENOUGH:
        return RowPair(one, other)
    return RowPair(one, other, unpaired(other.samples, one.samples))


def _differ(rule: str, before: Result, now: Result) -> bool:
    """Do versions or settings differ between the measurements of a rule?"""
    measure = next((each.measure for each in rules().rule if each.id == rule), "")
    runs = [
        {m.device: m for m in of.measurements if m.experiment == measure} for of in (before, now)
    ]
    both = [(runs[0][device], runs[1][device]) for device in runs[0].keys() & runs[1].keys()]
    return any(
        one.version != other.version
        or any(
            not _alike(name, one.params.get(name), other.params.get(name))
            for name in one.params.keys() | other.params.keys()
        )
        for one, other in both
    )


def _alike(name: str, one: Any, other: Any) -> bool:
    are_numbers = all(isinstance(each, int | float) and each > 0 for each in (one, other))
    if name.endswith("_bytes") and are_numbers:
        return bool(max(one, other) <= NEARLY_BYTES * min(one, other))
    return bool(one == other)


def _changes(before: Result, now: Result) -> Iterator[Change]:
    """Yield the versions and settings that differ, in a fixed order."""
    facts = [known(of) for of in (before, now)]
    for key in dict.fromkeys((*facts[0], *facts[1])):
        one, other = (of.get(key, "") for of in facts)
        if one != other:
            yield Change(key, one, other)


def known(result: Result) -> dict[str, str]:
    """Return what numbers depend on: processor, memory, firmware, kernel, drivers, libraries."""
    machine, environment = result.machine, result.environment
    libraries = _mapping(environment.get("libraries"))
    gpus, memory = machine.get("gpus"), memory_bytes(result)
    gpus = [gpu for gpu in gpus if isinstance(gpu, Mapping)] if isinstance(gpus, list) else []
    found = {
        "processor": _at(machine, "cpu", "model"),
        "memory": None if memory is None else show(memory, "bytes"),
        "gpus": ", ".join(str(gpu.get("name") or "") for gpu in gpus),
        "firmware": _at(machine, "system", "firmware"),
        "microcode": _at(machine, "cpu", "microcode"),
        "kernel": _at(machine, "os", "release"),
        "driver": ", ".join(dict.fromkeys(str(gpu.get("driver_version") or "") for gpu in gpus)),
        "torch": libraries.get("torch"),
        "numpy": libraries.get("numpy"),
        "numba": libraries.get("numba"),
        "python": environment.get("python"),
        "program": environment.get("program"),
        "governor": environment.get("governor"),
        "huge_pages": environment.get("huge_pages"),
    }
    return {key: str(value) for key, value in found.items() if value not in (None, "")}


def memory_bytes(result: Result) -> int | None:
    """Return the memory of the machine that was checked, None where that is no sensible size."""
    size = _at(result.machine, "memory", "total_bytes")
    is_sensible = isinstance(size, int) and 0 < size < MOST_BYTES
    return size if is_sensible else None


def _at(tree: Mapping[str, Any], first: str, second: str) -> Any:
    return _mapping(tree.get(first)).get(second)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
