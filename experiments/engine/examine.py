"""A look at the user's own experiments, each in a process of its own before anything else runs it.

A syntax error, an endless import, a crash, a wrong type or a missing word becomes a Problem. What
the process says is read strictly: it may hang, die or lie.
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
from experiments.core.processes.own_environment import own_environment
from experiments.core.processes.own_errors import SAID_LETTERS, own_problem, said
from experiments.core.shelves import VARIABLE, YOURS, Home, id_of
from experiments.core.words import fill, words_files
from machine.text import plain

# For the top of its files and one call of each function: of the processor, and while it waits.
CPU_S, WAIT_S = 5, 60.0
SAID_BYTES = 100_000
MOST_PROBLEMS = 20
HEAVY = ("torch", "numba", "PySide6", "pynvml")  # seconds, or not for this process
MEMORY_BYTES = 4 * 2**30


def examine(homes: Mapping[str, Home]) -> dict[str, tuple[Problem, ...]]:
    """Return what is wrong with each of these experiments, all looked at side by side."""
    looks = {name: _Look(home.folder) for name, home in homes.items()}
    end_s = time.monotonic() + WAIT_S
    return {name: look.problems(end_s) for name, look in looks.items()}


class _Look:
    """One experiment's process, and what it says."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "experiments.engine.examine", str(folder), str(CPU_S)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0 if os.name == "posix" else None,
            env={**own_environment(), VARIABLE: str(folder.parent)},
        )

    def problems(self, end_s: float) -> tuple[Problem, ...]:
        """Wait until then for what is wrong, and end the process and its children."""
        said = b""
        try:
            said, _ = self._process.communicate(timeout=max(0.0, end_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            return (self._silent(WAIT_S),)
        finally:
            self._end()
        found = _read(said[:SAID_BYTES])
        if found is None:
            status = self._process.returncode
            if status == -getattr(signal, "SIGXCPU", 0):
                return (self._silent(CPU_S),)
            return (Problem("own_ended", {"name": self._folder.name, "status": status}),)
        return found

    def _silent(self, limit_s: float) -> Problem:
        return Problem("own_silent", {"name": self._folder.name, "limit_s": limit_s})

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _read(said: bytes) -> tuple[Problem, ...] | None:
    """Return the problems that a process told, None where it did not come to its end."""
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
    before = set(sys.modules)
    try:
        module = importlib.import_module(home.module)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever somebody's file raises)
        yield _of_error(error, folder.name)
        return
    heavy = [each for each in HEAVY if each in sys.modules and each not in before]
    if heavy:
        yield Problem("own_heavy", {"names": ", ".join(heavy)})
    if not hasattr(module, "EXPERIMENT"):
        yield Problem("own_no_experiment")
        return
    yield from broken_rules(module.EXPERIMENT, words, inspect())


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
    """Print the problems as the last line of standard output, which nobody else writes to."""
    output = os.dup(1)
    os.dup2(2, 1)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

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
