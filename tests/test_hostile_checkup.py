"""Damaged and absurd files of checkups are fed to the reader, the words and the terminal.

A few hundred in `make test`, ten thousand in `make sweep`.
"""

from __future__ import annotations

import contextlib
import copy
import json
import re
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.checkup.in_words import facts, row_text
from app.context import Context
from app.terminal.checkup import tell
from experiments.checkup.result import Expected, Kind, Result, Row, Word, decode, encode
from experiments.checkup.rules import Source, Stage, rules
from experiments.core import words
from experiments.core.problems import UserError
from machine.model import to_json
from tests import hostile
from tests.experiments.checkup.cases import CASES
from tests.experiments.checkup.made import whole, workstation
from tests.hostile import EVIL, LEAVES, OBEYED, told

WORDS = words.load()
WHOLE = replace(whole(*CASES[::12]), trace=({"t_s": 0.5},))
PLAIN = json.loads(encode(WHOLE))
pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
QUICKLY = [Phase.explicit, Phase.reuse, Phase.generate]
FEW = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    phases=QUICKLY,
    suppress_health_check=[HealthCheck.too_slow],
)
FEWER = settings(FEW, max_examples=40)
THOUSAND = settings(FEW, max_examples=1000, derandomize=False)

CHANGES = st.lists(hostile.CHANGES, min_size=1, max_size=6)
CUTS = st.tuples(st.integers(0, 10**6), st.binary(max_size=4))  # where, and what comes there
TEXTS = st.sampled_from(["", EVIL, f"gpu0.{EVIL}", "gpu0", "N" * 5000, "[red]a[/", "{a}", "a\nb"])
REASONS = st.sampled_from(sorted({case.reason for case in CASES})) | TEXTS
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = ("key", "problem", "names", "example", "why", "how", "part", "count", "spread_fraction",
         "line", "lines", "found")  # fmt: skip
RATES = ("memory_bytes", "best_bytes_per_s", "window_duration", "others_fraction")
VALUES = st.dictionaries(
    st.sampled_from(NAMES + RATES) | TEXTS,
    LEAVES | TEXTS | NUMBERS,
    max_size=6,
)
EXPECTED = st.builds(
    Expected,
    source=st.sampled_from(Source),
    word=st.sampled_from(Word),
    **dict.fromkeys(("value", "ok", "floor", "low", "high"), st.none() | NUMBERS),
)
ROWS = st.builds(
    Row,
    rule=st.sampled_from([each.id for each in rules().rule]) | TEXTS,
    version=st.integers(),
    stage=st.sampled_from(Stage),
    word=st.sampled_from(Word),
    reason=REASONS,
    part=TEXTS,
    values=VALUES,
    samples=st.lists(NUMBERS, max_size=9).map(tuple),
    unit=st.sampled_from(["bytes/s", "flop/s", "per_s", ""]) | TEXTS,
    expected=st.lists(EXPECTED, max_size=3).map(tuple),
    runs=st.integers(),
)
RESULTS = st.builds(
    Result,
    id=TEXTS,
    kind=st.sampled_from(get_args(Kind)),
    at=TEXTS | st.just("2026-05-04T03:02:01+00:00"),
    seconds=NUMBERS,
    rules_version=st.integers(),
    name=TEXTS,
    machine=VALUES | st.just(to_json(workstation())),
    rows=st.lists(ROWS, max_size=4).map(tuple),
)


def feed(data: bytes) -> None:
    """Read a damaged file: it is refused in a sentence, or shown."""
    try:
        result = decode(data, f"a{EVIL}.json")
    except UserError as error:
        problem = error.problem
        said = WORDS.say(f"problems.{problem.key}", problem.values)
        assert said.endswith((".", "…"))
        assert not {"{name}", "{reason}"} & set(re.findall(r"{\w+}", said))
        assert not OBEYED.search(said)
    else:
        show(result)


def show(result: Result) -> None:
    """Show a checkup in window and terminal; nothing in it may be obeyed."""
    for row in result.rows:
        for text in row_text(WORDS, row):
            assert not (found := OBEYED.search(text)), (found, text[:200])
    for text in facts(WORDS, result):
        assert not OBEYED.search(text)
    with told():
        tell(Context().console, WORDS, result, WHOLE)


def cut(cuts: list[tuple[int, bytes]]) -> bytes:
    data = encode(WHOLE)
    for place, what in cuts:
        at = place % len(data)
        data = data[:at] + what + data[at + len(what) + place % 3 :]
    return data[: cuts[0][0] * 7 % (2 * len(data)) or None]


def changed(changes) -> bytes:
    data = hostile.damaged(copy.deepcopy(PLAIN), changes)
    with contextlib.suppress(ValueError):  # a number of 4,000 digits
        return json.dumps(data).encode(errors="surrogatepass")
    return b"9" * 5000


@FEW
@given(CHANGES)
def test_a_damaged_checkup_is_told_or_refused(changes):
    feed(changed(changes))


@FEW
@given(st.lists(CUTS, min_size=1, max_size=4))
def test_a_torn_checkup_is_told_or_refused(cuts):
    feed(cut(cuts))


@FEWER
@given(RESULTS)
def test_an_absurd_checkup_is_told(result):
    show(result)


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(5))
@THOUSAND
@given(changes=CHANGES)
def test_a_thousand_damaged_checkups_are_told_or_refused(thousand, changes):
    feed(changed(changes))


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(5))
@THOUSAND
@given(cuts=st.lists(CUTS, min_size=1, max_size=4))
def test_a_thousand_torn_checkups_are_told_or_refused(thousand, cuts):
    feed(cut(cuts))


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(2))
@THOUSAND
@given(result=RESULTS)
def test_a_thousand_absurd_checkups_are_told(thousand, result):
    show(result)
