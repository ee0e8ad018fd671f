from __future__ import annotations

from PySide6.QtCore import Qt

from experiments.core import words
from widgets.frame.status_line import StatusLine


def test_the_button_says_what_it_stops_and_is_there_only_while_something_runs(qtbot):
    line = StatusLine(words.load())
    qtbot.addWidget(line)
    line.show()

    line.show_run("How far? begins", "Stop this run: How far?")

    assert line._stop.toolTip() == line._stop.accessibleDescription() == "Stop this run: How far?"
    with qtbot.waitSignal(line.stop_wanted):
        qtbot.mouseClick(line._stop, Qt.MouseButton.LeftButton)
    line.show_run("")
    assert not line._stop.isVisible()
