"""Every kind of prediction, answered by mouse and by keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from experiments.core import words
from experiments.core.teaching.lessons import Choice, Magnitude, Marker, Option, Rank, Sketch
from widgets.controls.basics import column
from widgets.lesson.confidence import ConfidenceInput
from widgets.lesson.prediction import prediction_input

ENGLISH = words.load("en")
Key, Left = Qt.Key, Qt.MouseButton.LeftButton

CHOICE = Choice(
    ask="When?", options=tuple(Option(text=t) for t in ("now", "soon", "late")), right=""
)
SECONDS = Magnitude(ask="How long?", range=(1e-9, 1e-3), answer="load_s")
TIMES = Magnitude(ask="How many times?", range=(1, 1000), answer="a_over_b")
BYTES = Magnitude(ask="How much?", range=(4096, 2**30), answer="size_bytes")
RANK = Rank(ask="Which order?", items=("first", "second", "third"), right="")
SKETCH = Sketch(ask="Draw it.", view="v", points=(4096, 65536), range=(1e-9, 1e-6), right="")
MARKER = Marker(ask="Where does it bend?", view="v", range=(4096, 2**30), answer="bend_bytes")
ALL = (CHOICE, SECONDS, TIMES, BYTES, RANK, SKETCH, MARKER)
ANSWERS = {
    CHOICE: (2.0,), SECONDS: (3.7e-8,), TIMES: (14.3,), BYTES: (300_000.0,), RANK: (2.0, 0.0, 1.0),
    SKETCH: (2e-9, 5e-7), MARKER: (2.0**20,),
}  # fmt: skip


@pytest.fixture
def ask(look, shown):
    def made(predict, **given):
        return shown(prediction_input(predict, ENGLISH, look, ("bytes", "s"), **given))

    return made


def answers(made):
    """Return a list that each answer is added to."""
    heard: list[tuple[float, ...]] = []
    made.answered.connect(lambda: heard.append(made.at()))
    return heard


def texts(widget):
    return [each.text() for each in widget.findChildren(QLabel) if each.isVisibleTo(widget)]


@pytest.fixture
def with_shortcuts(shown, qtbot):
    """Press keys in a window that has shortcuts of the same keys; return those that it took."""

    def press(made, focus, *keys, shortcuts):
        window, heard = QWidget(), []
        window.setLayout(column(made))
        for key in shortcuts:
            shortcut = QShortcut(QKeySequence(key), window)
            shortcut.activated.connect(lambda key=key: heard.append(key))
        shown(window)
        focus()
        for key in keys:
            qtbot.keyClick(window.windowHandle(), QKeySequence(key)[0].key())
        return heard

    return press


# --- what all share -----------------------------------------------------------------------------


@pytest.mark.parametrize("predict", ALL, ids=lambda each: type(each).__name__)
def test_there_is_no_answer_until_somebody_gives_one(ask, predict):
    made = ask(predict)
    assert made.at() is None
    assert made.accessibleName() == predict.ask

    heard = answers(made)
    made.set_at(ANSWERS[predict])
    assert made.at() == ANSWERS[predict]
    made.set_at(None)
    assert made.at() is None
    assert heard == []  # nobody answered


@pytest.mark.parametrize("predict", ALL, ids=lambda each: type(each).__name__)
def test_a_fixed_answer_cannot_be_changed(ask, qtbot, predict):
    made = ask(predict)
    made.set_at(ANSWERS[predict])
    made.set_fixed(True)
    for part in made.findChildren(QWidget):
        qtbot.mouseClick(part, Left)
        qtbot.keyClick(part, Key.Key_Up, Qt.KeyboardModifier.AltModifier)
        qtbot.keyClick(part, Key.Key_Space)
    assert made.at() == ANSWERS[predict]
    hints = {ENGLISH.say("lesson.drag"), ENGLISH.say("lesson.rank_keys")}
    assert not hints & set(texts(made))

    made.set_fixed(False)
    made.focus_first()
    assert made.isAncestorOf(made.window().focusWidget())


@pytest.mark.parametrize("predict", ALL, ids=lambda each: type(each).__name__)
def test_all_that_answers_has_a_name(ask, predict):
    made = ask(predict)
    for part in made.findChildren(QWidget):
        if part.focusPolicy() is not Qt.FocusPolicy.NoFocus and part.isVisibleTo(made):
            named = part.accessibleName() or (isinstance(part, QPushButton) and part.text())
            assert named, part


def test_a_question_that_was_skipped_shows_no_answer(ask):
    rank, points = ask(RANK), ask(SKETCH)
    for made in (rank, points):
        made.set_fixed(True)

    assert not rank.keep.isVisible()
    assert not any(edit.text() or edit.placeholderText() for edit in points.edits)


# --- choice -------------------------------------------------------------------------------------


def test_one_click_chooses(ask, qtbot):
    made = ask(CHOICE)
    heard = answers(made)
    for place in (1, 1, 2):
        qtbot.mouseClick(made.rows[place], Left)

    assert heard == [(1.0,), (1.0,), (2.0,)]
    assert [each.isChecked() for each in made.rows] == [False, False, True]


def test_a_letter_chooses(ask, qtbot):
    made = ask(CHOICE)
    heard = answers(made)
    made.focus_first()
    qtbot.keyClick(made.rows[0], Key.Key_C)
    assert made.rows[2].hasFocus()
    qtbot.keyClick(made.rows[2], Key.Key_D)  # there is none

    assert heard == [(2.0,)]


def test_arrow_keys_look_along_and_enter_chooses(ask, qtbot):
    made = ask(CHOICE)
    heard = answers(made)
    made.focus_first()
    qtbot.keyClick(made.rows[0], Key.Key_Down)
    assert made.rows[1].hasFocus()
    assert made.at() is None

    qtbot.keyClick(made.rows[1], Key.Key_Return)
    qtbot.keyClick(made.rows[1], Key.Key_End)
    qtbot.keyClick(made.rows[2], Key.Key_Space)

    assert heard == [(1.0,), (2.0,)]


def test_its_letters_come_before_shortcuts_of_the_window(look, with_shortcuts):
    made = prediction_input(CHOICE, ENGLISH, look)
    heard = with_shortcuts(made, made.focus_first, "A", "Z", shortcuts=("A", "Z"))

    assert made.at() == (0.0,)
    assert heard == ["Z"]


def test_a_long_option_wraps(ask):
    short, long = CHOICE, Choice(ask="?", options=(Option(text="word " * 30),), right="")

    assert ask(long).heightForWidth(345) > ask(short).rows[0].height() + 40


# --- magnitude ----------------------------------------------------------------------------------


def test_a_click_on_the_scale_sets_the_number(ask, qtbot):
    made = ask(SECONDS)
    heard, slider = answers(made), made.slider
    qtbot.mouseClick(slider, Left, pos=QPoint(slider.width() // 2, 10))  # where the handle is
    assert heard == [(pytest.approx(1e-6, rel=0.1),)]
    qtbot.mouseClick(slider, Left, pos=QPoint(0, 10))
    qtbot.mouseClick(slider, Left, pos=QPoint(slider.width(), 10))

    assert heard[1:] == [(1e-9,), (1e-3,)]
    assert texts(made)[0] == "1\N{NO-BREAK SPACE}ms"


def test_a_drag_goes_along(ask, qtbot):
    made = ask(TIMES)
    heard, slider = answers(made), made.slider
    qtbot.mousePress(slider, Left, pos=QPoint(20, 10))
    for x in (100, 200, slider.width()):
        qtbot.mouseMove(slider, QPoint(x, 10))
    qtbot.mouseRelease(slider, Left, pos=QPoint(slider.width(), 10))

    assert len(heard) >= 3
    assert heard == sorted(heard)
    assert heard[-1] == (1000.0,)


@pytest.mark.parametrize(("predict", "factor"), [(SECONDS, 10), (TIMES, 10), (BYTES, 16)])
def test_a_page_is_a_factor(ask, qtbot, predict, factor):
    made = ask(predict)
    made.set_at((predict.range[0],))
    qtbot.keyClick(made.slider, Key.Key_PageUp)
    assert made.at()[0] == pytest.approx(predict.range[0] * factor)
    qtbot.keyClick(made.slider, Key.Key_PageUp)
    qtbot.keyClick(made.slider, Key.Key_PageDown)
    assert made.at()[0] == pytest.approx(predict.range[0] * factor)


def test_arrow_keys_move_by_a_tenth_or_so(ask, qtbot):
    made = ask(TIMES)
    heard = answers(made)
    qtbot.keyClick(made.slider, Key.Key_Right)
    qtbot.keyClick(made.slider, Key.Key_Right)
    (first,), (second,) = heard
    assert 1.03 < second / first < 1.25

    qtbot.keyClick(made.slider, Key.Key_Home)
    qtbot.keyClick(made.slider, Key.Key_Left)  # there is nothing below
    assert heard[2:] == [(1.0,)]


def test_the_wheel_turns_the_slider_only_with_the_focus(ask):
    made = ask(TIMES)

    def turn():
        middle = made.slider.rect().center()
        event = QWheelEvent(
            middle, made.slider.mapToGlobal(middle), QPoint(), QPoint(0, 120),
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(made.slider, event)

    made.slider.clearFocus()
    turn()
    assert made.at() is None
    made.focus_first()
    turn()
    assert made.at() is not None


def test_enter_takes_the_number_where_the_handle_is(ask, qtbot):
    made = ask(SECONDS)
    assert "?" in texts(made)
    qtbot.keyClick(made.slider, Key.Key_Return)

    assert made.at() == (pytest.approx(1e-6, rel=0.1),)
    assert "?" not in texts(made)


def test_the_slider_tells_its_number_and_range(ask):
    made = ask(SECONDS)
    made.set_at((5e-8,))

    for part in ("50.0 ns", "1 ns", "1 ms"):
        assert part in made.slider.accessibleDescription()


# --- rank ---------------------------------------------------------------------------------------


def order(made):
    """Return the places of the rows, from above."""
    return [made.rows.index(each) for each in sorted(made.rows, key=lambda row: row.y())]


def test_it_starts_in_the_order_that_is_given(ask):
    made = ask(RANK, order=(2, 0, 1))

    assert order(made) == [2, 0, 1]
    assert made.at() is None


def test_who_wants_the_first_order_says_so(ask, qtbot):
    made = ask(RANK, order=(2, 0, 1))
    heard = answers(made)
    qtbot.mouseClick(made.keep, Left)

    assert heard == [(2.0, 0.0, 1.0)]
    assert not made.keep.isVisible()
    made.set_at(None)
    assert made.keep.isVisible()


def test_a_row_is_dragged_to_its_place(ask, qtbot):
    made = ask(RANK)
    heard, row = answers(made), made.rows[0]
    qtbot.mousePress(row, Left, pos=QPoint(20, 5))
    for other in (1, 2):
        qtbot.mouseMove(row, row.mapFrom(made, made.rows[other].geometry().center() + QPoint(0, 4)))
    qtbot.mouseRelease(row, Left)

    assert heard == [(1.0, 0.0, 2.0), (1.0, 2.0, 0.0)]
    assert order(made) == [1, 2, 0]


def test_its_buttons_move_a_row(ask, qtbot):
    made = ask(RANK)
    up, down = made.rows[1].findChildren(QPushButton)
    qtbot.mouseClick(up, Left)
    assert made.at() == (1.0, 0.0, 2.0)
    assert not up.isEnabled()
    qtbot.mouseClick(down, Left)
    qtbot.mouseClick(down, Left)

    assert made.at() == (0.0, 2.0, 1.0)
    assert not down.isEnabled()


def test_alt_and_an_arrow_key_move_a_row(ask, qtbot):
    made = ask(RANK)
    made.focus_first()
    alt = Qt.KeyboardModifier.AltModifier
    qtbot.keyClick(made.rows[0], Key.Key_Down)
    assert made.rows[1].hasFocus()
    assert made.at() is None

    qtbot.keyClick(made.rows[1], Key.Key_Up, alt)
    qtbot.keyClick(made.rows[1], Key.Key_Up, alt)  # it is the first
    assert made.rows[1].hasFocus()
    assert made.at() == (1.0, 0.0, 2.0)


@pytest.mark.parametrize("leaving", [Key.Key_Space, Key.Key_Escape])
def test_space_takes_a_row_along_until_it_is_let_go(ask, qtbot, leaving):
    made = ask(RANK)
    row = made.rows[0]
    made.focus_first()
    for key in (Key.Key_Space, Key.Key_Down, Key.Key_Down, leaving, Key.Key_Up):
        qtbot.keyClick(row, key)

    assert made.at() == (1.0, 2.0, 0.0)
    assert made.rows[2].hasFocus()  # let go, Up chooses


def test_escape_lets_a_row_go_before_it_stops_a_run(look, with_shortcuts):
    made = prediction_input(RANK, ENGLISH, look)
    keys = "Space", "Down", "Esc", "Esc"
    heard = with_shortcuts(made, made.focus_first, *keys, shortcuts=("Esc",))

    assert made.at() == (1.0, 0.0, 2.0)
    assert heard == ["Esc"]


def test_a_row_tells_its_place(ask):
    made = ask(RANK, order=(2, 0, 1))

    told = {"item": "third", "place": 1, "count": 3}
    assert made.rows[2].accessibleName() == ENGLISH.say("lesson.rank_place", told)


# --- typed points -------------------------------------------------------------------------------


def test_a_typed_number_sets_its_point_and_the_others_stand_where_they_are(ask, qtbot):
    made = ask(SKETCH)
    heard, (first, second) = answers(made), made.edits
    assert first.text() == ""
    first.setFocus()
    qtbot.keyClicks(first, "12 ns")
    qtbot.keyClick(first, Key.Key_Return)
    assert heard == [(pytest.approx(1.2e-8), made.start[1])]
    assert second.text() == second.placeholderText()

    made.set_at((1e-9, 5e-7))  # as drawn on the plot
    assert (first.text(), second.text()) == ("1 ns", "500 ns")


def test_arrow_keys_step_a_point(ask, qtbot):
    made = ask(MARKER)
    qtbot.keyClick(made.edits[0], Key.Key_Up)
    (value,) = made.at()
    assert 1.03 < value / made.start[0] < 1.3
    qtbot.keyClick(made.edits[0], Key.Key_Down)
    assert made.at() == made.start


@pytest.mark.parametrize("text", ["soon", "2 s", "0", "-1", "12 GB", "1e999", ""])
def test_what_is_no_number_of_the_range_is_told_and_not_taken(ask, qtbot, text):
    made = ask(SKETCH)
    made.set_at((1e-9, 5e-7))
    edit, heard = made.edits[0], answers(made)
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Key.Key_Delete)
    qtbot.keyClick(edit, Key.Key_Return)
    limits = {"low": "1 ns", "high": "1 µs"}
    assert ENGLISH.say("lesson.out_of_range", limits) in texts(made)
    assert heard == []

    qtbot.keyClick(edit, Key.Key_Escape)
    assert edit.text() == "1 ns"
    assert ENGLISH.say("lesson.out_of_range", limits) not in texts(made)


@pytest.mark.parametrize("predict", [SKETCH, MARKER])
def test_what_a_field_says_can_be_typed_there(ask, qtbot, predict):
    made = ask(predict)
    made.set_at(ANSWERS[predict])
    edit = made.edits[0]
    edit.setFocus()
    qtbot.keyClicks(edit, edit.text())
    qtbot.keyClick(edit, Key.Key_Return)

    assert made.at() == pytest.approx(ANSWERS[predict])


# --- how sure -----------------------------------------------------------------------------------


@pytest.fixture
def sure(look, shown):
    return shown(ConfidenceInput(ENGLISH, look))


def test_nobody_has_to_say_how_sure(sure, qtbot):
    assert sure.sure() is None
    sure.set_sure(3)
    assert sure.sure() == 3
    sure.set_sure(None)

    assert not any(each.isChecked() for each in sure.buttons.values())


def test_a_click_or_a_digit_says_how_sure(sure, qtbot):
    heard: list[int] = []
    sure.chosen.connect(heard.append)
    qtbot.mouseClick(sure.buttons[2], Left, pos=QPoint(8, 8))
    qtbot.keyClick(sure.buttons[2], Key.Key_3)
    assert sure.buttons[3].hasFocus()
    qtbot.keyClick(sure.buttons[3], Key.Key_4)
    qtbot.keyClick(sure.buttons[3], Key.Key_Left)

    assert heard == [2, 3, 2]
    assert sure.sure() == 2


def test_its_digits_come_before_shortcuts_of_the_window(look, with_shortcuts):
    made = ConfidenceInput(ENGLISH, look)
    heard = with_shortcuts(made, made.buttons[1].setFocus, "2", "4", shortcuts=("2", "4"))

    assert made.sure() == 2
    assert heard == ["4"]
