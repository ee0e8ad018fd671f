"""The checksum of a run file: shows that a disk has damaged it, or a person has edited it.

The last line, `finished`, ends in the field `crc32`: eight hexadecimal digits, the CRC-32 of every
byte of the file before that field's comma. It finds each flipped bit, the finding's included, and
anything else but for one case in four billion; it is no signature. A packed file is unpacked first.
Files of older versions, and runs without an end, have none.
"""

from __future__ import annotations

import zlib

from msgspec import UNSET

from experiments.engine import messages

FIELD = b',"crc32":"%08x"}\n'
FIELD_BYTES = len(FIELD % 0)


class Seal:
    """The checksum of the lines so far."""

    def __init__(self) -> None:
        self._crc = 0

    def sealed(self, event: messages.Event, line: bytes) -> bytes:
        """Take the next line; return it as it is to be written, the last one with the checksum."""
        has_room = len(line) + FIELD_BYTES <= messages.LINE_LIMIT_BYTES
        if isinstance(event, messages.Finished) and event.crc32 is UNSET and has_room:
            line = line.rstrip()[:-1]  # without its brace
            return line + FIELD % zlib.crc32(line, self._crc)
        self._crc = zlib.crc32(line, self._crc)
        return line

    def holds(self, event: messages.Event, line: bytes) -> bool:
        """Take the next line of a file; False for a last one with the checksum of other bytes.

        A last line with unknown fields and no checksum gives False, too. Every version that writes
        such fields also writes a checksum, so the checksum's name may have been flipped.
        """
        if isinstance(event, messages.Finished) and event.crc32 is not UNSET:
            return line[-FIELD_BYTES:] == FIELD % zlib.crc32(line[:-FIELD_BYTES], self._crc)
        self._crc = zlib.crc32(line, self._crc)
        return not isinstance(event, messages.Finished) or not messages.unknown_fields(event, line)


def with_first_line(data: bytes, line: bytes) -> bytes:
    """Return an unpacked file with another first line; its checksum holds if it held before."""
    changed = line + data[data.find(b"\n") + 1 :]
    if data[-FIELD_BYTES:] != FIELD % zlib.crc32(data[:-FIELD_BYTES]):
        return changed
    body = changed[:-FIELD_BYTES]
    return body + FIELD % zlib.crc32(body)
