from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from app.runs import index
from app.runs import library as library_module
from app.runs.library import Library, machine_name
from app.runs.run_notes import NOTES_SUFFIX, RunNotes, notes_path, read_notes
from app.runs.run_writer import RunWriter
from app.runs.selection import completed
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.recording import SUFFIXES, read
from experiments.engine.seal import with_first_line
from tests import ROOT
from tests.app.recordings import burst, ladder, threads
from tests.processes import POSIX_ONLY
from tests.shipped import SHIPPED


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path / "data")


def keep(library, made):
    """Keep a run line by line, as it comes from a measurement; return its file."""
    writer = RunWriter(library)
    for event, line in made.events():
        writer.keep(event, line)
    writer.close()
    assert writer.problem is None
    assert writer.recorder is not None
    return writer.recorder.path


def told(library):
    """Return what the list says, without what is only in the index."""
    return [
        (kept.run, kept.path, kept.outcome, kept.values, kept.run_notes) for kept in library.runs()
    ]


def trouble(work):
    with pytest.raises(UserError) as caught:
        work()
    return caught.value.problem


# --- keeping ------------------------------------------------------------------------------------


def test_a_run_is_kept_as_its_lines(library):
    made = burst()
    path = keep(library, made)

    assert path.read_bytes() == made.data
    assert path.parent == library.folder / "runs"
    assert path.name == f"20260504T030201-burst-random-{made.run[:8]}.coreopsis.jsonl"


def test_every_line_is_in_the_file_before_the_next_one_comes(library):
    writer, made, written = RunWriter(library), burst(), b""
    for event, line in made.events():
        writer.keep(event, line)
        written += line if line != made.lines[-1] else made.data[len(written) :]
        assert writer.recorder.path.read_bytes() == written
    writer.close()


@pytest.mark.parametrize(
    ("experiment", "name"),
    [("pinned", "NVIDIA H100 80GB HBM3"), ("stream", "AMD EPYC")],
)
def test_a_run_is_named_after_the_gpu_that_it_measured(experiment, name):
    assert machine_name(read(SHIPPED[experiment]).started) == name


def test_a_gpu_that_its_machine_does_not_name_leaves_the_processors_name():
    started = read(SHIPPED["pinned"]).started
    model = started.machine["cpu"]["model"]
    for machine in ({**started.machine, "gpus": []}, {"cpu": {"model": model}, "gpus": 5}):
        changed = msgspec.structs.replace(started, machine=machine)
        assert machine_name(changed) == model


def test_a_library_that_does_not_exist_yet_is_empty(library):
    assert library.runs() == []
    assert not library.folder.exists()


def test_the_list_says_what_a_run_was_and_found(library):
    made = burst()
    path = keep(library, made)

    (kept,) = library.runs()

    assert kept.run == made.run
    assert kept.path == path
    assert kept.experiment == "burst-random"
    assert kept.at == "2026-05-04T03:02:01+00:00"
    assert kept.outcome == "completed"
    assert kept.machine == "Test CPU"
    assert kept.params == {"largest_bytes": 2**20, "rounds": 5, "huge_pages": False}
    assert kept.notes == ()
    assert kept.message == "three_answers"
    assert kept.values["dependent_s"] == pytest.approx(1.2e-7)
    assert kept.run_notes == RunNotes()
    assert kept.problem is None
    assert kept.taken_s == messages.decode_event(made.lines[-2]).t_s > 0.0


def test_the_newest_run_comes_first_and_pinned_ones_before_all(library):
    old, middle, new = (burst(at=f"2026-05-0{day}T00:00:00+00:00") for day in (1, 2, 3))
    for made in (middle, old, new):
        keep(library, made)
    assert [kept.run for kept in library.runs()] == [new.run, middle.run, old.run]

    library.describe(library.runs()[2], RunNotes(pinned=True))

    assert [kept.run for kept in library.runs()] == [old.run, new.run, middle.run]


def test_a_run_of_which_only_the_start_was_written_is_listed_as_lost(library):
    made = burst()
    writer = RunWriter(library)
    for event, line in made.events()[:5]:
        writer.keep(event, line)
    writer.close()

    (kept,) = library.runs()
    assert (kept.outcome, kept.values, kept.problem) == ("lost", {}, None)


