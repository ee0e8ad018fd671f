from __future__ import annotations

import dataclasses
import string

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QPushButton

from experiments.core import words
from experiments.core.catalogue import Catalogue as Experiments
from experiments.core.declare import Part
from experiments.core.views import Bars
from tests.cases import in_one
from widgets.catalogue.card import MOST_TITLE_LINES, PADDING, Card
from widgets.catalogue.card_data import CardData, Filter, State
from widgets.catalogue.catalogue import Catalogue
from widgets.catalogue.filter_bar import MenuChip
from widgets.catalogue.shelf_grid import NARROWEST
from widgets.catalogue.sketch import Sketch, expected
from widgets.controls.wrapped import wrapped
from widgets.style import theme
from widgets.style.look import Look
from widgets.style.theme import STEP

ENGLISH = words.load("en")
SKETCH = expected(Bars(key="", table="", label="", value=""))
WIDE, NARROW = (1356, 800), (700, 800)


def card_data(name, shelf="memory", state=State.NEW, seconds=12.0, parts=(Part.MEMORY,), **more):
    return CardData(
        id=name, shelf=shelf, parts=parts, question=f"What is {name}?", topic=f"topic of {name}",
        note=f"note of {name}", sketch=SKETCH, state=state, seconds=seconds, **more,
    )  # fmt: skip


# Two shelves at four columns: a b c d / e / f g
SEVEN = [card_data(name) for name in "abcde"] + [
    card_data(name, "to-the-gpu", parts=(Part.GPU,)) for name in "fg"
]


@pytest.fixture
def catalogue(qtbot):
    made = Catalogue(ENGLISH, Look(theme.load("dark")))
    qtbot.addWidget(made)
    made.show_cards(SEVEN)
    made.resize(*WIDE)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def shown(catalogue) -> str:
    return "".join(card.data.id for card in catalogue.findChildren(Card) if card.isVisible())


def card(catalogue, name) -> Card:
    return next(each for each in catalogue.findChildren(Card) if each.data.id == name)


def focused() -> str:
    widget = QApplication.focusWidget()
    return widget.data.id if isinstance(widget, Card) else ""


def press(*keys):
    for key in keys:
        QTest.keyClick(QApplication.focusWidget(), key)


def chip(catalogue, key) -> QPushButton:
    text = ENGLISH.say(f"catalogue.{key}")
    chips = [b for b in catalogue.findChildren(QPushButton) if b.property("role") != "plain"]
    return next(button for button in chips if button.text() == text)


def menu(catalogue, place) -> MenuChip:
    return catalogue.findChildren(MenuChip)[place]


def labels(catalogue) -> list[str]:
    return [each.text() for each in catalogue.findChildren(QLabel) if each.isVisible()]


# --- opening and walking ------------------------------------------------------------------------


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_a_card_opens_by_key(catalogue, qtbot, key):
    catalogue.focus_on("c")
    with qtbot.waitSignal(catalogue.opened, check_params_cb=lambda name: name == "c"):
        press(key)


