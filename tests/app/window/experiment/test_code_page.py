"""The page of an experiment that shows code: without a run, during one, and of a recording."""

from __future__ import annotations

import pytest

from experiments.core.views import BROKEN
from experiments.numbers.clinic.experiment import PIECES, Params, Remarked, Step
from tests.app.recordings import made
from tests.app.window.stage import events, settle
from widgets.experiment.puzzle import Puzzle

FIRST = PIECES[0]
ROWS = [
    Remarked(piece=FIRST.key, version=BROKEN, where="1 Linear", kind="no_multiple", detail="5001"),
    *(
        Step(code=f"{FIRST.key}_{BROKEN}", piece=FIRST.key, version=BROKEN, repeat=n, step_s=0.1)
        for n in range(3)
    ),
]


@pytest.fixture
def run():
    return made("clinic", Params(), ROWS)


def puzzle(stage) -> Puzzle:
    (found,) = [each for each in stage.page.findChildren(Puzzle) if each.isVisible()]
    return found


def bars(stage):
    (plot,) = stage.page._panel.views.plots
    return plot


def drawn(stage) -> None:
    settle(lambda: not stage.page._drawing._timer.isActive())


def checker(stage) -> str:
    puzzle(stage).show_rest()
    return puzzle(stage)._checker.text()


def test_the_code_is_there_before_any_run_and_nothing_runs(stage):
    stage.page.open("clinic")

    assert puzzle(stage).lines.model().rowCount() == len(FIRST.broken.splitlines())
    assert bars(stage)._scene.is_empty
    assert checker(stage) == ""
    assert stage.runner.started == []


def test_what_was_found_stays_found_while_it_runs(stage, run):
    stage.page.open("clinic")
    fault = min(FIRST.fault_lines())
    puzzle(stage).choose(fault)
    stage.page._actions.run.trigger()
    stage.runner.hear(*events(run))
    drawn(stage)

    assert "1/3" in puzzle(stage).pieces.buttons[FIRST.key].text()
    assert not bars(stage)._scene.is_empty
    assert "5001" in checker(stage)


def test_a_recording_shows_its_remarks_and_nothing_of_it_stays(qtbot, stage, run):
    stage.page.open_run(run.write(stage.folder / "run.coreopsis.jsonl"))
    qtbot.waitUntil(lambda: not stage.page.model.is_reading)
    drawn(stage)

    assert "5001" in checker(stage)
    assert bars(stage)._scene.band.startswith("RECORDED")
    stage.page._actions.live.trigger()
    assert checker(stage) == ""
    assert bars(stage)._scene.is_empty
    assert bars(stage)._scene.band == ""


def test_pictures_and_rows_are_those_of_the_plot(stage, run):
    stage.page.open("clinic")
    stage.page._actions.run.trigger()
    stage.runner.hear(*events(run))
    drawn(stage)
    stage.page.own_actions()

    assert stage.page._panel.views.plot_in_focus() is bars(stage)
    assert stage.page._output._table() == "steps"
    assert "One step of training" in stage.page._actions.copy_picture.text()
    assert "One step of training" in stage.page._actions.save_csv.text()


def test_what_will_be_run_can_be_copied_and_saved(stage):
    stage.page.open("clinic")
    stage.page._actions.code.trigger()
    settle(lambda: bool(stage.page._panel.code._files))
    names = [name for name, _ in stage.page._panel.code._files]

    assert names[0] == "clinic.py"
    for piece in PIECES:
        assert {f"{piece.key}_broken.py", f"{piece.key}_mended.py"} <= set(names)