def test_a_run_that_was_stopped_before_its_first_row_leaves_no_file(library):
    whole = burst()
    keep(library, whole)
    began = burst().events()[0]
    writer, stopped = RunWriter(library), messages.Finished(outcome=messages.Outcome.STOPPED)
    writer.keep(*began)
    writer.keep(stopped, messages.encode(stopped))
    writer.close()

    assert (writer.recorder, writer.problem) == (None, None)
    assert [kept.run for kept in library.runs()] == [whole.run]


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_run_that_nobody_wants_leaves_no_file_however_it_ends(library, is_wanted):
    made, writer = burst(), RunWriter(library, is_wanted=False)
    for event, line in made.events():
        writer.keep(event, line)
    writer.is_wanted = is_wanted  # from its key on
    writer.close()

    assert [kept.run for kept in library.runs()] == ([made.run] if is_wanted else [])


def test_a_run_that_is_still_growing_is_listed_with_what_it_has(library):
    made = burst()
    writer = RunWriter(library)
    events = made.events()
    writer.keep(*events[0])
    assert library.runs()[0].outcome == "lost"
    for event, line in events[1:]:
        writer.keep(event, line)
    assert library.runs()[0].outcome == "completed"
    writer.close()


# --- finding ------------------------------------------------------------------------------------


def test_a_run_is_found_by_the_first_letters_of_its_id(library):
    made = burst(run="abcd1234-0000-0000-0000-000000000000")
    path = keep(library, made)
    keep(library, burst(run="ffff1234-0000-0000-0000-000000000000"))

    assert library.find("abcd") == path
    assert library.find("abcd1234") == path
    assert library.find(made.run) == path


def test_letters_that_begin_several_ids_are_refused(library):
    keep(library, burst(run="abcd1111-0000-0000-0000-000000000000"))
    path = keep(library, burst(run="abcd2222-0000-0000-0000-000000000000"))

    assert trouble(lambda: library.find("abcd")).key == "run_ambiguous"
    assert library.find("abcd2") == path


def test_fewer_than_four_letters_and_unknown_ones_are_taken_for_a_path(library):
    keep(library, burst(run="abcd1234-0000-0000-0000-000000000000"))

    assert library.find("abc") == Path("abc")
    assert library.find("1234-0000") == Path("1234-0000")  # in the middle of an id
    assert library.find("nothing of the kind") == Path("nothing of the kind")
    assert trouble(lambda: read(library.find("abc"))).key == "recording_missing"


def test_a_file_wins_over_an_id(library, tmp_path, monkeypatch):
    keep(library, burst(run="abcd1234-0000-0000-0000-000000000000"))
    monkeypatch.chdir(tmp_path)
    burst().write(tmp_path / "abcd")

    assert library.find("abcd") == Path("abcd")


# --- what people add ----------------------------------------------------------------------------


def test_what_people_add_stands_beside_the_run(library):
    path = keep(library, burst())
    run_notes = RunNotes(name="mine", note="quiet night", tags=["a", "b"])

    described = library.describe(library.runs()[0], run_notes)

    beside = path.with_name(path.name.replace(".coreopsis.jsonl", NOTES_SUFFIX))
    assert msgspec.json.decode(beside.read_bytes(), type=RunNotes) == run_notes
    assert described.run_notes == run_notes
    assert library.runs()[0].run_notes == run_notes
    assert Library(library.folder).runs()[0].run_notes == run_notes


def test_what_people_add_may_change_again(library):
    keep(library, burst())
    library.describe(library.runs()[0], RunNotes(name="one"))
    os.utime(read_path(library), ns=(1, 1))

    library.describe(library.runs()[0], RunNotes(name="two"))

    assert library.runs()[0].run_notes.name == "two"


def read_path(library):
    return next((library.folder / "runs").glob(f"*{NOTES_SUFFIX}"))


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[1]", b'{"name": 3}', b"\xff\xfe", b'{"name": "\xff"}']
)
def test_damaged_notes_do_not_hide_a_run(library, damage):
    path = keep(library, burst())
    library.describe(library.runs()[0], RunNotes(name="one"))

    read_path(library).write_bytes(damage)

    assert len(library.runs()) == 1
    assert library.runs()[0].run_notes == RunNotes()
    assert read_notes(path) == RunNotes()
    library.describe(library.runs()[0], RunNotes(name="two"))
    assert read_notes(path).name == "two"


# --- deleting -----------------------------------------------------------------------------------


