"""Which slices lie on which lane? Gathered from rows as they come, ordered as the view says."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from experiments.core import marks
from experiments.core.views import Timeline
from widgets.plots.kinds.newcomers import Newcomers
from widgets.plots.kinds.slices import Times, in_turn

Key = tuple[str, str, str]  # group, detail, lane


class Lanes:
    """The lanes of one table that may grow; only what is new is looked at."""

    def __init__(self, view: Timeline) -> None:
        self._view = view
        self._newcomers = Newcomers()
        self._pairs: dict[Key, list[tuple[float, float]]] = {}
        self._one_row: dict[Key, Any] = {}  # to ask for the order of lanes
        self._times: dict[Key, Times] = {}
        self._order: list[Key] = []

    def take(self, rows: Sequence[Any]) -> dict[Key, Times]:
        """Return the lanes of all rows, those of one group together."""
        new, is_all = self._newcomers.among(rows)
        if is_all:
            self._pairs, self._one_row, self._times, self._order = {}, {}, {}, []
        view = self._view
        group = attrgetter(view.group) if view.group else _nothing
        detail = attrgetter(view.detail) if view.detail else _nothing
        rest = attrgetter(view.lane, view.start, view.end)
        for row in new:
            lane, start, end = rest(row)
            key = (str(group(row)), str(detail(row)), str(lane))
            if key not in self._pairs:
                self._pairs[key], self._one_row[key] = [], row
            self._pairs[key].append((start, end))
            self._times.pop(key, None)
        if len(self._order) != len(self._pairs):
            ordered = marks.lanes(view, list(self._one_row.values()))
            self._order = [(lane.group, lane.detail, lane.lane) for lane in ordered]
        for key in self._order:
            if key not in self._times:
                self._times[key] = in_turn(self._pairs[key])
        return {key: self._times[key] for key in self._order}


def _nothing(_row: Any) -> str:
    return ""
