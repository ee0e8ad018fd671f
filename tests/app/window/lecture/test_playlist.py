from __future__ import annotations

import dataclasses

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDrag, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel

from app.lecture.file import SUFFIX, Item, Lecture, encode, read
from app.lecture.lectures import SHIPPED
from app.lecture.preflight import Checked, Mark
from app.window.core.target import EXPERIMENTS, RUNS, Target
from app.window.lecture import checking
from app.window.runs.place import RunsPlace
from experiments.core.units import DURATION, show
from experiments.engine import messages
from tests.app.window.lecture.lectures import THREE, Key
from tests.app.window.stage import settle
from widgets.catalogue.card import EXPERIMENT_MIME, Card
from widgets.form.form import ParamsForm
from widgets.lecture.edit_list import ITEM_MIME

ALT, NONE = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def part(hall):
    """The panel of the lecture beside the cards, empty."""
    hall.whole.window.go(Target(EXPERIMENTS))
    hall.whole.do("playlist.lecture")
    return hall.whole.window.place.playlist


def ids(part) -> list[str]:
    return [item.experiment for item in part.draft.items]


def fill(part, *names: str) -> None:
    for name in names:
        part.add(Item(experiment=name))


def drop(widget, mime: str, text: str, y: float) -> None:
    data = QMimeData()
    data.setData(mime, text.encode())
    action = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(5, int(y)), action, data, LEFT, NONE)
    widget.dragEnterEvent(enter)
    assert enter.isAccepted()
    widget.dropEvent(QDropEvent(QPointF(5, y), action, data, LEFT, NONE))


def drop_file(widget, path) -> bool:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, LEFT, NONE)
    enter.ignore()
    widget.dragEnterEvent(enter)
    if enter.isAccepted():
        widget.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, LEFT, NONE))
    return enter.isAccepted()


def test_it_begins_empty_and_says_how_to_go_on(part):
    assert part.panel.isVisible()
    assert not part.panel.begin.isEnabled()
    assert not part.panel.save.isEnabled()
    part.panel.asked.emit("close")
    assert not part.panel.isVisible()


def test_cards_are_dragged_into_it(part, hall, monkeypatch):
    card = next(card for card in hall.whole.window.findChildren(Card) if card.data.id == "race")
    dragged = []
    monkeypatch.setattr(QDrag, "exec", lambda drag, *_: dragged.append(drag.mimeData()))
    opened = []
    card.clicked.connect(lambda: opened.append(card))
    QTest.mousePress(card, LEFT, pos=QPoint(20, 20))
    QTest.mouseMove(card, QPoint(90, 60))
    event_target = QPoint(120, 80)
    QTest.mouseMove(card, event_target)
    QTest.mouseRelease(card, LEFT, pos=event_target)
    if not dragged:  # an offscreen move tells no buttons
        pytest.skip("this platform's mouse moves carry no buttons")
    assert bytes(dragged[0].data(EXPERIMENT_MIME).data()) == b"race"
    assert not opened


def test_dropped_experiments_go_where_they_are_dropped(part):
    drop(part.panel, EXPERIMENT_MIME, "race", 300)
    drop(part.panel, EXPERIMENT_MIME, "stream", 300)
    items = part.panel.items
    drop(items, EXPERIMENT_MIME, "gil-threads", items.visualRect(items.model().index(0, 0)).top())
    assert ids(part) == ["gil-threads", "race", "stream"]
    bottom = items.visualRect(items.model().index(2, 0)).bottom() - 1
    drop(items, ITEM_MIME, "0", bottom)
    assert ids(part) == ["race", "stream", "gil-threads"]


def test_l_adds_the_card_and_the_page_with_its_settings(part, hall):
    window = hall.whole.window
    card = next(card for card in window.findChildren(Card) if card.data.id == "race")
    card.setFocus()
    QTest.keyClick(card, Key.Key_L)
    assert ids(part) == ["race"]

    window.resize(1600, 900)
    window.go(Target(EXPERIMENTS, experiment="gil-threads"))
    form = window.place.findChildren(ParamsForm)[-1]  # one before it may still be there
    form.show_params(msgspec.structs.replace(form.params(), workers=3), {})
    form.changed.emit()
    QTest.keyClick(hall.whole.page, Key.Key_L)
    assert part.draft.items[1].set == {"workers": 3}


def test_an_item_takes_the_settings_of_its_page(part, hall):
    window = hall.whole.window
    window.resize(1600, 900)
    fill(part, "gil-threads")
    assert not part.panel.of_page.isEnabled()
    window.go(Target(EXPERIMENTS, experiment="gil-threads"))
    form = window.place.findChildren(ParamsForm)[-1]  # one before it may still be there
    form.show_params(msgspec.structs.replace(form.params(), workers=2), {})
    form.changed.emit()
    assert part.panel.of_page.isEnabled()
    part.panel.of_page.click()
    assert part.draft.items[0].set == {"workers": 2}


