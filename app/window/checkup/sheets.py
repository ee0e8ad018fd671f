"""The sheets of the checkup: soak, order, and what changed since another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from app.checkup.compare import compare
from app.checkup.in_words import compared_lines, day, pair_text
from app.window.checkup.page_rows import answer_rows
from app.window.core.session import Session
from experiments.checkup.order import Order, order_of
from experiments.checkup.result import Result
from machine.model import tells_temperature
from widgets.checkup.compare_sheet import CompareSheet
from widgets.checkup.order_sheet import OrderSheet
from widgets.checkup.page_data import RowData
from widgets.checkup.soak_sheet import SoakSheet, SoakWanted

LISTED = 12  # checkups in the menu


def ask_soak(
    session: Session, parent: QWidget, take: Callable[[SoakWanted], object], *, on_battery: bool
) -> SoakSheet:
    """Open the sheet of the soak; `take` gets what was chosen."""
    machine = session.machine
    has_sensor = machine is not None and tells_temperature(machine)
    sheet = SoakSheet(
        session.words, session.look, parent, on_battery=on_battery, has_sensor=has_sensor
    )
    sheet.wanted.connect(take)
    sheet.open()
    return sheet


def ask_order(
    session: Session,
    parent: QWidget,
    text: str,
    take: Callable[[Order], object],
    leave: Callable[[str], object],
) -> OrderSheet:
    """Open the sheet of what was bought; `take` gets it, `leave` a text that was not saved."""
    from experiments.checkup.checks.order import answers  # loads the engine: not with the place

    words, machine = session.words, session.machine

    def compare(text: str) -> Sequence[RowData]:
        order = order_of(text)
        return answer_rows(words, answers(order, machine)) if machine is not None else ()

    sheet = OrderSheet(words, session.look, parent, text, compare)
    sheet.wanted.connect(lambda text: take(order_of(text)))
    sheet.left.connect(leave)
    sheet.open()
    return sheet


def compare_menu(
    session: Session,
    parent: QWidget,
    baseline: Result | None,
    others: Sequence[Result],
    take: Callable[[Result], object],
) -> QMenu:
    """Return a menu of the baseline and other checkups; `take` gets the chosen one."""
    say, menu = session.words.say, QMenu(parent)
    menu.aboutToHide.connect(menu.deleteLater)
    if baseline is not None:
        text = say("checkup_page.since_baseline", {"date": day(baseline.at)})
        menu.addAction(text, partial(take, baseline))
        menu.addSeparator()
    for each in others[:LISTED]:
        text = f"{say(f'checkup.kinds.{each.kind}')}, {day(each.at)}"
        menu.addAction(text, partial(take, each))
    return menu


def show_compared(session: Session, parent: QWidget, before: Result, now: Result) -> CompareSheet:
    """Open the sheet of what changed."""
    words = session.words
    compared = compare(before, now)
    sheet = CompareSheet(
        words,
        session.look,
        parent,
        lines=[*compared_lines(words, compared)],
        rows=[pair_text(words, pair) for pair in compared.changed],
    )
    sheet.open()
    return sheet
