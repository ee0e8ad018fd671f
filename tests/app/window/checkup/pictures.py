"""Every state of the place as a picture: `python -m tests.app.window.checkup.pictures FOLDER`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.checkup.store import Checkups
from app.window.checkup.place import CheckupPlace
from app.window.core.target import CHECKUP, Target
from machine.system.surroundings import Surroundings
from tests.app.window.checkup.scripted import MACHINE, Scripted, result, trace
from tests.app.window.stage import live_s, settle
from tests.app.window.whole import Whole
from widgets.style import theme as themes
from widgets.style.look import Look

SIZES = ((1440, 900, 1.0), (1280, 720, 1.0), (1280, 720, 1.6))


def place_of(whole: Whole) -> CheckupPlace:
    whole.session.machine = MACHINE
    whole.window.go(Target(CHECKUP))
    place = whole.window.place
    assert isinstance(place, CheckupPlace)
    return place


def first(whole: Whole) -> None:
    place_of(whole)


def ended(whole: Whole) -> None:
    place = place_of(whole)
    place.make = lambda kind, **options: Scripted(result())
    place.page.check.trigger()
    settle(lambda: not whole.session.checking.is_running)


def running(whole: Whole) -> Scripted:
    place = place_of(whole)
    around = Surroundings(on_battery=True, busy_fraction=0.2)
    held = Scripted(result(), surroundings=around, held=True)
    place.make = lambda kind, **options: held
    place.page.check.trigger()
    settle(lambda: len(place.page.rows.rows) > 4)
    return held


def soaking(whole: Whole) -> None:
    running(whole)
    place = place_of(whole)
    place._course.trace.extend(trace())
    place._is_dirty = True
    place._show_course()


def soak(whole: Whole) -> None:
    ended(whole)
    place_of(whole).page.soak.trigger()
    live_s(0.5)


def order(whole: Whole) -> None:
    ended(whole)
    place_of(whole).page.order.trigger()


def compared(whole: Whole) -> None:
    ended(whole)
    place = place_of(whole)
    rows = tuple(each for each in result().rows if each.rule != "identical")
    before = result(rows, id="earlier", at="2026-01-02T03:04:05+00:00")
    place._compare_with(result(), before)


def kept(whole: Whole) -> None:
    Checkups(whole.folder / "data").keep(result())
    Checkups(whole.folder / "data").save_baseline(result())
    place = place_of(whole)
    settle(lambda: bool(place.page.rows.rows))


def scrolled(whole: Whole) -> None:
    ended(whole)
    live_s(0.2)
    bar = place_of(whole).page.area.verticalScrollBar()
    bar.setValue(bar.maximum())


STATES: tuple[Callable[[Whole], object], ...] = (
    first, ended, scrolled, running, soaking, soak, order, compared, kept
)  # fmt: skip


def main() -> None:
    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    themes.add_fonts()
    for mode in ("dark", "light"):
        for width, height, zoom in SIZES:
            look = Look(themes.load(mode, zoom))
            look.wear(look.theme)
            for state in STATES:
                name = f"{state.__name__}-{mode}-{width}-{zoom}"
                if wanted and not any(part in name for part in wanted):
                    continue
                with tempfile.TemporaryDirectory() as data:
                    whole = Whole(look, Path(data))
                    whole.window.resize(width, height)
                    state(whole)
                    live_s(0.5)
                    whole.window.grab().save(str(folder / f"{name}.png"))
                    whole.session.checking.stop()
                    whole.close()
                    application.processEvents()


if __name__ == "__main__":
    main()
