from __future__ import annotations

import contextlib
import getpass
import importlib
import platform
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer, qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from app import anonymous as anonymous_module
from app.anonymous import anonymous
from app.window.shell import crash
from app.window.shell.crash import Crashes, report
from experiments import yours
from tests import ROOT
from tests.widgets.sheets.below import WORDS
from widgets.sheets.trouble import CrashDialog


@pytest.fixture
def window(qtbot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def crashes(window, caplog) -> Iterator[Crashes]:
    made = Crashes(WORDS, lambda: {"place": "runs"}, window)
    made.install()
    yield made
    made.uninstall()
    for dialog in dialogs():
        dialog.close()


def dialogs() -> list[CrashDialog]:
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, CrashDialog)]


def open_dialogs() -> list[CrashDialog]:
    return [each for each in dialogs() if each.isVisible()]


def fail(text: str = "quite unexpected") -> None:
    raise ValueError(text)


@contextlib.contextmanager
def shown(qtbot, crashes) -> Iterator[None]:
    yield
    qtbot.waitUntil(lambda: bool(open_dialogs()))


def test_what_leaves_a_slot_is_shown_and_the_window_goes_on(qtbot, window, crashes, caplog):
    clicked = []
    button = QPushButton(window)
    button.clicked.connect(lambda: fail() if not clicked.append("again") else None)

    with shown(qtbot, crashes):
        button.click()
    text = open_dialogs()[0].report.toPlainText()
    assert "ValueError: quite unexpected" in text
    assert "place: runs" in text
    assert "PySide6" in text
    assert "quite unexpected" in caplog.text

    open_dialogs()[0].go_on.click()
    assert not open_dialogs()
    assert window.isVisible()
    assert clicked == ["again"]


def test_what_leaves_a_thread_is_shown_by_the_window(qtbot, crashes):
    with shown(qtbot, crashes):
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    assert "ValueError" in open_dialogs()[0].report.toPlainText()


def test_many_are_one_dialog_with_their_number(qtbot, crashes):
    for number in range(4):
        QTimer.singleShot(0, lambda number=number: fail(f"number {number}"))

    qtbot.waitUntil(lambda: any("3 more" in dialog.count.text() for dialog in open_dialogs()))
    assert len(dialogs()) == 1


def test_the_same_one_again_at_once_is_not_shown_again_but_another_is(qtbot, crashes):
    def come(text: str) -> None:
        sys.excepthook(ValueError, ValueError(text), None)
        QApplication.processEvents()

    come("a paint that fails each time")
    open_dialogs()[0].go_on.click()
    come("a paint that fails each time")
    assert not open_dialogs()

    come("something else")
    assert open_dialogs()


def test_to_quit_quits(qtbot, crashes, monkeypatch):
    quits = []
    monkeypatch.setattr(crash.QCoreApplication, "quit", lambda: quits.append("quit"))
    with shown(qtbot, crashes):
        sys.excepthook(ValueError, ValueError("x"), None)

    open_dialogs()[0].quit.click()

    assert quits == ["quit"]


def test_what_qt_complains_of_is_logged(crashes, caplog):
    qWarning("something about a layout")
    qWarning("This plugin does not support propagateSizeHints()")

    assert [(each.name, each.levelname) for each in caplog.records if each.levelno > 10] == [
        ("app.qt", "WARNING")
    ]


def test_hooks_are_as_before_when_it_is_over(window):
    before = (sys.excepthook, threading.excepthook)
    crashes = Crashes(WORDS, dict, window)
    crashes.install()
    crashes.install()
    assert sys.excepthook is not before[0]

    crashes.uninstall()

    assert (sys.excepthook, threading.excepthook) == before


