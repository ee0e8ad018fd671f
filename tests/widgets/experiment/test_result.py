"""The result of a run: verdict, cards, what to do next, and what is folded."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QLabel

from experiments.core import words
from experiments.core.declare import Key
from tests.widgets.experiment.seen import folds, texts, unfold
from widgets.controls.links import LinkLabel
from widgets.controls.wrapped import WrappedLink
from widgets.experiment.key_cards import Card, KeyCard
from widgets.experiment.result import MOST_LIMITS, Further, Result, ResultBlock
from widgets.experiment.verdict import BadgeText, Verdict
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load("en")


@pytest.fixture
def look(qapp) -> Look:
    return Look(themes.load("dark"))


@pytest.fixture
def block(qtbot, look) -> ResultBlock:
    block = ResultBlock(ENGLISH, look)
    qtbot.addWidget(block)
    block.show()
    block.activateWindow()
    qtbot.waitUntil(block.isActiveWindow)
    return block


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
