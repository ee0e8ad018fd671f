"""A look at the user's own experiments, each in a process of its own before anything else runs it.

A syntax error, an endless import, a crash, a wrong type or a missing word becomes a Problem. The
process may hang, die or lie, so its answer is read strictly.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.core.problems import Problem
from experiments.core.processes.apart import APART
from experiments.core.processes.own_environment import own_environment
from experiments.core.processes.own_errors import SAID_LETTERS, own_problem, said
from experiments.core.processes.standard_pipes import take_output
from experiments.core.shelves import VARIABLE, YOURS, Home, id_of
from experiments.core.words import fill, words_files
from machine.text import plain

AT_ONCE = 4  # a shelf may hold hundreds
# For the top of its files and one call of each function: of the processor, and while it waits.
CPU_S, WAIT_S = 5, 30.0
TICK_S, GUARDIAN_S = 0.01, 2.5  # between two looks; for a guardian to kill what there is
SAID_BYTES = 100_000
MOST_PROBLEMS = 20
HEAVY = ("torch", "numba", "PySide6", "pynvml")  # seconds, or not for this process
MEMORY_BYTES = 4 * 2**30


def examine(homes: Mapping[str, Home]) -> dict[str, tuple[Problem, ...]]:
    """Return what is wrong with each of these experiments, a few of them looked at side by side."""
    waiting, under_way = list(homes.items()), dict[str, _Look]()
    found: dict[str, tuple[Problem, ...]] = {}
    try:
        while waiting or under_way:
            while waiting and len(under_way) < AT_ONCE:
                name, home = waiting.pop(0)
                under_way[name] = _Look(home.folder)
            time.sleep(TICK_S)
            for name, look in list(under_way.items()):
                if (problems := look.problems()) is not None:
                    found[name] = problems
                    under_way.pop(name).end()
    finally:
        for look in under_way.values():
            look.end()
    return {name: found[name] for name in homes}


class _Look:
    """One experiment's process behind a guardian, and what it says.

    Nothing that it starts outlives it, and its temporary files go with it.
    """

    def __init__(self, folder: Path) -> None:
        from experiments.engine.guardian import command  # not at each start of the program

        looking = [sys.executable, "-P", "-m", "experiments.engine.examine", str(folder)]
        self._folder, self._said = folder, b""
        self._end_s = time.monotonic() + WAIT_S
        self._process = subprocess.Popen(
            command([*looking, str(CPU_S)]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **APART,
            env={**own_environment(), VARIABLE: str(folder.parent)},
        )
        if sys.platform != "win32":
            os.set_blocking(self._output, False)

    def problems(self) -> tuple[Problem, ...] | None:
        """Return what is wrong, None as long as that is not known."""
        status = self._process.poll()
        if status is None and os.name == "posix":
            self._hear()
        if status is None:
            return (self._silent(WAIT_S),) if time.monotonic() > self._end_s else None
        self._hear()
        if (found := _read(self._said)) is not None:
            return found
        if status == 128 + getattr(signal, "SIGXCPU", 0):  # as its guardian tells it
            return (self._silent(CPU_S),)
        return (Problem("own_ended", {"name": self._folder.name, "status": status}),)

    def end(self) -> None:
        """End the process and all that it started."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()  # the first is the lifeline: the guardian kills all, and goes
        try:
            self._process.wait(GUARDIAN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def _output(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _hear(self) -> None:
        """Take what it has said so far; only the end of it counts."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._output, SAID_BYTES):
                self._said = (self._said + piece)[-SAID_BYTES:]

    def _silent(self, limit_s: float) -> Problem:
        return Problem("own_silent", {"name": self._folder.name, "limit_s": limit_s})


def _read(said: bytes) -> tuple[Problem, ...] | None:
    """Return the problems that a process reported, None where it did not come to its end."""
    try:
        told = json.loads(said.decode().splitlines()[-1])
        problems = tuple(Problem(_key(key), _values(values)) for key, values in told)
    except (ValueError, TypeError, IndexError, AttributeError, RecursionError):
        return None
    return problems[:MOST_PROBLEMS]


def _key(key: object) -> str:
    if not isinstance(key, str) or not key.startswith("own_"):
        raise ValueError("no key of ours")
    return key


def _values(values: Mapping[str, object]) -> dict[str, Any]:
    return {
        str(name): value if isinstance(value, int | float) else plain(str(value), SAID_LETTERS)
        for name, value in values.items()
    }


def problems_of(folder: Path) -> Iterator[Problem]:
    """Yield what is wrong with an experiment, which is imported here: only in its own process."""
    from experiments.core import words as texts
    from experiments.core.catalogue import Catalogue
    from experiments.core.rules import broken_rules
    from experiments.engine.left_behind import LeftBehind
    from machine.inspect import inspect

    name, home = id_of(folder.name), Home(YOURS, folder)
    if Catalogue().homes[name].folder.resolve() != folder.resolve():
        yield Problem("own_name_taken", {"id": name})
        return
    try:
        words = texts.load(experiments={name: home})
        words.keys(f"{name}.")
    except (OSError, ValueError) as error:
        yield next(
            _of_words(folder), Problem("own_raised", {"function": "words", "error": said(error)})
        )
        return
    yield from _of_words(folder)
    machine, left_behind, before = inspect(), LeftBehind(), set(sys.modules)
    try:
        module = importlib.import_module(home.module)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever somebody's file raises)
        # It may only follow from what was left behind: from an empty sys.path nothing is imported.
        yield from [*left_behind.problems()] or [_of_error(error, folder.name)]
        return
    if found := [*left_behind.problems()]:
        yield from found
        return
    heavy = [each for each in HEAVY if each in sys.modules and each not in before]
    if heavy:
        yield Problem("own_heavy", {"names": ", ".join(heavy)})
    if not hasattr(module, "EXPERIMENT"):
        yield Problem("own_no_experiment")
        return
    yield from broken_rules(module.EXPERIMENT, words, machine)
    yield from left_behind.problems()


def _of_error(error: BaseException, function: str) -> Problem:
    return own_problem(error) or Problem("own_raised", {"function": function, "error": said(error)})


def _of_words(folder: Path) -> Iterator[Problem]:
    """Yield where a file of words cannot be read, or a text of it not filled in."""
    for path in words_files(folder):
        data = path.read_bytes()
        try:
            text = data.decode()
            tree = tomllib.loads(text)
        except UnicodeDecodeError as wrong:
            line = data[: wrong.start].count(b"\n") + 1
            yield _unreadable(path, f"it is no UTF-8 (at line {line})")
        except ValueError as wrong:
            yield _unreadable(path, str(wrong))
        else:
            for section, name, error in _unfillable(tree):
                line = _line_of(text, section, name)
                yield _unreadable(path, f"{error}, in {name} (at line {line})")


def _unreadable(path: Path, reason: str) -> Problem:
    return Problem("own_words_unreadable", {"file": path.name, "reason": reason})


def _unfillable(tree: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, str, Exception]]:
    """Yield (section, name, error) of each text whose braces no value can fill."""
    for name, branch in tree.items():
        if isinstance(branch, Mapping):
            yield from _unfillable(branch, f"{section}.{name}".strip("."))
            continue
        try:
            fill(str(branch), {})
        except Exception as error:  # noqa: BLE001  (whatever a pattern may lead to)
            yield section, name, error


def _line_of(text: str, section: str, name: str) -> int:
    """Return the line of a name in TOML; 1 where it is written in a way not known here."""
    inside = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("["):
            inside = line.strip("[] ")
        if inside == section and line.partition("=")[0].strip(' "') == name:
            return number
    return 1


def _main(folder: Path, cpu_s: int) -> None:
    """Print the problems as the last line of standard output, to which only this writes."""
    output = take_output()
    if hasattr(os, "register_at_fork"):  # only this process speaks
        os.register_at_fork(after_in_child=lambda: os.close(output))
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    try:
        found: Iterable[Problem] = list(problems_of(folder))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (said instead of a traceback)
        found = [_of_error(error, folder.name)]
    told = json.dumps([(each.key, dict(each.values)) for each in found])
    os.write(output, f"\n{told}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
