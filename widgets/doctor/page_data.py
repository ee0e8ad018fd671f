"""What does the page of the doctor show? Sentences and states; it knows no diagnosis."""

from __future__ import annotations

from dataclasses import dataclass

from machine.doctor.verdicts import State

NAMES = {
    State.OK: "doctor.page.fine",
    State.LOOK: "doctor.page.look",
    State.WRONG: "doctor.page.wrong",
    State.UNKNOWN: "doctor.page.unknown",
    State.NOT_REACHED: "doctor.page.not_reached",
}  # a word for each, since no colour says it alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link of the chain from the card to a sum on it; `word` is "" for that of its state."""

    title: str
    state: State = State.NOT_REACHED
    word: str = ""
    text: str = ""
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """The whole: a headline, what was found in words, what mends it, and the chain."""

    headline: str
    state: State
    text: str = ""
    commands: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    is_well: bool = False  # there is an accelerator, and nothing is wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonChoice:
    """A Python that may be examined; `path` is "" for this program's own."""

    path: str
    text: str
