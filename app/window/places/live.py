"""Live: the machine as it moves, the last minute of it, and how a known load looks."""

from __future__ import annotations

import collections
import os
from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QScrollArea

from app.cost import Cost
from app.load import KnownLoad
from app.window.place import Place
from app.window.saving import Saving
from app.window.session import Session
from app.window.target import LIVE, Target
from app.window.watcher import QUIET_HZ
from experiments.engine import messages as wire
from widgets.announce import announce
from widgets.basics import button, column, label
from widgets.live.board import Board
from widgets.live.controls import Controls
from widgets.live.explanation import Explanation
from widgets.live.history import History
from widgets.place_head import BELOW, MARGINS
from widgets.theme import STEP

FOOT = 4 * STEP  # below the tiles
SOONEST_S = 0.03  # after another sample; the kernel counts in ticks of 10 ms


class LivePlace(Place):
    """Samples are kept also while it is not seen or frozen; nothing is drawn then."""

    name = LIVE

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        words = session.words
        self.history = History()
        self._frozen: History | None = None
        self._frozen_samples: list[wire.Sample] = []
        self.samples: collections.deque[wire.Sample] = collections.deque()  # as they came
        self.saving = Saving(session, self)
        self.cost = Cost()
        self.known_load = KnownLoad()
        self._hz = session.settings.live_hz  # what was chosen; while an experiment runs it is less
        self._is_here = False
        self.controls = Controls(words)
        self.board = Board(session.look, words)
        self._instead = label(words.say("live.first_sample"), "soft", wrap=True)
        self._again = button(words.say("frame.watch_again"), clicked=self._look_again)
        self._again.hide()
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self.board)
        self._scroll.viewport().installEventFilter(self)
        layout = column(self.controls, self._instead, self._again, self._scroll, space=BELOW)
        left, top, right, _ = MARGINS
        layout.setContentsMargins(left, top, right, 0)
        layout.setStretch(3, 1)
        layout.setAlignment(self._again, Qt.AlignmentFlag.AlignLeft)
        self.setLayout(layout)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # for its keys; Tab goes on to what it holds
        self.setAccessibleName(words.say("places.live"))
        self._actions = self._make_actions()
        self._connect()
        self._show_machine()
        if session.is_awake:
            self._wake()

    # --- what the window asks of a place ----------------------------------------------------------

    def open(self, target: Target) -> None:
        """Take the keys."""
        del target
        self.setFocus()

    def arrive(self) -> None:
        """Draw what has come meanwhile, and look as often as was chosen."""
        self._is_here = True
        self._set_rate()
        self._draw()

    def leave(self) -> None:
        """Stop drawing, and look no more often than for the status line."""
        self._is_here = False
        self._set_rate()

    def own_actions(self) -> Sequence[QAction]:
        """Return what can be done here."""
        return self._actions

    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Return those that are no shortcuts, so that Space still presses a button."""
        say = self.session.words.say
        read = ("← → ↑ ↓", say("keys.read_tiles"))
        if not self.session.settings.letters:
            return (read,)
        return (("Space", say("live.freeze")), ("M", say("live.mark")), read)

    def status(self) -> str:
        """Say how often the machine is looked at, and what that costs."""
        say, running = self.session.words.say, self._is_running
        if running:
            return say("live.quiet_rate")
        if self._frozen is not None:
            return say("live.cost_frozen", {"rate_hz": self._hz})
        if not self.samples:
            return ""
        share = self.cost.fraction(self.session.watcher.pid)
        if share is None:
            return say("live.cost_unknown", {"rate_hz": self._hz})
        values = {"rate_hz": self._hz, "percent": f"{share * 100:.1f} %"}
        return say("live.cost", values)

    # --- samples ----------------------------------------------------------------------------------

    def take(self, sample: wire.Sample) -> None:
        """Keep a sample, and draw it if anybody looks."""
        if self.samples and 0 < sample.t_s - self.samples[-1].t_s < SOONEST_S:
            return  # the rate has just changed: no share can be told of so short a time
        self.history.add(sample.t_s, sample.threads, sample.memory)
        self.samples.append(sample)
        while len(self.samples) > len(self.history.moments):
            self.samples.popleft()
        self._instead.hide()
        self._again.hide()
        if self._is_here:
            self._show_load()
            if self._frozen is None:
                self._draw()

    def _draw(self) -> None:
        if self.samples:
            self.controls.allow(True)
            self.board.draw(self._frozen or self.history, self.samples[-1].missing)

    # --- what a person wants ----------------------------------------------------------------------

    def freeze(self, wanted: bool) -> None:
        """Hold the picture still, or go on."""
        self._frozen = self.history.freeze() if wanted else None
        self._frozen_samples = list(self.samples) if wanted else []
        if not wanted and self.samples:
            self._draw()

    def mark(self) -> None:
        """Mark this moment in all tiles; in a picture that is frozen, where the cursor stands."""
        shown = self._frozen or self.history
        if not shown.moments:
            return
        ago_s = (self.board.cursor_s or 0.0) if self._frozen is not None else 0.0
        mark = self.history.mark(shown.now_s - ago_s)
        if self._frozen is not None:
            self._frozen.marks.append(mark)
        announce(self, self.session.words.say("live.marked", {"number": mark.number}))
        self._draw()

    def save(self) -> None:
        """Write the minute that is seen, as it came over the wire."""
        samples = self._frozen_samples or list(self.samples)
        date = datetime.now().strftime("%Y-%m-%d-%H%M%S")
        self.saving.save(
            self.session.words.say("live.saved_as", {"date": date}),
            lambda path: path.write_bytes(b"".join(map(wire.encode, samples))),
        )

    def start_load(self, count: int) -> None:
        """Keep hardware threads busy; 0 ends it."""
        if count and not self._is_running:
            self.known_load.start(count)
        else:
            self.known_load.stop()
        self._show_load()

    def set_rate(self, hz: float) -> None:
        """Look as often as this while the place is seen and no experiment runs."""
        self._hz = hz
        self.session.remembered.emit({"live_hz": hz})
        self._set_rate()

    def explain(self) -> None:
        """Say in plain words what misleads."""
        Explanation(self.session.words, self.session.look, self.window()).open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Freeze and mark; here, so that Space still presses the button that has the focus."""
        is_plain = event.modifiers() == Qt.KeyboardModifier.NoModifier and not event.isAutoRepeat()
        if is_plain and self.session.settings.letters:
            if event.key() == Qt.Key.Key_Space:
                self.controls.freeze.toggle()
                return
            if event.key() == Qt.Key.Key_M:
                self.mark()
                return
        super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the tiles grow with the room that is seen."""
        if event.type() == QEvent.Type.Resize:
            self.board.fill(self._scroll.viewport().height() - FOOT)
        return super().eventFilter(watched, event)

    # --- within -----------------------------------------------------------------------------------

    @property
    def _is_running(self) -> bool:
        return self.session.is_awake and self.session.runner.is_running

    def _connect(self) -> None:
        session, controls = self.session, self.controls
        session.sampled.connect(self.take)
        session.machine_changed.connect(self._show_machine)
        session.woke.connect(self._wake)
        controls.freeze_wanted.connect(self.freeze)
        controls.mark_wanted.connect(self.mark)
        controls.save_wanted.connect(self.save)
        controls.load_wanted.connect(self.start_load)
        controls.rate_wanted.connect(self.set_rate)
        controls.explanation_wanted.connect(self.explain)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.known_load.stop)

    def _make_actions(self) -> Sequence[QAction]:
        """The same as the chips, for menu and palette."""
        actions = []
        for key, act in (
            ("live.freeze", self.controls.freeze.toggle),
            ("live.mark", self.mark),
            ("live.save", self.save),
            ("live.explain", self.explain),
        ):
            action = QAction(self.session.words.say(key), self)
            action.triggered.connect(lambda _=False, act=act: act())
            actions.append(action)
        return actions

    def _wake(self) -> None:
        self.session.runner.began.connect(self._begin_run)
        self.session.runner.ended.connect(self._follow_run)
        self.session.watcher.ended.connect(self._end_watch)
        self._set_rate()

    def _begin_run(self) -> None:
        self.known_load.stop()  # it would disturb
        self._follow_run()

    def _follow_run(self) -> None:
        self._set_rate()
        self._show_load()

    def _end_watch(self) -> None:
        self._instead.setText(self.session.words.say("live.watch_over"))
        self._instead.show()
        self._again.show()

    def _look_again(self) -> None:
        self._again.hide()
        self._instead.setText(self.session.words.say("live.first_sample"))
        self.setFocus()
        self.session.watcher.start()

    def _set_rate(self) -> None:
        hz = self._hz if self._is_here and not self._is_running else QUIET_HZ
        if self.session.is_awake:
            self.session.watcher.set_rate(hz)
        shown_hz = QUIET_HZ if self._is_running else self._hz
        self.controls.show_rate(shown_hz, quiet=self._is_running)

    def _show_load(self) -> None:
        self.controls.show_load(self.known_load.count, quiet=self._is_running)

    def _show_machine(self) -> None:
        machine = self.session.machine
        self.board.show_machine(machine)
        usable = machine.cpu.usable_threads if machine is not None else None
        self.controls.offer_loads(usable or os.cpu_count() or 1)
        if self.session.context.has_fake_machine:
            self._instead.setText(self.session.words.say("live.no_watch"))
