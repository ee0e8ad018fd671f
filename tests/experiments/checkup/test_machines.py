"""Typical machines are judged rightly: no sound one goes red, no faulty one stays green."""

from __future__ import annotations

from experiments.checkup.result import Word
from tests.cases import in_one
from tests.experiments.checkup.machines import further, reviewed

VERDICTS = (Word.FINE, Word.LOOK, Word.PROBLEM)


@in_one("typical", [*reviewed.MACHINES, *further.MACHINES], ids=lambda each: each.name)
def test_each_row_of_a_typical_machine_is_right(typical):
    assert typical.wrong() == {}


def test_most_rows_of_a_sound_desktop_have_a_verdict_without_root_and_baseline():
    fine = next(each for each in reviewed.MACHINES if each.name == "Ryzen 7 with one RTX 5070")
    words = [row.word for row in fine.rows().values()]
    assert sum(word in VERDICTS for word in words) >= 20
    assert len(words) <= 28