def test_a_card_opens_by_mouse(catalogue, qtbot):
    with qtbot.waitSignal(catalogue.opened, check_params_cb=lambda name: name == "f"):
        QTest.mouseClick(card(catalogue, "f"), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(
    ("start", "keys", "end"),
    [
        ("a", "R", "b"), ("d", "R", "e"), ("e", "L", "d"), ("a", "L", "a"), ("g", "R", "g"),
        ("a", "D", "e"), ("c", "D", "e"), ("e", "D", "f"), ("b", "DD", "f"), ("g", "U", "e"),
        ("a", "U", "a"), ("f", "D", "f"), ("c", "H", "a"), ("a", "E", "g"),
    ],
)  # fmt: skip
def test_the_arrows_walk_over_the_cards(catalogue, start, keys, end):
    named = {
        "L": Qt.Key.Key_Left, "R": Qt.Key.Key_Right, "U": Qt.Key.Key_Up, "D": Qt.Key.Key_Down,
        "H": Qt.Key.Key_Home, "E": Qt.Key.Key_End,
    }  # fmt: skip
    catalogue.focus_on(start)
    press(*(named[key] for key in keys))

    assert focused() == end


# Four columns: a with x and y below it, b, c with z below it, d / e / f g
FOLLOWED = [
    SEVEN[0], card_data("x", follows="a", lesson="What is a?"),
    card_data("y", follows="a", lesson="What is a?"), *SEVEN[1:3],
    card_data("z", follows="c", lesson="What is c?"), *SEVEN[3:],
]  # fmt: skip


def test_follow_ups_stand_below_their_lesson_in_its_column(catalogue):
    catalogue.show_cards(FOLLOWED)
    box = {name: card(catalogue, name).geometry() for name in "axybczdef"}

    assert len({box[name].x() for name in "axy"}) == 1
    assert box["c"].x() == box["z"].x() > box["b"].x()
    assert box["a"].bottom() < box["x"].top() <= box["x"].bottom() < box["y"].top()
    assert len({box[name].y() for name in "abcd"}) == 1
    assert box["x"].height() < box["a"].height()
    assert box["e"].top() > box["y"].bottom()
    assert "0 of 8 measured" in labels(catalogue)


@pytest.mark.parametrize(
    ("start", "keys", "end"),
    [("a", "DDD", "e"), ("b", "D", "e"), ("e", "U", "y"), ("a", "RRR", "b"), ("z", "L", "c")],
)
def test_the_arrows_walk_over_follow_ups_too(catalogue, start, keys, end):
    catalogue.show_cards(FOLLOWED)
    test_the_arrows_walk_over_the_cards(catalogue, start, keys, end)


def test_a_follow_up_stands_alone_where_its_lesson_is_filtered_out(catalogue):
    catalogue.show_cards(FOLLOWED)
    catalogue.findChild(QLineEdit).setText("topic of y")

    assert shown(catalogue) == "y"


def test_what_a_card_is_of_is_heard(catalogue):
    tool = card_data("t", "to-the-gpu", is_tool=True)
    catalogue.show_cards([*FOLLOWED, tool])

    assert card(catalogue, "x").accessibleDescription().count("follow-up of: What is a?") == 1
    assert "tool" in card(catalogue, "t").accessibleDescription()
    assert "follow-up" not in card(catalogue, "a").accessibleDescription()


def test_an_arrow_leads_from_nowhere_to_the_first_card(catalogue):
    catalogue.setFocus()
    press(Qt.Key.Key_Down)

    assert focused() == "a"


def test_tab_reaches_every_card_in_order(catalogue):
    catalogue.focus_on("a")
    passed = ""
    for _ in SEVEN:
        passed += focused()
        press(Qt.Key.Key_Tab)

    assert passed == "abcdefg"


def test_a_card_that_is_out_of_sight_is_brought_into_it(catalogue):
    catalogue.resize(500, 400)
    QApplication.processEvents()
    last = card(catalogue, "g")
    assert last.visibleRegion().isEmpty()

    catalogue.focus_on("g")

    assert not last.visibleRegion().isEmpty()


# --- what is shown ------------------------------------------------------------------------------


def test_shelves_say_how_much_of_them_was_measured(catalogue):
    assert "0 of 5 measured" in labels(catalogue)
    states = (State.MEASURED, State.RUNNING)  # one of them is measured again
    done = [
        dataclasses.replace(each, state=state, is_measured=True)
        for each, state in zip(SEVEN[:2], states, strict=True)
    ]
    catalogue.show_cards(done + SEVEN[2:])

    assert "2 of 5 measured" in labels(catalogue)
    assert "0 of 2 measured" in labels(catalogue)
    assert ENGLISH.say("shelves.numbers") not in labels(catalogue)  # nothing stands there

    lacking = dataclasses.replace(SEVEN[2], state=State.NOT_HERE)
    catalogue.show_cards([*done, lacking, *SEVEN[3:]])
    assert "2 of 4 measured, 1 not here" in labels(catalogue)  # what cannot run here is not missing


def test_what_becomes_known_moves_nothing_and_keeps_the_focus(catalogue):
    unknown = [dataclasses.replace(o, state=State.UNKNOWN, seconds=None) for o in SEVEN]
    catalogue.show_cards(unknown)
    assert not any(text.endswith("measured") for text in labels(catalogue))
    catalogue.focus_on("f")
    before = {c.data.id: c.geometry() for c in catalogue.findChildren(Card)}

    catalogue.show_cards(SEVEN)

    assert {c.data.id: c.geometry() for c in catalogue.findChildren(Card)} == before
    assert focused() == "f"


@pytest.mark.parametrize(
    ("width", "zoom", "columns"),
    [(1356, 1.0, 4), (1196, 1.0, 3), (700, 1.0, 2), (320, 1.0, 1), (1356, 1.6, 2), (100, 2.0, 1)],
)
def test_there_are_as_many_columns_as_fit(qtbot, width, zoom, columns):
    made = Catalogue(ENGLISH, Look(theme.load("light", zoom)))
    qtbot.addWidget(made)
    made.show_cards(SEVEN)
    made.show()
    made.resize(width, 800)

    tops = [card(made, name).y() for name in "abcde"]
    assert tops.count(tops[0]) == columns
    if width > 200:
        assert card(made, "abcd"[columns - 1]).geometry().right() <= made.width()


@pytest.mark.parametrize("zoom", [1.0, 1.6, 2.0])
@pytest.mark.parametrize("width", [760, 1000, 1356])
def test_the_chips_stand_within_the_window_and_beside_each_other(qtbot, width, zoom):
    look = Look(theme.load("dark", zoom))
    made = Catalogue(ENGLISH, look)
    qtbot.addWidget(made)
    made.resize(width, 700)
    made.show()
    made.show_cards(SEVEN)
    QApplication.processEvents()
    bar = chip(made, "surprise").parentWidget()
    controls = [b for b in bar.findChildren(QPushButton) if b.isVisible()]
    controls.append(bar.findChild(QLineEdit))

    for control in controls:
        assert bar.rect().contains(control.geometry()), control
        assert made.rect().contains(bar.geometry())
        others = [each for each in controls if each is not control]
        assert not any(control.geometry().intersects(each.geometry()) for each in others)


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (State.NEW, "new"), (State.MEASURED, "measured"), (State.PARTIAL, "partial"),
        (State.FAILED, "failed"), (State.NOT_HERE, "not here"),
        (State.RECORDED, "as a recording"), (State.RUNNING, "running, 40 %"),
    ],
)  # fmt: skip
def test_a_card_tells_its_question_state_and_note_to_those_who_hear_it(catalogue, state, word):
    catalogue.show_cards([card_data("a", state=state, fraction=0.4)])
    told = card(catalogue, "a")

    assert told.accessibleName() == "What is a?"
    assert told.accessibleDescription().startswith(f"{word}. 12 s. note of a")


