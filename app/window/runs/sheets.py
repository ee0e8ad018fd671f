"""Sheets over the list of runs: a look into files, and the bin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.runs.library import Kept
from app.window.core.drops import shown_elsewhere
from app.window.core.listing import Listing
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS
from app.window.runs.archive import Archive
from app.window.runs.importing import Brought, look_inside
from app.window.runs.rerun import Again
from app.window.runs.side_by_side import side_by_side
from widgets.runs.bin_look import BinLook
from widgets.runs.import_look import ImportLook
from widgets.runs.listed import ListedRun
from widgets.runs.side_by_side import RunsBeside, SideBySide
from widgets.sheets.question import Answer, ask


class RunSheets:
    """`listing` returns what puts runs into words, `collage` shows one; all lies over `parent`."""

    def __init__(
        self,
        session: Session,
        archive: Archive,
        again: Again,
        parent: QWidget,
        listing: Callable[[], Listing],
        collage: Callable[[Sequence[Path]], object],
    ) -> None:
        self._session, self._archive, self._again = session, archive, again
        self._parent, self._listing, self._collage = parent, listing, collage

    # --- runs from elsewhere --------------------------------------------------------------------

    def look_into(self, paths: Sequence[Path]) -> None:
        """Show the contents of files before an import; others are shown in their own place."""
        if shown_elsewhere(paths, self._session):
            return
        words, listing, runs = self._session.words, self._listing(), self._session.runs
        self._session.background.do(
            lambda: look_inside(paths, runs, words, listing), self._show_inside
        )

    def _show_inside(self, found: Sequence[Brought]) -> None:
        brought = {each.inside.key: each for each in found}
        files = [each.inside for each in found]
        session, archive = self._session, self._archive
        sheet = ImportLook(self._parent.window(), files, session.look, session.words)
        sheet.keep_asked.connect(lambda keys: archive.adopt([brought[key].path for key in keys]))
        sheet.collage_asked.connect(lambda keys: self._collage([brought[k].path for k in keys]))
        sheet.same_asked.connect(lambda key: self._again.run(brought[key].path, compares=True))
        sheet.look_asked.connect(lambda key: self._only_look(brought[key]))
        sheet.show_asked.connect(lambda keys: archive.show([brought[key].kept for key in keys]))
        sheet.open()

    def _only_look(self, brought: Brought) -> None:
        self._session.go(EXPERIMENTS, experiment=brought.experiment, run=brought.path)

    # --- several runs ---------------------------------------------------------------------------

    def show_beside(self, runs: Sequence[Kept]) -> None:
        """Show comparable runs side by side."""
        session, listing = self._session, self._listing()

        def then(shown: RunsBeside) -> None:
            SideBySide(self._parent.window(), shown, session.look, session.words).open()

        session.background.do_soon(
            lambda: side_by_side(session.words, session.catalogue, listing, runs), then
        )

    # --- the bin --------------------------------------------------------------------------------

    def show_bin(self) -> None:
        """Offer to restore deleted runs, also those of earlier windows."""
        session, listing = self._session, self._listing()

        def read() -> list[tuple[Kept, ListedRun]]:
            return [(run, listing.line(run)) for run in session.library.deleted()]

        session.background.do(read, self._show_deleted)

    def _show_deleted(self, found: Sequence[tuple[Kept, ListedRun]]) -> None:
        session = self._session
        if not found:
            session.tell(session.words.say("runs.bin_is_empty"))
            return
        runs = {line.key: run for run, line in found}
        lines = [line for _, line in found]
        sheet = BinLook(self._parent.window(), lines, session.look, session.words)
        sheet.back_asked.connect(lambda keys: self._archive.restore([runs[key] for key in keys]))
        sheet.open()

    def ask_to_empty(self, count: int) -> None:
        """Ask whether to delete so many runs for good."""
        say, values = self._session.words.say, {"count": count}
        if not count:
            self._session.tell(say("runs.bin_is_empty"))
            return
        asked = ask(
            self._parent.window(),
            self._session.look,
            say("runs.empty_bin_question", values),
            say("runs.empty_bin_explained"),
            [
                Answer("empty", say("runs.empty_bin_yes"), "stop"),
                Answer("leave", say("runs.empty_bin_no")),
            ],
        )
        asked.answered.connect(
            lambda answer, _remember: self._archive.empty_bin() if answer == "empty" else None
        )
