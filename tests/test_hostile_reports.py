"""Damaged reports are dropped onto Runs: each is a run or one sentence, and nothing executes.

Three hundred in `make test`, ten thousand in `make sweep`.
"""

from __future__ import annotations

import functools
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.reports.writing import written
from app.runs.library import Library
from app.window.core.listing import Listing
from app.window.runs.importing import look_inside
from experiments.core.problems import UserError
from experiments.engine.recording import read
from tests import hostile
from tests.app.recordings import CATALOGUE, burst
from tests.app.reports.made import WORDS, report
from tests.test_hostile import FEW

LONGEST_S = 5.0  # of the processor's time: others may use the machine
MANY = settings(FEW, max_examples=120)
THOUSAND = settings(FEW, max_examples=1000, derandomize=False)

PIECES = [
    b"</script>", b"<script>alert(1)</script>", b"<!--", b"-->", b"<![CDATA[", b"\0", b"\xff\xfe",
    b"\\u003c/script\\u003e", b"{" * 3000, b"[" * 3000, b"9" * 5000, b"NaN", b"null", b"\n" * 50,
    b'"lines":[', b'"lines":null', b'"run":{}', b'"version":99', b"<?xml ?>", b"<!DOCTYPE",
    b"\x1f\x8b",
    b'<script type="application/json" id="coreopsis-data">', b"&lt;", b"<svg onload=alert(1)>",
    b'"notes":{"guess":{"kind":"choice","at":[1e999]}}', b"../../etc/passwd", b"\xed\xa0\x80",
    hostile.EVIL.encode("utf-8", "replace"), b"<" * 70_000,
]  # fmt: skip
PLACES = st.floats(0, 1)
DAMAGES = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), PLACES, st.binary(min_size=1, max_size=6)),
        st.tuples(st.just("put"), PLACES, st.sampled_from(PIECES)),
        st.tuples(st.just("put"), PLACES, st.binary(max_size=40)),
        st.tuples(st.just("replace"), st.sampled_from(PIECES), st.sampled_from(PIECES)),
        st.tuples(st.just("cut"), PLACES, st.none()),
        st.tuples(st.just("drop"), PLACES, st.integers(1, 5000)),
        st.tuples(st.just("twice"), PLACES, st.none()),
    ),
    min_size=1,
    max_size=5,
)
# Near the beginning there are the head and the first line, which are worth more attempts.
NEAR = st.sampled_from([1.0, 0.3, 0.05])
KINDS = st.sampled_from(["html", "json"])


@functools.cache
def whole(kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        made = burst(noise=(1.0, 1.1, 0.9))
        return written(report(Path(folder), made), kind, WORDS)


@pytest.fixture(scope="module")
def listing(qapp) -> Listing:
    return Listing(WORDS, CATALOGUE, {})


def damaged(kind: str, near: float, damages) -> bytes:
    data = whole(kind)
    for how, at, what in damages:
        place = int(at * near * len(data)) if isinstance(at, float) else 0
        if how == "flip":
            data = data[:place] + what + data[place + len(what) :]
        elif how == "put":
            data = data[:place] + what + data[place:]
        elif how == "replace":
            data = data.replace(at, what, 1)
        elif how == "cut":
            data = data[:place]
        elif how == "drop":
            data = data[:place] + data[place + what :]
        else:
            data = data[place:] + data
    return data


def feed(listing: Listing, kind: str, near: float, damages) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"x.coreopsis.{kind}")
        path.write_bytes(damaged(kind, near, damages))
        start_s = time.process_time()
        (brought,) = look_inside([path], (), WORDS, listing)
        library = Library(Path(folder, "data"))
        if brought.inside.problem:
            assert brought.inside.problem.endswith(".")
            assert "\n" not in brought.inside.problem
            with pytest.raises(UserError):
                library.adopt(path)
        else:
            kept = library.adopt(path)
            assert kept.parent == Path(folder, "data", "runs")
            assert read(kept) == read(path)
            (listed,) = library.runs()
            assert listed.problem is None
            listing.details(listed)
        library.close()
        assert time.process_time() - start_s < LONGEST_S


@MANY
@given(KINDS, NEAR, DAMAGES)
def test_a_damaged_report_is_a_run_or_a_sentence(listing, kind, near, damages):
    feed(listing, kind, near, damages)


def test_a_whole_one_is_a_run(listing, tmp_path):
    for kind in ("html", "json"):
        path = tmp_path / f"x.coreopsis.{kind}"
        path.write_bytes(whole(kind))
        (brought,) = look_inside([path], (), WORDS, listing)
        assert not brought.inside.problem
        assert brought.experiment == "burst-random"


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(10))
@THOUSAND
@given(kind=KINDS, near=NEAR, damages=DAMAGES)
def test_ten_thousand_damaged_reports_are_runs_or_sentences(listing, thousand, kind, near, damages):
    feed(listing, kind, near, damages)
