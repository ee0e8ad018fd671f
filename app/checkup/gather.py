"""Many machines' checkups together: who says what, and which one is the odd one out.

Machines with the same parts are compared row by row: the samples of one with those of all its
equals. The interval of core/judging/comparing.py shares its level of false alarms among them
(Bonferroni). A machine is odd if its whole interval is below `OK` of the others. Machines with too
few equals are not compared, nor are rows that other programs disturbed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.checkup.compare import known, memory_bytes
from experiments.checkup.judge import BY_SEVERITY
from experiments.checkup.result import Result, Row, Word
from experiments.core.judging.comparing import ENOUGH, LEVEL, unpaired

FORMAT, VERSION = "coreopsis.gathered", 1
OK, FLOOR = 0.95, 0.85  # of the others, as for cores of one kind
EQUALS = 2  # that a machine must have: of two nobody knows which is the odd one
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Node:
    """One machine's checkup, by the name that its file has."""

    name: str
    result: Result

    @property
    def word(self) -> Word:
        """The worst word of its rows; unchecked where none says anything of a part."""
        return _worst(row.word for row in self.result.rows)


@dataclass(frozen=True, slots=True)
class Odd:
    """A row in which a machine is clearly below its equals; `ratio` is its share of theirs."""

    name: str
    row: Row
    ratio: float
    low: float
    high: float

    @property
    def word(self) -> Word:
        """A problem where the whole interval is below the floor, else to be looked at."""
        return Word.PROBLEM if self.high < FLOOR else Word.LOOK


@dataclass(frozen=True, slots=True)
class Gathered:
    """All machines, how many kinds of them there are, and the odd ones, the farthest off first."""

    nodes: tuple[Node, ...]
    kinds: int
    odd: tuple[Odd, ...]
    alone: tuple[str, ...]  # machines with too few equals to be compared

    @property
    def word(self) -> Word:
        """The worst word of all machines and of the odd ones."""
        return _worst(map(self.word_of, self.nodes))

    def word_of(self, node: Node) -> Word:
        """Return the worst word of a machine, of itself and beside its equals."""
        return _worst([node.word, *(each.word for each in self.odd_in(node))])

    def odd_in(self, node: Node) -> Sequence[Odd]:
        """Return in what this machine is an odd one."""
        return [each for each in self.odd if each.name == node.name]


def _worst(said: Iterable[Word]) -> Word:
    """Return the worst word that says something of a part, unchecked if there is none."""
    known_ = [word for word in said if word in BY_SEVERITY]
    return max(known_, key=BY_SEVERITY.index, default=Word.UNCHECKED)


def gather(nodes: Sequence[Node]) -> Gathered:
    """Put the checkups of many machines together, in the order given."""
    kinds: dict[tuple[str, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        kinds[_kind(node.result)].append(node)
    odd = [each for alike in kinds.values() for each in _odd(alike)]
    alone = [n.name for alike in kinds.values() if len(alike) <= EQUALS for n in alike]
    return Gathered(
        tuple(nodes), len(kinds), tuple(sorted(odd, key=lambda each: each.ratio)), tuple(alone)
    )


def _kind(result: Result) -> tuple[str, ...]:
    """Return what equal machines have in common: processor, memory in GiB, GPUs."""
    facts, memory = known(result), memory_bytes(result)
    size = "" if memory is None else str(round(memory / GIB))
    return facts.get("processor", ""), size, facts.get("gpus", "")


def _odd(alike: Sequence[Node]) -> Iterator[Odd]:
    if len(alike) <= EQUALS:
        return
    rows: dict[tuple[str, int, str, str], dict[str, Row]] = defaultdict(dict)
    for node in alike:
        for row in node.result.rows:
            if len(row.samples) >= ENOUGH and row.disturbance is None:
                rows[row.rule, row.version, row.part, row.unit][node.name] = row
    for of in rows.values():
        for name, row in of.items():
            others = [s for other, each in of.items() if other != name for s in each.samples]
            if len(of) <= EQUALS or not others:
                continue
            found = unpaired(row.samples, others, level=LEVEL / len(of))
            if found.high < OK:
                yield Odd(name, row, found.ratio, found.low, found.high)


def to_json(gathered: Gathered) -> Mapping[str, Any]:
    """Return it as plain JSON, `coreopsis.gathered` version 1."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "word": str(gathered.word),
        "kinds": gathered.kinds,
        "alone": list(gathered.alone),
        "machines": [
            {
                "name": node.name,
                "id": node.result.id,
                "at": node.result.at,
                "word": str(gathered.word_of(node)),
                "counts": {str(word): node.result.count(word) for word in Word},
                "rows": [
                    {"rule": row.rule, "part": row.part, "word": str(row.word)}
                    for row in node.result.rows
                ],
            }
            for node in gathered.nodes
        ],
        "odd": [
            {
                "name": each.name,
                "rule": each.row.rule,
                "part": each.row.part,
                "word": str(each.word),
                "ratio": each.ratio,
                "low": each.low,
                "high": each.high,
            }
            for each in gathered.odd
        ],
    }
