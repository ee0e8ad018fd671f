"""The course of a lecture: which item, which step of it, what the class voted, what is revealed.

Pure: no clock, no window, no process. PageDown is `forward`, PageUp is `back`. Nothing is revealed
before its key: a run shows its first arm only, and each further key one arm more. Hidden votes are
shown once `forward` has closed them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

LETTERS = "ABCD"
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
    """What to do after a vote."""

    NONE = "none"
    TEACH = "teach"
    DISCUSS = "discuss"
    GO_ON = "go_on"


@dataclass
class Votes:
    """Hands counted for each option."""

    counts: list[int]

    @property
    def total(self) -> int:
        """All hands."""
        return sum(self.counts)

    def add(self, option: int, by: int = 1) -> None:
        """Count one hand more, or with -1 one less; never below none."""
        if 0 <= option < len(self.counts):
            self.give(option, self.counts[option] + by)

    def give(self, option: int, hands: int) -> None:
        """Let an option have so many hands; never below none, nor more than a record takes."""
        if 0 <= option < len(self.counts):
            self.counts[option] = min(max(0, hands), MOST_HANDS)

    @property
    def most_fraction(self) -> float:
        """The share of the option with the most hands: who is right is not known yet."""
        return max(self.counts) / self.total if self.total else 0.0

    def hint(self, right: int | None = None) -> Hint:
        """Return what peer instruction advises; before one knows who is right, by the most."""
        if not self.total:
            return Hint.NONE
        share = self.most_fraction if right is None else self.counts[right] / self.total
        if share < TEACH_FIRST:
            return Hint.TEACH
        return Hint.DISCUSS if share <= GO_ON else Hint.GO_ON


@dataclass
class Turn:
    """One item on its way: how many options it lets vote on, and how many arms it reveals."""

    options: int = 0
    arms: Sequence[str] = ()
    step: Step = Step.QUESTION
    shown_arms: int = 1
    first: Votes = field(init=False)
    second: Votes | None = None
    is_measured: bool = False  # its run has ended, or its recording is shown
    is_recording: bool = False
    is_done: bool = False  # it was explained
    is_closed: bool = False  # its votes are counted: those that were hidden are shown

    def __post_init__(self) -> None:
        self.first = Votes([0] * self.options)

    @property
    def votes(self) -> Votes:
        """The votes that are counted now, or were counted last."""
        return self.second or self.first

    @property
    def hidden_arms(self) -> tuple[str, ...]:
        """The arms that nobody may see yet."""
        return tuple(self.arms[self.shown_arms :])


class Course:
    """All items, and where the lecture stands."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        assert turns
        self.turns = list(turns)
        self.place = 0
        self.is_over = False
        self.hides_votes = False  # of every item, until each is closed

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
        """Are hands counted now that nobody may see yet?"""
        return self.is_voting and self.hides_votes and not self.turn.is_closed

    def forward(self) -> bool:
        """Go one step on; False where the step has to wait for the run, or all is over."""
        turn = self.turn
        if self.has_hidden_votes:
            turn.is_closed = True
            return True
        match turn.step:
            case Step.QUESTION:
                turn.step = Step.VOTE if turn.options else Step.RUN
            case Step.VOTE | Step.AGAIN:
                turn.step = Step.RUN
            case Step.RUN if not turn.is_measured:
                return False
            case Step.RUN | Step.REVEAL if turn.hidden_arms:
                turn.step = Step.REVEAL
                turn.shown_arms += 1
            case Step.RUN | Step.REVEAL:
                turn.step = Step.EXPLAIN
            case Step.EXPLAIN:
                turn.is_done = True
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
            turn.step = before[turn.step]
            return True
        return self.go(self.place - 1)

    def vote_again(self) -> bool:
        """Begin the second vote; False where there is nothing to vote on, or it is too late."""
        turn = self.turn
        if turn.step is not Step.VOTE:
            return False
        turn.step, turn.is_closed = Step.AGAIN, False
        turn.second = turn.second or Votes([0] * turn.options)
        return True

    def vote(self, option: int, by: int = 1) -> bool:
        """Count a hand; False where nobody votes now."""
        votes = self._votes_of(option)
        if votes is not None:
            votes.add(option, by)
        return votes is not None

    def give(self, option: int, hands: int) -> bool:
        """Let an option have so many hands; False where nobody votes now."""
        votes = self._votes_of(option)
        if votes is not None:
            votes.give(option, hands)
        return votes is not None

    def hide_votes(self) -> None:
        """Hide the votes of every item until they are closed, or show them again."""
        is_shown = self.is_voting and not self.has_hidden_votes
        self.hides_votes = is_shown or not self.hides_votes
        if self.is_voting:
            self.turn.is_closed = False

    def measured(self, *, is_recording: bool = False) -> None:
        """The run of this item has ended, or its recording is shown in its place."""
        self.turn.is_measured = True
        self.turn.is_recording = is_recording

    def go(self, place: int) -> bool:
        """Go to an item; False beyond the first or the last one, which ends the lecture."""
        if not 0 <= place < len(self.turns):
            self.is_over = place >= len(self.turns)
            return False
        self.place, self.is_over = place, False
        return True

    def _votes_of(self, option: int) -> Votes | None:
        """Return the votes that are counted now, None if that option takes none."""
        turn = self.turn
        if not self.is_voting or not 0 <= option < turn.options:
            return None
        return turn.first if turn.step is Step.VOTE else turn.votes
