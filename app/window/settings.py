"""What does the window remember of a person's choices? One small file in the data folder.

Nothing in it can stop the window: a value that cannot be is replaced by its default, a file that
cannot be read is set aside. Keys of another version of the program are kept.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from experiments.problems import Problem, Trouble

NAME, ASIDE = "settings.json", "settings.broken.json"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting with its default and its range."""

    mode: Literal["system", "light", "dark"] = "system"
    zoom: Annotated[float, Meta(ge=0.8, le=2.0)] = 1.0  # the ends of theme.ZOOMS
    motion: Literal["system", "none"] = "system"
    letters: bool = True  # do single letters act as shortcuts?
    closing: Literal["ask", "finish", "stop"] = "ask"  # what becomes of a run as the window closes
    live_hz: Annotated[float, Meta(ge=0.1, le=20.0)] = 2.0
    place: str = ""
    experiment: str = ""
    geometry: str = ""  # of the window, as Qt saves it, in base64
    maximized: bool = False

    def replace(self, **changes: Any) -> Settings:
        """Return these settings with other values for some; ValidationError for what cannot be."""
        changed = {**msgspec.to_builtins(self), **changes}
        return msgspec.convert(changed, Settings)


def load(folder: Path) -> tuple[Settings, Problem | None]:
    """Return the settings, and what a person should know of their file."""
    path = folder / NAME
    try:
        found = _read(path)
    except OSError as error:
        return Settings(), Problem("settings_unreadable", {"reason": error.strerror or "?"})
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        with contextlib.suppress(OSError):
            path.replace(folder / ASIDE)
        return Settings(), Problem("settings_broken", {"aside": ASIDE}, detail=str(error))
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(Settings):
        if field.name in found:
            with contextlib.suppress(msgspec.ValidationError):  # the default is as good
                values[field.name] = msgspec.convert(found[field.name], field.type)
    return Settings(**values), None


def save(folder: Path, settings: Settings) -> None:
    """Write the settings, wholly or not at all. Raises Trouble."""
    path, part = folder / NAME, folder / f".{NAME}.{os.getpid()}.part"
    try:
        others = _read(path)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        others = {}
    try:
        whole = msgspec.json.encode({**others, **msgspec.to_builtins(settings)})
        folder.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(msgspec.json.format(whole) + b"\n")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise Trouble("settings_unwritable", reason=error.strerror or "?") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return {}
