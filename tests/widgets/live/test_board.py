from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from experiments.core.words import Words
from experiments.presentation.load.face import Face
from experiments.presentation.load.history import History
from machine.model import Machine
from tests.gallery.live_samples import machine, samples
from widgets.live.board import Board
from widgets.live.controls import RATES_HZ, Controls
from widgets.live.sparkline import Sparkline
from widgets.live.tile import WRAPPED, Tile
from widgets.style import theme
from widgets.style.look import Look

WIDE, NARROW = 1296, 1068


def filled(count: int, *, virtual: bool = False, seconds: float = 5.0) -> tuple[History, list]:
    history, missing = History(asleep_s=lambda: 0.0), []
    for sample in samples(count, seconds=seconds, virtual=virtual):
        sample.add_to(history)
        missing = sample.missing
    return history, missing


def board_of(
    qtbot, look: Look, english: Words, count: int = 8, *, width: int = WIDE, virtual: bool = False
) -> Board:
    board = Board(look, english)
    qtbot.addWidget(board)
    board.resize(width, 700)
    board.fill(700)
    board.show()  # what is hidden is not told of its size
    board.show_machine(machine(count))
    board.draw(*filled(count, virtual=virtual))
    board.resize(width, max(700, board.minimumHeight()))
    return board


@pytest.fixture(params=[0.8, 1.0, 2.0])
def zoomed(qapp, request) -> Look:
    look = Look(theme.load("light", request.param))
    look.wear(look.theme)
    return look


def test_every_line_says_how_high_it_goes_and_which_of_two_flows_it_is(qtbot, look, english):
    board = board_of(qtbot, look, english, virtual=True)

    def foot(name):
        texts = board.tiles[name].texts()
        return [texts[place][0] for place in ("left", "middle", "right") if place in texts]

    assert foot("memory") == foot("stolen") == ["up to 100 %"]
    assert foot("disks")[0] == foot("network")[0] == "the larger rate"
    assert "0 to 100 %" in foot("cores")[1]


def test_the_tip_of_a_tile_says_what_its_number_is_and_where_from(qtbot, look, english):
    board = board_of(qtbot, look, english)

    assert board.tiles["cores"].toolTip().endswith("/proc/stat).</p>")
    disks = board.tiles["disks"]
    disks.show_face(Face(number="1 MB/s", tip="sda <1>\nsdb"))
    about = english.say("live.disks_is")
    assert disks.toolTip().startswith(f"<p>sda &lt;1&gt;<br>sdb</p><p>{about}</p>")
    assert board.tiles["clock"].toolTip().startswith("<p>Last reported clock")


def test_the_tip_at_words_that_puzzle_explains_them(qtbot, look, english):
    cores = board_of(qtbot, look, english).tiles["cores"]
    cores.show_face(replace(cores.face, errors="errors unknown", error_state="unknown"))
    where = {name: rect.center() for name, (_, _, rect) in cores.texts().items()}

    assert "some devices only" in cores.tip_at(where["errors"])
    assert "task waited" in cores.tip_at(where["detail"])
    assert cores.tip_at(where["title"]) == cores.toolTip()
    cores.show_face(replace(cores.face, errors="no errors", error_state="none"))
    assert cores.tip_at(where["errors"]) == cores.toolTip()


def test_no_chip_moves_when_a_load_starts_or_the_rate_changes(qtbot, look, english):
    controls = Controls(english)
    qtbot.addWidget(controls)
    controls.resize(WIDE, 80)
    controls.show()

    def places():
        QApplication.processEvents()
        return [chip.geometry() for chip in controls.findChildren(QPushButton)]

    before = places()
    for count, hz in ((1, 20.0), (0, 5.0)):
        controls.show_load(count)
        controls.show_rate(hz, quiet=False)
        assert places() == before


# --- which tiles there are ------------------------------------------------------------------------


def test_without_samples_there_are_no_tiles(qtbot, look, english):
    board = Board(look, english)
    qtbot.addWidget(board)
    board.draw(History())

    assert board.tiles == {}


def test_there_are_tiles_for_what_is_there(qtbot, look, english):
    board = board_of(qtbot, look, english)

    names = ["cores", "memory", "disks", "network", "swap", "clock", "heat", "stolen"]
    assert list(board.tiles) == names


def test_no_swap_space_and_no_host_have_no_tiles(qtbot, look, english):
    board = Board(look, english)
    qtbot.addWidget(board)
    history = History()
    threads = [{"id": 0, "busy": 0.1, "hz": None, "steal_fraction": 0.0}]
    history.add(0.0, threads, {"total_bytes": 100, "used_bytes": 50, "swap_total_bytes": 0})
    board.draw(history, [])

    assert list(board.tiles) == ["cores", "memory"]
    board.show_machine(Machine(virtualization="kvm"))
    assert list(board.tiles) == ["cores", "memory", "stolen"]


