from __future__ import annotations

import pytest

from experiments.checkup.checks import CHECKS, rows_of
from experiments.checkup.result import Word, decode, encode
from experiments.checkup.rules import rules
from machine.system.kernel_log import KernelLog, LogEntry
from tests.cases import in_one
from tests.experiments.checkup.cases import CASES
from tests.experiments.checkup.cases.stays import load
from tests.experiments.checkup.made import evidence, rule, whole, workstation

F, L, P, U, A = Word.FINE, Word.LOOK, Word.PROBLEM, Word.UNCHECKED, Word.ABSENT
# The words that a rule can say; each that is missing has its reason.
POSSIBLE = {
    "devices": {F, L, P, U},  # a machine always has parts
    "kernel-log": {F, L, P, U},  # a kernel always has a log
    "memory-errors": {F, L, P, U},  # the kernel does not tell missing ECC from hidden counters
    "gpu-errors": {F, L, P, U, A},
    "torch-works": {F, L, P, U, A},
    "frameworks": {F, L, P, U, A},
    "memory-speed": {F, L, U},  # slow memory works; a machine always has memory
    "memory-channels": {F, L, U, A},  # as slow memory does
    "gpu-link": {F, L, P, U, A},
    "nvlinks": {F, L, P, U, A},
    "memory-bandwidth": {F, L, P, U, A},
    "cores": {F, L, P, U, A},
    "disk": {F, L, P, U, A},
    "gpu-copy": {F, L, P, U, A},
    "gpu-memory": {F, L, P, U, A},
    "gpu-products": {F, L, P, U, A},
    "gpu-pairs": {F, L, P, U, A},
    "identical": {F, P, U},  # a wrong bit is no matter of degree; the processor always computes
    "patterns": {F, P, U, A},  # a wrong bit is no matter of degree
    "training": {F, L, P, U, A},
    "sustained": {F, L, P, U, A},
    "throttling": {F, L, P, U, A},
}


def test_every_rule_has_a_check_and_its_words():
    named = {each.id for each in rules().rule}

    assert named == CHECKS.keys() == POSSIBLE.keys()
    assert {name: {c.word for c in CASES if c.rule == name} for name in named} == POSSIBLE


@in_one("name", POSSIBLE)
def test_machines_are_judged(name):
    expected = rule(name)
    cases = [case for case in CASES if case.rule == name]
    rows = [case.row() for case in cases]

    assert [
        (number, case.word, case.reason, row)
        for number, (case, row) in enumerate(zip(cases, rows, strict=True))
        if (row.word, row.reason) != (case.word, case.reason)
    ] == []
    assert {(row.rule, row.version, row.stage) for row in rows} == {
        (name, expected.version, expected.stage)
    }


@in_one("name", POSSIBLE)
def test_a_rule_says_something_of_a_machine_of_which_nothing_is_known(name):
    rows = rows_of(rule(name), evidence(workstation()))

    assert rows
    assert all(row.reason != "stumbled" for row in rows)


def test_a_check_that_stumbles_says_so_and_takes_no_other_with_it(caplog):
    (row,) = rows_of(rule("devices"), evidence(None))

    assert (row.word, row.reason) == (Word.UNCHECKED, "stumbled")
    assert "devices" in caplog.text


def test_every_row_survives_its_file():
    result = whole(*CASES)

    again = decode(encode(result), "checkup.json")

    assert encode(again) == encode(result)
    assert [row.word for row in again.rows] == [case.word for case in CASES]


@pytest.mark.parametrize(("sensor", "part"), [("package 0", "cpu"), ("cuda:0", "gpu0")])
def test_the_heat_of_one_device_is_not_told_of_another(sensor, part):
    """A virtual machine has no sensor of its processor, and its GPU has one."""
    rows = rows_of(rule("sustained"), load(celsius=62.0, sensor=sensor)())
    told = {row.part: row.values.get("hottest_celsius") for row in rows}
    assert told == {"cpu": None, "gpu0": None} | {part: 62.0}


def test_of_the_last_day_only_its_lines_are_counted_and_the_newest_is_told():
    entry = LogEntry(
        kind="xid",
        number=79,
        lines=9,
        recent_lines=2,
        newest_s=60.0,
        serious=True,
        examples=("an old one", "one of today", "the newest"),
    )
    (row,) = rows_of(
        rule("kernel-log"), evidence(workstation(), kernel_log=KernelLog(found=(entry,)))
    )
    assert row.reason == "recent"
    assert row.values["count"] == 2
    assert row.values["example"] == "the newest"


def test_an_error_of_nvidia_that_is_newer_than_the_list_is_not_called_harmless():
    entry = LogEntry(kind="xid", number=199, lines=1, recent_lines=1, newest_s=60.0)
    (row,) = rows_of(
        rule("kernel-log"), evidence(workstation(), kernel_log=KernelLog(found=(entry,)))
    )
    assert (row.word, row.reason) == (Word.LOOK, "unlisted")
    assert row.values["page"].startswith("https://docs.nvidia.com/")
