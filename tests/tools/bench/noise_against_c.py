"""The gaps of the experiment noise in turns with the same loop in C, on all cores."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from experiments.core.bench import Bench
from experiments.inside_a_core.noise.experiment import LEAST_S, watch_together
from experiments.tools.side_by_side import CAN_PIN
from machine.inspect import inspect
from machine.model import usable_threads
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("noise.c")
TURNS, SLICE_S = 60, 0.25
BUDGET = (0.9, 1.1)
FIGURES = {
    "lost share": "fraction",
    "gaps in a second": "per_s",
    "longest gap": "s",
    "a reading": "s",
}


def lines() -> Iterator[Line]:
    """Take turns of a slice; each figure is compared over the same slices."""
    compiler, machine = shutil.which("cc") or shutil.which("gcc"), inspect()
    if compiler is None or not CAN_PIN:
        yield Line("gaps against C", "no C compiler, or threads cannot be pinned here")
        return
    threads = [thread.id for thread in usable_threads(machine)]
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "noise")
        command = [compiler, "-O2", "-pthread", "-o", program, str(SOURCE)]
        subprocess.run(command, check=True)
        asked = [program, str(SLICE_S), str(round(LEAST_S * 1e9)), *map(str, threads)]
        bench, turns = Bench(machine), []
        watch_together(threads, SLICE_S, 0, bench)  # loads what is compiled
        for turn in range(TURNS):
            ways = [partial(_ours, threads, bench), *[partial(_theirs, asked)] * 2]
            places = [(turn + n) % len(ways) for n in range(len(ways))]  # each goes first in turn
            found = {place: ways[place]() for place in places}
            turns.append([found[place] for place in range(len(ways))])
    for figure, (name, unit) in enumerate(FIGURES.items()):
        columns = [[each[figure] for each in turn] for turn in turns]
        some = [each for each in columns if all(each)]  # a slice may have had no gap
        if len(some) < TURNS / 2:
            yield Line(f"{name}, ours against C", "most slices had no gap")
            continue
        ours, theirs, again = ([each[place] for each in some] for place in range(3))
        yield in_turns(
            f"{name}, ours against C",
            ours.__getitem__,
            theirs.__getitem__,
            again.__getitem__,
            turns=len(some),
            budget=BUDGET,
            unit=unit,
        )


def _ours(threads: list[int], bench: Bench) -> list[float]:
    """Return the figures of a slice, as the C program prints them."""
    rows = [row for _, row, _ in watch_together(threads, SLICE_S, 0, bench)]
    watched_s, lost_s = sum(row.watched_s for row in rows), sum(row.lost_s for row in rows)
    readings = sum((row.watched_s - row.lost_s) / row.reading_s for row in rows)
    gaps, longest_s = sum(row.gaps for row in rows), max(row.longest_gap_s for row in rows)
    return [lost_s / watched_s, gaps / watched_s, longest_s, (watched_s - lost_s) / readings]


def _theirs(command: list[str]) -> list[float]:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]
