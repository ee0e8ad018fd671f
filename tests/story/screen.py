"""An invisible screen, and a hand that moves a real mouse and presses real keys on it."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests import ROOT

PATIENCE_S = 90.0  # other tests keep the machine busy
SOON_S = 5.0  # a click that has opened nothing by then was missed


class Screen:
    """Xvfb on a display of its own."""

    def __init__(self, width: int = 1440, height: int = 900) -> None:
        with _turn():
            self._start(width, height)

    def _start(self, width: int, height: int) -> None:
        reading, writing = os.pipe()
        self._process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24",
             "-nolisten", "tcp",
             # Left by its last guest it begins anew, and under load refuses who comes meanwhile.
             "-noreset"],
            pass_fds=[writing],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.display = f":{pipe.readline().strip()}"

    def do(self, *command: object) -> str:
        """Move, click or press with xdotool; return what it says."""
        said = subprocess.run(
            ["xdotool", *map(str, command)],
            env={**os.environ, "DISPLAY": self.display},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
        return said.stdout

    def close(self) -> None:
        with _turn():
            self._process.terminate()
            self._process.wait()


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    """Let no other screen come or go meanwhile: they share their numbers."""
    name = f"coreopsis-screens-{getpass.getuser()}.lock"
    with Path(tempfile.gettempdir(), name).open("w") as turn:
        if sys.platform != "win32":
            fcntl.flock(turn, fcntl.LOCK_EX)
        yield


class Program:
    """Coreopsis in a process of its own on that screen, as `tests.story.driven`."""

    def __init__(self, screen: Screen, data: Path, *arguments: str, **environment: str) -> None:
        self._screen, self._arguments = screen, ("--data", str(data), *arguments)
        self._environment = {
            **os.environ, "DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb", **environment
        }  # fmt: skip
        self._process = self._started(stdin=subprocess.PIPE, stderr=subprocess.PIPE)

    def _started(self, **pipes: int) -> subprocess.Popen[str]:
        return subprocess.Popen(  # type: ignore[call-overload]
            [sys.executable, "-m", "tests.story.driven", *self._arguments],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
            **pipes,
        )

    def again(self) -> int:
        """Start the program a second time; return the exit code of that."""
        second = self._started(stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        second.communicate(timeout=PATIENCE_S)
        return second.returncode

    def ask(self, what: str, **more: Any) -> Any:
        """Ask the ear beside the window."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"ask": what, **more}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, self.said()
        return json.loads(answer)

    def wait_until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for the window to be in a state; return the state that it reports."""
        end_s = time.monotonic() + PATIENCE_S
        while not holds(told := self.ask("tell")):
            assert time.monotonic() < end_s, told
            time.sleep(0.05)
        return told

    def wait_for(self, name: str) -> list[int]:
        """Wait for something of this name to be in sight and at rest; return where it is."""
        end_s = time.monotonic() + PATIENCE_S
        before = None
        while not (found := self.ask("find", name=name)) or found != before:
            assert time.monotonic() < end_s, (name, self.ask("names"))
            before = found
            time.sleep(0.15)
        return found[0]

    def click(self, name: str, button: int = 1, *, times: int = 1) -> None:
        """Click into the middle of what is called so."""
        x, y, width, height = self.wait_for(name)
        self._screen.do("mousemove", x + width // 2, y + height // 2)
        self._screen.do("click", "--repeat", times, "--delay", 60, button)

    def open(self, name: str, opened: str) -> None:
        """Click until something of the name `opened` is there: a page that moves misses a click."""
        end_s = time.monotonic() + PATIENCE_S
        while not self.ask("find", name=opened):
            assert time.monotonic() < end_s, (opened, self.ask("names"))
            self.click(name)
            soon_s = time.monotonic() + SOON_S
            while not self.ask("find", name=opened) and time.monotonic() < soon_s:
                time.sleep(0.05)

    def turn_wheel(self, name: str, *, up: int = 0, down: int = 0) -> None:
        """Turn the wheel over the middle of what is called so."""
        x, y, width, height = self.wait_for(name)
        self._screen.do("mousemove", x + width // 2, y + height // 2)
        for turns, wheel in ((up, 4), (down, 5)):
            if turns:
                self._screen.do("click", "--repeat", turns, "--delay", 60, wheel)

    def take_keys(self, title: str) -> None:
        """Give the keyboard to the window of this title: there is no window manager to do so."""
        end_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._screen.do("search", "--sync", "--onlyvisible", "--name", title, "windowfocus")
            except subprocess.CalledProcessError:  # another window closed while it looked
                assert time.monotonic() < end_s, title
                time.sleep(0.1)
            else:
                return

    def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        self._screen.do("key", "--delay", 30, *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._screen.do("type", "--delay", 15, text)

    def end(self) -> int:
        """Wait for the program to end; return its exit code."""
        return self._process.wait(PATIENCE_S)

    def said(self) -> str:
        """Return what it has said on standard error; it has ended."""
        self._process.kill()
        return self._process.communicate()[1]

    def close(self) -> str:
        """End it by force if need be; return what it said on standard error."""
        if self._process.poll() is None:
            self._process.kill()
        _, said = self._process.communicate()
        return said


@contextlib.contextmanager
def opened(data: Path, *arguments: str, **environment: str) -> Iterator[Program]:
    """Open the window on a new screen; nothing may be said on standard error."""
    screen = Screen()
    try:
        program = Program(screen, data, *arguments, **environment)
        try:
            yield program
        finally:
            said = program.close()
        assert said == "", said
    finally:
        screen.close()
