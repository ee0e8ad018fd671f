"""What does the page of an experiment say is going on? One state, put into words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from app.report import DISTURBANCES, Report
from app.when import when
from app.window.core.availability import Entry
from app.window.core.time_left import time_left
from app.window.experiment.loaded_run import Shown
from experiments.core.words import Words
from experiments.engine import messages as wire
from experiments.engine.run_state import Following


class State(Enum):
    """Exactly one of these holds at any time."""

    READING = auto()  # a file
    LOOKING = auto()  # at the machine, which is not known yet
    CANNOT = auto()  # this machine lacks something
    READY = auto()  # nothing to show yet
    BEGINNING = auto()
    WAITING = auto()  # for another program that measures
    RUNNING = auto()
    STOPPING = auto()
    ELSEWHERE = auto()  # something else runs than what is shown
    ENDED = auto()
    PLAYING = auto()  # a recording

    @property
    def is_under_way(self) -> bool:
        """Does the shown run go on?"""
        return self in (State.BEGINNING, State.WAITING, State.RUNNING, State.STOPPING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the head of the side column says."""

    title: str = ""
    aside: str = ""
    aside_help: str = ""
    sentence: str = ""
    detail: str = ""
    fraction: float | None = None
    busy: bool = False


def state_of(
    entry: Entry | None,
    shown: Shown | None,
    under_way: Following | None,
    *,
    stopping: bool,
    playing: bool,
) -> State:
    """Return which state holds, while no file is being read."""
    if playing:
        return State.PLAYING
    if under_way is not None and (shown is None or shown.following is not under_way):
        return State.ELSEWHERE
    if under_way is not None:
        return State.STOPPING if stopping else _of_run(under_way)
    if shown is not None:
        return State.ENDED
    if entry is None:
        return State.LOOKING
    return State.READY if entry.need is None else State.CANNOT


def _of_run(following: Following) -> State:
    if following.started is not None:
        return State.RUNNING
    notes = following.notes
    is_waiting = notes and notes[-1].key == "waiting_for_machine"
    return State.WAITING if is_waiting else State.BEGINNING


def before(words: Words, state: State, seconds_s: float | None, need: str | None) -> Standing:
    """Return what is said while there is no run."""
    if state is State.CANNOT and need:
        return Standing(title=words.say("page.cannot"), detail=words.say(f"problems.needs_{need}"))
    if state is State.READING:
        return Standing(title=words.say("page.reading"), busy=True)
    if state is State.LOOKING or seconds_s is None:
        return Standing(title=words.say("page.looking"), busy=True)
    return Standing(title=words.say("page.ready"), aside=seconds_here(words, seconds_s))


def seconds_here(words: Words, seconds_s: float) -> str:
    """Return how long a run takes, in whole seconds."""
    return words.say("terminal.seconds_here", {"duration": seconds_s})


def during(words: Words, state: State, following: Following, doing: str) -> Standing:
    """Return what is said while the shown run goes on."""
    if state is State.WAITING:
        note = following.notes[-1].values
        question = words.say(f"{note.get('experiment')}.question")
        detail = words.say("page.waits_for", {"question": question, "since": note.get("since", "")})
        return Standing(title=words.say("page.waiting"), detail=detail, busy=True)
    if state is not State.RUNNING:
        if state is State.STOPPING:
            return Standing(title=words.say("page.stopping"), busy=True)
        modules = ", ".join(following.experiment.imports)
        detail = words.say("page.loading", {"modules": modules}) if modules else ""
        return Standing(title=words.say("page.beginning"), detail=detail, busy=True)
    fraction = following.progress.fraction
    plots = following.experiment.plots
    prepares = not fraction and not any(following.drawn_from.get(plot.table) for plot in plots)
    return Standing(
        title=words.say("page.preparing" if prepares else "page.running"),
        aside=time_left(words, following),
        aside_help=words.say("page.time_left_help"),
        detail=words.say("page.preparing_what") if prepares else doing,
        fraction=None if prepares else fraction,
        busy=prepares,
    )


def after(
    words: Words, shown: Shown, told: Report, changed: Iterable[str], names: Iterable[str]
) -> Standing:
    """Return what is said of a run that has ended; `changed` are settings out of the ordinary.

    `names` are what it is called, in a comparison and by somebody; "" where it is not.
    """
    started, title = shown.following.started, ""
    settings = ", ".join(changed)
    detail = words.say("page.changed", {"settings": settings}) if settings else ""
    if started is not None:
        kind = "page.quick_run_of" if started.quick else "page.full_run_of"
        title = words.say("page.run_of" if told.ending else kind, {"when": when(words, started.at)})
        title = " · ".join(part for part in (*names, title) if part)
    if told.ending and told.finding:
        detail = " ".join(part for part in (words.say("outcomes.partial"), detail) if part)
    return Standing(title=title, sentence=told.ending or told.finding, detail=detail)


def elsewhere(words: Words, following: Following, *, same: bool) -> Standing:
    """Return what is said while something else runs than what is shown."""
    if same:
        return Standing(title=words.say("page.runs_here"))
    question = words.say(f"{following.experiment.id}.question")
    return Standing(
        title=words.say("page.runs_elsewhere"),
        detail=words.say("page.other_runs", {"question": question}),
    )


def playing(words: Words, shown: Shown, doing: str, name: str, left_out_s: float) -> Standing:
    """Return what is said while a recording is played; `name` is "" where nobody gave it one."""
    started = shown.following.started
    at = when(words, started.at) if started is not None else ""
    title = " · ".join(part for part in (words.say("page.playing"), name) if part)
    lines = [doing or words.say("page.preparing_what")]
    if left_out_s:  # else the time of the replay would seem to contradict that of the run
        lines.append(words.say("replay.begins", {"duration": left_out_s}))
    return Standing(title=title, aside=at, detail="\n".join(lines))


def notes_of(words: Words, shown: Shown) -> tuple[str, ...]:
    """Return what there is to say of a run after its result."""
    told_elsewhere = ("waiting_for_machine", *DISTURBANCES)
    notes = [note for note in shown.following.notes if note.key not in told_elsewhere]
    if shown.note is not None:
        notes.append(shown.note)
    mended = shown.recording.notes if shown.recording is not None else ()
    return (
        *(words.say(f"notes.{note.key}", note.values) for note in notes),
        *(words.say(f"notes.{key}") for key in mended),
    )


def disturbances_of(words: Words, shown: Shown) -> tuple[str, ...]:
    """Return what disturbed a run so much that its result may be off."""
    notes = (note for note in shown.following.notes if note.key in DISTURBANCES)
    return tuple(words.say(f"notes.{note.key}", note.values) for note in notes)


def details_of(following: Following, finished: wire.Finished) -> str:
    """Return what belongs into a report of trouble: "Copy details"."""
    started, problem = following.started, finished.problem
    lines = [f"experiment: {following.experiment.id}", f"outcome: {finished.outcome}"]
    if started is not None:
        lines += [f"params: {started.params}", f"environment: {started.environment}"]
    if problem is not None:
        lines += [f"problem: {problem.key} {problem.values}", problem.detail]
    return "\n".join(lines)
