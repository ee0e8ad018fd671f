"""A lesson from its question to the last goal, by keyboard only, with runs that come with it."""

from __future__ import annotations

import re
from html import unescape

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from app.runs.run_notes import RunNotes, notes_path, read_notes
from app.window.core.availability import suited
from app.window.lesson.model import LessonModel
from app.window.lesson.plots import is_in
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.disturbed import MOSTLY_DISTURBED
from experiments.core.judging.trust import Trust
from experiments.core.shelves import homes
from experiments.core.teaching import lessons
from experiments.core.teaching.lesson_run import Guess, Spot
from experiments.core.teaching.lessons import taught
from experiments.engine.messages import Outcome, Row, encode
from experiments.engine.recording import read
from experiments.presentation.paths import paths
from tests.app.recordings import Made, made
from tests.app.window.stage import Stage, found, live_s, settle
from tests.experiments.core.teaching.shown import made as made_runs
from widgets.experiment.header import Header
from widgets.lesson.go_on import GoOn
from widgets.lesson.goals import Goals
from widgets.lesson.prediction_input import PredictionInput
from widgets.lesson.step_bar import StepBar
from widgets.lesson.steps import Step
from widgets.plots.plot import Plot

Key = Qt.Key
ENGLISH = words.load()
CATALOGUE, HOMES = Catalogue(), homes()
LESSONS = [
    pytest.param(each.id, marks=[pytest.mark.torch] if "torch" in each.imports else [])
    for each in CATALOGUE
    if taught(each, HOMES[each.id]) is not None and HOMES[each.id].recording is not None
]


@pytest.fixture
def stage(look, tmp_path):
    """The page of an experiment, on which lessons are stage."""
    stage = Stage(look, tmp_path, numbers=False)
    stage.page.resize(1280, 800)
    stage.page.show()
    stage.page.arrive()
    stage.know_machine()
    yield stage
    stage.close()


def lesson_of(stage: Stage) -> LessonModel:
    return stage.page.lesson.model


def press(qtbot, *keys: Key) -> None:
    """Press keys where the keyboard is."""
    for key in keys:
        qtbot.keyClick(QApplication.focusWidget(), key)


def letter(qtbot, stage: Stage, key: Key) -> None:
    """Press a single letter while the page has the keyboard, as a shortcut."""
    qtbot.keyClick(stage.page, key)


def measure(stage: Stage, id_: str, share: float = 1.0) -> None:
    """Let the run that is under way say what the shipped one says, and end."""
    path = HOMES[id_].recording
    assert path is not None
    recording = read(path)
    stage.runner.hear(recording.started, *recording.events)
    if share == 1.0:
        stage.runner.hear(recording.finished)


def plain(text: str) -> str:
    return " ".join(text.replace("\N{WORD JOINER}", "").split())


def said(stage: Stage) -> str:
    """Return every word in sight, without the marks that keep numbers and units together."""
    labels = (each for each in stage.page.findChildren(QLabel) if each.isVisible())
    return plain(" ".join(re.sub(r"<[^>]+>", "", unescape(each.text())) for each in labels))


def answer(qtbot, stage: Stage) -> None:
    """Give any prediction with the keyboard."""
    kind = lesson_of(stage).taught.kind
    if kind == "choice":
        press(qtbot, Key.Key_B)
    elif kind == "rank":
        press(qtbot, Key.Key_Space, Key.Key_Down, Key.Key_Space)
    elif kind == "sketch":
        assert isinstance(QApplication.focusWidget(), Plot)
        press(qtbot, Key.Key_Right, Key.Key_Up, Key.Key_Up)
    else:
        press(qtbot, Key.Key_Right, Key.Key_Right)


def test_a_live_picture_is_shown_only_while_it_measures(qtbot, stage):
    stage.page.open("matrix-order")
    lesson = lesson_of(stage)
    settle(lambda: lesson.taught is not None and lesson.step is Step.QUESTION)
    lesson.answer(None)
    letter(qtbot, stage, Key.Key_F5)
    assert lesson.step is Step.RUN
    shown = {key for key, plot in stage.views.keyed_plots().items() if plot.isVisible()}
    assert shown == {"swapped", "picture"}
    measure(stage, "matrix-order")
    assert lesson.step is Step.OBSERVE
    assert not stage.views.keyed_plots()["picture"].isVisible()