def test_deleting_moves_a_run_and_its_notes_to_the_bin_and_undo_moves_them_back(library):
    path = keep(library, burst())
    (of_burst,) = library.runs()
    other = keep(library, ladder())
    kept = library.describe(of_burst, RunNotes(name="mine"))

    library.delete(kept)

    assert not path.exists()
    assert [each.path for each in library.runs()] == [other]
    assert {each.name for each in (library.folder / "bin").iterdir()} == {
        path.name,
        path.name.replace(".coreopsis.jsonl", NOTES_SUFFIX),
    }

    library.undelete(kept)

    assert path.exists()
    assert {kept.run_notes.name for kept in library.runs()} == {"mine", ""}
    assert list((library.folder / "bin").iterdir()) == []


def test_what_lies_in_the_bin_is_told_and_can_come_back_to_where_it_was(library):
    for made in (burst(at="2026-03-01T10:00:00"), ladder(at="2026-03-02T10:00:00")):
        keep(library, made)
    kept = library.runs()
    assert library.deleted() == []
    torn = library.folder / "bin" / "torn.coreopsis.jsonl"
    for run in kept:
        library.delete(library.describe(run, RunNotes(name="mine")))
    torn.write_bytes(b"{")

    *whole, damaged = Library(library.folder).deleted()

    assert [run.path for run in whole] == [run.path for run in kept]
    assert {run.run_notes.name for run in whole} == {"mine"}
    assert damaged.problem is not None
    for run in whole:
        library.undelete(run)
    assert [run.path for run in library.runs()] == [run.path for run in kept]
    assert [run.path for run in library.deleted()] == [damaged.path]


def test_deleting_what_is_gone_is_one_sentence(library):
    keep(library, burst())
    (kept,) = library.runs()
    kept.path.unlink()

    assert trouble(lambda: library.delete(kept)).key == "library_unwritable"
    assert library.runs() == []


def test_the_list_keeps_what_was_said_during_a_run(library):
    made = burst()
    note = messages.encode(messages.Note(key="machine_was_quiet", values={"others_fraction": 0.01}))
    lines = (*made.lines[:-1], note, made.lines[-1])
    keep(library, replace(made, lines=lines))

    for _ in range(2):  # read from the file, then from the index
        assert library.runs()[0].notes == (("machine_was_quiet", {"others_fraction": 0.01}),)


def test_the_bin_is_emptied_of_runs_and_of_nothing_else(library):
    for made in (burst(), ladder(), threads()):
        keep(library, made)
    first, second, _ = library.runs()
    first = library.describe(first, RunNotes(name="mine"))
    assert library.bin_count() == 0
    library.delete(first)
    library.delete(second)
    (library.folder / "bin" / "mine.txt").write_text("mine")
    assert library.bin_count() == 2

    assert library.empty_bin() == 2

    assert [path.name for path in (library.folder / "bin").iterdir()] == ["mine.txt"]
    assert library.bin_count() == library.empty_bin() == 0
    assert len(library.runs()) == 1
    assert trouble(lambda: library.undelete(first)).key == "library_unwritable"
    assert len(library.runs()) == 1


# --- runs that go elsewhere ---------------------------------------------------------------------


@pytest.mark.parametrize("kept_as", [".coreopsis.jsonl", ".coreopsis.jsonl.gz"])
@pytest.mark.parametrize("name", ["x.coreopsis.jsonl", "x.coreopsis.jsonl.gz", "x.txt"])
def test_a_run_is_exported_packed_where_its_name_says_so(library, tmp_path, kept_as, name):
    made = burst()
    library.adopt(made.write(tmp_path / f"from{kept_as}"))
    (kept,) = library.runs()

    path = library.export(kept, tmp_path / name)

    assert path == tmp_path / name
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert read(path).started.run == made.run
    assert read(path).rows == read(kept.path).rows


def test_a_run_is_exported_into_a_folder_under_its_own_name(library, tmp_path):
    path = keep(library, burst())

    exported = library.export(library.runs()[0], tmp_path)

    assert exported == tmp_path / path.name
    assert exported.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("tells", [False, True])
def test_an_export_keeps_what_a_newer_version_has_written(library, tmp_path, tells):
    first, *others = keep(library, burst()).read_bytes().splitlines(keepends=True)
    newer = first.replace(b"{", b'{"newer":{"deep":[1,null]},', 1)
    (kept,) = library.runs()
    kept.path.write_bytes(with_first_line(first + b"".join(others), newer))
    (kept,) = library.runs()
    library.describe(kept, RunNotes(name="mine"))

    path = library.export(kept, tmp_path / "copy.coreopsis.jsonl", tells=tells)

    head = json.loads(path.read_bytes().splitlines()[0])
    assert head["newer"] == {"deep": [1, None]}
    assert ("told" in head["environment"]) == tells
    assert read(path).notes == ()  # its checksum holds


