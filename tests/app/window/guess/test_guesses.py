"""Ten guesses in the window: walked by keys, by the mouse, left and taken up again."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from app.window.core.target import EXPERIMENTS
from experiments.core import words
from experiments.core.problems import Problem, UserError
from experiments.presentation.guesses.questions import questions
from experiments.presentation.guesses.quick_round import Mark, Source, Truth
from tests.app.recordings import ladder
from tests.app.window.stage import settle
from tests.app.window.whole import Unmeasured, Whole, show_catalogue, show_guess_question
from tests.experiments.machines import machine
from widgets.guess.sheet import EndPage

ENGLISH = words.load()
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def whole(worn, tmp_path):
    whole = Whole(worn, tmp_path)
    whole.guesses.meanwhile = Unmeasured()
    yield whole
    whole.close()


def page_of(whole):
    page = whole.guesses.sheet.question
    assert page is not None
    return page


def press(key: Qt.Key) -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, key)
    QApplication.processEvents()


def click(widget, at: QPoint | None = None) -> None:
    QTest.mouseClick(widget, LEFT, Qt.KeyboardModifier.NoModifier, at or widget.rect().center())
    QApplication.processEvents()


def answered(whole) -> None:
    settle(lambda: whole.guesses.round.shown is not None)


def texts(widget) -> str:
    return " ".join(each.text() for each in widget.findChildren(QLabel) if each.isVisible())


def test_a_round_is_walked_by_keys_alone(whole):
    whole.do("guess.title")
    for _ in questions():
        press(Qt.Key.Key_PageUp)
        press(Qt.Key.Key_Left)
        press(Qt.Key.Key_Return)
        answered(whole)
        press(Qt.Key.Key_Return)

    assert whole.guesses.round.is_over
    end = whole.guesses.sheet.findChild(EndPage)
    press(Qt.Key.Key_Return)  # one press too many begins nothing anew
    assert whole.guesses.round.is_over
    end.again.setFocus()
    press(Qt.Key.Key_Return)
    assert (whole.guesses.round.place, whole.guesses.round.is_begun) == (1, False)
    press(Qt.Key.Key_Escape)
    assert whole.guesses.sheet is None


def test_a_round_is_walked_by_the_mouse_alone(whole):
    show_catalogue(whole)
    whole.rest()
    (chip,) = (
        each
        for each in whole.window.place.findChildren(QPushButton)
        if each.text() == ENGLISH.say("guess.chip")
    )
    click(chip)
    for question in questions():
        page, slider = page_of(whole), page_of(whole).input.slider
        assert question.id == whole.guesses.round.question.id
        assert not page.answer.isEnabled()
        click(slider, QPoint(slider.width() // 3, slider.height() // 3))
        click(page.answer)
        answered(whole)
        assert ENGLISH.text(f"guess.{question.id}.because") in texts(page)
        assert "RECORDED ·" in texts(page)
        click(page.go_on)

    end = whole.guesses.sheet.findChild(EndPage)
    assert len(end.misses) == 3
    lesson = whole.guesses.round.misses()[0].question.lesson
    click(end.misses[0])
    assert whole.guesses.sheet is None
    assert whole.window.place.name == EXPERIMENTS
    assert whole.page.model.experiment.id == lesson


def test_a_round_that_was_left_goes_on_where_it_was(whole):
    show_guess_question(whole)
    press(Qt.Key.Key_PageUp)
    press(Qt.Key.Key_Return)
    answered(whole)
    guess = whole.guesses.round.shown.guess
    press(Qt.Key.Key_Escape)

    whole.do("guess.title")
    assert page_of(whole).input.at() == (guess,)
    assert page_of(whole).truth.isVisible()
    press(Qt.Key.Key_Return)
    press(Qt.Key.Key_Escape)

    whole.do("guess.title")
    assert ENGLISH.say("guess.place", {"place": 2, "count": 10}) in texts(page_of(whole))
    assert not page_of(whole).answer.isEnabled()


def test_an_answer_that_comes_after_the_sheet_was_left_is_there_when_it_is_opened(whole):
    show_guess_question(whole)
    whole.guesses.sheet.answered.emit(1e9)
    press(Qt.Key.Key_Escape)
    answered(whole)

    whole.do("guess.title")
    assert page_of(whole).truth.isVisible()


def test_nothing_can_be_answered_before_the_slider_was_moved(whole):
    show_guess_question(whole)
    QTest.mouseClick(page_of(whole).answer, LEFT)

    assert not whole.guesses.round.is_begun


class Measured(Unmeasured):
    def __init__(self) -> None:
        self.begun: list[str] = []

    def begin(self, question):
        self.begun.append(question.id)

    def end(self):
        return Truth(value=5e9, source=Source.MEASURED) if self.begun else None


def test_what_was_measured_while_the_person_thought_answers(whole):
    whole.guesses.meanwhile = Measured()
    whole.do("guess.title")
    settle(lambda: whole.guesses.meanwhile.begun == ["add"])
    whole.guesses.sheet.answered.emit(4e9)
    answered(whole)

    assert whole.guesses.round.shown.mark is Mark.SHARP
    assert "Measured here while you thought." in texts(page_of(whole))


def test_a_kept_run_answers_and_nothing_is_measured(whole):
    whole.guesses.meanwhile = Measured()
    whole.keep(ladder(here=machine()))
    whole.do("guess.title")
    settle(lambda: whole.guesses.meanwhile.begun == ["add"])
    whole.guesses.sheet.answered.emit(1e9)
    answered(whole)
    whole.guesses.sheet.went_on.emit()
    whole.rest()
    whole.guesses.sheet.answered.emit(1e-9)
    answered(whole)

    assert whole.guesses.meanwhile.begun == ["add"]
    assert whole.guesses.round.shown.truth.source is Source.KEPT
    assert "Measured here, " in texts(page_of(whole))


def test_a_machine_from_a_file_measures_nothing_and_says_so(whole, monkeypatch):
    monkeypatch.setattr("app.context.Context.has_fake_machine", True)
    whole.guesses.meanwhile = Measured()
    whole.do("guess.title")
    whole.rest()

    assert whole.guesses.meanwhile.begun == []
    assert ENGLISH.say("guess.from_file") in texts(whole.guesses.sheet)


def test_without_its_recording_the_round_is_left_with_a_sentence(whole, qtbot, monkeypatch):
    def missing(*_):
        raise UserError("recording_missing", name="simd")

    monkeypatch.setattr("app.guesses.truths.recorded", missing)
    show_guess_question(whole)
    with qtbot.waitSignal(whole.session.troubled) as told:
        whole.guesses.sheet.answered.emit(1e9)

    assert isinstance(told.args[0], Problem)
    assert whole.guesses.sheet is None