@pytest.mark.parametrize("id_", LESSONS)
def test_all_six_steps_by_keyboard_only(qtbot, stage, id_):
    stage.page.open(id_)
    lesson = lesson_of(stage)
    settle(lambda: lesson.taught is not None and lesson.step is Step.QUESTION)
    assert lesson.reachable == {Step.QUESTION, Step.PREDICT}

    press(qtbot, Key.Key_Return)
    assert lesson.step is Step.PREDICT
    assert lesson.guess is None
    answer(qtbot, stage)
    made = stage.page.findChildren(PredictionInput)[-1]
    assert made.at() is not None
    predicted = made.at()
    letter(qtbot, stage, Key.Key_F5)
    if stage.session.entries[id_].need is None:
        assert lesson.step is Step.RUN
        measure(stage, id_)
    else:  # its recording plays in place of a run
        settle(lambda: stage.page.model.player is not None)
        stage.do.live.trigger()
    assert lesson.guess is not None
    assert lesson.guess.at == predicted
    assert lesson.step is Step.OBSERVE
    assert Step.EXPLAIN not in lesson.reachable

    settle(lambda: isinstance(QApplication.focusWidget(), Plot))  # not "I cannot see it"
    settle(lambda: not stage.drawing.isActive())
    spot = lesson.taught.call(lesson.taught.words.observe.right, lesson.run)
    plot = stage.views.keyed_plots()[lesson.taught.words.observe.view]
    plot.setFocus()
    press(qtbot, Key.Key_Right, Key.Key_Return)
    for _ in range(2):  # a wrong one is asked once more, and then shown
        if not lesson.has_observed:
            press(qtbot, Key.Key_Right, Key.Key_Return)
    assert spot is not None
    assert lesson.has_observed

    letter(qtbot, stage, Key.Key_E)
    assert lesson.step is Step.EXPLAIN
    told = lesson.evidence.explained
    assert plain(told.headline) in said(stage)
    assert plain(told.why_not_double) in said(stage)

    letter(qtbot, stage, Key.Key_T)
    assert lesson.step is Step.TRY
    assert found(stage.page, Goals).isVisible()


def test_until_it_is_predicted_or_skipped_an_earlier_result_stays_covered(qtbot, stage, tmp_path):
    from tests.app.recordings import burst

    stage.keep(burst())
    stage.page.open("burst-random")
    lesson = lesson_of(stage)
    assert lesson.is_covered
    assert stage.page.model.run_state is None
    assert not stage.do.data.isEnabled()

    press(qtbot, Key.Key_Tab, Key.Key_Return)  # Skip, beside Predict

    settle(lambda: stage.page.model.run_state is not None)
    assert not lesson.is_covered
    assert lesson.step in (Step.EXPLAIN, Step.RUN)
    (path,) = (tmp_path / "data" / "runs").glob("*.jsonl")
    settle(lambda: read_notes(path).skipped or lesson.run is None)


def test_a_question_that_is_asked_again_covers_what_was_found_and_takes_a_new_answer(stage):
    from tests.app.recordings import burst

    (path,) = stage.keep(burst())
    guess = Guess(kind="magnitude", at=(1000.0,), sure=3)
    notes_path(path).write_bytes(msgspec.json.encode(RunNotes(guess=guess)))
    stage.use_runs()
    stage.page.open("burst-random")
    lesson = lesson_of(stage)
    settle(lambda: stage.page.model.run_state is not None)
    assert lesson.guess == guess

    stage.page.open("burst-random", then="ask")

    assert lesson.step is Step.QUESTION
    assert lesson.is_covered
    assert lesson.guess is None
    assert stage.page.model.run_state is None
    lesson.go(Step.PREDICT)
    found(stage.page, PredictionInput).set_at((20.0,))
    stage.do.run.trigger()
    assert lesson.guess is not None
    assert lesson.guess.at == (20.0,)
    assert not lesson.is_covered


