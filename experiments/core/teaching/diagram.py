"""The drawing of a lesson, as shapes on a grid: `diagram.toml` in the experiment's folder.

Coordinates are cells of the grid, x to the right and y down. A shape's `label` is a key of the
lesson's words, `[diagram]`; its `role` chooses the theme's colour.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from experiments.core.problems import UserError

NAME = "diagram.toml"
Role = Literal["plain", "soft", "main", "second", "third", "good", "attention"]
Point = tuple[float, float]


class _Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shape; a motion speaks of it by its `name`."""

    role: Role = "plain"
    label: str = ""
    name: str = ""


class Box(_Shape, frozen=True, tag_field="kind", tag="box"):
    """A rectangle with its label in it; one that is not `filled` is an outline."""

    at: Point
    size: Point
    filled: bool = False


class Line(_Shape, frozen=True, tag_field="kind", tag="line"):
    """A line through points, with its label above the middle; the arrow is at its end."""

    points: tuple[Point, ...]
    arrow: bool = False
    dashed: bool = False


class Dot(_Shape, frozen=True, tag_field="kind", tag="dot"):
    """A round mark with its label in it."""

    at: Point
    radius: float = 0.5


class Text(_Shape, frozen=True, tag_field="kind", tag="text"):
    """A label alone, one line, from `at` to the right, around it or to the left."""

    at: Point
    align: Literal["left", "middle", "right"] = "left"


Shape = Box | Line | Dot | Text


class Diagram(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A drawing of `size` cells; later shapes lie above earlier ones."""

    size: Point
    shapes: tuple[Shape, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The keys of its words."""
        return tuple(shape.label for shape in self.shapes if shape.label)


def read_diagram(folder: Path) -> Diagram | None:
    """Return the drawing in an experiment's folder, None without one. Raises UserError."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Diagram)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, OSError) as error:
        raise UserError("lesson_unreadable", id=folder.name, reason=str(error)) from None
