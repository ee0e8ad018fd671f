"""The environment in which another process finds our packages where this one does."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALLED = ("site-packages", "dist-packages")


def own_environment() -> dict[str, str]:
    """Return this environment with the folder of our packages on the module path.

    The processes start with `-P`, so without it they would find only what is installed. Nothing
    else of `sys.path` is handed on: a run may start another Python, which has its own libraries.
    """
    before = os.environ.get("PYTHONPATH", "")
    paths = [path for path in before.split(os.pathsep) if path]
    if ROOT.name not in INSTALLED:
        paths = [str(ROOT), *(path for path in paths if path != str(ROOT))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)} if paths else dict(os.environ)
