"""Which words does the program use? One catalogue per language, for window and terminal.

A text is found by its dotted key; `{name}` in it takes a value, shown in the unit that the name
ends in (`{memory_latency_s}` becomes "151 ns").
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from experiments import units


class Words:
    """The texts of one language."""

    def __init__(self, catalogue: Mapping[str, Any]) -> None:
        self._texts: dict[str, str] = {}
        _flatten("", catalogue, self._texts)

    def has(self, key: str) -> bool:
        """Is there a text for `key`?"""
        return key in self._texts

    def keys(self, prefix: str = "") -> tuple[str, ...]:
        """Return every key that starts with `prefix`."""
        return tuple(key for key in self._texts if key.startswith(prefix))

    def say(self, key: str, values: Mapping[str, Any] | None = None) -> str:
        """Return the text of `key` with `values` filled in.

        A missing text or value must never hide a result: the key, or the placeholder, is shown.
        """
        text = self._texts.get(key, key)
        return _SHOWING.vformat(text, (), _Shown(values or {}))


def load(language: str = "en") -> Words:
    """Read `resources/text/LANGUAGE.toml`."""
    text = files("resources").joinpath("text", f"{language}.toml").read_text(encoding="utf-8")
    return Words(tomllib.loads(text))


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


_SHOWING = string.Formatter()
