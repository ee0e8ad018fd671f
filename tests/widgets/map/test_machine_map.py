from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QVBoxLayout, QWidget

from experiments.core import words
from experiments.core.declare import Part
from experiments.presentation.known import Invitation, KnownValue, KnownValues
from tests.widgets.map.machines import MACHINES, pinned, server, small, workstation
from tests.widgets.map.samples import sample, texts_of, written
from widgets.map.layout.boxes import Kind
from widgets.map.machine_map import MachineMap
from widgets.style import theme as themes

WORDS = words.load()
LADDER = Invitation(experiment="cache-ladder", question="How far away is a byte?")
L3 = KnownValue(
    label="L3 cache", text="11.2 ns", when="just now", experiment="cache-ladder", unit="s"
)


@pytest.fixture
def shown(qtbot, look):
    """Return a function that shows a machine on a map of the size it has in the window."""

    def show(machine, size=(972, 690)) -> MachineMap:
        made = MachineMap(WORDS, look)
        qtbot.addWidget(made)
        made.resize(*size)
        made.show_machine(machine)
        made.show()
        QApplication.processEvents()
        return made

    return show


class Painted(QObject):
    """Remembers what of a widget was painted."""

    def __init__(self, widget):
        super().__init__(widget)
        self.rects = []
        widget.installEventFilter(self)

    def eventFilter(self, _watched, event):
        if event.type() == QEvent.Type.Paint:
            self.rects.append(event.region().boundingRect())
        return False


def box(map_, name):
    return next(b for b in map_.boxes if b.id == name)


def click(map_, name, at=None):
    point = map_.rect_of(box(map_, name)).center() if at is None else at
    QTest.mouseClick(map_, Qt.MouseButton.LeftButton, pos=point)


def scale(map_) -> float:
    memory = box(map_, "memory")
    return map_.rect_of(memory).width() / memory.rect.width


def tile_colour(map_, thread) -> str:
    """Return the colour beside the number of a thread's tile."""
    rect = map_.rect_of(box(map_, f"thread:{thread}"))
    point = QPoint(rect.center().x(), rect.top() + 5)
    return map_.grab().toImage().pixelColor(point).name()


def pixels(image: QImage) -> np.ndarray:
    return np.frombuffer(bytes(image.constBits()), np.uint8).astype(int)


def emitted(signal) -> list:
    found: list = []
    signal.connect(found.append)
    return found


# --- choosing -----------------------------------------------------------------------------------


def test_a_click_chooses_the_innermost_box(shown):
    map_ = shown(small())
    chosen = emitted(map_.part_chosen)

    click(map_, "thread:1")
    click(map_, "memory")

    assert [b.id for b in chosen] == ["thread:1", "memory"]
    assert map_.chosen.id == "memory"
    assert map_.accessibleName().startswith("Memory, Memory: 24 GiB")


def test_a_click_beside_the_parts_and_escape_leave_what_was_chosen(shown):
    map_ = shown(small())
    chosen = emitted(map_.part_chosen)

    click(map_, "memory")
    QTest.mouseClick(map_, Qt.MouseButton.LeftButton, pos=QPoint(2, map_.height() - 2))
    QTest.mouseClick(map_, Qt.MouseButton.LeftButton, pos=QPoint(2, map_.height() - 2))
    assert map_.chosen is None
    click(map_, "memory")
    map_.setFocus()
    QTest.keyClick(map_, Qt.Key.Key_Escape)

    assert [b and b.id for b in chosen] == ["memory", None, "memory", None]
    assert map_.accessibleName() == WORDS.say("map.name")


def test_escape_is_kept_while_there_is_a_part_to_leave(shown):
    map_ = shown(small())

    def keeps_escape() -> bool:
        event = QKeyEvent(
            QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier
        )
        event.ignore()
        QApplication.sendEvent(map_, event)
        return event.isAccepted()

    assert not keeps_escape()
    map_.choose(box(map_, "memory"))
    assert keeps_escape()


def test_a_part_is_chosen_by_its_threads_where_one_asks_for_a_core(shown):
    map_ = shown(small())

    map_.choose_part(Part.CORES, frozenset({1}))
    assert map_.chosen.id == "core:1"
    map_.choose_part(Part.CORES)
    assert map_.chosen.id == "package:0"


