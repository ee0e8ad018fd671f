from __future__ import annotations

import gzip
import json

import msgspec
import pytest

from app.runs.library import Library
from app.runs.owner_note import KEY, Told, told_in
from app.runs.run_notes import RunNotes, read_notes
from experiments.core.teaching.lesson_run import Guess
from experiments.engine.recording import ALTERED, read
from tests.app.recordings import burst

GUESS = Guess(kind="magnitude", at=(12.0,), sure=2)
NOTES = RunNotes(name="Büro <b>\x1b[31m", note="secret", tags=["mine"], guess=GUESS)


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path / "data")


def keep(library, notes, made=None):
    """Return a kept run with notes."""
    made = made or burst()
    made.write(library.folder / "runs" / f"{made.run}.coreopsis.jsonl")
    (kept,) = library.runs()
    return library.describe(kept, notes)


def texts(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.name.endswith(".gz") else data).decode()


@pytest.mark.parametrize("ending", [".coreopsis.jsonl", ".coreopsis.jsonl.gz"])
def test_an_export_tells_prediction_and_name_where_its_owner_says_so(library, tmp_path, ending):
    kept = keep(library, NOTES)

    told = library.export(kept, tmp_path / f"told{ending}", tells=True)
    alone = library.export(kept, tmp_path / f"alone{ending}")

    assert told_in(read(told)) == Told(guess=GUESS, name=NOTES.name)
    assert told_in(read(alone)) == Told()
    assert "secret" not in texts(told)
    assert "mine" not in texts(told)
    assert "\x1b" not in texts(told)


def test_the_rest_of_the_file_and_its_checksum_hold(library, tmp_path):
    kept = keep(library, NOTES)
    told, before = read(library.export(kept, tmp_path, tells=True)), read(kept.path)

    assert (told.rows, told.finished.finding) == (before.rows, before.finished.finding)
    assert told.notes == ()
    assert "crc32" in texts(tmp_path / kept.path.name)
    environment = {name: each for name, each in told.started.environment.items() if name != KEY}
    assert msgspec.structs.replace(told.started, environment=environment) == before.started


def test_a_file_that_was_edited_stays_known_as_edited(library, tmp_path):
    made = burst()
    path = library.folder / "runs" / "x.coreopsis.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(made.data.replace(b'"repeat":4', b'"repeat":5', 1))
    (kept,) = library.runs()
    library.describe(kept, NOTES)

    assert read(library.export(kept, tmp_path / "y.coreopsis.jsonl", tells=True)).notes == (
        ALTERED,
    )


def test_what_came_with_a_file_stays_in_it_and_is_nobody_elses_prediction(library, tmp_path):
    kept = keep(library, NOTES)
    theirs = library.export(kept, tmp_path / "theirs.coreopsis.jsonl", tells=True)

    other = Library(tmp_path / "other")
    here = other.adopt(theirs)
    assert read_notes(here) == RunNotes()
    (adopted,) = other.runs()
    adopted = other.describe(adopted, RunNotes(name="forwarded"))
    assert told_in(read(other.export(adopted, tmp_path / "a.coreopsis.jsonl"))).guess == GUESS
    again = read(other.export(adopted, tmp_path / "b.coreopsis.jsonl", tells=True))
    assert told_in(again) == Told(guess=GUESS, name="forwarded")
    assert again.notes == ()


@pytest.mark.parametrize(
    "told",
    [
        7,
        [],
        {"guess": 3},
        {"guess": {"kind": "spell", "at": [1]}},
        {"name": ["x"]},
        {"guess": None},
    ],
)
def test_what_a_stranger_writes_there_tells_nothing(tmp_path, told):
    def change(started):
        return msgspec.structs.replace(started, environment={KEY: told})

    path = burst(change=change).write(tmp_path / "x.coreopsis.jsonl")
    assert json.loads(path.read_text().splitlines()[0])["environment"] == {KEY: told}
    assert told_in(read(path)) == Told()


def test_a_run_that_does_not_begin_as_one_is_one_sentence(library, tmp_path):
    from experiments.core.problems import UserError

    kept = keep(library, NOTES)
    kept.path.write_bytes(b'{"type":"row"}\n')
    with pytest.raises(UserError) as trouble:
        library.export(kept, tmp_path / "x.coreopsis.jsonl", tells=True)
    assert trouble.value.problem.key == "not_exported"
    assert not (tmp_path / "x.coreopsis.jsonl").exists()
