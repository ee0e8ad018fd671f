"""The words of the program: one `Words` per language, for window and terminal.

A text is found by its dotted key. Texts of the program itself stand in
`resources/text/LANG/*.toml`. Texts of an experiment lie in its folder, and their keys begin with
its id. If an experiment lacks a text (`stream.params.device`), the shared text counts
(`shared.params.device`). For notes and problems the program's text counts (`notes.KEY`,
`problems.KEY`). `{name}` in a text takes a value, shown in the unit that the name ends in
(`{memory_latency_s}` becomes "151 ns"). `{count|one core|{count} cores}` takes the first text where
the value is 1, else the second. `"a, b" = "..."` is a text of two keys.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.core import units
from experiments.core.resources import FOLDER
from experiments.core.shelves import PROBES, SHELVES, Home, homes
from machine.text import plain

ENGLISH = "en"
SHARED = "shared"
FROZEN = "frozen"  # its texts take the place of others in a frozen folder
VALUE_LETTERS = 2000  # of one value: a name may come from a stranger
_ASKED = re.compile(r"\{(\w+)")
_PART = r"((?:[^{}|]|\{\w+\})*)"
_PLURAL = re.compile(rf"\{{(\w+)\|{_PART}\|{_PART}\}}")


class Words:
    """The texts of one language. A section is parsed when the first of its texts is asked for."""

    def __init__(
        self,
        catalogue: Mapping[str, Any],
        unread: Mapping[str, Sequence[str | Path]] | None = None,
        always: Mapping[str, str] | None = None,
    ) -> None:
        """Take parsed texts, and by section what is not parsed yet; later ones count.

        A str is TOML that names its section, a Path the file of a section. `always` are values that
        any text may name.
        """
        self._texts: dict[str, str] = {}
        self._always = dict(always or {})
        self._unread = dict(unread or {})
        _flatten("", catalogue, self._texts)

    def read_homes(self, homes: Mapping[str, Home]) -> None:
        """Read the words of these experiments anew when they are next asked for."""
        for section, home in homes.items():
            for key in [key for key in tuple(self._texts) if key.startswith(f"{section}.")]:
                self._texts.pop(key, None)
            self._unread[section] = [*words_files(home.folder)]

    def has(self, key: str) -> bool:
        """Is there a text for `key`?"""
        return self._text(key) is not None

    def keys(self, prefix: str = "") -> tuple[str, ...]:
        """Return every key that starts with `prefix`; only its sections are parsed."""
        for section in tuple(self._unread):
            if section.startswith(prefix.partition(".")[0]):
                self._read(section)
        return tuple(key for key in tuple(self._texts) if key.startswith(prefix))

    def text(self, key: str) -> str:
        """Return the text of `key` as it is written, the key itself where there is none."""
        text = self._text(key)
        return key if text is None else text

    def say(self, key: str, values: Mapping[str, Any] | None = None) -> str:
        """Return the text of `key` with `values` filled in.

        A missing text or value must never hide a result: the key, or the placeholder, is shown.
        """
        text = self._text(key)
        if text is None:  # a stranger's key is no pattern to fill
            return key
        if "{" not in text and "}" not in text:  # nothing to fill in: most of what Live says
            return text
        return fill(text, {**self._always, **(values or {})})

    def _text(self, key: str) -> str | None:
        if (known := self._texts.get(key)) is not None:  # often asked for: Live tells all anew
            return known
        section, _, rest = key.partition(".")
        if "." not in rest:  # the catalogue asks for every question, and for little else
            self._read_head(section)
            if (known := self._texts.get(key)) is not None:
                return known
        places = (section, key), (SHARED, f"{SHARED}.{rest}"), (rest.partition(".")[0], rest)
        for name, place in places:
            self._read(name)
            if (known := self._texts.get(place)) is not None:
                return known
        return None

    def _read_head(self, section: str) -> None:
        """Read what stands before the first table of an experiment's files."""
        for source in self._unread.get(section, ()):
            if isinstance(source, Path):
                head = source.read_text(encoding="utf-8").partition("\n[")[0]
                _flatten(f"{section}.", tomllib.loads(head), self._texts)

    def _read(self, section: str) -> None:
        for source in self._unread.get(section, ()):
            if isinstance(source, Path):
                text = source.read_text(encoding="utf-8")
                _flatten(f"{section}.", tomllib.loads(text), self._texts)
            else:
                _flatten("", tomllib.loads(source), self._texts)
        self._unread.pop(section, None)  # only now: another thread may want it meanwhile