def test_a_plot_that_was_not_measured_is_said_to_be_a_sketch(catalogue):
    drawn = dataclasses.replace(card_data("a"), sketch=Sketch((), is_measured=True))
    catalogue.show_cards([drawn, card_data("b")])
    a, b = card(catalogue, "a"), card(catalogue, "b")
    said = ENGLISH.say("catalogue.sketched")

    assert said not in a.accessibleDescription() + a.toolTip()
    assert said in b.accessibleDescription()
    assert b.toolTip() == said


def test_a_title_that_is_too_long_ends_in_dots_and_loses_nothing_before(catalogue):
    font = theme.load("dark").font("head")
    text = "one two three four five six seven eight nine ten eleven twelve"
    lines = wrapped(text, font, 150, 2)

    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert text.startswith(f"{lines[0]} {lines[1][:-1]}")
    assert all(QFontMetricsF(font).horizontalAdvance(line) <= 150 for line in lines)
    assert wrapped("one two", font, 150, 2) == ["one two"]


@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_the_question_of_every_experiment_is_whole_on_the_narrowest_card(qapp, zoom):
    worn = theme.load("dark", zoom)
    beside = QFontMetricsF(worn.font("note")).horizontalAdvance("28 s") + 3 * STEP
    width = NARROWEST * zoom - 2 * PADDING - beside
    font = worn.font("head", weight=QFont.Weight.DemiBold)
    questions = [ENGLISH.say(f"{experiment}.question") for experiment in Experiments().ids()]

    for question in questions:
        lines = wrapped(question, font, width, MOST_TITLE_LINES)
        assert " ".join(lines) == question


