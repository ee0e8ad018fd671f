"""How to call this program, for every command that it tells to type."""

from __future__ import annotations

import os
import sys

NAME = "coreopsis"


def called() -> str:
    """Return what to type here; the bare name only if the shell finds this very program."""
    path = sys.argv[0]
    if os.path.basename(path).partition(".")[0] != NAME or not os.path.exists(path):
        return NAME
    places = (os.path.join(folder, NAME) for folder in os.get_exec_path())
    found = next((place for place in places if os.access(place, os.X_OK)), "")
    try:
        if os.path.realpath(found) == os.path.realpath(path):
            return NAME
        near = os.path.relpath(path)
    except FileNotFoundError:  # the working folder is gone
        return path
    return path if near.startswith("..") else near
