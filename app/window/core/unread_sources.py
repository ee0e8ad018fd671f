"""PySide reads the source of every module that is imported after it; here it need not."""

from __future__ import annotations

import sys
from typing import Any


def leave_sources_unread() -> None:
    """Let an import take no longer because PySide is loaded.

    WORKAROUND: PySide 6.11 looks whether a source names PySide6, for `from __feature__ import ...`,
    which nothing here uses. That takes a sixth of the window's imports.
    """
    feature: Any = sys.modules.get("shibokensupport.feature")
    if feature is not None:
        feature._mod_uses_pyside = lambda module: False  # noqa: SLF001  (it has no public name)
