from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QWidget

from experiments.core import words
from experiments.core.declare import Part
from experiments.core.units import unbroken
from experiments.presentation.known import Invitation, KnownValue, KnownValues
from machine.inspect import inspect
from tests.widgets.map.machines import MACHINES, small, workstation
from tests.widgets.map.samples import sample, written
from widgets.controls.wrapped import WrappedLink
from widgets.map.foot import FootLine, LoadScale
from widgets.map.layout.boxes import Kind
from widgets.map.page import MapPage
from widgets.map.panel.part_panel import PartPanel
from widgets.map.panel.part_rows import PartRow
from widgets.map.panel.parts_table import PartsTable
from widgets.style import theme as themes

WORDS = words.load()
LADDER = Invitation(experiment="cache-ladder", question="How far away is a byte?")
BURST = Invitation(experiment="burst-random", question="Does the order matter?", fills=False)


def value(part, text, **more) -> KnownValue:
    return KnownValue(
        label=f"{part} cache",
        text=text,
        when="5 minutes ago",
        experiment="cache-ladder",
        unit="s",
        **more,
    )


@pytest.fixture
def page(qtbot, look) -> MapPage:
    page = MapPage(WORDS, look)
    qtbot.addWidget(page)
    page.resize(1296, 790)
    page.show()
    return page


def said(widget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]


def links(widget) -> list[WrappedLink]:
    return widget.findChildren(WrappedLink)


def foot(page) -> str:
    return page.findChild(FootLine).text()


def rows(page) -> Sequence[PartRow]:
    """Return the rows of the table of parts."""
    return page.findChild(PartsTable).parts


def choose(page, part):
    page.map.choose_part(part)
    QApplication.processEvents()


# --- page ---------------------------------------------------------------------------------------


def test_the_head_says_what_machine_it_is_and_how_much_is_known_of_it(page):
    page.show_machine(small())
    page.show_values(KnownValues({}, {Part.L3: [LADDER]}, {Part.L3: 2, Part.CORES: 7}))

    assert "Test CPU · Debian 12 · 0 of 9 numbers measured" in said(page)
    assert "This machine" in said(page)


def test_while_the_machine_is_read_nothing_is_claimed_of_it(page):
    assert page.map.boxes == ()
    assert not any("CPU" in text or "0 of" in text for text in said(page))
    assert any("Reading" in text for text in said(page))


def test_the_legend_speaks_only_of_what_is_to_be_seen(page):
    page.show_machine(small())
    page.show_values(KnownValues({}, {Part.L3: [LADDER]}, {Part.L3: 1}))
    first = foot(page)
    assert page.findChild(LoadScale).isVisible()
    page.live.setChecked(False)
    page.measured.setChecked(False)

    assert page.findChild(LoadScale).isHidden()
    assert "question mark" in first
    assert "amber" not in first
    assert foot(page) == ""
    page.show_machine(workstation())
    assert "Thicker" in foot(page)


def test_below_the_table_nothing_of_the_map_is_explained(page):
    page.show_machine(workstation())
    page.show_values(KnownValues({}, {Part.L3: [LADDER]}, {Part.L3: 1}))
    choose(page, Part.GPU)
    assert "Point at another part" in foot(page)

    page.table.click()
    assert foot(page) == ""
    assert page.findChild(LoadScale).isHidden()
    page.table.click()
    assert "Point at another part" in foot(page)


def test_the_tip_of_the_count_tells_which_numbers_they_are(page):
    page.show_machine(small())
    page.show_values(
        KnownValues({Part.L1: [value("L1", "1.41 ns")]}, {}, {Part.L1: 2, Part.MEMORY: 20})
    )

    known = WORDS.say("map.earned", {"count": 1, "possible": 22})
    (count,) = (label for label in page.findChildren(QLabel) if known in label.text())
    assert count.toolTip().split("\n")[1:3] == ["L1: 1 of 2", "memory: 0 of 20"]


def test_the_table_says_what_is_not_measured_yet(page):
    page.show_machine(small())
    page.show_values(
        KnownValues({Part.L1: [value("L1", "1.41 ns")]}, {Part.L3: [LADDER]}, {Part.L3: 1})
    )
    page.table.click()
    cells = {part.name: part.measured for part in rows(page)}

    assert cells["L1 cache"] == "1.41 ns L1 cache"
    assert cells["L3 cache"] == "not measured yet"
    assert cells["hardware thread 0"] == ""