def test_keys_move_items_take_them_out_and_write_notes(part):
    fill(part, "race", "stream", "gil-threads")
    items = part.panel.items
    items.setFocus()
    items.select(0)
    QTest.keyClick(items, Key.Key_Down, ALT)
    assert ids(part) == ["stream", "race", "gil-threads"]
    assert items.place == 1
    QTest.keyClick(items, Key.Key_Up, ALT)
    assert ids(part)[0] == "race"
    QTest.keyClick(items, Key.Key_Down)
    assert items.place == 1
    QTest.keyClick(items, Key.Key_Delete)
    assert ids(part) == ["race", "gil-threads"]
    part.panel.undo.click()
    assert ids(part) == ["race", "stream", "gil-threads"]
    items.select(2)
    QTest.keyClick(items, Key.Key_Return)
    assert part.panel.notes.hasFocus()
    QTest.keyClicks(part.panel.notes, "Ask")
    items.select(0)  # before the pause is over
    assert [item.notes for item in part.draft.items] == ["", "", "Ask"]
    assert part.panel.notes.toPlainText() == ""
    for typed, minutes in (
        ("4", 4),
        ("2,5", 2.5),
        ("x", 2.5),
        ("-1", 2.5),
        ("nan", 2.5),
        ("", None),
    ):
        part.panel.minutes.clear()
        QTest.keyClicks(part.panel.minutes, typed)
        QTest.keyClick(part.panel.minutes, Key.Key_Return)
        assert part.draft.items[0].minutes == minutes
        assert part.panel.minutes.text() == ("" if minutes is None else f"{minutes:g}")


def test_what_was_removed_can_be_had_back_from_the_notice(part, hall):
    told = []
    hall.whole.session.noticed.connect(lambda *notice: told.append(notice))
    fill(part, "race", "stream")
    part.panel.remove.click()
    text, _, undo = told[-1]
    assert hall.whole.words.say("stream.question") in text
    undo()
    assert ids(part) == ["race", "stream"]
    part.panel.remove.click()
    part.add(Item(experiment="gil-threads"))
    told[-1][2]()  # too late: another change came after it
    assert ids(part) == ["race", "gil-threads"]


def test_it_is_saved_opened_and_begun(part, hall, tmp_path, monkeypatch):
    path = tmp_path / f"mine{SUFFIX}"
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_: (str(path).removesuffix(".toml"), "")
    )
    fill(part, "race")
    QTest.keyClicks(part.panel.title, "Mine")
    QTest.keyClick(part.panel.title, Key.Key_Return)
    part.panel.save.click()
    assert read(path) == Lecture(title="Mine", item=(Item(experiment="race"),))
    assert not part.panel.save.isEnabled()
    assert hall.whole.session.settings.playlist == str(path)

    part.panel.begin.click()
    assert hall.is_on
    assert hall.conductor.lecture.title == "Mine"


def test_a_dropped_lecture_opens_in_every_place_and_the_one_before_can_be_had_back(
    part, hall, tmp_path
):
    path = tmp_path / f"three{SUFFIX}"
    path.write_bytes(encode(THREE))
    fill(part, "race")
    told = []
    hall.whole.session.noticed.connect(lambda *notice: told.append(notice))
    window = hall.whole.window
    window.go(Target(RUNS))
    assert drop_file(window, path)
    assert window.place.name == EXPERIMENTS
    assert part.draft.lecture == THREE
    told[-1][2]()
    assert ids(part) == ["race"]

    window.go(Target(RUNS))
    hall.whole.find(RunsPlace).sheets.look_into([path])
    assert window.place.name == EXPERIMENTS
    assert part.draft.lecture == THREE


def test_what_is_no_lecture_is_one_sentence(part, hall, tmp_path):
    told = []
    hall.whole.session.troubled.connect(lambda problem: told.append(problem.key))
    path = tmp_path / f"x{SUFFIX}"
    path.write_bytes(b"title = 1")
    assert drop_file(hall.whole.window, path)
    assert told == ["no_lecture"]
    assert part.draft.lecture == Lecture()


def test_unsaved_work_is_there_at_the_next_start(part, hall):
    from app.window.lecture.playlist import PlaylistPart

    fill(part, "race")
    again = PlaylistPart(hall.whole.session, lambda: None)
    assert [item.experiment for item in again.draft.items] == ["race"]
    again.panel.deleteLater()
    again.deleteLater()


