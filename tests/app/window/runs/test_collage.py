from __future__ import annotations

from functools import partial

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QRadioButton

from app.runs.owner_note import Told, retold, told_in
from app.runs.run_notes import RunNotes
from app.window.core.reporting import HANDOUT
from app.window.core.target import RUNS, Target
from app.window.runs.place import RunsPlace
from experiments.core.teaching.lesson_run import Guess
from experiments.engine.recording import read
from tests.app.recordings import burst, ladder, threads
from tests.app.window.runs.test_place import Runs, bring, chooses, four
from tests.app.window.stage import settle
from tests.app.window.whole import Whole
from tests.experiments.machines import machine
from widgets.runs.import_look import ImportLook
from widgets.sheets.question import Question
from widgets.sheets.report_sheet import ReportSheet

LEFT = Qt.MouseButton.LeftButton
GUESS = Guess(kind="magnitude", at=(2.0,))
HERE = msgspec.structs.replace(machine(), fingerprint="here")


@pytest.fixture
def runs(qtbot, session):
    return Runs(qtbot, session)


def write(folder, number, made=None, at=2.0, kind="magnitude", name=""):
    """Write a run file with a prediction in it."""
    told = Told(guess=Guess(kind=kind, at=(float(at),)), name=name)
    path = folder / f"{number}.coreopsis.jsonl"
    path.write_bytes(retold((made or burst()).data, told))
    return path


def read_all(runs):
    """Wait until the collage has read its files; return its page."""
    page = runs.place.stack.collages.page
    with runs.qtbot.waitCallback() as done:
        runs.session.background.do_soon(lambda: None, done)
    return page


def said(page):
    return [each.text() for each in page.findChildren(QLabel) if each.isVisible()]


# --- ways in ------------------------------------------------------------------------------------


def test_the_selected_runs_make_a_collage(runs):
    runs, names = four(runs)
    runs.library.describe(
        next(run for run in runs.library.runs() if run.path.name == names[0]), RunNotes(guess=GUESS)
    )
    for show in (
        partial(runs.click, runs.details.buttons.collage),
        runs.place.actions_["runs.collage_runs"].trigger,
    ):
        runs.table.select(names[:3])
        show()
        page = read_all(runs)
        say = runs.session.words.say
        assert say("collage.low", {"count": 1, "times": "10"}) in said(page)
        assert say("collage.without", {"count": 2}) in said(page)
        assert page.plots[0].hasFocus()
        assert runs.place.go_back()
        assert runs.table.hasFocus()
    assert not runs.place.go_back()


def test_one_run_alone_makes_none(runs):
    runs, names = four(runs)
    runs.table.select(names[:1])
    assert not runs.details.buttons.collage.isVisible()
    assert not runs.place.actions_["runs.collage_runs"].isEnabled()


def test_dropped_files_are_added_to_my_runs_or_make_a_collage(runs, tmp_path):
    runs, names = four(runs)
    paths = [write(tmp_path, number) for number in range(3)]
    (tmp_path / "bad.coreopsis.jsonl").write_bytes(b"x\n")
    sheet = bring(runs, *paths, tmp_path / "bad.coreopsis.jsonl")
    say = runs.session.words.say
    assert sheet.keep_button.text() == say("import.keep_all", {"count": 3})
    runs.click(sheet.collage_button)
    page = read_all(runs)
    assert say("collage.low", {"of_them": 3, "count": 3, "times": "10"}) in said(page)
    reason = say("collage.reasons.unreadable")
    assert say("collage.left", {"count": 1, "reason": reason}) in said(page)
    assert len(runs.files("runs")) == len(names)


def test_one_dropped_file_makes_no_collage(runs, tmp_path):
    runs, _ = four(runs)
    sheet = bring(runs, write(tmp_path, 1))
    words = [each.text() for each in sheet.findChildren(QPushButton)]
    assert runs.session.words.say("import.collage") not in words


