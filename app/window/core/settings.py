"""The settings of the window, in one small file of the data folder.

Nothing in it can stop the window: an invalid value becomes its default, a broken file is set aside.
Keys of other versions are kept. It is plain JSON, because it is read before the first paint, which
other libraries would delay.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from experiments.core.problems import Problem, UserError

NAME, ASIDE = "settings.json", "settings.broken.json"


def _one_of(*choices: str) -> Any:
    """Declare one of some words, the first by default."""
    return field(default=choices[0], metadata={"holds": lambda value: value in choices})


def _between(least: float, most: float, default: float) -> Any:
    """Declare a number of a range."""

    def holds(value: object) -> bool:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return least <= value <= most

    return field(default=default, metadata={"holds": holds})


def _any(default: bool | str) -> Any:
    """Declare any value of the kind of the default."""
    return field(default=default, metadata={"holds": lambda value: type(value) is type(default)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its default and its range."""

    mode: str = _one_of("system", "light", "dark")
    worn: str = _one_of("dark", "light")  # last time, so that the first paint need not ask
    zoom: float = _between(0.8, 2.0, 1.0)  # the ends of theme.ZOOMS
    letters: bool = _any(True)  # do single letters act as shortcuts?
    less_motion: bool = _any(False)  # nothing moves by itself
    numbers: bool = _any(False)  # no lesson: the result at once
    closing: str = _one_of("ask", "finish", "stop")  # what becomes of a run as the window closes
    live_hz: float = _between(0.1, 20.0, 2.0)
    first_guess: bool = _any(True)  # the card of the map, until somebody closes it
    place: str = _any("")
    folder: str = _any("")  # where a file was saved or opened last
    path: str = _any("")  # through the experiments, chosen last
    playlist: str = _any("")  # the file of the lecture that was put together last
    own_folders: str = _any("")  # from which code runs, as was said once of each
    geometry: str = _any("")  # of the window, as Qt saves it, in base64

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid value."""
        for each in fields(self):
            if not _holds(each.metadata, getattr(self, each.name)):
                raise ValueError(f"{each.name} cannot be {getattr(self, each.name)!r}")

    def key_of(self, letter: str) -> str:
        """Return the key that does what a single letter does where there is no other key."""
        return letter if self.letters else f"Ctrl+{letter}"

    def replace(self, **changes: Any) -> Settings:
        """Return these settings with other values for some. Raises ValueError, TypeError."""
        return replace(self, **changes)


def load(folder: Path) -> tuple[Settings, Problem | None]:
    """Return the settings, and the problem with their file if there is one."""
    path = folder / NAME
    try:
        found = _read(path)
    except OSError as error:
        return Settings(), Problem("settings_unreadable", {"reason": error.strerror or "?"})
    except (ValueError, RecursionError) as error:
        with contextlib.suppress(OSError):
            path.replace(folder / ASIDE)
        return Settings(), Problem("settings_broken", {"aside": ASIDE}, detail=str(error))
    values = {
        each.name: found[each.name]
        for each in fields(Settings)
        if each.name in found and _holds(each.metadata, found[each.name])
    }
    return Settings(**values), None


def save(folder: Path, settings: Settings) -> None:
    """Write the settings, wholly or not at all. Raises UserError."""
    from app.runs.copies import write_whole  # after the first paint

    path = folder / NAME
    try:
        others = _read(path)
    except (OSError, ValueError, RecursionError):
        others = {}
    whole = json.dumps({**others, **asdict(settings)}, indent=2)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, f"{whole}\n".encode())
    except OSError as error:
        raise UserError("settings_unwritable", reason=error.strerror or "?") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def _holds(metadata: Any, value: object) -> bool:
    holds: Callable[[object], bool] = metadata["holds"]
    return holds(value)
