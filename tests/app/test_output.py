"""The output where standard output is no terminal, or a simple terminal."""

import io
import sys

import pytest

from app.output import guard_streams, write_styled

BARS = "\u2588\u2713 \u00e4\n"


class File(io.TextIOWrapper):
    """Standard output of Windows, which has 256 characters."""

    def __init__(self, *, is_terminal):
        super().__init__(io.BytesIO(), encoding="cp1252", newline="\n")
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


@pytest.fixture
def written(monkeypatch):
    """Return a function that prints to a file, and returns the bytes that came there."""

    def write(system, *, is_terminal=False):
        out = File(is_terminal=is_terminal)
        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", File(is_terminal=is_terminal))
        guard_streams()
        sys.stdout.write(BARS)
        sys.stdout.flush()
        return out.buffer.getvalue()

    return write


def test_a_file_has_bars_and_ticks_on_windows_too(written, monkeypatch):
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    assert written("win32") == BARS.encode()


def test_a_terminal_and_other_systems_keep_the_encoding_that_they_have(written):
    assert written("win32", is_terminal=True) == "?? ä\n".encode("cp1252")
    assert written("linux") == "?? ä\n".encode("cp1252")


def test_the_encoding_that_somebody_asked_for_stays(written, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    assert written("win32") == "?? ä\n".encode("cp1252")


@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, "\x1b[1mnew\x1b[0m"), ({"NO_COLOR": "1"}, "new"), ({"TERM": "dumb"}, "new")],
    ids=["terminal", "no colour", "dumb"],
)
def test_only_a_terminal_that_can_gets_sequences(monkeypatch, environment, said):
    out = File(is_terminal=True)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in ({"TERM": "xterm"} | environment).items():
        monkeypatch.setenv(name, value)

    write_styled("new", "\x1b[1m")

    out.flush()
    assert out.buffer.getvalue().decode() == said
