from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from app.window import run_files
from app.window.saving import Saving

Location = QStandardPaths.StandardLocation


@pytest.fixture
def own(monkeypatch, tmp_path):
    """Return the folders that a person has for pictures and for documents."""
    folders = {Location.PicturesLocation: "Pictures", Location.DocumentsLocation: "Documents"}
    for name in folders.values():
        (tmp_path / name).mkdir()
    monkeypatch.setattr(
        QStandardPaths, "writableLocation", lambda place: str(tmp_path / folders[place])
    )
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def saving(qtbot, session):
    parent = QWidget()
    qtbot.addWidget(parent)
    session.remembered.connect(
        lambda changes: setattr(session, "settings", session.settings.replace(**changes))
    )
    return Saving(session, parent)


def answer(monkeypatch, asked, path):
    """Let the dialog of the system be answered by `path`; `asked` hears where it began."""

    def ask(_parent, _title, begin, _kinds):
        asked.append(begin)
        return (str(path), "")

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", ask)


@pytest.mark.parametrize(
    ("name", "folder"), [("a.png", "Pictures"), ("a.svg", "Pictures"), ("a.csv", "Documents")]
)
def test_a_dialog_begins_in_a_persons_own_folder(own, saving, monkeypatch, name, folder):
    asked = []
    answer(monkeypatch, asked, "")

    assert not saving.save_text(name, "text")

    assert asked == [str(own / folder / name)]


def test_the_next_dialog_begins_where_the_last_one_ended(own, saving, session, monkeypatch):
    asked, target = [], own / "lab" / "a.csv"
    target.parent.mkdir()
    answer(monkeypatch, asked, target)
    saving.save_text("a.csv", "text")

    saving.choose_existing()
    run_files.choose_target(saving._parent, session, "run.coreopsis.jsonl")

    assert asked[1:] == [str(own / "lab"), str(own / "lab" / "run.coreopsis.jsonl")]
    assert session.settings.folder == str(own / "lab")


def test_a_folder_that_is_gone_is_not_begun_in(own, saving, session, monkeypatch):
    session.settings = session.settings.replace(folder=str(own / "gone"))
    asked = []
    answer(monkeypatch, asked, "")

    saving.choose_existing()

    assert asked == [str(own / "Documents")]


def test_what_was_saved_is_told_with_its_folder(own, saving, session, monkeypatch):
    told = []
    session.noticed.connect(lambda text, *_: told.append(text))
    answer(monkeypatch, [], own / "Pictures" / "a")

    saving.save_text("a.csv", "text")

    assert told == ["a.csv was saved in ~/Pictures."]
    assert (own / "Pictures" / "a.csv").read_text() == "text"
