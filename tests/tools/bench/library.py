"""Times of many runs: listed, searched, sorted, and a long one played back.

Offscreen. There is a library of ten thousand runs in the place that shows them, and a table of as
many. The player of a long recording begins anew when it goes back.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from experiments.core.units import show
from tests.tools.bench.lines import Line

LISTED, LISTED_S, TURN_S = 10_000, 5.0, 0.1
ROWS, SHOWN_S, SHOWN_AGAIN_S, FOUND_S, SCROLLED_S = 10_000, 1.0, 1.5, 0.3, 0.2
EVENTS, SEEK_S = 6000, 0.25


def lines() -> Iterator[Line]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance() or QApplication([])
    from tests.widgets.runs.samples import worn

    look = worn()
    with tempfile.TemporaryDirectory() as data:
        yield from _listing(look, Path(data))
    yield from _table(look)
    with tempfile.TemporaryDirectory() as folder:
        yield _seeking(Path(folder))
    del application


def _listing(look: Any, data: Path) -> Iterator[Line]:
    """Read and show a library that was indexed before, as on every start but the first."""
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtTest import QTest

    from app import garbage
    from app.context import Context
    from app.runs.library import Library
    from app.window.catalogue.place import ExperimentsPlace
    from app.window.core.availability import suited
    from app.window.core.background import Background
    from app.window.core.runner import Runner
    from app.window.core.session import Session
    from app.window.core.settings import Settings
    from app.window.runs.place import RunsPlace
    from app.window.shell.start import GARBAGE_MS, SWITCH_S
    from experiments.engine.jobs import Engine
    from tests.experiments.machines import machine
    from tests.tools.pictures import wait_s
    from widgets.runs.model import Column

    ascending = Qt.SortOrder.AscendingOrder
    switch_s = sys.getswitchinterval()
    garbage.leave_to_us()  # as in the window's process
    sys.setswitchinterval(SWITCH_S)
    collecting = QTimer(interval=GARBAGE_MS)
    collecting.timeout.connect(garbage.collect_due)
    collecting.start()
    session = Session(Context(data=data), look, Settings())
    session.background = Background()
    session.runner = Runner(session.library, Engine())
    session.watcher = SimpleNamespace(close=lambda: None)  # type: ignore[assignment]
    try:
        _fill(data / "runs")
        Library(data).runs()
        place = RunsPlace(session)
        place.resize(1360, 850)
        place.show()
        shown = place.table.runs
        yield from _turns("opened", place.arrive, lambda: len(shown.shown) == LISTED, LISTED_S)
        again: list[None] = []
        shown.modelReset.connect(lambda: again.append(None))
        yield from _turns("listed anew", session.refresh_runs, lambda: bool(again), LISTED_S)
        for what, act in (
            ("a word typed", lambda: place.page.search.setText("march")),
            ("the word deleted", place.page.search.clear),
            ("all selected", place.table.selectAll),
            ("scrolled to the end", place.table.scrollToBottom),
            ("sorted, all selected", lambda: place.table.sortByColumn(Column.RESULT, ascending)),
            ("scrolled a page", lambda: QTest.keyClick(place.table, Qt.Key.Key_PageUp)),
        ):
            yield from _turns(what, act)
        place.leave()
        place.hide()
        session.machine = machine()  # whose runs they are
        session.entries = suited(session.catalogue, session.machine, {})
        cards = ExperimentsPlace(session)
        cards.resize(1360, 850)
        cards.show()
        cards.arrive()
        wait_s(0.5)
        before = session.runs
        yield from _turns(
            "counted on the cards", session.refresh_runs, lambda: session.runs is not before
        )
    finally:
        session.close()
        gc.enable()
        sys.setswitchinterval(switch_s)


def _turns(
    what: str,
    act: Callable[[], object],
    holds: Callable[[], bool] = lambda: True,
    budget_s: float | None = None,
) -> Iterator[Line]:
    """Act in a turn of the event loop, until something holds; the longest turn meanwhile counts."""
    from PySide6.QtCore import QTimer

    from tests.tools.bench.heart import Heart
    from tests.tools.pictures import until, wait_s

    heart = Heart()
    heart.start()
    start_s = time.perf_counter()
    QTimer.singleShot(0, act)
    wait_s(0.01)
    until(holds)
    took_s = time.perf_counter() - start_s
    wait_s(0.5)  # to the end of the turns that show it
    heart.stop()
    if budget_s is not None:
        yield _kept(f"{LISTED} runs, {what}", took_s, budget_s)
    yield _kept(f"{LISTED} runs, {what}: the longest turn", max(heart.gaps_s), TURN_S)


def _fill(folder: Path) -> None:
    """Write the same run under many names and times."""
    from tests.app.recordings import burst

    folder.mkdir(parents=True)
    made = burst(noise=(1.0,))
    for number in range(LISTED):
        run = f"{number:08x}-0000-0000-0000-000000000000"
        at = f"2026-{number // 840 % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:00:00+00:00"
        data = made.data.replace(made.run.encode(), run.encode())
        data = data.replace(b"2026-05-04T03:02:01+00:00", at.encode())
        (folder / f"{number}-{run[:8]}.coreopsis.jsonl").write_bytes(data)


def _table(look: Any) -> Iterator[Line]:
    """Show, search and sort runs that lie in no particular order."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from tests.widgets.runs.samples import WORDS, run
    from widgets.runs.model import Column
    from widgets.runs.table import RunsTable

    numbers = list(range(ROWS))
    random.Random(1).shuffle(numbers)
    runs = [run(number, tags=("a",) if number % 3 else ()) for number in numbers]
    table = RunsTable(look, WORDS)
    table.resize(940, 500)
    table.show()

    def took_s(work: Callable[[], object]) -> float:
        start_s = time.perf_counter()
        work()
        QApplication.processEvents()
        return time.perf_counter() - start_s

    ascending = Qt.SortOrder.AscendingOrder
    for what, work, budget_s in (
        ("shown", lambda: table.show_runs(runs), SHOWN_S),
        ("searched", lambda: table.search("question 77"), FOUND_S),
        ("all found again", lambda: table.search(""), FOUND_S),
        ("sorted", lambda: table.sortByColumn(Column.RESULT, ascending), FOUND_S),
        ("all selected", table.selectAll, FOUND_S),
        ("shown anew, all selected", lambda: table.show_runs(runs), SHOWN_AGAIN_S),
        ("scrolled to the end", table.scrollToBottom, SCROLLED_S),
    ):
        yield _kept(f"{ROWS} runs in the table, {what}", took_s(work), budget_s)


def _seeking(folder: Path) -> Line:
    """Go back in a recording that was played to its end."""
    from app.window.core.player import Player
    from experiments.core.catalogue import Catalogue
    from experiments.core.sizes import MIB
    from experiments.engine.recording import read
    from experiments.memory.burst_random.experiment import Params
    from tests.app.recordings import burst

    params = Params(largest_bytes=MIB, rounds=7)
    recording = read(burst(noise=(1.0,) * 300, params=params).write(folder / "x.coreopsis.jsonl"))
    assert len(recording.events) > EVENTS
    player = Player(recording, Catalogue().load("burst-random"))
    player.seek(1e9)
    start_s = time.perf_counter()
    player.seek(player.total_s * 0.9)
    took_s = time.perf_counter() - start_s
    return _kept(f"seeking back in a recording of {len(recording.events)} events", took_s, SEEK_S)


def _kept(what: str, took_s: float, budget_s: float) -> Line:
    return Line(what, show(took_s, "s"), show(budget_s, "s"), took_s <= budget_s)
