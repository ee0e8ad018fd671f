"""The content of a handout, and that its files are whole."""

from __future__ import annotations

import getpass
import shutil
import subprocess

import pytest
from msgspec.structs import replace

from app.anonymous import nameless
from app.lecture.fallbacks import StandIns, made_name
from app.lecture.file import Item, Lecture
from app.lecture.handout import HandoutItem, find, handout
from app.lecture.lecture_state import LectureState, Turn
from app.lecture.options import Options, options_of_guess
from app.lecture.record import SUFFIX, HeldItem, LectureRecord, RecordKeeper, record_of
from app.lecture.record import read as read_record
from app.reports.document import Code, Document, Heading, Paragraph, Plot, Table
from app.reports.pictures import drawer
from app.reports.writing import as_text, written
from app.runs.library import Library, machine_name
from experiments.core.problems import Problem
from experiments.core.teaching.lessons import taught
from experiments.core.units import show
from experiments.engine.recording import read
from experiments.presentation.guesses.questions import named
from tests.app.lecture.made import AT, LECTURE, LESSON, OPTIONS, held, recording, texts
from tests.app.recordings import CATALOGUE, burst, threads
from tests.app.reports.made import NOTES, WORDS
from tests.shipped import SHIPPED

say = WORDS.say
LIVE = read(recording()).started


def thread_s() -> float:
    """Return what the recording that comes along says of a new thread."""
    return read(SHIPPED["start-cost"]).finished.finding.values["thread_s"]


@pytest.fixture(scope="module")
def lecture(tmp_path_factory) -> tuple[LectureRecord, list[HandoutItem]]:
    return held(tmp_path_factory.mktemp("held"))


@pytest.fixture(scope="module")
def document(qapp, lecture) -> Document:
    record, found = lecture
    return handout(WORDS, record, found, drawer(WORDS))


def item(document: Document, number: int) -> list:
    """Return the parts of one item, from its heading on."""
    parts = list(document.parts)
    places = [place for place, part in enumerate(parts) if isinstance(part, Heading)]
    return parts[places[number - 1] : [*places, None][number]]


def one(record: LectureRecord, folder, *made) -> tuple[list, list[Problem | None]]:
    """Return the parts and problems of a lecture whose library has these runs."""
    library = Library(folder)
    for each in made:
        library.adopt(each.write(folder / "made.coreopsis.jsonl"))
    found = find(
        record, StandIns(folder / f"x{SUFFIX}", folder / "data", CATALOGUE, library.runs())
    )
    document = handout(WORDS, record, found, None)
    return list(document.parts), [each.problem for each in found]


def test_it_has_title_date_machine_and_each_question(document):
    assert document.title == "Ten things"
    assert document.date == AT
    assert document.subtitle.endswith(f" · {machine_name(LIVE)}")
    assert document.name == "ten-things-2026-05-04"
    titles = (say("gil-threads.question"), "Tanh", say("cache-ladder.question"))
    heads = [part.text for part in document.parts if isinstance(part, Heading)]
    assert heads == [say("handout.heading", {"number": n, "title": title})
                     for n, title in enumerate(titles, start=1)]  # fmt: skip


def test_context_and_code_stand_before_the_answers(document):
    parts = item(document, 1)

    on = LESSON.stands_on
    kinds = [type(part) for part in parts]
    assert Code(tuple(on.code.splitlines())) in parts
    assert on.context in texts(parts)
    assert on.context == " ".join(LESSON.words.context.split())
    assert kinds.index(Code) < kinds.index(Table)
    assert not any(isinstance(part, Code) for part in item(document, 2))  # it has no lesson


def test_what_is_drawn_alone_is_voted_on_in_class(document):
    table = next(part for part in item(document, 3) if isinstance(part, Table))
    lesson = taught(CATALOGUE.load("cache-ladder"), CATALOGUE.homes["cache-ladder"])

    assert len(table.rows) == len(lesson.words.vote.options)
    assert lesson.words.vote.ask in texts(item(document, 3))


