"""Texts about a lecture on its way, for the presenter's window and the strip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.lecture.file import MINUTE_S
from app.lecture.lecture_state import LETTERS, LectureState, Step
from app.window.core.session import Session
from app.window.lecture.conductor import Conductor
from app.window.lecture.items import seconds_of
from app.window.lecture.keys import ALSO, LETTER_OF
from app.window.lecture.slide_content import next_key, typed_key
from experiments.core.units import DURATION, show
from experiments.core.words import Words
from widgets.lecture.presenter_data import Act, ItemLine, PresenterData, Standing

ON_TIME_S = 45.0  # nobody needs to hear of less


def presenter_texts(session: Session, conductor: Conductor) -> PresenterData:
    """Return all texts of the presenter's window."""
    say, course = session.words.say, conductor.course
    typed = typed_key(session.words, conductor, is_for_class=False)
    plan, is_behind = _plan(session.words, conductor)
    hidden = conductor.is_black or conductor.is_frozen
    key = "black" if conductor.is_black else "frozen" if conductor.is_frozen else "sees"
    step = conductor.next_step
    if hidden:
        then = say("lecture.hidden", {"step": say(f"lecture.next.{course.turn.step}")})
    else:
        coming = step or str(conductor.after().turn.step)
        then = say("lecture.then", {"step": say(f"lecture.next.{coming}")})
    sees = say(f"lecture.{key}")
    if course.has_hidden_votes and not hidden:
        counts = zip(LETTERS, course.turn.votes.counts, strict=False)  # only for the presenter
        votes = ", ".join(f"{letter} {count}" for letter, count in counts)
        sees = say("lecture.sees_hidden", {"votes": votes})
    return PresenterData(
        sees=sees,
        then=then,
        notes=conductor.prepared.item.notes or say("lecture.no_notes"),
        clock=clock(conductor.elapsed_s),
        plan=typed or plan,
        is_behind=is_behind and not typed,
        items=tuple(_line(session, conductor, place) for place in range(len(conductor.items))),
        place=course.place,
        acts=tuple(_acts(session, conductor, step)),
        problem=" ".join(filter(None, (conductor.trouble, conductor.aside))),
        machine=_machine(session),
        worker=conductor.doing or (say("lecture.warm") if conductor.is_ready else ""),
    )


def strip_of(words: Words, conductor: Conductor) -> tuple[str, str]:
    """Return the two texts of the strip: where the lecture is, and what comes next."""
    say, course = words.say, conductor.course
    values = {"place": course.place + 1, "count": len(course.turns)}
    where = [say("lecture.place", values), clock(conductor.elapsed_s)]
    where += filter(None, (typed_key(words, conductor), conductor.trouble, conductor.aside))
    coming = conductor.doing or next_key(words, conductor)
    return " · ".join(where), coming


def clock(elapsed_s: float) -> str:
    """Return a time as 21:40, or 1:02:03."""
    minutes, seconds = divmod(int(elapsed_s), int(MINUTE_S))
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _plan(words: Words, conductor: Conductor) -> tuple[str, bool]:
    say, lecture = words.say, conductor.lecture
    off_s = lecture.behind_s(conductor.course.place, conductor.elapsed_s)
    if off_s is None:
        return say("lecture.no_plan"), False
    of = say("lecture.of_minutes", {"minutes": f"{lecture.planned_minutes or 0:g}"})
    if abs(off_s) < ON_TIME_S:
        return f"{of} · {say('lecture.on_time')}", False
    key = "lecture.behind" if off_s > 0 else "lecture.ahead"
    minutes = max(1, round(abs(off_s) / MINUTE_S))
    return f"{of} · {say(key, {'minutes': minutes})}", off_s > 0


def _line(session: Session, conductor: Conductor, place: int) -> ItemLine:
    say, course, prepared = session.words.say, conductor.course, conductor.items[place]
    turn = course.turns[place]
    if place == course.place:
        state = say("lecture.now", {"step": say(f"lecture.next.{turn.step}")})
        return ItemLine(prepared.title, state, Standing.NOW)
    if turn.is_done:
        votes = turn.votes.total
        state = say("lecture.done_votes", {"count": votes}) if votes else say("lecture.done")
        return ItemLine(prepared.title, state, Standing.DONE)
    if prepared.problem is not None:
        state = session.say(prepared.problem)
        return ItemLine(prepared.title, state, Standing.NOTHING)
    seconds = seconds_of(session, prepared)
    if seconds is None:
        return ItemLine(prepared.title, say("lecture.recording_only"), Standing.RECORDING)
    state = say("lecture.ready", {"duration": show(seconds, DURATION)})
    return ItemLine(prepared.title, state, Standing.READY)


def _acts(session: Session, conductor: Conductor, step: str) -> Iterator[Act]:
    say, turn = session.words.say, conductor.course.turn
    key_of = session.settings.key_of

    def act(name: str, *, key: str = "", allowed: bool = True) -> Act:
        text = say(f"lecture.acts.{key or name}")
        return Act(name, text, key_of(LETTER_OF[name]), False, allowed)

    is_waiting = turn.step is Step.RUN and not turn.is_measured and not conductor.trouble
    words = say(f"lecture.acts.next_{step}") if step else say("lecture.acts.measuring")
    yield Act("forward", words, say("lecture.page_down"), True, bool(step) and not is_waiting)
    yield act("vote_again", allowed=turn.step is Step.VOTE)
    course = conductor.course
    is_hiding = course.has_hidden_votes if course.is_voting else course.hides_votes
    yield act("hide_votes", key="unhide_votes" if is_hiding else "")
    yield act("freeze", key="thaw" if conductor.is_frozen else "")
    yield act("show_recording", allowed=not conductor.is_by_recording)
    yield act("show_live", allowed=conductor.is_by_recording or bool(conductor.trouble))
    moves = "stop_motion" if conductor.is_moving else ""
    yield act("play_motion", key=moves, allowed=conductor.motion is not None)
    black = act("blacken", key="unblacken" if conductor.is_black else "")
    is_dot = conductor.course.is_voting  # B counts a hand then
    yield replace(black, keys=key_of(ALSO["blacken"])) if is_dot else black
    yield act("use_halo")
    yield act("turn_light", allowed=not conductor.is_frozen)
    yield act("swap")
    yield act("show_keys")
    yield Act("ask_to_leave", say("lecture.acts.leave"), "Esc")


def _machine(session: Session) -> str:
    """Return how the machine stands: quiet or busy, on mains or battery, and the free threads."""
    say, load, found = session.words.say, session.other_load, list[str]()
    threads = load.busy_threads
    if threads is not None:
        busy = {"threads": f"{threads:.1f}"}
        found.append(say("frame.quiet") if load.is_quiet else say("lecture.busy", busy))
    if load.is_on_battery is not None:
        found.append(say("lecture.on_battery" if load.is_on_battery else "lecture.on_mains"))
    if threads is not None:
        free = max(0, round(load.thread_count - threads))
        found.append(say("lecture.free", {"free": free, "count": load.thread_count}))
    return say("lecture.machine", {"state": ", ".join(found)}) if found else ""


def then_of(conductor: Conductor) -> LectureState:
    """Return the course that the second picture shows: the next step, or what is hidden now."""
    if conductor.is_black or conductor.is_frozen:
        return conductor.course
    return conductor.after()
