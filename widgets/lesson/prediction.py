"""The input for each kind of prediction."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.core.teaching.lessons import Choice, Magnitude, Predict, Rank
from experiments.core.words import Words
from widgets.lesson.choice import ChoiceInput
from widgets.lesson.magnitude import MagnitudeInput
from widgets.lesson.prediction_input import PredictionInput
from widgets.lesson.rank import RankInput
from widgets.lesson.typed_points import PointsInput
from widgets.style.look import Look


def prediction_input(
    predict: Predict,
    words: Words,
    look: Look,
    units: tuple[str, str] = ("", ""),
    order: Sequence[int] = (),
) -> PredictionInput:
    """Return the input for a question.

    `units` are the SI units of the axes x and y of the plot that a sketch is drawn on. The items of
    a rank start in `order`.
    """
    if isinstance(predict, Choice):
        return ChoiceInput(predict, words, look)
    if isinstance(predict, Magnitude):
        return MagnitudeInput(predict, words, look)
    if isinstance(predict, Rank):
        return RankInput(predict, words, look, order)
    return PointsInput(predict, words, look, units)
