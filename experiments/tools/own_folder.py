"""A temporary folder for a run's sockets; folders of killed runs are removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

SHORT_PATH = "/tmp"  # a socket's path has 104 characters at most on macOS, whose own folder is long


@contextlib.contextmanager
def own_folder(kind: str) -> Iterator[str]:
    """Make a folder whose name begins with `kind`; remove those whose run was killed."""
    import psutil

    places = (SHORT_PATH, tempfile.gettempdir())
    base = next(place for place in places if os.access(place, os.W_OK))
    for left in Path(base).glob(f"{kind}*"):
        pid = left.name.removeprefix(kind).partition("-")[0]
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=f"{kind}{os.getpid()}-", dir=base, ignore_cleanup_errors=True
    ) as folder:
        yield folder
