from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from app.window.core.saving import Saving, file_there, new_file, with_ending
from experiments.engine import recording
from machine.live import recorded_watch
from tests.cases import in_one
from widgets.sheets.question import Question

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
def parent(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    return parent


@pytest.fixture
def saving(session, parent):
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

    saving.save_text(name, "text")

    assert asked == [str(own / folder / name)]


def test_a_long_name_is_suggested_short_enough_and_with_its_ending(
    own, saving, session, monkeypatch
):
    asked = []
    answer(monkeypatch, asked, "")
    session.settings = session.settings.replace(folder="n" * 300)

    for ending in (".csv", ".coreopsis.jsonl.gz"):
        saving.save_text(f"{'n' * 300}{ending}", "text")

    names = [Path(begin).name for begin in asked]
    assert [len(name) < 200 for name in names] == [True, True]
    assert [name.partition(".")[2] for name in names] == ["csv", "coreopsis.jsonl.gz"]


def test_the_next_dialog_begins_where_the_last_one_ended(own, saving, session, parent, monkeypatch):
    asked, target = [], own / "lab" / "a.csv"
    target.parent.mkdir()
    answer(monkeypatch, asked, target)
    saving.save_text("a.csv", "text")

    file_there(session, parent, "title", "*")
    new_file(session, parent, "title", "*", "run.coreopsis.jsonl")

    assert asked[1:] == [str(own / "lab"), str(own / "lab" / "run.coreopsis.jsonl")]
    assert session.settings.folder == str(own / "lab")


def test_a_folder_that_is_gone_is_not_begun_in(own, session, parent, monkeypatch):
    session.settings = session.settings.replace(folder=str(own / "gone"))
    asked = []
    answer(monkeypatch, asked, "")

    file_there(session, parent, "title", "*")

    assert asked == [str(own / "Documents")]


def test_what_was_saved_is_told_with_its_folder(own, saving, session, monkeypatch):
    told = []
    session.noticed.connect(lambda text, *_: told.append(text))
    answer(monkeypatch, [], own / "Pictures" / "a")

    saving.save_text("a.csv", "text")

    assert told == ["a.csv saved in ~/Pictures."]
    assert (own / "Pictures" / "a.csv").read_text() == "text"


@in_one(
    ("typed", "kept"),
    [
        ("watch", "watch.coreopsis-watch.jsonl"),
        ("watch.jsonl", "watch.coreopsis-watch.jsonl"),
        ("watch.coreopsis-watch", "watch.coreopsis-watch.jsonl"),
        ("watch.jsonl.gz", "watch.coreopsis-watch.jsonl.gz"),
        ("watch.gz", "watch.coreopsis-watch.jsonl.gz"),
        ("minute 2.5", "minute 2.5.coreopsis-watch.jsonl"),
        *((f"watch{ending}", f"watch{ending}") for ending in recorded_watch.SUFFIXES),
    ],
)
def test_a_name_gets_the_ending_by_which_it_is_found_again(typed, kept):
    assert with_ending(Path("lab", typed), recorded_watch.SUFFIXES) == Path("lab", kept)


def test_a_run_gets_the_ending_of_a_run():
    wanted = Path("bigpages.coreopsis.jsonl")
    for typed in ("bigpages", "bigpages.jsonl", "bigpages.coreopsis.jsonl"):
        assert with_ending(Path(typed), recording.SUFFIXES) == wanted


@pytest.mark.parametrize(("answered", "kept"), [("replace", "new"), ("leave", "old")])
def test_a_file_whose_name_is_only_met_by_the_ending_is_asked_about(
    own, saving, parent, monkeypatch, answered, kept
):
    there = own / "a.csv"
    there.write_text("old")
    answer(monkeypatch, [], own / "a")

    saving.save_text("a.csv", "new")

    (asked,) = parent.findChildren(Question)
    assert there.read_text() == "old"
    asked.buttons[answered].click()
    assert there.read_text() == kept


def test_what_the_dialog_has_asked_about_is_not_asked_about_again(own, saving, monkeypatch):
    there = own / "a.csv"
    there.write_text("old")
    answer(monkeypatch, [], there)

    saving.save_text("a.csv", "new")

    assert there.read_text() == "new"
