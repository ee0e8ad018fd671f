"""The place Experiments: the catalogue, and the page of one experiment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QStackedWidget

from app.lecture.file import Item
from app.window.catalogue.card_data import (
    REFUSED,
    Before,
    before,
    card_data,
    path_data,
    read_sketch,
    refused,
)
from app.window.core.place import Place
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS, Target
from widgets.catalogue.card_data import counted
from widgets.catalogue.catalogue import Catalogue
from widgets.catalogue.sketch import Sketch
from widgets.controls.actions import Actions
from widgets.controls.basics import row

if TYPE_CHECKING:
    from app.window.experiment.place import ExperimentPage
    from app.window.lecture.playlist import PlaylistPart

SOON_MS = 50  # dozens of sketches come at once: the cards show them together


class ExperimentsPlace(Place):
    """The page is made when it is first asked for, because it brings the plots, and then kept."""

    name = EXPERIMENTS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._page: ExperimentPage | None = None
        self._opened = ""  # the experiment whose card was opened last
        self._is_from_card = False  # else the page was opened from elsewhere
        self._is_here = False
        self._is_stale = True  # the cards may say less than is known
        self._percent = -1  # of the run under way, as its card says
        self._sketches: dict[Path, Sketch | None] = {}  # None until it is read, or cannot be
        self._known: tuple[Sequence[object], dict[str, Before]] = ((None,) * 4, {})
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self._refresh)
        self._catalogue = Catalogue(session.words, session.look)
        self._catalogue.opened.connect(self._ask_for)
        self._catalogue.guesses_wanted.connect(session.asked_for_guesses)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._catalogue)
        self._playlist: PlaylistPart | None = None
        self._layout = row(self._stack, space=0)
        self.setLayout(self._layout)
        self._catalogue.lecture_wanted.connect(lambda id_: self.playlist.take(Item(experiment=id_)))
        self._catalogue.show_paths(path_data(session.words), session.settings.path)
        self._catalogue.path_chosen.connect(self._remember_path)
        actions = Actions(self._catalogue, session.words)
        self._begin = actions.add("playlist.begin", lambda: self.playlist.begin(), "F11")
        self._back = QAction(session.words.say("catalogue.back"), self)
        self._back.triggered.connect(self.go_back)
        session.settings_changed.connect(self._use_letters)
        session.look.changed.connect(self._fit)
        session.machine_changed.connect(self._refresh)
        session.entries_changed.connect(self._refresh)
        session.runs_changed.connect(self._refresh)
        session.catalogue_changed.connect(self._refresh)
        session.when_awake(self._follow)
        self._use_letters()
        self._bring_up_to_date()

    @property
    def is_in_catalogue(self) -> bool:
        """Is the catalogue shown, and not the page of one experiment?"""
        return self._stack.currentWidget() is self._catalogue

    @property
    def playlist(self) -> PlaylistPart:
        """The panel in which a lecture is put together; made when it is first asked for."""
        if self._playlist is None:
            from app.window.lecture.playlist import PlaylistPart

            self._playlist = PlaylistPart(self.session, self._page_item)
            self._layout.addWidget(self._playlist.panel)
            self._layout.setStretch(0, 1)
            self._playlist.opened.connect(self._fit)
        return self._playlist

    def open(self, target: Target) -> None:
        """Open a run or an experiment, else the catalogue.

        A page that was opened from the catalogue stays, and so does any page while something runs.
        """
        session = self.session
        self._is_from_card &= target == Target(self.name)
        if target.run is not None:
            kept = next((run for run in session.runs if run.path == target.run), None)
            self._opened = kept.experiment if kept is not None else ""
            self._shown_page().open_run(target.run, target.beside, then=target.then)
        elif target.experiment is not None:
            self._opened = target.experiment
            self._shown_page().open(target.experiment, then=target.then)
        elif not self._is_from_card and not (session.is_awake and session.runner.is_running):
            self.go_back()
        self._fit_to_page()
        QTimer.singleShot(0, self, self._fit)  # a page that is new knows its least width only then

    def arrive(self) -> None:
        """Bring the cards up to date, and let keys find them."""
        self._is_here = True
        if self._page is not None and not self.is_in_catalogue:
            self._page.arrive()
            return
        self._bring_up_to_date()
        self._catalogue.setFocus()

    def leave(self) -> None:
        """Draw nothing while the place is hidden."""
        self._is_here = False
        if self._page is not None and not self.is_in_catalogue:
            self._page.leave()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make room for the panel, or close it."""
        super().resizeEvent(event)
        self._fit()

    def own_actions(self) -> Sequence[QAction]:
        """Return those of the catalogue, or of the page."""
        if self._page is None or self.is_in_catalogue:
            return (*self._catalogue.own_actions(), self._begin)
        return (*self._page.own_actions(), self._back)

    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Return those of the cards, or of the page."""
        if self._page is None or self.is_in_catalogue:
            say = self.session.words.say
            return (("← → ↑ ↓", say("keys.walk_cards")), ("Enter", say("keys.open_card")))
        return self._page.own_keys()

    def status(self) -> str:
        """Say how much has been measured, or what the page says."""
        if self._page is not None and not self.is_in_catalogue:
            return self._page.status()
        if self.session.context.has_fake_machine:
            return self.session.words.say("catalogue.status_from_file")
        told = counted(self._catalogue.cards)
        return self.session.words.say("catalogue.status", told) if told else ""

    def go_back(self) -> bool:
        """Return to the catalogue, to the card that was opened."""
        if self._page is None or self.is_in_catalogue:
            return False
        self._page.leave()
        self._stack.setCurrentWidget(self._catalogue)
        self._bring_up_to_date()
        self._fit_to_page()
        self._catalogue.focus_on(self._opened)
        self.session.status_changed.emit()  # the frame speaks of the catalogue again
        return True

    def _fit(self) -> None:
        """Show the panel of the lecture beside the page; without room, in place of the cards."""
        if self._playlist is None:
            return
        panel, page = self._playlist.panel, self._page
        least = self._catalogue.least_px
        if page is not None and not self.is_in_catalogue:
            least = page.minimumSizeHint().width()
        playlist = self._playlist
        playlist.has_room = panel.use_room(self.width() - least)
        covers = playlist.is_open and not playlist.has_room and self.is_in_catalogue
        if covers:
            panel.setFixedWidth(self.width())
        self._stack.setHidden(covers)
        was_hidden = panel.isHidden()
        panel.setVisible(playlist.is_open and (playlist.has_room or covers))
        if was_hidden:
            playlist.refresh()

    def _fit_to_page(self) -> None:
        """Fit the panel, which may take the settings of the page that is open now."""
        self._fit()
        if self._playlist is not None:
            self._playlist.refresh()

    def _page_item(self) -> Item | None:
        """Return the experiment of the page that is open, with its settings."""
        is_open = self._page is not None and not self.is_in_catalogue
        return self._page.as_item() if is_open and self._page is not None else None

    def _ask_for(self, experiment_id: str) -> None:
        name = experiment_id.removeprefix(REFUSED)
        problem = self.session.catalogue.refused.get(name)
        if problem is not None and name != experiment_id:
            folder = QUrl.fromLocalFile(str(self.session.catalogue.own[name].folder))
            say = self.session.words.say
            self.session.tell(
                self.session.say(problem),
                say("catalogue.open_folder"),
                lambda: QDesktopServices.openUrl(folder),
            )
            return
        self.session.go(self.name, experiment=experiment_id)
        self._is_from_card = True

    def _shown_page(self) -> ExperimentPage:
        if self._page is None:
            from app.window.experiment.place import ExperimentPage

            self._page = ExperimentPage(self.session)
            self._page.back.connect(self.go_back)
            self._page.lecture_wanted.connect(lambda item: self.playlist.take(item))
            self._stack.addWidget(self._page)
        if self.is_in_catalogue:
            self._stack.setCurrentWidget(self._page)
            self._page.arrive()
        return self._page

    def _remember_path(self, path: str) -> None:
        if path != self.session.settings.path:
            self.session.remembered.emit({"path": path})

    def _use_letters(self) -> None:
        self._catalogue.use_letters(self.session.settings.letters)

    def _follow(self) -> None:
        runner = self.session.runner
        runner.began.connect(self._refresh)
        runner.moved.connect(self._show_progress)
        runner.ended.connect(self._refresh)
        # Queued: after its page has said what it has to say.
        runner.ended.connect(self._tell_not_kept, Qt.ConnectionType.QueuedConnection)
        self._refresh()

    def _tell_not_kept(self) -> None:
        """Say that a run is lost or elsewhere; its own page does that where it is seen."""
        problem = self.session.runner.not_kept
        is_seen = self._is_here and not self.is_in_catalogue
        page = self._page if is_seen else None
        if problem is not None and (page is None or page.told is not problem):
            self.session.troubled.emit(problem)

    def _show_progress(self) -> None:
        run_state = self.session.runner.run_state
        percent = round(100 * run_state.progress.fraction) if run_state is not None else -1
        if percent != self._percent:
            self._percent = percent
            self._refresh()

    def _refresh(self) -> None:
        """Show how every experiment stands now; what is not seen waits until it is."""
        self._is_stale = True
        if self.is_in_catalogue and (self._is_here or not self._catalogue.cards):
            self._bring_up_to_date()

    def _bring_up_to_date(self) -> None:
        if not self._is_stale:
            return
        self._is_stale = False
        session = self.session
        cards, known = [], self._before()
        for experiment in session.catalogue:
            run = known[experiment.id].run
            if run is not None and run.path not in self._sketches and session.is_awake:
                self._sketches[run.path] = None
                session.background.do(
                    partial(read_sketch, experiment, run.path),
                    partial(self._take_sketch, run.path),
                )
            sketch = self._sketches.get(run.path) if run is not None else None
            cards.append(card_data(experiment, session, known[experiment.id], sketch))
        cards += [refused(*each, session) for each in session.catalogue.refused.items()]
        cards.sort(key=lambda card: not card.is_own)  # first: whoever wrote one looks for it
        self._catalogue.show_cards(cards)

    def _before(self) -> dict[str, Before]:
        """Return facts of the runs for each card; looked up again only when an input is another."""
        session = self.session
        asked = session.runs, session.machine, session.entries, session.catalogue.homes
        if any(one is not other for one, other in zip(asked, self._known[0], strict=True)):
            self._known = asked, before(session)
        return self._known[1]

    def _take_sketch(self, path: Path, sketch: Sketch | None) -> None:
        self._sketches[path] = sketch
        if not self._soon.isActive():
            self._soon.start()
