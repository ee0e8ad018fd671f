"""The doctor's page: from the question to the diagnosis, in the background."""

from __future__ import annotations

import json
import sys
import threading

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

from app.context import Context
from app.doctor_report import as_text, json_text
from app.window.core.background import Background
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.doctor import sheet as doctors
from app.window.doctor.sheet import Doctor, page_data
from experiments.core import words
from machine.doctor.diagnosis import diagnose
from machine.doctor.environments import Environment
from machine.doctor.evidence import Card, Evidence, Surroundings, Vendor
from machine.doctor.verdicts import State
from machine.system.asking import Stopped
from tests.app.window.stage import FakeRunner, settle
from tests.app.window.whole import Whole
from tests.cases import in_one
from tests.machine.doctor import fake_torch
from tests.machine.doctor.made import CPU_TORCH, nvidia, unproven, with_device
from widgets.doctor.page import DoctorPage

ENGLISH = words.load()
CPU_BUILD, WELL = diagnose(unproven(nvidia())), diagnose(nvidia())
FOUND = (Environment(path="/opt/thesis/.venv", torch="2"),)


@pytest.fixture
def awake(session):
    """Return the session with its threads, and nothing else of what waking starts."""
    session.background, session.runner = Background(), FakeRunner()
    session.background.troubled.connect(session.troubled)
    session.close = session.background.close
    return session


