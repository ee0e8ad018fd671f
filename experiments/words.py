"""Which words does the program use? One catalogue per language, for window and terminal.

A text is found by its dotted key; what an experiment does not say itself is said for all of them
in the section `shared`. `{name}` in a text takes a value, shown in the unit that the name ends in
(`{memory_latency_s}` becomes "151 ns").
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from experiments import units
from experiments.resources import read_resource

SHARED = "shared"


class Words:
    """The texts of one language. A section is parsed when the first of its texts is asked for."""

    def __init__(
        self,
        catalogue: Mapping[str, Any],
        unread: Mapping[str, str] | None = None,
        always: Mapping[str, str] | None = None,
    ) -> None:
        """Take parsed texts, and the TOML of sections that are not parsed yet, by their name.

        `always` are values that any text may name.
        """
        self._texts: dict[str, str] = {}
        self._always = dict(always or {})
        self._unread = dict(unread or {})
        _flatten("", catalogue, self._texts)

    def has(self, key: str) -> bool:
        """Is there a text for `key`?"""
        return self._text(key) is not None

    def keys(self, prefix: str = "") -> tuple[str, ...]:
        """Return every key that starts with `prefix`."""
        for section in tuple(self._unread):
            self._read(section)
        return tuple(key for key in tuple(self._texts) if key.startswith(prefix))

    def say(self, key: str, values: Mapping[str, Any] | None = None) -> str:
        """Return the text of `key` with `values` filled in.

        A missing text or value must never hide a result: the key, or the placeholder, is shown.
        """
        text = self._text(key)
        text = key if text is None else text
        if "{" not in text and "}" not in text:  # nothing to fill in: most of what Live says
            return text
        return text.format_map(_Shown({**self._always, **(values or {})}))

    def _text(self, key: str) -> str | None:
        if (known := self._texts.get(key)) is not None:  # often asked for: Live tells all anew
            return known
        section, _, rest = key.partition(".")
        self._read(section)
        self._read(SHARED)
        return self._texts.get(key, self._texts.get(f"{SHARED}.{rest}"))

    def _read(self, section: str) -> None:
        text = self._unread.get(section)
        if text is not None:
            _flatten("", tomllib.loads(text), self._texts)
            self._unread.pop(section, None)  # only now: another thread may want it meanwhile


def load(language: str = "en", *, program: str = "coreopsis") -> Words:
    """Read `resources/text/LANGUAGE.toml`; `program` is what a person types to call this one."""
    head, *tables = _TABLE.split(read_resource("text", f"{language}.toml"))
    unread: dict[str, str] = {}
    for table in tables:  # "[name.more]" and what stands below it
        section = table[1:].partition("]")[0].partition(".")[0].strip('"')
        unread[section] = unread.get(section, "") + table
    return Words(tomllib.loads(head), unread, {"program": program})


_TABLE = re.compile(r"^(?=\[)", re.MULTILINE)


def _flatten(prefix: str, tree: Mapping[str, Any], texts: dict[str, str]) -> None:
    for name, branch in tree.items():
        if isinstance(branch, Mapping):
            _flatten(f"{prefix}{name}.", branch, texts)
        else:
            texts[prefix + name] = str(branch)


class _Shown(dict[str, str]):
    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__({name: _show(name, value) for name, value in values.items()})

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def _show(name: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return units.show(value, units.unit_of(name))