def load(
    language: str = ENGLISH,
    *,
    program: str = "coreopsis",
    experiments: Mapping[str, Home] | None = None,
) -> Words:
    """Read the words of a language, in English where it has none.

    `program` is what a person types to call this one. Without `experiments`, all are taken, also
    those of the checkup.
    """
    from machine.system.adding import is_frozen

    unread: dict[str, list[str | Path]] = {}
    known = homes((*SHELVES, PROBES)) if experiments is None else experiments
    for name in dict.fromkeys((ENGLISH, language, *([FROZEN] if is_frozen() else []))):
        for path in sorted(FOLDER.joinpath("text", name).glob("*.toml")):
            for section, text in _sections(path.read_text(encoding="utf-8")).items():
                unread.setdefault(section, []).append(text)
    for key, home in known.items():
        unread[key] = [*words_files(home.folder, language)]
    return Words({}, unread, {"program": program, **_added()})


def _added() -> dict[str, str]:
    """Return the lines that add what an install may lack, to the environment that runs this."""
    from machine.system.adding import adding_here  # only where something is said

    qt = "PySide6-Essentials<6.12" if sys.version_info < (3, 12) else "PySide6-Essentials"
    packages = {"add_torch": "torch", "add_numba": "numba", "add_qt": qt}
    return {name: adding_here(package) for name, package in packages.items()}


def words_files(folder: Path, language: str = ENGLISH) -> Iterator[Path]:
    """Yield the files of an experiment's words that are there, those of the language last."""
    for name in dict.fromkeys((ENGLISH, language)):
        if (path := folder / f"words.{name}.toml").is_file():
            yield path


def fill(text: str, values: Mapping[str, Any]) -> str:
    """Return a text with values filled in; a placeholder without one stays."""
    chosen = _PLURAL.sub(lambda of: of[2] if values.get(of[1]) == 1 else of[3], text)
    return chosen.format_map(_Shown(values)).replace(units.ABOUT * 2, units.ABOUT)


def asked(text: str) -> list[str]:
    """Return the names of the values that a text takes, in order."""
    return _ASKED.findall(text)


def _sections(text: str) -> dict[str, str]:
    """Return the TOML of each section: its tables `[name]`, `[name.more]` and so on."""
    found: dict[str, list[str]] = {}
    for table in f"\n{text}".split("\n[")[1:]:
        section = table.partition("]")[0].partition(".")[0].strip('"')
        found.setdefault(section, []).append(f"[{table}")
    return {section: "\n".join(tables) for section, tables in found.items()}


def _flatten(prefix: str, tree: Mapping[str, Any], texts: dict[str, str]) -> None:
    for name, branch in tree.items():
        if isinstance(branch, dict):  # asking for a Mapping takes several times as long
            _flatten(f"{prefix}{name}.", branch, texts)
        else:
            for key in name.split(", "):
                texts[prefix + key] = str(branch)


class _Shown(dict[str, str]):
    """Shows a value when a text names it: a finding has many, and a text names few."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__()
        self._values = values

    def __missing__(self, name: str) -> str:
        return _show(name, self._values[name]) if name in self._values else f"{{{name}}}"


def _show(name: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return plain(str(value), VALUE_LETTERS)
    try:
        return units.show(value, units.unit_of(name))
    except OverflowError:  # a whole number of hundreds of digits, in a stranger's file
        return plain(str(value), VALUE_LETTERS)