@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_a_lesson_is_marked_in_sight_and_by_name(qtbot, zoom):
    look = Look(theme.load("dark", zoom))
    made = {}
    for is_lesson in (False, True):
        made[is_lesson] = Card(card_data("a", is_lesson=is_lesson), ENGLISH, look)
        qtbot.addWidget(made[is_lesson])
        made[is_lesson].resize(round(NARROWEST * zoom), made[is_lesson].sizeHint().height())
    plain, marked = (made[is_lesson] for is_lesson in (False, True))

    assert marked.accessibleDescription().replace(" · lesson", "") == plain.accessibleDescription()
    shot = {is_lesson: each.grab().toImage() for is_lesson, each in made.items()}
    other = [
        QPoint(x, y)
        for y in range(shot[True].height())
        for x in range(shot[True].width())
        if shot[True].pixel(x, y) != shot[False].pixel(x, y)
    ]
    assert other  # a word of its own, below the time, and nothing else has moved
    assert min(point.x() for point in other) > plain.width() / 2


# --- filters ------------------------------------------------------------------------------------


@in_one(
    ("wanted", "found"),
    [
        (Filter(), "abc"),
        (Filter(part=Part.GPU), "c"),
        (Filter(seconds=10.0), "b"),
        (Filter(only_here=True), "ab"),
        (Filter(text="TOPIC of b"), "b"),
        (Filter(text="what c?"), "c"),
        (Filter(text="nvl"), "c"),
        (Filter(text="link"), ""),
        (Filter(part=Part.GPU, only_here=True), ""),
    ],
)
def test_a_filter_keeps_what_it_says(wanted, found):
    cards = [
        card_data("a", seconds=20.0),
        card_data("b", seconds=10.0),
        card_data("c", seconds=11.0, parts=(Part.GPU,), state=State.NOT_HERE, found_by=("NVLink",)),
    ]

    assert "".join(each.id for each in cards if wanted.passes(each)) == found


def test_what_is_not_known_yet_is_kept_by_no_filter_away():
    unknown = card_data("a", state=State.UNKNOWN, seconds=None)

    assert Filter(seconds=10.0, only_here=True).passes(unknown)


def test_a_menu_says_what_it_shows_and_show_all_undoes_it(catalogue):
    part = menu(catalogue, 0)
    again = chip(catalogue, "show_all")
    assert part.text() == "any part"
    assert not again.isVisible()
    next(action for action in part.findChild(QMenu).actions() if action.text() == "GPU").trigger()

    assert shown(catalogue) == "fg"
    assert part.text() == "GPU"
    assert part.isChecked()
    assert again.isVisible()
    again.click()
    assert shown(catalogue) == "abcdefg"
    assert part.text() == "any part"
    assert not part.isChecked()


def test_the_parts_are_offered_in_the_order_of_the_machine_whatever_that_of_the_cards(catalogue):
    inwards = [card_data(str(part), parts=(part,)) for part in reversed(Part)]
    catalogue.show_cards(inwards)

    offered = [action.text() for action in menu(catalogue, 0).findChild(QMenu).actions()]
    assert offered[1:] == [  # the first is no choice
        "cores", "front end", "ports", "address translation", "fill buffers",
        "L1", "L2", "L3", "memory", "storage", "PCIe", "GPU", "NVLink",
    ]  # fmt: skip


def test_a_menu_opens_by_key_and_offers_what_there_is(catalogue, qtbot):
    length = menu(catalogue, 1)
    length.setFocus()
    press(Qt.Key.Key_Space)
    opened = length.findChild(QMenu)
    qtbot.waitUntil(opened.isVisible)

    texts = [action.text() for action in opened.actions()]
    assert texts == ["any length", "up to 10 s", "up to 30 s", "up to 2 min"]
    QTest.keyClick(opened, Qt.Key.Key_Down)
    QTest.keyClick(opened, Qt.Key.Key_Return)
    assert length.text() == "up to 10 s"
    assert shown(catalogue) == ""
    assert not opened.isVisible()


def test_only_what_runs_here(catalogue):
    catalogue.show_cards([*SEVEN[:2], card_data("x", "to-the-gpu", State.NOT_HERE)])
    chip(catalogue, "only_here").click()

    assert shown(catalogue) == "ab"
    assert ENGLISH.say("shelves.to-the-gpu") not in labels(catalogue)


