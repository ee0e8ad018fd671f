"""Views in text: bars, lines as a table with bars, timelines as rows of blocks.

Readable at 80 columns and without colours; the same marks as in the window.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from app.terminal.programs import solution
from experiments.core import marks
from experiments.core.declare import Experiment, specs
from experiments.core.judging.disturbed import counting
from experiments.core.units import show
from experiments.core.views import Bars, Code, Heatmap, Limit, Lines, Ruler, Timeline, View
from experiments.core.words import Words

T = TypeVar("T")

LABEL_WIDTH = 24
NUMBER_WIDTH = 9  # "0.0485 ns"
LEAST_BAR, MOST_BAR = 10, 40
LEAST_OF_MANY = 3  # shorter bars beside many numbers say nothing
GAP = 2  # between two columns
MOST_LANE = 80
MOST_ROWS = 24  # of a line: more sizes are thinned, evenly
LEAST_OF_LINE = 3  # rows of each of many lines
EIGHTHS = " ▏▎▍▌▋▊▉█"


class Draw:
    """Draws the views of one experiment with the words of one language."""

    def __init__(self, console: Console, words: Words, experiment: Experiment[Any]) -> None:
        self._console, self._words, self._experiment = console, words, experiment

    def view(
        self, view: View, tables: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> None:
        """Print one view of the tables, or nothing if there is nothing in it that counts."""
        rows = counting(tables.get(view.table, ()))
        drawn = self._drawn(view, rows) if rows or isinstance(view, Code) else None
        if drawn is None:
            return
        self._console.print()
        title = Text(self._word("views", view.key), style="bold")
        if isinstance(view, Lines) and view.y.scale != "linear":
            title.append(f" {self._words.say('terminal.logarithmic')}", style="not bold dim")
        self._console.print(title)
        self._console.print(drawn)
        if isinstance(view, Lines) and (apart := self._apart(marks.lines(view, rows))):
            self._console.print(Text(apart, style="dim"))
        for line in self._limit_lines(view.limits, values):
            self._console.print(line)

    def choice(self, text: str) -> str:
        """Return the words of a choice; numbers and names stay as they are."""
        key = f"{self._experiment.id}.choices.{text}"
        return self._words.say(key) if self._words.has(key) else text

    def _drawn(self, view: View, rows: Sequence[Any]) -> RenderableType | None:
        match view:
            case Bars():
                return self._bars(marks.bars(view, rows, lost=True), view, logarithmic=False)
            case Ruler():
                return self._bars(marks.bars(view, rows), view, logarithmic=True)
            case Lines():
                return self._lines(marks.lines(view, rows), view)
            case Timeline():
                return self._lanes(marks.lanes(view, rows), view)
            case Heatmap():
                return self._cells(marks.cells(view, rows), view)
            case Code():
                return solution(self._words, self._experiment, view, rows)
            case _:
                return None  # moving pictures are for the window

    def _bars(
        self, bars: Sequence[marks.Bar], view: Bars | Ruler, *, logarithmic: bool
    ) -> RenderableType:
        unit = self._unit(view.table, view.value)
        lost = self._words.say("plot.no_quiet_sample")
        spreads = [_range(bar.repeats, unit) for bar in bars]
        numbers = [lost if bar.is_lost else show(bar.value, unit) for bar in bars]
        beside = max(map(len, numbers)) + max(map(len, spreads))
        width = self._bar_width(beside=LABEL_WIDTH + beside + 3 * GAP)
        values = [0.0 if bar.is_lost else bar.value for bar in bars]
        length = _scale(values, width, logarithmic=logarithmic)
        column = view.detail if isinstance(view, Bars) else None
        detailed = len({bar.detail for bar in bars}) > 1
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(max_width=LABEL_WIDTH)
        if logarithmic:
            table.add_row("", Text(self._words.say("terminal.logarithmic"), style="dim"))
        for bar, value, number, spread in zip(bars, values, numbers, spreads, strict=True):
            label = self._label(bar.label, column, bar.detail if detailed else "")
            table.add_row(label, _blocks(length(value)), number, Text(spread, style="dim"))
        return table

    def _lines(self, series: Sequence[marks.Line], view: Lines) -> RenderableType | None:
        """Return a table with bars; if not all series fit, several tables without bars."""
        heading, unit = self._word("columns", view.x.column), self._unit(view.table, view.y.column)
        xs = sorted({x for line in series for x, _ in line.points})
        if sum(len(line.points) for line in series) < len(series) * len(xs) / 2:
            return self._listed(series, view)
        xs = _thinned(xs)
        x_texts = [show(x, self._unit(view.table, view.x.column)) for x in xs]
        ys = [y for line in series for _, y in line.points]
        if not ys:
            return None
        alone = self._word("columns", view.y.column)
        headings = [self.choice(line.series) if line.series else alone for line in series]
        texts = [*(show(y, unit) for y in ys), *" ".join(headings).split()]
        number_width = max(NUMBER_WIDTH, *map(len, texts))
        free = self._console.width - max(map(len, [heading, *x_texts]))
        most = max(1, free // (number_width + GAP))
        bar = min(free // len(series) - number_width - 2 * GAP, MOST_BAR // len(series))
        length = _scale(ys, bar, logarithmic=view.y.scale != "linear")
        tables = []
        for at in range(0, len(series), most):
            table = Table(box=None, pad_edge=False, show_header=True, header_style="dim")
            table.add_column(heading, justify="right", no_wrap=True)
            part = [dict(line.points) for line in series[at : at + most]]
            for name in headings[at : at + most]:
                table.add_column(name, justify="right", min_width=NUMBER_WIDTH)
                if bar >= LEAST_OF_MANY:
                    table.add_column("", no_wrap=True)
            for x, x_text in zip(xs, x_texts, strict=True):
                if not any(x in points for points in part):
                    continue
                cells: list[RenderableType] = [x_text]
                for points in part:
                    y = points.get(x)
                    cells.append("" if y is None else show(y, unit))
                    if bar >= LEAST_OF_MANY:
                        cells.append("" if y is None else _blocks(length(y)))
                table.add_row(*cells)
            tables.append(table)
        return Group(*tables)

    def _apart(self, series: Sequence[marks.Line]) -> str:
        """Return the usual spread of the repeats behind the numbers, "" if few have repeats.

        A table of many lines has no room for each spread. Computed numbers have none: they are the
        same in every round.
        """
        shares = []
        for line in series:
            for (_, y), dots in zip(line.points, line.repeats, strict=True):
                repeats = [repeat for _, repeat in dots]
                if y and (width := max(repeats) - min(repeats)):
                    shares.append(width / abs(y))
        if not shares or 2 * len(shares) < sum(len(line.points) for line in series):
            return ""
        values = {"usual_fraction": statistics.median(shares), "most_fraction": max(shares)}
        return self._words.say("terminal.apart", values)

    def _listed(self, series: Sequence[marks.Line], view: Lines) -> RenderableType:
        """Return a row for each point, line by line: the x values differ too much for columns."""
        x_unit = self._unit(view.table, view.x.column)
        unit = self._unit(view.table, view.y.column)
        most = max(LEAST_OF_LINE, MOST_ROWS // len(series))
        shown = [(line.series, _thinned(sorted(line.points), most)) for line in series]
        ys = [y for _, points in shown for _, y in points]
        width = self._bar_width(beside=LABEL_WIDTH + 2 * NUMBER_WIDTH + 3 * GAP)
        length = _scale(ys, width, logarithmic=view.y.scale != "linear")
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("", max_width=LABEL_WIDTH)
        table.add_column(self._word("columns", view.x.column), justify="right")
        table.add_column(self._word("columns", view.y.column), justify="right")
        table.add_column("", no_wrap=True)
        for name, points in shown:
            for place, (x, y) in enumerate(points):
                label = "" if place else self.choice(name)
                table.add_row(label, show(x, x_unit), show(y, unit), _blocks(length(y)))
        return table

    def _lanes(self, lanes: Sequence[marks.Lane], view: Timeline) -> RenderableType:
        end_s = max((end for lane in lanes for _, end in lane.slices), default=0.0)
        numbers = [_lane_number(lane) for lane in lanes]
        beside = LABEL_WIDTH + max(map(len, numbers), default=0) + 2 * GAP
        width = max(20, min(self._console.width - beside, MOST_LANE))
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(width=LABEL_WIDTH)
        detailed = len({lane.detail for lane in lanes}) > 1
        before = None
        for lane, number in zip(lanes, numbers, strict=True):
            label = self._label(lane.group, view.detail, lane.detail if detailed else "")
            label, before = "" if label == before else label, label
            table.add_row(label, number, _lane(lane.slices, end_s, width))
        table.add_row("", "", Text(f"0 to {show(end_s, 's')}", style="dim"))
        return Group(table, Text(self._words.say("terminal.lanes"), style="dim"))

    def _cells(self, cells: Mapping[tuple[str, str], float], view: Heatmap) -> RenderableType:
        unit = self._unit(view.table, view.value)
        table = Table(box=None, pad_edge=False, header_style="dim")
        columns = marks.in_order(column for _, column in cells)
        table.add_column("")
        for column in columns:
            table.add_column(column, justify="right")
        for row in marks.in_order(row for row, _ in cells):
            shown = [cells.get((row, column)) for column in columns]
            table.add_row(row, *("" if v is None else show(v, unit) for v in shown))
        return table

    def _limit_lines(
        self, limits: Sequence[Limit], values: Mapping[str, float]
    ) -> list[RenderableType]:
        units = {value.name: value.unit for value in self._experiment.values}
        known = [
            f"{self._word('lines', limit.key)} {show(values[limit.value], units[limit.value])}"
            for limit in limits
            if limit.value in values and limit.value in units
        ]
        return [Text("┄ " + " · ".join(known), style="dim")] if known else []

    def _label(self, label: str, column: str | None, detail: str) -> str:
        """Return the words of a bar or lane with its detail ("Python 3.13")."""
        text = self.choice(label)
        if not column or not detail:
            return text
        return f"{text}, {self._word('columns', column)} {self.choice(detail)}"

    def _bar_width(self, *, beside: int) -> int:
        return min(max(self._console.width - beside, LEAST_BAR), MOST_BAR)

    def _unit(self, table: str, column: str) -> str:
        return specs(self._experiment.tables[table])[column].unit

    def _word(self, section: str, key: str) -> str:
        return self._words.say(f"{self._experiment.id}.{section}.{key}")


def _range(repeats: Sequence[float], unit: str) -> str:
    low, high = min(repeats, default=0.0), max(repeats, default=0.0)
    return "" if low == high else f"{show(low, unit)} to {show(high, unit)}"


def _thinned(points: Sequence[T], most: int = MOST_ROWS) -> list[T]:
    if len(points) <= most:
        return list(points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(place * step)] for place in range(most)]


def _lane_number(lane: marks.Lane) -> str:
    """Return the number beside a lane's label, "" if the label says it."""
    if lane.lane == lane.detail:
        return ""
    return str(int(lane.lane) + 1) if lane.lane.isdigit() else lane.lane


def _scale(values: Sequence[float], width: int, *, logarithmic: bool) -> Callable[[float], float]:
    most = max(values, default=0.0)
    if not logarithmic or most <= 0:
        return lambda value: width * value / most if most > 0 else 0.0
    least = min((value for value in values if value > 0), default=most)
    bottom = math.log10(least) - 0.3  # the smallest value still has a bar
    return lambda value: (
        width * (math.log10(value) - bottom) / (math.log10(most) - bottom) if value > 0 else 0.0
    )


def _blocks(length: float) -> str:
    whole, eighths = divmod(round(length * 8), 8)
    return "█" * whole + (EIGHTHS[eighths] if eighths else "")


def _lane(slices: Sequence[tuple[float, float]], end_s: float, width: int) -> str:
    """Return one character for each stretch of time: full where the worker ran most of it."""
    step_s = end_s / width or 1.0
    ran = [0.0] * width
    for start, end in slices:
        for cell in range(int(start / step_s), min(int(end / step_s) + 1, width)):
            ran[cell] += (
                max(0.0, min(end, (cell + 1) * step_s) - max(start, cell * step_s)) / step_s
            )
    return "".join("█" if share > 0.6 else "▒" if share > 0.15 else "·" for share in ran)
