"""Text of strangers as it may be shown and may name files.

Control characters and marks of direction are taken out, because a terminal obeys them.
"""

from __future__ import annotations

import functools
import re

LINE_LETTERS = 300  # of one value; no true name or path of a device is as long
NAME_BYTES = 100  # of a part of a file's name, which takes 255 in all

# C0 but tab and newline, DEL, C1; soft hyphen, Arabic letter mark, Mongolian vowel separator; the
# zero-width space, marks of direction, line separators, but not the joiners that scripts need; half
# characters; the byte order mark, interlinear annotations and tags.
_UNSAFE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)


def escaped(text: str) -> str:
    """Return the text with such characters as JSON writes them; inside JSON it stays the same."""
    is_safe = text.isprintable() or text.replace("\n", "").isprintable()
    return text if is_safe else _pattern().sub(_escape, text)


def plain(text: str, letters: int = LINE_LETTERS) -> str:
    """Return the text on one line, without such characters, and cut to a length."""
    if len(text) > letters:
        text = f"{text[:letters]}…"
    return text if text.isprintable() else _pattern(r"\t\n").sub(_replace, text)


def short_name(text: str, most_bytes: int = NAME_BYTES) -> str:
    """Return the beginning of a text that a file's name has room for; a letter has up to four."""
    return text.encode(errors="ignore")[:most_bytes].decode(errors="ignore")


@functools.cache  # to compile it takes 1 ms, which most starts need not spend
def _pattern(more: str = "") -> re.Pattern[str]:
    return re.compile(f"[{_UNSAFE}{more}]")


def _escape(found: re.Match[str]) -> str:
    halves = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{halves[n : n + 4]}" for n in range(0, len(halves), 4))


def _replace(found: re.Match[str]) -> str:
    return " " if found[0] in "\t\n" else "\N{REPLACEMENT CHARACTER}"
