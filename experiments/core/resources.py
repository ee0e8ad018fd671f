"""The folder of words, themes, icons, fonts and machines, which lies beside the rooms.

Found by this file's own place: `importlib.resources` would cost more than the first paint has left.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "resources"


def read_resource(*path: str) -> str:
    """Return the text of one file of the resources."""
    return FOLDER.joinpath(*path).read_text(encoding="utf-8")
