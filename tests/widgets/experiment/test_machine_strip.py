from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from experiments.core import words
from experiments.core.declare import Part
from tests.widgets.map.machines import elsewhere, server, small, unknown, workstation
from widgets.experiment.machine_strip import MachineStrip
from widgets.style import theme as themes
from widgets.style.look import Look

WORDS = words.load()


@pytest.fixture
def strip(qtbot):
    """Return a function that shows the strip of a machine."""
    look = Look(themes.load("dark"))
    look.wear(look.theme)

    def show(machine, width=900) -> MachineStrip:
        strip = MachineStrip(WORDS, look)
        qtbot.addWidget(strip)
        strip.resize(width, 40)
        strip.show_machine(machine)
        strip.show()
        QApplication.processEvents()
        return strip

    show.look = look
    return show


def texts(strip):
    return [tile.text() for tile in strip.tiles]


def lit(strip):
    return [tile.text() for tile in strip.tiles if tile.property("lit")]


def test_parts_that_the_machine_lacks_are_left_out(strip):
    assert texts(strip(small())) == ["core 0", "core 1", "L1", "L2", "L3", "Memory"]
    assert texts(strip(unknown())) == ["cores", "Memory"]
    assert texts(strip(None)) == []


def test_devices_are_there_where_they_are_known(strip):
    assert texts(strip(workstation()))[-4:] == ["Memory", "Storage", "PCIe", "GPU"]
    assert "NVLink" in texts(strip(server()))


def test_many_cores_are_one_tile(strip):
    assert texts(strip(server()))[0] == "cores 0–255"
    assert texts(strip(elsewhere()))[0] == "cores"


def test_few_cores_are_one_tile_where_there_is_no_room(strip):
    narrow = strip(small(), 330)

    assert texts(narrow)[0] == "cores 0–1"
    narrow.resize(900, 40)
    assert texts(narrow)[:2] == ["core 0", "core 1"]


def test_parts_in_use_are_lit_and_said(strip):
    shown = strip(small())

    shown.light([Part.CORES, Part.L3, Part.GPU])

    assert lit(shown) == ["core 0", "core 1", "L3"]
    names = [tile.accessibleName() for tile in shown.tiles]
    assert "L3, in use here" in names
    assert "Memory, not in use here" in names


def test_a_tile_tells_what_it_is_and_whether_there_will_be_numbers_on_the_map(strip):
    shown = strip(small())

    shown.light([Part.CORES, Part.L3], numbered=[Part.L3])

    tips = {tile.text(): tile.toolTip() for tile in shown.tiles}
    assert tips["L3"].startswith("Puts numbers here")
    assert tips["core 1"].startswith("About it, without numbers")
    assert tips["Memory"].startswith("Not about it")


def test_numbers_of_the_cores_stand_for_all_of_them(strip):
    shown = strip(small())

    shown.light([Part.CORES], numbered=[Part.CORES])

    (told,) = {tile.toolTip() for tile in shown.tiles if tile.piece.part is Part.CORES}
    assert told == WORDS.say("map.cores_tip")


def test_only_the_cores_of_the_threads_in_use_are_lit(strip):
    shown = strip(small())

    shown.light([Part.CORES], threads=[1])
    assert lit(shown) == ["core 1"]
    shown.light([Part.MEMORY])
    assert lit(shown) == ["Memory"]


def test_what_is_lit_stays_lit_on_another_machine(strip):
    shown = strip(small())
    shown.light([Part.L3])

    shown.show_machine(workstation())

    assert lit(shown) == ["L3"]


def test_a_tile_leads_to_its_part_by_mouse_and_by_key(strip):
    shown = strip(small())
    wanted = []
    shown.part_wanted.connect(lambda part, threads: wanted.append((part, threads)))

    QTest.mouseClick(shown.tiles[-1], Qt.MouseButton.LeftButton)
    shown.tiles[0].setFocus()
    QTest.keyClick(shown.tiles[0], Qt.Key.Key_Space)

    assert wanted == [(Part.MEMORY, frozenset()), (Part.CORES, shown.tiles[0].piece.threads)]
    assert shown.tiles[0].piece.threads


@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_no_text_is_cut(strip, zoom):
    shown = strip(workstation())
    strip.look.wear(themes.load("dark", zoom))
    shown.light(list(Part))
    shown.resize(shown.minimumSizeHint())
    QApplication.processEvents()

    assert shown.tiles[-1].geometry().right() <= shown.width()
    for tile in shown.tiles:
        assert tile.fontMetrics().horizontalAdvance(tile.text()) <= tile.width() - 4