def test_one_key_turns_lessons_into_numbers_and_back(qtbot, stage):
    stage.page.open("gil-threads")
    bar = found(stage.page, StepBar)
    assert bar.isVisible()

    letter(qtbot, stage, Key.Key_N)
    assert not bar.isVisible()
    assert stage.session.settings.numbers
    assert stage.do.plot.isChecked()

    letter(qtbot, stage, Key.Key_N)
    assert bar.isVisible()
    assert not stage.session.settings.numbers


@pytest.mark.torch  # of activations
def test_without_a_lesson_there_are_question_run_and_result(stage):
    stage.page.open("activations")  # a follow-up
    lesson = lesson_of(stage)

    assert lesson.taught is None
    assert lesson.steps == (Step.QUESTION, Step.RUN, Step.RESULT)
    assert not lesson.is_covered
    stage.do.run.trigger()
    assert lesson.step is Step.RUN
    measure(stage, "activations")
    assert lesson.step is Step.RESULT


def test_on_a_path_each_lesson_counts_and_leads_to_the_next_but_the_last(stage):
    gone, chip = [], stage.page.lesson.on_path
    stage.session.went.connect(lambda target: gone.append(target.experiment))
    stage.page.open("race")
    assert not chip.isVisible()
    path = paths()["all_cores"]
    stage.session.settings = stage.session.settings.replace(path=path.id)

    for number, name in enumerate(path.experiments, start=1):
        stage.page.open(name)
        assert chip.isVisible()
        assert chip.text().startswith(f"{number} of {len(path.experiments)}")
        chip.click()
    assert gone == list(path.experiments[1:])
    stage.page.open("stream")
    assert not chip.isVisible()


@pytest.mark.torch  # of clinic
def test_try_leads_to_the_follow_ups_and_a_follow_up_back_to_its_lesson(stage):
    follow_ups = CATALOGUE.follow_ups("clinic")
    assert follow_ups
    gone = []
    stage.session.went.connect(lambda target: gone.append(target.experiment))
    stage.page.open("clinic")
    go_on = found(stage.page, GoOn)
    assert not go_on.isVisible()
    stage.do.run.trigger()
    measure(stage, "clinic")
    lesson = lesson_of(stage)
    lesson.observe()
    lesson.go(Step.TRY)

    assert go_on.isVisible()
    for link in go_on.findChildren(QPushButton):
        link.click()
    assert gone == list(follow_ups)

    for name in follow_ups:
        stage.page.open(name)
        back = ENGLISH.say("clinic.question")
        (crumb,) = [
            each
            for each in found(stage.page, Header).findChildren(QPushButton)
            if back in each.text() and each.isVisible()
        ]
        crumb.click()
        assert gone[-1] == "clinic"
    stage.page.open("stream")
    assert not crumb.isVisible()


@pytest.mark.parametrize(("busy_fraction", "is_reached"), [(0.5, False), (0.97, True)])
def test_an_exercise_is_reached_by_a_copy_beside_its_original_alone(
    stage, tmp_path, busy_fraction, is_reached
):
    recording = read(HOMES["uneven"].recording)
    paths = []
    for run, busy in ((recording.started.run, None), ("the-copy", busy_fraction)):
        started = msgspec.structs.replace(
            recording.started, run=run, pair=recording.started.run, at="2026-05-04T03:02:01+00:00"
        )
        events = [
            msgspec.structs.replace(each, row={**each.row, "efficiency_fraction": busy})
            if busy and isinstance(each, Row) and each.row.get("way") == "block"
            and "efficiency_fraction" in each.row else each
            for each in recording.events
        ]  # fmt: skip
        lines = tuple(map(encode, (started, *events, recording.finished)))
        paths.append(Made(run, lines).write(tmp_path / f"{run}.coreopsis.jsonl"))
    stage.page.open("uneven")
    place = next(n for n, goal in enumerate(lesson_of(stage).taught.words.goals) if goal.start)

    stage.page.model.comparing.begin(paths[1], paths[0])
    settle(lambda: stage.page.model.comparing.is_on)

    assert lesson_of(stage).reached[place] is is_reached
    stage.page.model.comparing.end()
    stage.page.open("race")
    assert not any(lesson_of(stage).reached)


def test_who_runs_without_a_prediction_skips_it(stage):
    stage.page.open("gil-threads")
    stage.do.run.trigger()

    lesson = lesson_of(stage)
    assert lesson.is_answered
    assert lesson.guess is None
    measure(stage, "gil-threads")
    assert lesson.step is Step.OBSERVE


