from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.engine.lock import FOLDER_VARIABLE
from tests.processes import until

PATIENCE_S = 30.0

# The window is closed, by itself, at a moment of its beginning.
CLOSED = """
import sys
from app.cli import main
from app.window.shell.window import Window
name, during = sys.argv[1], getattr(Window, sys.argv[1])
def done_and_closed(window, *given):
    during(window, *given)
    window.close()
setattr(Window, name, done_and_closed)
sys.exit(main(["--data", sys.argv[2]]))
"""


def started(folder: Path, *command: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", FOLDER_VARIABLE: str(folder)}
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_from_outside_it_ends_in_order(tmp_path, number):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("these tests were started so that they ignore it")
    window = started(tmp_path, "-m", "app", "--data", str(tmp_path / "data"))
    assert until(lambda: (tmp_path / "data" / "settings.json").exists(), PATIENCE_S)

    window.send_signal(number)
    out, err = window.communicate(timeout=PATIENCE_S)

    assert (window.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("moment", ["paintEvent", "furnish"])  # "wake" is that of the next test
def test_closed_while_it_begins_it_ends_in_order(tmp_path, moment):
    window = started(tmp_path, "-c", CLOSED, moment, str(tmp_path / "data"))

    out, err = window.communicate(timeout=PATIENCE_S)

    said = [line for line in err.splitlines() if not line.startswith("QBackingStore::flush()")]
    assert (window.returncode, out, said) == (0, "", [])


def test_settings_that_are_damaged_do_not_stop_it(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.json").write_text(json.dumps({"geometry": "abc", "zoom": 10**400}))
    window = started(tmp_path, "-c", CLOSED, "wake", str(data))

    out, err = window.communicate(timeout=PATIENCE_S)

    assert (window.returncode, out, err) == (0, "", "")
