"""The notes of an inspection and the facts of one device: values, sources, reasons for gaps.

A driver mostly says the same about all devices of a kind. So each device collects its own facts,
and `note` writes what they have in common once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from machine.model import Missing

T = TypeVar("T")


class Reason(NamedTuple):
    """Why there is no value, and how to get it; a sentence each."""

    why: str
    how: str

    def of(self, what: str) -> Missing:
        """Return it as the reason why `what` is missing."""
        return Missing(what=what, why=self.why, how=self.how)


def lacking(what: str, parts: Sequence[object], reasons: Mapping[str, Reason]) -> Iterator[Missing]:
    """Yield the reason of each name that some of the `parts` lack."""
    for name, reason in reasons.items():
        if any(getattr(part, name) is None for part in parts):
            yield reason.of(f"{what}.{name}")


class Notes:
    """The `sources` and `missing` of one inspection.

    A reason names a host or a container only after it was found. `virtualization` and `container`
    are what was found around this machine, None before the search.
    """

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.missing: list[Missing] = []
        self.virtualization: str | None = None
        self.container: str | None = None

    @property
    def is_virtual(self) -> bool:
        """Was a host found behind this machine?"""
        return self.virtualization not in (None, "none")

    def found(self, what: str, value: T, source: str, reason: Reason) -> T:
        """Note the source of `value`, or the reason if there is none; return it."""
        if value is None or value == ():
            self.lack(what, reason)
        else:
            self.sources[what] = source
        return value

    def because(self, reason: Reason, virtual: str = "", contained: str = "") -> Reason:
        """Return the reason; with the causes `virtual` and `contained` where they were found."""
        causes = [reason.why]
        if virtual and self.is_virtual:
            causes.append(f"This is a virtual machine, {virtual}.")
        if contained and self.container not in (None, "none"):
            causes.append(f"This is a container, {contained}.")
        return Reason(" ".join(causes), reason.how)

    def lack(self, what: str, reason: Reason) -> None:
        """Note that `what` is not known, or that sources contradict each other about it."""
        self.missing.append(reason.of(what))


class Unanswered(Exception):
    """A question has no answer, for this reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.why)
        self.reason = reason


class Facts(msgspec.Struct, eq=False):
    """The values of one device by name, their sources, and the reasons for missing ones."""

    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    missing: dict[str, Reason] = {}

    def keep(self, name: str, value: T, source: str) -> T:
        """Keep a known value."""
        self.values[name], self.sources[name] = value, source
        self.missing.pop(name, None)
        return value

    def found(self, name: str, value: object, source: str, reason: Reason) -> None:
        """Keep a value, or the reason if it is None."""
        if value is None:
            self.lack(name, reason)
        else:
            self.keep(name, value, source)

    def lack(self, name: str, reason: Reason) -> None:
        """Keep the reason for an unknown value; the first reason stays.

        `name` may point into a part, such as links[*].peer.
        """
        if name not in self.sources:
            self.missing.setdefault(name, reason)

    def ask(self, name: str, source: str, read: Callable[[], T]) -> T | None:
        """Keep and return what `read` returns, or keep the reason why it is Unanswered."""
        try:
            value = read()
        except Unanswered as error:
            self.lack(name, error.reason)
            return None
        if value is not None:
            self.keep(name, value, source)
        return value

    def drop(self, name: str, reason: Reason) -> None:
        """Replace a meaningless value by a reason."""
        self.values.pop(name, None)
        self.sources.pop(name, None)
        self.missing[name] = reason

    def take(self, other: Facts) -> None:
        """Merge another's values, and its reasons for what neither knows."""
        self.values |= other.values
        self.sources |= other.sources
        for name, reason in other.missing.items():
            self.lack(name, reason)

    def knows(self, name: str) -> bool:
        """Has the value been found?"""
        return self.values.get(name) is not None


def note(devices: Sequence[Facts], what: str, names: Iterable[str], notes: Notes) -> None:
    """Add the sources and reasons of all `devices`, the elements of the list `what`, to `notes`.

    Names that are neither known nor explained get a general reason. A source or reason that is the
    same for all devices is written once, as `what[*].name`.
    """
    names = tuple(names)
    for device in devices:
        for name in names:
            if name not in device.sources and name not in device.missing:
                device.lack(name, _UNTOLD)
    for name in dict.fromkeys(name for device in devices for name in device.sources):
        _spread([device.sources.get(name) for device in devices], what, name, notes.sources)
    reasons: dict[str, Reason] = {}
    for name in dict.fromkeys(name for device in devices for name in device.missing):
        _spread([device.missing.get(name) for device in devices], what, name, reasons)
    for path, reason in reasons.items():
        notes.lack(path, reason)


def _spread(found: Sequence[T | None], what: str, name: str, into: dict[str, T]) -> None:
    different = {value for value in found if value is not None}
    if len(different) == 1:
        into[f"{what}[*].{name}"] = different.pop()
        return
    for index, value in enumerate(found):
        if value is not None:
            into[f"{what}[{index}].{name}"] = value


_UNTOLD = Reason(
    "The driver of this device does not tell it.", "Look the model up in its maker's data sheet."
)
