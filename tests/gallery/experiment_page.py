"""The page of an experiment whose run has ended."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Key
from experiments.core.words import Words
from widgets.controls.basics import column, row
from widgets.experiment.action_button import ActionButton
from widgets.experiment.header import Header
from widgets.experiment.key_cards import Card
from widgets.experiment.main_panel import MainPanel
from widgets.experiment.result import Further, Result
from widgets.experiment.side_column import SideColumn, Tab
from widgets.experiment.verdict import BadgeText, Verdict
from widgets.style.look import Look
from widgets.style.theme import STEP


def experiment_page(look: Look, words: Words) -> QWidget:
    whole = QWidget()
    actions = [QAction(text, whole) for text in ("Run again", "Quick run", "Plot", "Compare")]
    actions[2].setCheckable(True)
    actions[2].setChecked(True)
    header = Header(words, actions[2:])
    header.show_experiment(words.say("cache-ladder.question"), words.say("shelves.memory"))
    panel = MainPanel(words, look)
    panel.views.show_experiment(Catalogue().load("cache-ladder"))
    panel.show_views()
    buttons = (ActionButton(actions[0], "main", hint="9 s"), ActionButton(actions[1], hint="2 s"))
    side = SideColumn(words, look, buttons)
    side.state.show_state("Full run, just now")
    farther = "The time of a read from memory divided by that of one from the L1 cache."
    values = [
        ("L1 cache", "1.1 ns"),
        ("memory", "171 ns"),
        ("memory over L1", "158×", farther),
    ]
    cards = tuple(
        Card(value=name, number=number, label=name, key=Key(name, "ladder", (name,)))
        for name, number, *_ in values
    )
    badge = BadgeText(
        kind="solid", name="solid", beside="11 rounds", reason="The machine was quiet."
    )
    verdict = Verdict(
        verdict="A read from memory takes 158 times as long as one from L1.",
        because="Because each cache line comes from farther away.",
        badge=badge,
        cards=cards,
    )
    further = Further(
        setting_text="Use huge pages: which step moves?",
        setting={"huge_pages": True},
        experiment_text="In order or shuffled: what fetching ahead hides.",
        experiment="burst-random",
    )
    limits = ["A virtual machine: its host may move the cores."]
    measured = [words.say("cache-ladder.method")]
    side.show_result(
        Result(verdict=verdict, further=further, values=values, limits=limits, measured=measured)
    )
    side.offer([Tab.RESULT, Tab.SETTINGS])
    side.fit(1200)
    body = row(panel, side, space=6 * STEP)
    body.setStretch(0, 1)
    layout = column(header, body, space=4 * STEP)
    layout.setStretch(1, 1)
    layout.setContentsMargins(8 * STEP, 6 * STEP, 8 * STEP, 4 * STEP)
    whole.setLayout(layout)
    return whole
