"""Copies of run files: packed as their names say, and written wholly or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path


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
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
