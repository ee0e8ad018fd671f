"""Typing and choosing a folder, and the sentence that refuses what is none."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QLineEdit, QPushButton

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.problems import UserError
from widgets.form.form import ParamsForm
from widgets.form.typed_input import FolderInput
from widgets.style import theme
from widgets.style.look import Look

ENGLISH = words.load("en")


@pytest.fixture
def form(qtbot):
    experiment = Catalogue().load("storage")
    form = ParamsForm(experiment, ENGLISH, Look(theme.load("dark")))
    qtbot.addWidget(form)
    form.show_params(experiment.params(), {})
    form.resize(345, 700)
    form.show()
    return form


def parts(form) -> tuple[QPushButton, QLineEdit]:
    asked = form.findChild(FolderInput)
    return asked.findChild(QPushButton), asked.findChild(QLineEdit)


def doubt(form) -> str:
    asked = form.findChild(FolderInput)
    return next(w.text() for w in asked.findChildren(QLabel) if w.property("role") == "doubt")


def type_in(form, text) -> None:
    edit = parts(form)[1]
    edit.selectAll()
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def test_a_folder_that_is_typed_is_taken(form, tmp_path, qtbot):
    with qtbot.waitSignal(form.changed):
        type_in(form, str(tmp_path))

    assert form.params().folder == str(tmp_path)
    assert doubt(form) == ""


def test_what_is_no_folder_is_refused_in_a_sentence_below_it(form, tmp_path):
    nowhere = str(tmp_path / "nowhere")
    type_in(form, nowhere)

    with pytest.raises(UserError):
        form.params()
    values = {"name": ENGLISH.say("storage.params.folder"), "text": nowhere}
    assert doubt(form) == ENGLISH.say("problems.parameter_not_a_folder", values)


def test_a_folder_can_be_chosen_and_reset_goes_back_to_the_usual_one(
    form, tmp_path, monkeypatch, qtbot
):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    with qtbot.waitSignal(form.changed):
        parts(form)[0].click()

    assert form.params().folder == parts(form)[1].text() == str(tmp_path)
    form.reset()
    assert form.params().folder == ""
    assert parts(form)[1].placeholderText() == ENGLISH.say("form.usual_folder")


def test_a_dialog_that_is_cancelled_changes_nothing(form, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    parts(form)[0].click()

    assert form.params().folder == ""


def test_the_path_is_as_wide_as_the_form_and_both_parts_take_the_focus(form):
    chooser, edit = parts(form)

    assert edit.width() > 0.9 * form.findChild(FolderInput).width()
    assert edit.height() <= 1.6 * edit.fontMetrics().height()
    for control in (chooser, edit):
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus
