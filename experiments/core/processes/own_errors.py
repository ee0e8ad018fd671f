"""An error in a user's own experiment: its file, its line, and what was raised."""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from pathlib import Path

from experiments.core.problems import Problem
from experiments.core.shelves import YOURS
from machine.text import plain

SAID_LETTERS = 400
_PLACE = re.compile(r'File "(.+?)", line (\d+)')  # in a trace


def own_problem(error: BaseException) -> Problem | None:
    """Return the sentence for an error that a file of the user's own raised; None for any other."""
    if isinstance(error, SyntaxError) and (file := _own_file(error.filename or "")):
        told = {"file": file, "line": error.lineno or 0, "error": plain(error.msg, SAID_LETTERS)}
        return Problem("own_error", told)
    frames = traceback.walk_tb(error.__traceback__)
    places = [(_own_file(frame.f_code.co_filename), line) for frame, line in frames]
    own = [place for place in places if place[0]]
    if not own:
        return None
    file, line = own[-1]
    if isinstance(error, ModuleNotFoundError) and error.name:
        return Problem("own_package_missing", {"file": file, "line": line, "name": error.name})
    return Problem("own_error", {"file": file, "line": line, "error": said(error)})


def problem_at(where: object, error: BaseException) -> Problem | None:
    """Return the sentence for an error that came of a class or function of the user's own."""
    try:
        file = _own_file(inspect.getsourcefile(where) or "")  # type: ignore[arg-type]
        lines, first = inspect.getsourcelines(where)  # type: ignore[arg-type]
    except (OSError, TypeError):  # there is no source of it
        return None
    wrong = error.name if isinstance(error, NameError) else None
    place = next((at for at, line in enumerate(lines) if wrong and wrong in line), 0)
    if not file:
        return None
    return Problem("own_error", {"file": file, "line": first + place, "error": said(error)})


def problem_in(trace: str) -> Problem | None:
    """Return the sentence for another process's trace, if a file of the user's own is in it."""
    places = [(_own_file(path), int(line)) for path, line in _PLACE.findall(trace)]
    own = [place for place in places if place[0]]
    if not own:
        return None
    (file, line), *_ = own[::-1]
    error = plain(trace.strip().splitlines()[-1], SAID_LETTERS)
    return Problem("own_error", {"file": file, "line": line, "error": error})


def is_own_file(path: Path) -> bool:
    """Does a file lie in the folder of one of the user's own experiments?"""
    return bool(_own_file(str(path)))


def unexpected(error: BaseException, key: str = "unexpected") -> Problem:
    """Return the sentence for an unexpected error: the user's own names its line."""
    return own_problem(error) or Problem(key, {"error": said(error)})


def said(error: BaseException) -> str:
    """Return the kind of an error and what it says, on one line."""
    name = type(error).__name__
    return plain(f"{name}: {error}" if str(error) else name, SAID_LETTERS)


def _own_file(path: str) -> str:
    """Return where a file lies in the folder of its experiment; "" for no file of the user's."""
    for shelf in getattr(sys.modules.get(YOURS), "__path__", ()):
        if Path(path).is_relative_to(shelf):
            _, *inside = Path(path).relative_to(shelf).parts or ("",)
            return "/".join(inside)
    return ""
