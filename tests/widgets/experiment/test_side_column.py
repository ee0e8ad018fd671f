"""The blocks of the side column: state, result, and the tabs below."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QLabel,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Key
from widgets.controls.fold import Fold
from widgets.controls.links import LinkLabel
from widgets.controls.wrapped import WrappedLink
from widgets.experiment.comparison_table import ComparedRow, Comparison
from widgets.experiment.key_cards import Card, KeyCard
from widgets.experiment.result import MOST_LIMITS, Further, Result, ResultBlock
from widgets.experiment.side_column import WIDEST_SHARE, SideColumn, Tab
from widgets.experiment.state import StateBlock
from widgets.experiment.verdict import BadgeText, Verdict
from widgets.form.form import ParamsForm
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load("en")


@pytest.fixture
def look(qapp) -> Look:
    return Look(themes.load("dark"))


def texts(widget: QWidget) -> list[str]:
    return [each.text() for each in widget.findChildren(QLabel) if each.isVisibleTo(widget)]


def test_a_state_hides_what_does_not_belong_to_it(qtbot):
    block = StateBlock(ENGLISH)
    qtbot.addWidget(block)
    bar = block.findChild(QProgressBar)
    block.show_state("Running", "about 4 s left", fraction=0.25, detail="round 1 of 4")
    assert texts(block) == ["Running", "about 4 s left", "round 1 of 4"]
    assert bar.value() / bar.maximum() == 0.25

    block.show_state("Full run, just now", sentence="It was so.")
    assert texts(block) == ["Full run, just now", "It was so."]
    assert not bar.isVisibleTo(block)


def test_a_bar_moves_by_itself_while_nobody_knows_how_long(qtbot):
    block = StateBlock(ENGLISH)
    qtbot.addWidget(block)
    block.show_state("Starting", busy=True)

    assert block.findChild(QProgressBar).maximum() == 0


def test_a_state_is_told_to_those_who_do_not_see_it(qtbot):
    block = StateBlock(ENGLISH)
    qtbot.addWidget(block)
    block.show_state("Running", "about 4 s left", detail="round 1 of 4")

    assert block.accessibleName() == "Running"
    assert block.accessibleDescription() == "about 4 s left round 1 of 4"


@pytest.fixture
def block(qtbot, look) -> ResultBlock:
    block = ResultBlock(ENGLISH, look)
    qtbot.addWidget(block)
    block.show()
    block.activateWindow()
    qtbot.waitUntil(block.isActiveWindow)
    return block


def folds(block: ResultBlock) -> list[Fold]:
    return [fold for fold in block.findChildren(Fold) if fold.isVisible()]


def unfold(block: ResultBlock) -> None:
    for fold in folds(block):
        fold.head.setChecked(True)


def test_what_a_verdict_rests_on_is_folded_with_its_counts(block):
    block.show_result(
        Result(
            verdict=Verdict(verdict="It was so.", because="Because of that."),
            values=[("memory", "171 ns"), ("L1", "1 ns")],
            limits=["A limit."],
            measured=["The method."],
            conditions=[("Python", "3.11")],
        )
    )

    said = texts(block)
    assert said[:2] == ["It was so.", "Because of that."]
    assert "171 ns" not in said
    names = [fold.head.accessibleName() for fold in folds(block)]
    say = ENGLISH.say
    assert names == [
        f"{say('page.all_numbers')}, 2", f"{say('page.cannot_tell')}, 1", say("page.how_measured"),
    ]  # fmt: skip
    unfold(block)
    assert {"171 ns", "A limit.", "The method.", "Python: 3.11"} <= set(texts(block))


def test_of_many_limits_the_first_are_told_and_the_others_join_how_it_was_measured(block):
    limits = [f"Limit {n}." for n in range(MOST_LIMITS + 2)]
    block.show_result(Result(limits=limits))
    cannot, how = folds(block)

    cannot.head.setChecked(True)
    assert [text for text in texts(cannot) if text in limits] == limits[:MOST_LIMITS]
    how.head.setChecked(True)
    assert [text for text in texts(how) if text in limits] == limits[MOST_LIMITS:]


def test_what_is_unfolded_stays_so_with_the_next_result(block):
    block.show_result(Result(values=[("memory", "171 ns")]))
    unfold(block)
    block.show_result(Result(values=[("L1 cache", "1 ns")], limits=["A limit."]))

    assert "1 ns" in texts(block)
    assert "171 ns" not in texts(block)
    assert "A limit." not in texts(block)


def test_what_a_value_is_stands_where_one_points(block):
    block.show_result(
        Result(values=[("memory", "171 ns", "One <read> after another."), ("L1", "1 ns")])
    )
    unfold(block)

    tips = {each.text(): each.toolTip() for each in block.findChildren(QLabel)}
    assert "One &lt;read&gt; after another." in tips["memory"]
    assert tips["171 ns"] == tips["memory"]
    assert tips["L1"] == tips["1 ns"] == ""
    assert "memory: 171 ns" in [each.accessibleName() for each in block.findChildren(QLabel)]


def test_an_experiment_that_a_sentence_names_is_a_link_below_it(block):
    limits = ["Run `stream-x` or `stream` first, not `stream`.", "`doctor` tells."]
    block.show_result(Result(limits=limits))
    unfold(block)
    wanted = []
    block.experiment_wanted.connect(wanted.append)

    (link,) = block.findChildren(WrappedLink)
    assert link.accessibleName() == f"stream: {ENGLISH.say('stream.question')}"
    said = [each.accessibleName() for each in block.findChildren(LinkLabel)]
    assert "Run `stream-x` or stream first, not stream." in said
    assert "`doctor` tells." in said  # a command keeps its ticks
    link.click()

    assert wanted == ["stream"]


def test_what_to_do_next_is_a_setting_and_an_experiment(qtbot, block):
    further = Further(
        setting_text="Make it <short>: who wins?", setting={"job_s": 0.005},
        experiment_text="Waits.", experiment="waiting",
    )  # fmt: skip
    block.show_result(Result(further=further))
    settings, experiments = [], []
    block.setting_wanted.connect(settings.append)
    block.experiment_wanted.connect(experiments.append)

    links = [each for each in block.findChildren(LinkLabel) if each.accessibleName()]
    assert [link.accessibleName() for link in links] == ["Make it <short>: who wins?", "Waits."]
    for link in links:
        link.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.keyClick(link, Qt.Key.Key_Return)
    assert settings == [{"job_s": 0.005}]
    assert experiments == ["waiting"]


def test_the_badge_tells_its_reason_when_it_is_pressed(qtbot, block):
    badge = BadgeText(kind="quick", name="quick", beside="5 rounds", reason="It was short.")
    block.show_result(Result(verdict=Verdict(verdict="So.", badge=badge)))
    assert "It was short." not in texts(block)

    qtbot.keyClick(block.verdict.badge, Qt.Key.Key_Space)
    assert "It was short." in texts(block)
    block.verdict.badge.click()
    assert "It was short." not in texts(block)


CARDS = (
    Card(value="a_s", number="1 s", label="a", key=Key("a_s", "wall", ("a",))),
    Card(value="b_s", number="2 s", label="b", key=Key("b_s", "wall", ("b",))),
    Card(value="c_s", number="3 s", label="c"),
)


@pytest.fixture
def cards(block) -> dict[str, KeyCard]:
    block.show_result(Result(verdict=Verdict(verdict="So.", cards=CARDS)))
    return {each.card.value: each for each in block.findChildren(KeyCard)}


def lit(cards) -> list[str]:
    return [name for name, card in cards.items() if card.property("role") == "key-card-lit"]


def test_a_card_points_at_its_mark_by_mouse_and_by_keyboard(block, cards):
    pointed = []
    block.verdict.key_pointed.connect(pointed.append)

    cards["a_s"].setFocus()
    assert pointed[-1] == CARDS[0].key
    assert lit(cards) == ["a_s"]
    cards["b_s"].setFocus()
    assert pointed[-1] == CARDS[1].key
    cards["b_s"].clearFocus()
    assert pointed[-1] is None
    assert lit(cards) == []
    inside = QPointF(5, 5)
    QApplication.sendEvent(cards["a_s"], QEnterEvent(inside, inside, inside))
    assert pointed[-1] == CARDS[0].key
    QApplication.sendEvent(cards["a_s"], QEvent(QEvent.Type.Leave))
    assert pointed[-1] is None


def test_a_card_is_lit_from_outside_and_one_without_a_mark_takes_no_focus(block, cards):
    block.verdict.light_key("b_s")
    assert lit(cards) == ["b_s"]
    block.verdict.light_key("")
    assert lit(cards) == []
    assert cards["c_s"].focusPolicy() == Qt.FocusPolicy.NoFocus


def test_cards_stand_side_by_side_or_below_each_other_where_they_lack_room(block, cards):
    for width, lines in ((345, 1), (120, 3)):
        block.resize(width, 600)
        block.grab()
        assert len({card.y() for card in cards.values()}) == lines


@pytest.fixture
def column(qtbot, look) -> SideColumn:
    column = SideColumn(ENGLISH, look, [])
    qtbot.addWidget(column)
    return column


def shown_tab(column) -> QWidget:
    return column.findChild(QStackedWidget).currentWidget()


def test_what_is_new_is_shown_first(column):
    column.offer([Tab.SETTINGS])
    assert column.tab is Tab.SETTINGS

    column.offer([Tab.RESULT, Tab.SETTINGS])
    assert column.tab is Tab.RESULT


def test_a_choice_stays_while_the_same_is_offered(column):
    column.offer([Tab.RESULT, Tab.SETTINGS])
    column.choose(Tab.SETTINGS)
    column.offer([Tab.RESULT, Tab.SETTINGS])

    assert column.tab is Tab.SETTINGS


def test_one_tab_alone_needs_no_choice(column):
    column.offer([Tab.SETTINGS])

    tabs = column.findChild(QButtonGroup).buttons()
    assert len(tabs) == len(Tab)
    assert not any(tab.isVisibleTo(column) for tab in tabs)


def test_another_form_takes_the_place_of_the_one_before(column):
    column.offer([Tab.SETTINGS])
    form = QWidget()
    column.set_form(form)

    assert shown_tab(column) is form


def test_another_comparison_is_shown_from_its_beginning(qtbot, column):
    def compared(ratio):
        rows = [ComparedRow(f"value {n}", "1 ns", "2 ns", ratio) for n in range(40)]
        return Comparison(a="one", b="other", rows=rows)

    column.resize(345, 600)
    column.show()
    column.show_comparison(compared("2×"))
    column.offer([Tab.COMPARISON])
    bar = shown_tab(column).verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 100)
    bar.setValue(100)
    column.show_comparison(compared("2×"))
    assert bar.value() == 100

    column.show_comparison(compared("3×"))
    assert bar.value() == 0


def test_another_result_is_shown_from_its_beginning(qtbot, column):
    values = [(f"value {n}", "1 ns") for n in range(60)]
    column.resize(345, 600)
    column.show()
    column.show_result(Result(values=values, limits=["A limit."]))
    column.offer([Tab.RESULT])
    unfold(column.result)
    bar = shown_tab(column).verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 100)
    bar.setValue(100)
    column.show_result(Result(values=values, limits=["A limit."]))
    assert bar.value() == 100

    column.show_result(Result(values=values, limits=["Another limit."]))
    assert bar.value() == 0


def test_what_can_be_done_stands_below_the_result_and_is_seen_however_long_that_is(qtbot, look):
    again = QPushButton("Run again")
    column = SideColumn(ENGLISH, look, [again])
    qtbot.addWidget(column)
    column.resize(345, 600)
    column.show()
    column.offer([Tab.RESULT])
    column.show_result(Result(values=[(f"value {n}", "1 ns") for n in range(60)]))
    qtbot.waitUntil(lambda: 100 < again.mapTo(column, QPoint()).y() < 500)

    unfold(column.result)
    qtbot.waitUntil(lambda: again.mapTo(column, QPoint()).y() > 500)
    assert again.mapTo(column, QPoint(0, again.height())).y() <= 600


def test_large_text_leaves_room_for_the_plots(qapp, column, look):
    look.theme = themes.load("dark", 2.0)
    column.fit(1000)

    assert column.width() == round(1000 * WIDEST_SHARE)


def test_one_scroll_bar_is_enough_where_the_head_leaves_no_room(qtbot, column):
    column.resize(345, 600)
    column.show()
    column.show_result(Result(values=[(f"value {n}", "1 ns") for n in range(40)]))
    column.offer([Tab.RESULT])
    unfold(column.result)
    inner = shown_tab(column).verticalScrollBar()
    qtbot.waitUntil(lambda: inner.maximum() > 0)  # the tab scrolls by itself
    assert column.verticalScrollBar().maximum() == 0

    column.state.show_state("Full run", sentence="\n".join(["a long finding"] * 30))
    qtbot.waitUntil(lambda: column.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: inner.maximum() == 0)


@pytest.fixture(params=[1.0, 2.0])
def worn(request, look) -> Iterator[Look]:
    """Return a look that the application wears, for as long as the test goes on."""
    themes.add_fonts()
    look.wear(themes.load("dark", request.param))
    yield look
    look.wear(themes.load("dark"))


def test_it_comes_to_rest_at_every_height(qtbot, worn, column, monkeypatch):
    experiment = Catalogue().load("gil-threads")
    form = ParamsForm(experiment, ENGLISH, worn)
    form.show_params(experiment.params(), {"pythons": tuple(f"3.{n}" for n in range(8, 15))})
    column.set_form(form)
    values = [(f"value {n}", "1 ns") for n in range(9)]
    column.show_result(Result(values=values, limits=["What is meant. " * 20]))
    column.state.show_state("Full run", sentence="A finding of some length. " * 4)
    column.fit(1100)
    column.show()
    column.offer([Tab.SETTINGS])
    stack = column.findChild(QStackedWidget)
    unroll, asked = stack.unroll, []
    monkeypatch.setattr(stack, "unroll", lambda **given: (asked.append(given), unroll(**given)))

    for height in range(240, 900, 60):
        column.resize(column.width(), height)
        for _ in range(20):
            QApplication.processEvents()
        asked.clear()
        for _ in range(20):
            QApplication.processEvents()
        assert asked == [], height
