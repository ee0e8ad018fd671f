"""The recordings that come with the program."""

from __future__ import annotations

import gzip
import json

import pytest
from msgspec.structs import replace
from msgspec.structs import replace as replaced

from app.lecture.lectures import SHIPPED as LECTURES
from app.report import sentence
from app.runs.library import Library, meant
from experiments.core import marks, words
from experiments.core.catalogue import Catalogue
from experiments.core.views import Bars, Lines, Timeline
from experiments.engine.messages import Outcome
from experiments.engine.recording import read
from tests.shipped import SHIPPED
from tests.tools.recordings import anew

CATALOGUE = Catalogue()
MOST_BYTES = 16 * 2**20  # all of them together


@pytest.fixture(scope="module", params=[*SHIPPED.values()], ids=[*SHIPPED])
def shipped(request):
    """Return an experiment and its recording, read once for all tests of it."""
    return CATALOGUE.load(request.param.parent.name.replace("_", "-")), read(request.param)


def test_all_together_are_small():
    assert sum(path.stat().st_size for path in SHIPPED.values()) < MOST_BYTES


def test_a_recording_is_whole_and_says_today_what_it_said_then(shipped):
    experiment, recording = shipped

    assert recording.started.experiment == experiment.id
    assert recording.started.experiment_version == experiment.version
    assert not recording.started.quick
    assert recording.finished.outcome is Outcome.COMPLETED
    assert recording.notes == ()
    today, then = recording.finding(experiment), recording.finished.finding
    assert replaced(today, values={}) == replaced(then, values={})
    assert today.values == pytest.approx(then.values, rel=1e-9), "Pythons add up differently"


def test_a_recording_written_anew_keeps_its_rows_and_says_what_is_said_today(tmp_path):
    old = read(SHIPPED["pinned"])
    started = json.loads(gzip.decompress(SHIPPED["pinned"].read_bytes()).splitlines()[0])
    started["machine"]["sources"]["gpus[*].uuid"] = "NVML"  # as older versions wrote it
    lines = gzip.decompress(SHIPPED["pinned"].read_bytes()).splitlines(keepends=True)
    lines[0] = json.dumps(started).encode() + b"\n"
    lines[-1] = lines[-1].replace(b"pinned_pays_back", b"pinned_never_pays")
    stale = tmp_path / "stale.coreopsis.jsonl.gz"
    stale.write_bytes(gzip.compress(b"".join(lines)))
    stale.write_bytes(gzip.compress(anew(stale)))

    new = read(stale)
    assert new.notes == ()
    assert new.rows == old.rows
    found, before = new.finished.finding, old.finished.finding
    assert replace(found, values={}) == replace(before, values={})
    assert found.values == pytest.approx(before.values, rel=1e-9)  # sum() is exacter from 3.12 on
    assert "gpus[*].uuid" not in new.started.machine["sources"]


def test_what_was_stopped_after_two_rounds_blames_no_machine_and_denies_no_difference(shipped):
    experiment, recording = shipped
    rows = {
        table: [row for row in rows if row.row.get("repeat", 0) < 2]
        for table, rows in recording.rows.items()
    }
    finding = replace(recording, rows=rows).finding(experiment)

    said = sentence(words.load("en"), experiment, finding)
    for claim in ("quiet", "clearly", "beyond noise", "no difference beyond", "by chance"):
        assert claim not in said


def test_what_has_a_name_has_one_colour_in_all_plots_of_a_page(shipped):
    experiment, recording = shipped
    places = {}
    for view in experiment.plots:
        rows = [row.row for row in recording.rows.get(view.table, ())]
        match view:
            case Lines(series=str(named), only=only):
                names = [row[named] for row in rows if only in (None, row[named])]
            case Timeline(group=str(named)):
                names = [row[named] for row in rows]
            case Bars(label=named, order=(_, *_)):
                names = [row[named] for row in rows]
            case _:
                continue
        for name, place in marks.colours(view, names).items():
            places.setdefault(name, set()).add(place)

    assert {name: each for name, each in places.items() if len(each) > 1} == {}


def test_no_recording_names_an_owner():
    for path in (*SHIPPED.values(), *LECTURES.glob("*.gz")):
        with gzip.open(path) as file:
            started = json.loads(file.readline())

        text = json.dumps([started["machine"], started["environment"], started["params"]])
        for owned in ("/home/", "/root/", "/Users/", 'uuid": "'):
            assert owned not in text, path


def test_an_experiments_id_means_its_recording(tmp_path):
    library = Library(tmp_path)

    assert meant("cache-ladder", library, CATALOGUE) == SHIPPED["cache-ladder"]
    assert meant("nothing", library, CATALOGUE).name == "nothing"
    assert CATALOGUE.recording("nothing") is None