def test_arrows_walk_and_say_where_they_are(shown):
    map_ = shown(small())
    map_.setFocus()

    QTest.keyClick(map_, Qt.Key.Key_Down)  # the first box
    first = map_.chosen.kind
    QTest.keyClick(map_, Qt.Key.Key_Down)  # into it

    assert (first, map_.chosen.kind) == (Kind.PACKAGE, Kind.CORE)
    assert map_.accessibleName().startswith(
        "core 0, Thread numbers: 0, Usable here: yes, Package: Package 0"
    )
    assert "Enter" in map_.accessibleDescription()


def test_tab_walks_over_the_larger_boxes_and_leaves_at_the_end(shown, qtbot):
    map_, after = shown(small()), QLineEdit()
    window = QWidget()
    qtbot.addWidget(window)
    layout = QVBoxLayout(window)
    layout.addWidget(map_)
    layout.addWidget(after)
    window.show()
    window.activateWindow()
    after.setFocus()
    QApplication.processEvents()
    map_.setFocus(Qt.FocusReason.TabFocusReason)
    seen = [map_.chosen.id]
    while map_.hasFocus():
        QTest.keyClick(map_, Qt.Key.Key_Tab)
        if map_.hasFocus():
            seen.append(map_.chosen.id)

    assert seen == ["package:0", "cache:0", "memory", "no-gpu", "storage", "network"]
    assert after.hasFocus()


def test_a_chosen_part_is_told_with_its_number(shown):
    map_ = shown(small())
    map_.show_values(KnownValues({Part.L3: [L3]}, {Part.L3: [LADDER], Part.MEMORY: [LADDER]}))

    map_.choose(box(map_, "cache:0"))
    measured = map_.accessibleName()
    map_.choose(box(map_, "memory"))

    assert measured == (
        "L3 cache, Size: 16 MiB, Serves: threads 0–1, Ways (associativity): 8, Cache line: 64 B. "
        "Measured: L3 cache 11.2 ns"
    )
    assert map_.accessibleName().endswith("Not measured yet")


def test_a_part_can_be_chosen_from_outside(shown):
    map_ = shown(small())

    map_.choose_part(Part.L3)
    assert map_.chosen.id == "cache:0"
    map_.choose_part(Part.NVLINK)  # this machine has none
    assert map_.chosen.id == "cache:0"


# --- numbers ------------------------------------------------------------------------------------


def question_mark(map_, name) -> QPoint:
    """Return where the question mark of a box is."""
    mark = next(text for text in texts_of(map_, name) if text.role == "invitation")
    return map_.rect_of(replace(box(map_, name), rect=mark.rect)).center()


def tip_of(map_, name) -> list[str]:
    """Return the lines of the tip on a box."""
    place = map_.rect_of(box(map_, name)).center()
    QApplication.sendEvent(map_, QHelpEvent(QEvent.Type.ToolTip, place, map_.mapToGlobal(place)))
    shown = QToolTip.text().split("\n")
    QToolTip.hideText()
    return shown


def test_a_question_mark_opens_its_experiment_by_click_and_by_enter(shown):
    map_ = shown(small())
    map_.show_values(KnownValues({}, {Part.L3: [LADDER]}))
    wanted, chosen = emitted(map_.experiment_wanted), emitted(map_.part_chosen)

    click(map_, "cache:0", question_mark(map_, "cache:0"))
    click(map_, "cache:0")  # beside it: the part itself is meant
    QTest.keyClick(map_, Qt.Key.Key_Return)

    assert wanted == ["cache-ladder", "cache-ladder"]
    assert [b.id for b in chosen] == ["cache:0"]


def test_a_number_takes_the_place_of_the_question_mark(shown):
    map_ = shown(small())
    map_.show_values(KnownValues({}, {Part.L3: [LADDER]}))
    before = written(map_, "cache:0")

    map_.show_values(KnownValues({Part.L3: [L3]}, {Part.L3: [LADDER]}))
    after = written(map_, "cache:0")
    map_.set_layers(measured=False, live=True)
    hidden = written(map_, "cache:0")

    assert (before, after, hidden) == (
        ["?", "L3 16 MiB"],
        ["11.2 ns", "L3 16 MiB"],
        ["L3 16 MiB"],
    )


