"""`coreopsis guess`: ten guesses in three minutes, answered by this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace

from rich.table import Table
from rich.text import Text

from app.context import Context, ExitCode
from app.guesses import in_words, truths
from app.guesses.meanwhile import Meanwhile
from app.runs.library import Kept
from app.terminal.predict import EndOfInput, answer, read_number
from experiments.core.units import show
from experiments.presentation.guesses.questions import Question, questions
from experiments.presentation.guesses.quick_round import Answered, Round, Truth

NONE = "–"  # no guess


def run(_options: SimpleNamespace, context: Context) -> ExitCode:
    """Ask ten questions; the end of the input ends the round."""
    guesses = Guesses(context)
    try:
        guesses.ask()
    except EndOfInput:
        guesses.say("guess.ended")
    finally:
        guesses.close()
    guesses.end()
    return ExitCode.DONE


class Guesses:
    """One round in the terminal."""

    def __init__(self, context: Context) -> None:
        self._context, self._round = context, Round(questions())
        runs = context.library.runs() if os.path.isdir(context.folder / "runs") else ()
        self._runs: Sequence[Kept] = runs
        self._meanwhile: Meanwhile | None = None
        if not context.has_fake_machine:
            self._meanwhile = Meanwhile(context.catalogue, context.machine)

    def ask(self) -> None:
        """Ask one question after another. Raises EndOfInput."""
        context = self._context
        context.console.print(Text(context.words.say("guess.title"), style="bold"))
        self.say("guess.from_file" if context.has_fake_machine else "guess.about")
        while (question := self._round.question) is not None:
            self._tell(self._round.answer(*self._asked(question)))
            self._round.go_on()

    def say(self, key: str) -> None:
        """Print a text."""
        self._context.console.print(Text(self._context.words.say(key)))

    def close(self) -> None:
        """End what is still measured."""
        if self._meanwhile is not None:
            self._meanwhile.close()

    def end(self) -> None:
        """Print all answers, and the experiments that explain the farthest guesses."""
        if not self._round.answered:
            return
        words, console = self._context.words, self._context.console
        console.print()
        console.print(self._table())
        console.print()
        console.print(Text(in_words.score(words, self._round), style="bold"))
        misses = self._round.misses()
        console.print(Text(in_words.remark(words, self._round)))
        for each in misses:
            lesson = each.question.lesson
            is_lacking = self._context.catalogue.lacks_lesson(self._context.catalogue.load(lesson))
            values = {
                "id": lesson if is_lacking else f"{lesson} --predict",
                "name": in_words.name(words, each.question),
                "question": words.say(f"{lesson}.question"),
            }
            console.print(Text(words.say("guess.explains", values)))

    def _asked(self, question: Question) -> tuple[float | None, Truth]:
        """Ask one question, and measure its answer meanwhile where no run has it."""
        context, words = self._context, self._context.words
        known = truths.kept(question, context.catalogue, context.machine, self._runs)
        if known is None and self._meanwhile is not None:
            self._meanwhile.begin(question)
        place = {"place": self._round.place, "count": len(self._round.questions)}
        context.console.print()
        context.console.print(Text(words.say("guess.place", place), style="dim"))
        context.console.print(Text(in_words.ask(words, question), style="bold"))
        low, high = (show(limit, question.unit) for limit in question.range)
        prompt = words.say("lesson.guess", {"low": low, "high": high})
        read = partial(read_number, limits=question.range, unit=question.unit)
        guess = answer(context, prompt, read, low)
        if known is None and self._meanwhile is not None:
            known = self._meanwhile.end()
        return guess, known or truths.recorded(question, context.catalogue)

    def _tell(self, answered: Answered) -> None:
        words, print_ = self._context.words, self._context.console.print
        print_(Text(in_words.answer(words, answered.question, answered.truth.value), style="bold"))
        print_(Text(in_words.verdict(words, answered)))
        print_(Text(in_words.because(words, answered.question)))
        print_(Text(in_words.source(words, answered.truth), style="dim"))

    def _table(self) -> Table:
        """Return all answers, the shortest first; of a rate, what one takes."""
        say = self._context.words.say
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column(say("guess.name"))
        for heading in ("guess.mine", "guess.true", "guess.times"):
            table.add_column(say(heading), justify="right", no_wrap=True)
        for each in sorted(self._round.answered, key=_truth_s):
            question, is_skipped = each.question, each.guess is None
            mine = NONE if each.guess is None else show(question.as_time(each.guess), "s")
            off = NONE if is_skipped else f"{in_words.factor(each)}×"
            name = in_words.name_of_true(self._context.words, each)
            table.add_row(name, mine, show(_truth_s(each), "s"), off)
        return table


def _truth_s(answered: Answered) -> float:
    return answered.question.as_time(answered.truth.value)
