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


def started(folder: Path, *command: str, platform: str = "offscreen") -> subprocess.Popen[str]:
    environment = {**os.environ, "QT_QPA_PLATFORM": platform, FOLDER_VARIABLE: str(folder)}
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# The window is shown, takes a size and place of its own where it is told to, and tells both.
SHOWN = """
import json, sys
from app.cli import main
from app.window.shell.window import Window
wake = Window.wake
def told(window):
    wake(window)
    if len(sys.argv) > 2:
        window.setGeometry(*map(int, sys.argv[2:]))
    print(json.dumps(window.frameGeometry().getCoords()))
    window.close()
Window.wake = told
sys.exit(main(["--data", sys.argv[1]]))
"""


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


def shown_on(folder: Path, width: int, height: int, *wanted: int) -> list[int]:
    """Return left, top, right and bottom of the window's frame on a screen of this size."""
    screen = {"name": "screen", "x": 0, "y": 0, "width": width, "height": height, "dpr": 1}
    config = folder / f"{width}.json"
    config.write_text(json.dumps({"screens": [{**screen, "logicalDpi": 96, "logicalBaseDpi": 96}]}))
    platform = f"offscreen:configfile={config}"
    command = ("-c", SHOWN, str(folder / "data"), *map(str, wanted))
    out, err = started(folder, *command, platform=platform).communicate(timeout=PATIENCE_S)
    assert err == ""
    return json.loads(out)


def is_in_sight(frame: list[int], width: int, height: int) -> bool:
    left, top, right, bottom = frame
    return 0 <= left < right < width and 0 <= top < bottom < height


@pytest.mark.skipif(os.name != "posix", reason="Qt takes no path with a colon")
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720)])
def test_with_its_frame_it_fits_a_small_screen_at_first(tmp_path, width, height):
    left, top, right, bottom = shown_on(tmp_path, width, height)

    assert right - left < width
    assert bottom - top < height


@pytest.mark.skipif(os.name != "posix", reason="Qt takes no path with a colon")
@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ((1600, 900), (90, 90, 1500, 800)),  # larger than the next screen
        ((1600, 900), (690, 190, 900, 700)),  # partly outside of it
        ((2560, 1440), (1600, 700, 900, 700)),  # wholly outside
    ],
)
def test_on_a_smaller_screen_than_the_last_time_it_is_in_sight(tmp_path, before, wanted):
    at_first = shown_on(tmp_path, *before, *wanted)

    assert is_in_sight(at_first, *before)
    assert not is_in_sight(at_first, 1440, 900)
    assert is_in_sight(shown_on(tmp_path, 1440, 900), 1440, 900)
