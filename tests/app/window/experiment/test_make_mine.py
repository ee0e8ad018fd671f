"""Make it mine with the real engine: copy, race, break, mend, delete."""

from __future__ import annotations

import shutil

import pytest
from PySide6.QtWidgets import QPushButton

from app.window.experiment import making_mine
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.place import ExperimentPage
from experiments.core.parameters import from_json
from experiments.engine import side_by_side
from experiments.engine.messages import Outcome
from tests.app.window.stage import found
from widgets.form.form import ParamsForm
from widgets.sheets.make_mine import MakeMine

SOON_MS = 30_000
LOOP = "        thread.join()\n"  # of the threads, which come first


@pytest.fixture
def page(qtbot, session, monkeypatch):
    monkeypatch.setattr(side_by_side, "MOST_ROUNDS", 5)
    page = ExperimentPage(session)
    page.resize(1200, 700)
    page.show()
    page.arrive()
    page.open("start-cost")
    session.went.connect(lambda target: page.open(target.experiment))
    session.wake()
    qtbot.waitUntil(lambda: do(page).run.isEnabled(), timeout=SOON_MS)
    yield page
    page.leave()
    page.close()
    page.deleteLater()


def do(page) -> ExperimentActions:
    return found(page, ExperimentActions)


def copied(page, qtbot, name="my-start-cost"):
    """Copy the shown experiment, and wait for the page of the copy; return the loop's file."""
    do(page).mine.trigger()
    sheet = page.findChildren(MakeMine)[-1]
    sheet.name.setText(name)
    sheet.make.click()
    qtbot.waitUntil(lambda: page.model.experiment.id == name, timeout=SOON_MS)
    qtbot.waitUntil(lambda: do(page).beside.isEnabled(), timeout=SOON_MS)
    for each in page.findChildren(MakeMine):
        each.dismiss()
    return page.session.catalogue.own[name].folder / "start_jobs.py"


def raced(page, qtbot):
    """Race the copy as shortly as can be; return the verdict."""
    form = page.findChildren(ParamsForm)[-1]
    experiment = page.model.experiment
    small = {"methods": ["call", "thread"], "rounds": 3}
    form.show_params(from_json(experiment.params, small), page.model.entry.choices)
    form.changed.emit()
    do(page).beside.trigger()
    assert page.model.comparing.pair is not None  # both are drawn from the first row on
    qtbot.waitUntil(lambda: page.model.comparing.is_on, timeout=SOON_MS)
    return page.model.comparing.found


def test_a_copy_is_made_raced_broken_mended_and_deleted(qtbot, session, page, monkeypatch):
    shown = []
    monkeypatch.setattr(making_mine, "opened", lambda folder: shown.append(folder) or True)
    loop = copied(page, qtbot)
    assert shown == [loop.parent]
    assert not do(page).mine.isVisible()  # a copy is one's own already

    compared = raced(page, qtbot)
    assert compared.said
    assert (compared.a, compared.b) == ("start-cost, the original", "my-start-cost, your copy")
    a, b = page.model.comparing.pair
    assert a.run_state.experiment is b.run_state.experiment
    assert {run.experiment for run in session.runs} == {"start-cost", "my-start-cost"}
    assert page.told is None

    text = loop.read_text()
    loop.write_text(text.replace(LOOP, f"{LOOP}        time.sleep(0.02)\n", 1))
    session.own.look()
    qtbot.waitUntil(lambda: do(page).beside.isEnabled(), timeout=SOON_MS)
    assert "times slower" in raced(page, qtbot).said

    loop.write_text(text.replace(LOOP, "        thread.join(\n", 1))
    do(page).beside.trigger()
    qtbot.waitUntil(lambda: page.told is not None, timeout=SOON_MS)
    assert page.told.key == "own_error"
    assert page.told.values["file"] == "start_jobs.py"
    assert page.model.run_state.finished.outcome is Outcome.FAILED
    assert page.model.comparing.pair is None
    assert (
        len([run for run in session.runs if run.experiment == "start-cost"]) == 2
    )  # no half a pair

    loop.write_text(text)
    session.own.look()
    qtbot.waitUntil(lambda: do(page).beside.isEnabled(), timeout=SOON_MS)
    assert raced(page, qtbot).said
    assert page.told is None

    shutil.rmtree(loop.parent)
    with qtbot.waitSignal(session.catalogue_changed, timeout=SOON_MS):
        session.own.look()
    do(page).beside.trigger()
    assert page.told is not None or not do(page).beside.isEnabled()
    page.open("start-cost")
    assert do(page).mine.isEnabled()


def test_a_race_is_stopped_in_a_moment(qtbot, session, page, monkeypatch):
    monkeypatch.setattr(making_mine, "opened", lambda _folder: True)
    copied(page, qtbot)
    do(page).beside.trigger()
    qtbot.waitUntil(lambda: page.model.run_state.rows > 2, timeout=SOON_MS)
    with qtbot.waitSignal(page.model.ended, timeout=SOON_MS):
        do(page).stop.trigger()

    assert page.model.run_state.finished.outcome is Outcome.STOPPED
    assert page.model.comparing.pair is None
    assert session.runner.beside.finished.outcome is Outcome.STOPPED


def test_a_name_that_is_taken_is_said_on_the_sheet(qtbot, page, monkeypatch):
    monkeypatch.setattr(making_mine, "opened", lambda _folder: True)
    copied(page, qtbot)
    page.open("start-cost")
    do(page).mine.trigger()
    sheet = page.findChildren(MakeMine)[-1]
    assert sheet.name.text() == "my-start-cost-2"
    sheet.name.setText("my-start-cost")
    sheet.make.click()
    qtbot.waitUntil(sheet.make.isEnabled, timeout=SOON_MS)
    assert not sheet.isHidden()
    sheet.dismiss()


def test_code_offers_to_make_it_mine(stage):
    stage.page.open("start-cost")
    stage.do.code.trigger()
    words = stage.session.words.say("page.mine")
    (chip,) = [
        each
        for each in stage.page.findChildren(QPushButton)
        if each.text() == words and each.isVisible()
    ]
    chip.click()
    (sheet,) = stage.page.findChildren(MakeMine)
    sheet.dismiss()


@pytest.mark.parametrize(
    ("opens", "editor", "is_opened"),
    [(True, "", True), (False, "", False), (False, "true", True), (False, "no-such-editor", False),
     (False, "'", False)],
)  # fmt: skip
def test_a_folder_is_opened_by_the_system_else_by_the_editor(
    qapp, monkeypatch, tmp_path, opens, editor, is_opened
):
    monkeypatch.setattr(making_mine.QDesktopServices, "openUrl", lambda _url: opens)
    for name in making_mine.EDITORS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EDITOR", editor)

    assert making_mine.opened(tmp_path) is is_opened
