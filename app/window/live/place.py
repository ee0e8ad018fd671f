"""Live: the machine as it moves, the last minute of it, and how a known load looks.

A watch that was recorded can be shown in its stead, labelled as such.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QKeyEvent, QMouseEvent

from app.window.core.place import Place
from app.window.core.session import Session
from app.window.core.target import LIVE, Target
from app.window.core.watch_player import Recording, WatchPlayer, as_message, band_of
from app.window.live.end_requests import EndRequests
from app.window.live.files import LiveFiles, dropped
from app.window.live.state import LiveState
from app.window.live.watching import Watching
from experiments.engine import messages
from experiments.presentation.load.gpu_processes import Idleness
from machine.live.recorded_watch import RecordedWatch
from widgets.controls.actions import Actions
from widgets.controls.basics import announce, column
from widgets.live.page import Explanation, LivePage


class LivePlace(Place):
    """Samples are kept while it is hidden or frozen, but not drawn."""

    name = LIVE

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        words = session.words
        self.state = LiveState()
        self.files = LiveFiles(session, self)
        self._is_here = False
        page = LivePage(session.look, words)
        self.controls, self.board = page.controls, page.board
        self.watching = Watching(session, page.controls, self)
        self._band, self._instead, self._again = page.band, page.instead, page.again
        self._idleness, self._end_requests = Idleness(), EndRequests(session, self)
        self.board.processes.idle_s = self._idleness.idle_s
        self.board.processes.right_to = self._end_requests.right_to
        self.board.processes.end_wanted.connect(self._end_requests.ask)
        self.setLayout(column(page, space=0))
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # for its keys; Tab skips it
        self.setAccessibleName(words.say("places.live"))
        self.setAcceptDrops(True)
        self._actions = Actions(self, session.words)
        for key, act in (
            ("live.freeze", self.controls.freeze.toggle),
            ("live.mark", self.mark),
            ("live.save", self.save),
            ("live.open", self.files.choose_and_open),
            ("live.explain", self.explain),
        ):
            self._actions.add(key, act)  # those of the chips, for menu and palette
        self._connect()
        self._show_machine()

    # --- what the window asks of a place ----------------------------------------------------------

    def open(self, target: Target) -> None:
        """Take the focus."""
        del target
        self.setFocus()

    def arrive(self) -> None:
        """Draw new samples, and sample at the chosen rate."""
        self._is_here = True
        self.watching.be_seen(True)
        self._draw()

    def leave(self) -> None:
        """Stop drawing, and sample only for the status line."""
        self._is_here = False
        self.watching.be_seen(False)

    def own_actions(self) -> Sequence[QAction]:
        """Return the actions of Live."""
        return tuple(self._actions)

    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys that are no shortcuts, so that Space still presses a button."""
        say = self.session.words.say
        read = ("← → ↑ ↓", say("keys.read_tiles"))
        if not self.session.settings.letters:
            return (read,)
        return (("Space", say("live.freeze")), ("M", say("live.mark")), read)

    def status(self) -> str:
        """Return the sampling rate and its cost."""
        if self._is_recorded:
            return ""
        is_frozen = self.state.frozen is not None
        return self.watching.status(is_frozen=is_frozen, has_samples=bool(self.samples))

    # --- samples ----------------------------------------------------------------------------------

    @property
    def samples(self) -> deque[messages.Sample]:
        """The last minute of this machine, as it came."""
        return self.state.samples

    def take(self, sample: messages.Sample) -> None:
        """Keep a sample, and draw it while the place is seen."""
        is_first = not self.samples
        if is_first and self._player is not None:  # it repeats: its samples have been before
            for each in self._player.recorded.samples:
                self.state.take(as_message(each))
        moment = self.state.take(sample)
        if moment is None:
            return
        if moment.gpus:
            self._idleness.take(moment)
            self.board.processes.me = self._end_requests.me
        self._instead.hide()
        self._again.hide()
        if is_first and self._player is not None:
            self._show_machine()
        if self._is_here:
            self.watching.show_load()
            if not self.state.is_still:
                self._draw()

    def _draw(self) -> None:
        if self._is_here and self.state.history.moments:
            self.controls.allow(True)
            self.board.draw(self.state.history, self.state.missing)

    # --- what a person wants ----------------------------------------------------------------------

    def freeze(self, wanted: bool) -> None:
        """Hold the picture still, or go on."""
        self.state.freeze(wanted)
        if not wanted:
            self._draw()

    def mark(self) -> None:
        """Mark this moment in all tiles; in a frozen picture, the moment of the cursor."""
        self._mark((self.board.cursor_s or 0.0) if self.state.is_still else 0.0)

    def _mark(self, ago_s: float) -> None:
        mark = self.state.mark(ago_s)
        if mark is not None:
            announce(self, self.session.words.say("live.marked", {"number": mark.number}))
            self._draw()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Mark the moment under the pointer; the tiles ignore double clicks."""
        if self.board.cursor_s is not None:
            self._mark(self.board.cursor_s)
        else:
            super().mouseDoubleClickEvent(event)

    def save(self) -> None:
        """Save the shown minute."""
        self.files.save(*self.state.minute())

    def show_recording(self, recorded: RecordedWatch) -> None:
        """Show a recording in place of this machine, up to its end."""
        self.show_now()
        self.state.recording = Recording(recorded)
        self.state.recording.changed.connect(self._follow_recording)
        self._instead.hide()
        self.board.forget()
        self._show_machine()
        self._draw()
        if recorded.is_torn:
            self.session.tell(self.session.words.say("notes.torn_line_dropped"))

    def show_now(self) -> None:
        """Show this machine again, as it is now."""
        self.controls.freeze.setChecked(False)
        recording, self.state.recording = self.state.recording, None
        if recording is not None:
            recording.player.pause()
            recording.deleteLater()
            self.board.forget()
            self._show_machine()
            self._draw()

    def explain(self) -> None:
        """Explain what is misleading about such numbers."""
        Explanation(self.session.words, self.session.look, self.window()).open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Freeze and mark; not by shortcuts, so that Space still presses a focused button."""
        is_plain = event.modifiers() == Qt.KeyboardModifier.NoModifier and not event.isAutoRepeat()
        if is_plain and self.session.settings.letters:
            if event.key() == Qt.Key.Key_Space:
                self.controls.freeze.toggle()
                return
            if event.key() == Qt.Key.Key_M:
                self.mark()
                return
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept a dragged recorded watch."""
        if dropped(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Show the dropped recording."""
        if files := dropped(event):
            event.acceptProposedAction()
            self.files.open(files[0])

    # --- within -----------------------------------------------------------------------------------

    def _connect(self) -> None:
        session, controls = self.session, self.controls
        session.sampled.connect(self.take)
        session.machine_changed.connect(self._show_machine)
        session.settings_changed.connect(self._use_letters)
        self._use_letters()
        self.files.opened.connect(self.show_recording)
        self._band.play.clicked.connect(self._play)
        self._band.back.clicked.connect(self.show_now)
        self._again.clicked.connect(self._look_again)
        controls.freeze.toggled.connect(self.freeze)
        for chip, act in (
            (controls.mark, self.mark),
            (controls.save, self.save),
            (controls.open, self.files.choose_and_open),
            (controls.explain, self.explain),
        ):
            chip.clicked.connect(act)
        self.watching.ended.connect(self._end_watch)

    def _use_letters(self) -> None:
        self.controls.use_letters(self.session.settings.letters)

    def _end_watch(self) -> None:
        self._instead.setText(self.session.words.say("live.watch_over"))
        self._instead.show()
        self._again.show()

    def _look_again(self) -> None:
        self._again.hide()
        self._instead.setText(self.session.words.say("live.first_sample"))
        self.setFocus()
        self.session.watcher.start()

    @property
    def _player(self) -> WatchPlayer | None:
        """The player that stands for a machine from a file."""
        return self.session.watcher.player if self.session.is_awake else None

    @property
    def _is_recorded(self) -> bool:
        return self.state.recording is not None or self._player is not None

    def _show_machine(self) -> None:
        recording, machine = self.state.recording, self.session.machine
        is_recorded = self._is_recorded
        shown = machine if recording is None else recording.player.recorded.machine
        self.controls.show_recorded(is_recorded)
        self.board.show_machine(shown, is_recorded=is_recorded)
        self._show_band()
        self.watching.offer_loads()
        if self.session.context.has_fake_machine and self._player is None:
            self._instead.setText(self.session.words.say("live.no_watch"))

    def _show_band(self) -> None:
        words, player, recording = self.session.words, self._player, self.state.recording
        if recording is not None:
            name = band_of(recording.player.recorded, words)
            self._band.say(name, recording.place(words), can_play=True)
        elif player is not None:
            again = words.say("live.recording_repeats")
            self._band.say(
                band_of(player.recorded, words, self.session.machine), again, can_play=False
            )
        else:
            self._band.hide()

    def _follow_recording(self) -> None:
        self._show_band()
        self._draw()

    def _play(self) -> None:
        if self.state.recording is not None:
            self.controls.freeze.setChecked(False)
            self.state.recording.play()
