"""`coreopsis handout`: a lecture or its record as Markdown, HTML and PDF."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.lecture.file import Item, Lecture, encode
from app.lecture.record import SUFFIX, HeldItem, LectureRecord
from app.runs.library import Library
from tests.app.lecture.made import AT, OPTIONS
from tests.app.recordings import threads
from tests.app.reports.made import WORDS

QUESTION = WORDS.say("gil-threads.question")


@pytest.fixture
def lecture(coreopsis) -> str:
    name = "ten.coreopsis-lecture.toml"
    items = (Item(experiment="gil-threads"), Item(experiment="activations"))
    path = coreopsis.folder / name
    path.write_bytes(encode(Lecture(title="Ten things", item=items)))
    return name


def record(folder: Path, run: str) -> str:
    """Write the record of a lecture of one item beside nothing else."""
    item = HeldItem(experiment="gil-threads", options=OPTIONS, first=(1, 2, 3, 4), run=run)
    path = folder / f"ten{SUFFIX}"
    path.write_bytes(msgspec.json.encode(LectureRecord(title="Ten things", at=AT, item=(item,))))
    return path.name


def test_a_lecture_is_written_as_markdown_without_qt(coreopsis, lecture):
    said = coreopsis("handout", lecture)

    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("# Ten things\n")
    assert QUESTION in said.out
    assert WORDS.say("activations.question") in said.out
    assert not coreopsis.data.exists()  # nothing was asked of the library


def test_the_record_of_one_that_was_held_has_votes_and_the_run_of_the_library(
    coreopsis, inside, tmp_path
):
    made = threads()
    Library(coreopsis.data).adopt(made.write(tmp_path / "made.coreopsis.jsonl"))

    said = inside("handout", record(coreopsis.folder, made.run))

    assert (said.code, said.err) == (0, "")
    assert "| 2 | 20 % |" in said.out
    assert WORDS.say("handout.live", {"machine": "Test CPU", "date": AT[:10]}) in said.out


def test_html_and_pdf_are_written_and_nothing_else_is_said(qapp, coreopsis, inside, lecture):
    said = inside("handout", lecture, "--html", "a.html", "--pdf", "a.pdf")

    assert (said.code, said.out, said.err) == (0, "", "")
    html = (coreopsis.folder / "a.html").read_text(encoding="utf-8")
    assert QUESTION in html
    assert "<svg" in html
    assert (coreopsis.folder / "a.pdf").read_bytes().startswith(b"%PDF-")


def test_an_item_without_its_run_is_told_and_makes_another_exit_code(coreopsis, inside):
    said = inside("handout", record(coreopsis.folder, "gone"))

    assert said.code == 4
    assert said.sentence == WORDS.say("problems.handout_run_gone")
    assert "RECORDED" in said.out


def test_without_qt_html_has_no_plots_and_says_so_and_there_is_no_pdf(coreopsis, lecture):
    coreopsis.may_ask_for_qt = True

    said = coreopsis("handout", lecture, "--html", "a.html")
    assert said.code == 0
    html = (coreopsis.folder / "a.html").read_text(encoding="utf-8")
    assert "<svg" not in html
    assert WORDS.say("handout.no_plots") in html
    assert "Pictures are drawn by" in said.sentence

    refused = coreopsis("handout", lecture, "--pdf", "a.pdf")
    assert refused.code == 3
    # What adds Qt depends on the folder that one is in.
    assert refused.sentence.startswith(WORDS.say("problems.pdf_needs_qt").partition("`")[0])
    assert not (coreopsis.folder / "a.pdf").exists()


@pytest.mark.parametrize(
    ("data", "key"),
    [(None, "recording_unreadable"), (b"x = 1", "no_lecture"), (b"{}", "no_lecture")],
)
def test_a_file_that_is_none_is_one_sentence(coreopsis, inside, data, key):
    if data is not None:
        (coreopsis.folder / "x").write_bytes(data)

    said = inside("handout", "x")

    assert (said.code, said.out) == (2, "")
    assert said.sentence.startswith(WORDS.say(f"problems.{key}", {"name": "x"})[:10])


def test_a_place_that_cannot_be_written_is_one_sentence(qapp, coreopsis, inside, lecture):
    said = inside("handout", lecture, "--html", "no/such/a.html")

    assert (said.code, said.out) == (1, "")
    assert "no/such/a.html" in said.sentence
