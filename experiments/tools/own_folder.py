"""A temporary folder with a short path, for a run's sockets."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from experiments.engine.scratch import VARIABLE

SHORT_PATH = "/tmp"  # a socket's path has 104 characters at most on macOS, whose own folder is long


@contextlib.contextmanager
def own_folder(kind: str) -> Iterator[str]:
    """Make a folder whose name begins with `kind`; a killed run's goes with its guardian."""
    places = (os.environ.get(VARIABLE, SHORT_PATH), tempfile.gettempdir())
    base = next(place for place in places if os.access(place, os.W_OK))
    with tempfile.TemporaryDirectory(
        prefix=f"{kind}{os.getpid()}-", dir=base, ignore_cleanup_errors=True
    ) as folder:
        yield folder
