"""Pictures of every place and state of the real window, to be looked at: nothing is asserted.

`python -m tests.tools.pictures FOLDER [--data DIR] [--light] [--zoom N] [--size W H] [--small]
[NAME ...]`; the README's `map`, `explained` and `guesses` are made by it too, `--small`. Without a
data folder some quick runs are made first; one with an empty `runs` shows the window as at first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QPoint, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QMenu

from app.context import Context
from app.lecture.file import read
from app.lecture.lectures import SHIPPED, lectures
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.core.target import CHECKUP, EXPERIMENTS, LIVE, MAP, RUNS, Target
from app.window.shell.crash import report
from app.window.shell.window import Window
from experiments.core.declare import Part
from experiments.engine.lock import FOLDER_VARIABLE
from machine.system.kill import KILL
from widgets.doctor.page import DoctorPage
from widgets.lesson.drawing.motion_player import MotionPlayer
from widgets.plots.plot import Plot
from widgets.sheets.about import About
from widgets.sheets.overlay import Overlay
from widgets.sheets.trouble import CrashDialog
from widgets.style import theme as themes
from widgets.style.look import Look

RUNS_FIRST = (
    ("gil-threads", "--quick"),
    ("cache-ladder", "--quick"),
    ("burst-random", "--quick"),
    ("cache-ladder", "--quick"),
)


class Tour:
    """Goes through the window; each method is one state, named by its picture."""

    def __init__(self, window: Window, folder: Path, suffix: str, *, is_small: bool) -> None:
        self.window, self.session = window, window.session
        self._folder, self._suffix, self._is_small = folder, suffix, is_small

    def states(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield every state, in an order in which one leads to the next."""
        for name in vars(type(self)):
            if name.startswith("show_"):
                yield name.removeprefix("show_").replace("_", "-"), getattr(self, name)

    def take(self, name: str) -> None:
        """Write the picture of what is shown now."""
        wait_s(0.3)
        path = self._folder / f"{name}{self._suffix}.png"
        in_front = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        lecture = self.window.lecture_mode.windows
        slide = lecture.audience if lecture is not None else None
        (in_front or slide or self.window).grab().save(str(path))
        if self._is_small:
            from PIL import Image  # `pip install pillow`: Qt's palettes are coarse

            Image.open(path).quantize(dither=Image.Dither.NONE).save(path, optimize=True)
        print(path)  # noqa: T201

    def show_map(self) -> None:
        self.window.go(Target(MAP))
        wait_s(3)  # until kept runs are read, and the load is a mean of some samples

    def show_map_part(self) -> None:
        self.window.go(Target(MAP, part=Part.L3))
        wait_s(1)

    def show_guesses(self) -> None:
        guesses = self.window.actions_here.guesses
        guesses.open()
        assert guesses.sheet is not None
        guesses.sheet.answered.emit(1e9)
        until(lambda: guesses.round.shown is not None)
        wait_s(0.5)

    def show_live(self) -> None:
        self.window.go(Target(LIVE))
        wait_s(8)

    def show_catalogue(self) -> None:
        self.window.go(Target(EXPERIMENTS))

    def show_catalogue_none(self) -> None:
        self.show_catalogue()
        self.window.place._catalogue._bar._search.setText("nothing is called this")  # type: ignore[attr-defined]

    def show_page_last(self) -> None:
        self.window.go(Target(EXPERIMENTS, experiment="cache-ladder"))
        wait_s(1.5)

    def show_explained(self) -> None:
        path = self.session.catalogue.recording("cache-ladder")
        self.session.go(EXPERIMENTS, experiment="cache-ladder", run=path)
        wait_s(1.5)
        player = self.window.findChild(MotionPlayer)
        player.stand_at(player.motion.duration_s / 2)

    def show_page_running(self) -> None:
        self.window.go(Target(EXPERIMENTS, experiment="gil-threads"))
        wait_s(1)
        self.do("Shift+F5")
        wait_s(2.0)

    def show_page_done(self) -> None:
        until(lambda: not self.session.runner.is_running)
        wait_s(0.5)

    def show_page_stopped(self) -> None:
        self.window.go(Target(EXPERIMENTS, experiment="burst-random"))
        wait_s(1)
        self.do("F5")
        until(lambda: self.session.runner.run_state.rows > 30)
        self.session.runner.stop()
        until(lambda: not self.session.runner.is_running)

    def show_page_lost(self) -> None:
        self.do("F5")
        until(lambda: self.session.runner.run_state.rows > 10)
        os.kill(self.session.runner._run._worker.pid, KILL)  # type: ignore[arg-type]
        until(lambda: not self.session.runner.is_running)

    def show_page_code(self) -> None:
        self.do("page.code")

    def show_page_data(self) -> None:
        self.do("page.data")
        wait_s(0.5)

    def show_page_compared(self) -> None:
        self.do("page.numbers")
        a, b = [run for run in self.session.runs if run.experiment == "cache-ladder"][:2]
        self.session.go(EXPERIMENTS, experiment="cache-ladder", run=a.path, beside=b.path)
        wait_s(1.5)

    def show_page_recorded(self) -> None:
        run = next(run for run in self.session.runs if run.experiment == "burst-random")
        self.session.go(EXPERIMENTS, run=run.path)
        wait_s(1.5)

    def show_page_replay(self) -> None:
        self.window.place._page._actions.replay.trigger()  # type: ignore[attr-defined]
        wait_s(2.0)

    def show_page_menu(self) -> None:
        self.window.findChild(Plot).menu().popup(QPoint(0, 0))

    def show_page_compare(self) -> None:
        self.window.place._page._actions.compare.trigger()  # type: ignore[attr-defined]

    def show_checkup(self) -> None:
        self.window.go(Target(CHECKUP))
        wait_s(1)

    def show_runs(self) -> None:
        self.window.go(Target(RUNS))
        wait_s(0.5)

    def show_runs_menu(self) -> None:
        self.window.place.actions_.menu(self.window).popup(QPoint(0, 0))  # type: ignore[attr-defined]

    def show_runs_several(self) -> None:
        self.window.place.table.selectAll()  # type: ignore[attr-defined]

    def show_runs_deleted(self) -> None:
        self.window.place.table.select([self.session.runs[0].path.name])  # type: ignore[attr-defined]
        self.window.place.actions_["runs.delete_runs"].trigger()  # type: ignore[attr-defined]
        wait_s(0.5)

    def show_runs_bin(self) -> None:
        self.window.place.actions_["runs.restore"].trigger()  # type: ignore[attr-defined]
        wait_s(0.5)

    def show_runs_pair(self) -> None:
        self.window.place.actions_["runs.undo_delete"].trigger()  # type: ignore[attr-defined]
        wait_s(0.5)
        self.window.place.actions_["runs.compare_with"].trigger()  # type: ignore[attr-defined]

    def show_runs_none(self) -> None:
        self.window.place.pairing.leave()  # type: ignore[attr-defined]
        self.window.place.page.search.setText("nothing is called this")  # type: ignore[attr-defined]

    def show_import_one(self) -> None:
        self.window.place.page.show_all()  # type: ignore[attr-defined]
        self.window.place.sheets.look_into([self.session.runs[0].path])  # type: ignore[attr-defined]
        wait_s(0.5)

    def show_import_several(self) -> None:
        torn = self._folder / "torn.coreopsis.jsonl"
        torn.write_bytes(self.session.runs[0].path.read_bytes()[:500])
        self.window.place.sheets.look_into([torn, *(run.path for run in self.session.runs[:6])])  # type: ignore[attr-defined]
        wait_s(0.5)
        torn.unlink()

    def show_bin(self) -> None:
        self.window.place.sheets.ask_to_empty(1)  # type: ignore[attr-defined]

    def show_palette(self) -> None:
        self.window.actions_here.find()

    def show_keys(self) -> None:
        self.window.actions_here.show_keys()

    def show_settings(self) -> None:
        self.window.preferences.open()

    def show_about(self) -> None:
        self.window.actions_here.show_about()

    def show_doctor(self) -> None:
        self.window.actions_here.show_doctor()
        wait_s(0.5)
        self.until_examined()

    def show_licences(self) -> None:
        self.window.actions_here.show_about()
        self.window.findChildren(About)[-1].show_page("licences")

    def show_menu(self) -> None:
        self.window.actions_here.show_menu()

    def show_crash(self) -> None:
        try:
            raise RuntimeError("on purpose")
        except RuntimeError:
            text = report(traceback.format_exc(), lambda: {"place": self.window.place.name})
        dialog = CrashDialog(text, self.session.words, self.window)
        dialog.add(text)
        dialog.open()

    def show_closing(self) -> None:
        self.window.go(Target(EXPERIMENTS, experiment="burst-random"))
        wait_s(1)
        self.do("F5")
        until(lambda: self.session.runner.is_running)
        self.window.close()

    def show_lecture(self) -> None:
        (ours, *_) = lectures(SHIPPED)
        self.session.asked_for_lecture.emit(read(ours.path), ours.path)
        mode = self.window.lecture_mode
        assert mode.conductor is not None
        assert mode.windows is not None
        mode.conductor.go(1)
        until(lambda: mode.conductor.runs.is_read(1))
        mode.windows.audience.showNormal()
        mode.windows.audience.resize(self.window.size())
        mode.conductor.show_recording()
        while mode.conductor.course.turn.step != "explain":
            mode.conductor.forward()
        wait_s(1)

    def show_lecture_keys(self) -> None:
        conductor = self.window.lecture_mode.conductor
        assert conductor is not None
        conductor.show_keys()

    def until_examined(self) -> None:
        page = self.window.findChild(DoctorPage)
        until(page.copy_text.isEnabled)

    def do(self, what: str) -> None:
        """Do what the action with these keys, or these words, does."""
        text = self.session.words.say(what)
        for _, actions in self.window.actions_here.groups():
            for action in actions:
                if what == action.shortcut().toString() or text == action.text():
                    action.trigger()
                    return
        raise LookupError(what)


