"""A core opens into its parts, and they show the numbers that experiments earn."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from experiments.core import words
from experiments.core.declare import Part
from experiments.presentation.known import INSIDE_A_CORE, Invitation, KnownValue, KnownValues
from machine.model import usable_threads
from tests.widgets.map.machines import MACHINES, hybrid, small, workstation
from tests.widgets.map.samples import texts_of, written
from widgets.controls.wrapped import WrappedLink
from widgets.map.layout.boxes import Kind
from widgets.map.layout.inside import CLOSE, lay_out_core
from widgets.map.layout.shapes import touch
from widgets.map.page import MapPage
from widgets.map.painting.view import MARGIN
from widgets.map.panel.parts_table import PartsTable

WORDS = words.load()
SIZE = 1180, 640
ADDS = KnownValue(label="additions", text="1.98", when="just now", experiment="ilp", unit="")
KNOWN = KnownValues(
    values={Part.PORTS: [ADDS]},
    invitations={
        Part.FRONT_END: [Invitation(experiment="branches", question="Why is sorted data faster?")]
    },
)


@pytest.fixture
def page(qtbot, look):
    """Return a function that shows the page of the map of a machine."""

    def show(machine):
        made = MapPage(WORDS, look)
        qtbot.addWidget(made)
        made.resize(*SIZE)
        made.show_machine(machine)
        made.show_values(KNOWN)
        made.show()
        return made

    return show


def click(map_, name):
    at = map_.rect_of(map_.box(name)).center()
    QTest.mouseClick(map_, Qt.MouseButton.LeftButton, pos=at)


def parts(map_):
    return {box.part for box in map_.boxes if box.kind is Kind.UNIT}


def test_a_second_click_on_a_core_opens_it_and_escape_leads_back_to_it(page):
    map_ = page(workstation()).map
    click(map_, "thread:3")
    assert not map_.is_inside
    click(map_, "thread:3")
    assert parts(map_) == {*INSIDE_A_CORE}
    assert map_.chosen.threads == (3, 19)  # both threads of the core
    QTest.keyClick(map_, Qt.Key.Key_Escape)
    assert not map_.is_inside
    assert map_.chosen.id == "core:3"
    QTest.keyClick(map_, Qt.Key.Key_Return)
    assert map_.is_inside
    click(map_, CLOSE)
    assert not map_.is_inside


def test_the_panel_opens_a_core_from_the_map_and_from_the_table(page):
    made = page(small())
    made.table.setChecked(True)
    rows = made.map.parts()
    made.findChild(PartsTable).part_chosen.emit(
        next(row.box for row in rows if row.box and row.box.id == "core:1")
    )
    link = WORDS.say("map.open_core")
    next(one for one in made.panel.findChildren(WrappedLink) if one.text() == link).click()
    assert made.map.is_inside
    assert not made.table.isChecked()
    back = WORDS.say("map.whole")
    next(one for one in made.panel.findChildren(WrappedLink) if one.text() == back).click()
    assert not made.map.is_inside


def test_earned_numbers_stand_in_their_parts_and_a_question_mark_leads_to_the_rest(page, qtbot):
    map_ = page(small()).map
    map_.choose_part(Part.PORTS)  # as a link of an experiment does
    assert map_.chosen.part is Part.PORTS
    drawn = written(map_, map_.chosen.id)
    assert any(ADDS.text in text and ADDS.label in text for text in drawn)
    mark = next(t for t in texts_of(map_, Part.FRONT_END) if t.role == "invitation")
    at = QPoint(*(round(MARGIN + middle) for middle in mark.rect.centre))
    with qtbot.waitSignal(map_.experiment_wanted) as wanted:
        QTest.mouseClick(map_, Qt.MouseButton.LeftButton, pos=at)
    assert wanted.args == ["branches"]
    map_.choose_part(Part.MEMORY)
    assert not map_.is_inside
    assert map_.chosen.part is Part.MEMORY


def test_a_core_of_another_kind_than_the_measured_one_shows_no_number(page):
    machine = hybrid()
    *_, last = usable_threads(machine)
    other = next(t for t in machine.cpu.threads_list if t.kind != last.kind)
    made = page(machine)
    made.map.open_core([other.id])
    assert not any(box.bears_value for box in made.map.boxes)
    made.map.choose(made.map.box("ports"))
    said = {one.text() for one in made.panel.findChildren(QLabel)}
    assert WORDS.say("map.other_kind") in said
    made.map.open_core(())
    made.map.open_core([last.id])
    assert made.map.box("ports").bears_value


def test_the_table_lists_the_parts_of_the_measured_core_once(page):
    rows = page(workstation()).map.parts()
    units = [row for row in rows if row.box and row.box.kind is Kind.UNIT]
    assert [row.box.part for row in units] == [*INSIDE_A_CORE]
    assert [row.measured for row in units if row.box.part is Part.PORTS] == ["1.98 additions"]
    core = next(row for row in rows if row.box and row.box.id == "core:15")
    assert {row.depth for row in units} == {core.depth + 1}


def test_another_machine_closes_the_core(page):
    made = page(workstation())
    made.map.open_core([0])
    made.show_machine(small())
    assert not made.map.is_inside


@pytest.mark.parametrize("zoom", [1.0, 1.5])
def test_the_parts_of_any_core_lie_apart(measure, zoom):
    for name, make in MACHINES.items():
        machine = make()
        for thread in machine.cpu.threads_list[:40]:
            drawn = lay_out_core(machine, WORDS, measure(zoom), 700, 500, (thread.id,))
            flat = [box for box in drawn.boxes if box.parent is None]
            for place, box in enumerate(flat):
                assert box.rect.x >= 0, name
                assert box.rect.right <= drawn.width + 1, name
                assert not any(touch(box.rect, other.rect) for other in flat[:place]), name
