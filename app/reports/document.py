"""A report as plain records, which every writer takes: HTML, PDF, Markdown, text, JSON.

Texts are finished words without markup; `privacy.clean` makes them safe to send.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Colour = Literal["good", "attention", "fault", "soft"]
Mode = Literal["light", "dark"]
PAPER: Mode = "light"  # the colours of what is printed


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; `strong` is the sentence to read first, `soft` what explains it."""

    text: str
    role: Literal["", "strong", "soft"] = ""


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of Python to read."""

    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Ruled:
    """Empty lines to write on by hand."""

    count: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class State:
    """The state of a row: a sign and a word, so that it never depends on colour alone."""

    sign: str
    word: str
    colour: Colour


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text; `states`, where there are some, one for each row, stand before the first.

    Columns in `numbers` are set to the right. `left_out` rows stand in the data alone.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    states: Sequence[State] = ()
    numbers: frozenset[int] = frozenset()
    left_out: int = 0


class Picture(Protocol):
    """A picture that Qt draws once a writer asks for it."""

    @property
    def said(self) -> str:
        """The content of the picture, in sentences."""

    @property
    def height_over_width(self) -> float:
        """Its shape."""

    def svg(self, mode: Mode) -> str:
        """Return it as an SVG element that may stand beside others."""

    def paint(self, painter: Any, width: float) -> None:
        """Paint it on a QPainter, `width` units wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot with its caption and its rows, or stills of a motion.

    `sketch` are its curves in letters, for a text.
    """

    caption: str
    picture: Picture | None = None  # without Qt there is none
    table: Table | None = None
    sketch: Sequence[str] = ()
    in_text: str = "report.plot_in_text"  # the key of what a text says in its place


Part = Heading | Paragraph | Code | Bullets | Ruled | Facts | Table | Plot


def kind_of(part: object) -> str:
    """Return what template and JSON call a part."""
    return type(part).__name__.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """All of a report; `data` is the JSON that it carries, such as the lines of a run."""

    title: str
    subtitle: str
    date: str  # ISO 8601
    parts: Sequence[Part]
    data: Mapping[str, Any] = field(default_factory=dict)
    language: str = "en"
    name: str = "report"  # of its file, without an ending
    foot: str = "report.written_by"  # the key of what stands at its end
