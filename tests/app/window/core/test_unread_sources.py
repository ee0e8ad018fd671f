from __future__ import annotations

import sys
import types

import pytest

from app.window.core.unread_sources import leave_sources_unread


def test_pyside_reads_no_source_of_what_is_imported(qapp, monkeypatch):
    leave_sources_unread()
    monkeypatch.setattr("inspect.getsource", lambda module: pytest.fail("it was read"))

    sys.modules["shibokensupport.feature"].feature_imported(types.ModuleType("imported_now"))
