"""Runs the program as a process of its own, with a new data folder."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from experiments.engine.lock import FOLDER_VARIABLE
from machine.system.kill import KILL
from tests import ROOT
from tests.processes import PATIENCE_S, TOKEN, living, until

HIDE = "COREOPSIS_TEST_HIDE"  # libraries that shall look as if they were not installed
CTRL_C = "COREOPSIS_TEST_CTRL_C"  # the module at whose import somebody presses it

# Runs at the start of every Python of a test: nothing but the window may ask for Qt.
WITHOUT_QT = f"""
import importlib.util, os, signal, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ.get("{CTRL_C}"):
            os.kill(os.getpid(), signal.SIGINT)
        if name.partition(".")[0] in ("PySide6", "shiboken6"):
            open(os.path.join(os.path.dirname(__file__), "asked for Qt"), "a").close()
            raise ImportError(name + " is for the window alone")

sys.meta_path.insert(0, Refuse())
hidden, find_spec = os.environ.get("{HIDE}", "").split(), importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in hidden else find_spec(name, *more)
"""


@dataclass(frozen=True)
class Said:
    """The output of a command, and its end."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one sentence on standard error; nothing else may be there."""
        assert "Traceback" not in self.err, self.err
        assert self.err.endswith("\n"), self.err
        assert self.err.count("\n") == 1, self.err
        said = self.err.rstrip("\n")
        assert said.endswith((".", "?")), said
        return said

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def checked(self) -> Said:
        """Check what holds of all that is said."""
        for text in (self.out, self.err):
            assert "\x1b" not in text  # no colours where nobody can see them
            assert "ResourceWarning" not in text
            if not text.startswith(("{", "[")):
                assert not re.search(r"\{[a-z]\w*\}", text), text  # a value that was not filled in
        return self


class Program:
    """`coreopsis` with a data folder, a lock and a working folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.data = folder / "data"
        self._site = folder / "site"
        self._locks = folder / "locks"
        self.temporary = folder / "tmp"
        for each in (self.folder, self.temporary, self._site, self._locks):
            each.mkdir()
        (self._site / "sitecustomize.py").write_text(WITHOUT_QT)
        self.may_ask_for_qt = False
        self.token = uuid.uuid4().hex
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in OF_TERMINALS},
            # The tree that is tested, even where another one is installed.
            "PYTHONPATH": os.pathsep.join((str(self._site), str(ROOT))),
            "PYTHONWARNINGS": "always::ResourceWarning",
            "COLUMNS": "80",
            "TMPDIR": str(self.temporary),
            FOLDER_VARIABLE: str(self._locks),
            TOKEN: self.token,
        }

    @property
    def lock(self) -> Path:
        return self._locks / "coreopsis-measure.lock"

    @property
    def runs(self) -> list[Path]:
        """The run files of the library, oldest first."""
        folder = self.data / "runs"
        found = folder.iterdir() if folder.exists() else ()
        return sorted(path for path in found if not path.name.startswith("."))  # no probe

    def start(self, *arguments: object, stdout: int = subprocess.PIPE, **environment: str):
        """Start a command in a group of its own, as a terminal does."""
        command = [sys.executable, "-m", "app", "--data", self.data, *arguments]
        return subprocess.Popen(
            [str(each) for each in command],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def __call__(self, *arguments: object, **environment: str) -> Said:
        """Run a command to its end; what it says is checked for what always holds."""
        return self.end(self.start(*arguments, **environment))  # type: ignore[arg-type]

    def end(self, process: subprocess.Popen[bytes], limit_s: float = PATIENCE_S) -> Said:
        """Wait for the end of a command."""
        out, err = process.communicate(timeout=limit_s)
        assert self.may_ask_for_qt or not (self._site / "asked for Qt").exists()
        return Said(process.returncode, (out or b"").decode(), err.decode()).checked()

    def living(self) -> dict[int, str]:
        """Return all that this program started and that still runs."""
        return living(self.token)

    def close(self) -> None:
        """Check that nothing is left of what was started or written in passing."""
        is_gone = until(lambda: not self.living())
        for pid in () if is_gone else self.living():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, KILL)
        assert is_gone
        assert list(self.temporary.iterdir()) == []


# Of a terminal or a display; without the latter no window opens.
OF_TERMINALS = {
    "COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "PYTHONIOENCODING",
    "DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM",
}  # fmt: skip
