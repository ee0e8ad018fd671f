from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from PySide6.QtNetwork import QLocalServer

from app.window.shell.single import LOCK_NAME, Single, address
from tests.processes import POSIX_ONLY

FIRST = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.window.shell.single import Single
application = QCoreApplication([])
single = Single(Path(sys.argv[1]))
print(single.claim(), flush=True)
single.asked_to_front.connect(lambda: print("asked", flush=True))
single.asked_to_show.connect(lambda file: print(ascii(str(file)), flush=True))
single.listen()
print("listening", flush=True)
application.exec()
"""


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path_factory, monkeypatch) -> None:
    """Keep the sockets of killed processes out of the system's folders; a short name fits one."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))


@pytest.fixture
def single(tmp_path, qapp) -> Iterator[Single]:
    made = Single(tmp_path)
    yield made
    made.close()


@pytest.fixture
def first(tmp_path) -> Iterator[subprocess.Popen[str]]:
    """Return another process that has the window of the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", FIRST, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    assert process.stdout.readline() == "listening\n"
    yield process
    process.kill()
    process.communicate()


def test_the_first_one_has_the_window(single):
    assert single.claim()


def test_the_second_one_asks_the_first_to_the_front(first, single):
    assert not single.claim()
    assert first.stdout.readline() == "asked\n"


def test_the_first_one_is_told_which_file_is_to_be_shown(first, tmp_path, single):
    file = tmp_path / "ein Lauf ü.coreopsis.jsonl"
    assert not single.claim(file)
    assert first.stdout.readline() == "asked\n"
    assert first.stdout.readline() == f"{str(file)!a}\n"


def test_the_first_one_hears_each_time_it_is_asked(qtbot, tmp_path, single):
    assert single.claim()
    single.listen()
    for _ in range(2):
        with qtbot.waitSignal(single.asked_to_front):
            assert not Single(tmp_path).claim()


def test_one_that_only_asks_to_the_front_shows_no_file(qtbot, tmp_path, single):
    assert single.claim()
    single.listen()
    with qtbot.assertNotEmitted(single.asked_to_show, wait=200):
        assert not Single(tmp_path).claim()


def test_one_that_was_killed_is_taken_over(qtbot, first, tmp_path, single):
    first.kill()
    first.wait()

    assert single.claim()
    single.listen()
    with qtbot.waitSignal(single.asked_to_front):
        assert not Single(tmp_path).claim()


def test_one_that_gave_up_is_taken_over(tmp_path, single):
    before = Single(tmp_path)
    assert before.claim()
    before.close()

    assert single.claim()


def test_it_listens_by_itself_after_a_moment(qtbot, tmp_path, single):
    assert single.claim()

    qtbot.waitUntil(lambda: single.findChild(QLocalServer) is not None)
    with qtbot.waitSignal(single.asked_to_front):
        assert not Single(tmp_path).claim()


@POSIX_ONLY
def test_other_folders_and_other_users_do_not_collide(tmp_path, monkeypatch):
    (tmp_path / "same").symlink_to(tmp_path)
    here = address(tmp_path)
    assert address(tmp_path / "same") == here
    assert address(tmp_path / "other") != here

    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert address(tmp_path) != here


def test_a_folder_that_cannot_be_written_still_gets_its_window(tmp_path, qapp):
    (tmp_path / "file").touch()
    single = Single(tmp_path / "file")

    assert single.claim()
    single.close()


def test_a_claim_loads_nothing_of_the_network(tmp_path):
    code = (
        "import sys; from pathlib import Path; from app.window.shell.single import Single; "
        "assert Single(Path(sys.argv[1])).claim(); sys.exit('PySide6.QtNetwork' in sys.modules)"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}

    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, check=False)

    assert done.returncode == 0
    assert (tmp_path / LOCK_NAME).exists()
