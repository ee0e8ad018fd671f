"""The steps of a lesson."""

from __future__ import annotations

from enum import StrEnum


class Step(StrEnum):
    """In order; an experiment without a lesson has QUESTION, RUN and RESULT."""

    QUESTION = "question"
    PREDICT = "predict"
    RUN = "run"
    OBSERVE = "observe"
    EXPLAIN = "explain"
    TRY = "try"
    RESULT = "result"


LESSON = (Step.QUESTION, Step.PREDICT, Step.RUN, Step.OBSERVE, Step.EXPLAIN, Step.TRY)
WITHOUT = (Step.QUESTION, Step.RUN, Step.RESULT)