def test_notes_keep_what_a_newer_version_has_written(library):
    path = keep(library, burst())
    notes_path(path).write_text('{"note": "old", "newer": [1], "tags": ["a"]}')
    (kept,) = library.runs()

    library.describe(kept, replace(kept.run_notes, note="", name="mine"))

    assert json.loads(notes_path(path).read_bytes()) == {
        "newer": [1],
        "tags": ["a"],
        "name": "mine",
    }


def test_a_run_that_cannot_be_exported_is_one_sentence_and_leaves_nothing(library, tmp_path):
    path = keep(library, burst())
    (kept,) = library.runs()

    problem = trouble(lambda: library.export(kept, tmp_path / "missing" / "x.coreopsis.jsonl"))
    assert (problem.key, problem.values["reason"]) == ("not_exported", "No such file or directory")

    path.write_bytes(b"\x1f\x8b no gzip")
    assert trouble(lambda: library.export(kept, tmp_path / "x.jsonl")).key == "not_exported"
    assert [each.name for each in tmp_path.iterdir()] == ["data"]


# --- runs from elsewhere ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.coreopsis.jsonl", "x.coreopsis.jsonl.gz", "a run.txt"])
def test_a_run_from_elsewhere_is_copied(library, tmp_path, name):
    made = burst()
    path = made.write(tmp_path / name)

    adopted = library.adopt(path)

    assert adopted.parent == library.folder / "runs"
    assert adopted.read_bytes() == path.read_bytes()
    assert path.exists()
    assert [kept.run for kept in library.runs()] == [made.run]
    assert library.find(made.run[:8]) == adopted


def test_a_packed_run_is_known_by_its_content_whatever_its_name(library, tmp_path):
    made = burst()
    packed = made.write(tmp_path / "x.gz").rename(tmp_path / "x.jsonl")

    library.adopt(packed)

    assert library.runs()[0].problem is None


@pytest.mark.parametrize("ending", SUFFIXES)
def test_a_run_that_comes_again_from_elsewhere_has_what_was_said_of_it(library, tmp_path, ending):
    made, said = burst(), RunNotes(name="mine", note="on battery", tags=["x"])
    library.adopt(made.write(tmp_path / "x.coreopsis.jsonl"))
    library.describe(library.runs()[0], said)
    library.delete(library.runs()[0])

    library.adopt(made.write(tmp_path / f"again{ending}"))

    assert library.runs()[0].run_notes == said
    assert library.deleted()[0].run_notes == said  # undo still finds all of it


def test_a_run_that_is_here_already_is_not_copied_twice(library, tmp_path):
    path = burst().write(tmp_path / "x.coreopsis.jsonl")

    assert library.adopt(path) == library.adopt(path)
    assert len(library.runs()) == 1


def test_a_run_that_is_here_already_is_not_copied_again_when_it_comes_packed(library, tmp_path):
    made = burst()
    path = library.adopt(made.write(tmp_path / "x.coreopsis.jsonl"))

    assert library.adopt(made.write(tmp_path / "x.coreopsis.jsonl.gz")) == path
    assert len(library.runs()) == 1


def cut(made, library, *, end=-60, lines=None):
    """Keep the beginning of a run, as a full disk leaves it; return its file."""
    path = library.adopt(made.write(library.folder.parent / "whole.coreopsis.jsonl"))
    path.write_bytes(b"".join(made.lines[:lines]) if lines else made.data[:end])
    return path


@pytest.mark.parametrize("ending", SUFFIXES)
@pytest.mark.parametrize("left", [{"lines": 10}, {"end": -60}], ids=["whole lines", "a torn line"])
def test_a_rescued_run_takes_the_place_of_its_beginning(library, tmp_path, ending, left):
    made = burst()
    path = cut(made, library, **left)
    library.describe(library.runs()[0], RunNotes(name="mine"))

    assert library.adopt(made.write(tmp_path / f"rescued{ending}")) == path

    assert path.read_bytes() == made.data
    (kept,) = library.runs()
    assert (kept.outcome, kept.run_notes.name) == ("completed", "mine")


def test_the_beginning_of_a_run_takes_nothing_away_from_it(library, tmp_path):
    made = burst()
    path = library.adopt(made.write(tmp_path / "whole.coreopsis.jsonl"))
    (tmp_path / "cut.coreopsis.jsonl").write_bytes(b"".join(made.lines[:10]))

    assert library.adopt(tmp_path / "cut.coreopsis.jsonl") == path
    assert path.read_bytes() == made.data


