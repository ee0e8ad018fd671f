"""`coreopsis worksheet`: Markdown, HTML and PDF of one run and of several."""

from __future__ import annotations

from app.runs.library import Library
from experiments.core.teaching.lessons import GAP
from tests.app.recordings import ladder, threads
from tests.app.reports.made import WORDS

NAME = WORDS.say("worksheet.name")


def test_a_sheet_of_two_recordings_has_both_questions(coreopsis):
    said = coreopsis("worksheet", "gil-threads", "isolation")

    assert (said.code, said.err) == (0, "")
    for name in ("gil-threads", "isolation"):
        assert WORDS.say(f"{name}.question") in said.out
    assert NAME in said.out


def test_a_kept_run_is_named_by_its_first_letters_and_written_for_paper(
    qapp, coreopsis, inside, tmp_path
):
    made = threads()
    Library(coreopsis.data).adopt(made.write(tmp_path / "made.coreopsis.jsonl"))

    said = inside("worksheet", made.run[:6], "--html", "a.html", "--pdf", "a.pdf")

    assert (said.code, said.out, said.err) == (0, "", "")
    html = (coreopsis.folder / "a.html").read_text(encoding="utf-8")
    assert GAP in html
    assert "<svg" in html
    assert (coreopsis.folder / "a.pdf").read_bytes().startswith(b"%PDF-")


def test_answers_have_no_line_for_a_name(coreopsis):
    said = coreopsis("worksheet", "gil-threads", "--answers")
    assert said.code == 0
    assert NAME not in said.out
    assert WORDS.say("lesson.explain") in said.out


def test_a_run_that_cannot_tell_makes_another_exit_code(coreopsis):
    path = ladder(outcome="stopped").write(coreopsis.folder / "cut.coreopsis.jsonl")
    said = coreopsis("worksheet", str(path))
    assert said.code == 4
    assert WORDS.say("worksheet.cannot_tell") in said.out.replace("\\", "")


def test_a_run_that_is_not_there_is_said_in_a_sentence(coreopsis):
    said = coreopsis("worksheet", "nothing-of-the-kind")
    assert said.code == 2
    assert "nothing-of-the-kind" in said.err
