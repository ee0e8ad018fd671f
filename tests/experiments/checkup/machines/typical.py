"""A typical machine, and the word that each of its rows must say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from experiments.checkup.checks import rows_of
from experiments.checkup.evidence import Evidence
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import rules

NO_ROOT = frozenset(
    {"devices", "kernel-log", "memory-errors"}
)  # nobody said what was bought, nor may read
ALONE = NO_ROOT | {"training"}  # no other is there to compare with, and no baseline
BESIDE_GPU = NO_ROOT | {"training cpu", "training gpu0", "gpu-errors"}  # a GeForce has no ECC


@dataclass(frozen=True, kw_only=True)
class Typical:
    """A machine; what is not named in `look`, `problem` and `unknown` is fine, or not here."""

    name: str
    of: Callable[[], Evidence]
    is_sound: bool
    look: Collection[str] = ()
    problem: Collection[str] = ()
    unknown: Collection[str] = ALONE

    def rows(self) -> Mapping[str, Row]:
        """Return the rows that are shown, by rule, and by part where a rule has several."""
        found = self.of()
        named: dict[str, Row] = {}
        for rule in rules().rule:
            rows = [row for row in rows_of(rule, found) if row.word is not Word.ABSENT]
            named |= {rule.id if len(rows) == 1 else f"{rule.id} {row.part}": row for row in rows}
        return named

    def expected(self, name: str) -> Word:
        """Return the word that a row must say."""
        said = {Word.LOOK: self.look, Word.PROBLEM: self.problem, Word.UNCHECKED: self.unknown}
        return next((word for word, names in said.items() if name in names), Word.FINE)

    def wrong(self) -> dict[str, str]:
        """Return the rows that say another word than they must, or are lacking."""
        rows = self.rows()
        told = {name: f"{row.word}, {row.reason}" for name, row in rows.items()}
        wanted = {*self.look, *self.problem, *self.unknown}
        return {name: "lacking" for name in wanted - rows.keys()} | {
            name: said for name, said in told.items() if rows[name].word is not self.expected(name)
        }
