"""The checkups in the user's data folder, and which of them is the baseline."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from app.runs.copies import check_room, elsewhere, write_whole
from experiments.checkup.result import SUFFIX, Result, encode, read
from experiments.core.problems import UserError

FOLDER, BASELINE, REFERENCES = "checkups", "baseline", "references"
STAMP_LETTERS = 15  # to the second, so that names sort as checkups began
COMPLETED = "completed"
_STAMP = re.compile(r"[^0-9T]")


class Checkups:
    """The kept checkups. A file that cannot be read is left alone and not listed."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def check_writable(self) -> None:
        """Raise UserError if a checkup could not be kept; meant for before it measures."""
        try:
            check_room(self._folder)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UserError("checkups_unwritable", path=str(self._folder), reason=reason) from None

    def keep(self, result: Result) -> Path:
        """Write a checkup; return its file. Raises UserError, also where another place took it."""
        stamp = _STAMP.sub("", result.at)[:STAMP_LETTERS]
        path = self._folder / f"{stamp}-{result.id[:8]}{SUFFIX}"
        try:
            _write(path, result)
        except OSError as error:
            raise _rescued(path.name, result, error.strerror or str(error)) from None
        return path

    def all(self) -> Sequence[Result]:
        """Return every checkup, the newest first."""
        return _read(sorted(_checkups_in(self._folder), reverse=True))

    def of(self, fingerprint: str | None) -> Sequence[Result]:
        """Return the checkups of the machine with this fingerprint, the newest first."""
        return [each for each in self.all() if fingerprint and fingerprint_of(each) == fingerprint]

    def baseline(self, fingerprint: str | None) -> Result | None:
        """Return the baseline of the machine with this fingerprint, None if there is none."""
        path = self._baseline(fingerprint)
        found = _read([path] if path is not None and os.path.isfile(path) else [])
        return found[0] if found else None

    def save_baseline(self, result: Result) -> None:
        """Make a whole and undisturbed checkup the baseline. Raises UserError."""
        if result.outcome != COMPLETED:
            raise UserError("checkup_cut_short")
        if result.disturbed:
            raise UserError("checkup_disturbed", count=len(result.disturbed))
        path = self._baseline(fingerprint_of(result))
        if path is None:
            raise UserError("checkup_without_fingerprint")
        try:
            _write(path, result)
        except OSError as error:
            raise UserError("baseline_not_kept", reason=error.strerror or str(error)) from None

    def references(self) -> Sequence[Result]:
        """Return the checkups of good machines that the user put into that folder."""
        return _read(_checkups_in(self._folder / REFERENCES))

    def _baseline(self, fingerprint: str | None) -> Path | None:
        name = re.sub(r"[^0-9a-zA-Z]", "", fingerprint or "")
        return self._folder / BASELINE / f"{name}{SUFFIX}" if name else None


def _checkups_in(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.name.endswith(SUFFIX)]
    except OSError:
        return []


def _read(paths: Sequence[Path]) -> list[Result]:
    found = []
    for path in paths:
        with contextlib.suppress(UserError):
            found.append(read(path))
    return found


def _write(path: Path, result: Result) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, encode(result))


def _rescued(name: str, result: Result, reason: str) -> UserError:
    """Write a checkup elsewhere; return the sentence that names the place, or says none took it."""
    for folder in elsewhere():
        with contextlib.suppress(OSError):
            write_whole(path := folder / name, encode(result))
            return UserError("checkup_kept_elsewhere", reason=reason, path=str(path))
    return UserError("checkup_not_kept", reason=reason)


def has_measured(result: Result) -> bool:
    """Did it end by itself, or at least measure something before it was stopped?"""
    return COMPLETED in (result.outcome, *(each.outcome for each in result.measurements))


def fingerprint_of(result: Result) -> str | None:
    """Return the fingerprint of the machine that was checked."""
    found = result.machine.get("fingerprint")
    return found if isinstance(found, str) else None
