from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QRadioButton

from experiments.core.catalogue import Catalogue
from experiments.core.units import show
from tests.widgets.runs.samples import WORDS, worn
from widgets.runs.collage_data import Cloud, Numbers, Option, Point, Shown
from widgets.runs.collage_page import CollagePage

BURST, THREADS = (Catalogue().load(name) for name in ("burst-random", "gil-threads"))
CTRL = Qt.KeyboardModifier.ControlModifier
Key = Qt.Key
NUMBERS = Numbers(
    guesses=(2.0, 3.0, 10.0, 12.0, 150.0),
    yours=10.0,
    band=(14.0, 40.0),
    machines=5,
    unit="ratio",
    title="predicted",
)
OPTIONS = (
    Option(text="after 1 s", count=3, machines=0, is_yours=False),
    Option(text="after 4 s", count=1, machines=4, is_yours=True),
    Option(text="later", count=0, machines=1, is_yours=False),
)
CLOUD = Cloud(
    points=(
        Point(x=31e-9, y=2e-9, said="Ben · B", is_here=False),
        Point(x=10e-9, y=1e-9, said="Ana · A", is_here=True),
        Point(x=20e-9, y=3e-9, said="C", is_here=False),
    ),
    titles=("across", "up"),
    units=("s", "s"),
)


def shown(guesses=NUMBERS, cloud=CLOUD, experiment=BURST, **more):
    given = {
        "question": "Does it <matter>?",
        "count": "3 results",
        "main": "2 of 3 guessed too low.",
        "rest": "1 result was left out.",
        "columns": ("Name", "Prediction"),
        "rows": (("Ana", "2×"), ("Ben", "3×"), ("", "")),
    }
    return Shown(experiment=experiment, guesses=guesses, cloud=cloud, **(given | more))


@pytest.fixture
def page(qtbot):
    page = CollagePage(worn(), WORDS)
    qtbot.addWidget(page)
    page.resize(1200, 800)
    with qtbot.waitExposed(page):
        page.show()
    page.activateWindow()
    return page


def said(page):
    return [each.text() for each in page.findChildren(QLabel) if each.isVisible()]


def test_an_empty_collage_explains_how_to_fill_it(qtbot, page):
    assert WORDS.say("collage.empty_how") in said(page)
    page.focus_first()
    with qtbot.waitSignal(page.add_asked):
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_Return)
    assert page.own_actions() == ()


def test_files_that_fill_nothing_are_told(page):
    page.show_collage(shown(), ())
    page.show_nothing("1 result was left out: damaged.")
    assert WORDS.say("collage.none_counts") in said(page)
    assert "1 result was left out: damaged." in said(page)
    assert page.fill_button.isVisible()


def test_reading_is_said_until_it_ends(page):
    page.show_reading(30)
    assert WORDS.say("collage.reading", {"count": 30}) in said(page)
    page.show_collage(shown(), ())
    assert not any("Reading" in text for text in said(page))


def test_guesses_are_counted_in_classes_beside_what_was_measured(page):
    page.show_collage(shown(), ())
    summary = page.plots[0].summary()
    assert "2× to 5×: 2 predictions" in summary
    assert "10× to 20×: 2 predictions · yours among them" in summary
    assert "100× to 200×: 1 prediction" in summary
    assert "measured, 5 machines: from 14× to 40×" in summary
    labels = {label.text for label in page.plots[0].painted().labels}
    assert labels == {"you", "measured, 5 machines"}


@pytest.mark.parametrize(
    ("guesses", "unit", "told"),
    [
        ((10.0, 10.0000000001, 9.99), "", "10 to 20: 2 predictions"),
        ((0.001, 0.0011), "fraction", "0.1 % to 0.2 %: 2 predictions"),
        ((4096.0,), "bytes", "4 KiB to 16 KiB: 1 prediction"),
        ((1e-9, 5e-9), "s", "5 ns to 10 ns: 1 prediction"),
    ],
)
def test_a_guess_on_an_edge_begins_a_class_in_any_unit(page, guesses, unit, told):
    numbers = Numbers(guesses=guesses, yours=None, band=None, machines=0, unit=unit, title="")
    page.show_collage(shown(numbers), ())
    assert told in page.plots[0].summary()