def test_a_run_among_numbers_is_no_answer_and_is_covered_again(qtbot, stage):
    stage.page.open("gil-threads")
    letter(qtbot, stage, Key.Key_N)
    stage.do.run.trigger()
    measure(stage, "gil-threads")
    assert stage.page.model.run_state is not None

    letter(qtbot, stage, Key.Key_N)

    assert lesson_of(stage).step is Step.QUESTION
    assert stage.page.model.run_state is None


def test_what_surprises_is_shown_last(qtbot, stage):
    stage.page.open("race")
    stage.do.run.trigger()
    measure(stage, "race", share=0.5)
    settle(lambda: not stage.drawing.isActive())
    plot = stage.views.plots[0]
    (held,) = lesson_of(stage).taught.held_back
    before = plot.summary()

    recording = read(homes()["race"].recording)
    stage.runner.hear(recording.finished)
    settle(lambda: not stage.drawing.isActive())

    name = ENGLISH.say(f"race.choices.{held}")
    assert name not in before
    assert name in plot.summary()


def explain_at_once(stage: Stage, id_: str) -> LessonModel:
    """Run an experiment whose question was answered and whose plot was looked at before."""
    stage.page.open(id_)
    lesson = lesson_of(stage)
    lesson.answer(None)
    lesson.observe()
    stage.do.run.trigger()
    settle(lambda: not stage.drawing.isActive())
    measure(stage, id_)
    assert lesson.step is Step.EXPLAIN
    return lesson


def test_the_words_of_an_explanation_come_before_plots_and_result_in_short(stage):
    lesson = explain_at_once(stage, "gil-threads")
    confirming = stage.views.keyed_plots()[lesson.taught.words.explain.confirm.view]

    assert plain(lesson.evidence.explained.headline) in said(stage)
    assert ENGLISH.say("lesson.in_short") not in said(stage)
    assert confirming.isHidden()
    settle(lambda: ENGLISH.say("lesson.in_short") in said(stage))
    assert plain(stage.page.model.report().because) in said(stage)
    assert confirming.isVisible()


def test_of_an_explanation_that_is_left_at_once_nothing_follows(stage):
    lesson = explain_at_once(stage, "gil-threads")
    lesson.go(Step.TRY)

    live_s(0.05)
    assert not any(plot.isHidden() for plot in stage.plots)
    lesson.go(Step.EXPLAIN)
    settle(lambda: any(plot.isHidden() for plot in stage.plots))


def test_the_quick_run_is_offered_first_and_a_sketch_stays_while_it_draws(qtbot, stage):
    stage.page.open("cache-ladder")
    lesson = lesson_of(stage)
    settle(lambda: lesson.taught is not None)
    letter(qtbot, stage, Key.Key_P)
    answer(qtbot, stage)
    offered = [each for each in stage.page.findChildren(QPushButton) if each.isVisible()]
    texts = [plain(each.text()) for each in offered if each.property("role") in ("main", "plain")]
    quick, full = (plain(do.text()) for do in (stage.do.quick, stage.do.run))
    first, second = (next(t for t in texts if t.startswith(f"{name} ")) for name in (quick, full))
    assert texts.index(first) < texts.index(second)

    letter(qtbot, stage, Key.Key_F5)
    measure(stage, "cache-ladder", share=0.5)
    assert lesson.step is Step.RUN
    assert stage.views.keyed_plots()[lesson.taught.words.predict.view].chart.guess is not None


def test_a_disturbed_run_is_explained_with_the_recording_and_offers_another_one(qtbot, stage):
    stage.page.open("race")
    lesson = lesson_of(stage)
    lesson.answer(Guess(kind=lesson.taught.kind, at=(0.0,), sure=3))
    settle(lambda: lesson.recorded.of(stage.page.model.experiment) is not None)
    stage.do.run.trigger()
    measure(stage, "race", share=0.5)
    finished = read(HOMES["race"].recording).finished
    disturbed = msgspec.structs.replace(finished.finding, trust=Trust.DISTURBED)
    stage.runner.hear(msgspec.structs.replace(finished, finding=disturbed))

    settle(lambda: lesson.step is Step.EXPLAIN)
    assert Step.OBSERVE not in lesson.reachable
    shown = said(stage)
    assert plain(ENGLISH.say("lesson.recording_explains")) in shown
    assert "RECORDED" in shown
    assert ENGLISH.say("lesson.you_predicted") in shown
    assert lesson.taught.told(lesson.guess) in shown
    assert plain(lesson.evidence.explained.text)[:40] in shown
    assert ENGLISH.say("lesson.cannot_tell") not in shown
    offered = [each.text() for each in stage.page.findChildren(QPushButton) if each.isVisible()]
    assert any(plain(stage.do.run.text()) in plain(text) for text in offered)


