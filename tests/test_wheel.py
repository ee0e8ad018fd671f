"""The wheel has everything, and works from an environment and a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from experiments.core.catalogue import Catalogue
from tests.app.test_own_experiments import environment
from tests.checkout import copied, tracked

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
def wheel(tmp_path_factory) -> Path:
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", folder, copied(source)], check=True, timeout=300)
    (made,) = folder.glob("*.whl")
    return made


def test_every_file_of_the_product_is_in_it(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    ours = {
        name for name in tracked() if name.split("/")[0] in ROOMS and not name.startswith(PICTURES)
    }

    assert ours - inside == set()


def test_it_runs_where_nobody_has_a_checkout(wheel, tmp_path):
    python = environment(tmp_path / "venv")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index"]
    subprocess.run([*pip, "--no-deps", wheel], check=True, timeout=300)
    program = Path(python).with_name("coreopsis")
    home = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}

    def coreopsis(*arguments: str) -> str:
        return subprocess.run(
            [program, *arguments], env=home, check=True, capture_output=True, text=True,
            timeout=120, cwd=tmp_path,
        ).stdout  # fmt: skip

    listed = coreopsis("experiments")
    assert all(name in listed for name in Catalogue().ids())
    assert "GB/s" in coreopsis("replay", "stream")
    said = subprocess.run(
        [python, "-c", FONTS], env={**home, "QT_QPA_PLATFORM": "offscreen"}, check=True,
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
    ).stdout  # fmt: skip
    assert {"Inter", "JetBrains Mono"} <= set(said.splitlines())
