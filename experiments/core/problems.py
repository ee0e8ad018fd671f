"""Problems: a key into the words, and the numbers that belong in the sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from machine.record import Record


class Problem(Record, kw_only=False):
    """One sentence to a person, as data; `detail` is for "copy details" only."""

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)
    detail: str = ""


class UserError(Exception):
    """Expected trouble: the sentence `problems.KEY` says what happened and what to do."""

    def __init__(self, key: str, *, detail: str = "", **values: object) -> None:
        super().__init__(key, values)
        self.problem = Problem(key, values, detail)
