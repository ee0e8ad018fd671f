"""Writes shipped recordings anew after `analyse`, or a file's facts of a machine, has changed.

Name them by experiment: `python -m tests.tools.recordings ID ...`. Their rows stay as they were
measured, and get today's finding. The facts of the machine are those of a file that is handed on.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import msgspec

from experiments.core.catalogue import Catalogue
from experiments.engine import messages
from experiments.engine.recording import read
from experiments.engine.seal import Seal
from machine.inspect import portable
from machine.model import from_json, to_json
from tests.shipped import SHIPPED

LEVEL = 9


def anew(path: Path) -> bytes:
    """Return the lines of a recording as they would be written today, not packed."""
    recording = read(path)
    experiment = Catalogue().load(recording.started.experiment)
    told = to_json(portable(from_json(recording.started.machine)))
    started = msgspec.structs.replace(recording.started, machine=told)
    finding = recording.finding(experiment)
    finished = msgspec.structs.replace(recording.finished, finding=finding, crc32=msgspec.UNSET)
    with gzip.open(path) as file:
        _, *rest, _ = file.readlines()
    seal, lines = Seal(), [messages.encode(started), *rest, messages.encode(finished)]
    return b"".join(seal.sealed(messages.decode_event(line), line) for line in lines)


def main() -> None:
    """Write those that were named."""
    for name in sys.argv[1:]:
        SHIPPED[name].write_bytes(gzip.compress(anew(SHIPPED[name]), LEVEL, mtime=0))
        print(SHIPPED[name])  # noqa: T201


if __name__ == "__main__":
    main()
