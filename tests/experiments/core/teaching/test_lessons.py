from __future__ import annotations

import re
import statistics
from itertools import chain

import pytest
from msgspec.structs import replace

from app.mine import START
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.statistics import CANNOT_TELL
from experiments.core.parameters import from_json, to_json
from experiments.core.shelves import homes
from experiments.core.teaching.lesson_run import Guess, LessonRun, Spot, lesson_run
from experiments.core.teaching.lessons import (
    LIKELY,
    MOST_CODE_LINES,
    Choice,
    Magnitude,
    Marker,
    Rank,
    Sketch,
    Taught,
    taught,
)
from experiments.core.teaching.motion import Pointed, faults
from experiments.engine.recording import sent
from machine.record import names
from tests.experiments.core.teaching.shown import made, recorded
from tests.experiments.machines import machine

HOMES = homes()
ENGLISH = words.load()
WRITTEN = [each for each in Catalogue() if (HOMES[each.id].folder / "lesson.en.toml").exists()]
MOST_WAYS = 12  # values of a column that are ways of doing it, not measurements
LONGEST, USUAL = 26, 14  # words of a sentence: at most, and on average
EXPLAINED = range(60, 121)  # words
MOST_SAID = 16  # words of a sentence below a motion
SENTENCE = re.compile(r"[^.!?:]+[.!?:]")

pytestmark = pytest.mark.parametrize("experiment", WRITTEN, ids=lambda each: each.id)


@pytest.fixture
def lesson(experiment) -> Taught:
    found = taught(experiment, HOMES[experiment.id])
    assert found is not None
    return found


@pytest.fixture
def shown(experiment) -> LessonRun:
    """The run that comes with the experiment, or one that was made."""
    return recorded(experiment)


def guesses(lesson: Taught) -> list[Guess]:
    """Return every option, or the ends and the middle of what can be said."""
    predict = lesson.words.predict
    if isinstance(predict, Choice):
        return [Guess(kind="choice", at=(n,)) for n in range(len(predict.options))]
    if isinstance(predict, Magnitude):
        return [Guess(kind="magnitude", at=(each,)) for each in predict.range]
    if isinstance(predict, Sketch):
        return [Guess(kind="sketch", at=(each,) * len(predict.points)) for each in predict.range]
    if isinstance(predict, Rank):
        order = tuple(range(len(predict.items)))
        return [Guess(kind="rank", at=order), Guess(kind="rank", at=order[::-1])]
    assert isinstance(predict, Marker)
    return [Guess(kind="marker", at=(each,)) for each in predict.range]


def test_every_function_that_the_words_name_is_there(lesson, shown):
    words = lesson.words
    assert isinstance(lesson.call(words.observe.right, shown), Spot)
    for branch in words.explain.branches:
        assert isinstance(lesson.call(branch.when, shown), bool), branch.when
    for goal in words.goals:
        assert isinstance(lesson.call(goal.reached, shown), bool), goal.reached
    right = lesson.right(shown)
    assert right is not None
    if isinstance(words.predict, Choice):
        assert right in range(len(words.predict.options))
    elif isinstance(words.predict, Sketch):
        assert len(right) == len(words.predict.points)
    elif isinstance(words.predict, Rank):
        assert sorted(right) == list(range(len(words.predict.items)))


def test_a_class_can_vote_on_it_and_each_wrong_answer_is_a_belief(lesson, shown):
    vote = lesson.voted_on(None)
    assert isinstance(vote, Choice | Magnitude)
    if isinstance(vote, Choice):
        assert 3 <= len(vote.options) <= 4
        assert lesson.right_vote(shown) in range(len(vote.options))
        assert [bool(option.belief) for option in vote.options].count(False) == 1
    if lesson.words.vote is not None:
        texts = [vote.ask, *(option.text for option in vote.options)]
        assert max(len(text.split()) for text in texts) <= LONGEST
        assert not isinstance(lesson.words.predict, Choice | Magnitude)


def test_what_it_names_of_the_experiment_exists(experiment, lesson):
    views = {view.key for view in experiment.views}
    explain = lesson.words.explain

    drawn = {view.key for view in experiment.plots}
    assert {lesson.words.observe.view, getattr(lesson.words.predict, "view", None)} - {
        None
    } <= drawn
    assert explain.confirm.view in views
    assert explain.transfer.to in HOMES
    assert explain.transfer.to != experiment.id