def test_the_layers_are_switched_by_chips(page):
    page.show_machine(small())
    page.show_values(KnownValues({Part.L3: [value("L3", "11.2 ns")]}, {}, {Part.L3: 1}))
    cache = next(box for box in page.map.boxes if box.part is Part.L3)

    assert "11.2 ns" in written(page.map, cache.id)
    assert all("Adds" in layer.toolTip() for layer in (page.measured, page.live))
    assert page.live.text() != "Live"  # which is a place
    page.measured.click()
    assert "11.2 ns" not in written(page.map, cache.id)


def test_structure_alone_is_a_layer_too(page):
    page.show_machine(small())

    page.structure.click()
    assert not page.measured.isChecked()
    assert not page.live.isChecked()
    assert page.structure.isChecked()
    page.structure.click()
    assert page.measured.isChecked()
    assert page.live.isChecked()
    assert not page.structure.isChecked()


def test_the_map_turns_into_a_table_and_back(page):
    page.show_machine(small())

    page.table.click()
    QApplication.processEvents()
    model = page.findChild(PartsTable).model
    cells = [model.item(row, 0).text().strip() for row in range(model.rowCount())]
    assert "Memory" in cells
    assert not page.map.isVisible()
    page.show_machine(workstation())
    assert model.rowCount() > len(cells)
    page.table.click()
    assert page.map.isVisible()


def row_of(page) -> str:
    """Return the name in the row that is marked, "" where none is."""
    view = page.findChild(PartsTable).view
    marked = view.selectionModel().selectedRows()
    assert view.currentIndex().row() == (marked[0].row() if marked else -1)  # has the frame
    return rows(page)[marked[0].row()].name if marked else ""


def click_row(qtbot, page, name):
    view, parts = page.findChild(PartsTable).view, rows(page)
    index = view.model().index([part.name for part in parts].index(name), 0)
    view.scrollTo(index)
    place = view.visualRect(index).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_the_row_of_the_table_and_the_part_beside_it_are_the_same(qtbot, page):
    page.show_machine(small())
    page.table.click()
    assert row_of(page) == ""
    page.table.click()
    choose(page, Part.MEMORY)

    page.table.click()
    assert (row_of(page), page.panel.accessibleName()) == ("Memory", "Chosen: Memory")
    click_row(qtbot, page, "L3 cache")
    assert (row_of(page), page.panel.accessibleName()) == ("L3 cache", "Chosen: L3 cache")
    assert page.map.chosen.part is Part.L3
    QTest.keyClick(page.findChild(PartsTable).view, Qt.Key.Key_Up)
    assert page.panel.accessibleName() == f"Chosen: {row_of(page)}" != "Chosen: L3 cache"
    page.show_values(KnownValues({Part.L3: [value("L3", "11.2 ns")]}, {}, {Part.L3: 1}))
    assert page.panel.accessibleName() == f"Chosen: {row_of(page)}"
    links(page.panel)[0].click()
    assert row_of(page) == ""
    choose(page, Part.L3)
    assert row_of(page) == "L3 cache"


def test_a_row_of_what_the_map_folds_is_told_of_too(qtbot, page):
    machine = MACHINES["dual-socket-8-gpu"]()
    page.resize(800, 500)
    page.show_machine(machine)
    QApplication.processEvents()
    name = "hardware thread 511"
    assert page.map.box("thread:511") is None
    choose(page, Part.MEMORY)
    page.table.click()

    click_row(qtbot, page, name)
    assert (row_of(page), page.panel.accessibleName()) == (name, f"Chosen: {name}")
    links(page.panel)[0].click()
    assert (row_of(page), "This machine" in page.panel.accessibleName()) == ("", True)
    click_row(qtbot, page, name)
    page.table.click()
    assert page.map.chosen is None
    assert "This machine" in page.panel.accessibleName()


