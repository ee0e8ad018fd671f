"""The loop that an experiment measures, found in its code by the name that it declares.

The file is read, not imported: a page that shows the loop does not load the libraries of kernels.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from machine.record import Record

MOST_LINES = 15
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class MeasuredLoop(Record, kw_only=False):
    """Some lines of a file, the first of them number `first`, from 1."""

    file: str
    first: int
    text: str

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + self.text.count("\n")


def measured_loop(place: str, files: Sequence[tuple[str, str]]) -> MeasuredLoop | None:
    """Return what `place` names in these files, (name, text); None where it is not there.

    A place is "FILE:NAME" of a function, also one inside others ("pieces.py:Pieces.do"). Of a
    function longer than MOST_LINES it is the first `for` or `while`.
    """
    file, _, name = place.partition(":")
    text = dict(files).get(file)
    try:
        found = _named(ast.parse(text or ""), name.split("."))
    except (SyntaxError, ValueError):
        return None
    if text is None or found is None:
        return None
    first, last = _lines(found)
    if last - first >= MOST_LINES:
        loops = [each for each in ast.walk(found) if isinstance(each, ast.For | ast.While)]
        first, last = _lines(min(loops, key=lambda each: each.lineno) if loops else found)
    lines = text.splitlines()[first - 1 : last]
    return MeasuredLoop(file, first, "\n".join(lines))


def _named(node: ast.AST, names: Sequence[str]) -> Definition | None:
    """Return the definition that is reached by these names, one inside the other."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, Definition) and each.name == names[0]:
            return each if len(names) == 1 else _named(each, names[1:])
    return None


def _lines(node: ast.stmt) -> tuple[int, int]:
    """Return the first and the last line of a statement, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    first = min(each.lineno for each in [node, *decorators])
    return first, node.end_lineno or first