def test_a_tile_without_a_value_has_its_reason_and_no_line(qtbot, look, english):
    board = Board(look, english)
    qtbot.addWidget(board)
    first = next(samples(4))
    first.disks[0] |= {"read_bytes_per_s": None, "write_bytes_per_s": None}
    history = History()
    first.add_to(history)
    why = {"what": "disks[*].read_bytes_per_s", "why": "It is the first.", "how": ""}

    board.draw(history, [why])

    disks = board.tiles["disks"]
    assert (disks.face.number, disks.face.detail) == ("not known", "It is the first.")
    assert disks.body.isHidden()


def test_what_is_not_told_stands_below_once(qtbot, look, english):
    board = board_of(qtbot, look, english, virtual=True)

    labels = board.findChildren(QLabel)
    (note,) = (each for each in labels if "core clocks" in each.text())
    assert note.geometry().top() > board.tiles["cores"].geometry().bottom()
    assert "clock" not in board.tiles


# --- how they stand -------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [WIDE, NARROW, 700])
@pytest.mark.parametrize(("count", "virtual"), [(2, True), (256, False)])
def test_no_word_is_cut_off_at_any_zoom(qtbot, zoomed, english, width, count, virtual):
    board = board_of(qtbot, zoomed, english, count, width=width, virtual=virtual)

    for tile in board.tiles.values():
        for name, (text, font, rect) in tile.texts().items():
            metrics = QFontMetrics(font)
            flags = WRAPPED if name == "detail" else Qt.AlignmentFlag.AlignLeft
            room = metrics.boundingRect(QRect(0, 0, rect.width(), 1 << 14), flags, text)
            assert room.width() <= rect.width(), (tile.title, name)
            assert room.height() <= rect.height(), (tile.title, name)
            assert tile.rect().contains(rect), (tile.title, name)
        if not tile.body.isHidden():
            assert tile.body.height() >= 40


def test_words_of_a_tile_do_not_meet(qtbot, zoomed, english):
    for tile in board_of(qtbot, zoomed, english, 32).tiles.values():
        rects = [rect for _, _, rect in tile.texts().values()]
        rects = rects[:4]  # those below share a line
        for place, one in enumerate(rects):
            assert not any(one.intersects(other) for other in rects[place + 1 :])
            assert tile.body.isHidden() or not one.intersects(tile.body.geometry())


def test_nothing_moves_as_values_change(qtbot, look, english):
    board = board_of(qtbot, look, english)
    before = {name: tile.geometry() for name, tile in board.tiles.items()}

    history, missing = filled(8, seconds=90.0)
    board.draw(history, missing)

    assert {name: tile.geometry() for name, tile in board.tiles.items()} == before


def test_a_larger_zoom_has_fewer_columns(qtbot, look, english):
    board = board_of(qtbot, look, english)
    memory, disks = board.tiles["memory"], board.tiles["disks"]
    assert memory.y() == board.tiles["cores"].y()
    assert disks.y() == memory.y()

    look.wear(theme.load(look.theme.mode, 1.6))

    assert memory.y() > board.tiles["cores"].geometry().bottom()


# --- the reading cursor ---------------------------------------------------------------------------


def words_at_cursor(view) -> str:
    return view._words  # noqa: SLF001  (painted, and no widget)


def test_the_cursor_stands_at_the_same_time_in_all_tiles(qtbot, look, english):
    board = board_of(qtbot, look, english)

    board.tiles["memory"].body.pointed.emit(2.0, None)

    assert words_at_cursor(board.tiles["memory"].body) == "51 %, 2 s ago"
    assert words_at_cursor(board.tiles["clock"].body).endswith("GHz, 2 s ago")
    assert words_at_cursor(board.tiles["cores"].body.line).endswith("%, 2 s ago")


def test_on_the_strip_it_reads_one_thread(qtbot, look, english):
    board = board_of(qtbot, look, english)

    board.tiles["cores"].body.strip.pointed.emit(2.0, 1)

    assert words_at_cursor(board.tiles["cores"].body.strip.heat).startswith("thread 4: ")


def test_where_nobody_looked_it_reads_no_value(qtbot, look, english):
    board = board_of(qtbot, look, english)

    board.point_at(40.0)

    assert words_at_cursor(board.tiles["memory"].body) == "no data, 40 s ago"


