"""Runs in which python-objects shows something else than usual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.python_at_work.python_objects.experiment import (
    ARRAY,
    INTEGERS,
    LIST,
    LOOP,
    NUMPY,
    SET,
    SHUFFLED,
    SHUFFLED_ARRAY,
    TUPLE,
    Held,
    Params,
    Sought,
    Summed,
    analyse,
)
from tests.experiments.machines import machine

LENGTHS = (2**10, 2**16, 2**20, 2**22)
NS = {LIST: 3.0, LOOP: 10.0, TUPLE: 3.0, ARRAY: 6.0, SHUFFLED_ARRAY: 6.0, NUMPY: 0.3}
SHUFFLED_NS = {2**10: 3.0, 2**16: 3.3, 2**20: 15.0, 2**22: 24.0}
BYTES = {LIST: 32.0, TUPLE: 32.0, ARRAY: 8.0, NUMPY: 8.0, SET: 60.0}
NOISE = (1.0, 1.01, 0.99, 1.005, 0.995)


def tables(
    shuffled_ns: Mapping[int, float] = SHUFFLED_NS,
    *,
    lengths: tuple[int, ...] = LENGTHS,
    held: Mapping[str, float] = BYTES,
    longest_sought: int = 2**16,
    noise: Mapping[str, tuple[float, ...]] | None = None,
    ns: Mapping[str, float] | None = None,
) -> dict[str, list[Any]]:
    """Return rows in which each way takes its ns, however many numbers there are."""
    sums = [
        Summed(numbers=n, way=way, repeat=turn, element_s=each_ns * 1e-9 * factor)
        for n in lengths
        for way, each_ns in {**NS, SHUFFLED: shuffled_ns[n], **(ns or {})}.items()
        for turn, factor in enumerate((noise or {}).get(way, NOISE))
    ]
    sought = [n for n in (16, 256, 1024, 4096, 2**16) if n <= longest_sought]
    lookups = [
        Sought(numbers=n, way=way, repeat=turn, lookup_s=each_s * factor)
        for n in sought
        for way, each_s in ((LIST, 5e-9 * n), (SET, 4e-8))
        for turn, factor in enumerate(NOISE)
    ]
    rows = [Held(way=way, element_bytes=each) for way, each in held.items()]
    return {"sums": sums, "lookups": lookups, "bytes": rows}


def made(of: dict[str, list[Any]], params: Params | None = None) -> LessonRun:
    settings = params or Params()
    finding = sent(analyse(settings, of, machine()))
    return lesson_run(settings, of, machine(), finding)


FLAT = dict.fromkeys(LENGTHS, 3.0)
SHARED = {**BYTES, LIST: 8.0, TUPLE: 8.0}
SMALL = Params(kind=INTEGERS, below=256)
RUNS = {
    "usual": made(tables()),
    "order_is_free": made(tables(lengths=(2**10,))),
    "shared_objects": made(tables(FLAT, held=SHARED), SMALL),
    "numpy_no_faster": made(tables(lengths=(2**10,), ns={NUMPY: 4.0})),
    "order_of_values_counts": made(tables(ns={SHUFFLED_ARRAY: 9.0})),
    "array_as_fast": made(tables(ns={ARRAY: 2.5, SHUFFLED_ARRAY: 2.5, LOOP: 3.0})),
    "shortest_for_a_set": made(tables(longest_sought=1024), replace(Params(), rounds=20)),
}
