"""The catalogue, with our experiments and made-up ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from PySide6.QtWidgets import QWidget

from experiments.core.catalogue import Catalogue as Experiments
from experiments.core.declare import Part
from experiments.core.views import Axis, Bars, Heatmap, Lines, Ruler, Timeline, View
from experiments.core.words import Words
from widgets.catalogue.card_data import CardData, State
from widgets.catalogue.catalogue import Catalogue
from widgets.catalogue.sketch import expected
from widgets.style.look import Look

VIEWS: tuple[View, ...] = (
    Bars(key="", table="", label="", value=""),
    Ruler(key="", table="", label="", value=""),
    Lines(key="", table="", x=Axis(""), y=Axis(""), series="s"),
    Heatmap(key="", table="", row="", column="", value=""),
    Timeline(key="", table="", lane="", start="", end=""),
)
SAMPLES = (
    ("python-at-work", "Sample: what does it cost to start one?", 8, State.NEW, 1),
    ("python-at-work", "Sample: which cores are neighbours?", 4, State.PARTIAL, 3),
    ("python-at-work", "Sample: does one counter count right?", 9, State.FAILED, 2),
    ("memory", "Sample: many questions at once", 14, State.RUNNING, 2),
    ("to-the-gpu", "Sample: from which size does the GPU win?", 25, State.NOT_HERE, 2),
    ("to-the-gpu", "Sample: copy while computing, on two streams at the same time, "
     "until the title is too long", 15, State.NOT_HERE, 4),
    ("numbers", "Sample: the numbers of this machine", 60, State.NEW, 1),
    ("many-devices", "Sample: who is waiting for whom?", 10, State.NEW, 4),
)  # fmt: skip


def _cards(words: Words) -> Iterator[CardData]:
    for experiment in Experiments():
        yield CardData(
            id=experiment.id,
            shelf=experiment.shelf,
            parts=experiment.parts,
            question=words.say(f"{experiment.id}.question"),
            topic=words.say(f"{experiment.id}.topic"),
            note=words.say(f"{experiment.id}.topic"),
            sketch=expected(experiment.views[0]),
            state=State.MEASURED,
            is_measured=True,
            seconds=18.0,
        )
    for shelf, question, seconds, state, view in SAMPLES:
        is_here = state is not State.NOT_HERE
        yield CardData(
            id=question,
            shelf=shelf,
            parts=(Part.GPU,),
            question=question,
            topic="a sample",
            note="a sample" if is_here else words.say("problems.needs_gpu"),
            sketch=dataclasses.replace(expected(VIEWS[view]), is_measured=False),
            state=state,
            seconds=seconds,
            fraction=0.4,
        )


def catalogue_page(look: Look, words: Words) -> QWidget:
    catalogue = Catalogue(words, look)
    catalogue.show_cards(sorted(_cards(words), key=lambda data: data.shelf))
    return catalogue
