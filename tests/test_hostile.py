"""Damaged machines are fed to `inspect`, the terminal, the map and the doctor.

A few in `make test`, two thousand in `make sweep`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from app.cli import main
from app.context import Context
from app.doctor_report import json_text
from app.terminal.doctor import show
from experiments.core import words
from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Nvml, NvmlDevice, Outcome, Torch
from machine.doctor.gather import gather
from machine.inspect import inspect
from machine.model import BadMachine, Machine, from_json, to_json
from tests import hostile
from tests.hostile import told
from widgets.map.page import MapPage
from widgets.style import theme as themes
from widgets.style.look import Look

WORDS = words.load()
LONGEST_S = 5.0  # of the processor's time: others may use the machine
QUICKLY = [Phase.explicit, Phase.reuse, Phase.generate]  # to shrink takes minutes
CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]  # one page shows all
FEW = settings(
    max_examples=8, deadline=None, derandomize=True, phases=QUICKLY, suppress_health_check=CHECKS
)
HUNDRED = settings(FEW, max_examples=100, derandomize=False)
ROOTS = st.lists(hostile.DAMAGES, min_size=1, max_size=30)
FILES = st.tuples(hostile.FILES, st.lists(hostile.CHANGES, min_size=1, max_size=6))
SAID = st.sampled_from(["", "NVIDIA", hostile.EVIL, "N" * 5000, "a\nb", "12.4", "9" * 5000])
DEVICES = st.lists(
    st.builds(NvmlDevice, index=st.integers(0, 3), name=SAID, address=SAID), max_size=2
)
ANSWERS = st.tuples(
    st.builds(
        Nvml,
        code=st.sampled_from([None, 0, 9, 18, 999]),
        driver=SAID,
        devices=DEVICES.map(tuple),
    ),
    st.builds(
        Torch,
        python=SAID,
        outcome=st.sampled_from(Outcome),
        stage=st.sampled_from(["start", "import", "look", "use"]),
        detail=SAID,
        python_version=SAID,
        version=SAID,
        cuda=SAID,
        hip=st.none() | SAID,
        companions=st.lists(SAID, max_size=2).map(tuple),
        import_problem=st.none() | SAID,
        problem=st.none() | SAID,
        targets=st.lists(SAID, max_size=2).map(tuple),
    ),
)


@pytest.fixture
def page(qtbot):
    look = Look(themes.load("dark"))
    look.wear(look.theme)
    page = MapPage(WORDS, look)
    page.resize(1296, 790)
    qtbot.addWidget(page)
    page.show()
    return page


@functools.cache
def whole() -> Path:
    """Return the root that each damaged one is a copy of."""
    folder = tempfile.TemporaryDirectory()
    root = hostile.base(Path(folder.name, "root")).root
    atexit.register(folder.cleanup)
    return root


@contextlib.contextmanager
def in_time():
    start_s = time.process_time()
    yield
    assert time.process_time() - start_s < LONGEST_S


def show_in_the_window(page: MapPage, machine: Machine) -> None:
    page.show_machine(machine)
    page.grab()
    QApplication.processEvents()
    assert page.map.parts() is not None  # all that the table and the panel say


def feed_root(page: MapPage, damages, answers) -> None:
    with tempfile.TemporaryDirectory() as folder:
        outside = Path(folder, "elsewhere", "secret")
        outside.parent.mkdir()
        outside.write_text(hostile.SECRET)
        root = Path(folder, "root")
        shutil.copytree(whole(), root, symlinks=True)
        hostile.damage(root, damages, outside)
        with in_time(), told() as terminal:
            code = main(["inspect", "--root", str(root)])
        assert code in (0, 2)
        if code == 2:
            assert terminal.getvalue().endswith(".\n")
        with in_time(), told() as terminal:
            main(["inspect", "--json", "--root", str(root)])
        if code == 0:
            machine = from_json(json.loads(terminal.getvalue()))
            assert machine == inspect(root)
            with in_time():
                show_in_the_window(page, machine)
        with in_time():
            feed_doctor(root, answers)


def feed_doctor(root: Path, answers) -> None:
    nvml, torch = answers
    diagnosis = diagnose(
        gather(root, python="/py", environment={}, nvml=lambda: nvml, probe=lambda _: torch)
    )
    with told():
        context = Context()
        show(context.console, diagnosis, WORDS)
        context.console.out(json_text(diagnosis, WORDS), highlight=False)


def feed_file(page: MapPage, name: str, changes) -> None:
    data = hostile.damaged_file(name, changes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "machine.json")
        path.write_text(json.dumps(data))
        with in_time(), told() as terminal:
            code = main(["--fake-machine", str(path), "inspect"])
        assert code in (0, 2)
        if code == 2:
            assert terminal.getvalue().count("\n") == 1
            assert terminal.getvalue().endswith(".\n")
        with in_time(), told():
            main(["--fake-machine", str(path), "inspect", "--json"])
    with contextlib.suppress(BadMachine):
        machine = from_json(data)
        assert from_json(to_json(machine)) == machine
        with in_time():
            show_in_the_window(page, machine)


@FEW
@given(ROOTS, ANSWERS)
def test_a_damaged_recording_is_shown_or_refused(page, damages, answers):
    feed_root(page, damages, answers)


@FEW
@given(FILES)
def test_a_damaged_machine_file_is_shown_or_refused(page, file):
    feed_file(page, *file)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10))
@HUNDRED
@given(damages=ROOTS, answers=ANSWERS)
def test_a_thousand_damaged_recordings_are_shown_or_refused(page, hundred, damages, answers):
    feed_root(page, damages, answers)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10))
@HUNDRED
@given(file=FILES)
def test_a_thousand_damaged_machine_files_are_shown_or_refused(page, hundred, file):
    feed_file(page, *file)