def test_what_is_not_there_is_not_counted(page):
    page.show_machine(small())
    page.table.click()

    boxes = [part.box for part in rows(page) if part.box]
    names = [box.id for box in boxes]
    missing = [box for box in boxes if box.kind is Kind.UNREAD]
    assert len(missing) == 3
    assert f"{len(names) - 3} parts" in said(page)


def test_the_condition_of_the_machine_stands_in_groups_beside_the_map(page):
    page.show_machine(MACHINES["hybrid-laptop"]())
    text = said(page.panel)
    headings = ("Maker", "Clock and power", "Memory", "Protection", "Disks")
    places = [text.index(heading, text.index("Maker")) for heading in headings]
    assert places == sorted(places)
    for value in ("Dell Inc.", "balance_power", "Package id 0 64\N{NO-BREAK SPACE}°C", "0x24"):
        assert any(value in line for line in text), value
    assert not any("vfat" in line for line in text), "a boot partition is no room to work in"


def test_the_table_begins_with_the_whole_machine_and_its_groups(qtbot, page):
    page.show_machine(MACHINES["hybrid-laptop"]())
    page.table.click()
    first = rows(page)[:6]
    assert [(part.name, part.depth) for part in first] == [
        ("This machine", 0),
        *((name, 1) for name in ("Maker", "Clock and power", "Memory", "Protection", "Disks")),
    ]
    assert "Governor: powersave" in first[2].facts
    click_row(qtbot, page, "L3 cache")
    click_row(qtbot, page, "Protection")
    assert (row_of(page), "This machine" in page.panel.accessibleName()) == ("Protection", True)
    QTest.keyClick(page.findChild(PartsTable).view, Qt.Key.Key_Down)
    assert row_of(page) == "Disks"


@pytest.mark.parametrize("make", [*MACHINES.values(), inspect])
def test_nothing_that_the_panel_tells_is_cut_off_at_its_side(page, make):
    page.show_machine(make())
    QApplication.processEvents()
    for part in (None, Part.CORES, Part.MEMORY, Part.GPU, Part.STORAGE):
        if part is not None:
            choose(page, part)
        area = page.panel.findChild(QScrollArea)
        assert area.widget().minimumSizeHint().width() <= area.viewport().width()


def test_long_names_of_parts_leave_room_for_their_facts(page):
    page.resize(700, 700)
    page.show_machine(workstation())
    page.table.click()
    QApplication.processEvents()
    view = page.findChild(PartsTable).view
    narrow = view.columnWidth(0)

    assert view.columnWidth(1) >= view.width() // 5
    page.resize(1296, 790)
    QApplication.processEvents()
    assert view.columnWidth(0) > narrow


def test_the_way_is_said_below_the_map_which_keeps_its_height(page):
    page.show_machine(workstation())
    choose(page, Part.GPU)
    height = page.map.height()

    page.map.point_to(next(box for box in page.map.boxes if box.id == "gpu:1"))
    QApplication.processEvents()

    assert foot(page).startswith("GPU 0 → ")
    assert page.map.height() == height


def test_the_panel_says_what_the_chosen_part_is_doing(page):
    machine = workstation()
    page.show_machine(machine)
    choose(page, Part.GPU)

    page.show_sample(sample(machine, 8))
    assert "Now: 71 °C · 512 W · busy 100 % · memory 32 of 32 GiB" in said(page.panel)
    page.live.click()
    assert not any(text.startswith("Now") for text in said(page.panel))


def test_the_menu_copies_saves_and_turns(page):
    page.show_machine(small())
    wanted, copied = [], []
    page.save_wanted.connect(wanted.append)
    page.copied.connect(lambda: copied.append(True))

    in_clipboard = []
    for action in page.menu().actions():
        action.trigger()
        mime = QApplication.clipboard().mimeData()
        in_clipboard.append((mime.hasImage(), "<svg" in mime.text()))

    assert in_clipboard[:2] == [(True, False), (False, True)]
    assert wanted == [".png", ".svg"]
    assert copied == [True, True]
    assert page.table.isChecked()


def test_the_doctor_is_asked_for_where_there_is_no_gpu(page):
    page.show_machine(small())
    asked = []
    page.panel.doctor_wanted.connect(lambda: asked.append(True))

    choose(page, Part.GPU)
    next(link for link in links(page.panel) if "Python" in link.accessibleName()).click()

    assert asked == [True]