def test_another_run_of_the_same_id_takes_no_place(library, tmp_path):
    made = burst()
    path = cut(made, library, lines=10)
    path.write_bytes(path.read_bytes().replace(b'"t_s":0.02', b'"t_s":0.03'))
    before = path.read_bytes()

    assert library.adopt(made.write(tmp_path / "other.coreopsis.jsonl")) == path
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("damage", "key"),
    [
        (lambda data: data.replace(b'"row"', b'"raw"', 1), "recording_damaged"),
        (lambda data: b"hello\n" + data, "recording_foreign"),
        (lambda data: data.replace(b'"version":1', b'"version":9', 1), "recording_newer"),
        (lambda data: b"", "recording_empty"),
        (lambda data: data.replace(b'"n":3', b'"n":4', 1), "recording_damaged"),
        (lambda data: b"\x1f\x8b" + data, "recording_damaged"),
    ],
)
def test_a_damaged_run_is_refused_and_nothing_is_copied(library, tmp_path, damage, key):
    path = tmp_path / "x.coreopsis.jsonl"
    path.write_bytes(damage(burst().data))
    before = path.read_bytes()

    assert trouble(lambda: library.adopt(path)).key == key
    assert path.read_bytes() == before
    assert library.runs() == []
    assert not (library.folder / "runs").exists()


@pytest.mark.parametrize("letter", ["n", "\N{HIRAGANA LETTER A}"])
def test_a_run_is_kept_however_long_its_names_are(library, tmp_path, letter):
    """A name in a folder has 255 bytes at most, and a letter up to four."""
    long = letter * 300
    first, *others = burst(at=long, run=long).lines
    first = first.replace(b'"experiment":"burst-random"', f'"experiment":"{long}"'.encode())
    path = tmp_path / "copy.coreopsis.jsonl"
    path.write_bytes(b"".join((first, *others)))

    adopted = library.adopt(path)
    recorder = library.create(messages.decode_event(first.replace(b'"run":"', b'"run":"other')))
    recorder.close()

    assert adopted.read_bytes() == path.read_bytes()
    kept = next(kept for kept in library.runs() if kept.run == long)
    assert (kept.experiment, kept.path) == (long, adopted)
    library.describe(kept, RunNotes(name=long))
    library.export(kept, tmp_path / f"{'n' * 235}.coreopsis.jsonl")
    library.delete(kept)
    assert [gone.run for gone in library.deleted()] == [long]


def test_a_run_from_elsewhere_cannot_name_a_place_outside(library, tmp_path):
    made = burst(
        change=lambda started: msgspec.structs.replace(
            started, experiment="../../../evil", at="../../../x", run="/../../../y"
        )
    )
    path = made.write(tmp_path / "x.coreopsis.jsonl")

    adopted = library.adopt(path)

    assert adopted.resolve().parent == (library.folder / "runs").resolve()
    assert {each.name for each in tmp_path.iterdir()} == {"data", "x.coreopsis.jsonl"}


# --- damage -------------------------------------------------------------------------------------


def test_a_damaged_file_is_listed_with_its_problem_and_the_others_as_ever(library):
    whole, damaged = keep(library, ladder()), keep(library, burst())
    damaged.write_bytes(damaged.read_bytes().replace(b'"n":3', b'"n":4'))

    kept = {each.path: each for each in library.runs()}

    assert kept[whole].problem is None
    assert kept[damaged].problem["key"] == "recording_damaged"
    assert kept[damaged].run == damaged.name
    assert damaged.exists()
    library.delete(kept[damaged])
    assert [each.path for each in library.runs()] == [whole]


def test_a_file_that_was_changed_is_listed_as_such_and_counts_no_more(library):
    whole, changed = keep(library, burst()), keep(library, burst())
    changed.write_bytes(changed.read_bytes().replace(b'"repeat":3', b'"repeat":4'))

    kept = {each.path: each for each in library.runs()}

    assert kept[changed].notes == (("recording_altered", {}),)
    assert kept[changed].problem is None
    assert [each.path for each in completed(kept.values(), "burst-random")] == [whole]


def test_a_file_that_is_mended_is_listed_anew(library):
    made = burst()
    path = keep(library, made)
    path.write_bytes(b"nonsense\n")
    assert library.runs()[0].problem is not None

    path.write_bytes(made.data)

    assert library.runs()[0].problem is None


