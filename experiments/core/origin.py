"""The origin of a copied experiment: `mine.toml` in its folder, read strictly."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from experiments.core.problems import UserError
from machine.convert import UNREADABLE

NAME = "mine.toml"


class Origin(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The id of the original, and its version when the copy was made."""

    original: str
    version: int


def origin_of(folder: Path) -> Origin | None:
    """Return where an experiment comes from, None if it is no copy. Raises UserError."""
    path = folder / NAME
    if not os.path.isfile(path):
        return None
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Origin)
    except (OSError, *UNREADABLE) as error:
        raise UserError("origin_unreadable", path=str(path), reason=str(error)) from None


def written(origin: Origin) -> str:
    """Return the text of the file. An id holds letters, digits and hyphens alone."""
    return f'original = "{origin.original}"\nversion = {origin.version}\n'
