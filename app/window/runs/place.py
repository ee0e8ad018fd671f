"""The place of the runs: all that were kept, what they found, and what people say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction

from app import garbage
from app.runs.library import Kept
from app.window.core.listing import Listing
from app.window.core.place import Place
from app.window.core.predictions import Predictions
from app.window.core.saving import run_files
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS, RUNS, Target, Then
from app.window.runs.archive import Archive
from app.window.runs.list_or_collage import RunsStack
from app.window.runs.pairing import Pairing
from app.window.runs.rerun import Again
from app.window.runs.sheets import RunSheets
from app.window.runs.side_by_side import why_not_comparable
from app.window.runs.surprises import Surprises
from experiments.core.problems import Problem
from widgets.controls.actions import PAGE, Actions
from widgets.controls.basics import column
from widgets.controls.place_head import MARGINS
from widgets.runs.details import Said
from widgets.runs.listed import ListedRun
from widgets.runs.page import RunsPage

Refreshed = tuple[list[ListedRun], dict[str, Kept], list[Kept]]  # lines, runs, predicted ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The facts that decide which actions the selected runs allow."""

    is_one: bool  # it is one run, and a whole one
    has_other: bool  # it is one with others to compare it with
    has_whole: bool
    has_several: bool  # whole ones
    has_any: bool
    comparable: bool
    can_undo: bool


