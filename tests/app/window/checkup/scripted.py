"""A checkup whose events a test writes, and results of made-up numbers."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from experiments.checkup.result import Expected, Measurement, Result, Row, Word
from experiments.checkup.rules import Source, rules
from experiments.checkup.run_checkup import (
    Began,
    Ended,
    Event,
    Found,
    Moved,
    Planned,
    Surrounded,
    Watched,
)
from machine.devices import ClockReason
from machine.live.gpu_samples import GpuSample
from machine.live.memory import MemorySample
from machine.live.sampler import Sample
from machine.live.surroundings import Surroundings
from machine.live.threads import ThreadSample
from machine.model import to_json
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
    row("devices", Word.FINE, "as_before",
        values={"cores": 32, "memory_bytes": 64 * 2**30, "gpus": 2, "disks": 1}),
    row("kernel-log", Word.FINE, "clean"),
    row("memory-errors", Word.UNCHECKED, "untold", "memory",
        values={"why": "Only administrators may read it.", "how": "Run it as root."}),
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
        "measurements": (Measurement(experiment="stream", version=1, outcome="completed"),),
        "trace": trace(),
    }
    return Result(**{**known, **more})


def watched(seconds: int = 60) -> Iterator[Watched]:
    """Yield the same as samples, as they come while everything works at once."""
    memory = MemorySample(
        total_bytes=2**34, available_bytes=2**33, used_bytes=2**33, swap_total_bytes=0,
        swap_used_bytes=0,
    )  # fmt: skip
    slowed = ClockReason(key="clock_reasons.software_thermal", severity="warning")
    for entry in trace(seconds):
        gpu = GpuSample(
            index=0,
            sm_hz=round(entry["gpu0_hz"]),
            temperature_celsius=entry["gpu0_celsius"],
            power_watts=entry["gpu0_watts"],
            clock_reasons=(slowed,) if entry["gpu0_held_back"] else (),
        )
        thread = ThreadSample(
            id=0, busy=entry["busy_fraction"], steal_fraction=None, hz=round(entry["core_hz"])
        )
        sample = Sample(t_s=entry["t_s"], threads=(thread,), memory=memory, gpus=(gpu,))
        yield Watched(sample, "sustained")


class Scripted:
    """Says half of a result, waits if it is `held`, then says the rest; `go_on` ends the wait."""

    def __init__(
        self,
        whole: Result,
        *,
        surroundings: Surroundings = QUIET,
        held: bool = False,
        between: Sequence[Event] = (),
    ) -> None:
        self.whole, self.surroundings, self.between = whole, surroundings, between
        self.is_stopped, self.may_end = threading.Event(), threading.Event()
        if not held:
            self.go_on()

    def go_on(self) -> None:
        """Let it come to its end."""
        self.may_end.set()

    def stop(self) -> None:
        """Ask to end."""
        self.is_stopped.set()
        self.may_end.set()

    def events(self) -> Iterator[Event]:
        """Yield what happens."""
        rows = self.whole.rows
        half = len(rows) // 2
        yield Began("looking")
        yield Planned(tuple(RULES.values()), (), 180.0)
        yield Surrounded(self.surroundings)
        yield from _found(rows[:half])
        yield Began("measuring", "stream", "")
        yield Moved(0.5, 90.0)
        yield from self.between
        self.may_end.wait()
        if self.is_stopped.is_set():
            yield Ended(replace(self.whole, rows=rows[:half], outcome="stopped"))
        else:
            yield from _found(rows[half:])
            yield Ended(self.whole)


def _found(rows: Sequence[Row]) -> Iterator[Event]:
    for rule in dict.fromkeys(each.rule for each in rows):
        yield Found(RULES[rule], tuple(each for each in rows if each.rule == rule))