def test_arrow_keys_move_it_and_it_is_said(qtbot, look, english, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr("widgets.live.board.announce", lambda _widget, text: said.append(text))
    board = board_of(qtbot, look, english)
    with qtbot.waitExposed(board):
        board.show()
    memory = board.tiles["memory"]
    memory.setFocus()
    qtbot.waitUntil(memory.hasFocus)

    for key in (Qt.Key.Key_End, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Right):
        QTest.keyClick(memory, key)

    assert board.cursor_s == 1.0
    assert said[-1] == "52 %, 1 s ago"
    board.tiles["cores"].setFocus()
    assert board.cursor_s is None
    QTest.keyClick(board.tiles["cores"], Qt.Key.Key_Down)
    assert said[-1].startswith("thread 0: ")


def test_tiles_tell_their_name_and_values_to_those_who_do_not_see_them(qtbot, look, english):
    for tile in board_of(qtbot, look, english).tiles.values():
        assert tile.accessibleName() == tile.title
        assert tile.face.number in tile.accessibleDescription()
        assert tile.focusPolicy() is Qt.FocusPolicy.StrongFocus


def test_words_that_stay_are_not_painted_again(qtbot, look, english, monkeypatch):
    painted: list[str] = []
    for kind in (Tile, Sparkline):
        paint = kind.paintEvent
        monkeypatch.setattr(
            kind,
            "paintEvent",
            lambda self, event, paint=paint: (
                painted.append(type(self).__name__),
                paint(self, event),
            ),
        )
    board = board_of(qtbot, look, english)
    with qtbot.waitExposed(board):
        board.show()
    qtbot.waitUntil(lambda: painted.count("Sparkline") >= 5)
    painted.clear()

    board.draw(*filled(8))
    qtbot.waitUntil(lambda: painted.count("Sparkline") >= 5)

    assert "Tile" not in painted


# --- the chips ------------------------------------------------------------------------------------


@pytest.fixture
def controls(qtbot, look, english) -> Controls:
    controls = Controls(english)
    qtbot.addWidget(controls)
    controls.resize(WIDE, 60)
    controls.show()
    return controls


def test_without_samples_nothing_can_be_frozen_or_saved(controls):
    assert not controls.freeze.isEnabled()
    assert not controls.save.isEnabled()
    controls.allow(True)
    assert controls.freeze.isEnabled()


def test_a_rate_is_chosen_from_a_menu(qtbot, controls):
    assert [action.data() for action in controls.rates.actions()] == list(RATES_HZ)
    with qtbot.waitSignal(controls.rate_wanted) as wanted:
        controls.rates.actions()[2].trigger()
    assert wanted.args == [10.0]


def test_while_an_experiment_runs_the_rate_cannot_be_chosen_and_says_why(controls):
    controls.show_rate(2.0, quiet=True)

    assert not controls.rate.isEnabled()
    assert "during an experiment" in controls.rate.toolTip()


def test_loads_are_one_thread_or_all(qtbot, controls):
    controls.offer_loads(16)
    wanted: list[int] = []
    controls.load_wanted.connect(wanted.append)

    for action in controls.loads.actions():
        action.trigger()

    assert wanted == [1, 16]
    controls.offer_loads(1)
    assert len(controls.loads.actions()) == 1


def test_each_gpu_can_be_loaded_in_two_ways(controls):
    wanted: list[tuple[str, str]] = []
    controls.gpu_load_wanted.connect(lambda *told: wanted.append(told))
    controls.offer_loads(1, {"cuda:0": 0, "cuda:1": 1})

    for action in controls.loads.actions()[1:]:
        action.trigger()

    gpus = ("cuda:0", "cuda:1")
    assert wanted == [(kind, gpu) for gpu in gpus for kind in ("matmul", "copy")]


def test_where_no_gpu_can_be_loaded_the_menu_says_why(controls):
    controls.offer_loads(1, why_none="There is none.")

    last = controls.loads.actions()[-1]
    assert "There is none." in last.text()
    assert not last.isEnabled()


def test_a_second_click_ends_the_load(qtbot, controls):
    controls.show_load(2)
    with qtbot.waitSignal(controls.load_wanted) as wanted:
        controls.load.click()
    assert wanted.args == [0]


@pytest.mark.parametrize("width", [820 - 84 - 64, NARROW, WIDE])
def test_no_chip_is_cut_off(qtbot, zoomed, english, width):
    controls = Controls(english)
    qtbot.addWidget(controls)
    controls.resize(width, 60)
    controls.show()
    controls.resize(width, controls.layout().totalHeightForWidth(width))

    for chip in (controls.rate, controls.freeze, controls.mark, controls.save, controls.explain):
        assert chip.width() >= chip.sizeHint().width()
        corner = chip.mapTo(controls, chip.rect().bottomRight())
        assert controls.rect().contains(corner)
