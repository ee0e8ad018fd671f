"""Joins a lesson's drawing with a motion that has the times of a run."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from msgspec.structs import replace

from experiments.core.problems import UserError
from experiments.core.teaching.diagram import Diagram
from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.teaching.lessons import Taught
from experiments.core.teaching.motion import Motion, Pointed, faults
from machine.record import Record

log = logging.getLogger(__name__)


class Playable(Record):
    """A drawing with its labels, a motion with its texts; `band` names a run that was recorded."""

    diagram: Diagram
    labels: Mapping[str, str]
    motion: Motion
    texts: Mapping[str, str]
    band: str = ""


def playable(
    taught: Taught, run: LessonRun, pointed: Pointed | None = None, *, band: str = ""
) -> Playable | None:
    """Return what moves in a run, None where nothing does. Raises UserError for a broken motion."""
    try:
        motion = taught.motion(run, pointed)
        texts = taught.motion_texts(run)
        wrong = [*faults(motion, taught.diagram, texts.keys())] if motion is not None else []
    except Exception as error:  # whatever a lesson does, its drawing can still be shown
        log.exception("in a motion")
        raise UserError("motion_broken", reason=repr(error)) from None
    if wrong:
        raise UserError("motion_broken", reason=wrong[0])
    if motion is None or taught.diagram is None:
        return None
    drawn = (shape for shape in taught.diagram.shapes if shape.name not in motion.without)
    diagram, labels = replace(taught.diagram, shapes=tuple(drawn)), taught.words.diagram
    return Playable(diagram=diagram, labels=labels, motion=motion, texts=texts, band=band)
