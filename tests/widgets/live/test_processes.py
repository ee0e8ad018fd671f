from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from experiments.presentation.load.face import Reasons
from experiments.presentation.load.gpu_processes import GpuProcess, Idleness, Right, gpu_processes
from experiments.presentation.load.history import History, Moment
from widgets.live.processes import LONG_S, ProcessTable

TRAIN = {
    "pid": 48213,
    "memory_bytes": 22 * 2**30,
    "kind": "compute",
    "user": "ada",
    "age_s": 720.0,
    "command": "python train.py",
}


def moment(*processes, at_s=1.0, busy: float | None = 0.9, **gpu) -> Moment:
    told = {"index": 0, "busy": busy, "processes": list(processes), **gpu}
    return History().add(at_s, [], {}, gpus=[told])


@pytest.fixture
def table(qtbot, look, english) -> ProcessTable:
    table = ProcessTable(look, english)
    table.me = "ada"
    table.right_to = lambda process: Right.ASK if process.user == "ada" else Right.OTHERS
    qtbot.addWidget(table)
    table.resize(1200, 200)
    return table


def words(table: ProcessTable) -> list[str]:
    shown = [each for each in table.findChildren(QLabel) if not each.isHidden()]
    return [each.text() for each in shown]


def test_without_a_gpu_there_is_no_table(table):
    table.show_moment(History().add(1.0, [], {}), Reasons())

    assert table.isHidden()
    assert table.least_height() == 0


def test_each_process_says_who_holds_how_much_since_when(table):
    table.show_moment(moment(TRAIN, {**TRAIN, "pid": 7, "user": "grace"}), Reasons())

    assert words(table)[:5] == ["GPU · process", "who", "memory", "since", "command"]
    assert words(table)[5:10] == ["0 · 48213", "you", "22.0 GiB", "12 minutes", "python train.py"]
    assert words(table)[11] == "grace"
    assert words(table)[-1] == "only grace or root can end it"
    assert list(table.buttons) == [(0, 48213)]
    assert table.buttons[0, 48213].focusPolicy() is Qt.FocusPolicy.TabFocus  # Space freezes Live


def test_ending_is_wanted_by_a_named_button(qtbot, table):
    table.show_moment(moment(TRAIN), Reasons())
    button = table.buttons[0, 48213]

    with qtbot.waitSignal(table.end_wanted) as wanted:
        button.click()

    assert isinstance(wanted.args[0], GpuProcess)
    assert wanted.args[0].pid == 48213
    assert button.accessibleName() == "End python train.py, process 48213"


def test_what_was_asked_and_runs_on_can_be_forced(table):
    table.right_to = lambda process: Right.FORCE
    table.show_moment(moment(TRAIN), Reasons())

    assert table.buttons[0, 48213].text() == "End by force…"


@pytest.mark.parametrize(
    ("right", "note"),
    [
        (Right.OWN, "this is Coreopsis"),
        (Right.HIDDEN, "not visible from here"),
        (Right.GONE, "fuser"),
    ],
)
def test_what_cannot_be_ended_says_why(table, right, note):
    table.right_to = lambda process: right
    table.show_moment(moment(TRAIN), Reasons())

    assert note in words(table)[-1]
    assert table.buttons == {}


def test_a_process_that_has_gone_is_marked(table):
    table.right_to = lambda process: Right.GONE
    table.show_moment(moment({**TRAIN, "user": None, "age_s": None}), Reasons())

    assert "▲ gone, but its memory is not" in words(table)


def test_one_that_did_no_work_for_long_is_marked_only_when_that_is_known(table):
    old = {**TRAIN, "age_s": 3 * 86400.0}
    for idle_s, process, is_marked in (
        (LONG_S, old, True),
        (LONG_S - 1, old, False),
        (LONG_S, {**old, "kind": "graphics"}, False),
        (LONG_S, {**old, "age_s": 30.0}, False),
        (LONG_S, {**old, "age_s": None}, False),
    ):
        table.idle_s = lambda _index, idle_s=idle_s: idle_s
        table.show_moment(moment(process), Reasons())
        assert ("▲ 3 days, no work for 10 minutes" in words(table)) is is_marked


def test_nobody_or_nobody_told_is_said(table):
    table.show_moment(moment(), Reasons())
    assert words(table)[-1] == "No process holds GPU memory."

    why = Reasons([{"what": "gpus[*].processes", "why": "Containers hide them.", "how": ""}])
    silent = History().add(1.0, [], {}, gpus=[{"index": 0, "processes": None}])
    table.show_moment(silent, why)
    assert words(table)[-1] == "Containers hide them."

    table.is_recorded = True
    table.show_moment(silent, Reasons())
    assert "keep no user names" in words(table)[-1]


def test_what_stays_is_not_built_again_and_the_focus_stays(qtbot, table):
    with qtbot.waitExposed(table):
        table.show()
    table.show_moment(moment(TRAIN), Reasons())
    button = table.buttons[0, 48213]
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    table.show_moment(moment({**TRAIN, "age_s": 725.0}), Reasons())
    assert table.buttons[0, 48213] is button

    table.show_moment(moment({**TRAIN, "memory_bytes": 5}), Reasons())

    assert table.buttons[0, 48213] is not button
    assert table.buttons[0, 48213].hasFocus()


# --- how long a GPU did nothing -------------------------------------------------------------------


def idleness(*busy: float | None, step_s: float = 1.0) -> Idleness:
    history, idle = History(clock_s=lambda: 0.0, asleep_s=lambda: 0.0), Idleness()
    for place, share in enumerate(busy):
        idle.take(history.add(place * step_s, [], {}, gpus=[{"index": 0, "busy": share}]))
    return idle


def test_a_gpu_is_idle_since_it_was_last_seen_at_work():
    assert idleness(0.5, 0.0, 0.0, 0.0).idle_s(0) == 3.0
    assert idleness(0.0, 0.0, 0.4).idle_s(0) < 0


def test_what_nobody_saw_is_not_said_to_be_idle():
    assert idleness(0.0, 0.0, None).idle_s(0) < 0
    assert idleness(0.0, 0.0, step_s=5.0).idle_s(0) == 0.0
    assert idleness().idle_s(3) < 0


def test_a_process_without_a_number_is_left_out():
    assert list(gpu_processes(moment({**TRAIN, "pid": None}))) == []
