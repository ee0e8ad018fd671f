"""`coreopsis FILE` where no window can open: each kind of file as text."""

from __future__ import annotations

import pytest

from app.lecture.file import Item, Lecture, encode
from app.parser import parser, with_command
from app.shells import open as opening
from experiments.checkup.result import SUFFIX
from experiments.checkup.result import encode as encode_checkup
from tests.app.checkup.made import checkup
from tests.app.program import HIDE
from tests.app.recordings import threads

RUN, LECTURE, CHECKUP = "a.coreopsis.jsonl", "a.coreopsis-lecture.toml", f"a{SUFFIX}"


@pytest.fixture
def program(coreopsis):
    """Return the program, in whose working folder each kind of file lies."""
    coreopsis.environment[HIDE] = "PySide6"  # else a window would be looked for
    threads().write(coreopsis.folder / RUN)
    lecture = Lecture(title="Of threads", item=(Item(experiment="gil-threads"),))
    (coreopsis.folder / LECTURE).write_bytes(encode(lecture))
    (coreopsis.folder / CHECKUP).write_bytes(encode_checkup(checkup()))
    return coreopsis


def test_a_run_is_replayed(program):
    assert program(RUN).out == program("replay", RUN).out != ""


def test_a_checkup_is_shown_row_by_row(program):
    said = program(CHECKUP)

    assert said.code == 0
    assert len(said.lines) > 5


def test_a_lecture_is_written_as_its_handout(program):
    said, handout = program(LECTURE).lines, program("handout", LECTURE).lines

    assert said[0] == "# Of threads"
    assert said[3:] == handout[3:]  # before it stands the time


def test_options_may_stand_before_the_file(program):
    assert program("--debug", RUN).out == program(RUN).out


def test_what_is_neither_a_command_nor_a_file_is_wrong_usage(program):
    said = program("runn")

    assert said.code == 2
    assert "runn" in said.sentence


def test_a_command_is_one_also_where_a_file_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("inspect", "stream"):
        (tmp_path / name).touch()
    made = parser()

    assert with_command(made, ["inspect"]) == ["inspect"]
    assert with_command(made, ["--data", "stream", "inspect"]) == ["--data", "stream", "inspect"]
    assert with_command(made, ["replay", "stream"]) == ["replay", "stream"]
    assert with_command(made, ["--data", "x", "stream"]) == ["--data", "x", "open", "stream"]


def test_where_a_window_can_open_the_file_is_shown_in_it(monkeypatch, tmp_path):
    from app.window.shell import display, start

    shown = []
    monkeypatch.setattr(display, "reason", lambda: None)
    monkeypatch.setattr(display, "loses_references", lambda: None)
    monkeypatch.setattr(start, "show", lambda _context, file: shown.append(file))
    monkeypatch.setattr(opening, "end_at_once", lambda: None)

    opening.run(parser().parse_args(["open", str(tmp_path / RUN)]), None)

    assert shown == [tmp_path / RUN]
