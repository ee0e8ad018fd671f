from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QToolButton, QVBoxLayout

from app.window.core.availability import suited
from app.window.core.place import Place
from app.window.core.settings import load
from app.window.core.target import LIVE, MAP, RUNS, Target
from app.window.shell import window as window_module
from app.window.shell.window import Window
from experiments.core.problems import Problem
from tests.experiments.machines import machine
from widgets.frame.notice import Notices
from widgets.frame.rail import Rail
from widgets.sheets.overlay import Overlay
from widgets.sheets.palette import Palette
from widgets.sheets.question import Question


class FakePlace(Place):
    """Remembers what happened to it."""

    def __init__(self, session) -> None:
        super().__init__(session)
        self.seen: list[str] = []
        self.targets: list[Target] = []
        self.field = QLineEdit()
        layout = QVBoxLayout(self)
        layout.addWidget(self.field)
        self.own = QAction("Do it", self)

    def open(self, target: Target) -> None:
        self.targets.append(target)

    def arrive(self) -> None:
        self.seen.append("arrive")

    def leave(self) -> None:
        self.seen.append("leave")

    def own_actions(self):
        return [self.own]

    def status(self) -> str:
        return f"said by {self.name}"


PLACES = {
    name: type(f"{name.title()}Place", (FakePlace,), {"name": name})
    for name in window_module.PLACES
}


@pytest.fixture
def window(qtbot, session, monkeypatch):
    fakes = {
        name: (keys, __name__, f"{name.title()}Place")
        for name, (keys, *_) in window_module.PLACES.items()
    }
    monkeypatch.setattr(window_module, "PLACES", fakes)
    for name, kind in PLACES.items():
        monkeypatch.setitem(globals(), f"{name.title()}Place", kind)
    window = Window(session)
    qtbot.addWidget(window)
    window.furnish()
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    return window


def sheets(window: Window) -> list[Overlay]:
    return [sheet for sheet in window.findChildren(Overlay) if sheet.isVisible()]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (Qt.Key.Key_2, "live"),
        (Qt.Key.Key_3, "experiments"),
        (Qt.Key.Key_4, "checkup"),
        (Qt.Key.Key_5, "runs"),
    ],
)
def test_every_place_has_its_number(qtbot, window, key, name):
    assert window.place.name == MAP

    qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)

    assert window.place.name == name
    assert window.place.seen == ["arrive"]
    assert window.session.words.say(f"places.{name}") in window.windowTitle()


def test_the_rail_goes_there_by_a_click(qtbot, window):
    text = window.session.words.say("places.runs")
    buttons = window.findChild(Rail).findChildren(QToolButton)
    (button,) = [each for each in buttons if text in (each.text(), each.accessibleName())]

    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    assert window.place.name == "runs"
    assert button.isChecked()


def test_alt_left_goes_back_and_only_as_far_as_one_came(qtbot, window):
    window.go(Target(LIVE))
    window.go(Target("runs"))

    for expected in (LIVE, MAP, MAP):
        qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
        assert window.place.name == expected


def test_what_is_to_be_opened_reaches_its_place(window, tmp_path):
    window.session.go("experiments", run=tmp_path / "a", beside=tmp_path / "b")

    assert window.place.targets == [
        Target("experiments", run=tmp_path / "a", beside=tmp_path / "b")
    ]


def test_text_grows_to_the_largest_and_comes_back(qtbot, window):
    control = Qt.KeyboardModifier.ControlModifier
    for _ in range(12):
        qtbot.keyClick(window, Qt.Key.Key_Plus, control)
    assert window.session.look.theme.zoom == 2.0

    qtbot.keyClick(window, Qt.Key.Key_0, control)
    assert window.session.look.theme.zoom == 1.0


def test_the_mode_changes_and_is_remembered(qtbot, window):
    window.preferences.swap_mode()

    assert window.session.look.theme.mode == "light"
    window.preferences.save()
    settings, problem = load(window.session.context.folder)
    assert (settings.mode, problem) == ("light", None)


def test_the_palette_lists_places_experiments_and_what_this_place_can_do(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)

    (palette,) = sheets(window)
    assert isinstance(palette, Palette)
    qtbot.keyClicks(palette.focusWidget() or palette, "far away")
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    assert window.place.name == "experiments"
    assert window.place.targets[-1].experiment == "cache-ladder"


def test_experiments_are_found_by_what_can_be_set_in_them(qtbot, window):
    session = window.session
    session.entries = suited(session.catalogue, machine(), {})
    window.actions_here.find()
    qtbot.keyClicks(window.focusWidget(), "huge")

    (palette,) = sheets(window)
    spoken = palette.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "How far away is a byte?, Experiment · cache-ladder · Huge pages"