def test_the_card_to_start_with_opens_its_experiment(page):
    page.show_machine(small())
    wanted = []
    page.experiment_wanted.connect(wanted.append)

    assert page.start.isHidden()
    before = page.panel.mapTo(page, QPoint()), page.map.geometry()
    page.start.offer("cache-ladder", "How far away is a byte?", 12.0)
    page.start.button.click()
    QApplication.processEvents()

    assert (page.panel.mapTo(page, QPoint()), page.map.geometry()) == before  # nothing jumps
    assert not page.start.isHidden()
    assert {"How far away is a byte?", "about 12 s"} <= set(said(page))
    assert wanted == ["cache-ladder"]


def test_nothing_moves_when_another_part_is_chosen(page):
    page.show_machine(small())
    QApplication.processEvents()
    before = page.map.geometry(), page.panel.geometry()
    for box in page.map.boxes:
        page.map.choose(box)
        QApplication.processEvents()
        assert (page.map.geometry(), page.panel.geometry()) == before


@pytest.mark.parametrize(("width", "height", "zoom"), [(1296, 790, 1.0), (1136, 610, 1.6)])
def test_side_and_map_share_the_width(page, look, width, height, zoom):
    look.wear(themes.load("dark", zoom))
    page.show_machine(small())
    page.resize(width, height)
    QApplication.processEvents()

    assert page.map.width() > 0.5 * width
    assert page.panel.width() >= 290
    assert page.panel.geometry().right() <= width


