from __future__ import annotations

import pytest

from app import own_experiments
from app.mine import (
    COMMENT,
    START,
    free_name,
    is_copy,
    make_mine,
    original_of,
    start_of,
)
from app.source import sources
from experiments import yours
from experiments.core.catalogue import Catalogue
from experiments.core.measured_loop import measured_loop
from experiments.core.origin import NAME, Origin, origin_of
from experiments.core.problems import UserError
from experiments.core.shelves import homes

OURS = Catalogue()
SOME = ("ilp", "cache-ladder", "start-cost", "clinic", "uneven")  # of each way to hold a loop


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(yours, "__path__", [])
    own_experiments.use_folders(tmp_path, [])
    return tmp_path


def made(data, name, **how):
    return make_mine(OURS, name, f"my-{name}", data, **how)


def catalogue() -> Catalogue:
    found = Catalogue(refuse=own_experiments.refusals)
    found.look_again(own_experiments.own_homes(), {})
    return found


@pytest.mark.parametrize("name", SOME)
def test_a_copy_is_an_experiment_of_its_own_whose_loop_lies_in_its_folder(data, name):
    folder = made(data, name)

    assert own_experiments.refusals(own_experiments.own_homes()) == {}
    copy, original = catalogue().load(f"my-{name}"), OURS.load(name)
    assert copy.is_own
    assert copy.version == original.version
    assert copy.tables.keys() == original.tables.keys()
    loop = measured_loop(copy.loop, sources(copy))
    assert loop is not None
    lines = (folder / loop.file).read_text().splitlines()
    assert lines[loop.first - 2].strip() == COMMENT
    assert loop.text == measured_loop(original.loop, sources(original)).text


@pytest.mark.slow
def test_every_experiment_can_be_copied(data):
    for name in OURS.ids():
        made(data, name)

    assert own_experiments.refusals(own_experiments.own_homes()) == {}
    for name in OURS.ids():
        copy = catalogue().load(f"my-{name}")
        loop = measured_loop(copy.loop, sources(copy))
        assert (homes()[copy.id].folder / loop.file).read_text().count(COMMENT) == 1


def test_what_leads_to_a_shared_loop_comes_along_and_calls_the_copy(data):
    folder = made(data, "cache-ladder")
    texts = {path.name: path.read_text() for path in folder.glob("*.py")}

    assert {"chains.py", "chasing.py"} <= texts.keys()
    assert "from .chains import" in texts["chasing.py"]
    assert not any("experiments.kernels.chains" in text for text in texts.values())


def test_neither_recording_nor_lesson_are_copied_and_the_question_names_the_copy(data):
    folder = made(data, "race")
    names = {path.name for path in folder.iterdir()}

    assert not names & {"recording.jsonl.gz", "lesson.py", "lesson.en.toml", "diagram.toml", START}
    text = (folder / "words.en.toml").read_text()
    assert "· my-race" in next(line for line in text.splitlines() if line.startswith("question"))
    assert origin_of(folder) == Origin(original="race", version=OURS.load("race").version)
    assert original_of(catalogue(), "my-race") == "race"
    assert is_copy(catalogue(), "my-race")
    assert not is_copy(catalogue(), "race")


@pytest.mark.parametrize(
    ("name", "key"),
    [("../x", "own_name"), ("", "own_name"), ("1x", "own_name"), ("a b", "own_name"),
     ("race", "own_id_taken"), ("stream", "own_id_taken")],
)  # fmt: skip
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(data, name, key):
    with pytest.raises(UserError) as refused:
        make_mine(OURS, "race", name, data)

    assert refused.value.problem.key == key
    assert not any(data.rglob("*.py"))


def test_a_second_copy_gets_another_name_and_never_writes_over_the_first(data):
    assert free_name("race") == "my-race"
    folder = made(data, "race")
    (folder / "experiment.py").write_text("changed")

    assert free_name("race") == "my-race-2"
    with pytest.raises(UserError) as refused:
        made(data, "race")
    assert refused.value.problem.key in ("own_id_taken", "own_there")
    assert (folder / "experiment.py").read_text() == "changed"


def test_a_folder_that_cannot_be_written_leaves_nothing(data, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.rename", fails)
    with pytest.raises(UserError) as refused:
        made(data, "race")

    assert refused.value.problem.key == "own_not_written"
    assert [*(data / "experiments").iterdir()] == []


def test_a_copy_of_a_copy_is_refused(data):
    made(data, "race")
    with pytest.raises(UserError) as refused:
        make_mine(catalogue(), "my-race", "again", data)
    assert refused.value.problem.key == "mine_of_own"


@pytest.mark.parametrize("text", ["", "original = 1", "version = 1", "a = 'b'", "x", "\x00"])
def test_where_a_copy_comes_from_is_read_strictly(data, text):
    folder = made(data, "race")
    (folder / NAME).write_text(text)

    with pytest.raises(UserError) as refused:
        original_of(catalogue(), "my-race")
    assert refused.value.problem.key == "origin_unreadable"


@pytest.mark.parametrize(
    ("origin", "key"),
    [(None, "not_a_copy"), (Origin(original="nonsuch", version=1), "original_gone"),
     (Origin(original="my-race", version=1), "original_gone")],
)  # fmt: skip
def test_without_its_original_there_is_nothing_to_race(data, origin, key):
    folder = made(data, "race")
    (folder / NAME).unlink()
    if origin is not None:
        (folder / NAME).write_text(f'original = "{origin.original}"\nversion = 1\n')

    with pytest.raises(UserError) as refused:
        original_of(catalogue(), "my-race")
    assert refused.value.problem.key == key


# --- exercises ----------------------------------------------------------------------------------

EXERCISES = [name for name, home in OURS.homes.items() if start_of(home)]


def test_the_two_exercises_are_there():
    assert {"amp", "uneven"} <= {*EXERCISES}


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_takes_the_place_of_the_loop_and_opens_there(data, name):
    folder = made(data, name, start=True)

    assert own_experiments.refusals(own_experiments.own_homes()) == {}
    copy = catalogue().load(f"my-{name}")
    loop = measured_loop(copy.loop, sources(copy))
    text = (folder / loop.file).read_text()
    assert text == (OURS.homes[name].folder / START).read_text()
    assert text.count(COMMENT) == 1
    assert text.splitlines()[loop.first - 2].strip() == COMMENT


def test_an_exercise_that_is_not_there_is_refused(data):
    with pytest.raises(UserError) as refused:
        made(data, "race", start=True)
    assert refused.value.problem.key == "mine_no_start"


def test_the_uneven_split_begins_as_blocks_and_a_row_that_is_missing_is_told(monkeypatch):
    from experiments.python_at_work.uneven import jobs, start

    asked = []
    monkeypatch.setattr(jobs, "run", lambda request: asked.append(request["chunks"]) or {})
    blocks = [[0, 1, 2], [3, 4]]
    start.run({"chunks": blocks, "own": True})
    start.run({"chunks": [[0, 2, 4], [1, 3]], "own": True})
    assert asked == [blocks, [[0, 2, 4], [1, 3]]]

    monkeypatch.setattr(start, "share", lambda rows, workers: [rows[:2], []])
    with pytest.raises(ValueError, match="each row to one worker"):
        start.run({"chunks": blocks, "own": True})
