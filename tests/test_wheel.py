"""The wheel has everything, and works from an environment and a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.core.catalogue import Catalogue
from tests.checkout import copied, environment, tracked

ROOMS = ("app", "widgets", "experiments", "machine", "resources")
PICTURES = "resources/screenshots/"  # of the README

FONTS = """
from PySide6.QtGui import QFontDatabase, QGuiApplication
from widgets.style.theme import add_fonts
application = QGuiApplication([])
add_fonts()
print("\\n".join(QFontDatabase.families()))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """Return the Python of an environment into which the wheel was built and installed."""
    python = environment(tmp_path_factory.mktemp("venv"))
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index"]
    source = copied(tmp_path_factory.mktemp("source"))
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--no-compile", source], check=True, timeout=300
    )
    return Path(python)


def test_every_file_of_the_product_is_in_it(python):
    (site,) = python.parent.parent.glob("lib/python*/site-packages")
    ours = {
        name for name in tracked() if name.split("/")[0] in ROOMS and not name.startswith(PICTURES)
    }

    assert [name for name in sorted(ours) if not (site / name).is_file()] == []


def test_it_runs_where_nobody_has_a_checkout(python, tmp_path):
    program = python.with_name("coreopsis")
    home = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}

    def coreopsis(*arguments: str) -> str:
        return subprocess.run(
            [program, *arguments], env=home, check=True, capture_output=True, text=True,
            timeout=120, cwd=tmp_path,
        ).stdout  # fmt: skip

    listed = coreopsis("experiments")
    assert [name for name in Catalogue().ids() if name not in listed] == []
    assert "GB/s" in coreopsis("replay", "stream")
    said = subprocess.run(
        [python, "-c", FONTS], env={**home, "QT_QPA_PLATFORM": "offscreen"}, check=True,
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
    ).stdout  # fmt: skip
    assert {"Inter", "JetBrains Mono"} <= set(said.splitlines())
