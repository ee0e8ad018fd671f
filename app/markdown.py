"""Text as Markdown that reads as it stands: what strangers wrote is no markup, HTML or formula."""

from __future__ import annotations

import re

_LIST = re.compile(r"^(\d*)((?<=\d)[.)](?=\s|$)|(?<!\d)[-+=])")  # what begins one
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$&])")  # a dollar begins a formula in Jupyter


def unmarked(text: str) -> str:
    """Return text as Markdown that reads as it stands, on one line."""
    said: str = _MARKUP.sub(r"\\\1", " ".join(text.split()))
    return _LIST.sub(r"\1\\\2", said)