def test_slash_leads_to_the_search_and_down_to_what_it_found(catalogue, qtbot):
    catalogue.focus_on("a")
    press(Qt.Key.Key_Slash)
    search = catalogue.findChild(QLineEdit)
    assert search.hasFocus()
    QTest.keyClicks(search, "topic g")
    assert shown(catalogue) == "g"
    press(Qt.Key.Key_Slash)
    assert search.text() == "topic g/"  # a key like any other, where text is typed
    press(Qt.Key.Key_Backspace, Qt.Key.Key_Down)
    assert focused() == "g"


def test_the_search_needs_no_single_sign_where_those_are_switched_off(catalogue):
    catalogue.use_letters(False)
    catalogue.focus_on("a")
    press(Qt.Key.Key_Slash)
    assert focused() == "a"

    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert catalogue.findChild(QLineEdit).hasFocus()


def test_escape_in_the_search_clears_it_first_and_then_leaves(catalogue):
    search = catalogue.findChild(QLineEdit)
    search.setFocus()
    QTest.keyClicks(search, "gpu")
    press(Qt.Key.Key_Escape)
    assert (search.text(), search.hasFocus()) == ("", True)
    press(Qt.Key.Key_Escape)
    assert focused() == "a"


def test_nothing_found_is_a_sentence_with_a_way_out(catalogue):
    QTest.keyClicks(catalogue.findChild(QLineEdit), "no such thing")

    assert shown(catalogue) == ""
    assert ENGLISH.say("catalogue.nothing_such") in labels(catalogue)
    buttons = [b for b in catalogue.findChildren(QPushButton) if b.text() == "Show all"]
    plain = next(b for b in buttons if b.property("role") == "plain")
    assert plain.isVisible()
    plain.click()
    assert shown(catalogue) == "abcdefg"


# --- a surprise ---------------------------------------------------------------------------------


def test_a_surprise_was_not_measured_and_takes_half_a_minute_at_most(catalogue, qtbot):
    catalogue.show_cards(
        [
            card_data("a", state=State.MEASURED),
            card_data("b", seconds=31.0),
            card_data("c", state=State.NOT_HERE),
            card_data("d", state=State.RUNNING),
            card_data("e", seconds=30.0),
        ]
    )
    for _ in range(20):
        with qtbot.waitSignal(catalogue.opened, check_params_cb=lambda name: name == "e"):
            chip(catalogue, "surprise").click()


def test_without_a_surprise_the_button_says_so(catalogue):
    catalogue.show_cards([card_data("a", state=State.MEASURED)])
    button = chip(catalogue, "surprise")

    assert not button.isEnabled()
    assert button.toolTip() == ENGLISH.say("catalogue.no_surprise")
    assert not any(a.isEnabled() for a in catalogue.own_actions() if a.text() == "Surprise me")


def test_a_card_that_is_cut_off_stays_below_the_mouse_that_presses_it(qtbot, catalogue):
    catalogue.show_cards([card_data(name) for name in string.ascii_lowercase])
    catalogue.resize(700, 300)
    QApplication.processEvents()
    bottom = catalogue.mapToGlobal(catalogue.rect().bottomLeft()).y()
    tops = {
        each: each.mapToGlobal(each.rect().topLeft()).y() for each in catalogue.findChildren(Card)
    }
    cut = next(each for each, y in tops.items() if y < bottom < y + each.height())

    qtbot.mousePress(cut, Qt.MouseButton.LeftButton, pos=QPoint(9, 3))

    assert cut.hasFocus()
    assert cut.mapToGlobal(cut.rect().topLeft()).y() == tops[cut]


# --- words --------------------------------------------------------------------------------------


IN_SHORT = [each for each in Experiments() if ENGLISH.has(f"{each.id}.in_short")]


@in_one("experiment", IN_SHORT, ids=lambda e: e.id)
def test_the_result_in_short_is_made_of_declared_values(experiment):
    text = ENGLISH.text(f"{experiment.id}.in_short")
    asked = {*words.asked(text)}

    assert asked
    assert asked <= {value.name for value in experiment.values}
