"""The content of a lecture's slide now, and after the next key."""

from __future__ import annotations

from app.guesses import in_words
from app.lecture.lecture_state import LETTERS, Hint, LectureState, Step, Turn
from app.loaded_run import band
from app.report import Report, report_of
from app.window.core.session import Session
from app.window.lecture.conductor import Conductor
from app.window.lecture.keys import LETTER_OF
from app.window.lecture.shown_runs import ShownRuns
from experiments.core.judging.trust import as_trusted
from experiments.core.teaching.lessons import Background
from experiments.core.words import Words
from experiments.engine.run_state import RunState
from experiments.presentation.guesses.questions import Question
from machine.model import physical_cores
from widgets.lecture.slide_data import SlideData
from widgets.lecture.vote_board import DOT

PLOTTED = (Step.RUN, Step.REVEAL, Step.EXPLAIN)


def slide_content(
    session: Session, conductor: Conductor, runs: ShownRuns, course: LectureState | None = None
) -> SlideData:
    """Return what is shown now, or with another `course` what would be."""
    now = conductor.course
    course = course or now
    turn, words = course.turn, session.words
    prepared = conductor.items[course.place]
    options = prepared.options
    is_vote = turn.step in (Step.VOTE, Step.AGAIN)
    is_asked = turn.step is Step.QUESTION or is_vote
    run_state = runs.of(course) if turn.step in PLOTTED else None
    told = None
    if turn.step is Step.EXPLAIN and run_state is not None and run_state.finished is not None:
        told = report_of(words, run_state)
    verdict, said = _explained(words, runs.right(), told, turn) if told is not None else ("", "")
    if told is not None and prepared.question is not None:
        verdict, said = _answered(words, runs.right(), prepared.question, run_state, turn)
    background = prepared.taught.stands_on if prepared.taught and is_asked else Background()
    return SlideData(
        place=course.place + 1,
        count=len(course.turns),
        step=str(turn.step),
        title=options.ask if options and is_asked and not prepared.item.title else prepared.title,
        context=background.context,
        code=background.code,
        options=options.texts if options and is_asked else (),
        votes=turn.votes.counts if is_vote else (),
        before=turn.first.counts if turn.step is Step.AGAIN else (),
        is_hidden=course.has_hidden_votes,
        typed=conductor.typed if is_vote and course is now else "",
        typed_for=conductor.chosen if is_vote and course is now and conductor.typed else 0,
        hint=_hint(words, turn, is_hidden=course.has_hidden_votes) if is_vote else "",
        key=_key(session, conductor) if course is now else "",
        source=_source(session) if run_state and run_state.rows and not turn.is_recording else "",
        band=_band(words, run_state) if turn.is_recording else "",
        verdict=verdict,
        said=said,
        busy=conductor.doing if course is now and turn.step is Step.RUN else "",
    )


def typed_key(words: Words, conductor: Conductor, *, is_for_class: bool = True) -> str:
    """Return what Enter does with the number that is typed, "" where there is none.

    The class sees no number of hands while votes are hidden.
    """
    say, typed = words.say, conductor.typed
    if not typed:
        return ""
    if not conductor.course.is_voting:
        return say("lecture.typed", {"number": typed})
    is_hidden = is_for_class and conductor.course.has_hidden_votes
    number = DOT * len(typed) if is_hidden else typed
    values = {"letter": LETTERS[conductor.chosen], "number": number}
    return say("lecture.typed_votes", values)


def next_key(words: Words, conductor: Conductor) -> str:
    """Return what the next key does, "" where it does nothing."""
    step, say = conductor.next_step, words.say
    return say("lecture.next_key", {"next": say(f"lecture.next.{step}")}) if step else ""


def _key(session: Session, conductor: Conductor) -> str:
    """Return what the next key does, and the key of a motion where there is one."""
    words = session.words
    if typed := typed_key(words, conductor):
        return typed
    moving = ""
    if conductor.motion is not None:
        key = "lecture.plot_key" if conductor.is_moving else "lecture.motion_key"
        moving = words.say(key, {"key": session.settings.key_of(LETTER_OF["play_motion"])})
    return " · ".join(filter(None, (moving, next_key(words, conductor))))


def _hint(words: Words, turn: Turn, *, is_hidden: bool) -> str:
    votes = turn.votes
    if is_hidden:
        key = "lecture.votes_hidden_one" if votes.total == 1 else "lecture.votes_hidden"
        return words.say(key, {"count": votes.total})
    hint = votes.hint()
    if hint is Hint.NONE:
        return ""
    values = {"count": votes.total, "percent": round(100 * votes.most_fraction)}
    counted = words.say("lecture.votes_one" if votes.total == 1 else "lecture.votes", values)
    return f"{counted} {words.say(f'lecture.hint.{hint}')}"


def _explained(words: Words, right: int | None, told: Report, turn: Turn) -> tuple[str, str]:
    """Return the verdict and its cause, with how many had it."""
    return told.finding, " ".join(filter(None, (_had_it(words, right, turn), told.because)))


def _answered(
    words: Words, right: int | None, question: Question, run_state: RunState | None, turn: Turn
) -> tuple[str, str]:
    """Return the answer of a guess and its cause, with how many had it."""
    finding = run_state.finished.finding if run_state and run_state.finished else None
    if finding is None or question.value not in finding.values:
        return words.say("lecture.too_busy"), ""
    value = as_trusted(finding.values, finding.trust)[question.value]
    had, because = _had_it(words, right, turn), in_words.because(words, question)
    return in_words.answer(words, question, value), " ".join(filter(None, (had, because)))


def _had_it(words: Words, right: int | None, turn: Turn) -> str:
    votes = turn.votes
    if right is None or not votes.total:
        return ""
    return words.say("lecture.had_it", {"right": votes.counts[right], "total": votes.total})


def _source(session: Session) -> str:
    machine, say = session.machine, session.words.say
    cores = physical_cores(machine) if machine is not None else None
    return say("lecture.live_cores", {"cores": cores}) if cores else say("lecture.live")


def _band(words: Words, run_state: RunState | None) -> str:
    started = run_state.started if run_state is not None else None
    return band(words, started) if started is not None else ""
