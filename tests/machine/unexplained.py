"""Finds values of a machine with neither a source nor a reason for their absence."""

from __future__ import annotations

import re

from machine.model import missing_of, source_of, to_json

WITHOUT_SOURCE = {"format", "version", "fingerprint", "sources", "missing"}


def leaves(value, path=""):
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for index, part in enumerate(value):
            yield from leaves(part, f"{path}[{index}]")
    else:
        yield path, value


def unexplained(machine):
    """Return the values without a source, and those that are missing without a reason."""
    found = []
    for path, value in leaves(to_json(machine)):
        if re.split(r"[.\[]", path)[0] in WITHOUT_SOURCE:
            continue
        # An empty list may be a fact, such as the threads of a memory node, or not known.
        told = value is not None and source_of(machine, path) is not None
        if not told and (value not in (None, [], {}) or missing_of(machine, path) is None):
            found.append(path)
    return found
