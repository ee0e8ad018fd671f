"""Times of the map of the largest machine: laid out, with another load, zoomed, moved.

Offscreen, without a graphics card's help. The machine comes with the program. It has 512 threads,
eight GPUs on an NVSwitch behind PCIe switches, ten networks and eight disks.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from experiments.core import words
from experiments.core.units import show
from machine.model import Machine, from_json
from tests import ROOT
from tests.tools.bench.lines import Line
from tests.widgets.map.samples import sample

LARGEST = ROOT / "resources" / "machines" / "dual-socket-8-gpu.json"
FRAME_S = 1 / 30
TURNS = 30
SIZE = 1440, 900


def lines() -> Iterator[Line]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance() or QApplication([])
    machine = from_json(json.loads(LARGEST.read_text(encoding="utf-8")))
    drawn = _map_of(machine)
    what = f"the map of {len(machine.cpu.threads_list)} threads and {len(machine.gpus)} GPUs"
    yield Line(f"{what}, laid out", show(_median_s(drawn.lay_out, turns=5), "s"))
    yield _kept(f"{what}, every load another", _busy(drawn, machine))
    yield _kept(f"{what}, zoomed and moved", _moved(drawn))
    del application


def _map_of(machine: Machine) -> Any:
    from PySide6.QtWidgets import QApplication

    from widgets.map.machine_map import MachineMap
    from widgets.style import theme
    from widgets.style.look import Look

    theme.add_fonts()
    look = Look(theme.load("dark"))
    look.wear(look.theme)
    drawn = MachineMap(words.load(), look)
    drawn.resize(*SIZE)
    drawn.show_machine(machine)
    drawn.show()
    QApplication.processEvents()  # only what is exposed is painted
    return drawn


def _busy(drawn: Any, machine: Machine) -> Callable[[], None]:
    """Return what gives every part another load than before, and draws it."""
    turns = iter(range(10**6))

    def turn() -> None:
        number = next(turns)
        threads = machine.cpu.threads_list
        drawn.show_load({thread.id: (thread.id + 5 * number) % 17 / 16 for thread in threads})
        drawn.show_sample(sample(machine, number))
        _draw(drawn)

    return turn


def _moved(drawn: Any) -> Callable[[], None]:
    """Return what zooms or moves the map a little, and draws it."""
    from PySide6.QtCore import QPointF

    steps = iter([lambda: drawn.zoom(1.1, QPointF(700, 300)), lambda: drawn.pan(15, 10)] * TURNS)

    def move() -> None:
        next(steps, lambda: drawn.pan(-3, 0))()
        _draw(drawn)

    return move


def _draw(drawn: Any) -> None:
    from PySide6.QtWidgets import QApplication

    drawn.update()
    QApplication.processEvents()


def _kept(what: str, draw: Callable[[], None]) -> Line:
    took_s = _median_s(draw)
    return Line(what, show(took_s, "s"), show(FRAME_S, "s"), took_s <= FRAME_S)


def _median_s(draw: Callable[[], object], turns: int = TURNS) -> float:
    draw()
    times = []
    for _ in range(turns):
        start_s = time.perf_counter()
        draw()
        times.append(time.perf_counter() - start_s)
    return statistics.median(times)
