"""Where do words, themes, icons and recorded runs lie? In the folder beside the rooms.

Found by this file's own place: `importlib.resources` would cost more than the first paint has left.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "resources"


def read_resource(*path: str) -> str:
    """Return the text of one file of the resources."""
    return FOLDER.joinpath(*path).read_text(encoding="utf-8")