def test_what_is_to_be_clicked_and_what_is_held_back_is_in_the_plots(experiment, lesson, shown):
    observe = lesson.words.observe
    spot = lesson.call(observe.right, shown)
    (view,) = (view for view in experiment.plots if view.key == observe.view)

    assert {*spot.names, *chain.from_iterable(spot.pairs)} <= labels(view, shown)
    assert spot.names or spot.pairs or spot.low < spot.high
    assert set(lesson.held_back) <= set().union(*(labels(v, shown) for v in experiment.plots))


def labels(view, run: LessonRun) -> set[str]:
    """Return the names of the bars, lines, lanes or pins of a view."""
    parts = ("label", "detail", "series", "lane", "group", "row", "column")
    named = [getattr(view, each, None) for each in parts]
    return {getattr(row, name) for row in run.tables[view.table] for name in named if name}


def test_every_branch_is_reached_by_a_run(experiment, lesson, shown):
    runs = [shown, *made(experiment).values()]
    for branch in lesson.words.explain.branches:
        assert any(lesson.call(branch.when, run) for run in runs), branch.when
        assert not all(lesson.call(branch.when, run) for run in runs), branch.when
    for goal in (each for each in lesson.words.goals if not each.start):
        assert any(lesson.call(goal.reached, run) for run in runs), goal.reached


def test_an_exercise_has_something_to_begin_with(experiment, lesson):
    has_exercise = any(goal.start for goal in lesson.words.goals)
    assert has_exercise == (HOMES[experiment.id].folder / START).is_file()


def test_every_placeholder_is_filled(experiment, lesson, shown):
    for run in (shown, *made(experiment).values()):
        for guess in (None, *guesses(lesson)):
            told = lesson.explain(run, guess)
            assert told is not None
            for text in (told.headline, told.text, *told.beside, told.belief, told.answer,
                         told.confirm, told.why_not_double, told.transfer):  # fmt: skip
                assert "{" not in text, text
                assert "nan" not in text.lower().split(), text


def test_nothing_is_explained_where_nobody_can_tell(lesson, shown):
    assert lesson.explain(replace(shown, message=CANNOT_TELL), None) is None


def test_a_run_without_rows_is_not_explained_and_reaches_nothing(lesson, shown):
    empty = replace(shown, tables=dict.fromkeys(shown.tables, ()), values={}, limits=())

    assert lesson.explain(empty, guesses(lesson)[0]) is None
    assert not any(lesson.call(goal.reached, empty) for goal in lesson.words.goals)


def test_a_branch_in_place_of_the_text_brings_its_own_headline(experiment, lesson, shown):
    runs = made(experiment).values()
    for branch in (each for each in lesson.words.explain.branches if each.headline):
        run = next(run for run in runs if lesson.call(branch.when, run))
        told = lesson.explain(run, guesses(lesson)[0])
        assert told.headline.startswith(branch.headline.partition("{")[0])
        assert told.text.startswith(" ".join(branch.text.split()).partition("{")[0])


def test_its_length_is_that_of_a_lesson(experiment, lesson, shown):
    explain = lesson.words.explain
    for text in (explain.text, *(each.text for each in explain.branches if each.instead)):
        assert len(text.split()) in EXPLAINED, len(text.split())
    assert len(lesson.words.context.split()) <= 32
    assert len(lesson.words.code.strip().splitlines()) <= MOST_CODE_LINES
    assert max(map(len, lesson.words.code.splitlines()), default=0) <= 64
    assert 1 <= len(lesson.words.goals) <= 3
    assert lesson.words.sources


def test_a_run_without_one_of_its_ways_breaks_no_lesson(experiment, lesson, shown):
    params, machine, whole = shown.params, shown.machine, shown.tables
    for table, rows in whole.items():
        for column in names(experiment.tables[table]):
            kinds = {getattr(row, column) for row in rows}
            for left_out in kinds if len(kinds) < MOST_WAYS else ():
                some = [row for row in rows if getattr(row, column) != left_out]
                tables = {**whole, table: some}
                finding = sent(experiment.analyse(params, tables, machine))
                run = lesson_run(params, tables, machine, finding)
                lesson.explain(run, guesses(lesson)[0])
                lesson.judge(guesses(lesson)[0], run)
                lesson.call(lesson.words.observe.right, run)
                for goal in lesson.words.goals:
                    assert isinstance(lesson.call(goal.reached, run), bool)