def test_each_answer_has_a_bar_and_the_right_one_says_so(page):
    page.show_collage(shown(OPTIONS, experiment=THREADS), ())
    assert "after 1 s · 3 chose it." in page.plots[0].summary()
    labels = {label.text for label in page.plots[0].painted().labels}
    assert labels == {"3", "1 · you · ✓ right on 4 machines", "0 · ✓ right on 1 machine"}


def test_the_keys_go_from_machine_to_machine_and_say_it(qtbot, page):
    page.show_collage(shown(), ())
    cloud = page.plots[1]
    cloud.setFocus()
    told = []
    for _ in range(3):
        qtbot.keyClick(cloud, Key.Key_Right)
        told.append(cloud.said())
    assert told == [
        "this machine · Ana · A · 10 ns · 1 ns",
        "C · 20 ns · 3 ns",
        f"Ben · B · {show(31e-9, 's')} · 2 ns",
    ]
    qtbot.keyClick(cloud, Key.Key_Escape)
    assert cloud.said() == ""


def test_pointing_at_a_bar_or_a_machine_tells_it(qtbot, page):
    page.show_collage(shown(), ())
    guesses, cloud = page.plots
    area = guesses.painted().area
    at = area.point(1.15, 0.5).toPoint()
    qtbot.mouseMove(guesses, at)
    assert guesses.said().startswith("10× to 20×")
    point = cloud.painted().area.point(20e-9, 3e-9).toPoint()
    qtbot.mouseMove(cloud, point)
    assert cloud.said().startswith("C ·")


def test_the_table_stands_behind_the_plots_and_is_copied(qtbot, page):
    page.show_collage(shown(), ())
    page.focus_first()
    qtbot.keyClick(QApplication.focusWidget(), Key.Key_D, CTRL)
    assert page.table.isVisible()
    assert page.table.hasFocus()
    page.table.selectRow(1)
    qtbot.keyClick(page.table, Key.Key_C, CTRL)
    assert QGuiApplication.clipboard().text().splitlines() == ["Name\tPrediction", "Ben\t3×"]
    qtbot.keyClick(page.table, Key.Key_D, CTRL)
    assert page.plots[0].hasFocus()


def test_the_table_stays_while_another_experiment_is_chosen(qtbot, page):
    others = [("burst-random", "One?"), ("gil-threads", "Another?")]
    page.show_collage(shown(), others)
    page.turn.trigger()
    (other,) = [each for each in page.findChildren(QRadioButton) if each.text() == "Another?"]
    QApplication.processEvents()  # lays them out
    with qtbot.waitSignal(page.chosen) as chosen:
        qtbot.mouseClick(other, Qt.MouseButton.LeftButton)
    assert chosen.args == ["gil-threads"]
    other.setFocus()
    page.show_collage(shown(OPTIONS, experiment=THREADS), others)
    assert page.table.isVisible()
    assert other.hasFocus()


def test_without_predictions_or_numbers_the_rest_is_shown(page):
    page.show_collage(shown(()), ())
    assert [plot.accessibleName() for plot in page.plots] == ["Our machines"]
    page.show_collage(shown(NUMBERS, None), ())
    assert [plot.accessibleName() for plot in page.plots] == ["What we guessed"]
    page.show_collage(shown((), None), ())
    page.focus_first()
    assert page.plots == []


def test_a_plot_asks_to_be_saved(qtbot, page):
    page.show_collage(shown(), ())
    (save,) = [
        each for each in page.plots[1].menu().actions() if each.text() == WORDS.say("plot.save_png")
    ]
    with qtbot.waitSignal(page.save_wanted) as wanted:
        save.trigger()
    assert wanted.args == [page.plots[1], ".png"]


