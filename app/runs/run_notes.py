"""What do people say of a run? It stands beside its file, in a `.meta.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from experiments.engine.recording import SUFFIXES

META_SUFFIX = ".meta.json"


class Meta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What people add to a run."""

    name: str = ""
    note: str = ""
    tags: list[str] = []
    pinned: bool = False
    prediction: dict[str, Any] | None = None


def read_meta(path: Path) -> Meta:
    """Return what people added to the run in `path`; nothing where that cannot be read."""
    try:
        return msgspec.json.decode(meta_path(path).read_bytes(), type=Meta)
    except (OSError, msgspec.MsgspecError):
        return Meta()


def meta_path(path: Path) -> Path:
    """Return the file beside the file of a run."""
    return path.with_name(meta_name(path.name))


def meta_name(name: str) -> str:
    """Return what the file beside a run's is called."""
    suffix = next((s for s in SUFFIXES[::-1] if name.endswith(s)), "")
    return name.removesuffix(suffix) + META_SUFFIX
