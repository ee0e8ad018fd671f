"""The owner's note in an exported copy of a run: a prediction, and a name if one was given.

It stands as `told` in the `environment` of the first line, a mapping of which readers take what
they know. The copy's checksum is made anew, so that it holds as it did for the run. An import keeps
it in the file, and takes none of it over: who imports a run has not predicted it.
"""

from __future__ import annotations

import msgspec

from experiments.core.teaching.lesson_run import Guess
from experiments.engine import messages
from experiments.engine.recording import Recording
from experiments.engine.seal import with_first_line

KEY = "told"


class Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts about a run's owner that others may know."""

    guess: Guess | None = None
    name: str = ""

    def or_else(self, other: Told) -> Told:
        """Return this, with what it lacks from another."""
        return Told(guess=self.guess or other.guess, name=self.name or other.name)


# Made once, before threads ask: msgspec looks at the guess's class then.
_TOLD = msgspec.json.Decoder(Told)


def told_in(recording: Recording) -> Told:
    """Return the owner's note in the file of a run."""
    return _told(recording.started)


def retold(data: bytes, own: Told) -> bytes:
    """Return an unpacked run file with the note `own`; its old note fills what that lacks.

    Raises BadMessage where its first line is none.
    """
    line = data[: data.find(b"\n") + 1]
    started = messages.decode_event(line)
    if not isinstance(started, messages.Started):
        raise messages.BadMessage("the first line does not start a run")
    told = msgspec.to_builtins(own.or_else(_told(started)))
    plain = msgspec.json.decode(line)  # with what a newer version has written
    plain["environment"][KEY] = told
    return with_first_line(data, messages.encode(plain))


def _told(started: messages.Started) -> Told:
    try:
        return _TOLD.decode(msgspec.json.encode(started.environment.get(KEY, {})))
    except msgspec.MsgspecError:  # a stranger wrote it: it tells nothing
        return Told()