def wait_s(seconds: float) -> None:
    """Let the window live for a while."""
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def until(holds: Callable[[], bool], limit_s: float = 60.0) -> None:
    """Let the window live until something holds."""
    end_s = time.monotonic() + limit_s
    while not holds() and time.monotonic() < end_s:
        wait_s(0.05)


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--small", action="store_true", help="256 colours")
    parser.add_argument("--zoom", type=float, default=1.0)
    parser.add_argument("--size", type=int, nargs=2, default=(1440, 900))
    options = parser.parse_intermixed_args()  # names may follow options
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault(FOLDER_VARIABLE, scratch)
        data = options.data or Path(scratch) / "data"
        if not (data / "runs").exists():
            for run in RUNS_FIRST:
                command = [sys.executable, "-m", "app", "--data", str(data), "run", *run]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if not (data / "checkups").exists():
            command = [sys.executable, "-m", "app", "--data", str(data), "checkup", "--quick"]
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        application = QApplication([])
        themes.add_fonts()
        mode = "light" if options.light else "dark"
        settings = Settings(mode=mode, zoom=options.zoom)
        look = Look(themes.load(mode, options.zoom))
        look.wear(look.theme)
        session = Session(Context(data=data), look, settings)
        window = Window(session)
        window.resize(*options.size)
        window.painted.connect(window.wake)
        window.show()
        until(lambda: bool(session.entries))
        suffix = "" if not options.light else "-light"
        tour = Tour(window, options.folder, suffix, is_small=options.small)
        for name, show in tour.states():
            if not options.names or name in options.names:
                show()
                tour.take(name)
                for sheet in window.findChildren(Overlay):
                    sheet.dismiss()
                for menu in window.findChildren(QMenu):
                    menu.close()
                for dialog in window.findChildren(QDialog):
                    dialog.accept()
        session.close()
        application.quit()


if __name__ == "__main__":
    main()