def test_a_report_names_nobody(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/alice"))
    monkeypatch.setattr(getpass, "getuser", lambda: "alice")
    monkeypatch.setattr(platform, "node", lambda: "darkstar.example.org")
    trace = 'File "/home/alice/x.py"\n/tmp/of-alice/y /home/alicea darkstar: alice@darkstar malice'

    text = anonymous(trace)

    assert text == 'File "~/x.py"\n<folder> <folder> <host>: <user>@<host> malice'


NAMED = {
    "a host with the name of its user": ("alice-laptop: ALICE-LAPTOP", "<host>: <host>"),
    "the whole name of a host": ("at alice-laptop.fritz.box.", "at <host>."),
    "another host of the domain": ("to db.corp.example:5432", "to <domain>:5432"),
    "the domain": ("@corp.example", "@<domain>"),
    "addresses of version 4": ("10.1.2.3:80 8.8.8.8.", "<address>:80 <address>."),
    "addresses of version 6": ("[fd00::1:2%eth0] 2001:db8::7: no", "[<address>] <address>: no"),
    "a hardware address": ("eth0 00:1b:44:11:3A:b7 up", "eth0 <address> up"),
    "a folder with a blank": ("No file: '/srv/Acme Ltd/thesis.jsonl'", "No file: '<folder>'"),
    "a module elsewhere": ('File "/mnt/acme/mine/experiment.py"', 'File "<folder>/experiment.py"'),
    "another system's folders": ("C:\\Users\\Bob\\x.csv", "<folder>"),
    "a list of folders": ("PATH=/srv/a:/opt/b", "PATH=<folder>:<folder>"),
    "the home in a word": ("-I/home/alice/include", "-I~/include"),
    "this program": (f'File "{ROOT}/app/cli.py"', 'File "<program>/app/cli.py"'),
    "this Python": (f'File "{sys.prefix}/lib/x.py"', 'File "<python>/lib/x.py"'),
}  # fmt: skip
NOBODYS = """127.0.0.1 ::1 12:34:56 x[::2] 2.7.1+cu118 0000:17:00.0 Linux-5.10.16.3-microsoft a / b
a // b km/s 500 /s, 1.4 M /s. /proc/cpuinfo '/sys/devices'
https://github.com/x/y torch::jit <module> malice"""


@pytest.fixture
def alice(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/alice"))
    monkeypatch.setattr(getpass, "getuser", lambda: "alice")
    monkeypatch.setattr(platform, "node", lambda: "alice-laptop.corp.example")


@pytest.mark.parametrize("what", NAMED)
def test_a_report_has_no(what, alice):
    text, instead = NAMED[what]

    assert anonymous(text) == instead
    assert anonymous(instead) == instead


def test_what_is_nobodys_stays(alice):
    assert anonymous(NOBODYS) == NOBODYS


def test_a_domain_that_only_the_resolver_knows_is_taken_out(alice, monkeypatch, tmp_path):
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.53\nsearch lan dept.example.edu.\n")
    monkeypatch.setattr(anonymous_module, "RESOLVER", tmp_path / "resolv.conf")

    assert anonymous("planner.lan of node7.dept.example.edu") == "planner.lan of <domain>"


def test_a_name_that_is_nobodys_stays(monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "root")

    assert anonymous("the root of it all") == "the root of it all"


def test_a_situation_that_cannot_be_told_hides_no_report():
    assert "the trace" in report("the trace", lambda: fail())


def test_the_report_of_the_dialog_can_be_copied(qtbot, crashes):
    with shown(qtbot, crashes):
        sys.excepthook(ValueError, ValueError("x"), None)

    for number in range(20):
        sys.excepthook(ValueError, ValueError(f"number {number}"), None)
    qtbot.waitUntil(lambda: "20 more" in open_dialogs()[0].count.text())

    open_dialogs()[0].copy.click()

    copied = QGuiApplication.clipboard().text()
    assert "ValueError: x" in copied
    assert "number 8" in copied
    assert "number 9" not in copied
    assert copied == open_dialogs()[0].report.toPlainText()


def test_an_error_in_the_users_own_file_names_its_line_and_asks_for_no_report(
    qtbot, crashes, tmp_path
):
    file = tmp_path / "my_calls" / "experiment.py"
    file.parent.mkdir()
    file.write_text("def seconds():\n    return lost\n")
    yours.use([tmp_path])
    try:
        own = importlib.import_module("experiments.yours.my_calls.experiment")
        with shown(qtbot, crashes):
            QTimer.singleShot(0, own.seconds)
    finally:
        sys.modules.pop("experiments.yours.my_calls.experiment", None)
        sys.modules.pop("experiments.yours.my_calls", None)
        yours.use([])

    (dialog,) = open_dialogs()
    said = [each.text() for each in dialog.findChildren(QLabel)]
    where = {"file": "experiment.py", "line": 2, "error": "NameError: name 'lost' is not defined"}
    assert WORDS.say("problems.own_error", where) in said
    assert WORDS.say("crash.sentence") not in said
    assert WORDS.say("crash.title_own") in said
