"""What is tried in a Windows of our own, and how each should end."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.tools.windows import wine

LIMIT_S = 120.0
SOON_S = 2.0  # Wine's own time included, on a machine that does other things as well
LAST = 300  # characters of what went wrong


class Looked(NamedTuple):
    """How a look ended; `wrong` is "" where all is right."""

    took_s: float
    wrong: str


def look(name: str) -> Looked:
    """Try one thing; never raises for what the program does."""
    start_s = time.monotonic()
    try:
        wrong = LOOKS[name]()
    except subprocess.TimeoutExpired:
        wrong = f"did not end within {LIMIT_S:.0f} s"
    if wrong:
        wine.end()  # what it left would stand in the way of the next
    return Looked(time.monotonic() - start_s, wrong)


def _said(*command: str, says: str, code: int = 0) -> str:
    """Run a command of the program; return what is wrong with its end and its words."""
    ended = wine.wine(wine.PYTHON, "-m", "app", *command, limit_s=LIMIT_S)
    return _judged(ended, says, code)


def _judged(ended: subprocess.CompletedProcess[bytes], says: str, code: int) -> str:
    errors = ended.stderr.decode(errors="replace")
    if "Traceback" in errors or ended.returncode != code:
        said = ended.stdout.decode(errors="replace") + errors
        return f"ended with {ended.returncode}: {said.strip()[-LAST:]}"
    try:
        said = ended.stdout.decode()
    except UnicodeDecodeError as error:
        return f"not in UTF-8: {error}"
    return "" if says in said else f"does not say {says!r}: {said.strip()[-LAST:]}"


def _checkup_into_a_file() -> str:
    """Write a checkup as `> file` does, and read it."""
    path = wine.DRIVE / "checkup.txt"
    line = rf"{wine.PYTHON} -m app checkup --quick > C:\{path.name}"
    ended = wine.wine("cmd", "/c", line, limit_s=LIMIT_S)
    text = subprocess.CompletedProcess((), ended.returncode, path.read_bytes(), ended.stderr)
    return _judged(text, "✓", 0)


def _inside(*what: str) -> dict[str, Any]:
    """Return the answer of `inside.py`, with its errors where it has none."""
    ended = wine.wine(wine.PYTHON, "inside.py", *what, limit_s=LIMIT_S)
    try:
        answer: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return {"problem": ended.stderr.decode(errors="replace").strip()[-LAST:]}
    return answer


def _ctrl_c() -> str:
    told = _inside("ctrl-c")
    is_right = told.get("code") == 130 and not told["trace"] and not told["left"]
    return "" if is_right and told["took_s"] < SOON_S else f"{told}"


def _killed(whom: str) -> Callable[[], str]:
    def kill() -> str:
        told = _inside("kill", whom)
        return "" if told.get("left") == 0 and told["took_s"] < SOON_S else f"{told}"

    return kill


def _children() -> str:
    told = _inside("children")
    return "" if told == {"processes": 2, "living": [2, 0]} else f"{told}"


LOOKS: dict[str, Callable[[], str]] = {
    "inspect": lambda: _said("inspect", says="Windows"),
    "doctor": lambda: _said("doctor", says="Windows"),
    "cache-ladder": lambda: _said("run", "cache-ladder", "--quick", says="Kept as"),
    "gil-threads": lambda: _said("run", "gil-threads", "--quick", says="Kept as"),
    "isolation": lambda: _said("run", "isolation", "--quick", says="0"),
    "children": _children,
    "ctrl-c": _ctrl_c,
    "kill program": _killed("program"),
    "kill guardian": _killed("guardian"),
    "kill worker": _killed("worker"),
    "checkup > file": _checkup_into_a_file,
}
