from __future__ import annotations

import msgspec
import pytest

from app.runs.collage import band, gather, sentences
from app.runs.owner_note import Told, retold
from app.runs.run_notes import RunNotes, notes_path
from experiments.core.catalogue import Catalogue
from experiments.core.teaching.lesson_run import Guess
from tests.app.recordings import activations, burst, ladder, threads

CATALOGUE = Catalogue()
MEASURED = 20.0  # how many times longer the shuffled order takes in `burst`


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


class Files:
    """Run files with predictions in them."""

    def __init__(self, folder):
        self.folder, self.paths = folder, []

    def add(self, made, at=None, kind="magnitude", name="", more=b""):
        guess = None if at is None else Guess(kind=kind, at=(float(at),))
        data = retold(made.data, Told(guess=guess, name=name)) + more
        path = self.folder / f"{len(self.paths)}.coreopsis.jsonl"
        path.write_bytes(data)
        self.paths.append(path)
        return path

    def gather(self, mine=()):
        return gather(self.paths, CATALOGUE, mine)

    def collage(self, **more):
        (collage,) = self.gather(**more).collages.values()
        return collage


def main(collage):
    return sentences(collage, {})[0]


def test_most_guesses_are_held_against_what_their_machine_measured(files):
    for guess in (1, 2, 5, 15, 400):
        files.add(burst(), guess)
    collage = files.collage()

    assert [each.right for each in collage.results] == pytest.approx([MEASURED] * 5)
    key, values = main(collage)
    assert (key, values) == ("collage.low", {"of_them": 3, "count": 5, "times": "10"})
    assert band(collage) == pytest.approx((MEASURED, MEASURED))


@pytest.mark.parametrize(
    ("guesses", "key", "of_them", "times"),
    [
        ((200, 400, 25), "collage.high", 2, "15"),
        ((20, 30, 1), "collage.close", 2, "2"),
        ((2,), "collage.low", 1, "10"),
        ((200,), "collage.high", 1, "10"),
        ((21,), "collage.close", 1, "2"),
    ],
)
def test_the_sentence_names_the_largest_group(files, guesses, key, of_them, times):
    for guess in guesses:
        files.add(burst(), guess)
    told, values = main(files.collage())
    assert (told, values["of_them"], values["times"]) == (key, of_them, times)


def test_a_prediction_may_stand_in_the_notes_beside_a_file(files):
    path = files.add(burst())
    notes = RunNotes(name="Ana", guess=Guess(kind="magnitude", at=(3.0,)))
    notes_path(path).write_bytes(msgspec.json.encode(notes))
    (result,) = files.collage().guessed
    assert (result.name, result.guess.at) == ("Ana", (3.0,))


def test_what_cannot_count_is_left_out_and_told_why(files):
    good = burst()
    files.add(good, 5)
    files.add(good)
    files.add(burst(outcome="stopped"), 5)
    files.add(burst(change=lambda s: msgspec.structs.replace(s, experiment_version=99)), 5)
    files.add(burst(change=lambda s: msgspec.structs.replace(s, experiment="unheard-of")), 5)
    altered = files.add(burst(), 5)
    altered.write_bytes(altered.read_bytes().replace(b'"repeat":4', b'"repeat":5', 1))
    (files.folder / "bad").write_bytes(b"\x00nonsense\n")
    files.paths += [files.folder / "bad", files.folder / "missing"]
    gathered = files.gather()

    (collage,) = gathered.collages.values()
    assert [each.run for each in collage.results] == [good.run]
    assert collage.left == {
        f"collage.reasons.{why}": 1
        for why in ("twice", "not_completed", "other_version", "altered")
    }
    assert gathered.left == {
        "collage.reasons.unknown_experiment": 1,
        "collage.reasons.unreadable": 2,
    }
    told = [key for key, _ in sentences(collage, gathered.left)]
    assert told == ["collage.low", *["collage.left"] * 6]


def test_of_the_same_run_twice_the_copy_with_a_prediction_counts(files):
    made = burst()
    files.add(made)
    files.add(made, 7, name="Ana")
    (result,) = files.collage().results
    assert (result.guess.at, result.name) == ((7.0,), "Ana")


def test_runs_without_a_prediction_are_told(files):
    files.add(burst(), 5)
    files.add(burst())
    assert ("collage.without", {"count": 1}) in sentences(files.collage(), {})
    alone = Files(files.folder / "..")
    alone.paths = files.paths[1:]
    assert main(alone.collage())[0] == "collage.no_prediction"


def test_a_prediction_that_answers_another_question_is_none(files):
    files.add(burst(), 2, kind="choice")
    files.add(burst(), -3)
    assert files.collage().guessed == []


def test_a_choice_is_right_where_the_machine_showed_it(files):
    for choice in (0, 2, 2, 3):
        files.add(threads(), choice, kind="choice")
    collage = files.collage()
    assert {each.right for each in collage.results} == {2}
    assert main(collage) == ("collage.right", {"right": 2, "count": 4})
    assert band(collage) is None


@pytest.mark.parametrize(("made", "key"), [(ladder, "other_kind"), (activations, "")])
def test_without_a_question_that_it_can_show_the_machines_stay(files, made, key):
    files.add(made())
    collage = files.collage()
    assert main(collage)[0] == f"collage.{key or 'no_question'}"
    assert collage.axes() is not None


def test_the_axes_are_the_key_numbers_that_most_machines_have(files):
    files.add(burst())
    assert files.collage().axes() == ("random_s", "sequential_s")
    files.add(ladder(reaches=2**16))
    short = files.gather().collages["cache-ladder"]
    x, y = short.axes()
    assert {x, y} <= short.results[0].values.keys()


def test_the_newest_of_my_runs_is_mine(files):
    old = burst(at="2026-05-01T00:00:00+00:00")
    new = burst(at="2026-05-02T00:00:00+00:00")
    theirs = burst(at="2026-05-03T00:00:00+00:00")
    files.add(old, 9)
    files.add(new)
    files.add(theirs, 4)
    collage = files.collage(mine={old.run, new.run})
    assert collage.here.run == new.run
    assert collage.yours.run == old.run
    assert files.collage().here is None


@pytest.mark.parametrize(
    "change",
    [
        lambda s: msgspec.structs.replace(s, machine={}),
        lambda s: msgspec.structs.replace(s, machine={"cpu": 3, "fingerprint": ["x"]}),
        lambda s: msgspec.structs.replace(s, params={"rounds": "many"}),
    ],
)
def test_a_file_of_a_stranger_judges_nobody_and_ends_nothing(files, change):
    files.add(threads(change=change), 2, kind="choice", name="a\nb\u202e" + "x" * 99)
    files.add(threads(), 2, kind="choice")
    collage = files.collage()
    assert main(collage) == ("collage.one_right", {})
    assert ("collage.unjudged", {"count": 1}) in sentences(collage, {})
    name = collage.results[0].name
    assert "\n" not in name
    assert "\u202e" not in name
    assert len(name) < 70


def test_a_lesson_that_fails_on_a_file_judges_nobody_and_ends_nothing(files, monkeypatch, caplog):
    files.add(threads(), 2, kind="choice")
    monkeypatch.setattr(
        "experiments.python_at_work.gil_threads.lesson.nearest_option", lambda run: 1 / 0
    )
    assert main(files.collage())[0] == "collage.none_judged"
    assert "ZeroDivisionError" in caplog.text


def test_each_experiment_has_a_collage_of_its_own_the_largest_first(files):
    files.add(ladder())
    files.add(burst(), 3)
    files.add(burst(), 4)
    assert list(files.gather().collages) == ["burst-random", "cache-ladder"]