def test_the_number_at_the_title_is_one_of_the_part_and_no_ratio(shown):
    map_ = shown(small())
    gain = KnownValue(label="a lock takes", text="6.11×", when="", experiment="race", unit="ratio")
    roof = replace(L3, label="the roof", text="77.6 GFLOP/s", unit="flop/s")
    race = Invitation(experiment="race", question="Four threads, one counter: does it count right?")
    roofline = Invitation(experiment="roofline", question="What is the limit?")
    invitations = {Part.CORES: [race, roofline]}

    map_.show_values(KnownValues({Part.CORES: [gain]}, invitations))
    assert "?" in written(map_, "package:0")
    wanted = emitted(map_.experiment_wanted)
    click(map_, "package:0", question_mark(map_, "package:0"))
    assert wanted == ["roofline"]  # the race has given all that it has

    call = replace(L3, label="function call", text="33.6 ns")
    map_.show_values(KnownValues({Part.CORES: [gain, call, roof]}, invitations))
    assert "the roof 77.6 GFLOP/s" in written(map_, "package:0")
    assert not {"?", "a lock takes 6.11×"} & set(written(map_, "package:0"))


def test_a_link_shows_its_rate_and_no_time_of_some_copy(shown):
    map_ = shown(workstation())
    copy = KnownValue(label="copies", text="12 ms", when="", experiment="gpu-or-not", unit="s")
    rate = replace(copy, label="pinned", text="57.1 GB/s", experiment="pinned", unit="bytes/s")

    map_.show_values(KnownValues({Part.PCIE: [copy, rate]}, {}))

    assert written(map_, "link:gpu:0")[1:] == ["57.1 GB/s of 63 GB/s"]


def test_a_time_of_a_gpu_is_one_of_some_task_and_no_headline(shown):
    map_ = shown(workstation(), (1400, 900))
    floor = replace(L3, label="smallest product", text="10 µs")

    best = replace(floor, label="the GPU at its best", text="60.0 TFLOP/s", unit="flop/s")
    map_.show_values(KnownValues({Part.GPU: [floor, best]}, {}))

    texts = written(map_, "gpu:0")
    assert "60.0 TFLOP/s" in texts
    assert not any("10 µs" in text for text in texts)


def test_a_tip_names_what_each_number_is(shown):
    map_ = shown(small())
    map_.show_values(KnownValues({Part.L3: [L3]}, {}))

    assert tip_of(map_, "cache:0") == [
        "L3 cache",
        "Size: 16 MiB",
        "Serves: threads 0–1",
        "Ways (associativity): 8",
        "Cache line: 64 B",
        "L3 cache: 11.2 ns",
    ]


def test_a_tip_says_of_how_many_alike_one_was_measured(shown):
    map_ = shown(small())
    map_.show_values(KnownValues({Part.L1: [replace(L3, label="L1 cache", text="1.1 ns")]}, {}))
    first = next(box for box in map_.boxes if box.part is Part.L1)

    assert tip_of(map_, first.id)[-1] == WORDS.say("map.one_of", {"count": 2})


def test_a_tip_names_what_a_question_mark_opens(shown):
    map_ = shown(small())
    map_.show_values(KnownValues({}, {Part.L3: [LADDER]}))

    wanted = {"count": 0, "question": LADDER.question}
    assert tip_of(map_, "cache:0")[-1] == WORDS.say("map.asks", wanted)


def test_a_tip_does_not_call_unmeasured_what_has_other_numbers(shown):
    map_ = shown(small())
    map_.show_values(KnownValues({Part.L3: [replace(L3, unit="ratio")]}, {Part.L3: [LADDER]}))

    tip = tip_of(map_, "cache:0")

    assert not any("Not measured" in line for line in tip)
    wanted = {"count": 1, "question": LADDER.question}
    assert tip[-1] == WORDS.say("map.asks_for_more", wanted)


def test_a_part_without_experiments_asks_for_nothing(shown):
    map_ = shown(small())
    about_only = Invitation(experiment="burst-random", question="?", fills=False)

    map_.show_values(KnownValues({}, {Part.L3: [about_only]}))

    texts = [text for b in map_.boxes for text in written(map_, b.id)]
    assert "?" not in texts


