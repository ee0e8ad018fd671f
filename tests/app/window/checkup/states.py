"""States of the checkup's place, in a whole window; nothing is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.checkup.store import Checkups
from app.window.checkup import sheets
from app.window.checkup.place import CheckupPlace
from app.window.core.target import CHECKUP, Target
from machine.live.surroundings import Surroundings
from tests.app.window.checkup.scripted import MACHINE, Scripted, result, watched
from tests.app.window.stage import settle
from widgets.checkup.soak_sheet import SoakSheet

if TYPE_CHECKING:
    from tests.app.window.whole import Whole

BUSY = Surroundings(on_battery=True, power_saver=True, power_saver_by=("powersave",))


def first(whole: Whole) -> CheckupPlace:
    """Go to the place on a machine without a checkup."""
    whole.session.machine = MACHINE
    whole.window.go(Target(CHECKUP))
    place = whole.window.place
    assert isinstance(place, CheckupPlace)
    return place


def kept(whole: Whole) -> CheckupPlace:
    """Go to the place where a checkup and a baseline of this machine are kept."""
    store = Checkups(whole.folder / "data")
    store.keep(result())
    store.save_baseline(result())
    place = first(whole)
    settle(lambda: bool(place.page.rows.rows))
    return place


def begin(whole: Whole, scripted: Scripted) -> CheckupPlace:
    """Begin a check that goes as it is scripted."""
    place = first(whole)
    place.make = lambda kind, **options: scripted  # type: ignore[assignment]
    place.page.check.trigger()
    return place


def ended(whole: Whole) -> CheckupPlace:
    """Let a check come to its end."""
    place = begin(whole, Scripted(result()))
    settle(lambda: not whole.session.checking.is_running)
    return place


def running(whole: Whole) -> CheckupPlace:
    """Be in the midst of a check, with much that disturbs it."""
    place = begin(whole, Scripted(result(), surroundings=BUSY, held=True))
    settle(lambda: whole.session.checking.left_s == 90.0)
    return place


def under_load(whole: Whole) -> CheckupPlace:
    """Be in the midst of the sustained load."""
    heard: list[object] = []
    between = [*watched()]
    whole.session.checking.heard.connect(heard.append)
    place = begin(whole, Scripted(result(), held=True, between=between))
    settle(lambda: heard[-1:] == between[-1:])
    return place


def soak(whole: Whole) -> SoakSheet:
    """Ask for a soak on battery."""
    ended(whole)
    return sheets.ask_soak(whole.session, whole.window, lambda _wanted: None, on_battery=True)


def order(whole: Whole) -> None:
    """Ask what was bought."""
    ended(whole).page.order.trigger()


def compared(whole: Whole) -> None:
    """Compare with a checkup in which a row was missing."""
    ended(whole)
    rows = [each for each in result().rows if each.rule != "identical"]
    before = result(rows, id="earlier", at="2026-01-02T03:04:05+00:00")
    sheets.show_compared(whole.session, whole.window, before, result())