def test_votes_of_both_rounds_stand_beside_the_answers_and_the_right_one_is_marked(document):
    parts = item(document, 1)

    table = next(part for part in parts if isinstance(part, Table))
    keys = ["handout.option"] * 4
    keys[2] = "handout.right"
    answers = [say(key, {"letter": letter, "text": text})
               for key, letter, text in zip(keys, "ABCD", OPTIONS, strict=True)]  # fmt: skip
    assert [row[0] for row in table.rows] == answers
    assert table.rows[2][1:] == ("30", "36 %", "60", "75 %")
    assert LESSON.words.predict.ask in texts(parts)
    values = {"right": 30, "total": 84, "right_then": 60, "total_then": 80}
    assert say("handout.had_it_then", values) in texts(parts)


def test_verdict_plots_explanation_misconception_and_next_question_follow(document):
    parts = item(document, 1)
    said = "\n".join(texts(parts))

    explain = LESSON.words.explain
    assert say("handout.live", {"machine": machine_name(LIVE), "date": LIVE.at[:10]}) in said
    strong = [part.text for part in parts if getattr(part, "role", "") == "strong"]
    assert len(strong) == 2
    found = read(recording()).finished.finding
    assert strong[0] == say(f"gil-threads.findings.{found.message}", found.values)
    assert say(f"gil-threads.because.{found.message}", found.values) in said
    motion = LESSON.words.motion["title"]
    captions = [part.caption for part in parts if isinstance(part, Plot)]
    captions = [caption for caption in captions if not caption.startswith(motion)]
    views = (CATALOGUE.load("gil-threads").plots[0].key, explain.confirm.view)
    assert captions == [say(f"gil-threads.views.{view}") for view in views]
    assert explain.misconception.belief in said
    assert explain.transfer.ask in said
    assert "{" not in said


def test_an_item_without_a_lesson_says_so_and_a_recording_has_its_band(document):
    parts = item(document, 2)

    assert say("handout.recorded", {"machine": "Test CPU", "date": AT[:10]}) in texts(parts)
    assert say("activations.question") in texts(parts)
    assert say("handout.no_lesson") in texts(parts)
    assert not any(isinstance(part, Table) for part in parts)
    assert any(isinstance(part, Plot) for part in parts)


def test_a_damaged_run_is_told_and_the_recording_of_the_experiment_stands_in(document, lecture):
    parts, found = item(document, 3), lecture[1]

    problem = found[2].problem
    assert problem.key == "recording_damaged"
    reason = say(f"problems.{problem.key}", problem.values)
    assert say("handout.other_recording", {"reason": reason}) in texts(parts)
    assert any(text.startswith("RECORDED · ") for text in texts(parts))
    assert not any(text.startswith(say("handout.live")[:12]) for text in texts(parts))
    assert [found[place].problem for place in (0, 1)] == [None, None]


def test_a_lecture_that_nobody_has_held_has_answers_and_recordings_but_no_votes(tmp_path):
    parts, problems = one(record_of(LECTURE, "ten"), tmp_path)

    said = texts(parts)
    assert problems == [None, None, None]
    table = next(part for part in parts if isinstance(part, Table))
    assert table.head == (say("handout.answer"),)
    assert len(table.rows) == len(OPTIONS)
    assert say("handout.nobody") not in said
    assert not any(LECTURE.item[0].notes in text for text in said)  # they are the presenter's
    assert sum(text.startswith("RECORDED · ") for text in said) == 3


def test_a_recording_beside_the_lecture_comes_before_the_one_of_the_experiment(tmp_path):
    name = "mine.coreopsis.jsonl"
    threads(at="2025-01-02T00:00:00+00:00").write(tmp_path / name)
    lecture = Lecture(item=(Item(experiment="gil-threads", recording=name),))

    parts, problems = one(record_of(lecture, "ten"), tmp_path)

    assert problems == [None]
    assert say("handout.recorded", {"machine": "Test CPU", "date": "2025-01-02"}) in texts(parts)