def test_the_map_is_painted_without_numpy_and_sqlite():
    program = (
        "import sys, app.window.map.place; print(sorted({'numpy', 'sqlite3'} & sys.modules.keys()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout == "[]\n"


# --- panel --------------------------------------------------------------------------------------


def test_at_first_the_panel_tells_of_the_whole_machine(page):
    page.show_machine(small())

    assert "a virtual machine (kvm)" in said(page.panel)


def test_the_chosen_part_is_explained_with_numbers_experiments_and_facts(page):
    page.show_machine(small())
    page.show_values(
        KnownValues(
            {Part.L1: [value("L1", "1.41 ns", is_quick=True, about="The median read.")]},
            {Part.L1: [replace(LADDER, missing=("a", "b", "c")), BURST]},
            {Part.L1: 2},
        )
    )

    choose(page, Part.L1)

    texts = said(page.panel)
    assert texts[0] == "L1 cache"
    assert "Measured here: 1 of 2" in texts
    assert "1.41 ns" in texts
    when = {"label": "L1 cache", "when": "5 minutes ago"}
    assert WORDS.say("map.quickly_measured", when) in texts
    assert WORDS.say("map.one_of", {"count": 2}) in texts
    assert "no whole run yet: a; b, and 1 more" in texts
    assert any("The median read." in each.toolTip() for each in page.panel.findChildren(QWidget))
    assert unbroken("32 KiB") in texts
    assert any("/sys/" in text.replace("\u200b", "") for text in texts)
    assert [link.accessibleName() for link in links(page.panel)] == [
        WORDS.say("map.whole"),
        "How far away is a byte?",
        "Does the order matter?",
    ]


def test_a_core_tells_the_numbers_that_stand_at_its_package(page):
    page.show_machine(small())
    page.show_values(
        KnownValues({Part.CORES: [value("clock of the core", "3.57 GHz")]}, {}, {Part.CORES: 34})
    )

    page.map.choose_part(Part.CORES, frozenset({1}))
    QApplication.processEvents()

    assert page.panel.box.kind is Kind.CORE
    texts = said(page.panel)
    assert "Measured here: 1 of 34" in texts
    assert "3.57 GHz" in texts
    assert WORDS.say("map.at_package") in texts


def test_a_number_of_another_size_of_cache_is_not_told(page):
    page.show_machine(workstation())
    page.show_values(KnownValues({Part.L3: [value("L3", "11.2 ns")]}, {}, {Part.L3: 1}))
    first, second = (box for box in page.map.boxes if box.part is Part.L3)

    page.map.choose(first)
    QApplication.processEvents()
    without = said(page.panel)
    page.map.choose(second)
    QApplication.processEvents()

    assert "11.2 ns" not in without
    assert "11.2 ns" in said(page.panel)


def test_links_of_the_panel_open_their_experiments_by_key(page):
    page.show_machine(small())
    page.show_values(KnownValues({}, {Part.L3: [BURST]}, {}))
    wanted = []
    page.experiment_wanted.connect(wanted.append)
    choose(page, Part.L3)

    _, link = links(page.panel)
    link.setFocus()
    QTest.keyClick(link, Qt.Key.Key_Space)

    assert wanted == ["burst-random"]


def test_what_is_told_anew_leaves_the_reader_where_they_are(page):
    page.show_machine(small())
    page.resize(1296, 400)
    numbers = {Part.L3: [value("L3", "11.2 ns")]}
    page.show_values(KnownValues(numbers, {Part.L3: [BURST, LADDER]}, {}))
    choose(page, Part.L3)
    bar = page.panel.findChild(QScrollArea).verticalScrollBar()
    links(page.panel)[-1].setFocus()
    bar.setValue(bar.maximum())
    before, name = bar.value(), links(page.panel)[-1].accessibleName()
    assert before > 0

    page.show_values(KnownValues(dict(numbers), {Part.L3: [BURST, LADDER]}, {}))
    same = page.focusWidget()
    assert same is not None
    assert same.accessibleName() == name
    later = {Part.L3: [replace(numbers[Part.L3][0], when="6 minutes ago")]}
    page.show_values(KnownValues(later, {Part.L3: [BURST, LADDER]}, {}))
    QApplication.processEvents()

    assert any("6 minutes ago" in text for text in said(page.panel))
    assert page.focusWidget() is links(page.panel)[-1]
    assert bar.value() == before


def test_the_panel_leads_back_to_the_whole_machine(page):
    page.show_machine(small())
    assert links(page.panel) == []
    choose(page, Part.L3)
    back = links(page.panel)[0]
    back.setFocus()

    QTest.keyClick(back, Qt.Key.Key_Space)
    QApplication.processEvents()

    assert page.map.chosen is None
    assert page.focusWidget() is page.map
    assert "This machine" in said(page.panel)


def test_what_shares_a_source_names_it_once(page):
    page.show_machine(small())
    choose(page, Part.L3)

    paths = [text for text in said(page.panel) if "index*" in text]
    assert len(paths) == 1


def test_a_missing_fact_says_why_and_how(page):
    page.show_machine(small())
    choose(page, Part.MEMORY)

    texts = said(page.panel)
    assert "hidden by the virtual machine" in texts
    assert "Virtual machines have none." in texts
    assert "→ dmidecode" in texts


def test_a_long_link_goes_on_in_the_next_line(qtbot, look):
    link = WrappedLink("Reading in order or shuffled: does the order matter here & there?")
    qtbot.addWidget(link)
    link.resize(160, 100)
    link.show()
    QApplication.processEvents()

    lines = link.text().split("\n")
    assert len(lines) > 2
    assert all(link.fontMetrics().horizontalAdvance(line) <= 170 for line in lines)
    assert "&&" in link.text()


def test_every_control_has_a_name(page):
    page.show_machine(small())
    page.start.offer("cache-ladder", "How far away is a byte?", 12.0)
    page.show_values(KnownValues({}, {Part.L3: [LADDER]}, {Part.L3: 1}))
    choose(page, Part.L3)

    for control in page.findChildren(QPushButton):
        assert control.accessibleName() or control.text()
    assert page.map.accessibleName()
    assert page.panel.accessibleName() == "Chosen: L3 cache"


def test_a_panel_without_a_machine_says_that_it_is_being_read(qtbot, look):
    panel = PartPanel(WORDS, look)
    qtbot.addWidget(panel)

    assert any("Reading" in text for text in said(panel))


def test_a_click_on_a_layer_leaves_the_map_its_keys(qtbot, page):
    page.show_machine(small())
    page.activateWindow()
    page.map.setFocus()

    qtbot.mouseClick(page.live, Qt.MouseButton.LeftButton)
    QTest.keyClick(page.window().focusWidget(), Qt.Key.Key_Plus, Qt.KeyboardModifier.NoModifier)

    assert not page.live.isChecked()
    assert page.map.handles.all.isVisible()
