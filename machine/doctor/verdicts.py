"""The verdict of a step: a state, a key into the words with its values, and commands."""

from __future__ import annotations

import enum

from msgspec import field

from machine.record import Record

Value = str | int | float


class State(enum.StrEnum):
    """The result of a step. UNKNOWN could not be told; NOT_REACHED follows a WRONG step."""

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


def fine(key: str, *commands: str, **values: Value) -> Verdict:
    """Return a verdict: nothing is wrong."""
    return Verdict(state=State.OK, key=key, values=values, commands=commands)


def look(key: str, *commands: str, **values: Value) -> Verdict:
    """Return a verdict: it works, but not well, or not for long."""
    return Verdict(state=State.LOOK, key=key, values=values, commands=commands)


def wrong(key: str, *commands: str, **values: Value) -> Verdict:
    """Return a verdict: this is why an accelerator cannot be used."""
    return Verdict(state=State.WRONG, key=key, values=values, commands=commands)


def unknown(key: str, *commands: str, **values: Value) -> Verdict:
    """Return a verdict: it cannot be told from here."""
    return Verdict(state=State.UNKNOWN, key=key, values=values, commands=commands)
