"""Changes the kept runs in the background; a deletion can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from app.runs.library import Kept
from app.window.core.session import Session
from experiments.core.problems import Problem, UserError

Thing = TypeVar("Thing")


class Archive(QObject):
    """Changes the library of a session, and says the outcome."""

    came = Signal(object)  # names of the files that came, or came back
    undo_changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._words = session, session.words
        self._deleted: list[list[Kept]] = []  # runs deleted together, the last ones at the end

    @property
    def can_undo(self) -> bool:
        """Can a deletion of this window be undone?"""
        return bool(self._deleted)

    def describe(
        self, run: Kept, done: Callable[[Problem | None], object] | None = None, **changes: Any
    ) -> None:
        """Change a person's notes on a run; `done` gets the problem if that failed."""
        note = partial(self._session.library.note, **changes)
        self._do(lambda: _each([run], note, []), done or self._complain)

    def pin(self, runs: Sequence[Kept]) -> None:
        """Pin the runs; unpin them if all of them are pinned."""
        whole = [run for run in runs if run.problem is None]
        is_pinned = not all(run.run_notes.pinned for run in whole)
        pin = partial(self._session.library.note, pinned=is_pinned)
        self._do(lambda: _each(whole, pin, []), self._complain)

    def delete(self, runs: Sequence[Kept], title: str) -> None:
        """Move runs to the bin; `title` is the name of the first."""
        library, gone = self._session.library, list[Kept]()
        self._deleted.append(gone)
        self.undo_changed.emit()

        def then(problem: Problem | None) -> None:
            if gone:
                values = {"count": len(gone), "name": title}
                undo = self._words.say("runs.undo")
                self._session.tell(
                    self._words.say("runs.deleted", values), undo, lambda: self.undo(gone)
                )
            else:
                self._forget(gone)
                self.undo_changed.emit()
            self._complain(problem)

        self._do(lambda: _each(runs, library.delete, gone), then)

    def undo(self, gone: list[Kept] | None = None) -> None:
        """Bring back the last deletion, or these runs if they are still in the bin."""
        if gone is None:
            gone = self._deleted[-1] if self._deleted else []
        if any(gone is each for each in self._deleted):
            self._forget(gone)
            self.restore(gone)

    def restore(self, runs: Sequence[Kept]) -> None:
        """Bring runs back from the bin, also those that another process deleted."""
        names = {run.path.name for run in runs}
        for gone in [gone for gone in self._deleted if gone]:  # an empty one is on its way
            gone[:] = [run for run in gone if run.path.name not in names]
            if not gone:
                self._forget(gone)
        self.undo_changed.emit()
        library, back = self._session.library, list[Kept]()

        def then(problem: Problem | None) -> None:
            self._complain(problem)
            if back:  # it also replaces the notice that offers the undo
                self._session.tell(self._words.say("runs.back", {"count": len(back)}))
            self.came.emit([run.path.name for run in back])

        self._do(lambda: _each(runs, library.undelete, back), then)

    def adopt(self, paths: Sequence[Path]) -> None:
        """Copy run files into the library."""
        library, names = self._session.library, list[str]()

        def then(problem: Problem | None) -> None:
            self._complain(problem)
            if names:
                self._session.tell(self._words.say("import.kept", {"count": len(names)}))
            self.came.emit(names)

        self._do(
            lambda: _each(paths, lambda path: names.append(library.adopt(path).name), []), then
        )

    def show(self, names: Sequence[str]) -> None:
        """Select runs that were kept before."""
        self.came.emit(list(names))
        self._session.refresh_runs()

    def export(self, runs: Sequence[Kept], target: Path, *, tells: bool = False) -> None:
        """Copy runs to a file or a folder; if it `tells`, with predictions and names."""
        library = self._session.library

        def then(problem: Problem | None) -> None:
            self._complain(problem)
            if problem is None:
                values = {"count": len(runs), "path": str(target)}
                self._session.tell(self._words.say("runs.exported", values))

        export = partial(library.export, target=target, tells=tells)
        self._session.background.do(lambda: _each(runs, export, []), then)

    def empty_bin(self) -> None:
        """Delete the runs in the bin for good."""
        self._deleted.clear()
        self.undo_changed.emit()

        def then(count: int) -> None:
            self._session.tell(self._words.say("runs.bin_emptied", {"count": count}))

        self._session.background.do(self._session.library.empty_bin, then)

    def rebuild(self) -> None:
        """Make the index anew from the files."""

        def then(_: None) -> None:
            self._session.tell(self._words.say("runs.rebuilt"))
            self._session.refresh_runs()

        self._session.background.do(self._session.library.rebuild, then)

    def _do(
        self, work: Callable[[], Problem | None], then: Callable[[Problem | None], object]
    ) -> None:
        """Do work that changes the runs, and refresh their list."""
        self._session.background.do(work, then)
        self._session.refresh_runs()

    def _forget(self, gone: list[Kept]) -> None:
        self._deleted = [each for each in self._deleted if each is not gone]

    def _complain(self, problem: Problem | None) -> None:
        if problem is not None:
            self._session.troubled.emit(problem)


def _each(
    things: Sequence[Thing], work: Callable[[Thing], object], done: list[Thing]
) -> Problem | None:
    """Do the work for each; return the first problem, after all have been tried."""
    first = None
    for thing in things:
        try:
            work(thing)
        except UserError as trouble:
            first = first or trouble.problem
        else:
            done.append(thing)
    return first