class RunsPlace(Place):
    """Shows the list and the details, and connects them with the library."""

    name = RUNS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        words = session.words
        self.page = RunsPage(session.look, words)
        self.table, self.details = self.page.table, self.page.details
        self.archive, self.pairing = Archive(session), Pairing(self.table, self.details)
        self._predictions = Predictions(words, session.catalogue)
        self.stack = RunsStack(session, self.page)
        self.again = Again(session, self)
        self.sheets = RunSheets(
            *(session, self.archive, self.again, self),
            self._listing_of_now,
            self.stack.show_collage,
        )
        self._surprises = Surprises(session, self.archive, self._predictions, self.page.reminder)
        self._kept: dict[str, Kept] = {}
        self._guessed: list[Kept] = []  # those that were predicted
        self._listing: Listing | None = None
        self._to_select: list[str] = []
        self._is_here, self._is_old, self._is_judging = False, True, False
        layout = column(self.stack)
        layout.setContentsMargins(*MARGINS)
        self.setLayout(layout)
        self.setFocusProxy(self.table)
        self.details.buttons.setFocusProxy(self.table)  # a click leaves the keys to the list
        self.actions_ = self._declared()
        self._connect()
        self._use_letters()
        self._allow()
        if session.is_awake:  # an empty list may be one that was never read
            session.refresh_runs()

    # --- what the window asks of a place --------------------------------------------------------

    def open(self, target: Target) -> None:
        """Select the wanted run, look into files, or show the collage, if that is wanted."""
        if target.run is not None:
            self.go_back()
            self._to_select = [target.run.name]
            self._refresh()
        if target.files:
            self.sheets.look_into(target.files)
        if target.then == "collage":
            self.stack.show_collage()

    def arrive(self) -> None:
        """Show changes since the last visit."""
        self._is_here = True
        if self._is_old:
            self._refresh()
        if self.stack.has_collage:
            self.stack.focus_collage()
        elif not self.page.is_empty:
            self.table.setFocus()

    def leave(self) -> None:
        """Save edits under way."""
        self._is_here = False
        self.pairing.leave()
        self.details.hand_on()

    def own_actions(self) -> Sequence[QAction]:
        """Return the actions allowed now."""
        return self.stack.own_actions() if self.stack.has_collage else tuple(self.actions_)

    def go_back(self) -> bool:
        """Go back from the collage to the list."""
        return self.stack.show_list()

    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys of the plots."""
        say = self.session.words.say
        keys = [("← → ↑ ↓", say("keys.read_plot")), ("+ - 0", say("keys.zoom_plot"))]
        keys += [("M", say("keys.measure_plot"))]
        return keys if self.stack.has_collage else ()

    # --- the list -------------------------------------------------------------------------------

    def _connect(self) -> None:
        session, page, table, details = self.session, self.page, self.table, self.details
        actions, archive, pairing = self.actions_, self.archive, self.pairing
        session.settings_changed.connect(self._use_letters)
        session.settings_changed.connect(self._remind)
        session.runs_changed.connect(self._note_change)
        session.entries_changed.connect(self._note_change)
        archive.came.connect(self._select_later)
        archive.undo_changed.connect(lambda: self._allow())
        table.chosen.connect(self._show_chosen)
        table.opened.connect(lambda _key: self._open())
        self.stack.turned.connect(self._turn)
        pairing.paired.connect(self._compare_pair)
        pairing.left.connect(self._show_again)
        table.pin_clicked.connect(lambda key: archive.pin([self._kept[key]]))
        table.menu_asked.connect(self._show_menu)
        details.said.connect(self._describe)
        page.import_asked.connect(self._choose_files)
        page.experiments_asked.connect(lambda: session.go(EXPERIMENTS))
        page.files_dropped.connect(self.sheets.look_into)
        details.buttons.asked.connect(lambda key: actions[key].trigger())
        table.delete_asked.connect(actions["runs.delete_runs"].trigger)
        table.rename_asked.connect(actions["runs.rename"].trigger)

    def _declared(self) -> Actions:
        """Return all that can be done here, in the order of menu, palette and keys."""
        page, table, archive = self.page, self.table, self.archive
        actions = Actions(page, self.session.words, PAGE)
        of_list, of_page = partial(actions.add, of=table), actions.add
        one, some = attrgetter("is_one"), attrgetter("has_whole")

        of_list("runs.open_run", self._open, "Return", when=one, group=1)
        of_list("runs.replay_hint", partial(self._open, "replay"), "R", when=one, group=1)
        of_list("runs.again_hint", self._run_again, "Shift+R", when=one, group=1)
        of_page("runs.compare_runs", self._compare, when=attrgetter("comparable"), group=1)
        of_page("runs.compare_with", self._ask_other, when=attrgetter("has_other"), group=1)
        of_page("runs.collage_runs", self._show_collage, when=attrgetter("has_several"), group=1)
        of_list("runs.rename", self.details.edit_name, "F2", when=one, group=2)
        of_list("runs.pin_runs", lambda: archive.pin(self._chosen()), "P", when=some, group=2)
        of_page("runs.export_runs", self._export, "Ctrl+E", when=some, group=2)
        of_page("report.of_run", self._report, "Ctrl+P", when=one, group=2)
        of_list("runs.delete_runs", self._delete, "Del", when=attrgetter("has_any"), group=3)
        of_page("runs.undo_delete", archive.undo, "Ctrl+Z", when=attrgetter("can_undo"), group=3)
        of_page("runs.search", self._search, "Ctrl+F")
        of_page("runs.import_runs", self._choose_files, "Ctrl+O")
        of_page("runs.restore", self.sheets.show_bin, group=3)
        of_page("runs.empty_bin", self.sheets.ask_to_empty)
        of_page("runs.rebuild", archive.rebuild)
        return actions

    def _use_letters(self) -> None:
        self.actions_.use_letters(self.session.settings.letters)

    def _listing_of_now(self) -> Listing:
        session = self.session
        if self._listing is None or not self._listing.is_of(session.entries):
            self._listing = Listing(
                session.words, session.catalogue, session.entries, predictions=self._predictions
            )
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
        measured_now = (runner.kept_as or "") if runner.is_running else ""
        known, before = self.session.runs, self.page.runs

        def work() -> Refreshed:
            kept = {run.path.name: run for run in known}
            kept.pop(measured_now, None)
            lines = garbage.spared(lambda: [*map(listing.line, kept.values())], before)
            guessed = [run for run in kept.values() if run.run_notes.guess is not None]
            return lines, kept, guessed

        def then(result: Refreshed) -> None:
            lines, self._kept, self._guessed = result
            was_empty = self.page.is_empty
            self.page.show_runs(lines)
            if was_empty and lines and self._is_here:
                self.table.setFocus()
            rows = {key: self.table.runs.row_of(key) for key in self._to_select}
            if any(row is None and key in self._kept for key, row in rows.items()):
                self.page.show_all()  # a search hides it
            if self._to_select:
                self.table.select(self._to_select)
                self._to_select = []
            self._remind()
            if unjudged := self._predictions.waiting(self._guessed):
                self._judge(unjudged)

        self.session.background.do(work, then)

    def _remind(self) -> None:
        self._surprises.remind(self._guessed, self._listing_of_now())

    def _judge(self, unjudged: Sequence[Kept]) -> None:
        """Hold predictions against what was measured, a part at a time."""
        if not self._is_judging:
            self._is_judging = True
            self.session.background.do_long(
                partial(self._predictions.judge, unjudged), lambda _: self._take_judged()
            )

    def _take_judged(self) -> None:
        self._is_judging = False
        self._note_change()

    def _select_later(self, names: list[str]) -> None:
        """Select new runs once the list has them."""
        self.go_back()
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
            self._show_several(chosen)
        else:
            self.details.show_nothing()
        self._allow(chosen)

    def _show_several(self, chosen: Sequence[Kept]) -> None:
        words, hint = self.session.words, ""
        why_not = why_not_comparable(words, chosen)
        if not why_not and len(chosen) == 2:
            a, b = (self._listing_of_now().when(at)[1] for at in sorted(run.at for run in chosen))
            hint = words.say("runs.compare_order", {"a": a, "b": b})
        are_pinned = all(run.run_notes.pinned for run in chosen)
        can_collage = sum(not run.problem for run in chosen) > 1
        self.details.show_several(
            len(chosen), why_not, hint, can_collage=can_collage, are_pinned=are_pinned
        )

    def _allow(self, chosen: Sequence[Kept] | None = None) -> None:
        chosen = self._chosen() if chosen is None else chosen
        whole = sum(run.problem is None for run in chosen)
        has_others = len(chosen) == 1 and any(
            run.experiment == chosen[0].experiment and run is not chosen[0]
            for run in self._kept.values()
            if run.problem is None
        )
        self.actions_.allow(
            Selected(
                is_one=whole == len(chosen) == 1,
                has_other=has_others and whole == 1,
                has_whole=whole > 0,
                has_several=whole > 1,
                has_any=bool(chosen),
                comparable=why_not_comparable(self.session.words, chosen) == "",
                can_undo=self.archive.can_undo,
            )
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
        if self.actions_["runs.compare_runs"].isEnabled():
            self._compare()

    def _compare(self) -> None:
        """Open the older of two runs with the newer beside it; show more of them as a table."""
        a, b, *more = sorted(self._chosen(), key=lambda run: run.at)
        if more:
            self.sheets.show_beside([a, b, *more])
            return
        self.session.go(EXPERIMENTS, experiment=a.experiment, run=a.path, beside=b.path)

    def _run_again(self) -> None:
        self.again.run(self._chosen()[0].path)

    def _ask_other(self) -> None:
        self.pairing.ask(self._chosen()[0].path.name)

    def _export(self) -> None:
        self.sheets.export(self._chosen())

    def _show_collage(self) -> None:
        self.details.hand_on()
        self.stack.show_collage([run.path for run in self._chosen()])

    def _turn(self) -> None:
        """Give the keys to the side that is shown."""
        collage = self.stack.currentWidget() if self.stack.has_collage else None
        self.setFocusProxy(collage or self.table)
        if self._is_here and collage is not None:
            self.stack.focus_collage()
        elif self._is_here:
            self.table.setFocus()

    def _describe(self, key: str, said: Said) -> None:
        run = self._kept.get(key)
        if run is None:
            return

        def done(problem: Problem | None) -> None:
            if problem is None:
                self.details.tell_kept(key, said)
            else:
                self.details.tell_not_kept(self.session.say(problem))

        self.archive.describe(run, done, name=said.name, note=said.note, tags=list(said.tags))

    def _report(self) -> None:
        """Show what a report of the chosen run would contain, and offer to write it."""
        from app.window.core.reporting import open_run  # with all that writes reports

        (run,) = self._chosen()
        self.details.hand_on()  # a note that is being typed
        open_run(self.session, self, run.path)

    def _delete(self) -> None:
        self.details.hand_on()
        lines = self.table.selected()
        self.archive.delete(self._chosen(), lines[0].title)

    # --- runs from elsewhere --------------------------------------------------------------------

    def _choose_files(self) -> None:
        if paths := run_files(self.session, self):
            self.sheets.look_into(paths)
