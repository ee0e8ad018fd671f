"""Reads the texts of a PDF that Qt wrote, each with its colour."""

from __future__ import annotations

import re
import zlib

OBJECT = re.compile(rb"\n(\d+) 0 obj\b(.*?)\nendobj", re.DOTALL)
STREAM = re.compile(rb"\nstream\r?\n(.*?)\nendstream", re.DOTALL)
TOKEN = re.compile(rb"\[[^\]]*\]|<[0-9A-Fa-f]*>|/?[^\s\[\]<>]+")


def coloured_texts(data: bytes) -> list[tuple[str, str]]:
    """Return (text, colour of its letters as #rrggbb) of all pages, piece by piece."""
    objects = {int(number): body for number, body in OBJECT.findall(data)}
    letters = {
        f"F{number}".encode(): _letters(_stream(objects[int(found[1])]))
        for number, body in objects.items()
        if (found := re.search(rb"/ToUnicode (\d+) 0 R", body))
    }
    return [each for page in painted(data) for each in _texts(page, letters)]


def painted(data: bytes) -> list[bytes]:
    """Return the operators that paint each page."""
    objects = {int(number): body for number, body in OBJECT.findall(data)}
    pages = (
        int(found[1])
        for body in objects.values()
        if re.search(rb"/Type\s*/Page\b", body)
        and (found := re.search(rb"/Contents (\d+) 0 R", body))
    )
    return [_stream(objects[page]) for page in pages]


def _stream(body: bytes) -> bytes:
    found = STREAM.search(body)
    assert found is not None
    data = found[1]
    return zlib.decompress(data) if b"/FlateDecode" in body else data


def _letters(table: bytes) -> dict[int, str]:
    """Return the letter of each glyph, from the font's table."""
    found: dict[int, str] = {}
    for first, inside in re.findall(rb"<(\w+)> <\w+> \[([^\]]*)\]", table):
        for place, code in enumerate(re.findall(rb"<(\w+)>", inside)):
            found[int(first, 16) + place] = bytes.fromhex(code.decode()).decode("utf-16-be")
    return found


def _texts(content: bytes, letters: dict[bytes, dict[int, str]]) -> list[tuple[str, str]]:
    """Follow the operators of a page as a reader does."""
    told: list[tuple[str, str]] = []
    given: list[bytes] = []
    font, colour, said = b"", "#000000", ""
    kept: list[tuple[bytes, str]] = []
    for token in TOKEN.findall(content):
        match token:
            case b"q":
                kept.append((font, colour))
            case b"Q":
                font, colour = kept.pop()
            case b"Tf":
                font = given[-2].removeprefix(b"/")
            case b"scn":
                parts = (round(float(part) * 255) for part in given[-3:])
                colour = "#{:02x}{:02x}{:02x}".format(*parts)
            case b"BT":
                said = ""
            case b"Tj":
                digits = given[-1].strip(b"<>").decode()
                glyphs = (int(digits[at : at + 4], 16) for at in range(0, len(digits), 4))
                said += "".join(letters[font].get(glyph, "?") for glyph in glyphs)
            case b"ET":
                told.append((said, colour))
            case _:
                given.append(token)
                continue
        given.clear()
    return told
