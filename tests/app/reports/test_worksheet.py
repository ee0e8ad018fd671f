"""A worksheet asks for what its run shows, and its answer sheet says it."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec

from app.loaded_run import lesson_run_of, load
from app.reports.document import Bullets, Document, Paragraph, Plot, Ruled
from app.reports.privacy import Include
from app.reports.run_report import source_of
from app.reports.worksheet import LEAVES, can_tell, worksheet
from app.runs.run_notes import RunNotes, notes_path
from experiments.core.judging.trust import Trust
from experiments.core.teaching.lesson_run import Guess
from experiments.core.teaching.lessons import GAP, MOST_GAPS, Taught
from tests.app.recordings import CATALOGUE, ladder, threads
from tests.app.reports.made import WORDS

ANSWERS = replace(LEAVES, answers=True)
OWN = "Every thread waits for the lock."


def sheet(folder, made, include: Include = LEAVES, notes: RunNotes | None = None) -> Document:
    path = made.write(folder / f"{made.run}.coreopsis.jsonl")
    if notes is not None:
        notes_path(path).write_bytes(msgspec.json.encode(notes))
    return worksheet([source_of(path, CATALOGUE)], WORDS, include, None)


def sentences(document: Document) -> list[str]:
    """Return what is to be filled in, or its answers: the last list of a sheet."""
    return list([part for part in document.parts if isinstance(part, Bullets)][-1].items)


def said(document: Document) -> str:
    return "\n".join(part.text for part in document.parts if isinstance(part, Paragraph))


def test_each_lesson_leaves_out_numbers_of_its_run_and_knows_them():
    wrong = []
    for experiment in CATALOGUE:
        lesson, path = CATALOGUE.lesson(experiment), CATALOGUE.recording(experiment.id)
        if lesson is None or path is None:
            continue
        run = lesson_run_of(load(path, CATALOGUE, is_opened=True).run_state)
        gaps = lesson.gaps(run)
        blanks = sum(gap.text.count(GAP) for gap in gaps)
        if not gaps or blanks < len(gaps) or len(gaps) > MOST_GAPS:
            wrong.append(f"{experiment.id}: {len(gaps)} sentences, {blanks} gaps")
        for gap in gaps:
            pattern = re.escape(gap.text).replace(re.escape(GAP), r".*\w.*")
            if "{" in gap.text + gap.answer or not re.fullmatch(pattern, gap.answer):
                wrong.append(f"{experiment.id}: {gap.text} / {gap.answer}")
        if lesson.gaps(msgspec.structs.replace(run, trust=Trust.DISTURBED)):
            wrong.append(f"{experiment.id}: a disturbed run has answers")
    assert not wrong, "\n".join(wrong)


def test_a_sheet_asks_and_its_answer_sheet_says_it(tmp_path):
    guess = Guess(kind="choice", at=(0.0,), sure=2)
    notes = RunNotes(guess=guess, own_words=OWN)
    asked = sheet(tmp_path, threads(), notes=notes)
    answered = sheet(tmp_path, threads(), ANSWERS, notes)

    assert all(GAP in each for each in sentences(asked))
    assert not any(GAP in each for each in sentences(answered))
    assert any(isinstance(part, Plot) for part in asked.parts)
    lesson = CATALOGUE.lesson(CATALOGUE.load("gil-threads"))
    for document in (asked, answered):
        facts = str(document.parts)
        assert lesson.told(guess) in facts
        assert OWN in said(document)
    assert WORDS.say("worksheet.measured") in str(answered.parts)
    assert WORDS.say("worksheet.measured") not in str(asked.parts)


def test_what_was_measured_is_left_out_where_it_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(Taught, "told_right", lambda *_given: "")

    document = sheet(tmp_path, threads(), ANSWERS)
    assert can_tell(document, WORDS)
    assert WORDS.say("worksheet.measured") not in str(document.parts)


def test_without_a_guess_and_words_there_is_room_for_them(tmp_path):
    document = sheet(tmp_path, ladder())
    asked = next(part for part in document.parts if isinstance(part, Bullets))
    options = CATALOGUE.lesson(CATALOGUE.load("cache-ladder")).words.vote.options
    assert [option.text for option in options] == [item.lstrip("☐ ") for item in asked.items]
    assert any(isinstance(part, Ruled) for part in document.parts)


def test_a_run_that_cannot_tell_says_so_in_place_of_gaps(tmp_path):
    made = ladder(outcome="stopped")
    for include in (LEAVES, ANSWERS):
        document = sheet(tmp_path, made, include)
        assert WORDS.say("worksheet.cannot_tell") in said(document)
        assert GAP not in "".join(sentences(document))
        assert not can_tell(document, WORDS)
    assert can_tell(sheet(tmp_path, ladder()), WORDS)


def test_what_names_somebody_stays_but_for_the_own_words(tmp_path):
    notes = RunNotes(name="Ada's laptop", note="secret", own_words=OWN)
    told = repr(sheet(tmp_path, threads(), replace(LEAVES, data=True), notes))
    assert "secret" not in told
    assert "Ada" not in told
