"""The verdict of a step: a state, a key into the words with its values, and commands.

And what several steps say or judge by.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from functools import partial

from msgspec import field

from machine.record import Record

Value = str | int | float
_LITTLE = 10  # less than a tenth


class State(enum.StrEnum):
    """The result of a step. UNKNOWN could not be found out; NOT_REACHED follows a WRONG step."""

    OK = "ok"
    LOOK = "look"
    WRONG = "wrong"
    UNKNOWN = "unknown"
    NOT_REACHED = "not_reached"


class Verdict(Record):
    """The result of one step.

    `commands` say what to do next; each is a command to type or a page to read.
    `ends_walk`: no later step makes sense.
    """

    state: State
    key: str
    values: dict[str, Value] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    ends_walk: bool = False


def _verdict(state: State, key: str, *commands: str, **values: Value) -> Verdict:
    return Verdict(state=state, key=key, values=values, commands=commands)


fine = partial(_verdict, State.OK)  # nothing is wrong
look = partial(_verdict, State.LOOK)  # it works, but not well, or not for long
wrong = partial(_verdict, State.WRONG)  # this is why an accelerator cannot be used
unknown = partial(_verdict, State.UNKNOWN)  # it cannot be told from here


def is_nearly_full(free_bytes: int, total_bytes: int) -> bool:
    """Is so little of a GPU's memory free that most programs will not start?"""
    return free_bytes < total_bytes / _LITTLE


def counted(names: Iterable[str]) -> str:
    """Return a text such as "2 × NVIDIA A100, NVIDIA T4"."""
    counts = Counter(names)
    return ", ".join(f"{n} × {name}" if n > 1 else name for name, n in counts.items())