def test_files_that_fall_on_it_are_handed_on(qtbot, page):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/a/x.jsonl")])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    left = Qt.MouseButton.LeftButton
    QApplication.sendEvent(page, QDragEnterEvent(QPoint(9, 9), copy, data, left, none))
    assert WORDS.say("collage.drop") in said(page)
    with qtbot.waitSignal(page.files_dropped) as handed:
        QApplication.sendEvent(page, QDropEvent(QPointF(9, 9), copy, data, left, none))
    assert handed.args == [[Path("/a/x.jsonl")]]


@pytest.mark.parametrize("size", [(760, 480), (1200, 800)])
@pytest.mark.parametrize("guesses", [NUMBERS, OPTIONS])
def test_every_label_has_its_place_at_any_size(page, guesses, size):
    page.show_collage(shown(guesses), ())
    page.resize(*size)
    QApplication.processEvents()
    for plot in page.plots:
        assert plot.painted().labels
        for label in plot.painted().labels:
            assert plot.rect().contains(label.rect.toAlignedRect())


@pytest.mark.parametrize("zoom", [1.0, 1.45, 1.6])
def test_count_and_tick_of_each_answer_stay_in_a_small_window(qtbot, zoom):
    page = CollagePage(worn("dark", zoom), WORDS)
    qtbot.addWidget(page)
    texts = ("blocks, one stretch of rows for each worker", "dealt in turn, like cards",
             "handed out, one row to whoever is free", "none, all end about together")  # fmt: skip
    votes = zip(texts, (21, 6, 0, 3), (15, 4, 0, 3), strict=True)
    options = [
        Option(text=text, count=count, machines=machines, is_yours=count == 21)
        for text, count, machines in votes
    ]
    page.show_collage(shown(options, experiment=THREADS), ())
    page.resize(1280 - 87, 684)  # a window of 1280 x 720, without its rail and status
    with qtbot.waitExposed(page):
        page.show()

    plot = page.plots[0]
    found = {label.text.partition(" ")[0]: label for label in plot.painted().labels}
    for each in options:
        label = found[str(each.count)]
        assert ("✓" in label.text) is bool(each.machines)
        assert (WORDS.say("collage.you") in label.text) is each.is_yours
        assert plot.rect().contains(label.rect.toAlignedRect())
        assert not label.is_over


@pytest.mark.parametrize(
    ("values", "unit"),
    [((0.0, 0.0, 0.0), "fraction"), ((0.6, 0.7, 0.9), "fraction"), ((0.15, 0.31, 0.3), "s")],
)
def test_axes_begin_where_values_can_begin(page, values, unit):
    points = [Point(x=each, y=each, said="", is_here=False) for each in values]
    cloud = Cloud(points=points, titles=("across", "up"), units=(unit, unit))
    page.show_collage(shown((), cloud), ())
    (plot,) = page.plots

    sight = plot.painted().area.sight
    for low, high in (sight.x, sight.y):
        assert low == 0.0
        assert high > max(values)


def test_a_temperature_begins_where_the_machines_are(page):
    points = [Point(x=each, y=each, said="", is_here=False) for each in (60.0, 70.0)]
    cloud = Cloud(points=points, titles=("across", "up"), units=("celsius", "celsius"))
    page.show_collage(shown((), cloud), ())

    assert page.plots[0].painted().area.sight.x[0] > 50.0


def test_a_report_is_asked_for_by_mouse_and_keys(qtbot, page):
    for ask in (
        lambda: qtbot.mouseClick(page.report_button, Qt.MouseButton.LeftButton),
        lambda: qtbot.keyClick(page.plots[0], Key.Key_P, CTRL),
    ):
        page.show_collage(shown(), ())
        with qtbot.waitSignal(page.report_wanted) as wanted:
            ask()
        assert wanted.args[0].count == "3 results"
    page.show_nothing()
    assert not page.report_button.isVisible()
    assert page.report not in page.own_actions()