# --- load ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", themes.MODES)
def test_load_has_the_colours_of_the_theme_and_the_unknown_none(shown, look, mode):
    look.wear(themes.load(mode))
    map_ = shown(small())
    plain = tile_colour(map_, 0)

    map_.show_load({0: 0.0, 1: 1.0})
    idle, busy = tile_colour(map_, 0), tile_colour(map_, 1)
    map_.show_load({0: None, 1: 1.0})
    unknown = tile_colour(map_, 0)

    assert idle == QColor(look.theme.load_low).name()
    assert busy == QColor(look.theme.load_high).name()
    assert unknown == plain != idle


def test_a_thread_nobody_counts_is_not_idle(shown, look):
    map_ = shown(small())

    map_.show_load({1: 0.5})

    assert tile_colour(map_, 0) != QColor(look.theme.load_low).name()


def test_the_load_of_one_thread_repaints_nothing_but_its_tile(shown):
    map_ = shown(workstation())
    map_.show_load({thread: 0.2 for thread in range(32)})
    QApplication.processEvents()
    painted = Painted(map_)

    map_.show_load({thread: 0.9 if thread == 5 else 0.2 for thread in range(32)})
    QApplication.processEvents()

    assert painted.rects == [map_.rect_of(box(map_, "thread:5"))]


def test_a_load_that_looks_the_same_repaints_nothing(shown):
    map_ = shown(workstation())
    map_.show_load({thread: 0.2 for thread in range(32)})
    QApplication.processEvents()
    painted = Painted(map_)

    map_.show_load({thread: 0.203 for thread in range(32)})
    QApplication.processEvents()

    assert painted.rects == []


def test_tiles_painted_alone_look_as_if_all_had_been_painted(shown):
    map_ = shown(workstation())
    map_.show_load({thread: thread / 40 for thread in range(32)})
    QApplication.processEvents()
    map_.show_load({thread: 1 - thread / 40 for thread in range(32)})
    QApplication.processEvents()
    alone = map_.grab().toImage()

    map_.repaint_all()

    # The smooth edges of a core may come out a shade stronger, which nobody sees.
    assert np.abs(pixels(alone) - pixels(map_.grab().toImage())).max() < 24


def test_without_the_live_layer_no_tile_has_a_colour(shown):
    map_ = shown(small())
    plain = tile_colour(map_, 0)
    map_.show_load({0: 1.0, 1: 1.0})

    map_.set_layers(measured=True, live=False)

    assert tile_colour(map_, 0) == plain


# --- folding, zooming ---------------------------------------------------------------------------


def test_a_fold_opens_and_closes(shown):
    map_ = shown(server(), (520, 380))
    fold = next(b.id for b in map_.boxes if b.kind is Kind.FOLD and b.id != "fold:gpus")
    count = len(map_.boxes)

    click(map_, fold)
    opened = len(map_.boxes)
    map_.setFocus()
    QTest.keyClick(map_, Qt.Key.Key_Return)  # it is still chosen

    assert opened > count
    assert len(map_.boxes) == count


