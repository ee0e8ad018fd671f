from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from experiments.core import words
from widgets.frame.status_line import StatusLine


def test_the_button_says_what_it_stops_and_is_there_only_while_something_runs(qtbot):
    line = StatusLine(words.load())
    qtbot.addWidget(line)
    line.show()
    text = words.load().say("frame.stop")
    stop = next(each for each in line.findChildren(QPushButton) if each.text() == text)

    line.show_run("How far? begins", "Stop this run: How far?")

    assert stop.toolTip() == stop.accessibleDescription() == "Stop this run: How far?"
    with qtbot.waitSignal(line.stop_wanted):
        qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    line.show_run("")
    assert not stop.isVisible()
