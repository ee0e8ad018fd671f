"""How does Live look? `python -m widgets.live`, with samples of a machine that is not there."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from experiments.words import Words
from widgets.basics import column, label
from widgets.live.board import Board
from widgets.live.controls import Controls
from widgets.live.history import History
from widgets.live.samples import machine, samples
from widgets.look import Look
from widgets.preview import preview
from widgets.theme import STEP

HEIGHT, WIDTH = 860, 1360


def _make(look: Look, words: Words) -> QWidget:
    board, controls, history = Board(look, words), Controls(words), History()
    board.show_machine(machine(24, hybrid=True))
    for sample in samples(24, seconds=70, pause=(30, 40)):
        history.add(sample.t_s, sample.threads, sample.memory)
        board.draw(history, sample.missing)
    controls.allow(True)
    host = QWidget()
    made_up = label("Made-up samples", "attention")
    layout = column(controls, made_up, board, space=4 * STEP)
    layout.setContentsMargins(8 * STEP, 6 * STEP, 8 * STEP, 4 * STEP)
    layout.setStretch(2, 1)
    host.setLayout(layout)
    board.fill(HEIGHT - 40 * STEP)
    return host


if __name__ == "__main__":
    preview(_make, size=(WIDTH, HEIGHT))
