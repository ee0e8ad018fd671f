"""The report of a checkup."""

from msgspec.structs import replace

from app.checkup.compare import compare
from app.checkup.in_words import day
from app.reports.checkup_report import checkup_report
from app.reports.document import Facts
from app.reports.privacy import Include
from experiments.core import words
from tests.app.checkup.made import bandwidth, checkup, fact

WORDS = words.load()


def conditions(document):
    """The last facts of all."""
    return dict([part for part in document.parts if isinstance(part, Facts)][-1].pairs)


def test_the_date_of_the_baseline_is_that_of_the_baseline():
    before = replace(checkup(id="old"), at="2026-01-02T03:04:05+00:00")
    now = checkup(id="new", baseline="old")
    told = conditions(checkup_report(WORDS, now, Include(), compare(before, now)))
    assert told[WORDS.say("checkup.sources.baseline")] == day(before.at)


def test_without_the_baseline_itself_no_date_is_told():
    now = checkup(id="new", baseline="old")
    for compared in (None, compare(checkup(fact(), bandwidth(), id="other"), now)):
        told = conditions(checkup_report(WORDS, now, Include(), compared))
        assert WORDS.say("checkup.sources.baseline") not in told
