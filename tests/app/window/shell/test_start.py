from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments.engine.lock import FOLDER_VARIABLE
from tests.processes import until

PATIENCE_S = 30.0
Place = tuple[int, int, int, int]  # left, top, width, height

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


# The window is shown, and takes sizes and places; then others are shown where they were kept.
SHOWN = """
import json, sys
from PySide6.QtWidgets import QApplication
from app.cli import main
from app.window.shell.window import Window
wake = Window.wake
def told(window):
    wake(window)
    session, frames, kept = window.session, [window.frameGeometry().getCoords()], []
    for wanted in json.loads(sys.argv[2]):
        window.setGeometry(*wanted)
        frames.append(window.frameGeometry().getCoords())
        kept.append(window.saveGeometry().toBase64().data().decode())
    for geometry in json.loads(sys.argv[3]):
        session.settings = session.settings.replace(geometry=geometry)
        other = Window(session)
        other.show()
        QApplication.processEvents()
        frames.append(other.frameGeometry().getCoords())
        other.hide()
    print(json.dumps([frames, kept]))
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


def shown_on(
    folder: Path, width: int, height: int, wanted: Sequence[Place] = (), kept: Sequence[str] = ()
) -> tuple[list[list[int]], list[str]]:
    """Return left, top, right and bottom of each frame on a screen of this size, and what is kept.

    The window is as it was left; it takes the wanted places, and others begin where they were kept.
    """
    screen = {"name": "screen", "x": 0, "y": 0, "width": width, "height": height, "dpr": 1}
    config = folder / f"{width}.json"
    config.write_text(json.dumps({"screens": [{**screen, "logicalDpi": 96, "logicalBaseDpi": 96}]}))
    platform = f"offscreen:configfile={config}"
    command = ("-c", SHOWN, str(folder / "data"), json.dumps(wanted), json.dumps(kept))
    out, err = started(folder, *command, platform=platform).communicate(timeout=PATIENCE_S)
    assert err == ""
    return json.loads(out)


def is_in_sight(frame: list[int], width: int, height: int) -> bool:
    left, top, right, bottom = frame
    return 0 <= left < right < width and 0 <= top < bottom < height


@pytest.mark.skipif(os.name != "posix", reason="Qt takes no path with a colon")
def test_with_its_frame_it_fits_a_small_screen_at_first(tmp_path):
    ((left, top, right, bottom),), _ = shown_on(tmp_path, 1280, 720)

    assert right - left < 1280
    assert bottom - top < 720


@pytest.mark.skipif(os.name != "posix", reason="Qt takes no path with a colon")
def test_on_a_smaller_screen_than_the_last_time_it_is_in_sight(tmp_path):
    kept: list[str] = []
    for (width, height), wanted in (
        # Larger than the next screen, and partly outside of it: Qt itself changes nothing there.
        ((1600, 900), [(90, 90, 1500, 800), (690, 190, 900, 700)]),
        ((2560, 1440), [(1600, 700, 900, 700)]),  # wholly outside
    ):
        (_, *frames), places = shown_on(tmp_path, width, height, wanted)
        kept += places
        assert all(is_in_sight(frame, width, height) for frame in frames)
        assert not any(is_in_sight(frame, 1440, 900) for frame in frames)

    frames, _ = shown_on(tmp_path, 1440, 900, kept=[*kept, ""])  # and one as at first
    assert [is_in_sight(frame, 1440, 900) for frame in frames] == [True] * 5
