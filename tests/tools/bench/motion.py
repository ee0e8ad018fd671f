"""The cost of a frame of a motion on the page of each lesson that moves, and while it stands."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app import garbage
from experiments.core.shelves import homes
from experiments.core.units import show
from tests.tools.bench.lines import Line
from widgets.lesson.drawing.motion_player import MotionPlayer

BUDGET_S = 0.003
FRAMES = 200
STANDS_S = 1.0


def lines() -> Iterator[Line]:
    from PySide6.QtWidgets import QApplication

    from widgets.style import theme as themes
    from widgets.style.look import Look

    application = QApplication.instance() or QApplication([])
    themes.add_fonts()
    look = Look(themes.load("dark"))
    look.wear(look.theme)
    garbage.leave_to_us()  # as the window does
    found = {id_: _measured(application, look, id_) for id_ in homes()}
    moving = {id_: each for id_, each in found.items() if each is not None}
    gc.enable()
    slowest = max(moving, key=lambda id_: moving[id_][0])
    frame_s, painted = moving[slowest][0], max(each[1] for each in moving.values())
    yield Line(
        f"a frame of a motion, 95 % of them, the slowest of {len(moving)} lessons",
        f"{show(frame_s, 's')} ({slowest})",
        show(BUDGET_S, "s"),
        frame_s <= BUDGET_S,
    )
    yield Line(
        f"frames of a motion that stands, in {show(STANDS_S, 's')}",
        str(painted),
        "0",
        painted == 0,
    )


def _measured(application: Any, look: Any, id_: str) -> tuple[float, int] | None:
    """Return the seconds of a frame, with the layout that it asks for, and frames at rest."""
    from tests.app.window.stage import Stage, settle

    path = homes()[id_].recording
    if path is None or not homes()[id_].has_lesson:
        return None
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(look, Path(folder), numbers=False)
        stage.page.resize(1360, 820)
        stage.page.show()
        stage.page.arrive()
        stage.know_machine()
        stage.page.open(id_)
        lesson, player = stage.page.lesson.model, stage.page.lesson.moving.player
        lesson.answer(None)
        lesson.observe()
        stage.page.open_run(path)
        settle(lambda: player.isVisible() and not stage.drawing.isActive())
        found = None
        if player.motion is not None:
            found = _frame_s(application, player), _at_rest(application, player)
        stage.close()
    garbage.collect_due()
    return found


def _frame_s(application: Any, player: MotionPlayer) -> float:
    assert player.motion is not None
    times = []
    for frame in range(FRAMES):
        start_s = time.thread_time()  # of the window's thread: others may keep the machine busy
        player.playback.stand_at(player.motion.duration_s * frame / FRAMES)
        for _ in range(3):  # the paint, and the layout that a longer text asks for
            application.processEvents()
        times.append(time.thread_time() - start_s)
    return sorted(times)[round(0.95 * FRAMES)]


def _at_rest(application: Any, player: MotionPlayer) -> int:
    """Return how often the drawing is painted while nothing happens."""
    from PySide6.QtCore import QEvent, QObject

    class Eye(QObject):
        seen = 0

        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
            self.seen += event.type() == QEvent.Type.Paint
            return False

    eye = Eye()
    player.view.installEventFilter(eye)
    end_s = time.perf_counter() + STANDS_S
    while time.perf_counter() < end_s:
        application.processEvents()
        time.sleep(0.01)
    player.view.removeEventFilter(eye)
    return eye.seen
