"""A lecture that is put together; each change can be undone."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from app.lecture.file import MOST_ITEMS, Item, Lecture, encode, read
from app.lecture.lectures import is_shipped
from app.runs.copies import write_whole
from experiments.core.problems import UserError

MOST_UNDONE = 100


class Draft:
    """A lecture with the file that it came from, None for a new one."""

    def __init__(self, lecture: Lecture | None = None, path: Path | None = None) -> None:
        self.lecture, self.path = lecture or Lecture(), path
        self._saved = self.lecture
        self._before: list[Lecture] = []

    @property
    def is_changed(self) -> bool:
        """Does it differ from its file?"""
        return self.lecture != self._saved

    @property
    def can_undo(self) -> bool:
        """Was anything changed that can be taken back?"""
        return bool(self._before)

    @property
    def items(self) -> tuple[Item, ...]:
        """Its items, in order."""
        return self.lecture.item

    def add(self, item: Item, place: int | None = None) -> int:
        """Add an item, by default as the last; return its place. Raises UserError if it is full."""
        if len(self.items) >= MOST_ITEMS:
            raise UserError("lecture_full", limit=MOST_ITEMS)
        place = len(self.items) if place is None else min(max(place, 0), len(self.items))
        self._use(item=(*self.items[:place], item, *self.items[place:]))
        return place

    def move(self, place: int, to: int) -> int:
        """Move an item; return where it is then."""
        items = list(self.items)
        to = min(max(to, 0), len(items) - 1)
        if to != place:
            items.insert(to, items.pop(place))
            self._use(item=tuple(items))
        return to

    def remove(self, place: int) -> Item:
        """Take an item out, and return it."""
        item = self.items[place]
        self._use(item=(*self.items[:place], *self.items[place + 1 :]))
        return item

    def change(self, place: int, **changes: Any) -> None:
        """Change an item's notes, minutes or settings."""
        item = replace(self.items[place], **changes)
        if item != self.items[place]:
            self._use(item=(*self.items[:place], item, *self.items[place + 1 :]))

    def name(self, title: str) -> None:
        """Give it a title."""
        if title != self.lecture.title:
            self._use(title=title)

    def undo(self) -> None:
        """Take the last change back."""
        if self._before:
            self.lecture = self._before.pop()

    def keep(self, path: Path) -> None:
        """Write it beside its file, for the next start of the program. Raises OSError."""
        if self.is_changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, encode(self.lecture))
        else:
            path.unlink(missing_ok=True)

    def save(self, path: Path) -> None:
        """Write it to a file, wholly or not at all. Raises UserError."""
        try:
            if is_shipped(path):
                raise PermissionError(0, "it comes with the program")
            write_whole(path, encode(self.lecture))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise UserError("file_not_written", path=str(path), reason=reason) from None
        self.path, self._saved = path, self.lecture

    @classmethod
    def kept(cls, kept: Path, path: Path | None) -> Draft:
        """Return what was kept, as a change of its file; that file where nothing was kept."""
        saved, name = None, path
        with contextlib.suppress(UserError):  # it may be gone
            saved = read(path) if path is not None else None
        draft = cls(saved, name if saved is not None else None)
        with contextlib.suppress(UserError):
            if os.path.isfile(kept):
                draft.lecture = read(kept)
        return draft

    def _use(self, **changes: Any) -> None:
        lecture = replace(self.lecture, **changes)
        if lecture != self.lecture:  # equal items may have changed places
            self._before = [*self._before[-MOST_UNDONE:], self.lecture]
            self.lecture = lecture
