"""A program with planted faults in text: its lines before a run, its faults after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from experiments.core.declare import Experiment
from experiments.core.teaching.puzzle_remarks import remarked
from experiments.core.views import BROKEN, Code, Piece
from experiments.core.words import Words


def puzzle(words: Words, experiment: Experiment[Any]) -> RenderableType | None:
    """Return the code that will run, to look for its faults; None without code."""
    views = [view for view in experiment.views if isinstance(view, Code)]
    if not views:
        return None
    parts: list[RenderableType] = [Text(words.say("puzzle.will_run"), style="bold")]
    for view in views:
        for piece in view.pieces:
            parts += [Text(), _name(words, experiment, piece), _numbered(piece)]
    return Group(*parts)


def solution(
    words: Words, experiment: Experiment[Any], view: Code, rows: Sequence[Any]
) -> RenderableType:
    """Return each faulty line, its mended form, why, and the remarks of the run."""
    parts: list[RenderableType] = []
    for piece in view.pieces:
        parts += [Text(), _name(words, experiment, piece), _faults(words, experiment, piece)]
        said = remarked(words, experiment.id, view, rows, piece.key, BROKEN)
        if said:
            parts.append(Padding(Text(said), (0, 0, 0, 4)))
    return Group(*parts[1:])


def _name(words: Words, experiment: Experiment[Any], piece: Piece) -> Text:
    return Text(words.say(f"{experiment.id}.pieces.{piece.key}"), style="underline")


def _numbered(piece: Piece) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="dim", no_wrap=True)
    for number, line in enumerate(piece.broken.splitlines(), 1):
        table.add_row(str(number), Text(line))
    return table


def _faults(words: Words, experiment: Experiment[Any], piece: Piece) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="dim", no_wrap=True)
    broken, mended = piece.broken.splitlines(), piece.mended.splitlines()
    for line, fault in piece.fault_lines().items():
        table.add_row(str(line), Text(broken[line - 1].strip()))
        table.add_row("→", Text(mended[line - 1].strip(), style="bold"))
        table.add_row("", Text(words.say(f"{experiment.id}.faults.{fault}"), style="dim"))
    return table
