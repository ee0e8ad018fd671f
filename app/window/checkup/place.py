"""The place of the checkup: its rows, its course, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction

from app.checkup.compare import compare, known
from app.checkup.in_words import day
from app.checkup.store import COMPLETED, fingerprint_of
from app.window.checkup import sheets
from app.window.checkup.archive import Archive, keep
from app.window.checkup.page_rows import TO_EXPERIMENT, TO_MAP, Progress, page_data
from app.window.core.place import Place
from app.window.core.saving import file_there
from app.window.core.session import Session
from app.window.core.target import CHECKUP, EXPERIMENTS, MAP, Target
from experiments.checkup.order import Order, read_order
from experiments.checkup.result import Kind, Result, read
from experiments.checkup.rules import Stage
from experiments.core.problems import Problem
from experiments.core.words import Words
from experiments.engine.environment import on_battery
from machine.parts import own_troubles
from widgets.checkup.page import CheckupPage
from widgets.checkup.page_data import PageData
from widgets.checkup.soak_sheet import SoakWanted
from widgets.controls.basics import announce, column
from widgets.controls.place_head import MARGINS

if TYPE_CHECKING:
    from experiments.checkup.run_checkup import Checkup, Event


MINUTE_S, COARSE_S = 60.0, 10.0  # what is shown of a length
MOST_TROUBLES = 3  # of a user's own lines about parts, that are told at once


class CheckupPlace(Place):
    """Shows the last checkup of this machine, or the checkup on its way.

    `make` makes a checkup as run_checkup.Checkup does; tests replace it.
    """

    name = CHECKUP

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        say = session.words.say
        stages = [(say(f"checkup.stages.{s}"), say(f"checkup.stages_mean.{s}")) for s in Stage]
        self.page = CheckupPage(session.words, session.look, stages)
        self.make: Callable[..., Checkup] = _make
        self.announce: Callable[..., object] = announce
        self.archive = Archive(session, self)
        self._result: Result | None = None  # that is shown
        self._progress: Progress | None = None  # while one is on its way
        self._draft: str | None = None  # of an order
        self._is_here = self._is_dirty = self._stop_had_focus = False
        layout = column(self.page)
        layout.setContentsMargins(*MARGINS)
        self.setLayout(layout)
        self.setFocusProxy(self.page.buttons[self.page.check])
        self._connect()
        self._refresh()

    # --- a place ----------------------------------------------------------------------------------

    def open(self, target: Target) -> None:
        """Take the focus; show the first checkup of dropped files, and compare it with another."""
        self.setFocus()
        if target.files:
            paths = target.files[:2]
            self.session.background.do_soon(lambda: [*map(read, paths)], self._show_files)

    def arrive(self) -> None:
        """Show what happened meanwhile."""
        self._is_here = True
        self._refresh()

    def leave(self) -> None:
        """Draw nothing while the place is hidden."""
        self._is_here = False

    def own_actions(self) -> Sequence[QAction]:
        """Return what can be done now."""
        return tuple(self.page.actions_here)

    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys of the rows."""
        say = self.session.words.say
        return (("↑ ↓", say("keys.walk_checks")), ("→ ← Enter", say("keys.open_check")))

    def status(self) -> str:
        """Return the version of the rules, and the baseline."""
        say, result, baseline = self.session.words.say, self._result, self.archive.baseline
        if result is None:
            return ""
        rules = say("checkup.rules_version", {"number": str(result.rules_version)})
        date = day(baseline.at).partition(" ")[0] if baseline else ""
        key = "checkup.with_baseline" if date else "checkup.no_baseline"
        return f"{rules} · {say(key, {'date': date})}"

    # --- a checkup --------------------------------------------------------------------------------

    def start(self, kind: Kind, soak: SoakWanted | None = None) -> None:
        """Begin a checkup, or let it wait for the experiment under way."""
        session = self.session
        checking = session.checking
        if not self._may_start():
            return
        store, folder, machine = self.archive.store, session.context.folder, session.machine
        assert machine is not None

        def make() -> Checkup:
            options: dict[str, Any] = {}
            if soak is not None:
                options = {"soak_s": soak.seconds, "stop_celsius": soak.stop_celsius}
            store.check_writable()
            return self.make(
                kind,
                baseline=store.baseline(machine.fingerprint),
                order=read_order(folder),
                references=store.references(),
                machine=lambda: machine,
                **options,
            )

        if session.runner.is_running:
            checking.wait(make, partial(keep, store))
        else:
            checking.start(make, partial(keep, store))
        self._refresh()
        self.page.under_way.stop.setFocus()

    def _may_start(self) -> bool:
        session, checking = self.session, self.session.checking
        is_free = not checking.is_running and not checking.is_waiting
        is_known = session.is_awake and session.machine is not None
        return is_free and is_known and not session.context.has_fake_machine

    def _begin(self) -> None:
        self.session.known_load.stop()  # it would take a part of the machine
        self._progress = Progress(self.session.words)
        for sentence in own_troubles()[:MOST_TROUBLES]:
            problem = Problem("own_part_left_out", {"reason": sentence})
            self.session.troubled.emit(problem)
        self.announce(self, self.session.words.say("checkup_page.begun"))
        self._refresh()

    def _hear(self, event: Event) -> None:
        if self._progress is None:
            return
        if self._progress.hear(event):
            self._is_dirty = True
        self._show_course()

    def _show_stopping(self) -> None:
        self._stop_had_focus = self.page.under_way.stop.hasFocus()  # disabled it loses it
        self._show_course()

    def _end(self, result: Result | None, problem: Problem | None) -> None:
        had_focus = self._stop_had_focus or self.page.under_way.stop.hasFocus()
        self._progress, self._stop_had_focus = None, False
        self._result = result or self._result
        self._refresh()
        if had_focus:
            self.page.buttons[self.page.check].setFocus()
        if problem is not None:
            self.session.troubled.emit(problem)
        if result is None:
            return
        self.page.end()
        say = self.session.words.say
        counted = " · ".join(text for _, _, text in self._page_data(result).counts)
        ended = say("checkup_page.ended", {"counts": counted})
        if self._is_here:
            self.announce(self, ended)
        else:
            self.session.tell(ended, say("checkup_page.show"), lambda: self.session.go(CHECKUP))
        self.archive.look_up()

    # --- what is shown ----------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Show what is the case now."""
        self._allow()
        if not self._is_here:
            return
        checking, say = self.session.checking, self.session.words.say
        progress, result = self._progress, self._result
        if progress is not None:
            self._is_dirty = True
            self._show_course()
        elif result is not None:
            self.page.tell(self._page_data(result))
        else:
            self.page.tell(PageData(notes=[*self._why_not()]))
        self.page.empty_state.setVisible(progress is None and result is None)
        self.page.place_trace(first=progress is not None)
        if checking.is_waiting:
            self.page.under_way.tell(say("checkup_page.waits_for_run"))
        elif progress is None:
            self.page.under_way.hide()
        self.session.status_changed.emit()

    def _show_course(self) -> None:
        progress = self._progress
        if progress is None or not self._is_here:
            return
        if self._is_dirty:
            self._is_dirty = False
            self.page.tell(progress.page_data(self.session.catalogue.ids()))
        say, under_way = self.session.words.say, self.page.under_way
        left = "" if progress.left_s is None else say("checkup.left", {"duration": progress.left_s})
        is_stopping = self.session.checking.is_stopping
        doing = say("checkup_page.stopping") if is_stopping else progress.doing
        under_way.tell(doing, "" if is_stopping else left, progress.fraction)
        under_way.note(progress.note)
        under_way.allow_stop(not is_stopping)

    def _page_data(self, result: Result) -> PageData:
        return page_data(self.session.words, result, self.session.catalogue.ids())

    def _why_not(self) -> Iterator[str]:
        """Yield why no check can begin, if none can."""
        if self.session.context.has_fake_machine:
            yield self.session.words.say("checkup_page.fake")
        elif self.session.machine is None:
            yield self.session.words.say("checkup_page.reading")

    def _allow(self) -> None:
        """Allow what makes sense now."""
        page, result, baseline = self.page, self._result, self.archive.baseline
        words, may_start, seconds = self.session.words, self._may_start(), self.archive.seconds
        is_still = self._progress is None and not self.session.checking.is_waiting
        check = "checkup_page.check_again" if result else "checkup_page.check"
        page.check.setText(words.say(check))
        for action, hint in (
            (page.check, _length(words, seconds.get("check"))),
            (page.quick, _length(words, seconds.get("quick"))),
            (page.soak, words.say("checkup_page.hot")),
        ):
            action.setEnabled(may_start)
            page.buttons[action].set_hint(hint)
        for action in (page.compare, page.report):
            action.setEnabled(is_still and result is not None)
            action.setVisible(result is not None)
        is_whole = result is not None and result.outcome == COMPLETED
        is_other = result is not None and (baseline is None or result.id != baseline.id)
        page.baseline.setVisible(is_still and is_whole and is_other)
        page.order.setVisible(is_still and may_start)

    # --- links and sheets -------------------------------------------------------------------------

    def _follow_link(self, target: str) -> None:
        kind, _, name = target.partition(" ")
        if kind == TO_MAP:
            self.session.go(MAP, part=name)
        elif kind == TO_EXPERIMENT:
            self.session.go(EXPERIMENTS, experiment=name)
        else:
            self._ask_order()

    def _ask_soak(self) -> None:
        self.session.background.do_soon(on_battery, self._open_soak)

    def _open_soak(self, battery: bool | None) -> None:
        if self._may_start():
            sheets.ask_soak(
                self.session, self.window(), partial(self.start, "soak"), on_battery=bool(battery)
            )

    def _ask_order(self) -> None:
        order, draft = self.archive.order, self._draft
        text = draft if draft is not None else order.text if order is not None else ""
        sheets.ask_order(self.session, self.window(), text, self._save_order, self._keep_draft)

    def _keep_draft(self, text: str) -> None:
        """Keep lines that were typed and not saved, until the sheet opens again."""
        self._draft = text

    def _save_order(self, order: Order) -> None:
        self._draft = None
        self.archive.save_order(order, self._result if self._is_of_here(self._result) else None)

    def _is_of_here(self, result: Result | None) -> bool:
        """Is a checkup one of this machine? One from a file may be another's."""
        here = self.session.machine
        if result is None or here is None:
            return False
        return fingerprint_of(result) == here.fingerprint

    def _show_judged(self, result: Result | None) -> None:
        """Show a checkup with the answers to another order."""
        if result is not None and self._result is not None and result.id == self._result.id:
            self._result = result
            self._refresh()

    def _show_files(self, found: list[Result]) -> None:
        if self._progress is not None:
            self.session.tell(self.session.words.say("checkup_page.runs_now"))
            return
        first, *others = found
        self._result = first
        self._refresh()
        self.page.end()
        said = {"machine": first.name or known(first).get("processor", ""), "date": day(first.at)}
        self.session.tell(self.session.words.say("checkup_page.from_file", said))
        for other in others:
            self._compare_with(first, other)

    def _report(self) -> None:
        from app.window.core.reporting import open_checkup  # brings templates: not with the place

        if self._result is None:
            return
        baseline = self.archive.baseline
        is_held = baseline is not None and baseline.id == self._result.baseline
        compared = compare(baseline, self._result) if baseline is not None and is_held else None
        open_checkup(self.session, self, self._result, compared)

    def _choose_other(self) -> None:
        result, archive = self._result, self.archive
        if result is None:
            return
        show = partial(self._compare_with, result)
        menu = sheets.compare_menu(
            self.session, self, archive.baseline, archive.others(result), show
        )
        menu.addSeparator()
        menu.addAction(self.session.words.say("checkup_page.a_file"), self._compare_with_file)
        button = self.page.buttons[self.page.compare]
        menu.popup(button.mapToGlobal(QPoint(0, button.height())))

    def _compare_with_file(self) -> None:
        result, say = self._result, self.session.words.say
        title, kinds = say("checkup_page.choose_file"), say("checkup_page.files")
        if result is not None and (path := file_there(self.session, self, title, kinds)):
            show = partial(self._compare_with, result)
            self.session.background.do_soon(lambda: read(path), show)

    def _compare_with(self, now: Result, before: Result) -> None:
        sheets.show_compared(self.session, self.window(), before, now)

    def _save_baseline(self) -> None:
        if self._result is not None:
            self.archive.save_baseline(self._result)

    def _tell_kept(self, key: str) -> None:
        self.session.tell(self.session.words.say(key))
        self.archive.look_up()

    def _use_archive(self) -> None:
        if self._result is None and self.archive.results:
            self._result = self.archive.results[0]
        self._refresh()

    def _wake(self) -> None:
        self.session.runner.began.connect(self._allow)
        self.session.runner.ended.connect(self.session.checking.go_on)
        self._wake_archive()

    def _connect(self) -> None:
        session, page, archive = self.session, self.page, self.archive
        for action, act in (
            (page.check, lambda: self.start("check")),
            (page.quick, lambda: self.start("quick")),
            (page.soak, self._ask_soak),
            (page.compare, self._choose_other),
            (page.report, self._report),
            (page.baseline, self._save_baseline),
            (page.order, self._ask_order),
        ):
            action.triggered.connect(lambda _checked=False, act=act: act())
        page.followed.connect(self._follow_link)
        page.under_way.stop_wanted.connect(session.checking.stop)
        archive.changed.connect(self._use_archive)
        archive.kept.connect(self._tell_kept)
        archive.judged.connect(self._show_judged)
        checking = session.checking
        checking.began.connect(self._begin)
        checking.heard.connect(self._hear)
        checking.stopping.connect(self._show_stopping)
        checking.ended.connect(self._end)
        session.machine_changed.connect(self._wake_archive)
        session.when_awake(self._wake)

    def _wake_archive(self) -> None:
        self.archive.look_up()
        self._refresh()


def _length(words: Words, seconds: float | None) -> str:
    """Return about how long a checkup takes, "" while that is unknown."""
    if seconds is None:
        return ""
    step = MINUTE_S if seconds > 1.5 * MINUTE_S else COARSE_S
    rounded = max(step, round(seconds / step) * step)
    return words.say("checkup_page.takes", {"duration": rounded})


def _make(*options: Any, **named: Any) -> Checkup:
    """Return a real checkup; called in the thread that follows it."""
    from experiments.checkup.run_checkup import Checkup  # half a second

    return Checkup(*options, **named)
