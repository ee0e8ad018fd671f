"""The parts of a lesson, with made-up data and the lesson of gil-threads."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.loaded_run import lesson_run_of, load
from experiments.core.catalogue import Catalogue
from experiments.core.teaching.lessons import Choice as ChoiceOf
from experiments.core.teaching.lessons import (
    Explained,
    Magnitude,
    Option,
    Rank,
    Sketch,
    Source,
    taught,
)
from experiments.core.teaching.playable import Playable, playable
from experiments.core.words import Words
from widgets.controls.basics import button, column, label, row
from widgets.lesson.confidence import ConfidenceInput
from widgets.lesson.drawing.motion_player import MotionPlayer
from widgets.lesson.explanation import Explanation
from widgets.lesson.goals import Goals
from widgets.lesson.prediction import prediction_input
from widgets.lesson.question import QuestionBlock
from widgets.lesson.remembered_guess import GuessNote
from widgets.lesson.step_bar import StepBar
from widgets.lesson.steps import LESSON, Step
from widgets.style.look import Look
from widgets.style.theme import STEP

SIDE_PX = 345  # of the column beside a plot

CHOICE = ChoiceOf(
    ask="Four threads start together. When is the last one done?",
    options=(
        Option(text="after 1 s: four at once"),
        Option(text="after about 2 s, because two threads share each of the cores that are free"),
        Option(text="after about 4 s"),
        Option(text="later than 4 s"),
    ),
    right="nearest_option",
)
MAGNITUDE = Magnitude(
    ask="How long does one load from memory take?", range=(5e-10, 1e-6), answer="memory_latency_s"
)
RANK = Rank(
    ask="Put these in order, the quickest first.",
    items=(
        "call a Python function",
        "load from memory",
        "load from the L1 cache",
        "start a thread",
    ),
    right="quickest_first",
)
SKETCH = Sketch(
    ask="Drag the five points to where you expect the line.",
    view="ladder",
    points=(4096, 65536, 1048576, 16777216, 268435456),
    range=(5e-10, 1e-6),
    right="heights",
)
TOLD = Explained(
    headline="You said 14×. It was 158×.",
    text="On this machine a load that finds its data in the first cache takes 1.1 ns. From main "
    "memory it takes 171 ns: in that time this core could have done some 600 additions. Each step "
    "up is a cache running out: at 32 KiB, at 1 MiB, and near 16 MiB.",
    beside=("This virtual machine shares its L3 with neighbours, so it seems smaller.",),
    belief="A byte in memory is a byte in memory, wherever it lies.",
    answer="Copies in the caches answer up to 158× sooner than memory itself.",
    confirm="The steps lie where the caches end.",
    why_not_double="Why is memory not twice as fast? Each load waits for a row of a memory chip to "
    "open. Nothing in a chain of loads can be asked for early.",
    transfer="If a line has 64 B: what does it cost two cores to write into the same one?",
)
GOALS = (
    "Find the stride from which a read costs the most.",
    "Make the knee at 64 bytes disappear.",
)
SOURCES = (
    Source(fact="the GIL, and which calls let go of it", source="Python documentation, C API"),
    Source(fact="a Python without the lock", source="PEP 703"),
)


def question(look: Look, words: Words) -> QWidget:
    """Wide, and as narrow as the column beside a plot."""
    catalogue = Catalogue()
    lesson = taught(catalogue.load("gil-threads"), catalogue.homes["gil-threads"])
    assert lesson is not None
    said, blocks = lesson.words, [QuestionBlock(words, look) for _ in range(2)]
    for block in blocks:
        block.show_question(said.context, said.code)
    blocks[1].setFixedWidth(round(SIDE_PX * look.theme.zoom))
    steps = StepBar(words, look)
    steps.show_steps(LESSON, Step.QUESTION, {Step.PREDICT})
    return _page(column(steps, row(*blocks, space=8 * STEP), None, space=6 * STEP))


def predict(look: Look, words: Words) -> QWidget:
    """Each input without an answer, and with one."""
    columns = []
    order = (2, 0, 3, 1)
    for pair in ((CHOICE, MAGNITUDE), (RANK, SKETCH)):
        for is_answered in (False, True):
            parts: list[QWidget] = []
            for asked in pair:
                made = prediction_input(asked, words, look, ("bytes", "s"), order)
                if is_answered:
                    made.set_at(_ANSWERS[asked])
                parts += [label(asked.ask, "head", wrap=True), made]
            sure = ConfidenceInput(words, look)
            sure.set_sure(2 if is_answered else None)
            side = QWidget()
            side.setLayout(column(*parts, sure, None, space=4 * STEP))
            side.setFixedWidth(round(SIDE_PX * look.theme.zoom))
            columns.append(side)
    return _page(row(*columns, None, space=8 * STEP))


_ANSWERS = {
    CHOICE: (1.0,),
    MAGNITUDE: (6.2e-8,),
    RANK: (2.0, 1.0, 0.0, 3.0),
    SKETCH: (1e-9, 1.2e-9, 2.5e-9, 6e-9, 1.4e-8),
}


def explain(look: Look, words: Words) -> QWidget:
    """The explanation at the width of the column, and what stands around it."""
    told, nothing = Explanation(words, look), Explanation(words, look)
    about = {"view": "Latency by size", "to": "false-sharing", "title": "Two counters, one line?"}
    told.show_explained(TOLD, sources=SOURCES, **about)
    nothing.show_explained(None)
    note, goals = GuessNote(words, look), Goals(words, look)
    note.show_guess("the same, nothing is shared", 3)
    goals.show_goals(GOALS, (True, False))
    steps = StepBar(words, look)
    steps.show_steps(LESSON, Step.EXPLAIN, {*LESSON} - {Step.TRY})
    side = column(told, None)
    other = column(note, button("I cannot see it"), goals, nothing, None, space=6 * STEP)
    return _page(column(steps, row(side, other, space=8 * STEP), space=6 * STEP))


def motion(look: Look, words: Words, *, is_calm: bool = False) -> QWidget:
    """One load from L1 and one from memory, halfway; or three stills side by side."""
    player = MotionPlayer(words, look)
    player.show_motion(moved("cache-ladder"), is_calm=is_calm)
    if not is_calm:
        assert player.motion is not None
        player.stand_at(player.motion.stills[1])
    return _page(column(player, None))


def moved(id_: str) -> Playable:
    """Return what moves in the run that comes with an experiment."""
    catalogue = Catalogue()
    experiment, path = catalogue.load(id_), catalogue.recording(id_)
    lesson = taught(experiment, catalogue.homes[id_])
    assert lesson is not None
    assert path is not None
    run = lesson_run_of(load(path, catalogue, is_opened=True).run_state)
    assert run is not None
    found = playable(lesson, run, band="RECORDED · a machine · 2026-11-25")
    assert found is not None
    return found


def _page(layout: object) -> QWidget:
    whole = QWidget()
    whole.setLayout(layout)  # type: ignore[arg-type]
    whole.layout().setContentsMargins(*(6 * STEP,) * 4)
    return whole
