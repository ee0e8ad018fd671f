"""Boxes of the map, nested, and the links between them, in units of the map.

One unit is one pixel at scale 1. Nothing here imports Qt.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import NamedTuple, Protocol

from experiments.core.declare import Part


class Kind(StrEnum):
    """The kind of thing that a box stands for."""

    PACKAGE = "package"
    DIE = "die"
    CORE_KIND = "core_kind"  # the performance or the efficiency cores of a package
    CORE = "core"
    THREAD = "thread"
    CACHE = "cache"
    OFF = "off"  # threads that are switched off and belong to no known core
    MEMORY = "memory"
    NODE = "node"
    MODULE = "module"
    GPU = "gpu"
    LINK = "link"
    NVLINK = "nvlink"
    SWITCH = "switch"  # of PCIe, where several cards share the upstream link
    SLICE = "slice"  # of a GPU (MIG)
    DISK = "disk"
    NETWORK = "network"
    UNREAD = "unread"  # a kind of part that is absent or was not looked for
    FOLD = "fold"  # more of the same, shown on demand
    OPEN_CORE = "open_core"  # a core that shows what it is made of
    UNIT = "unit"  # a part of a core


# Boxes that can show the measured number of their part.
BEARING = frozenset(
    {Kind.PACKAGE, Kind.CACHE, Kind.UNIT, Kind.MEMORY, Kind.GPU, Kind.LINK, Kind.NVLINK, Kind.DISK}
)


class Rect(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of the right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of the lower edge."""
        return self.y + self.height

    @property
    def centre(self) -> tuple[float, float]:
        """The point in the middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def holds(self, x: float, y: float) -> bool:
        """Return whether the point lies inside."""
        return self.x <= x < self.right and self.y <= y < self.bottom

    def inset(self, by: float) -> Rect:
        """Return the rectangle without a border of this width."""
        return Rect(self.x + by, self.y + by, self.width - 2 * by, self.height - 2 * by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One box. `members` are places in the machine's list of such parts; `threads` their ids.

    `titles` are alternatives, the longest first: the first that fits is shown. With `bears_value`
    it shows the number of its part; with `asks`, a question mark if there is none. `ceiling` is its
    peak bandwidth. `bar` shows how full its memory is. `grid` holds small tiles of one colour, such
    as the multiprocessors of a GPU. `lines` begin at `lines_y`.
    """

    id: str
    kind: Kind
    rect: Rect
    parent: str | None = None
    part: Part | None = None
    titles: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    path: str = ""  # of the missing value that the box stands for
    is_dashed: bool = False
    bears_value: bool = False
    asks: bool = False
    needs_look: bool = False  # it is slower than it could be
    ceiling: float | None = None  # bytes/s, in one direction
    cells: int = 0
    grid: Rect | None = None
    bar: Rect | None = None
    bar_titles: tuple[str, ...] = ()
    lines_y: float | None = None  # None for below the title
    states: tuple[str, ...] = ()  # its state when the machine was read
    is_upright: bool = False  # the title is written upwards
    is_linked: bool = False  # a line leads to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A line between boxes, through these points; `box` is its label.

    `name` is unique, even among lines with the same label; samples refer to it.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    thickness: float
    box: str
    needs_look: bool = False  # it is narrower than the card


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The whole map; parents precede their children, in reading order."""

    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    width: float
    height: float
    is_roomy: bool = False  # nothing was made smaller or folded
    style: int = 0  # index of the style, the largest first


class Letters(Enum):
    """Kinds of lettering on the map."""

    TITLE = "title"
    DETAIL = "detail"
    NUMBER = "number"  # of a thread, in its tile
    VALUE = "value"


class Measure(Protocol):
    """Measures texts."""

    def width(self, text: str, letters: Letters) -> float:
        """Return the width of one line of text."""

    def line(self, letters: Letters) -> float:
        """Return the height of one line."""

    def elided(self, text: str, letters: Letters, width: float) -> str:
        """Return the text, cut to `width` with an ellipsis; "" where not even that fits."""


def wrapped(text: str, width: float, measure: Measure) -> tuple[str, ...]:
    """Return a text as lines of detail at most `width` wide; a longer word has its own line."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure.width(longer, Letters.DETAIL) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return tuple(lines)
