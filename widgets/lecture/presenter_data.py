"""Data of the presenter's view beside the slide."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """The state of an item of a lecture."""

    DONE = "done"
    NOW = "now"
    READY = "ready"
    RECORDING = "recording"  # it is shown as one, or can be no other
    NOTHING = "nothing"  # it has neither run nor recording


@dataclass(frozen=True, slots=True)
class ItemLine:
    """One item in the list."""

    title: str
    state: str
    standing: Standing


@dataclass(frozen=True, slots=True)
class Act:
    """One button with its key; `name` is what it does."""

    name: str
    text: str
    keys: str
    is_main: bool = False
    is_allowed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PresenterData:
    """All texts of the presenter's window; what does not apply is empty."""

    sees: str
    then: str
    notes: str
    clock: str
    plan: str
    is_behind: bool
    items: tuple[ItemLine, ...]
    place: int
    acts: tuple[Act, ...]
    problem: str
    machine: str
    worker: str
