"""Sheets over the list of runs: a look into files, the choice for an export, and the bin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.runs.library import Kept
from app.window.core.drops import shown_elsewhere
from app.window.core.listing import Listing
from app.window.core.saving import begin, complete, new_file, remember
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS
from app.window.runs.archive import Archive
from app.window.runs.importing import Brought, look_inside
from app.window.runs.rerun import Again
from app.window.runs.side_by_side import side_by_side
from experiments.engine.recording import SUFFIXES
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
        sheet.look_asked.connect(
            lambda key: session.go(
                EXPERIMENTS, experiment=brought[key].experiment, run=brought[key].path
            )
        )
        sheet.show_asked.connect(lambda keys: archive.show([brought[key].kept for key in keys]))
        sheet.open()

    # --- several runs ---------------------------------------------------------------------------

    def show_beside(self, runs: Sequence[Kept]) -> None:
        """Show comparable runs side by side."""
        session, listing = self._session, self._listing()

        def then(shown: RunsBeside) -> None:
            SideBySide(self._parent.window(), shown, session.look, session.words).open()

        session.background.do_soon(
            lambda: side_by_side(session.words, session.catalogue, listing, runs), then
        )

    # --- export ---------------------------------------------------------------------------------

    def export(self, runs: Sequence[Kept]) -> None:
        """Export one run to a file, or several into a folder."""
        whole = [run for run in runs if run.problem is None]
        self._ask_what_to_tell(whole, partial(self._choose_target, whole))

    def _ask_what_to_tell(self, runs: Sequence[Kept], then: Callable[[bool], object]) -> None:
        """Call `then` with whether to export predictions and names; False if there are none."""
        say, notes = self._session.words.say, [run.run_notes for run in runs]
        keys = ["runs.export_prediction"] * any(each.guess for each in notes)
        keys += ["runs.export_name"] * any(each.name for each in notes)
        if not keys:
            then(False)
            return
        keys = ["runs.export_several"] if len(runs) > 1 else keys
        told = [say(key, {"name": notes[0].name}) for key in keys]
        asked = ask(
            self._parent.window(),
            self._session.look,
            say("runs.export_question"),
            " ".join([*told, say("runs.export_explained")]),
            [
                Answer("told", say("runs.export_told"), "main"),
                Answer("untold", say("runs.export_untold")),
                Answer("leave", say("runs.export_leave")),
            ],
        )
        asked.answered.connect(
            lambda answer, _remember: then(answer == "told") if answer != "leave" else None
        )

    def _choose_target(self, runs: Sequence[Kept], tells: bool) -> None:
        session, parent, say = self._session, self._parent, self._session.words.say
        export, title = partial(self._archive.export, runs, tells=tells), say("runs.export_runs")
        if len(runs) == 1:
            kinds = f"{say('runs.file_run')};;{say('runs.file_packed')}"
            if target := new_file(session, parent, title, kinds, runs[0].path.name):
                remember(session, target)
                complete(session, parent, target, SUFFIXES, export)
        elif folder := QFileDialog.getExistingDirectory(parent, title, begin(session)):
            remember(session, Path(folder, "any"))
            export(Path(folder))

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

    def ask_to_empty(self) -> None:
        """Ask whether to delete the runs in the bin for good."""
        self._session.background.do(self._session.library.bin_count, self._ask_to_empty)

    def _ask_to_empty(self, count: int) -> None:
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
