"""Says in a sentence what a run found in one version of a program with planted faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.core.views import Code
from experiments.core.words import Words


def remarked(
    words: Words, experiment_id: str, view: Code, rows: Sequence[Any], piece: str, version: str
) -> str:
    """Return what was found wrong with it, that nothing was, or "" before any row has come."""
    if not rows:
        return ""

    def said(row: Any, column: str) -> str:
        text = str(getattr(row, column))
        key = f"{experiment_id}.choices.{text}"
        return words.say(key) if words.has(key) else text

    where, what, detail = view.about
    found = [
        words.say(
            "puzzle.remark",
            {"where": said(row, where), "what": said(row, what), "detail": said(row, detail)},
        )
        for row in rows
        if (getattr(row, view.piece), getattr(row, view.version)) == (piece, version)
    ]
    if not found:
        return words.say("puzzle.checker_silent")
    return words.say("puzzle.checker", {"remarks": "; ".join(found)})
