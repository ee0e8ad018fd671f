"""The place of the checkup, as a person uses it; what is checked is scripted."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu

from app.checkup.in_words import day
from app.checkup.store import Checkups
from app.context import Context
from app.reports.checkup_report import checkup_report
from app.reports.privacy import Include
from app.reports.writing import written
from app.window.core.target import CHECKUP, EXPERIMENTS, RUNS, Target
from app.window.experiment.place import ExperimentPage
from app.window.map.place import MapPlace
from experiments.checkup.order import Order, read_order
from experiments.checkup.result import Word, encode
from machine.live.surroundings import Surroundings
from machine.model import to_json
from machine.system.files import DATA_FOLDER
from tests.app.recordings import burst
from tests.app.window.checkup import states
from tests.app.window.checkup.scripted import MACHINE, Scripted, result
from tests.app.window.stage import events, found, settle
from tests.app.window.whole import Whole, show_page_running
from widgets.checkup.compare_sheet import CompareSheet
from widgets.checkup.counts import CountLine
from widgets.checkup.order_sheet import OrderSheet
from widgets.checkup.row_line import RowLine
from widgets.checkup.soak_sheet import SoakSheet, SoakWanted
from widgets.controls.elided import ElidedButton
from widgets.experiment.action_button import ActionButton
from widgets.sheets.palette import Palette
from widgets.sheets.report_sheet import ReportSheet


@pytest.fixture
def whole(look, tmp_path):
    whole = Whole(look, tmp_path)
    whole.session.machine = MACHINE
    yield whole
    whole.close()


def texts(widget) -> list[str]:
    return [each.text() for each in widget.findChildren(QLabel) if each.isVisible()]


def keys_of(place) -> list[str]:
    return [row.data.key for row in place.page.rows.rows]


def button_of(place, action) -> ActionButton:
    return place.page.buttons[action]


# --- before and after -------------------------------------------------------------------------


def test_the_place_is_the_fourth_and_runs_the_fifth(whole):
    QTest.keyClick(whole.window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert whole.window.place.name == CHECKUP

    QTest.keyClick(whole.window, Qt.Key.Key_5, Qt.KeyboardModifier.ControlModifier)
    assert whole.window.place.name == RUNS


def test_before_the_first_check_the_four_stages_are_told(whole):
    place = states.first(whole)
    say = whole.words.say

    told = texts(place.page.empty_state)
    for stage in ("present", "configured", "performs", "stays"):
        assert say(f"checkup.stages_mean.{stage}") in told
    assert say("checkup_page.gentle") in told
    assert not place.page.rows.isVisible()
    assert button_of(place, place.page.check).hasFocus()


def test_a_click_checks_and_what_is_not_fine_is_open_in_the_end(whole):
    place = states.first(whole)
    place.make = lambda kind, **options: Scripted(result())

    QTest.mouseClick(button_of(place, place.page.check), Qt.MouseButton.LeftButton)
    settle(lambda: not whole.session.checking.is_running)

    rows = [row for row in result().rows if row.word is not Word.ABSENT]
    assert keys_of(place) == [f"{row.rule} {row.part}" for row in rows]
    opened = {row.data.word for row in place.page.rows.rows if row.line.isChecked()}
    assert opened == {Word.LOOK, Word.PROBLEM, Word.UNCHECKED}
    assert not place.page.empty_state.isVisible()
    assert place.page.check.text() == whole.words.say("checkup_page.check_again")
    assert button_of(place, place.page.check).hasFocus()


def test_the_counts_say_how_many_and_what_is_not_here_is_folded(whole):
    place = states.ended(whole)
    say = whole.words.say

    told = [
        say("checkup_page.counts.fine", {"count": 7}),
        say("checkup_page.counts.look", {"count": 2}),
        say("checkup_page.counts.problem", {"count": 1}),
        say("checkup_page.counts.unchecked", {"count": 1}),
    ]
    assert found(place, CountLine).accessibleName() == " · ".join(told)
    assert say("checkup.standing") in texts(place)
    assert "2" in texts(place.page.absent)
    place.page.absent.head.click()
    lines = place.page.absent.findChildren(RowLine)
    assert [line.accessibleName().partition(",")[0] for line in lines] == [
        say("checkup.rules.nvlinks.title"),
        say("checkup.rules.gpu-pairs.title"),
    ]


def test_the_last_checkup_of_this_machine_is_shown_again_and_no_other_one(whole):
    other = result(id="other", at="2027-01-01T00:00:00+00:00", machine={"fingerprint": "beef"})
    Checkups(whole.folder / "data").keep(other)
    place = states.kept(whole)

    assert place.page.trace.isVisibleTo(place)
    assert [*place.page.trace.tiles][:2] == ["busy_fraction", "core_hz"]
    assert "2026-03-12" in place.page.about.text()
    assert "baseline of 2026-03-12" in place.status()


# --- on its way -------------------------------------------------------------------------------


def test_while_it_runs_rows_come_and_escape_stops_it(whole):
    place = states.running(whole)
    whole.rest()
    say = whole.words.say

    told = texts(place)
    doing = {"title": say("checkup.measures.stream")}
    assert say("checkup.doing.measuring", doing) in told
    assert say("checkup.left", {"duration": 90.0}) in told
    assert say("checkup_page.gates.on_battery") in told
    assert not place.page.check.isEnabled()

    QTest.keyClick(whole.window, Qt.Key.Key_Escape)
    settle(lambda: not whole.session.checking.is_running)
    whole.rest()

    assert say("checkup_page.stopped") in texts(place)
    assert not place.page.baseline.isVisible()
    assert 0 < len(place.page.rows.rows) < len(result().rows)
    store = Checkups(whole.folder / "data")
    assert [kept.outcome for kept in store.of("f00d")] == ["stopped"]


def test_what_was_stopped_before_it_measured_does_not_take_the_place_of_the_last(whole):
    place = states.kept(whole)
    scripted = Scripted(result(id="early", measurements=()), held=True)
    place.make = lambda kind, **options: scripted
    place.page.check.trigger()
    settle(lambda: whole.session.checking.left_s is not None)
    whole.session.stop()
    settle(lambda: not whole.session.checking.is_running)

    assert [kept.id for kept in Checkups(whole.folder / "data").all()] == [result().id]


def test_stop_is_a_button_and_has_the_focus(whole):
    place = states.running(whole)
    assert place.page.under_way.stop.hasFocus()

    QTest.keyClick(place.page.under_way.stop, Qt.Key.Key_Return)
    settle(lambda: not whole.session.checking.is_running)

    assert not place.page.under_way.isVisible()
    assert place.page.buttons[place.page.check].hasFocus()


def test_the_sustained_load_is_drawn_as_it_comes_and_what_slows_it(whole):
    place = states.under_load(whole)

    tiles = place.page.trace.tiles
    assert {"core_hz", "gpu0_hz", "gpu0_celsius", "gpu0_watts"} <= tiles.keys()
    slowed = whole.words.say("clock_reasons.software_thermal")
    assert slowed in tiles["gpu0_hz"].accessibleDescription()
    assert slowed not in tiles["core_hz"].accessibleDescription()


def test_an_experiment_cannot_start_meanwhile_and_its_page_says_why(whole):
    states.running(whole)
    whole.window.go(Target(EXPERIMENTS, experiment="burst-random"))
    whole.rest()
    page = found(whole.window.place, ExperimentPage)

    assert whole.words.say("page.runs_one") in texts(page)
    page.model.run(whole.session.entries["burst-random"].params, quick=True)
    assert whole.runner.started == []
    whole.do("page.go_there")
    assert whole.window.place.name == CHECKUP


def test_a_check_waits_for_the_experiment_and_can_be_given_up(whole):
    show_page_running(whole)
    place = states.begin(whole, Scripted(result()))
    assert whole.words.say("checkup_page.waits_for_run") in texts(place)
    assert not whole.session.checking.is_running
    QTest.keyClick(whole.window, Qt.Key.Key_Escape)
    assert whole.runner.stops == 0  # the checkup was meant
    assert not place.page.under_way.isVisible()

    place.page.check.trigger()
    whole.runner.hear(*events(burst())[-1:])
    settle(lambda: bool(place.page.rows.rows))


def test_the_status_line_leads_back_from_everywhere(whole):
    place = states.running(whole)
    whole.window.go(Target(RUNS))
    left = whole.words.say("checkup_page.left", {"duration": 90.0})
    links = whole.window.findChildren(ElidedButton)
    (link,) = [each for each in links if each.accessibleName() == left]

    link.click()

    assert whole.window.place is place


def test_the_end_is_said_and_elsewhere_a_notice_shows_it(whole):
    scripted = Scripted(result(), held=True)
    place = states.begin(whole, scripted)
    said = []
    place.announce = lambda _widget, text: said.append(text)
    noticed = []
    whole.session.noticed.connect(lambda text, _action, act: noticed.append((text, act)))
    whole.window.go(Target(RUNS))

    scripted.go_on()
    settle(lambda: noticed)

    assert said == []
    noticed[0][1]()
    assert whole.window.place is place
    assert len(place.page.rows.rows) == 11
    place.page.check.trigger()
    settle(lambda: len(said) == 2)
    assert said[1].startswith(whole.words.say("checkup_page.ended", {"counts": "7"}))


def test_trouble_at_the_begin_is_told_and_the_next_check_may_begin(whole):
    folder = whole.folder / "data"
    folder.mkdir(exist_ok=True)
    (folder / "order.toml").write_text("cores = [", "utf-8")
    place = states.first(whole)
    place.make = lambda kind, **options: Scripted(result())
    told = []
    whole.session.troubled.connect(told.append)

    place.page.check.trigger()
    settle(lambda: told and not whole.session.checking.is_running)

    assert {problem.key for problem in told} == {"order_unreadable"}
    assert place.page.check.isEnabled()


def test_a_check_begins_with_what_is_wrong_in_the_users_own_table_of_parts(whole, monkeypatch):
    folder = whole.folder / "data"
    folder.mkdir(exist_ok=True)
    (folder / "parts.toml").write_text("[[gpu]]\nlanes = 16\n" * 5, "utf-8")
    monkeypatch.setenv(DATA_FOLDER, str(folder))
    place = states.first(whole)
    place.make = lambda kind, **options: Scripted(result())
    told = []
    whole.session.troubled.connect(told.append)

    place.page.check.trigger()
    settle(lambda: len(told) == 3 and not whole.session.checking.is_running)

    assert {problem.key for problem in told} == {"own_part_left_out"}
    assert "[[gpu]] number 1 of parts.toml" in whole.session.say(told[0])
    assert place.page.rows.rows, "and the check went on"


def test_a_machine_from_a_file_can_be_looked_at_but_not_checked(whole, tmp_path):
    whole.session.context = Context(data=tmp_path, fake_machine=tmp_path / "machine.json")
    place = states.first(whole)
    whole.rest()

    assert whole.words.say("checkup_page.fake") in texts(place)
    assert not any(
        action.isEnabled() for action in (place.page.check, place.page.quick, place.page.soak)
    )


# --- links, sheets and what is kept -----------------------------------------------------------


def test_links_lead_to_the_map_and_to_the_experiment(whole):
    place = states.ended(whole)
    place.page.followed.emit("map memory")
    assert isinstance(whole.window.place, MapPlace)

    whole.window.go(Target(CHECKUP))
    row = next(row for row in place.page.rows.rows if row.data.key == "memory-bandwidth ")
    row.line.click()
    targets = [link.target for link in row.data.links]
    assert targets == ["map memory", "experiment stream"]
    place.page.followed.emit(targets[1])
    assert whole.window.place.name == EXPERIMENTS


def test_a_hidden_measurement_has_no_link_to_an_experiment(whole):
    place = states.ended(whole)
    row = next(row for row in place.page.rows.rows if row.data.key == "identical gpu0")

    assert [link.target for link in row.data.links] == ["map gpu"]


def test_a_soak_takes_what_its_sheet_asked(whole):
    place = states.first(whole)
    asked = []

    def make(kind, **options):
        asked.append((kind, options["soak_s"], options["stop_celsius"]))
        return Scripted(result(kind="soak"))

    place.make = make
    place.start("soak", SoakWanted(seconds=600.0, stop_celsius=80.0))
    settle(lambda: not whole.session.checking.is_running)

    assert asked == [("soak", 600.0, 80.0)]


def test_soak_asks_first(whole, monkeypatch):
    monkeypatch.setattr("app.window.checkup.place.on_battery", lambda: True)
    place = states.first(whole)

    place.page.soak.trigger()
    settle(lambda: whole.window.findChild(SoakSheet) is not None)

    sheet = whole.window.findChild(SoakSheet)
    assert not sheet.start.isEnabled()
    assert whole.words.say("checkup_page.soak_sheet.battery") in texts(sheet)
    assert not whole.session.checking.is_running


def typed(sheet, text):
    """Replace the lines as a person does who pastes them."""
    sheet.lines.selectAll()
    sheet.lines.insertPlainText(text)


def rows_of_order(place):
    return {
        row.data.title: row.data.word for row in place.page.rows.rows if row.data.title in BOUGHT
    }


BOUGHT = ("2 GPUs", "9 GPUs")


def test_what_was_bought_is_kept_and_the_last_checkup_is_held_against_it_at_once(whole):
    folder = whole.folder / "data"
    folder.mkdir(exist_ok=True)
    (folder / "order.toml").write_text("gpus = 2\n", "utf-8")  # as it was kept before
    place = states.ended(whole)
    settle(lambda: place.archive.order is not None)
    place.page.followed.emit("order")
    sheet = found(whole.window, OrderSheet)
    assert sheet.lines.toPlainText() == "2 gpus"

    typed(sheet, "9 GPUs")
    QTest.keyClick(sheet.lines, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(lambda: rows_of_order(place))

    assert read_order(folder) == Order(lines=("9 GPUs",))
    assert rows_of_order(place) == {"9 GPUs": Word.PROBLEM}
    assert not whole.session.checking.is_running


def test_lines_that_were_typed_and_not_saved_are_there_again(whole):
    place = states.ended(whole)
    place.page.order.trigger()
    typed(found(whole.window, OrderSheet), "Noctua NH-D15")
    found(whole.window, OrderSheet).dismiss()

    place.page.order.trigger()

    assert found(whole.window, OrderSheet).lines.toPlainText() == "Noctua NH-D15"
    assert read_order(whole.folder / "data") is None


def test_the_order_of_this_machine_judges_no_checkup_of_another(whole):
    place = states.ended(whole)
    theirs = result(machine={**to_json(MACHINE), "fingerprint": "beef"}, id="theirs")
    (whole.folder / "theirs.json").write_bytes(encode(theirs))
    place.open(Target(CHECKUP, files=[whole.folder / "theirs.json"]))
    whole.rest()
    place.page.order.trigger()
    typed(found(whole.window, OrderSheet), "9 GPUs")
    found(whole.window, OrderSheet).save.click()
    settle(lambda: place.archive.order is not None)

    assert rows_of_order(place) == {}


def test_a_checkup_becomes_the_baseline_and_later_ones_are_compared_with_it(whole):
    place = states.ended(whole)

    place.page.baseline.trigger()
    settle(lambda: place.archive.baseline is not None)
    assert not place.page.baseline.isVisible()

    rows = [row for row in result().rows if row.rule != "identical"]
    asked = []

    def make(kind, **options):
        asked.append(options["baseline"].id)
        return Scripted(result(rows, id="later"))

    place.make = make
    place.page.quick.trigger()
    settle(lambda: not whole.session.checking.is_running and place.page.compare.isEnabled())
    assert asked == [result().id]

    place.page.compare.trigger()
    menu = QApplication.activePopupWidget()
    menu.actions()[0].trigger()
    menu.close()
    sheet = found(whole.window, CompareSheet)
    title = whole.words.say("checkup.rules.identical.title", {"part": "GPU 0"})
    assert title in texts(sheet)


def test_a_report_says_what_the_page_says(whole):
    place = states.first(whole)
    assert not place.page.report.isVisible()
    states.ended(whole)

    place.page.report.trigger()
    sheet = found(whole.window, ReportSheet)
    settle(sheet.save.isEnabled)

    title = whole.words.say("checkup.rules.gpu-link.title", {"part": "GPU 1"})
    assert title in sheet.text.toPlainText()


def test_a_report_tells_what_changed_since_its_baseline(whole):
    before = result(id="before", at="2026-01-02T03:04:05+00:00")
    Checkups(whole.folder / "data").save_baseline(before)
    place = states.begin(whole, Scripted(result(baseline="before")))
    settle(lambda: place.page.report.isEnabled() and place.archive.baseline is not None)

    place.page.report.trigger()
    sheet = found(whole.window, ReportSheet)
    settle(sheet.save.isEnabled)
    said = whole.words.say("checkup.compared.nothing", {"date": day(before.at)})
    assert said in sheet.text.toPlainText()


@pytest.mark.parametrize("typed", ["benchmark", "health", "temperature", "stress", "burn", "soak"])
def test_the_palette_finds_it_by_other_names(whole, typed):
    whole.window.actions_here.find()
    palette = found(whole.window, Palette)
    QTest.keyClicks(palette.field, typed)
    model = palette.list.model()
    listed = [model.index(row, 0).data() for row in range(min(5, model.rowCount()))]

    assert whole.words.say("places.checkup") in listed
    palette.dismiss()


# --- for real ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_quick_check_of_this_machine_ends_in_rows_and_is_kept(whole):
    from machine.inspect import inspect

    whole.session.machine = inspect()
    whole.window.go(Target(CHECKUP))
    place = whole.window.place
    place.page.quick.trigger()
    for _ in range(10):  # `settle` is for what takes seconds
        try:
            settle(lambda: not whole.session.checking.is_running)
            break
        except AssertionError:
            continue

    assert len(place.page.rows.rows) > 5
    assert len(Checkups(whole.folder / "data").all()) == 1


def test_surroundings_of_a_quiet_machine_need_no_line(whole):
    place = states.begin(whole, Scripted(result(), surroundings=Surroundings()))
    settle(lambda: bool(place.page.rows.rows))

    gates = whole.words.keys("checkup_page.gates.")
    assert not {whole.words.say(key) for key in gates} & {*texts(place)}


def drop(whole, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    left = Qt.MouseButton.LeftButton
    QApplication.sendEvent(whole.window, QDragEnterEvent(QPoint(9, 9), copy, data, left, none))
    QApplication.sendEvent(whole.window, QDropEvent(QPointF(9, 9), copy, data, left, none))


@pytest.mark.parametrize("kind", ["json", "html"])
def test_a_dropped_checkup_or_report_shows_its_page_again(whole, tmp_path, kind):
    path = tmp_path / f"theirs.{kind}"
    theirs = result(id="theirs", at="2025-01-02T03:04:05+00:00")
    document = checkup_report(whole.words, theirs, Include())
    page = written(document, "html", whole.words)
    path.write_bytes(encode(theirs) if kind == "json" else page)

    drop(whole, path)
    settle(lambda: whole.window.place.name == CHECKUP and bool(whole.window.place.page.rows.rows))

    place = whole.window.place
    assert "2025-01-02" in place.page.about.text()
    rows = [row for row in theirs.rows if row.word is not Word.ABSENT]
    assert keys_of(place) == [f"{row.rule} {row.part}" for row in rows]
    assert list(Checkups(whole.folder / "data").all()) == []  # it is somebody else's


def test_two_dropped_checkups_are_compared(whole, tmp_path):
    paths = [tmp_path / f"{name}.json" for name in ("new", "old")]
    for path in paths:
        path.write_bytes(encode(result(id=path.stem)))
    drop(whole, *paths)
    settle(lambda: whole.window.findChild(CompareSheet) is not None)


def test_a_damaged_checkup_is_one_sentence_and_the_shown_one_stays(whole, tmp_path):
    place = states.kept(whole)
    path = tmp_path / "broken.json"
    path.write_bytes(encode(result())[:-40])
    told = []
    whole.session.troubled.connect(told.append)
    before = keys_of(place)

    drop(whole, path)
    settle(lambda: bool(told))

    assert told[0].key == "checkup_unreadable"
    assert keys_of(place) == before


def test_a_checkup_is_compared_with_a_file(whole, tmp_path, monkeypatch):
    path = tmp_path / "old.json"
    path.write_bytes(encode(result(id="old")))
    monkeypatch.setattr("app.window.checkup.place.file_there", lambda *_: path)
    place = states.ended(whole)
    place.page.compare.trigger()
    menu = place.findChild(QMenu)
    (action,) = [a for a in menu.actions() if a.text() == whole.words.say("checkup_page.a_file")]
    action.trigger()
    settle(lambda: whole.window.findChild(CompareSheet) is not None)
