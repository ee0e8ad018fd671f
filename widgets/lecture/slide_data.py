"""What a slide shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SlideData:
    """One step of one item; what does not apply to it is empty."""

    place: int  # of the item, from 1
    count: int
    step: str  # app.lecture.course.Step
    title: str
    options: tuple[str, ...] = ()
    votes: tuple[int, ...] = ()
    before: tuple[int, ...] = ()  # the first votes, while the second are counted
    hint: str = ""
    key: str = ""  # "Page Down: run"
    source: str = ""  # "measured live on this machine, 4 cores"
    band: str = ""  # "RECORDED · machine · date"
    verdict: str = ""
    said: str = ""  # "38 of 84 had it. Only the thread that holds the interpreter lock runs."
    busy: str = ""  # "measuring, 4 s left"
    problem: str = ""
