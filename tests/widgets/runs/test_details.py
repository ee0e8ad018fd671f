from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget

from tests.widgets.runs.samples import WORDS, worn
from widgets.runs import details as module
from widgets.runs.details import Details, RunDetails, Said

RUN = RunDetails(
    key="a",
    question="Does the order matter?",
    when="today 14:03 · full",
    said=Said("mine", "a note", ("x", "y")),
    finding="It does.",
    values=(("shuffled", "5 ns", "The median read."), ("in order", "1 ns")),
    facts=(("Machine", "Test CPU"),),
    remarks=("The machine was quiet.",),
)
OTHER = replace(RUN, key="b", said=Said(), question="Another question?")
DAMAGED = RunDetails(key="c", question="A file", when="c.jsonl", problem="It is damaged.")
LEFT = Qt.MouseButton.LeftButton
ODD = "Büro <b>&amp;</b> \\ / 漢字"


class Shown:
    """The details beside a field that takes the focus from them."""

    def __init__(self, qtbot, look):
        self.window = QWidget()
        self.details = Details(look, WORDS)
        self.elsewhere = QWidget()
        self.elsewhere.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        layout = QVBoxLayout(self.window)
        layout.addWidget(self.details)
        layout.addWidget(self.elsewhere)
        qtbot.addWidget(self.window)
        self.window.resize(344, 800)
        with qtbot.waitExposed(self.window):
            self.window.show()
        self.window.activateWindow()
        self.said = []
        self.details.said.connect(lambda key, said: self.said.append((key, said)))


@pytest.fixture
def shown(qtbot):
    return Shown(qtbot, worn())


def texts(widget):
    return [each.text() for each in widget.findChildren(QLabel) if each.isVisible()]


def test_what_a_value_is_stands_where_one_points(shown):
    shown.details.show_run(RUN)
    tips = {each.text(): each.toolTip() for each in shown.details.findChildren(QLabel)}

    assert "The median read." in tips["shuffled"]
    assert "The median read." in tips["5 ns"]
    assert tips["in order"] == ""


def test_the_name_stands_where_it_stood_whatever_is_said_of_a_run(qtbot, shown):
    def place(run):
        shown.details.show_run(run)
        qtbot.wait(10)  # the layout follows
        return shown.details.name.mapTo(shown.details, QPoint(0, 0))

    assert place(RUN) == place(replace(RUN, key="b", question="Why? " * 30, finding="So. " * 90))


def type_into(qtbot, field, text):
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    if text.isascii():
        qtbot.keyClicks(field, text)
    else:  # QTest has no such keys
        QApplication.clipboard().setText(text)
        field.paste()


def test_a_run_is_shown_with_all_that_is_known_of_it(shown):
    shown.details.show_run(RUN)

    told = texts(shown.details)
    for text in (
        "Does the order matter?", "today 14:03 · full", "It does.", "shuffled", "5 ns", "Machine",
        "Test CPU", "The machine was quiet.",
    ):  # fmt: skip
        assert text in told
    assert shown.details.name.text() == "mine"
    assert shown.details.note.toPlainText() == "a note"
    assert shown.details.tags.text() == "x, y"
    assert shown.said == []


@pytest.mark.parametrize(
    ("button", "action"),
    [
        ("open", "runs.open_run"),
        ("replay", "runs.replay_hint"),
        ("again", "runs.again_hint"),
        ("pin", "runs.pin_runs"),
        ("export", "runs.export_runs"),
        ("delete", "runs.delete_runs"),
    ],
)
@pytest.mark.parametrize("how", ["mouse", "keys"])
def test_every_button_asks_for_what_it_says(qtbot, shown, button, action, how):
    shown.details.show_run(RUN)
    pressed = getattr(shown.details.buttons, button)
    assert pressed.accessibleName() or pressed.text()
    with qtbot.waitSignal(shown.details.buttons.asked, check_params_cb=lambda key: key == action):
        if how == "mouse":
            qtbot.mouseClick(pressed, LEFT)
        else:
            qtbot.keyClick(pressed, Qt.Key.Key_Space)


def test_what_an_exported_file_does_not_have_is_said_where_it_is_typed_and_exported(shown):
    shown.details.show_run(RUN)

    assert "only if you say so" in shown.details.name.toolTip()
    for field in (shown.details.note, shown.details.tags):
        assert "never exported" in field.toolTip()
    assert "without note and tags" in shown.details.buttons.export.toolTip()