def test_the_places_stand_in_one_line_of_the_sheet_of_keys(window):
    window.actions_here.show_keys()

    (sheet,) = sheets(window)
    assert {"Map, Live, Experiments, Checkup, Runs", "Ctrl+1, 2, 3, 4, 5"} <= {
        label.text() for label in sheet.findChildren(QLabel)
    }


@pytest.mark.parametrize("sheet", ["show_keys", "show_about", "find"])
def test_every_sheet_closes_by_escape(qtbot, window, sheet):
    getattr(window.actions_here, sheet)()
    assert len(sheets(window)) == 1

    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Escape)

    assert sheets(window) == []


def test_a_folder_that_nothing_can_show_is_said(window, monkeypatch):
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    window.preferences.open()
    (dialog,) = sheets(window)

    dialog.opener.click()

    assert dialog.not_opened.isVisible()


@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_the_menu_is_no_higher_than_a_small_window(window, zoom):
    window.preferences.change(zoom=zoom)
    window.actions_here.show_menu()
    (menu,) = [each for each in window.findChildren(QMenu) if each.isVisible()]
    inner = [each.menu() for each in menu.actions() if each.menu()]
    offered = {action.text() for each in (menu, *inner) for action in each.actions()}

    assert all(each.sizeHint().height() <= 560 for each in (menu, *inner))
    assert {action.text() for _, all_ in window.actions_here.groups() for action in all_} <= offered
    menu.close()


def test_the_sheet_of_keys_has_one_line_for_all_places(window):
    window.actions_here.show_keys()
    (sheet,) = sheets(window)
    told = {each.text() for each in sheet.findChildren(QLabel)}

    assert {"Ctrl+1, 2, 3, 4, 5", "Ctrl+K"} <= told
    assert "Ctrl+5" not in told


def test_the_settings_hold_at_once(qtbot, window):
    window.preferences.open()
    (dialog,) = sheets(window)

    dialog.changed.emit({"mode": "light"})

    assert window.session.look.theme.mode == "light"


def test_a_single_letter_typed_into_a_field_is_only_text(qtbot, window):
    window.place.field.setFocus()

    qtbot.keyClicks(window.place.field, "?")

    assert sheets(window) == []
    assert window.place.field.text() == "?"


def test_single_letters_can_be_switched_off(qtbot, window):
    window.preferences.change(letters=False)

    qtbot.keyClicks(window, "?")

    assert sheets(window) == []


def test_expected_trouble_is_said_in_the_window(window):
    window.session.troubled.emit(Problem("watch_ended"))

    assert window.session.words.say("problems.watch_ended") in _texts(window)


def _texts(window: Window) -> str:
    from PySide6.QtWidgets import QLabel

    return "\n".join(label.text() for label in window.findChildren(QLabel) if label.isVisible())


# --- closing -------------------------------------------------------------------------------------


class Runner:
    """As far as closing goes."""

    def __init__(self, session) -> None:
        from PySide6.QtCore import QObject, Signal

        class Signals(QObject):
            ended = Signal()

        self.signals = Signals(session)
        self.ended, self.is_running, self.stopped = self.signals.ended, True, False
        self.is_held = False

    def stop(self) -> None:
        self.stopped = True
        self.end()

    def end(self) -> None:
        self.is_running = False
        self.ended.emit()

    def close(self) -> None: ...


@pytest.fixture
def running(window, monkeypatch) -> Runner:
    runner = Runner(window.session)
    monkeypatch.setattr(window.session, "runner", runner, raising=False)
    monkeypatch.setattr(type(window.session), "is_awake", property(lambda _: True))
    monkeypatch.setattr(window.session, "close", lambda: None)
    return runner


def closed(window: Window) -> list[None]:
    said: list[None] = []
    window.closed.connect(lambda: said.append(None))
    return said


def test_closing_without_a_run_closes(window):
    said = closed(window)
    window.close()
    assert said == [None]


def test_closing_with_a_run_asks_and_esc_stays(qtbot, window, running):
    said = closed(window)
    window.close()

    (question,) = sheets(window)
    assert isinstance(question, Question)
    window.close()  # a second click asks no second time
    assert len(sheets(window)) == 1
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
    assert window.isVisible()
    assert running.is_running
    assert said == []
    running.end()  # so that the window closes in the end


