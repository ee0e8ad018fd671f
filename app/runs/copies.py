"""Files that are written wholly or not at all, and where they go when a disk has no room."""

from __future__ import annotations

import contextlib
import gzip
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOM_BYTES = 2**18  # must be free before a measurement: most runs and checkups take less
UNFINISHED = ".coreopsis-"  # how files begin that are being written
STALE_S = 24 * 3600.0  # then nobody writes them any more


def copy(path: Path, target: Path, change: Callable[[bytes], bytes] | None = None) -> None:
    """Copy a run to a file, packed where its name ends in .gz; `change` gets it unpacked.

    Raises OSError, EOFError or zlib.error, and what `change` raises.
    """
    data = path.read_bytes()
    is_packed, shall_be = data.startswith(b"\x1f\x8b"), target.name.endswith(".gz")
    if is_packed and (change is not None or not shall_be):
        data, is_packed = gzip.decompress(data), False
    if change is not None:
        data = change(data)
    if shall_be and not is_packed:
        data = gzip.compress(data, mtime=0)
    write_whole(target, data)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file wholly or not at all; a device or pipe is written to. Raises OSError."""
    path = Path(os.path.realpath(path))  # what a link leads to, not the link
    if os.path.exists(path) and not os.path.isfile(path):
        path.write_bytes(data)
        return
    part = path.with_name(_unfinished())
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):  # its disk may be read-only
            part.unlink(missing_ok=True)


def check_room(folder: Path) -> None:
    """See that a file can be written into a folder, which is made. Raises OSError.

    Unfinished files older than `STALE_S` are removed: a program was killed while it wrote them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(probe := folder / f"{_unfinished()}.probe", bytes(ROOM_BYTES))
    probe.unlink()
    for path in folder.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):  # another program was quicker
            if time.time() - path.stat().st_mtime > STALE_S:
                path.unlink()


def elsewhere() -> Iterator[Path]:
    """Yield the folders for what its own has no room for; each may have none either."""
    import tempfile  # not at each start

    for folder in (Path.cwd, tempfile.gettempdir):
        with contextlib.suppress(OSError):  # it may be gone
            yield Path(folder())


def _unfinished() -> str:
    """Return a name that no other thread uses now; short, since the file's own may be long."""
    return f"{UNFINISHED}{os.getpid()}-{threading.get_ident()}"