def test_files_of_others_in_the_folder_are_left_alone(library):
    path = keep(library, burst())
    (path.parent / "notes.txt").write_text("mine")
    (path.parent / "a folder.coreopsis.jsonl").mkdir()

    kept = {each.path.name: each for each in library.runs()}

    assert kept.pop("a folder.coreopsis.jsonl").problem["key"] == "recording_is_folder"
    assert list(kept) == [path.name]


# --- the index ----------------------------------------------------------------------------------


def index_of(library):
    return library.folder / "index.sqlite3"


def delete_index(library):
    index_of(library).unlink()


def overwrite_index(library):
    index_of(library).write_bytes(b"this is no database" * 100)


def overwrite_the_middle(library):
    data = bytearray(index_of(library).read_bytes())
    data[4096:] = b"\x55" * len(data[4096:])
    index_of(library).write_bytes(bytes(data))


def empty_index(library):
    index_of(library).write_bytes(b"")


def older_index(library):
    delete_index(library)
    connection = sqlite3.connect(index_of(library))
    connection.execute("CREATE TABLE runs (name TEXT PRIMARY KEY, run)")
    connection.execute("INSERT INTO runs VALUES ('old', 'old')")
    connection.commit()
    connection.close()


def nonsense_in_index(library):
    connection = sqlite3.connect(index_of(library))
    connection.execute("UPDATE runs SET message = 'nonsense', run_notes = '7'")
    connection.commit()
    connection.close()


def index_is_a_folder(library):
    delete_index(library)
    index_of(library).mkdir()


def rebuild(library):
    library.rebuild()


@pytest.mark.parametrize(
    "harm",
    [
        delete_index,
        overwrite_index,
        overwrite_the_middle,
        empty_index,
        older_index,
        nonsense_in_index,
        index_is_a_folder,
        rebuild,
    ],
    ids=lambda harm: harm.__name__,
)
def test_the_files_are_the_truth_whatever_happens_to_the_index(library, harm, caplog):
    for made in (burst(), ladder(), threads()):
        keep(library, made)
    library.describe(library.runs()[1], RunNotes(name="mine", pinned=True))
    before = told(library)
    assert len(before) == 3

    harm(library)

    assert told(library) == before
    assert told(library) == before
    assert told(Library(library.folder)) == before


def test_an_index_that_another_program_has_open_is_left_and_the_files_are_read(
    library, monkeypatch
):
    """As Windows refuses to delete it."""
    keep(library, burst())
    before = told(library)
    index_of(library).write_bytes(b"of another version")

    def refuse(*_, **__):
        error = PermissionError(13, "The process cannot access the file")
        error.winerror = index.IN_USE
        raise error

    monkeypatch.setattr(Path, "unlink", refuse)
    problems = []
    library.tell = problems.append
    library.rebuild()

    assert told(library) == before
    assert [problem.key for problem in problems] == ["index_locked"]


def test_the_index_spares_reading_files_that_have_not_changed(library, monkeypatch):
    keep(library, burst())
    library.runs()
    monkeypatch.setattr("app.runs.library.read", lambda path: pytest.fail(f"read {path} again"))

    assert len(library.runs()) == 1


def test_a_run_that_has_not_changed_stays_the_same_object(library):
    path, other = keep(library, burst()), keep(library, ladder())
    before = {run.path: run for run in library.runs()}

    library.describe(before[path], RunNotes(note="new"))

    after = {run.path: run for run in library.runs()}
    assert after[other] is before[other]
    assert after[path].run_notes.note == "new"


def test_an_index_of_another_version_is_made_anew_and_called_no_damage(library):
    path = keep(library, burst())
    library.runs()
    older_index(library)

    assert [run.path for run in library.runs()] == [path]  # a warning would fail this test


def test_an_index_that_another_program_has_locked_is_told_once_and_the_files_are_read(library):
    told_of = []
    library.tell = told_of.append
    path = keep(library, burst())
    library.runs()
    with contextlib.closing(sqlite3.connect(index_of(library))) as other:
        other.execute("BEGIN EXCLUSIVE")
        for _ in range(2):
            assert [run.path for run in library.runs()] == [path]

    assert [problem.key for problem in told_of] == ["index_locked"]
    assert index.BUSY_S == 0.5