def test_the_wheel_zooms_at_the_mouse_and_0_shows_all_again(shown):
    map_ = shown(small())
    before = map_.rect_of(box(map_, "memory"))
    place = QPointF(before.center())

    event = QWheelEvent(
        place,
        map_.mapToGlobal(place),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(map_, event)
    zoomed = map_.rect_of(box(map_, "memory"))
    at_mouse = map_.box_at(place)
    QTest.keyClick(map_, Qt.Key.Key_0)

    assert zoomed.width() > 1.4 * before.width()
    assert at_mouse.id == "memory"
    assert map_.rect_of(box(map_, "memory")) == before


def test_plus_and_minus_zoom_too(shown):
    map_ = shown(small())
    before = map_.rect_of(box(map_, "memory")).width()

    QTest.keyClicks(map_, "+")
    larger = map_.rect_of(box(map_, "memory")).width()
    QTest.keyClicks(map_, "-")

    assert larger > before
    assert abs(map_.rect_of(box(map_, "memory")).width() - before) <= 1


def test_dragging_pans_and_chooses_nothing(shown):
    map_ = shown(small())
    QTest.keyClicks(map_, "+++")
    chosen, before = emitted(map_.part_chosen), map_.rect_of(box(map_, "memory")).topLeft()

    QTest.mousePress(map_, Qt.MouseButton.LeftButton, pos=QPoint(300, 300))
    for x in (290, 250, 200):
        QTest.mouseMove(map_, QPoint(x, 260))
        QApplication.sendPostedEvents()
    QTest.mouseRelease(map_, Qt.MouseButton.LeftButton, pos=QPoint(200, 260))

    assert chosen == []
    assert map_.rect_of(box(map_, "memory")).topLeft() != before


def test_what_is_chosen_by_key_comes_into_sight(shown):
    map_ = shown(small())
    QTest.keyClicks(map_, "+++++")

    map_.choose(box(map_, "memory"))

    assert map_.rect().intersects(map_.rect_of(box(map_, "memory")))
    assert map_.rect_of(box(map_, "memory")).bottom() <= map_.height()


# --- states -------------------------------------------------------------------------------------


def test_a_skeleton_stands_while_the_machine_is_read(shown, look):
    map_ = shown(None)
    picture = map_.grab().toImage()

    assert map_.boxes == ()
    assert picture.pixelColor(40, 60).name() == QColor(look.theme.panel).name()
    QTest.keyClick(map_, Qt.Key.Key_Down)
    assert map_.chosen is None


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_can_be_painted_in_both_modes(shown, look, name):
    map_ = shown(MACHINES[name]())
    map_.show_load({thread.id: 0.5 for thread in MACHINES[name]().cpu.threads_list})
    dark = map_.grab().toImage()

    look.wear(themes.load("light", 1.6))

    assert dark != map_.grab().toImage()


def test_another_theme_is_worn_at_once(shown, look):
    map_ = shown(small())
    dark = map_.grab().toImage().pixelColor(3, 300)

    look.wear(themes.load("light", 1.6))

    assert map_.grab().toImage().pixelColor(3, 300) != dark


def test_threads_that_may_not_be_used_look_different(shown):
    map_ = shown(pinned())
    picture = map_.grab().toImage()

    def colours(thread):
        rect = map_.rect_of(box(map_, f"thread:{thread}")).adjusted(4, 4, -4, -4)
        return {
            picture.pixelColor(x, y).name()
            for x in range(rect.left(), rect.right())
            for y in range(rect.top(), rect.top() + 6)
        }

    assert len(colours(1)) > 1  # hatched
    assert len(colours(0)) == 1


# --- the way between two parts ------------------------------------------------------------------


def pictures(map_) -> dict[str, QImage]:
    """Return how each end of a data path and its link look."""
    names = ("gpu:0", "gpu:1", "link:gpu:0", "link:gpu:1")
    return {name: map_.grab(map_.rect_of(box(map_, name))).toImage() for name in names}


def test_pointing_lights_the_way_from_what_is_chosen(shown):
    map_ = shown(workstation())
    said = emitted(map_.way_found)
    map_.choose(box(map_, "memory"))
    plain = pictures(map_)
    map_.choose(box(map_, "gpu:1"))

    QTest.mouseMove(map_, map_.rect_of(box(map_, "gpu:0")).center())

    assert said[-1].startswith("GPU 1 → ")
    assert all(image != plain[name] for name, image in pictures(map_).items())
    map_.choose(box(map_, "memory"))
    assert said[-1] == ""
    QTest.mouseMove(map_, map_.rect_of(box(map_, "memory")).center())
    assert pictures(map_)["link:gpu:1"] == plain["link:gpu:1"]


def test_without_a_chosen_part_pointing_lights_nothing(shown):
    map_ = shown(workstation())
    said, plain = emitted(map_.way_found), pictures(map_)

    QTest.mouseMove(map_, map_.rect_of(box(map_, "gpu:0")).center())

    assert not any(said)
    assert pictures(map_)["gpu:1"] == plain["gpu:1"]


def test_shift_and_an_arrow_point_without_choosing(shown):
    map_ = shown(workstation())
    said = emitted(map_.way_found)
    map_.choose(box(map_, "gpu:0"))

    QTest.keyClick(map_, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)

    assert map_.chosen.id == "gpu:0"
    assert said[-1].startswith("GPU 0 → ")
    assert "→ GPU 1." in said[-1]


def test_ctrl_and_an_arrow_move_the_map(shown):
    map_ = shown(server(), (600, 300))
    before = map_.rect_of(box(map_, "memory")).y()

    QTest.keyClick(map_, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)

    assert map_.rect_of(box(map_, "memory")).y() < before


# --- what goes on -------------------------------------------------------------------------------


def test_a_sample_is_shown_on_gpus_memory_and_links(shown):
    machine = MACHINES["dual-socket-8-gpu"]()
    map_ = shown(machine)

    map_.show_sample(sample(machine, 4))

    texts = written(map_, "gpu:0")
    assert any("busy 50 %" in text for text in texts)
    assert map_.live_of(box(map_, "memory")).filled == 0.5
    map_.set_layers(measured=True, live=False)
    texts = written(map_, "gpu:0")
    assert not any("busy" in text for text in texts)


def test_a_gpu_that_vanishes_becomes_a_lost_box_and_may_come_back(shown, look):
    machine = MACHINES["dual-socket-8-gpu"]()
    map_ = shown(machine)
    fault = QColor(look.theme.fault)

    def edge():
        rect, image = map_.rect_of(box(map_, "gpu:5")), map_.grab().toImage()
        colours = (image.pixelColor(x, rect.top()) for x in range(rect.left(), rect.right()))
        return any(colour == fault for colour in colours)

    seen = []
    for lost in (None, 5, None):
        map_.show_sample(sample(machine, 3, lost=lost))
        seen.append(edge())

    assert seen == [False, True, False]


def test_boxes_painted_alone_look_as_if_all_had_been_painted(shown):
    machine = MACHINES["dual-socket-8-gpu"]()
    map_ = shown(machine)
    map_.show_sample(sample(machine, 3))
    map_.grab()
    map_.show_sample(sample(machine, 4))
    alone = map_.grab().toImage()

    map_.repaint_all()

    apart = np.abs(pixels(alone) - pixels(map_.grab().toImage()))
    # Where a frame hides the end of a line, a trace of its colour may shine through.
    assert apart.max() < 32
    assert (apart != 0).mean() < 0.001


def test_the_same_sample_repaints_nothing(shown):
    machine = MACHINES["dual-socket-8-gpu"]()
    map_ = shown(machine)
    map_.show_sample(sample(machine, 3))
    QApplication.processEvents()
    painted = Painted(map_)

    map_.show_sample(sample(machine, 3))
    QApplication.processEvents()

    assert painted.rects == []


# --- around a large map ---------------------------------------------------------------------------


def test_the_wheel_makes_a_map_no_smaller_than_can_be_read_and_a_chip_leads_back(shown):
    map_ = shown(workstation())
    fitted = scale(map_)
    for _ in range(20):
        map_.zoom(0.5, QPointF(50, 50))
    assert scale(map_) >= min(fitted, 0.65)
    for _ in range(3):
        map_.zoom(2.0, QPointF(50, 50))
    assert map_.handles.all.isVisible()

    map_.handles.all.click()

    assert scale(map_) == fitted
    assert map_.handles.all.isHidden()


def test_a_map_larger_than_its_room_keeps_its_letters_and_scrolls(shown):
    map_ = shown(MACHINES["dual-socket-8-gpu"](), (500, 260))
    assert scale(map_) >= 1.0
    last = map_.boxes[-1]

    assert map_.handles.down.isVisible()
    map_.handles.down.setValue(map_.handles.down.maximum())

    assert map_.rect().bottom() + 1 >= map_.rect_of(last).bottom()
    assert map_.handles.all.isHidden()


# --- pictures and the table ---------------------------------------------------------------------


def test_the_whole_map_is_saved_as_a_picture_also_when_zoomed(shown, tmp_path):
    map_ = shown(workstation())
    map_.zoom(3.0, QPointF(10, 10))
    for suffix in (".png", ".svg"):
        map_.whole().save(tmp_path / f"map{suffix}")

    image = QImage(str(tmp_path / "map.png"))
    assert image.width() > 2 * map_.width()
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert text.startswith("<?xml")
    assert "<text" not in text  # letters are outlines


def test_the_table_lists_every_part_also_what_is_folded(shown):
    map_ = shown(MACHINES["dual-socket-8-gpu"](), (600, 300))
    map_.show_values(KnownValues({Part.L3: [L3]}, {}))

    rows = map_.parts()

    names = [row.name for row in rows]
    assert {f"GPU {n}" for n in range(8)} <= set(names)
    assert {f"hardware thread {n}" for n in range(512)} <= set(names)
    assert not any("more" in name for name in names)
    assert any("Memory: 79.6 GiB" in row.facts for row in rows)
    assert any(row.measured == "11.2 ns L3 cache" for row in rows)
