"""Removes from a report what names a person or a machine, unless the user allows it.

It removes serial numbers, hosts, users, folders, hardware addresses and internet addresses. It
looks at every text, and at the data that a report carries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import msgspec

from app.anonymous import nameless
from app.reports.document import Document
from experiments.engine import messages
from experiments.engine.seal import Seal
from machine.convert import UNREADABLE
from machine.text import escaped

T = TypeVar("T")

_NAMING = re.compile(r"(?:serial|uuid|host|user|mac)(?:_?(?:name|number|address))?")
_HTML = re.compile("[<>&\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Include:
    """The user's choice of what leaves with a report; `note` and `name` stay back by default."""

    prediction: bool = True
    data: bool = True  # all rows, so that Coreopsis opens the report again
    note: bool = False
    own_words: bool = False  # why it came out so, as they wrote it in the lesson
    name: bool = False  # a name and tags of their own
    class_names: bool = False  # that the files of a class came with
    answers: bool = False  # of a worksheet, for who marks it
    names: bool = False  # folders, users, hosts and addresses


def clean(document: Document, *, names: bool = False) -> Document:
    """Return a document without names in its texts and data, unless `names` may leave.

    A value that its data calls a serial number, a host or the like becomes null. With or without
    names, text of strangers commands no terminal and no browser.
    """
    without = str if names else nameless()
    change = _remembering(lambda text: escaped(without(text)))
    data = _walked(document.data, change) if names else without_names(document.data, change)
    return replace(_walked(replace(document, data={}), change), data=data)


def clean_lines(
    lines: Iterable[bytes], *, is_own: bool = False, is_sealed: bool = True, names: bool = False
) -> list[msgspec.Raw]:
    """Return the lines of a run as JSON that may stand in HTML, without names, and sealed anew.

    Rows are looked at where the experiment is the user's own. `is_sealed`: only a run whose
    checksum held gets a new one. A torn last line is left out.
    """
    seal, change, found = Seal(), _remembering(nameless()), list[msgspec.Raw]()
    texts = {"values", "problem", *(("params", "row") if is_own else ())}
    for line in lines:
        try:
            plain = msgspec.json.decode(line)
        except UNREADABLE:
            break
        for key in () if names else plain:
            if key in ("machine", "environment"):
                plain[key] = without_names(plain[key], change)
            elif key in texts:
                plain[key] = _walked(plain[key], change)
        if is_sealed:
            plain.pop("crc32", None)
        safe = for_html(msgspec.json.encode(plain).decode()).encode() + b"\n"
        if is_sealed:
            safe = seal.sealed(messages.decode_event(safe), safe)
        found.append(msgspec.Raw(safe.rstrip()))
    return found


def without_names(plain: Any, change: Callable[[str], str]) -> Any:
    """Return plain JSON with each text changed; a value called a serial number is null."""
    if isinstance(plain, str):
        return change(plain)
    if isinstance(plain, Mapping):
        return {
            change(key): None if _NAMING.fullmatch(key) else without_names(value, change)
            for key, value in plain.items()
        }
    if isinstance(plain, list | tuple):
        return [without_names(each, change) for each in plain]
    return plain


def for_html(json: str) -> str:
    """Return JSON that cannot end the element of HTML that it stands in."""
    return _HTML.sub(lambda found: f"\\u{ord(found[0]):04x}", json)


def _remembering(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that looks at each text once: rows repeat theirs."""
    known: dict[str, str] = {}

    def changed(text: str) -> str:
        if text not in known:
            known[text] = change(text)
        return known[text]

    return changed


def _walked(value: T, change: Callable[[str], str]) -> T:
    """Return records, tuples, mappings and texts with each text changed; all else as it is."""
    found: Any = value
    if isinstance(value, str):
        found = change(value)
    elif is_dataclass(value) and not isinstance(value, type):
        named = {each.name: _walked(getattr(value, each.name), change) for each in fields(value)}
        found = replace(value, **named)
    elif isinstance(value, Mapping):
        found = {key: _walked(each, change) for key, each in value.items()}
    elif isinstance(value, list | tuple):
        found = tuple(_walked(each, change) for each in value)
    return found  # type: ignore[no-any-return]