WRITE = """
import sys
from pathlib import Path
from app.runs.run_writer import RunWriter
from app.runs.library import Library, machine_name
from app.runs.run_notes import RunNotes
from tests.app.recordings import burst

library = Library(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for turn in range(10):
    writer = RunWriter(library)
    for event, line in burst(noise=(1.0,)).events():
        writer.keep(event, line)
    writer.close()
    assert writer.problem is None
    runs = library.runs()
    assert len(runs) > turn
    mine = next(run for run in runs if run.path == writer.recorder.path)
    library.describe(mine, RunNotes(name=f"{sys.argv[2]} {turn}"))
    if turn % 3 == 0:
        library.delete(mine)
        library.undelete(mine)
    if turn == 5:
        library.rebuild()
"""


def test_two_programs_may_keep_runs_at_the_same_time(library):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(library.folder), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd=ROOT,
        )
        for name in ("one", "two")
    ]  # fmt: skip
    for writer in writers:  # both are ready before either begins
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()

    errors = [writer.communicate(timeout=100)[1] for writer in writers]

    assert [writer.returncode for writer in writers] == [0, 0], errors
    runs = library.runs()
    assert len(runs) == 20
    assert len({kept.run for kept in runs}) == 20
    assert all(kept.problem is None for kept in runs)


def test_a_run_that_was_away_while_it_was_looked_at_is_read_again(library, monkeypatch):
    path = burst().write(library.folder / "runs" / "x.coreopsis.jsonl")

    def away(path):
        aside = path.rename(library.folder / "aside")  # as another program deletes it
        try:
            return read(path)
        finally:
            aside.rename(path)  # and takes that back: neither size nor time has changed

    with monkeypatch.context() as patched:
        patched.setattr(library_module, "read", away)
        assert library.runs() == []

    assert [(kept.path, kept.problem) for kept in library.runs()] == [(path, None)]


# --- a folder that cannot be written ------------------------------------------------------------


def as_somebody_else(folder: Path, work: str) -> str:
    """Do `work` as a user who may only read `folder`; return what it prints."""
    if sys.platform == "win32":
        pytest.skip("needs POSIX permissions")
    for each in [folder, *folder.rglob("*")]:
        each.chmod(0o555 if each.is_dir() else 0o444)
    for parent in folder.parents:
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:  # all that is needed is imported already: another user may not read it
        try:
            os.dup2(writes, 1)
            sys.stdout = os.fdopen(1, "w")
            if os.getuid() == 0:
                os.setgroups([])
                os.setuid(65534)
            exec(work, {"folder": folder})
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as said:
        answer = said.read()
    os.waitpid(child, 0)
    for each in [folder, *folder.rglob("*")]:
        each.chmod(0o755)
    return answer


LIST = """
from app.runs.library import Library, machine_name
print(sorted(kept.run for kept in Library(folder).runs()))
"""


@pytest.mark.parametrize("indexed", ["index up to date", "index behind", "no index"])
def test_a_library_that_may_only_be_read_can_still_be_listed(library, indexed, caplog):
    runs = []
    for made in (burst(), ladder()):
        keep(library, made)
        runs.append(made.run)
    if indexed != "no index":
        library.runs()
    if indexed == "index behind":
        made = threads()
        keep(library, made)
        runs.append(made.run)

    answer = as_somebody_else(library.folder, LIST)

    assert answer.strip() == str(sorted(runs))


REFUSED = """
import json
from app.runs.run_writer import RunWriter
from app.runs.library import Library, machine_name
from app.runs.run_notes import RunNotes
from experiments.core.problems import UserError
from tests.app.recordings import burst

library, made = Library(folder), burst()
(kept,) = library.runs()
works = [
    library.check_writable,
    lambda: library.create(made.events()[0][0]),
    lambda: library.describe(kept, RunNotes(name="x")),
    lambda: library.delete(kept),
]
for work in works:
    try:
        work()
        print("nothing")
    except UserError as trouble:
        print(json.dumps([trouble.problem.key, dict(trouble.problem.values)]))
writer = RunWriter(library)
for event, line in made.events():
    writer.keep(event, line)
writer.close()
print(json.dumps([writer.problem.problem.key, dict(writer.problem.problem.values)]))
"""


def test_a_library_that_may_only_be_read_says_so_in_one_sentence(library):
    keep(library, burst())

    answers = [json.loads(line) for line in as_somebody_else(library.folder, REFUSED).splitlines()]

    said = ["library_unwritable", {"path": str(library.folder), "reason": "Permission denied"}]
    assert answers == [said] * 5


