"""Runs in which noise shows something else than usual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.inside_a_core.noise.experiment import (
    Gap,
    Length,
    Params,
    Watched,
    analyse,
    shares,
)
from tests.experiments.machines import machine

SLICE_S = 0.25


def tables(
    gaps_s: Sequence[Sequence[float]] = ((8e-3,) * 10,) * 2,
    *,
    queued: float = 1.0,
    stolen: float = 0.0,
    slices: int = 4,
) -> dict[str, list[Any]]:
    """Return slices with these gaps on each core; so much of them is queued, or stolen."""
    rows: dict[str, list[Any]] = {"lengths": [], "shares": [], "gaps": [], "slices": []}
    for turn in range(slices):
        for thread, of in enumerate(gaps_s):
            lost_s = sum(of)
            row = Watched(
                thread=thread,
                repeat=turn,
                watched_s=SLICE_S,
                lost_s=lost_s,
                longest_gap_s=max(of, default=0.0),
                gaps=len(of),
                queued_s=lost_s * queued,
                stolen_s=lost_s * stolen,
                switches=len(of),
                interrupts=100,
                reading_s=2e-8,
            )
            rows["slices"].append(row)
            rows["shares"] += shares(row)
            start_s = turn * SLICE_S
            for gap_s in of:
                gap = Gap(thread=thread, repeat=turn, start_s=start_s, end_s=start_s + gap_s)
                rows["gaps"].append(gap)
                start_s = gap.end_s + 1e-4
        together = sorted(gap for of in gaps_s for gap in of)
        for gap_s in dict.fromkeys(together):
            count = together.count(gap_s) * (turn + 1)
            rows["lengths"].append(Length(repeat=turn, gap_s=gap_s, gaps=count))
    return rows


def made(of: dict[str, list[Any]], virtualization: str | None = None) -> LessonRun:
    here = machine(cores=2, virtualization=virtualization)
    return lesson_run(Params(), of, here, sent(analyse(Params(), of, here)))


SHORT = (2e-5,) * 20
RUNS = {
    "usual": made(tables()),
    "hardly_any": made(tables((SHORT, SHORT), queued=0.1)),
    "the_host": made(tables(queued=0.0, stolen=0.9), "kvm"),
    "not_explained": made(tables(queued=0.1), "kvm"),
    "one_core_alone": made(tables(((1e-2,) * 12, SHORT))),
    "long_and_undisturbed": made(tables((SHORT, SHORT), slices=41)),
    "no_gap": made(tables(((), ()))),
}
