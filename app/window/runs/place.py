"""The place of the runs: all that were kept, what they found, and what people say of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction

from app.runs.library import Kept
from app.window.core.place import Place
from app.window.core.saving import complete
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS, RUNS, Target, Then
from app.window.runs.actions import RunActions
from app.window.runs.archive import Archive
from app.window.runs.file_dialogs import choose_files, choose_folder, choose_target
from app.window.runs.listing import Listing
from app.window.runs.pairing import Pairing
from app.window.runs.sheets import RunSheets
from experiments.core.problems import Problem
from experiments.engine.recording import SUFFIXES
from widgets.controls.basics import column
from widgets.controls.place_head import MARGINS
from widgets.runs.details import Said
from widgets.runs.listed import ListedRun
from widgets.runs.page import RunsPage

if TYPE_CHECKING:
    from app.window.core.reporting import Reporting


class RunsPlace(Place):
    """Shows the list and the details, and connects them with the library."""

    name = RUNS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        words = session.words
        self.page = RunsPage(session.look, words)
        self.table, self.details = self.page.table, self.page.details
        self.actions_ = RunActions(self, self.table, words)
        self.archive, self.pairing = Archive(session), Pairing(self.table, self.details)
        self.sheets = RunSheets(session, self.archive, self, self._listing_of_now)
        self._kept: dict[str, Kept] = {}
        self._reporting: Reporting | None = None
        self._listing: Listing | None = None
        self._to_select: list[str] = []
        self._is_here, self._is_old = False, True
        layout = column(self.page)
        layout.setContentsMargins(*MARGINS)
        self.setLayout(layout)
        self.setFocusProxy(self.table)
        self.details.buttons.setFocusProxy(self.table)  # a click leaves the keys to the list
        self._connect()
        self._use_letters()
        self._allow()
        if session.is_awake:  # an empty list may be one that was never read
            session.refresh_runs()

    # --- what the window asks of a place --------------------------------------------------------

    def open(self, target: Target) -> None:
        """Select the wanted run, if there is one, or look into files."""
        if target.files:
            self.sheets.look_into(target.files)
        if target.run is not None:
            self._to_select = [target.run.name]
            self._refresh()

    def arrive(self) -> None:
        """Show changes since the last visit."""
        self._is_here = True
        if self._is_old:
            self._refresh()
        if not self.page.is_empty:
            self.table.setFocus()

    def leave(self) -> None:
        """Save edits under way."""
        self._is_here = False
        self.pairing.leave()
        self.details.hand_on()

    def own_actions(self) -> Sequence[QAction]:
        """Return the actions allowed now."""
        return tuple(self.actions_)

    # --- the list -------------------------------------------------------------------------------

    def _connect(self) -> None:
        session, page, table, details = self.session, self.page, self.table, self.details
        actions, archive, pairing = self.actions_, self.archive, self.pairing
        session.settings_changed.connect(self._use_letters)
        session.runs_changed.connect(self._note_change)
        session.entries_changed.connect(self._note_change)
        archive.came.connect(self._select_later)
        archive.undo_changed.connect(self._allow)
        table.chosen.connect(self._show_chosen)
        table.opened.connect(lambda _key: self._open())
        pairing.paired.connect(self._compare_pair)
        pairing.left.connect(self._show_again)
        table.pin_clicked.connect(lambda key: self._pin([self._kept[key]]))
        table.menu_asked.connect(self._show_menu)
        details.said.connect(self._describe)
        page.import_asked.connect(self._choose_files)
        page.experiments_asked.connect(lambda: session.go(EXPERIMENTS))
        page.files_dropped.connect(self.sheets.look_into)
        for asked, action in (
            (details.buttons.open_asked, actions.open),
            (details.buttons.replay_asked, actions.replay),
            (details.buttons.again_asked, actions.again),
            (details.buttons.pin_asked, actions.pin),
            (details.buttons.compare_asked, actions.compare),
            (details.buttons.compare_with_asked, actions.compare_with),
            (details.buttons.export_asked, actions.export),
            (details.buttons.report_asked, actions.report),
            (details.buttons.delete_asked, actions.delete),
            (table.delete_asked, actions.delete),
            (table.rename_asked, actions.rename),
        ):
            asked.connect(action.trigger)
        for action, act in (
            (actions.open, self._open),
            (actions.replay, lambda: self._open("replay")),
            (actions.again, lambda: self._open("measure")),
            (actions.compare, self._compare),
            (actions.compare_with, lambda: pairing.ask(self._chosen()[0].path.name)),
            (actions.rename, details.edit_name),
            (actions.pin, lambda: self._pin(self._chosen())),
            (actions.export, self._export),
            (actions.report, self._report),
            (actions.delete, self._delete),
            (actions.undo, archive.undo),
            (actions.search, self._search),
            (actions.bring, self._choose_files),
            (actions.restore, self.sheets.show_bin),
            (actions.empty_bin, lambda: archive.count_bin(self.sheets.ask_to_empty)),
            (actions.rebuild, archive.rebuild),
        ):
            action.triggered.connect(lambda _checked=False, act=act: act())

    def _use_letters(self) -> None:
        self.actions_.use_letters(self.session.settings.letters)

    def _listing_of_now(self) -> Listing:
        session = self.session
        if self._listing is None or not self._listing.is_of(session.entries):
            self._listing = Listing(session.words, session.catalogue, session.entries)
        return self._listing

    def _note_change(self) -> None:
        self._is_old = True
        if self._is_here:
            self._refresh()

    def _refresh(self) -> None:
        """Put the runs into words, in the background, and show them."""
        if not self.session.is_awake:
            return
        self._is_old = False
        runner, listing = self.session.runner, self._listing_of_now()
        measured_now = runner.kept_as if runner.is_running else None
        runs = [run for run in self.session.runs if run.path.name != measured_now]

        def then(lines: list[ListedRun]) -> None:
            was_empty = self.page.is_empty
            self._kept = {run.path.name: run for run in runs}
            self.page.show_runs(lines)
            if was_empty and lines and self._is_here:
                self.table.setFocus()
            rows = {key: self.table.runs.row_of(key) for key in self._to_select}
            if any(row is None and key in self._kept for key, row in rows.items()):
                self.page.show_all()  # a search hides it
            if self._to_select:
                self.table.select(self._to_select)
                self._to_select = []

        self.session.background.do(lambda: [listing.line(run) for run in runs], then)

    def _select_later(self, names: list[str]) -> None:
        """Select new runs once the list has them."""
        self._to_select = names

    def _chosen(self) -> list[Kept]:
        return [self._kept[run.key] for run in self.table.selected() if run.key in self._kept]

    def _show_chosen(self) -> None:
        chosen = self._chosen()
        if self.pairing.is_on:
            return  # the keys move on to the second run
        if len(chosen) == 1:
            self.details.show_run(self._listing_of_now().details(chosen[0]))
        elif chosen:
            self.details.show_several(len(chosen), self._why_not_comparable(chosen))
        else:
            self.details.show_nothing()
        self._allow()

    def _why_not_comparable(self, chosen: Sequence[Kept]) -> str | None:
        say = self.session.words.say
        if len(chosen) != 2 or any(run.problem for run in chosen):
            return say("runs.compare_two")
        if chosen[0].experiment != chosen[1].experiment:
            return say("runs.compare_other")
        return ""

    def _allow(self) -> None:
        chosen = self._chosen()
        damaged = sum(run.problem is not None for run in chosen)
        known = [run for run in self._kept.values() if run.problem is None]
        has_others = any(
            run.experiment == one.experiment and run is not one for one in chosen for run in known
        )
        self.actions_.allow(
            whole=len(chosen) - damaged,
            damaged=damaged,
            comparable=self._why_not_comparable(chosen) == "",
            has_others=has_others,
            can_undo=self.archive.can_undo,
        )
        self.details.buttons.allow_comparison(allowed=has_others)

    # --- what is done with them -----------------------------------------------------------------

    def _show_menu(self, place: QPoint) -> None:
        if self._chosen():
            self.actions_.menu(self).popup(place)

    def _search(self) -> None:
        self.page.search.setFocus()
        self.page.search.selectAll()

    def _open(self, then: Then = "") -> None:
        """Open the chosen run, or take it as the second of a comparison."""
        chosen = self._chosen()
        if self.pairing.is_on and chosen:
            self.pairing.take(chosen[0].path.name)
        elif len(chosen) == 1 and chosen[0].problem is None:
            run = chosen[0]
            self.session.go(EXPERIMENTS, experiment=run.experiment, run=run.path, then=then)

    def _show_again(self, *keys: str) -> None:
        """Select the runs of a comparison, or of a cancelled one."""
        self.table.select(keys)
        self._show_chosen()

    def _compare_pair(self, first: str, other: str) -> None:
        self._show_again(first, other)
        if self.actions_.compare.isEnabled():
            self._compare()

    def _compare(self) -> None:
        """Open the older of two runs, with the newer beside it."""
        a, b = sorted(self._chosen(), key=lambda run: run.at)
        self.session.go(EXPERIMENTS, experiment=a.experiment, run=a.path, beside=b.path)

    def _describe(self, key: str, said: Said) -> None:
        run = self._kept.get(key)
        if run is None:
            return

        def done(problem: Problem | None) -> None:
            if problem is None:
                self.details.tell_kept(key, said)
            else:
                self.details.tell_not_kept(self.session.say(problem))

        name, note, tags = said.name, said.note, list(said.tags)
        change = partial(msgspec.structs.replace, name=name, note=note, tags=tags)
        self.archive.describe(run, change, done)

    def _pin(self, runs: Sequence[Kept]) -> None:
        """Pin the runs; unpin them if all of them are pinned."""
        whole = [run for run in runs if run.problem is None]
        is_pinned = not all(run.run_notes.pinned for run in whole)
        for run in whole:
            change = partial(msgspec.structs.replace, pinned=is_pinned)
            self.archive.describe(run, change, self._complain)

    def _complain(self, problem: Problem | None) -> None:
        if problem is not None:
            self.session.troubled.emit(problem)

    def _export(self) -> None:
        runs = [run for run in self._chosen() if run.problem is None]
        export = partial(self.archive.export, runs)
        if len(runs) == 1:
            target = choose_target(self, self.session, runs[0].path.name)
            if target is not None:
                complete(self.session, self, target, SUFFIXES, export)
        elif (folder := choose_folder(self, self.session)) is not None:
            export(folder)

    def _report(self) -> None:
        """Show what a report of the chosen run would tell, and offer to write it."""
        from app.window.core.reporting import Reporting  # with all that writes reports

        (run,) = self._chosen()
        if self._reporting is None:
            self._reporting = Reporting(self.session, self)
        self.details.hand_on()  # a note that is being typed
        self._reporting.open(run.path)

    def _delete(self) -> None:
        self.details.hand_on()
        lines = self.table.selected()
        self.archive.delete(self._chosen(), lines[0].title)

    # --- runs from elsewhere --------------------------------------------------------------------

    def _choose_files(self) -> None:
        paths = choose_files(self, self.session)
        if paths:
            self.sheets.look_into(paths)
