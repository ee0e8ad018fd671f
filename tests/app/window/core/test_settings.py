from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as patience
from hypothesis import strategies as st

from app.window.core.settings import ASIDE, NAME, Settings, load, save
from experiments.core.problems import UserError
from widgets.style.theme import ZOOMS

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def written(folder, content: object) -> None:
    (folder / NAME).write_text(json.dumps(content), encoding="utf-8")


def test_settings_come_back_as_they_were_saved(tmp_path):
    settings = Settings(mode="light", zoom=1.3, place="runs", letters=False)

    save(tmp_path / "new" / "folder", settings)

    assert load(tmp_path / "new" / "folder") == (settings, None)


def test_no_file_means_defaults_and_no_problem(tmp_path):
    assert load(tmp_path) == (Settings(), None)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_file_is_set_aside_and_said_so(tmp_path):
    (tmp_path / NAME).write_bytes(b'{"mode": "light"')

    settings, problem = load(tmp_path)

    assert settings == Settings()
    assert problem.key == "settings_broken"
    assert (tmp_path / ASIDE).read_bytes() == b'{"mode": "light"'
    assert load(tmp_path) == (Settings(), None)


def test_what_is_no_file_is_left_and_said_so(tmp_path):
    (tmp_path / NAME).mkdir()

    settings, problem = load(tmp_path)

    assert settings == Settings()
    assert problem.key == "settings_unreadable"
    assert (tmp_path / NAME).is_dir()


def test_each_value_that_cannot_be_falls_back_alone(tmp_path):
    written(tmp_path, {"mode": "pink", "zoom": 9, "closing": "stop", "letters": 1, "live_hz": 0})

    assert load(tmp_path) == (Settings(closing="stop"), None)


def test_keys_of_another_version_are_kept(tmp_path):
    written(tmp_path, {"lecture": {"font": 3}, "mode": "dark"})

    save(tmp_path, load(tmp_path)[0].replace(mode="light"))

    kept = json.loads((tmp_path / NAME).read_text(encoding="utf-8"))
    assert kept["lecture"] == {"font": 3}
    assert kept["mode"] == "light"


def test_a_file_that_cannot_be_written_is_trouble_and_leaves_the_old_one(tmp_path):
    (tmp_path / "folder").write_text("a file where the folder should be")

    with pytest.raises(UserError) as raised:
        save(tmp_path / "folder", Settings())

    assert raised.value.problem.key == "settings_unwritable"


def test_saving_leaves_nothing_but_the_file(tmp_path):
    save(tmp_path, Settings())
    save(tmp_path, Settings(mode="dark"))

    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_change_to_what_cannot_be_is_refused():
    with pytest.raises((ValueError, TypeError)):
        Settings().replace(mode="pink")


def test_the_zoom_reaches_as_far_as_the_theme():
    for zoom in ZOOMS:
        assert Settings().replace(zoom=zoom).zoom == zoom
    with pytest.raises((ValueError, TypeError)):
        Settings().replace(zoom=ZOOMS[-1] + 0.1)


def test_settings_are_read_without_qt():
    code = "import app.window.core.settings, sys; sys.exit('PySide6' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(garbage=st.binary(max_size=200))
def test_no_file_can_stop_the_window(tmp_path_factory, garbage):
    folder = tmp_path_factory.mktemp("settings")
    (folder / NAME).write_bytes(garbage)

    settings, problem = load(folder)

    assert settings == Settings() or problem is None
    save(folder, settings)
    assert load(folder) == (settings, None)


NAMES = [field.name for field in dataclasses.fields(Settings)]


@patience(suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(values=st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON)))
def test_no_value_can_stop_the_window(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("settings")
    written(folder, values)

    settings, problem = load(folder)

    assert problem is None
    assert settings == Settings().replace(**dataclasses.asdict(settings))


def test_nesting_without_end_is_only_a_broken_file(tmp_path):
    (tmp_path / NAME).write_bytes(b'{"a":' * 100_000)

    assert load(tmp_path)[1].key == "settings_broken"


def test_a_number_beyond_all_numbers_is_only_a_wrong_value(tmp_path):
    (tmp_path / NAME).write_text('{"zoom": 1' + "0" * 400 + "}")

    assert load(tmp_path) == (Settings(), None)
