from __future__ import annotations

import contextlib
import json
import sqlite3

import pytest

from app.context import Context
from experiments.core.problems import Problem, UserError
from machine.model import to_json
from tests.experiments.machines import machine


def test_the_machine_is_read_from_a_file(tmp_path):
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(to_json(machine(cores=3))))
    context = Context(fake_machine=path)

    assert context.has_fake_machine
    assert context.machine == machine(cores=3)


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (b"", "machine_unreadable"),
        (b"{", "machine_unreadable"),
        (b"\xff\xfe\x00", "machine_unreadable"),
        (b"[" * 100_000, "machine_unreadable"),
        (b"[]", "machine_refused"),
        (b"{}", "machine_refused"),
        (b'{"format": "coreopsis.machine", "version": 99}', "machine_refused"),
        (b'{"format": "coreopsis.machine", "version": 1, "cpu": 3}', "machine_refused"),
    ],
)
def test_a_file_that_is_no_machine_is_one_sentence(tmp_path, content, key):
    path = tmp_path / "machine.json"
    path.write_bytes(content)
    context = Context(fake_machine=path)

    with pytest.raises(UserError) as caught:
        _ = context.machine
    assert caught.value.problem.key == key
    said = context.sentence(caught.value.problem)
    assert str(path) in said
    assert "{" not in said.replace("{}", "")
    assert said.endswith(".")


def test_a_problem_is_said_on_standard_error(capsys):
    Context().complain(Problem("setting_twice", {"name": "rounds"}))

    out, err = capsys.readouterr()
    assert out == ""
    assert err == "The setting rounds is given twice.\n"


def test_an_index_that_is_locked_is_said_on_standard_error(tmp_path, capsys):
    library = Context(data=tmp_path).library
    library.check_writable()
    library.runs()
    with contextlib.closing(sqlite3.connect(tmp_path / "index.sqlite3")) as other:
        other.execute("BEGIN EXCLUSIVE")
        library.runs()

    assert "keeps the index of the runs locked" in capsys.readouterr().err


def test_brackets_and_colons_in_what_is_printed_are_no_markup(capsys):
    Context().console.print("[red]model[/bold] :smile: 0000:17:00.0")

    assert capsys.readouterr().out == "[red]model[/bold] :smile: 0000:17:00.0\n"


def test_the_library_lies_in_the_folder_that_was_named(tmp_path, monkeypatch):
    assert Context(data=tmp_path).library.folder == tmp_path

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Context().library.folder == tmp_path / "coreopsis"


def test_no_test_reads_the_data_folder_of_whoever_runs_it(tmp_path_factory):
    assert Context().folder.is_relative_to(tmp_path_factory.getbasetemp())
