"""Made-up runs, as the list shows them."""

from __future__ import annotations

from typing import Any

from experiments.core import words
from widgets.runs.listed import ListedRun, Result
from widgets.style import theme
from widgets.style.look import Look

WORDS = words.load()


def worn(mode: str = "dark", zoom: float = 1.0) -> Look:
    """Return a look that the application wears."""
    theme.add_fonts()
    look = Look(theme.load(mode, zoom))
    look.wear(look.theme)
    return look


def run(number: int, **more: Any) -> ListedRun:
    """Return a run; the higher its number, the newer it is."""
    given: dict[str, Any] = {
        "key": f"run {number}",
        "at": f"2026-03-04T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}+00:00",
        "when": f"when {number}",
        "exact": f"exactly {number}",
        "title": f"Question {number}",
        "machine": "Test CPU",
        "kind": "full",
        "results": (Result("speedup", f"{number}×", float(number)),),
        "finding": f"It found {number}.",
    }
    return ListedRun(**(given | more))


def damaged(number: int) -> ListedRun:
    """Return a run whose file is damaged."""
    return ListedRun(key=f"run {number}", at="", title="Unreadable file", problem="It is damaged.")
