"""The content of a slide."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SlideData:
    """One step of one item; what does not apply to it is empty."""

    place: int  # of the item, from 1
    count: int
    step: str  # app.lecture.lecture_state.Step
    title: str
    context: str = ""  # what the question stands on, and the code that it speaks of
    code: str = ""
    options: tuple[str, ...] = ()
    votes: tuple[int, ...] = ()
    before: tuple[int, ...] = ()  # the first votes, while the second are counted
    is_hidden: bool = False  # nobody may see the votes yet
    typed: str = ""  # the digits of a number of hands on their way
    typed_for: int = 0  # the option that they are for
    hint: str = ""
    key: str = ""  # "Page Down: run"
    source: str = ""  # "measured live on this machine, 4 cores"
    band: str = ""  # "RECORDED · machine · date"
    verdict: str = ""
    said: str = ""  # "38 of 84 had it. Only the thread that holds the interpreter lock runs."
    busy: str = ""  # "measuring, 4 s left"
    problem: str = ""