def test_run_files_may_fall_on_any_place_and_the_palette_knows_the_collage(look, tmp_path):
    whole = Whole(look, tmp_path)
    whole.keep(burst())
    paths = [write(tmp_path, number) for number in range(2)]
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier

    def fall(*urls):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(url)) for url in urls])
        enter = QDragEnterEvent(QPoint(9, 9), copy, data, LEFT, none)
        QApplication.sendEvent(whole.window, enter)
        if enter.isAccepted():
            QApplication.sendEvent(whole.window, QDropEvent(QPointF(9, 9), copy, data, LEFT, none))
        return enter.isAccepted()

    assert fall(*paths)
    settle(lambda: whole.window.findChild(ImportLook) is not None)
    assert isinstance(whole.window.place, RunsPlace)
    whole.window.findChild(ImportLook).dismiss()

    whole.do("runs.collage_page")
    stack = whole.find(RunsPlace).stack
    assert stack.has_collage
    assert whole.words.say("collage.empty_how") in said(stack.collages.page)
    whole.window.go(Target(RUNS))  # its button in the rail, pressed again
    assert not stack.has_collage
    whole.close()


# --- the collage --------------------------------------------------------------------------------


def collage(runs, *paths):
    runs.place.stack.show_collage(paths)
    return read_all(runs)


def test_what_is_mine_is_marked(runs, tmp_path):
    runs.session.machine = HERE
    mine = burst(here=HERE)
    runs.keep(mine)
    runs.session.runs = runs.library.runs()
    runs.show()
    page = collage(runs, write(tmp_path, 1, mine, at=10), write(tmp_path, 2, burst(here=HERE)))
    guesses, cloud = page.plots
    assert "10× to 20×: 1 prediction · yours among them" in guesses.summary()
    assert "you" in {label.text for label in guesses.painted().labels}
    assert cloud.summary().count("this machine") == 1


def test_a_machine_is_called_as_its_owner_wanted(runs, tmp_path):
    runs.show()
    page = collage(runs, write(tmp_path, 1, name="Ana"), write(tmp_path, 2))
    runs.qtbot.keyClick(page.plots[1], Qt.Key.Key_Right)
    runs.qtbot.keyClick(page.plots[1], Qt.Key.Key_End)
    names = [page.table.item(line, 0).text() for line in range(2)]
    assert names == ["Ana", ""]
    assert page.plots[1].said().startswith("Test CPU · ")


def test_more_files_are_added_and_all_are_forgotten(runs, tmp_path, monkeypatch):
    runs.show()
    page = collage(runs, write(tmp_path, 1))
    say = runs.session.words.say
    assert say("collage.results", {"count": 1}) in page.plots[0].chart.caption
    monkeypatch.setattr(
        "app.window.runs.collage.run_files", lambda *_: [write(tmp_path, 2), tmp_path]
    )
    runs.click(page.add_button)
    read_all(runs)
    assert say("collage.results", {"count": 2}) in page.plots[0].chart.caption
    page.files_dropped.emit([write(tmp_path, 3)])
    page.files_dropped.emit([write(tmp_path, 4)])
    read_all(runs)
    assert say("collage.results", {"count": 4}) in page.plots[0].chart.caption

    runs.click(page.again_button)
    read_all(runs)
    assert say("collage.empty_how") in said(page)
    monkeypatch.setattr("app.window.runs.collage.run_files", lambda *_: [])
    runs.click(page.fill_button)
    read_all(runs)
    assert say("collage.empty_how") in said(page)


def test_each_experiment_in_the_files_can_be_chosen(runs, tmp_path):
    runs.show()
    page = collage(
        runs,
        write(tmp_path, 1),
        write(tmp_path, 2),
        write(tmp_path, 3, threads(), at=2, kind="choice"),
        ladder().write(tmp_path / "4.coreopsis.jsonl"),
    )
    say = runs.session.words.say
    choices = page.findChildren(QRadioButton)
    wanted = ("burst-random", "gil-threads", "cache-ladder")
    assert [each.text() for each in choices] == [say(f"{name}.question") for name in wanted]
    choices[1].click()
    assert say("collage.one_right") in said(page)
    choices[2].click()
    assert say("collage.other_kind") in said(page)
    assert len(page.plots) == 1


def test_files_of_which_none_counts_say_why(runs, tmp_path):
    runs.show()
    bad = tmp_path / "x.coreopsis.jsonl"
    bad.write_bytes(b"\xff\n")
    page = collage(runs, bad, burst(outcome="stopped").write(tmp_path / "y.coreopsis.jsonl"))
    say = runs.session.words.say
    told = "".join(said(page))
    for key in ("collage.reasons.unreadable", "collage.reasons.not_completed"):
        assert say(key) in told
    assert page.fill_button.isVisible()


