"""Times of the window: first paint, click to progress, turns of the event loop."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from experiments.core.units import show
from tests.story.screen import Screen
from tests.tools.bench.lines import Line

STARTS = 9
PAINT_BUDGET = 1.5  # times a bare window of PySide6
CLICK_BUDGET_S = 0.3
TURN_BUDGET_S, WORST_BUDGET_S = 0.033, 0.1
BUSY = "gil-threads"  # keeps every core busy


def lines() -> Iterator[Line]:
    screen = Screen()
    try:
        yield _first_paint(screen)
        yield from _run(screen)
    finally:
        screen.close()


def _first_paint(screen: Screen) -> Line:
    """Start both in turn, on an invisible screen, with a data folder that was used before."""
    times: dict[str, list[float]] = {"bare": [], "ours": []}
    with tempfile.TemporaryDirectory() as data:
        for turn in range(STARTS + 1):
            for kind, found in times.items():
                start_s = time.monotonic()
                painted_s = _said(screen, data, kind)
                if turn:  # the first fills the caches of the disk
                    found.append(painted_s - start_s)
        imports_s = statistics.median(_said(screen, data, "imports") for _ in range(STARTS))
    bare_s, ours_s = (statistics.median(found) for found in times.values())
    return Line(
        "first paint / bare PySide6 window",
        f"{show(ours_s, 's')} / {show(bare_s, 's')} = {ours_s / bare_s:.2f}",
        f"{PAINT_BUDGET}",
        ours_s <= PAINT_BUDGET * bare_s,
        f"{show(imports_s, 's')} of the {show(ours_s - bare_s, 's')} beyond the bare window are "
        "imports of our own modules",
    )


def _said(screen: Screen, data: str, kind: str) -> float:
    said = subprocess.run(
        [sys.executable, "-m", "tests.tools.bench.first_paint", kind],
        env=_on(screen, XDG_DATA_HOME=data),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(said.stdout)


def _run(screen: Screen) -> Iterator[Line]:
    """Start a run that keeps every core busy, by a click; watch the event loop until it ends."""
    with tempfile.TemporaryDirectory() as data:
        said = subprocess.run(
            [sys.executable, "-m", "tests.tools.bench.running_window", data, BUSY],
            env=_on(screen),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    seen = json.loads(said.stdout)
    assert seen["outcome"] == "completed", seen["outcome"]
    gaps_s = sorted(seen["gaps_s"])
    late_s, worst_s = gaps_s[int(len(gaps_s) * 0.99)], gaps_s[-1]
    yield Line(
        f"click to first progress of {BUSY} in the window, warm",
        show(seen["first_s"], "s"),
        show(CLICK_BUDGET_S, "s"),
        seen["first_s"] <= CLICK_BUDGET_S,
    )
    yield Line(
        f"event-loop turns while {BUSY} keeps every core busy: 99th percentile",
        f"{show(late_s, 's')} of {len(gaps_s)}",
        show(TURN_BUDGET_S, "s"),
        late_s <= TURN_BUDGET_S,
    )
    yield Line(
        "the same, worst",
        show(worst_s, "s"),
        show(WORST_BUDGET_S, "s"),
        worst_s <= WORST_BUDGET_S,
        "" if worst_s <= WORST_BUDGET_S else _why_late(),
    )


def _why_late() -> str:
    """Let an event loop with nothing else to do turn beside the same run."""
    said = subprocess.run(
        [sys.executable, "-m", "tests.tools.bench.heart", "run", BUSY, "--no-keep"],
        capture_output=True,
        text=True,
        check=True,
    )
    bare_s = float(said.stdout)
    return f"an event loop without a window, beside the same run: {show(bare_s, 's')}"


def _on(screen: Screen, **more: str) -> dict[str, str]:
    return {**os.environ, "DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb", **more}
