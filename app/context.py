"""Shared by all commands: words, the library of runs, the machine, and both output streams."""

from __future__ import annotations

import contextlib
import enum
import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.output import unguarded
from experiments.core import words
from experiments.core.problems import Problem, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from app.runs.library import Library
    from experiments.core.catalogue import Catalogue
    from experiments.core.declare import Experiment
    from experiments.core.words import Words
    from machine.live.recorded_watch import RecordedWatch
    from machine.model import Machine


NAME = "coreopsis"
MACHINE_BYTES = 2**26  # a hundred times what a machine of eight GPUs takes


class ExitCode(enum.IntEnum):
    """The outcome of a command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    CANNOT_RUN_HERE = 3
    LOOK = 4  # something to look at
    STOPPED = 130


class WriteFailed(UserError):
    """A file that could be opened could not be written to its end: FAILED, not wrong usage."""


@contextlib.contextmanager
def refused(kind: type[UserError], key: str, path: Path) -> Iterator[None]:
    """Raise a UserError of this kind and key where the system refuses to write a file."""
    try:
        yield
    except OSError as error:
        raise kind(key, path=str(path), reason=error.strerror or "?") from None


class Context:
    """The objects of one command, each made, and its module loaded, when it is first asked for."""

    def __init__(
        self,
        *,
        data: Path | None = None,
        fake_machine: Path | None = None,
        experiments: Sequence[Path] = (),
    ) -> None:
        self._data = data
        self._fake_machine = fake_machine
        self._experiments = experiments
        self.kept: str | None = None  # the first letters of the id of a run that was kept

    @functools.cached_property
    def words(self) -> Words:
        """Every text, in the language of the program."""
        self.use_own_folders()
        return words.load(program=called())

    @property
    def given(self) -> str:
        """The options that the next command needs too, as a shell takes them."""
        options = [] if self._data is None else ["--data", str(self._data)]
        for folder in self._experiments:
            options += ["--experiments", str(folder)]
        return "".join(f" {quoted(option)}" for option in options)

    @property
    def has_fake_machine(self) -> bool:
        """Is the machine read from a file?"""
        return self._fake_machine is not None

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """Every experiment; a user's own ones are examined before one of them is loaded."""
        from app.own_experiments import refusals
        from experiments.core.catalogue import Catalogue

        self.use_own_folders()
        return Catalogue(refuse=refusals)

    def use_own_folders(self) -> None:
        """Let catalogue, words and table of parts find what is the user's own."""
        from app.own_experiments import use_folders

        use_folders(self.folder, self._experiments)
        self.use_own_parts()

    def use_own_parts(self) -> None:
        """Let the table of parts find the user's own lines, here and in every worker."""
        from machine.system.files import DATA_FOLDER

        os.environ[DATA_FOLDER] = str(self.folder)

    @functools.cached_property
    def machine(self) -> Machine:
        """This machine, or the fake one. Raises UserError."""
        import msgspec

        from machine.convert import UNREADABLE
        from machine.inspect import inspect
        from machine.model import BadMachine, from_json
        from machine.system.files import read_file

        self.use_own_parts()
        if self._fake_machine is None:
            return inspect()
        name = str(self._fake_machine)
        try:
            return from_json(msgspec.json.decode(read_file(self._fake_machine, MACHINE_BYTES)))
        except OSError as error:
            raise UserError("machine_unreadable", name=name, reason=error.strerror or "?") from None
        except BadMachine as error:
            raise UserError("machine_refused", name=name, reason=str(error)) from None
        except msgspec.ValidationError:
            reason = "it holds a number that is too long"
            raise UserError("machine_unreadable", name=name, reason=reason) from None
        except UNREADABLE:
            raise UserError("machine_unreadable", name=name, reason="it is no JSON") from None

    @functools.cached_property
    def recorded_watch(self) -> RecordedWatch | None:
        """Return the recorded watch beside the file of a fake machine. Raises UserError."""
        from machine.live.recorded_watch import beside

        path = None if self._fake_machine is None else beside(self._fake_machine)
        return None if path is None else read_watch(path)

    @functools.cached_property
    def folder(self) -> Path:
        """The user's data folder: runs, their index, and the settings of the window."""
        if self._data is not None:
            return self._data
        import platformdirs

        return platformdirs.user_data_path("coreopsis", appauthor=False)

    @functools.cached_property
    def library(self) -> Library:
        """The runs in the user's data folder."""
        from app.runs.library import Library

        return Library(self.folder, tell=self.complain)

    def earned(self, *experiments: Experiment[Any]) -> dict[str, float]:
        """Return values from earlier runs on this machine that parameters start from."""
        from experiments.core.declare import specs

        asked = any(spec.earned for each in experiments for spec in specs(each.params).values())
        if self.has_fake_machine or not asked or not os.path.isdir(self.folder / "runs"):
            return {}
        from app.runs.known_values import known_numbers

        return known_numbers(experiments, self.machine, self.library.runs, self.catalogue)

    @functools.cached_property
    def console(self) -> Console:
        """Standard output."""
        return _console(stderr=False)

    @functools.cached_property
    def errors(self) -> Console:
        """Standard error: progress, notes and problems."""
        return _console(stderr=True)

    def sentence(self, problem: Problem) -> str:
        """Return a problem as one sentence."""
        return self.words.say(f"problems.{problem.key}", problem.values)

    def complain(self, problem: Problem) -> None:
        """Say on standard error what is wrong."""
        sys.stderr.write(self.sentence(problem) + "\n")


def read_watch(path: Path) -> RecordedWatch:
    """Read a recorded watch. Raises UserError."""
    from machine.live.recorded_watch import BadWatch, read

    try:
        return read(path)
    except OSError as error:
        reason = f"{error.strerror or type(error).__name__}."
    except BadWatch as error:
        reason = str(error)
    raise UserError("watch_unreadable", name=path.name, reason=reason)


def quoted(text: str) -> str:
    """Return a word of a command line as the shell of this system takes it."""
    import shlex
    import subprocess

    return subprocess.list2cmdline([text]) if sys.platform == "win32" else shlex.quote(text)


def called() -> str:
    """Return how to call this program here, as its shell takes it.

    The bare name only if the shell finds this very one.
    """
    path = sys.argv[0]
    if os.path.basename(path).partition(".")[0] != NAME or not os.path.exists(path):
        return NAME
    places = (os.path.join(folder, NAME) for folder in os.get_exec_path())
    found = next((place for place in places if os.access(place, os.X_OK)), "")
    try:
        if os.path.realpath(found) == os.path.realpath(path):
            return NAME
        near = os.path.relpath(path)
    except FileNotFoundError:  # the working folder is gone
        return quoted(path)
    if os.path.dirname(near) == "":  # else the shell looks among its own
        near = os.path.join(os.curdir, near)
    return quoted(path if near.startswith(os.pardir) else near)


def discard_output() -> None:
    """Let standard output go nowhere, because its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _console(*, stderr: bool) -> Console:
    """Return a console that prints texts as they are: a `[name]` in a file is no markup.

    Its own sequences are in `control` segments and styles, never in the text, which is escaped.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    from machine.text import escaped

    class Plain(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                bare = style.update_link(None) if style and style.link else style
                yield Segment(text if control else escaped(text), bare, control)

        def out(self, *objects: Any, **how: Any) -> None:
            super().out(*(escaped(str(each)) for each in objects), **how)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the program with exit code 1

    file = unguarded(sys.stderr if stderr else sys.stdout)
    return Plain(file=file, stderr=stderr, highlight=False, markup=False, emoji=False)
