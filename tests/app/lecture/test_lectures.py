"""The lectures that come with the program, and those of the user's own."""

from __future__ import annotations

import re

import pytest

from app.lecture.fallbacks import Origin, StandIns, folders
from app.lecture.file import Item, Lecture, encode
from app.lecture.lectures import SHIPPED, is_shipped, lectures, meant
from experiments.core.catalogue import Catalogue
from experiments.core.parameters import from_json, to_json
from experiments.core.teaching.lessons import taught
from experiments.presentation.guesses.questions import questions
from tests.experiments.machines import machine

CATALOGUE = Catalogue()


def test_ours_come_first_and_then_the_users_own(tmp_path):
    folder = tmp_path / "lectures"
    folder.mkdir()
    (folder / "mine.coreopsis-lecture.toml").write_bytes(encode(Lecture(title="Mine")))
    (folder / "broken.coreopsis-lecture.toml").write_text("format = 1")
    (folder / "notes.txt").write_text("")
    *ours, broken, mine = lectures(tmp_path)

    assert ours
    assert all(is_shipped(each.path) and each.lecture is not None for each in ours)
    assert (mine.lecture.title, mine.problem, is_shipped(mine.path)) == ("Mine", None, False)
    assert (broken.lecture, broken.problem.key) == (None, "no_lecture")


def test_a_lecture_is_meant_by_its_path_or_its_name(tmp_path):
    ours = SHIPPED / "ten-things.coreopsis-lecture.toml"

    assert meant("ten-things", tmp_path) == ours
    assert meant(str(ours), tmp_path) == ours
    assert str(meant("n" * 300, tmp_path)) == "n" * 300


def test_nothing_is_written_beside_a_lecture_of_ours(tmp_path):
    (ours, *_) = lectures(tmp_path)

    assert all(tmp_path in folder.parents for folder in folders(ours.path, tmp_path))


@pytest.mark.parametrize("ours", lectures(SHIPPED), ids=lambda each: each.path.name)
def test_each_item_of_ours_runs_anywhere_and_has_lesson_recording_and_notes(ours, tmp_path):
    here = machine()
    for item in ours.lecture.item:
        experiment = CATALOGUE.load(item.experiment)
        usual = to_json(experiment.params_for(here, quick=False))
        from_json(experiment.params, {**usual, **item.set}, here)
        assert item.guess or taught(experiment, CATALOGUE.homes[experiment.id]) is not None
        stand_ins = StandIns(lecture=ours.path, data=tmp_path, catalogue=CATALOGUE)
        found = stand_ins.find(item, experiment)
        assert found.best.origin in (Origin.OWN, Origin.SHIPPED)
        assert not found.faults
        assert not found.is_wanting
        sentences = re.split(r"(?<=[.?]) ", item.notes)
        assert 2 <= len(sentences) <= 3
        assert all(len(sentence.split()) <= 20 for sentence in sentences), item.notes
    asked = {(item.experiment, item.guess) for item in ours.lecture.item}
    assert len(asked) == len(ours.lecture.item)
    assert sum(item.minutes for item in ours.lecture.item) == ours.lecture.minutes


def test_ten_things_are_ten():
    (ten,) = (each for each in lectures(SHIPPED) if each.path.name.startswith("ten-things."))

    assert len(ten.lecture.item) == 10


def test_the_ten_guesses_are_a_lecture_too():
    (ten,) = (each for each in lectures(SHIPPED) if each.path.name.startswith("ten-guesses."))

    assert [item.guess for item in ten.lecture.item] == [each.id for each in questions()]


def test_settings_that_a_shipped_recording_has_not_leave_it_wanting(tmp_path):
    experiment = CATALOGUE.load("amdahl")
    lecture = tmp_path / "x.coreopsis-lecture.toml"
    stand_ins = StandIns(lecture=lecture, data=tmp_path, catalogue=CATALOGUE)
    same, other = (
        stand_ins.find(Item(experiment="amdahl", set=each), experiment)
        for each in ({"problem": "fixed"}, {"problem": "growing"})
    )

    assert (same.best.has_settings, same.is_wanting) == (True, False)
    assert (other.best.has_settings, other.is_wanting) == (False, True)