@pytest.mark.parametrize("place", ["beside", "data"])
def test_what_preflight_recorded_comes_before_the_one_of_the_experiment(place, tmp_path):
    item = Item(experiment="gil-threads", set={"workers": 2})
    folder = tmp_path if place == "beside" else tmp_path / "data" / "lectures"
    name = made_name(item, CATALOGUE.load("gil-threads"))
    threads(at="2025-01-02T00:00:00+00:00").write(folder / "ten.recordings" / name)

    parts, problems = one(record_of(Lecture(item=(item,)), "ten"), tmp_path)

    assert problems == [None]
    assert say("handout.recorded", {"machine": "Test CPU", "date": "2025-01-02"}) in texts(parts)


def test_a_recording_of_another_experiment_is_not_taken(tmp_path):
    name = "mine.coreopsis.jsonl"
    burst().write(tmp_path / name)
    lecture = Lecture(item=(Item(experiment="gil-threads", recording=name),))

    _, problems = one(record_of(lecture, "ten"), tmp_path)

    values = {"name": name, "id": "gil-threads", "other": "burst-random"}
    assert problems == [Problem("fallback_of_other", values)]


@pytest.mark.parametrize(
    ("item", "key"),
    [
        (HeldItem(experiment="gil-threads", options=OPTIONS, first=(0, 0, 0, 0)),
         "handout_not_shown"),
        (HeldItem(experiment="p2p", run="x"), "handout_no_run"),
        (HeldItem(experiment="gil-treads"), "experiment_unknown_near"),
    ],
)  # fmt: skip
def test_an_item_without_a_run_says_so_and_reveals_nothing(item, key, tmp_path):
    parts, problems = one(LectureRecord(at=AT, item=(item,)), tmp_path)

    assert [problem.key for problem in problems] == [key]
    reason = say(f"problems.{key}", problems[0].values)
    assert say("handout.no_result", {"reason": reason}) in texts(parts)
    rows = [row for part in parts if isinstance(part, Table) for row in part.rows]
    right = say("handout.right", {"letter": "", "text": ""})[-7:]
    assert not any(cell.endswith(right) for row in rows for cell in row)
    assert (say("handout.nobody") in texts(parts)) == bool(item.options)


def test_a_run_that_is_gone_is_replaced_and_this_is_told(tmp_path):
    record = LectureRecord(at=AT, item=(HeldItem(experiment="gil-threads", run="gone"),))

    parts, problems = one(record, tmp_path, threads())

    assert [problem.key for problem in problems] == ["handout_run_gone"]
    assert any(text.startswith("RECORDED · ") for text in texts(parts))


def test_of_a_recording_that_was_shown_only_the_run_itself_must_be_there(tmp_path):
    run = LIVE.run
    item = HeldItem(experiment="gil-threads", run=run, is_recording=True, recording="gone.jsonl")

    parts, problems = one(LectureRecord(at=AT, item=(item,)), tmp_path)

    assert problems == [None]
    band = {"machine": machine_name(LIVE), "date": LIVE.at[:10]}
    assert say("handout.recorded", band) in texts(parts)


def test_answers_that_the_lesson_has_changed_since_are_not_marked(tmp_path):
    made = threads()
    old = HeldItem(experiment="gil-threads", options=("now", "later"), first=(3, 4), run=made.run)

    parts, _ = one(LectureRecord(at=AT, item=(old,)), tmp_path, made)

    table = next(part for part in parts if isinstance(part, Table))
    assert [row[0] for row in table.rows] == ["A. now", "B. later"]


def test_of_a_magnitude_the_nearest_answer_is_right(tmp_path):
    made = burst()  # shuffled, in order of 20 times as long
    item = HeldItem(
        experiment="burst-random",
        options=("about 2×", "about 20×", "about 200×"),
        numbers=(2.0, 20.0, 200.0),
        first=(1, 1, 0),
        run=made.run,
    )

    parts, _ = one(LectureRecord(at=AT, item=(item,)), tmp_path, made)

    rows = next(part for part in parts if isinstance(part, Table)).rows
    assert rows[1][:2] == (say("handout.right", {"letter": "B", "text": "about 20×"}), "1")
    assert say("handout.had_it", {"right": 1, "total": 2}) in texts(parts)


def test_a_lecture_without_questions_says_so(tmp_path):
    parts, _ = one(LectureRecord(), tmp_path)

    assert parts == [Paragraph(say("handout.empty"))]


