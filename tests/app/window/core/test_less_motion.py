from __future__ import annotations

from app.window.core.less_motion import desktop_wants_less_motion, wants_less_motion
from tests.app.window.whole import Whole
from tests.cases import in_one

APPEARANCE = ("org.freedesktop.appearance", "reduced-motion")
GNOME = ("org.gnome.desktop.interface", "enable-animations")
KDE = ("org.kde.kdeglobals.KDE", "AnimationDurationFactor")


@in_one(
    ("known", "wants"),
    [
        ({}, False),
        ({APPEARANCE: 0, GNOME: True, KDE: "1"}, False),
        ({APPEARANCE: 1}, True),
        ({GNOME: False}, True),
        ({KDE: "0"}, True),
    ],
)
def test_a_desktop_is_believed_in_its_own_words(known, wants):
    assert desktop_wants_less_motion(lambda group, key: known.get((group, key))) is wants


def test_where_no_desktop_answers_all_may_move(qapp, monkeypatch, tmp_path):
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nothing")
    assert wants_less_motion() is False


def test_the_setting_is_enough(look, tmp_path):
    whole = Whole(look, tmp_path)
    assert not whole.session.is_calm
    whole.session.settings = whole.session.settings.replace(less_motion=True)
    assert whole.session.is_calm
    whole.close()
