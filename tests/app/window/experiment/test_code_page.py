"""The page of an experiment that shows code: without a run, during one, and of a recording."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QAbstractButton, QLabel

from experiments.core.views import BROKEN
from experiments.numbers.clinic.experiment import PIECES, Params, Remarked, TrainingStep
from tests.app.recordings import made
from tests.app.window.stage import events, settle
from tests.experiments.machines import machine
from widgets.experiment.code_view import CodeView
from widgets.experiment.puzzle import Puzzle

FIRST = PIECES[0]
ROWS = [
    Remarked(piece=FIRST.key, version=BROKEN, where="1 Linear", kind="no_multiple", detail="5001"),
    *(
        TrainingStep(
            code=f"{FIRST.key}_{BROKEN}", piece=FIRST.key, version=BROKEN, repeat=n, step_s=0.1
        )
        for n in range(3)
    ),
]


@pytest.fixture
def run():
    return made("clinic", Params(), ROWS, here=replace(machine(), fingerprint="elsewhere"))


def puzzle(stage) -> Puzzle:
    (found,) = [each for each in stage.page.findChildren(Puzzle) if each.isVisible()]
    return found


def bars(stage):
    return stage.views.keyed_plots()["steps"]


def drawn(stage) -> None:
    settle(lambda: not stage.drawing.isActive())


def is_empty(stage) -> bool:
    return bars(stage).summary() == stage.session.words.say("plot.empty")


def words_of(stage) -> str:
    """Return every word that is seen on the page."""
    return "\n".join(each.text() for each in stage.page.findChildren(QLabel) if each.isVisible())


def checker(stage) -> str:
    """Return what stands below the code: what the checker said, once all faults are shown."""
    puzzle(stage).show_rest()
    return puzzle(stage).findChildren(QLabel)[-1].text()


def test_the_code_is_there_before_any_run_and_nothing_runs(stage):
    stage.page.open("clinic")

    assert puzzle(stage).lines.model().rowCount() == len(FIRST.broken.splitlines())
    assert is_empty(stage)
    assert checker(stage) == ""
    assert stage.runner.started == []


@pytest.mark.torch
def test_what_was_found_stays_found_while_it_runs(stage, run):
    stage.page.open("clinic")
    fault = min(FIRST.fault_lines())
    puzzle(stage).choose(fault)
    stage.do.run.trigger()
    stage.runner.hear(*events(run))
    drawn(stage)

    assert "1/3" in puzzle(stage).pieces.buttons[FIRST.key].text()
    assert not is_empty(stage)
    assert "5001" in checker(stage)


def test_a_recording_shows_its_remarks_and_nothing_of_it_stays(qtbot, stage, run):
    stage.page.open_run(run.write(stage.folder / "run.coreopsis.jsonl"))
    qtbot.waitUntil(lambda: not stage.page.model.is_reading)
    drawn(stage)

    assert "5001" in checker(stage)
    assert "RECORDED" in words_of(stage)
    stage.do.live.trigger()
    assert checker(stage) == ""
    assert is_empty(stage)
    assert "RECORDED" not in words_of(stage)


@pytest.mark.torch
def test_pictures_and_rows_are_those_of_the_plot(stage, run):
    stage.page.open("clinic")
    stage.do.run.trigger()
    stage.runner.hear(*events(run))
    drawn(stage)
    stage.page.own_actions()

    assert stage.views.plot_in_focus() is bars(stage)
    title = stage.session.words.say("clinic.views.steps")
    assert title in stage.do.copy_picture.text()
    assert title in stage.do.save_csv.text()


def test_what_will_be_run_can_be_copied_and_saved(stage):
    stage.page.open("clinic")
    stage.do.code.trigger()
    code = stage.page.findChild(CodeView)

    def names() -> list[str]:
        buttons = (each for each in code.findChildren(QAbstractButton) if each.isCheckable())
        return [each.text() for each in buttons]

    settle(lambda: bool(names()))
    assert names()[0] == "experiment.py"
    for piece in PIECES:
        both = {f"pieces/{piece.key}_{version}.py" for version in ("broken", "mended")}
        assert both <= set(names())
