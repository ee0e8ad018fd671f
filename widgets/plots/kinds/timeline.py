"""A timeline: time slices on lanes, with the lanes of one group in one colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from PySide6.QtCore import QSizeF

from experiments.core import marks
from experiments.core.views import Timeline
from widgets.plots.drawing import GHOST, AxisPlan, Beside, Name, Plan, Span, Track
from widgets.plots.kinds import slices
from widgets.plots.kinds.growing import LaneKey, Lanes
from widgets.plots.kinds.slices import Times
from widgets.plots.ranges import reach
from widgets.plots.sheet import Sheet
from widgets.plots.terms import Terms
from widgets.style.theme import Theme

LANE_PX = 26.0
FEW = 24  # most lanes with gaps; more have none, and each its full name
GAP = 0.5  # between two groups, in lanes
SECOND_ALPHA = 130  # of the other run


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lane:
    label: str  # its group as it stands in the rows
    title: str  # its group in words
    group: str  # the same, with the run if there are two
    number: str  # within its group, "" if it is the only lane
    detail: str
    colour: int
    times: Times
    is_second: bool


class TimelineDrawing:
    """Lanes one below the other; another run's lanes stand right below each group."""

    def __init__(self, view: Timeline, terms: Terms) -> None:
        self._view, self._terms = view, terms
        self._ours, self._theirs = Lanes(view), Lanes(view)
        self._lanes: tuple[_Lane, ...] = ()
        self._places: tuple[float, ...] = ()
        self._names: tuple[tuple[Name, float], ...] = ()  # on the axis, with their places
        self._values: tuple[Mapping[str, float], ...] = ({}, {})  # of both runs
        self._tracks: tuple[Track, ...] | None = None

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Put the new rows on their lanes."""
        self._values, self._tracks = (values, beside.values if beside else {}), None
        runs = [(beside.name_a if beside else "", self._ours.take(rows))]
        if beside:
            runs.append((beside.name_b, self._theirs.take(beside.rows)))
        groups = list(dict.fromkeys(key[:2] for _, found in runs for key in found))
        colours = marks.colours(self._view, (group for group, _ in groups))
        is_ghost = beside is not None and beside.is_ghost
        is_detailed = len({detail for _, detail in groups}) > 1
        lanes: list[_Lane] = []
        for group, detail in groups:
            name = self._terms.name(group, self._view.detail, detail if is_detailed else "")
            for turn, (run, found) in enumerate(runs):
                ours = [(key, times) for key, times in found.items() if key[:2] == (group, detail)]
                lanes += [
                    _Lane(
                        label=group,
                        title=name.text,
                        group=self._terms.of_run(run, name.text),
                        number=_number(key) if len(ours) > 1 else "",
                        detail=name.detail,
                        colour=GHOST if turn and is_ghost else colours[group],
                        times=times,
                        is_second=turn > 0,
                    )
                    for key, times in ours
                ]
        self._lanes, self._places = tuple(lanes), tuple(_places(lanes))
        self._names = tuple(self._axis_names([run for run, _ in runs] if beside else []))

    def plan(self) -> Plan:
        """Return an axis of time below, and lane names at the left."""
        return Plan(
            x=AxisPlan(unit=self._terms.unit(self._view.end), has_grid=True),
            y=AxisPlan(
                names=tuple(name for name, _ in self._names),
                places=tuple(place for _, place in self._names),
                rows=self._last() + 1.0,
                can_zoom=len(self._lanes) > FEW,
                row_px=LANE_PX,
            ),
        )

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return a range from zero to a round time after the last slice."""
        ends = [float(lane.times.ends[-1]) for lane in self._lanes if len(lane.times.ends)]
        return Span((0.0, reach(max(ends, default=0.0))), (-0.5, self._last() + 0.5))

    def paint(self, sheet: Sheet) -> None:
        """Draw the slices."""
        found = [
            slices.Lane(
                place=place,
                colour=lane.colour,
                times=lane.times,
                alpha=SECOND_ALPHA if lane.is_second else 255,
            )
            for place, lane in zip(self._places, self._lanes, strict=True)
        ]
        slices.paint(sheet, found)

    def tracks(self) -> Sequence[Track]:
        """Return the middles of the slices, lane by lane."""
        if self._tracks is None:
            self._tracks = tuple(
                Track(
                    self._terms.one_line(self._name(lane)),
                    lane.colour,
                    (lane.times.starts + lane.times.ends) / 2,
                    np.full(len(lane.times.starts), place),
                    is_aligned=False,
                    label=lane.label,
                )
                for place, lane in zip(self._places, self._lanes, strict=True)
            )
        return self._tracks

    def point_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the lane and the slice that contain a place."""
        for track, (place, lane) in enumerate(zip(self._places, self._lanes, strict=True)):
            if abs(y - place) <= slices.HEIGHT / 2:
                point = lane.times.slice_at(x)
                return None if point is None else (track, point)
        return None

    def read(self, track: int, point: int) -> str:
        """Return the lane, the slice's start, end and length, and the nearest limit."""
        lane, column, terms = self._lanes[track], self._view.end, self._terms
        start, end = float(lane.times.starts[point]), float(lane.times.ends[point])
        until = terms.with_limit(end, column, "linear", "x", self._values[lane.is_second])
        values = {"start": terms.show(start, column), "end": until}
        return terms.joined(
            terms.one_line(self._name(lane)),
            terms.say("plot.from_to", values),
            terms.show(end - start, column),
        )

    def summary(self) -> str:
        """Return how busy the lanes of each group were."""
        said = []
        for name, lanes in groupby(self._lanes, key=lambda lane: Name(lane.group, lane.detail)):
            found = list(lanes)
            end = max((float(lane.times.ends[-1]) for lane in found), default=0.0)
            busy = sum(lane.times.busy() for lane in found) / len(found)
            values = {
                "group": self._terms.one_line(name),
                "lanes": len(found),
                "busy_fraction": busy / end if end else 0.0,
                "end": self._terms.show(end, self._view.end),
            }
            key = "plot.lane_busy" if len(found) == 1 else "plot.lanes_busy"
            said.append(self._terms.say(key, values))
        return " ".join(said)

    def _axis_names(self, runs: Sequence[str]) -> Iterator[tuple[Name, float]]:
        """Yield the names beside the lanes with their places: one per group, or per lane if many.

        With two runs, the first run's lanes stand above the second's.
        """
        placed = list(zip(self._lanes, self._places, strict=True))
        if len(placed) > FEW and not runs:
            yield from ((self._name(lane), place) for lane, place in placed)
            return
        for (title, detail, is_ghost), found in groupby(placed, key=_named):
            lanes, places = zip(*found, strict=True)
            there = {lane.is_second for lane in lanes}
            told = [run for turn, run in enumerate(runs) if run and bool(turn) in there]
            values = {"label": title, "runs": ", ".join(told)}
            text = self._terms.say("plot.of_runs", values) if told else title
            name = Name(runs[-1]) if is_ghost else Name(text, detail)
            yield name, (places[0] + places[-1]) / 2

    def _name(self, lane: _Lane) -> Name:
        values = {"group": lane.group, "number": lane.number}
        text = self._terms.say("plot.lane", values) if lane.number else lane.group
        return Name(text, lane.detail)

    def _last(self) -> float:
        return self._places[-1] if self._places else 0.0


def _named(placed: tuple[_Lane, float]) -> tuple[str, str, bool]:
    """Return what has one name beside the lanes: a group, and its ghost."""
    lane = placed[0]
    return lane.title, lane.detail, lane.colour == GHOST


def _number(key: LaneKey) -> str:
    lane = key[2]
    return str(int(lane) + 1) if lane.isdigit() else lane


def _places(lanes: Sequence[_Lane]) -> Iterator[float]:
    """Yield the places of the lanes, with gaps between groups if the lanes are few."""
    place = -1.0
    for number, lane in enumerate(lanes):
        place += 1.0
        before = lanes[number - 1] if number else lane
        if len(lanes) <= FEW and (lane.title, lane.detail) != (before.title, before.detail):
            place += GAP
        yield place
