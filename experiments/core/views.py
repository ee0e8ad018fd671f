"""Seven kinds of view of a table, as data.

A view names tables and columns; one renderer draws any of them, live or replayed. Limit lines
take their place from a value of the finding, so a replay has them without the machine. `Code` is
no plot: it can be read before anything has run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from machine.record import Record

Scale = Literal["linear", "log2", "log10"]
Statistic = Literal["median", "least", "greatest"]


class Axis(Record, kw_only=False):
    """One column on one axis; in an experiment it has the unit and the scale of the column."""

    column: str
    scale: Scale = "linear"


class Limit(Record, kw_only=False):
    """A dashed line, named by the words of `key`, at `values[value]` of the finding.

    It holds `of` the bars with these labels, the uppermost; of all where none are named.
    """

    key: str
    value: str
    axis: Literal["x", "y"] = "y"
    of: tuple[str, ...] = ()


class Ratio(Record, kw_only=False):
    """The statistic of a column, over that of the bar `of` with the same detail."""

    column: str
    of: str


class _OfTable(Record, kw_only=False):
    """A view of the rows of `table`; `key` is the key of its words."""

    key: str
    table: str


class Bars(_OfTable, kw_only=False):
    """Zero-based bars, one for each pair of `label` and `detail`; every repeat is a dot."""

    label: str
    value: str
    detail: str | None = None
    order: tuple[str, ...] = ()  # labels and details that come first, in this order
    statistic: Statistic = "median"
    ratio: Ratio | None = None  # where `value` is one: the bars are those of what is shown of it
    limits: tuple[Limit, ...] = ()


class Lines(_OfTable, kw_only=False):
    """A line through the statistic at each x, one for each `series`; every repeat is a dot.

    If x is measured as well, no two rows share an x. Rows with the same `point` then form one point
    of the line.
    """

    x: Axis
    y: Axis
    point: str | None = None
    series: str | None = None
    only: tuple[str, ...] = ()  # these series alone; all where none are named
    order: tuple[str, ...] = ()
    statistic: Statistic = "median"
    limits: tuple[Limit, ...] = ()


def along(view: Lines, views: Iterable[View]) -> list[Lines]:
    """Return the views of the same column, this one among them: they have one x axis."""
    lines = (other for other in views if isinstance(other, Lines))
    return [other for other in lines if (other.table, other.x) == (view.table, view.x)]


class Timeline(_OfTable, kw_only=False):
    """Slices from `start` to `end` (seconds) on lanes, ordered by `group` and `detail`."""

    lane: str
    start: str
    end: str
    group: str | None = None
    detail: str | None = None
    order: tuple[str, ...] = ()  # groups that come first, in this order
    limits: tuple[Limit, ...] = ()


class Heatmap(_OfTable, kw_only=False):
    """One coloured cell for each (`row`, `column`), with its number."""

    row: str
    column: str
    value: str
    statistic: Statistic = "median"
    limits: tuple[Limit, ...] = ()


class Field(_OfTable, kw_only=False):
    """A live picture: the newest frame of `table`."""

    limits: tuple[Limit, ...] = ()


class Ruler(_OfTable, kw_only=False):
    """Pins on a logarithmic ruler, one for each `label`; where few fit, those first in `order`."""

    label: str
    value: str
    statistic: Statistic = "least"
    limits: tuple[Limit, ...] = ()
    order: tuple[str, ...] = ()


BROKEN, MENDED = "broken", "mended"


class Piece(Record):
    """A short program with planted faults, and the same mended: line stands for line.

    `faults` are keys of words, one for each line that differs, from above.
    """

    key: str
    broken: str
    mended: str
    faults: tuple[str, ...]

    def text(self, version: str) -> str:
        """Return the text that is BROKEN or MENDED."""
        return self.broken if version == BROKEN else self.mended

    def fault_lines(self) -> Mapping[int, str]:
        """Return the fault in each faulty line; the first line is 1.

        None are known if the program has been changed, as in a copy of the experiment.
        """
        broken, mended = self.broken.splitlines(), self.mended.splitlines()
        both = enumerate(zip(broken, mended, strict=False), 1)
        lines = [number for number, (bad, good) in both if bad != good]
        is_known = len(broken) == len(mended) and len(lines) == len(self.faults)
        return dict(zip(lines, self.faults, strict=True)) if is_known else {}


class Code(_OfTable, kw_only=False):
    """Programs whose faulty lines are to be found.

    Each row is a remark on one `piece` in one `version`, BROKEN or MENDED; `about` are the columns
    that say where, what, and what more exactly.
    """

    pieces: tuple[Piece, ...]
    piece: str
    version: str
    about: tuple[str, str, str]
    limits: tuple[Limit, ...] = ()


Plotted = Bars | Lines | Timeline | Heatmap | Field | Ruler
View = Plotted | Code