def test_nobody_is_named(lecture):
    user = getpass.getuser()
    path = f"/home/{user}/secret"
    record, found = lecture
    record = replace(record, title=f"In {path}\x1b[31m")

    document = handout(WORDS, record, found, None)

    assert path not in document.title
    assert "\x1b" not in document.title
    text = as_text(document, "text", WORDS)
    assert nameless()(text) == text


def test_what_the_presenter_wrote_and_guessed_stays_with_the_presenter(tmp_path):
    record = LectureRecord(at=AT, item=(HeldItem(experiment="gil-threads", run=LIVE.run),))
    library = Library(tmp_path)
    library.adopt(recording())
    before, _ = one(record, tmp_path)

    library.describe(library.runs()[0], NOTES)

    assert one(record, tmp_path)[0] == before


def test_a_lecture_that_has_just_ended_becomes_a_handout(tmp_path):
    library, made = Library(tmp_path), threads()
    library.adopt(made.write(tmp_path / "made.coreopsis.jsonl"))
    lecture = Lecture(title="Ten things", item=(Item(experiment="gil-threads"),))
    keeper = RecordKeeper(lecture, None, tmp_path, AT)
    course = LectureState([Turn(options=4)])
    course.forward()
    course.vote(2)
    keeper.keep(0, course.turn, Options("?", OPTIONS), made.run)

    found = find(keeper.record, StandIns(keeper.origin, tmp_path, CATALOGUE, library.runs()))
    document = handout(WORDS, keeper.record, found, None)

    assert "Test CPU" in document.subtitle
    assert say("handout.had_it", {"right": 1, "total": 1}) in texts(document.parts)
    assert handout(WORDS, read_record(keeper.path), found, None) == document


def test_html_is_valid_and_its_foot_tells_of_a_lecture(document, tmp_path):
    html = as_text(document, "html", WORDS)

    assert "<svg" in html
    assert say("handout.written_by", {"program": ""}).partition("Coreopsis")[0] in html
    if shutil.which("tidy") is None:
        pytest.skip("tidy is not installed")
    path = tmp_path / "x.html"
    path.write_text(html, encoding="utf-8")
    said = subprocess.run(["tidy", "-e", "-q", "-utf8", path], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")


def test_a_pdf_has_the_questions_as_text(document, tmp_path):
    path = tmp_path / "x.pdf"
    path.write_bytes(written(document, "pdf", WORDS))
    if shutil.which("pdftotext") is None:
        pytest.skip("poppler is not installed")
    command = ["pdftotext", "-layout", path, "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    said = " ".join(said.split())
    for text in [part.text for part in document.parts if isinstance(part, Heading)]:
        assert text in said
    assert say("lesson.belief", {"belief": LESSON.words.explain.misconception.belief,
                                 "answer": ""}).strip()[:30] in said  # fmt: skip


def test_a_guess_is_told_with_its_votes_its_answer_and_why_without_the_plot(tmp_path):
    question = named("thread")
    options = options_of_guess(question, WORDS)
    started = read(SHIPPED[question.experiment]).started
    record = LectureRecord(
        name="x",
        at=AT,
        item=(
            HeldItem(experiment=question.experiment, guess=question.id, options=options.texts,
                     numbers=options.numbers, first=(1, 2, 3, 4), run=started.run,
                     is_recording=True),
        ),
    )  # fmt: skip
    library = Library(tmp_path)
    library.adopt(SHIPPED[question.experiment])
    stand_ins = StandIns(tmp_path / f"x{SUFFIX}", tmp_path / "data", CATALOGUE, library.runs())
    document = handout(WORDS, record, find(record, stand_ins), None)

    said = " ".join(texts(document.parts))

    assert options.ask in said
    assert WORDS.say("guess.thread.because") in said
    assert f"The answer: {show(thread_s(), 's')}." in said
    assert say("handout.had_it", {"right": 3, "total": 10}) in said  # about 100 µs
    assert say("handout.no_lesson") not in said
    assert not [part for part in document.parts if isinstance(part, Plot)]