def test_a_run_may_finish_behind_the_closed_window_which_then_ends(qtbot, window, running):
    said = closed(window)
    window.close()
    (question,) = sheets(window)
    qtbot.mouseClick(question.buttons["finish"], Qt.MouseButton.LeftButton)

    assert not window.isVisible()
    assert running.is_running
    assert said == []
    running.end()
    assert said == [None]


def test_a_window_that_was_closed_comes_back_when_the_program_is_started_again(
    qtbot, window, running
):
    said = closed(window)
    window.preferences.change(closing="finish")
    window.close()
    assert not window.isVisible()

    window.come_to_front()
    running.end()

    assert window.isVisible()
    assert said == []


def test_a_run_may_be_stopped_by_closing(qtbot, window, running):
    said = closed(window)
    window.close()
    (question,) = sheets(window)
    qtbot.mouseClick(question.buttons["stop"], Qt.MouseButton.LeftButton)

    assert running.stopped
    assert said == [None]


def test_a_run_that_nobody_has_begun_keeps_no_window_open(window, running):
    said = closed(window)
    running.is_held = True
    window.close()
    assert said == [None]


@pytest.mark.parametrize("answer", ["finish", "stop"])
def test_a_checkup_is_asked_about_too(qtbot, window, running, monkeypatch, answer):
    checking = Runner(window.session)
    checking.is_waiting = False
    monkeypatch.setattr(window.session, "checking", checking, raising=False)
    running.is_running = False
    said = closed(window)
    window.close()
    (question,) = sheets(window)
    qtbot.mouseClick(question.buttons[answer], Qt.MouseButton.LeftButton)

    assert checking.stopped == (answer == "stop")
    assert said == ([None] if answer == "stop" else [])
    checking.end()
    assert said == [None]


def test_it_is_asked_once_if_the_answer_is_to_be_the_same(qtbot, window, running):
    window.close()
    (question,) = sheets(window)
    question.remember.setChecked(True)
    qtbot.mouseClick(question.buttons["finish"], Qt.MouseButton.LeftButton)

    assert window.session.settings.closing == "finish"
    window.come_to_front()
    window.close()
    assert sheets(window) == []
    assert not window.isVisible()


def test_size_and_place_are_there_again_next_time(qtbot, window):
    window.resize(900, 640)  # higher than the least; the screen of the tests is 800 wide
    window.go(Target("runs"))
    window.close()

    settings, _ = load(window.session.context.folder)
    window.session.settings = settings
    again = Window(window.session)
    qtbot.addWidget(again)

    assert again.height() == 640
    assert settings.place == "runs"


@pytest.mark.parametrize("geometry", ["abc", "é", "AAAA", "\ud800"])
def test_a_damaged_place_on_the_screen_does_not_stop_the_window(qtbot, session, geometry):
    session.settings = session.settings.replace(geometry=geometry)

    window = Window(session)
    qtbot.addWidget(window)

    assert window.width() > 0


def test_settings_that_cannot_be_kept_are_told_once(qtbot, window, tmp_path):
    (tmp_path / "data").write_text("a file where the folder should be")
    told = []
    window.session.troubled.connect(told.append)

    for zoom in (1.1, 1.2, 1.3):
        window.preferences.change(zoom=zoom)
        window.preferences.save()

    assert [problem.key for problem in told] == ["settings_unwritable"]


def test_a_notice_stays_in_sight_when_one_goes_to_another_place(window):
    window.session.tell("Something was done.")
    for name in window_module.PLACES:
        window.go(Target(name))

        notices = window.findChild(Notices)
        middle = notices.geometry().center()
        assert notices.isAncestorOf(notices.parentWidget().childAt(middle))


def files_in(path, *, kind) -> QDropEvent:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = kind(
        QPoint(5, 5) if kind is QDragEnterEvent else QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    event.kept = data  # the event does not own it
    event.ignore()
    return event


def test_a_file_dropped_anywhere_is_looked_into_in_runs(window, tmp_path):
    enter = files_in(tmp_path / "x.html", kind=QDragEnterEvent)
    window.dragEnterEvent(enter)
    assert enter.isAccepted()

    window.dropEvent(files_in(tmp_path / "x.html", kind=QDropEvent))

    assert window.place.name == RUNS
    assert window.place.targets[-1] == Target(RUNS, files=(tmp_path / "x.html",))


def test_while_a_sheet_is_open_nothing_is_dropped_behind_it(window, tmp_path):
    window.actions_here.find()
    enter = files_in(tmp_path / "x.html", kind=QDragEnterEvent)
    window.dragEnterEvent(enter)
    assert not enter.isAccepted()