def test_a_run_that_explains_nothing_offers_another_one(qtbot, stage):
    stage.page.open("race")
    lesson_of(stage).answer(None)
    stage.do.run.trigger()
    measure(stage, "race", share=0.5)
    finished = read(HOMES["race"].recording).finished
    busy = msgspec.structs.replace(finished.finding, trust=Trust.BUSY)
    stopped = msgspec.structs.replace(finished, outcome=Outcome.STOPPED, finding=busy)
    stage.runner.hear(stopped)
    letter(qtbot, stage, Key.Key_E)

    live_s(0.05)
    assert ENGLISH.say("lesson.cannot_tell") in said(stage)
    assert plain(ENGLISH.say(f"stands.{MOSTLY_DISTURBED}")) not in said(stage)
    assert ENGLISH.say("lesson.in_short") not in said(stage)
    assert stage.page.lesson.focus()
    assert plain(QApplication.focusWidget().text()) == plain(stage.do.run.text())


def test_an_experiment_of_ones_own_runs_none_of_its_code_here(stage, monkeypatch):
    monkeypatch.setattr(lessons, "taught", lambda *_: pytest.fail("was loaded"))
    experiment = type(CATALOGUE.load("gil-threads"))
    monkeypatch.setattr(experiment, "is_own", property(lambda _self: True))
    stage.page.open("gil-threads")

    assert lesson_of(stage).taught is None
    assert lesson_of(stage).steps == (Step.QUESTION, Step.RUN, Step.RESULT)


def test_nothing_is_the_right_place_where_none_is_known():
    assert not is_in(Spot(), "threads", 1.0)
    assert is_in(Spot(names=("threads",)), "threads", float("nan"))
    assert is_in(Spot(low=1.0), "", 1.0)
    assert not is_in(Spot(low=1.0), "", 0.5)
    assert is_in(Spot(pairs=(("0", "1"),)), "0", 1.0, "1")
    assert not is_in(Spot(pairs=(("0", "1"),)), "1", 0.0, "0")


@pytest.mark.parametrize("is_late", [False, True])
def test_nobody_is_asked_what_can_neither_be_measured_nor_shown(stage, is_late):
    """Cores with one hardware thread, and no recording: one sentence, and no empty plot."""
    if is_late:
        stage.use_entries({})
    stage.page.open("smt")
    stage.know_machine()

    settle(lambda: ENGLISH.say("page.no_recording") in said(stage))
    lesson = lesson_of(stage)
    assert lesson.taught is None
    assert not lesson.is_covered
    assert ENGLISH.say("problems.needs_smt") in said(stage)
    assert not [plot for plot in stage.plots if plot.isVisible()]


def test_who_has_two_threads_on_a_core_is_taught_by_an_own_run(stage):
    run = made_runs(CATALOGUE.load("smt"))["usual"]
    stage.know_machine()
    here = run.machine
    stage.session.machine = here
    stage.session.machine_changed.emit()
    stage.use_entries(suited(CATALOGUE, here, {}))
    stage.page.open("smt")
    lesson = lesson_of(stage)
    settle(lambda: lesson.taught is not None)
    lesson.answer(Guess(kind="magnitude", at=(2.0,)))
    stage.do.run.trigger()
    stage.runner.hear(*(each for each, _ in made("smt", run.params, run.tables["shares"],
                                                 here=here).events()))  # fmt: skip

    assert lesson.step is Step.OBSERVE
    lesson.observe()
    lesson.go(Step.EXPLAIN)
    assert plain(lesson.evidence.explained.headline) in said(stage)