def test_a_lecture_of_the_program_is_saved_as_another(part, tmp_path, monkeypatch):
    shipped = next(SHIPPED.glob(f"*{SUFFIX}"))
    part.open(shipped)
    asked = []
    monkeypatch.setattr(
        QFileDialog,
        "getSaveFileName",
        lambda _parent, _title, name, _kind: asked.append(name) or ("", ""),
    )
    fill(part, "race")
    part.panel.save.click()
    assert asked[0].endswith(shipped.name)
    assert str(SHIPPED) not in asked[0]
    assert part.draft.is_changed


class FakePreflight:
    """Finds the given marks."""

    marks = (Mark.READY, Mark.LONG, Mark.RECORDING)

    def __init__(self, lecture, _path, **_more) -> None:
        self.lecture = lecture

    def events(self):
        for place, (item, mark) in enumerate(zip(self.lecture.item, self.marks, strict=True)):
            seconds = None if mark is Mark.RECORDING else 95.0
            yield Checked(place=place, item=item, mark=mark, seconds=seconds)

    def stop(self) -> None:
        pass


def test_preflight_marks_each_item(part, hall, monkeypatch):
    monkeypatch.setattr(checking, "Preflight", FakePreflight)
    fill(part, "race", "stream", "pinned")
    part.panel.check.click()
    settle(lambda: not part.checking.is_on)
    model, say = part.panel.items.model(), hall.whole.words.say
    states = [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(3)]
    assert say("preflight.ready", {"duration": show(95.0, DURATION)}) in states[0]
    assert say("preflight.long", {"duration": show(95.0, DURATION)}) in states[1]
    assert say("preflight.recording") in states[2]
    part.draft.change(0, set={"rounds": 3})
    part.refresh()
    assert say("preflight.ready", {"duration": show(95.0, DURATION)}) not in model.index(0, 0).data(
        Qt.ItemDataRole.AccessibleTextRole
    )


def test_a_busy_machine_is_named_with_what_to_do(part, hall, monkeypatch):
    class Busy(FakePreflight):
        def events(self):
            for share, event in zip((0.12, 0.374, 0.08), super().events(), strict=True):
                if isinstance(event, Checked):
                    note = messages.Note(key="machine_was_busy", values={"others_fraction": share})
                    event = dataclasses.replace(
                        event, mark=Mark.BUSY, seconds=95.0, disturbance=note
                    )
                yield event

    monkeypatch.setattr(checking, "Preflight", Busy)
    fill(part, "race", "stream", "pinned")
    part.panel.check.click()
    settle(lambda: not part.checking.is_on)
    say, model = hall.whole.words.say, part.panel.items.model()
    told = say("preflight.disturbed.machine_was_busy", {"others_fraction": 0.37})
    assert told in [each.text() for each in part.panel.findChildren(QLabel) if each.isVisible()]
    assert part.panel.check.text() == say("playlist.check")
    state = model.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert say("preflight.busy", {"duration": show(95.0, DURATION)}) in state
    assert told in state


def test_beside_a_page_without_room_the_panel_steps_aside(part, hall):
    window = hall.whole.window
    window.resize(1000, 720)
    window.go(Target(EXPERIMENTS, experiment="gil-threads"))  # its page is new
    settle(part.panel.isHidden)
    window.resize(1600, 900)
    assert part.panel.isVisible()


def test_settings_of_a_strangers_file_are_told_as_they_are(part, tmp_path):
    path = tmp_path / f"x{SUFFIX}"
    settings = 'rounds = "many", nonsuch = [1, {}], job_s = {}, workers = 1979-05-27'
    head = 'format = "coreopsis.lecture"\nversion = 1\n[[item]]\nexperiment = "gil-threads"\n'
    path.write_text(f"{head}set = {{ {settings} }}\n")
    part.open(path)
    told = [each.text() for each in part.panel.findChildren(QLabel)]
    assert any("many" in text and "nonsuch" in text for text in told)


def test_without_room_the_panel_takes_the_place_of_the_cards_and_gives_it_back(part, hall):
    window, place = hall.whole.window, hall.whole.window.place
    window.resize(820, 560)
    assert not part.panel.isVisible() or place.width() - part.panel.width() > 0
    part.panel.setMinimumWidth(0)
    place.resize(500, 500)
    (card, *_) = window.findChildren(Card)
    assert part.panel.isVisible()
    assert not card.isVisible()
    part.panel.asked.emit("close")
    assert not part.panel.isVisible()
    card = next(card for card in window.findChildren(Card) if card.isVisible())
    card.setFocus()
    QTest.keyClick(card, Key.Key_L)  # the cards stay, and a notice tells it
    assert card.isVisible()
    assert ids(part) == [card.data.id]
