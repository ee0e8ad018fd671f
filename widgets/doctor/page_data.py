"""Data of the doctor's page: sentences and states, independent of the diagnosis."""

from __future__ import annotations

from dataclasses import dataclass

from machine.doctor.verdicts import State

NAMES = {
    State.OK: "doctor.page.fine",
    State.LOOK: "doctor.page.look",
    State.WRONG: "doctor.page.wrong",
    State.UNKNOWN: "doctor.page.unknown",
    State.NOT_REACHED: "doctor.page.not_reached",
}  # a word for each: colour alone is not enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link of the chain; `word` is "" for the usual word of its state."""

    title: str
    state: State = State.NOT_REACHED
    word: str = ""
    text: str = ""
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """Headline, finding in words, commands that mend it, and the chain."""

    headline: str
    state: State
    text: str = ""
    commands: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    is_well: bool = False  # there is an accelerator without faults


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonChoice:
    """A Python that may be examined; `path` is "" for this program's own."""

    path: str
    text: str