def test_a_reading_that_fails_is_told_and_ends(runs, tmp_path, monkeypatch, caplog):
    runs.show()
    monkeypatch.setattr("app.window.runs.collage.gather", lambda *_, **__: 1 / 0)
    page = collage(runs, write(tmp_path, 1))
    assert [problem.key for problem in runs.problems] == ["unexpected"]
    assert runs.session.words.say("collage.reading", {"count": 1}) not in said(page)


def test_a_plot_is_saved_as_a_picture(runs, tmp_path, monkeypatch):
    runs.show()
    page = collage(runs, write(tmp_path, 1))
    target = tmp_path / "out.svg"
    monkeypatch.setattr(
        "app.window.core.saving.QFileDialog.getSaveFileName", lambda *_: (str(target), "")
    )
    page.plots[0].save_wanted.emit(".svg")
    assert target.read_text().count("<svg") == 1


@pytest.mark.parametrize(
    ("kind", "begins"), [("html", b"<!"), ("pdf", b"%PDF"), ("markdown", b"# ")]
)
def test_the_page_is_written_as_a_document_with_names_only_if_wanted(
    runs, tmp_path, monkeypatch, kind, begins
):
    runs.show()
    page = collage(runs, write(tmp_path, 1, name="Ana Conda"), write(tmp_path, 2))
    target = tmp_path / f"out{HANDOUT[kind]}"
    monkeypatch.setattr(
        "app.window.core.saving.QFileDialog.getSaveFileName", lambda *_: (str(target), "")
    )

    def sheet():
        page.report.trigger()
        settle(lambda: any(each.isVisible() for each in runs.place.findChildren(ReportSheet)))
        found = [each for each in runs.place.findChildren(ReportSheet) if each.isVisible()][-1]
        found.kinds.buttons[kind].click()
        settle(found.save.isEnabled)
        return found

    opened = sheet()
    say = runs.session.words.say
    told = opened.text.toPlainText()
    assert say("burst-random.question") in told
    assert "Ana Conda" not in told
    opened.checks["class_names"].click()
    settle(opened.save.isEnabled)
    assert "Ana Conda" in opened.text.toPlainText()
    opened.save.click()
    settle(target.exists)
    written = target.read_bytes()
    assert written.startswith(begins)
    if kind == "html":
        text = written.decode()
        assert "Ana Conda" in text
        assert say("views.collage_guesses") in text
        assert text.count("<svg") >= 2
        assert say("collage.low", {"of_them": 2, "count": 2, "times": "10"}) in text
        assert "src=" not in text


# --- what an export tells -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("notes", "key"),
    [(RunNotes(guess=GUESS), "export_prediction"), (RunNotes(name="Ana"), "export_name")],
)
@pytest.mark.parametrize("answer", ["told", "untold", "leave"])
def test_an_export_asks_what_the_file_may_tell(runs, tmp_path, monkeypatch, notes, key, answer):
    runs, names = four(runs)
    (kept,) = [run for run in runs.library.runs() if run.path.name == names[0]]
    runs.library.describe(kept, notes)
    runs.session.refresh_runs()
    runs.settle()
    target = tmp_path / "x.coreopsis.jsonl"
    chooses(monkeypatch, target=lambda *_: target)

    runs.place.actions_["runs.export_runs"].trigger()
    sheet = runs.place.findChild(Question)
    assert (
        runs.session.words.say(f"runs.{key}", {"name": notes.name}) in sheet.accessibleDescription()
    )
    runs.click(sheet.buttons[answer])

    assert target.exists() == (answer != "leave")
    if target.exists():
        wanted = Told(guess=notes.guess, name=notes.name) if answer == "told" else Told()
        assert told_in(read(target)) == wanted


def test_several_runs_are_asked_about_once(runs, tmp_path, monkeypatch):
    runs, names = four(runs)
    for run in runs.library.runs():
        runs.library.describe(run, RunNotes(name="mine"))
    runs.session.refresh_runs()
    runs.settle()
    chooses(monkeypatch, folder=lambda *_: tmp_path)
    runs.table.select(names[:2])
    runs.place.actions_["runs.export_runs"].trigger()
    sheet = runs.place.findChild(Question)
    assert runs.session.words.say("runs.export_several") in sheet.accessibleDescription()
    runs.click(sheet.buttons["told"])
    assert [told_in(read(tmp_path / name)).name for name in names[:2]] == ["mine"] * 2
