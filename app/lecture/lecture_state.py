"""The course of a lecture: which item, which step of it, what the class voted, what is revealed.

No clock, no window, no process. PageDown is `forward`, PageUp is `back`, `next` looks what comes.
Nothing is revealed before its key: a run shows its first arm only, and each further key one arm
more. Hidden votes are shown once `forward` has closed them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

LETTERS = "ABCD"
RECORDING = "recording"  # stands in for the run with the next key
MOST_HANDS = 100_000  # of one option
TEACH_FIRST, GO_ON = 0.35, 0.70  # Crouch and Mazur, Peer Instruction, 2001


class Step(StrEnum):
    """The steps of one item, in order; those without a vote leave out the votes."""

    QUESTION = "question"
    VOTE = "vote"
    AGAIN = "again"  # the second vote, after discussion; only where it is asked for
    RUN = "run"
    REVEAL = "reveal"
    EXPLAIN = "explain"


class Hint(StrEnum):
    """The advice after a vote."""

    NONE = "none"
    TEACH = "teach"
    DISCUSS = "discuss"
    GO_ON = "go_on"


@dataclass(frozen=True, slots=True)
class Votes:
    """Hands counted for each option."""

    counts: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """All hands."""
        return sum(self.counts)

    def given(self, option: int, hands: int) -> Votes:
        """Return the votes with `hands` for an option, limited to the range of a record."""
        counts = list(self.counts)
        counts[option] = min(max(0, hands), MOST_HANDS)
        return Votes(tuple(counts))

    @property
    def most_fraction(self) -> float:
        """The share of the option with the most hands: who is right is not known yet."""
        return max(self.counts) / self.total if self.total else 0.0

    def hint(self) -> Hint:
        """Return what peer instruction advises, by the most: who is right is not known yet."""
        if not self.total:
            return Hint.NONE
        if self.most_fraction < TEACH_FIRST:
            return Hint.TEACH
        return Hint.DISCUSS if self.most_fraction <= GO_ON else Hint.GO_ON


@dataclass(frozen=True, slots=True)
class Turn:
    """One item on its way: how many options it lets vote on, and how many arms it reveals."""

    options: int = 0
    arms: tuple[str, ...] = ()
    step: Step = Step.QUESTION
    shown_arms: int = 1
    first: Votes = Votes()  # none yet
    second: Votes | None = None
    is_measured: bool = False  # its run has ended, or its recording is shown
    is_recording: bool = False
    is_done: bool = False  # it was explained
    is_closed: bool = False  # its votes are counted: those that were hidden are shown

    def __post_init__(self) -> None:
        if not self.first.counts:
            object.__setattr__(self, "first", Votes((0,) * self.options))

    @property
    def votes(self) -> Votes:
        """The votes that are counted now, or were counted last."""
        return self.first if self.second is None or self.step is Step.VOTE else self.second

    @property
    def hidden_arms(self) -> tuple[str, ...]:
        """The arms that stay hidden for now."""
        return self.arms[self.shown_arms :]


class LectureState:
    """All items, and where the lecture stands."""

    def __init__(self, turns: Sequence[Turn], place: int = 0, *, hides_votes: bool = False) -> None:
        assert turns
        self.turns = list(turns)
        self.place = place
        self.is_over = False
        self.hides_votes = hides_votes  # of every item, until each is closed

    @property
    def turn(self) -> Turn:
        """The item of now."""
        return self.turns[self.place]

    @property
    def is_voting(self) -> bool:
        """Are hands counted now?"""
        return self.turn.step in (Step.VOTE, Step.AGAIN)

    @property
    def has_hidden_votes(self) -> bool:
        """Are hands counted now that stay hidden for now?"""
        return self.is_voting and self.hides_votes and not self.turn.is_closed

    def next(self, *, by_recording: bool = False) -> LectureState:
        """Return the course after the next key, however the run ends; this one stays.

        A run of which nothing is known yet counts as measured, or its recording as shown.
        """
        then = LectureState(self.turns, self.place, hides_votes=self.hides_votes)
        if by_recording and then.turn.step is not Step.RUN:
            then.forward()
        if by_recording:
            then.measured(is_recording=True)
            return then
        if then.turn.step is Step.RUN and not then.turn.is_measured:
            then.measured()
        then.forward()
        return then

    def coming(self, *, is_troubled: bool, by_recording: bool) -> str:
        """Return the key of what comes next: a step, "close", "item", "recording" or "end".

        It is "" for a wait. `is_troubled` says that the run under way does not come.
        """
        turn = self.turn
        if self.has_hidden_votes:
            return "close"
        if turn.step is Step.RUN and not turn.is_measured:
            return RECORDING if is_troubled else ""
        then = self.next()
        if then.is_over:
            return "end"
        if then.turn.step is Step.RUN and by_recording and not then.turn.is_measured:
            return RECORDING
        return "item" if then.place != self.place else str(then.turn.step)

    def forward(self) -> bool:
        """Go one step on; False where the step has to wait for the run, or all is over."""
        turn = self.turn
        if self.has_hidden_votes:
            self._set(is_closed=True)
            return True
        match turn.step:
            case Step.QUESTION:
                self._set(step=Step.VOTE if turn.options else Step.RUN)
            case Step.VOTE | Step.AGAIN:
                self._set(step=Step.RUN)
            case Step.RUN if not turn.is_measured:
                return False
            case Step.RUN | Step.REVEAL if turn.hidden_arms:
                self._set(step=Step.REVEAL, shown_arms=turn.shown_arms + 1)
            case Step.RUN | Step.REVEAL:
                self._set(step=Step.EXPLAIN)
            case Step.EXPLAIN:
                self._set(is_done=True)
                return self.go(self.place + 1)
        return True

    def back(self) -> bool:
        """Go one step back; votes and what was revealed stay. False at the start."""
        turn = self.turn
        before = {
            Step.VOTE: Step.QUESTION,
            Step.AGAIN: Step.VOTE,
            Step.RUN: (Step.AGAIN if turn.second else Step.VOTE) if turn.options else Step.QUESTION,
            Step.REVEAL: Step.RUN,
            Step.EXPLAIN: Step.REVEAL if len(turn.arms) > 1 else Step.RUN,
        }
        if turn.step is not Step.QUESTION:
            self._set(step=before[turn.step])
            return True
        return self.go(self.place - 1)

    def vote_again(self) -> bool:
        """Begin the second vote; False where there is nothing to vote on, or it is too late."""
        turn = self.turn
        if turn.step is not Step.VOTE:
            return False
        second = turn.second or Votes((0,) * turn.options)
        self._set(step=Step.AGAIN, is_closed=False, second=second)
        return True

    def vote(self, option: int, by: int = 1) -> bool:
        """Count a hand; False where no vote is open."""
        counts = self.turn.votes.counts
        return 0 <= option < len(counts) and self.give(option, counts[option] + by)

    def give(self, option: int, hands: int) -> bool:
        """Let an option have this many hands; False where no vote is open."""
        turn = self.turn
        if not self.is_voting or not 0 <= option < turn.options:
            return False
        votes = turn.votes.given(option, hands)
        self._set(**{"first" if turn.step is Step.VOTE else "second": votes})
        return True

    def hide_votes(self) -> None:
        """Hide the votes of every item until they are closed, or show them again."""
        is_shown = self.is_voting and not self.has_hidden_votes
        self.hides_votes = is_shown or not self.hides_votes
        if self.is_voting:
            self._set(is_closed=False)

    def measured(self, *, is_recording: bool = False) -> None:
        """The run of this item has ended, or its recording is shown in its place."""
        self._set(is_measured=True, is_recording=is_recording)

    def measure(self) -> None:
        """The run of this item is to be made, once more where it was."""
        self._set(step=Step.RUN, is_measured=False, is_recording=False)

    def know_arms(self, arms: Sequence[str]) -> None:
        """Take the arms of this item that there are; those that are shown stay the first."""
        turn = self.turn
        kept = [arm for arm in turn.arms[: turn.shown_arms] if arm in arms]
        self._set(arms=tuple(dict.fromkeys((*kept, *arms))))

    def go(self, place: int) -> bool:
        """Go to an item; False beyond the first or the last one, which ends the lecture."""
        if not 0 <= place < len(self.turns):
            self.is_over = place >= len(self.turns)
            return False
        self.place, self.is_over = place, False
        return True

    def _set(self, **changes: Any) -> None:
        self.turns[self.place] = replace(self.turn, **changes)
