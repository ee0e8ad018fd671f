"""When is which plot drawn? While somebody looks and it is out of date, not for long at a turn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set

from PySide6.QtCore import QObject, QTimer

from app.runs.library import machine_name
from app.window.experiment.comparing import Comparing
from app.window.experiment.loaded_run import band
from app.window.experiment.page_model import Showing
from experiments.core.words import Words
from experiments.engine.run_state import Following
from widgets.experiment.views_panel import ViewsPanel

DRAW_MS = 33
TURN_S = 0.008  # after which a further plot waits for the next turn: half of a frame of the screen
SHARE = 0.1  # of a core that this thread may take while something is measured
LONGEST_S = 0.5  # that a plot waits for it


class Drawing(QObject):
    """Draws what `showing` has, and beside it what `comparing` has."""

    def __init__(
        self, showing: Showing, comparing: Comparing, views: ViewsPanel, words: Words
    ) -> None:
        super().__init__()
        self._showing, self._comparing = showing, comparing
        self._views, self._words = views, words
        self._is_seen = False
        self._drawn: object = None  # what the plots were marked with
        self._last_s = self._used_s = 0.0  # when was drawn last, and the time of this thread then
        self._timer = QTimer(self, interval=DRAW_MS)
        self._timer.timeout.connect(self._draw)
        showing.changed.connect(self.soon)
        showing.moved.connect(self.soon)
        comparing.changed.connect(self.soon)

    def set_seen(self, seen: bool) -> None:
        """Draw from now on, or not at all."""
        self._is_seen = seen
        if seen:
            self.soon()
        else:
            self._timer.stop()

    def soon(self) -> None:
        """Look at the next turn what is out of date."""
        if self._is_seen and self._showing.following is not None:
            self._timer.start()

    def _draw(self) -> None:
        following, pair = self._showing.following, self._comparing.pair
        if following is None:
            self._timer.stop()
            return
        if self._showing.under_way is not None and self._would_disturb():
            return
        self._views.show_experiment(following.experiment)
        of_run = (following.started is None, following.finished is None)
        wanted = (self._showing.shown, pair, self._showing.player, *of_run)
        if self._drawn != wanted:
            self._drawn = wanted
            self._views.forget()
            self._views.mark(*self._marks())
        runs = [following] if pair is None else [shown.following for shown in pair]
        self._views.leave_out(_unmeasured(runs))
        values, beside = self._showing.values, None
        if pair is not None:
            following, other = pair[0].following, pair[1].following
            values = _values(following)
            beside = ("A", "B", other.tables, _values(other))
        until_s = time.perf_counter() + TURN_S
        while self._views.draw_next(
            following.tables, following.frames, following.drawn_from, values, beside
        ):
            if time.perf_counter() > until_s:
                return
        self._timer.stop()

    def _would_disturb(self) -> bool:
        """Would this thread take more of a core than its share, if it drew again already?"""
        now_s, used_s = time.perf_counter(), time.thread_time()
        if now_s - self._last_s < min((used_s - self._used_s) / SHARE, LONGEST_S):
            return True
        self._last_s, self._used_s = now_s, used_s
        return False

    def _marks(self) -> tuple[str, str]:
        """Return what stands above the plots, and what stands above pictures of them."""
        shown, words = self._showing.shown, self._words
        started = shown.following.started if shown is not None else None
        if shown is None or started is None:
            return "", ""
        if self._showing.is_of_here:
            of_run = words.say("page.earlier_run", {"date": started.at[:10]})
        else:
            of_run = band(words, started)
        question = words.say(f"{started.experiment}.question")
        is_recorded = shown.is_opened or self._showing.player is not None
        values = {"question": question, "machine": machine_name(started), "date": started.at[:10]}
        return of_run if is_recorded else "", words.say("page.caption", values)


def _unmeasured(runs: Sequence[Following]) -> Set[str]:
    """Return the tables that none of the runs has anything of; none while one goes on."""
    if any(run.finished is None for run in runs):
        return frozenset()
    return {table for table in runs[0].tables if not any(run.drawn_from[table] for run in runs)}


def _values(following: Following) -> Mapping[str, float]:
    finding = following.finding()
    return finding.clear_values() if finding is not None else {}
