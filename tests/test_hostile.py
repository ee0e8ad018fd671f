"""Damaged machines are fed to `inspect`, the terminal, the map and the doctor.

A few in `make test`, two thousand in `make sweep`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from app.cli import main
from app.context import Context
from app.doctor_report import json_text
from app.terminal.doctor import show
from experiments.core import words
from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Nvml, Torch
from machine.doctor.gather import gather
from machine.inspect import inspect
from machine.model import BadMachine, Machine, from_json, to_json
from tests import hostile
from widgets.map.page import MapPage
from widgets.style import theme as themes
from widgets.style.look import Look

WORDS = words.load()
LONGEST_S = 5.0  # of the processor's time: others may use the machine
CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]  # one page shows all
FEW = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=CHECKS)
THOUSAND = settings(FEW, max_examples=1000, derandomize=False)
ROOTS = st.lists(hostile.DAMAGES, min_size=1, max_size=30)
FILES = st.tuples(hostile.FILES, st.lists(hostile.CHANGES, min_size=1, max_size=6))
SAID = st.sampled_from(["", "NVIDIA", hostile.EVIL, "N" * 5000, "a\nb", "12.4", "9" * 5000])
ANSWERS = st.tuples(
    st.builds(Nvml, code=st.sampled_from([0, 9, 18, 999]), library=SAID, driver=SAID)
    if "library" in Nvml.__dataclass_fields__
    else st.builds(Nvml, code=st.sampled_from([0, 9, 18, 999])),
    st.builds(Torch, python=SAID),
)


@pytest.fixture
def page(qtbot):
    themes.add_fonts()
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
def told():
    """Collect what a terminal gets; nothing in it may be obeyed, but colours of ours."""
    terminal, before = io.StringIO(), dict(os.environ)
    os.environ.update(FORCE_COLOR="1", COLUMNS="100", TERM="xterm-256color")
    try:
        with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
            yield terminal
    finally:
        os.environ.clear()
        os.environ.update(before)
    said = hostile.COLOUR.sub("", terminal.getvalue())
    assert not (found := hostile.OBEYED.search(said)), (found, said[:2000])
    assert "Traceback" not in said
    assert hostile.SECRET not in said


@contextlib.contextmanager
def in_time():
    start_s = time.process_time()
    yield
    assert time.process_time() - start_s < LONGEST_S


def show_in_the_window(page: MapPage, machine: Machine) -> None:
    page.show_machine(machine)
    page.map.lay_out()
    page.grab()
    for box in page.map.painted().boxes[:3] if hasattr(page.map, "painted") else ():
        page.map.choose(box)
    QApplication.processEvents()
    assert page.map.parts() is not None


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
            text = terminal.getvalue()
            assert all(each.isprintable() or each == "\n" for each in text)
            machine = from_json(json.loads(text))
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
@THOUSAND
@given(ROOTS, ANSWERS)
def test_a_thousand_damaged_recordings_are_shown_or_refused(page, damages, answers):
    feed_root(page, damages, answers)


@pytest.mark.slow
@THOUSAND
@given(FILES)
def test_a_thousand_damaged_machine_files_are_shown_or_refused(page, file):
    feed_file(page, *file)