@pytest.mark.parametrize("cores", [1, 2, 4, 16])
def test_it_asks_and_answers_on_a_small_and_on_a_large_machine(experiment, lesson, shown, cores):
    """With the run that its recording shows, as this machine would have set it."""
    here = machine(cores=cores)
    predict = lesson.predict_on(here)
    if isinstance(predict, Magnitude | Marker | Sketch):
        assert 0 < predict.range[0] < predict.range[1]
    params = to_json(experiment.params_for(here, quick=False))
    if experiment.next is not None:
        from_json(experiment.params, {**params, **experiment.next.changes(params)})
    run = replace(shown, machine=here)
    explained = lesson.explain(run, guesses(lesson)[0])
    assert explained is not None
    assert "{" not in " ".join((explained.headline, explained.text, *explained.beside))
    for goal in lesson.words.goals:
        assert isinstance(lesson.call(goal.reached, run), bool)


def test_its_drawing_has_words_for_each_label_and_stays_in_its_frame(lesson):
    diagram, said = lesson.diagram, lesson.words.diagram
    assert diagram is not None
    assert set(diagram.labels) == said.keys() - {"about"}
    assert said["about"].endswith(".")
    width, height = diagram.size
    for shape in diagram.shapes:
        x, y = getattr(shape, "size", (0, 0))
        points = getattr(shape, "points", None) or [shape.at, (shape.at[0] + x, shape.at[1] + y)]
        assert all(0 <= at[0] <= width and 0 <= at[1] <= height for at in points), shape


def test_its_sentences_are_short(lesson, shown):
    words, told = lesson.words, lesson.explain(shown, guesses(lesson)[0])
    texts = [words.context, words.predict.ask, words.observe.ask, words.observe.hint, told.headline]
    texts += [told.text, *(" ".join(each.text.split()) for each in words.explain.branches)]
    texts += [each.headline for each in words.explain.branches if each.headline]
    texts += [told.belief, told.answer, told.confirm, told.why_not_double, told.transfer]
    texts += [each.goal for each in words.goals]
    lengths = [len(each.split()) for text in texts for each in SENTENCE.findall(text)]

    assert max(lengths) <= LONGEST
    assert statistics.fmean(lengths) <= USUAL


def test_a_guess_is_judged_by_what_was_measured(lesson, shown):
    predict, right = lesson.words.predict, lesson.right(shown)
    if isinstance(predict, Choice):
        marks = [lesson.judge(guess, shown) for guess in guesses(lesson)]
        assert [mark is not None and mark.is_right for mark in marks].count(True) == 1
        assert marks[right].is_right
    elif isinstance(predict, Magnitude | Marker):
        assert lesson.judge(Guess(kind=lesson.kind, at=(right,)), shown).is_sharp
        missed = lesson.judge(Guess(kind=lesson.kind, at=(right * LIKELY * 2,)), shown)
        assert not missed.is_right
        assert missed.off == pytest.approx(1 / (LIKELY * 2))
    elif isinstance(predict, Sketch):
        assert lesson.judge(Guess(kind="sketch", at=tuple(right)), shown).is_sharp
        missed = lesson.judge(Guess(kind="sketch", at=(right[0] / 40, *right[1:])), shown)
        assert (missed.is_right, missed.off) == (False, pytest.approx(40.0))
    else:
        assert lesson.judge(Guess(kind="rank", at=tuple(right)), shown).is_right
        swapped = (right[1], right[0], *right[2:])
        missed = lesson.judge(Guess(kind="rank", at=swapped), shown)
        assert (missed.is_right, missed.in_place) == (False, len(right) - 2)


def test_what_was_measured_is_told_in_the_words_of_a_guess(lesson, shown):
    right = lesson.right(shown)
    told = lesson.told_right(shown)
    if right is None:
        assert told == ""
    elif lesson.kind == "sketch":
        assert len(told.split(", ")) == len(right)
    else:
        at = tuple(right) if lesson.kind == "rank" else (right,)
        assert told == lesson.told(Guess(kind=lesson.kind, at=tuple(map(float, at))))


def test_its_motion_can_be_played_and_has_words(experiment, lesson, shown):
    """Also where it points elsewhere, and with runs that show something else."""
    runs = [shown, *made(experiment).values()]
    pointed = [None, *(Pointed(view=view.key, at=1.0) for view in experiment.plots)]
    texts = lesson.words.motion
    moved = [lesson.motion(run, place) for run in runs for place in pointed]
    for motion in filter(None, moved):
        assert [*faults(motion, lesson.diagram, texts.keys())] == []
    assert bool(texts) == any(motion is not None for motion in moved)
    if texts:
        assert lesson.motion(shown) is not None
        assert "title" in texts
        assert max(len(each.split()) for each in texts.values()) <= MOST_SAID
        assert not any("{" in each.replace("{n}", "") for each in filled(lesson, shown))


def filled(lesson: Taught, run: LessonRun) -> list[str]:
    """Return the texts of a motion with the numbers of a run."""
    return [*lesson.motion_texts(run).values()]
