"""The kept checkups of this machine, its baseline, and how long new ones would take."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.checkup.store import Checkups, has_measured
from app.window.core.session import Session
from experiments.checkup.order import Order, read_order, write_order
from experiments.checkup.result import Kind, Result
from experiments.core.problems import UserError
from machine.model import Machine

KINDS: tuple[Kind, ...] = ("quick", "check")  # whose length is told


class Archive(QObject):
    """Reads and writes in the background."""

    changed = Signal()
    kept = Signal(str)  # the key of what was kept
    judged = Signal(object)  # Result | None: what was shown, held against another order

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.results: Sequence[Result] = ()  # the newest first
        self.baseline: Result | None = None
        self.order: Order | None = None
        self.seconds: dict[Kind, float] = {}

    @property
    def store(self) -> Checkups:
        """The store in which checkups are kept."""
        return Checkups(self._session.context.folder)

    def others(self, result: Result | None) -> Sequence[Result]:
        """Return all but one."""
        return [each for each in self.results if result is None or each.id != result.id]

    def look_up(self) -> None:
        """Read everything anew; `changed` comes when it is there."""
        session, machine = self._session, self._session.machine
        if machine is None or not session.is_awake or session.context.has_fake_machine:
            return
        store, of, folder = self.store, machine.fingerprint, session.context.folder

        session.background.do_soon(partial(_read, store, of, folder), self._use_results)
        session.background.do_soon(lambda: (read_order(folder),), self._use_order)
        if not self.seconds:
            session.background.do_soon(
                lambda: {kind: _seconds(kind, machine) for kind in KINDS},
                self._use_seconds,
                lambda _problem: None,  # an experiment that is not there: no length is told
            )

    def save_baseline(self, result: Result) -> None:
        """Make a checkup the baseline of this machine."""
        store = self.store
        said = "checkup_page.saved_baseline"
        self._session.background.do(
            lambda: store.save_baseline(result), lambda _none: self.kept.emit(said)
        )

    def save_order(self, order: Order, result: Result | None) -> None:
        """Keep what was bought, and hold a checkup of this machine against it."""
        folder, baseline = self._session.context.folder, self.baseline

        def save() -> Result | None:
            try:
                write_order(folder, order)
            except OSError as error:
                raise UserError("order_not_kept", reason=error.strerror or str(error)) from None
            return None if result is None else _judged(result, order, baseline)

        def use(judged: Result | None) -> None:
            self.order = order
            self.judged.emit(judged)
            self.kept.emit("checkup_page.order_sheet.saved")

        self._session.background.do(save, use)

    def _use_results(self, found: tuple[Sequence[Result], Result | None]) -> None:
        self.results, self.baseline = found
        self.changed.emit()

    def _use_order(self, found: tuple[Order | None]) -> None:
        (self.order,) = found

    def _use_seconds(self, seconds: dict[Kind, float]) -> None:
        self.seconds = seconds
        self.changed.emit()


def _read(store: Checkups, of: str | None, folder: Path) -> tuple[Sequence[Result], Result | None]:
    """Return the checkups of a machine and its baseline; the order may be newer than the last."""
    results, baseline = [*store.of(of)], store.baseline(of)
    with contextlib.suppress(UserError):  # which is told where the order is read by itself
        results[:1] = [_judged(each, read_order(folder), baseline) for each in results[:1]]
    return results, baseline


def _judged(result: Result, order: Order | None, baseline: Result | None) -> Result:
    from experiments.checkup.rejudge import with_order  # loads the checks, in the background

    is_any = order is not None and bool(order.lines)
    return with_order(result, order if is_any else None, baseline)


def keep(store: Checkups, result: Result) -> None:
    """Write a checkup, unless it was stopped before it had measured anything. Raises UserError."""
    if has_measured(result):
        store.keep(result)


def _seconds(kind: Kind, machine: Machine) -> float:
    """Return about how long a checkup takes. Raises UserError where an experiment is missing."""
    from experiments.checkup.plan import chosen, steps  # loads experiments
    from experiments.checkup.rules import rules

    return sum(step.seconds for step in steps(chosen(rules().rule, kind), machine, kind))
