"""How is one question judged? As a state, a key into the words with its values, and commands."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

Value = str | int | float


class State(enum.StrEnum):
    """How a step went. UNKNOWN could not be told; NOT_REACHED comes after what is wrong."""

    OK = "ok"
    LOOK = "look"
    WRONG = "wrong"
    UNKNOWN = "unknown"
    NOT_REACHED = "not_reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to one question.

    `commands` are what to do next, each a command to be typed or a page to be read.
    `ends_walk`: nothing that would come after makes sense.
    """

    state: State
    key: str
    values: dict[str, Value] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    ends_walk: bool = False


def fine(key: str, *commands: str, **values: Value) -> Verdict:
    """Return that nothing is wrong."""
    return Verdict(state=State.OK, key=key, values=values, commands=commands)


def look(key: str, *commands: str, **values: Value) -> Verdict:
    """Return that it works, but not as well as it could, or not for long."""
    return Verdict(state=State.LOOK, key=key, values=values, commands=commands)


def wrong(key: str, *commands: str, **values: Value) -> Verdict:
    """Return that this is why an accelerator cannot be used."""
    return Verdict(state=State.WRONG, key=key, values=values, commands=commands)


def unknown(key: str, *commands: str, **values: Value) -> Verdict:
    """Return that it cannot be told from here."""
    return Verdict(state=State.UNKNOWN, key=key, values=values, commands=commands)