def test_a_damaged_file_shows_its_sentence_and_can_only_be_deleted(shown):
    shown.details.show_run(RUN)
    shown.details.show_run(DAMAGED)

    assert "It is damaged." in texts(shown.details)
    details, buttons = shown.details, shown.details.buttons
    assert buttons.delete.isVisible()
    for each in (
        buttons.open, buttons.again, buttons.export, buttons.compare, buttons.pin,
        details.name, details.note, details.tags,
    ):  # fmt: skip
        assert not each.isVisible()


def test_two_runs_can_be_compared_and_others_say_why_not(qtbot, shown):
    shown.details.show_several(2, "")
    assert WORDS.say("runs.several", {"count": 2}) in texts(shown.details)
    with qtbot.waitSignal(shown.details.buttons.asked) as asked:
        qtbot.mouseClick(shown.details.buttons.compare, LEFT)
    assert asked.args == ["runs.compare_runs"]
    shown.details.show_several(3, "Only two.")
    assert "Only two." in texts(shown.details)
    assert not shown.details.buttons.compare.isVisible()
    assert shown.details.buttons.delete.isVisible()
    assert not shown.details.buttons.open.isVisible()


def test_the_pin_says_what_it_would_do(shown):
    shown.details.show_run(RUN)
    assert shown.details.buttons.pin.accessibleName() == WORDS.say("runs.pin")
    shown.details.show_run(replace(RUN, is_pinned=True))
    assert shown.details.buttons.pin.accessibleName() == WORDS.say("runs.unpin")


def test_nothing_selected_offers_nothing(shown):
    shown.details.show_run(RUN)
    shown.details.show_nothing()
    assert texts(shown.details) == [WORDS.say("runs.choose_one")]


# --- what is typed ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("name", f"  {ODD} ", Said(ODD, "a note", ("x", "y"))),
        ("note", "other", Said("mine", "other", ("x", "y"))),
        ("tags", " hot  day , ,x,hot day,", Said("mine", "a note", ("hot day", "x"))),
        ("name", "", Said("", "a note", ("x", "y"))),
        ("tags", "", Said("mine", "a note", ())),
    ],
)  # fmt: skip
def test_what_is_typed_is_handed_on_when_the_field_is_left(qtbot, shown, field, text, said):
    shown.details.show_run(RUN)
    type_into(qtbot, getattr(shown.details, field), text)
    assert shown.said == []
    shown.elsewhere.setFocus()
    assert shown.said == [("a", said)]


def test_what_is_typed_is_handed_on_after_a_pause(qtbot, shown, monkeypatch):
    shown.details.findChild(QTimer).setInterval(20)
    shown.details.show_run(RUN)
    type_into(qtbot, shown.details.note, "slow")
    qtbot.waitUntil(lambda: shown.said == [("a", Said("mine", "slow", ("x", "y")))])
    assert module.PAUSE_MS >= 500


@pytest.mark.parametrize("field", ["name", "note", "tags"])
def test_a_click_on_what_a_field_is_called_goes_into_it(qtbot, shown, field):
    shown.details.show_run(RUN)
    called = WORDS.say(f"runs.{field}")
    (above,) = (each for each in shown.details.findChildren(QLabel) if each.text() == called)

    qtbot.mouseClick(above, LEFT)

    assert getattr(shown.details, field).hasFocus()


def test_enter_hands_the_name_on(qtbot, shown):
    shown.details.show_run(RUN)
    type_into(qtbot, shown.details.name, "new")
    qtbot.keyClick(shown.details.name, Qt.Key.Key_Return)
    assert shown.said == [("a", Said("new", "a note", ("x", "y")))]


def test_nothing_is_handed_on_where_nothing_has_changed(qtbot, shown):
    shown.details.show_run(RUN)
    for field in (shown.details.name, shown.details.note, shown.details.tags):
        field.setFocus()
    type_into(qtbot, shown.details.name, "mine")
    shown.elsewhere.setFocus()
    shown.details.show_run(OTHER)
    shown.details.show_nothing()
    assert shown.said == []


def test_what_is_typed_is_handed_on_before_another_run_is_shown(qtbot, shown):
    shown.details.show_run(RUN)
    type_into(qtbot, shown.details.name, "new")
    shown.details.show_run(OTHER)

    assert shown.said == [("a", Said("new", "a note", ("x", "y")))]
    assert shown.details.name.text() == ""


