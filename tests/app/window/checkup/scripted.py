"""A checkup whose events a test writes, and results of numbers that nobody measured."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from experiments.checkup.carry_out import Began, Ended, Event, Found, Moved, Planned, Surrounded
from experiments.checkup.result import Expected, Result, Row, Word
from experiments.checkup.rules import Source, rules
from machine.model import to_json
from machine.system.surroundings import Surroundings
from tests.experiments.machines import machine

RULES = {rule.id: rule for rule in rules().rule}
MACHINE = replace(machine(), fingerprint="f00d")
QUIET = Surroundings(busy_fraction=0.01)


def row(rule: str, word: Word, reason: str, part: str = "", **more: Any) -> Row:
    """Return a row of a rule that there is."""
    known = RULES[rule]
    return Row(
        rule=rule, version=known.version, stage=known.stage, word=word, reason=reason, part=part,
        **more,
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    row("devices", Word.FINE, "as_ordered",
        values={"cores": 32, "memory_bytes": 64 * 2**30, "gpus": 2, "disks": 1}),
    row("kernel-log", Word.FINE, "clean"),
    row("torch-works", Word.FINE, "works"),
    row("gpu-link", Word.LOOK, "fewer_lanes", "gpu1",
        values={"generation": 5, "width": 8, "best_generation": 5, "best_width": 16},
        samples=(28.8e9, 28.9e9, 28.9e9), unit="bytes/s", runs=1),
    row("memory-speed", Word.LOOK, "slowed", values={"set_mega": 4800, "rated_mega": 6000}),
    row("nvlinks", Word.ABSENT, "none"),
    row("memory-bandwidth", Word.FINE, "measured", values={"best_bytes_per_s": 61.2e9},
        samples=(61.0e9, 61.2e9, 61.3e9), unit="bytes/s", runs=1,
        expected=(Expected(source=Source.CEILING, value=76.8e9, ok=0.7, floor=0.5,
                           low=0.79, high=0.8),)),
    row("gpu-products", Word.FINE, "measured", "gpu0.bf16",
        values={"median_flop_per_s": 209e12, "precision": "bf16"},
        samples=(208e12, 209e12, 210e12), unit="flop/s", runs=1,
        expected=(Expected(source=Source.REFERENCE, value=214e12, ok=0.9, floor=0.75,
                           low=0.97, high=0.98),)),
    row("gpu-pairs", Word.ABSENT, "one_gpu"),
    row("identical", Word.PROBLEM, "differ", "gpu0", values={"products": 4096, "differing": 3}),
    row("sustained", Word.FINE, "measured", "cpu",
        values={"last_fraction": 0.986, "window_duration": 10.0}),
    row("throttling", Word.FINE, "power_cap", "gpu0"),
    row("memory-errors", Word.UNCHECKED, "untold", "memory",
        values={"why": "Only administrators may read it.", "how": "Run it as root."}),
)  # fmt: skip


def trace(seconds: int = 60) -> tuple[dict[str, Any], ...]:
    """Return what was watched: a GPU gets hot, and is slowed at the end."""
    return tuple(
        {
            "t_s": t_s,
            "busy_fraction": 0.98,
            "core_hz": 4.2e9 - 3e8 * math.tanh(t_s / 20) + 2e7 * math.sin(t_s),
            "gpu0_hz": 1.98e9 - (4e8 if t_s > 45 else 0.0),
            "gpu0_celsius": 45 + 40 * math.tanh(t_s / 15),
            "gpu0_watts": 420 + 5 * math.sin(t_s / 2),
            "gpu0_held_back": "clock_reasons.software_thermal" if t_s > 45 else "",
        }
        for t_s in range(seconds)
    )


def result(rows: Sequence[Row] = ROWS, **more: Any) -> Result:
    """Return a whole checkup of the machine that is not this one."""
    known: dict[str, Any] = {
        "id": "c0ffee00-0000-4000-8000-000000000001",
        "kind": "check",
        "at": "2026-03-12T08:41:00+00:00",
        "seconds": 172.0,
        "rules_version": 1,
        "machine": to_json(MACHINE),
        "rows": tuple(rows),
        "trace": trace(),
    }
    return Result(**{**known, **more})


class Scripted:
    """Says what a test tells it to say; `gone_on` lets it come to its end."""

    def __init__(
        self,
        whole: Result,
        *,
        surroundings: Surroundings = QUIET,
        held: bool = False,
        **options: Any,
    ) -> None:
        self.whole, self.options, self._surroundings = whole, options, surroundings
        self.is_stopped = threading.Event()
        self.may_end = threading.Event()
        if not held:
            self.may_end.set()

    def stop(self) -> None:
        self.is_stopped.set()
        self.may_end.set()

    def events(self) -> Iterator[Event]:
        """Yield half of the rows, wait, then the others unless it was stopped."""
        used = tuple(RULES.values())
        yield Began("looking")
        yield Planned(used, (), 180.0)
        yield Surrounded(self._surroundings)
        half = len(self.whole.rows) // 2
        yield from self._found(self.whole.rows[:half])
        yield Began("measuring", "stream", "")
        yield Moved(0.5, 90.0)
        self.may_end.wait()
        rows, outcome = self.whole.rows, "completed"
        if self.is_stopped.is_set():
            rows, outcome = rows[:half], "stopped"
        else:
            yield from self._found(rows[half:])
        made = {name: getattr(self.whole, name) for name in self.whole.__slots__}
        yield Ended(Result(**{**made, "rows": rows, "outcome": outcome}))

    def _found(self, rows: Sequence[Row]) -> Iterator[Event]:
        for rule in dict.fromkeys(each.rule for each in rows):
            yield Found(RULES[rule], tuple(each for each in rows if each.rule == rule))
