"""The system's wish for less motion, as Windows, macOS and desktops on Linux state it.

Sources: SPI_GETCLIENTAREAANIMATION of SystemParametersInfo (Windows), `reduceMotion` of
com.apple.universalaccess (macOS), org.freedesktop.portal.Settings (XDG desktop portal).
"""

from __future__ import annotations

import ctypes
import plistlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtDBus import QDBusConnection, QDBusInterface, QDBusMessage

ANIMATIONS = 0x1042  # SPI_GETCLIENTAREAANIMATION
PREFERENCES = Path("Library/Preferences/com.apple.universalaccess.plist")
PORTAL = ("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
MOST_MS = 500  # a desktop without a portal may not answer
ASKED = (  # group, key, and the answer of a desktop that wants less motion
    ("org.freedesktop.appearance", "reduced-motion", 1),
    ("org.gnome.desktop.interface", "enable-animations", False),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor", "0"),
)

Read = Callable[[str, str], Any]


def wants_less_motion() -> bool:
    """Ask the system; may take a while, and False where it does not say."""
    if sys.platform == "win32":
        is_animated = ctypes.c_int(1)
        ctypes.windll.user32.SystemParametersInfoW(ANIMATIONS, 0, ctypes.byref(is_animated), 0)
        wants = not is_animated.value
    elif sys.platform == "darwin":
        wants = _mac_wants_less_motion()
    else:
        wants = desktop_wants_less_motion(_read_portal())
    return wants


def _mac_wants_less_motion() -> bool:
    try:
        known = plistlib.loads((Path.home() / PREFERENCES).read_bytes())
    except (OSError, plistlib.InvalidFileException):
        return False
    return bool(known.get("reduceMotion"))


def desktop_wants_less_motion(read: Read) -> bool:
    """Ask a desktop, of which `read` returns a value by its group and key, None without one."""
    return any(read(group, key) == answer for group, key, answer in ASKED)


def _read_portal() -> Read:
    bus = QDBusConnection.sessionBus()
    portal = QDBusInterface(*PORTAL, "org.freedesktop.portal.Settings", bus)
    portal.setTimeout(MOST_MS)

    def read(group: str, key: str) -> Any:
        if not bus.isConnected():
            return None
        reply = portal.call("ReadOne", group, key)
        is_known = reply.type() == QDBusMessage.MessageType.ReplyMessage
        value: Any = reply.arguments()[0] if is_known else None
        return value.variant() if hasattr(value, "variant") else value

    return read