@pytest.fixture
def doctor(awake, qtbot):
    """Return a doctor who finds a build for processors, and remembers whom he looked at."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1280, 720)
    window.show()
    doctor = Doctor(awake, window)
    doctor.window_below, doctor.looked_at = window, []

    def look(python, stop):
        doctor.looked_at.append(python)
        return CPU_BUILD

    doctor.look, doctor.find = look, lambda: FOUND
    return doctor


def texts(widget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]


def examined(doctor, qtbot):
    qtbot.waitUntil(doctor.page.copy_text.isEnabled)


# --- from the question to the answer ------------------------------------------------------------


def test_this_programs_own_python_is_examined_first(doctor, qtbot):
    doctor.open()
    assert "this program" in doctor.page.box.headline.text()
    examined(doctor, qtbot)

    assert doctor.looked_at == [sys.executable]
    assert doctor.page.box.headline.text() == page_data(CPU_BUILD, ENGLISH).headline
    assert CPU_BUILD.found.commands[0] in texts(doctor.page.box)
    assert len(doctor.page.chain.links) == len(CPU_BUILD.steps)


def test_environments_that_were_found_are_offered(doctor, qtbot):
    doctor.open()
    menu = doctor.page.chooser.menu
    qtbot.waitUntil(lambda: "PyTorch 2" in menu.actions()[1].text())
    examined(doctor, qtbot)

    assert menu.actions()[1].text() == "/opt/thesis/.venv  ·  PyTorch 2"


def test_a_python_is_found_in_the_folder_that_is_named(doctor, qtbot, tmp_path):
    program = tmp_path / ".venv/bin/python"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    doctor.open()
    examined(doctor, qtbot)

    doctor.page.wanted.emit(str(tmp_path))
    qtbot.waitUntil(lambda: doctor.looked_at[1:] == [str(program)])
    examined(doctor, qtbot)
    assert str(tmp_path) in doctor.page.chooser.current.toolTip()

    doctor.page.chooser.again.click()
    qtbot.waitUntil(lambda: doctor.looked_at[2:] == [str(program)])
    examined(doctor, qtbot)


@pytest.mark.parametrize("given", ["/nowhere/at/all", "/proc", "/bin/ls"])
def test_what_is_no_python_is_a_sentence_and_what_was_known_stays(doctor, qtbot, given):
    doctor.open()
    examined(doctor, qtbot)

    doctor.page.wanted.emit(given)
    qtbot.waitUntil(doctor.page.chooser.problem.isVisible)

    assert given in doctor.page.chooser.problem.text()
    assert doctor.page.chooser.path.text() == given
    assert doctor.page.box.headline.text() == page_data(CPU_BUILD, ENGLISH).headline
    assert doctor.page.copy_text.isEnabled()


def test_a_failure_that_nobody_expected_is_a_sentence(doctor, qtbot, caplog):
    doctor.look = lambda python, stop: 1 / 0
    doctor.open()

    qtbot.waitUntil(lambda: "ZeroDivisionError" in doctor.page.box.headline.text())
    assert not doctor.page.copy_text.isEnabled()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_python_can_be_chosen(doctor, qtbot, kind):
    setattr(doctor, f"choose_{kind}", lambda: sys.executable)
    doctor.open()
    examined(doctor, qtbot)

    getattr(doctor.page.chooser, f"{kind}_asked").emit()
    qtbot.waitUntil(lambda: len(doctor.looked_at) == 2)
    examined(doctor, qtbot)


def test_to_choose_none_changes_nothing(doctor, qtbot):
    doctor.choose_file = lambda: ""
    doctor.open()
    examined(doctor, qtbot)

    doctor.page.chooser.file_asked.emit()

    assert doctor.page.copy_text.isEnabled()
    assert len(doctor.looked_at) == 1


def test_the_report_is_copied_as_text_and_as_the_terminals_json(doctor, qtbot):
    doctor.open()
    examined(doctor, qtbot)

    doctor.page.copy_text.click()
    assert QGuiApplication.clipboard().text() == as_text(CPU_BUILD, ENGLISH)
    doctor.page.copy_json.click()
    assert QGuiApplication.clipboard().text() == json_text(CPU_BUILD, ENGLISH)
    assert json.loads(QGuiApplication.clipboard().text())["format"] == "coreopsis.diagnosis"


@pytest.mark.parametrize("way", ["place", "palette"])
def test_the_doctor_comes_where_somebody_asks_for_him(look, tmp_path, monkeypatch, way):
    monkeypatch.setattr(doctors, "look", lambda python, stop: CPU_BUILD)
    monkeypatch.setattr(doctors.environments, "find", tuple)
    whole = Whole(look, tmp_path)
    try:
        if way == "place":
            whole.session.asked_for_doctor.emit()
        else:
            whole.do("doctor.page.why")
        (page,) = whole.window.findChildren(DoctorPage)
        settle(page.copy_text.isEnabled)
        assert page.isVisible()
        assert page.box.property("role") == "trouble-fault"
    finally:
        whole.close()


def test_a_run_under_way_is_not_disturbed(doctor, awake, qtbot):
    awake.runner.is_running = True
    doctor.open()

    assert "An experiment is running" in doctor.page.box.headline.text()
    assert doctor.looked_at == []

    awake.runner.is_running = False
    doctor.page.chooser.again.click()
    examined(doctor, qtbot)


# --- what takes long ----------------------------------------------------------------------------


def hang(doctor):
    """Let every look take until it is stopped; return what has been stopped."""
    stopped = []

    def look(python, stop):
        stop.wait()
        stopped.append(python)
        raise Stopped

    doctor.look = look
    return stopped


def test_closing_the_page_ends_the_examination(doctor, qtbot):
    stopped = hang(doctor)
    doctor.open()

    doctor.page.dismiss()

    qtbot.waitUntil(lambda: stopped == [sys.executable])


def test_another_python_ends_the_examination_of_the_first(doctor, qtbot):
    stopped = hang(doctor)
    doctor.open()
    doctor.look = lambda python, stop: WELL

    doctor.examine(sys.executable)
    examined(doctor, qtbot)

    assert stopped == [sys.executable]
    assert doctor.page.title.text() == "What stands between Python and the GPU"


def test_closing_the_window_ends_the_examination(doctor, awake):
    stopped = hang(doctor)
    begun = threading.Event()
    inner = doctor.look

    def look(python, stop):
        begun.set()
        return inner(python, stop)

    doctor.look = look
    doctor.open()
    assert begun.wait(10)

    awake.background.close()

    assert stopped == [sys.executable]


def test_what_is_found_after_the_page_is_closed_is_not_told(doctor, awake, qtbot):
    wait = threading.Event()

    def find():
        wait.wait(10)
        return FOUND

    doctor.find = find
    doctor.open()
    doctor.page.dismiss()
    wait.set()

    done = []
    awake.background.do(lambda: None, done.append)
    qtbot.waitUntil(lambda: bool(done))


def test_a_real_pytorch_that_hangs_is_stopped_with_its_process(awake, tmp_path, monkeypatch):
    monkeypatch.setenv(
        "PYTHONPATH", str(fake_torch.install(tmp_path, "import time; time.sleep(600)"))
    )
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()

    with pytest.raises(Stopped):
        doctors.look(sys.executable, stop)


# --- what is told -------------------------------------------------------------------------------


def test_a_fake_machine_is_not_examined(look, tmp_path, qtbot):
    session = Session(Context(data=tmp_path, fake_machine=tmp_path / "m.json"), look, Settings())
    window = QWidget()
    qtbot.addWidget(window)
    doctor = Doctor(session, window)

    doctor.open()

    assert "--fake-machine" in doctor.page.box.headline.text()
    assert not doctor.page.copy_text.isEnabled()


@in_one(
    ("evidence", "state", "is_well"),
    [
        (nvidia(), State.OK, True),
        (unproven(nvidia()), State.WRONG, False),
        (with_device(nvidia(), is_remap_pending=True), State.LOOK, False),
        (Evidence(torch=CPU_TORCH), State.NOT_REACHED, False),
        (
            Evidence(cards=(Card(vendor=Vendor.OTHER, name="TPU", needs="x"),), torch=CPU_TORCH),
            State.UNKNOWN,
            False,
        ),
    ],
)
def test_every_end_of_the_walk_is_told(evidence, state, is_well):
    shown = page_data(diagnose(evidence), ENGLISH)

    assert (shown.state, shown.is_well) == (state, is_well)
    assert bool(shown.text) is not is_well
    assert all(bool(link.text) or link.state is State.NOT_REACHED for link in shown.links)


def test_what_is_not_there_is_said_once_and_what_may_help_above_it():
    bare = Evidence(torch=CPU_TORCH)
    shown = page_data(diagnose(bare), ENGLISH)

    assert shown.links[0].text == ENGLISH.say("doctor.no_card")
    assert shown.text == ENGLISH.say("doctor.more.no_card")
    assert f"{shown.links[0].text} {shown.text}" in as_text(diagnose(bare), ENGLISH)


def test_what_starts_a_container_with_a_card_is_shown_once_to_be_copied():
    docker = Surroundings(container="docker")
    shown = page_data(diagnose(Evidence(torch=CPU_TORCH, surroundings=docker)), ENGLISH)

    assert shown.commands[0] == "docker run --gpus all ...  # on the host, NVIDIA"
    assert shown.links[0].commands == ()


def test_what_may_help_is_not_lost_where_something_else_is_found_first():
    broken = Evidence(torch=replace(CPU_TORCH, import_problem="ImportError: x"))
    shown = page_data(diagnose(broken), ENGLISH)

    assert "cannot be loaded" in shown.text
    assert ENGLISH.say("doctor.more.no_card") in shown.links[0].text


def test_a_card_that_is_not_there_is_not_called_fine():
    shown = page_data(diagnose(Evidence(torch=CPU_TORCH)), ENGLISH)

    assert shown.links[0].word == "none here"
    assert shown.links[0].state is State.NOT_REACHED