def test_a_refresh_leaves_what_is_being_typed(qtbot, shown):
    shown.details.show_run(RUN)
    type_into(qtbot, shown.details.note, "half a sent")
    cursor = shown.details.note.textCursor().position()

    shown.details.show_run(replace(RUN, finding="Found anew."))

    assert shown.details.note.toPlainText() == "half a sent"
    assert shown.details.note.textCursor().position() == cursor
    assert shown.details.note.hasFocus()
    assert "Found anew." in texts(shown.details)


def test_what_is_typed_can_be_undone_in_the_field(qtbot, shown):
    shown.details.show_run(RUN)
    shown.details.name.setFocus()
    qtbot.keyClicks(shown.details.name, "!")
    qtbot.keyClick(shown.details.name, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert shown.details.name.text() == "mine"
    shown.elsewhere.setFocus()
    assert shown.said == []


def test_what_could_not_be_kept_stays_says_why_and_is_tried_again(qtbot, shown):
    shown.details.show_run(RUN)
    type_into(qtbot, shown.details.name, "new")
    shown.elsewhere.setFocus()
    new = Said("new", "a note", ("x", "y"))
    assert shown.said == [("a", new)]
    shown.details.tell_not_kept("No room left.")
    assert "No room left." in texts(shown.details)

    shown.details.show_run(RUN)  # a refresh that still has the old name
    assert shown.details.name.text() == "new"
    shown.details.show_run(OTHER)
    assert "No room left." not in texts(shown.details)
    shown.details.show_run(RUN)
    assert shown.details.name.text() == "new"
    assert "No room left." in texts(shown.details)

    shown.said.clear()
    shown.details.name.setFocus()
    shown.elsewhere.setFocus()
    assert shown.said == [("a", new)]
    shown.details.tell_kept("a", new)
    assert "No room left." not in texts(shown.details)
    shown.said.clear()
    shown.details.hand_on()
    assert shown.said == []


def test_the_name_can_be_edited_at_once(qtbot, shown):
    shown.details.show_run(RUN)
    shown.details.edit_name()
    assert shown.details.name.hasFocus()
    assert shown.details.name.selectedText() == "mine"
    shown.elsewhere.setFocus()
    shown.details.show_run(DAMAGED)
    shown.details.edit_name()
    assert shown.elsewhere.hasFocus()


def test_every_control_has_a_name_and_tab_goes_through_all_of_them(qtbot, shown):
    shown.details.show_run(RUN)
    shown.details.buttons.open.setFocus()
    seen = []
    for _ in range(11):
        focused = shown.window.focusWidget()
        seen.append(focused)
        assert focused.accessibleName() or focused.text()
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    inside, buttons = shown.details, shown.details.buttons
    assert seen == [
        buttons.open, buttons.again, buttons.report, buttons.replay, buttons.pin, buttons.export,
        buttons.delete, buttons.compare_with, inside.name, inside.note, inside.tags,
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_nothing_is_wider_than_the_panel_at_large_text(qtbot, mode):
    shown = Shown(qtbot, worn(mode, 1.6))
    shown.window.resize(550, 900)
    shown.details.show_run(replace(RUN, question="A long question " * 10, finding="word " * 60))
    for part in shown.details.findChildren(QLabel):
        if part.isVisible():
            right = part.mapTo(shown.details, part.rect().topRight()).x()
            assert right <= shown.details.width(), part.text()


def test_a_run_that_was_stopped_asks_for_no_look(shown):
    for is_troubled, role in ((True, "attention"), (False, "value")):
        run = replace(RUN, ending="Ended early", is_troubled=is_troubled)
        shown.details.show_run(run)
        (told,) = [each for each in shown.details.findChildren(QLabel) if each.text() == run.ending]
        assert told.property("role") == role


def test_the_buttons_stand_still_whatever_is_said_of_a_run(shown):
    def places():
        QApplication.processEvents()
        buttons = shown.details.buttons
        every = (buttons.open, buttons.again, buttons.replay, buttons.delete, buttons.compare_with)
        return [each.mapTo(shown.details, QPoint()) for each in every]

    shown.details.show_run(RUN)
    before = places()
    for other in (replace(OTHER, finding="Much to say. " * 60), replace(OTHER, question="Q " * 90)):
        shown.details.show_run(other)
        assert places() == before