def test_a_library_in_the_place_of_a_file_says_so_before_anything_is_measured(tmp_path):
    (tmp_path / "data").write_text("a file")
    library = Library(tmp_path / "data")

    assert trouble(library.check_writable).key == "library_unwritable"
    assert trouble(lambda: library.create(burst().events()[0][0])).key == "library_unwritable"
    assert library.runs() == []


def test_checking_leaves_nothing(library):
    library.check_writable()

    assert list((library.folder / "runs").iterdir()) == []


@pytest.fixture
def fills_up(library):
    """Return a function that keeps a run on a disk that fills up after ten lines."""

    def keep_it(made):
        writer = RunWriter(library)
        for number, (event, line) in enumerate(made.events()):
            if number == 10:
                full = os.open("/dev/full", os.O_WRONLY)
                os.dup2(full, writer.recorder._file)  # noqa: SLF001  (a full disk)
                os.close(full)
            writer.keep(event, line)
        writer.close()
        assert writer.recorder.path.read_bytes() == b"".join(made.lines[:10])
        assert library.runs()[0].outcome == messages.Outcome.LOST
        return writer.problem.problem

    return keep_it


@POSIX_ONLY
def test_a_run_that_fills_the_disk_is_written_whole_where_there_is_room(
    fills_up, tmp_path, monkeypatch, caplog
):
    monkeypatch.chdir(tmp_path)
    made = burst()

    problem = fills_up(made)

    assert problem.key == "run_kept_elsewhere"
    assert Path(problem.values["path"]).parent == tmp_path
    assert Path(problem.values["path"]).read_bytes() == made.data


@POSIX_ONLY
def test_a_run_that_is_measured_in_the_folder_of_the_runs_is_not_written_over_itself(
    fills_up, library, tmp_path, monkeypatch, caplog
):
    library.check_writable()
    monkeypatch.chdir(library.folder / "runs")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))

    problem = fills_up(burst())

    assert Path(problem.values["path"]).parent == tmp_path


@POSIX_ONLY
def test_a_run_for_which_there_is_room_nowhere_is_told_and_what_was_written_is_whole(
    fills_up, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "missing"))
    monkeypatch.setattr(Path, "cwd", lambda: tmp_path / "missing")

    problem = fills_up(burst())

    assert problem.key == "run_not_kept"


@pytest.fixture
def folder_goes(library):
    """Return a function that keeps a run while the data folder is deleted."""

    def keep_it(made):
        writer = RunWriter(library)
        for number, (event, line) in enumerate(made.events()):
            if number == 10:
                shutil.rmtree(library.folder)
            writer.keep(event, line)
        writer.close()
        return writer.problem.problem

    return keep_it


@POSIX_ONLY
def test_a_run_whose_folder_is_deleted_is_written_elsewhere(folder_goes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = burst()

    problem = folder_goes(made)

    assert problem.key == "run_file_gone"
    assert Path(problem.values["path"]).read_bytes() == made.data


@POSIX_ONLY
def test_a_deleted_run_for_which_there_is_room_nowhere_is_told(folder_goes, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "missing"))
    monkeypatch.setattr(Path, "cwd", lambda: tmp_path / "missing")

    assert folder_goes(burst()).key == "run_lost"


@POSIX_ONLY
def test_a_pipe_and_a_name_that_is_no_text_do_not_hide_the_runs(library):
    path = keep(library, burst())
    os.mkfifo(path.parent / "pipe.coreopsis.jsonl")  # to read it would wait for ever
    (path.parent / os.fsdecode(b"\xff.coreopsis.jsonl")).write_bytes(path.read_bytes())

    assert [run.path for run in library.runs()] == [path]


def test_a_list_that_nobody_waits_for_any_more_is_read_no_further(library, monkeypatch):
    for number in range(3):
        keep(library, burst(at=f"2026-05-0{number + 1}T00:00:00+00:00"))
    opened = []

    def read_one(path):
        opened.append(path)
        library.close()  # as the window does, in another thread
        return read(path)

    monkeypatch.setattr(library_module, "read", read_one)

    assert len(library.runs()) == len(opened) == 1
    assert len(Library(library.folder).runs()) == 3  # what was read before is not read again
    assert len(opened) == 3


def test_a_run_that_cannot_be_deleted_keeps_what_was_said_of_it(library):
    path = keep(library, burst())
    (kept,) = library.runs()
    library.describe(kept, RunNotes(note="mine"))
    (library.folder / "bin").mkdir()
    (library.folder / "bin" / path.name).mkdir()  # in the way

    trouble(lambda: library.delete(kept))

    assert library.runs()[0].run_notes.note == "mine"
