"""A temporary folder with a short path, for a run's sockets."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from machine.system.scratch import VARIABLE

SHORT_PATH = "/tmp"  # a socket's path has 104 characters at most on macOS, whose own folder is long


@contextlib.contextmanager
def own_folder(kind: str) -> Iterator[str]:
    """Make a folder; where a guardian is there, a killed run's goes with it."""
    guarded = os.environ.get(VARIABLE)
    prefix = "" if guarded else f"{kind}{os.getpid()}-"  # a short path
    places = (guarded or SHORT_PATH, tempfile.gettempdir())
    base = next(place for place in places if os.access(place, os.W_OK))
    with tempfile.TemporaryDirectory(prefix=prefix, dir=base, ignore_cleanup_errors=True) as folder:
        yield folder
