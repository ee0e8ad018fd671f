"""Copies of run files: packed as their names say, and written wholly or not at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path


def copy(path: Path, target: Path) -> None:
    """Copy a run to a file, packed where its name ends in .gz.

    Raises OSError, EOFError or zlib.error.
    """
    data = path.read_bytes()
    is_packed, shall_be = data.startswith(b"\x1f\x8b"), target.name.endswith(".gz")
    if is_packed != shall_be:
        data = gzip.compress(data, mtime=0) if shall_be else gzip.decompress(data)
    write_whole(target, data)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file wholly or not at all. Raises OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
