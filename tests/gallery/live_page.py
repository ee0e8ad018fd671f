"""Live, with samples of a machine that does not exist."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollArea, QWidget

from experiments.core.words import Words
from experiments.presentation.load.gpu_processes import Right
from experiments.presentation.load.history import History
from tests.gallery import made_gpus
from tests.gallery.live_samples import machine, samples
from widgets.controls.basics import column, label
from widgets.live.board import Board
from widgets.live.controls import Controls
from widgets.style.look import Look
from widgets.style.theme import STEP

HEIGHT = 860
DISKS = {"eight": 24}


def live_page(kind: made_gpus.Kind, look: Look, words: Words) -> QWidget:
    board, controls, history = Board(look, words), Controls(words), History()
    board.processes.me = "ada"
    board.processes.right_to = lambda each: Right.ASK if each.user == "ada" else Right.OTHERS
    board.processes.idle_s = lambda index: 900.0 if index else 0.0
    board.show_machine(machine(24, hybrid=True, gpus=kind))
    for sample in samples(24, seconds=70, pause=(30, 40), gpus=kind, disks=DISKS.get(kind, 1)):
        sample.add_to(history)
    board.draw(history, sample.missing)
    controls.allow(True)
    host = QWidget()
    made_up = label("Made-up samples", "attention")
    scroll = QScrollArea()
    scroll.setWidgetResizable(True)
    scroll.setFrameShape(QScrollArea.Shape.NoFrame)
    scroll.setWidget(board)
    layout = column(controls, made_up, scroll, space=4 * STEP)
    layout.setContentsMargins(8 * STEP, 6 * STEP, 8 * STEP, 4 * STEP)
    layout.setStretch(2, 1)
    host.setLayout(layout)
    board.fill(HEIGHT - 40 * STEP)
    return host
