"""Sentences of window and terminal on a round: answers, their sources, the score."""

from __future__ import annotations

from app.report import when
from experiments.core.units import digits, show
from experiments.core.words import Words
from experiments.presentation.guesses.questions import Question
from experiments.presentation.guesses.quick_round import Answered, Mark, Round, Source, Truth

COUNTLESS = 1e6  # from here on a power of ten reads better than digits


def ask(words: Words, question: Question) -> str:
    """Return the question."""
    return words.say(f"guess.{question.id}.ask")


def name(words: Words, question: Question) -> str:
    """Return the short name of what is asked for, as it stands on the ruler."""
    return words.say(f"guess.{question.id}.name")


def name_of_true(words: Words, answered: Answered) -> str:
    """Return the name beside a true answer; one of a recording says so."""
    told = name(words, answered.question)
    if answered.truth.source is not Source.RECORDED:
        return told
    return words.say("guess.recorded", {"name": told})


def because(words: Words, question: Question) -> str:
    """Return why the answer is as it is."""
    return words.say(f"guess.{question.id}.because")


def answer(words: Words, question: Question, value: float) -> str:
    """Return the true answer as a sentence."""
    return words.say("guess.truth", {"truth": show(value, question.unit)})


def verdict(words: Words, answered: Answered) -> str:
    """Return how near the guess came."""
    if answered.guess is None or answered.mark is None:
        return words.say("guess.skipped")
    times = factor(answered)
    off = "too_high" if answered.is_above else "too_low"
    key = "exact" if times == "1" else off
    values = {"guess": show(answered.guess, answered.question.unit), "times": times}
    return f"{words.say(f'guess.{answered.mark}')} {words.say(f'guess.{key}', values)}"


def factor(answered: Answered) -> str:
    """Return how many times a guess is off, in two digits."""
    rounded = float(f"{answered.factor:.2g}")
    return digits(rounded, 2) if rounded < COUNTLESS else show(rounded)


def source(words: Words, truth: Truth) -> str:
    """Return where the true answer comes from; a recording names its machine and date."""
    if truth.source is Source.RECORDED:
        values = {"machine": truth.machine, "date": truth.at[:10]}
        return words.say("terminal.recorded_on", values)
    return words.say(f"guess.{truth.source}", {"when": when(words, truth.at)})


def score(words: Words, of: Round) -> str:
    """Return how many guesses came near."""
    values = {
        "right": of.count(Mark.RIGHT, Mark.SHARP),
        "sharp": of.count(Mark.SHARP),
        "count": len(of.answered),
    }
    return words.say("guess.score", values)


def remark(words: Words, of: Round) -> str:
    """Return what leads to the lessons behind the largest misses, or that there is none."""
    if all(each.guess is None for each in of.answered):
        return words.say("guess.no_guesses")
    return words.say("guess.misses" if of.misses() else "guess.no_misses")
