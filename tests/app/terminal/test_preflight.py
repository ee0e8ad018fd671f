"""`coreopsis preflight` from outside: exit codes, rows, and one document of JSON."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest
from msgspec.structs import replace

from app.lecture.file import Item, Lecture, encode
from experiments.core import words
from experiments.engine.lock import Lock
from experiments.engine.recording import read
from tests.app.recordings import burst
from tests.processes import until

ENGLISH = words.load("en")
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

CALLS = Item(
    experiment="start-cost", set={"methods": ["call", "thread"], "rounds": 2, "sample_s": 0.001}
)
READY = Item(experiment="isolation", minutes=5.0)  # it comes with a recording
RUNS = ("ready", "busy")  # other programs may use the machine of the tests
NO_GPU = Item(experiment="p2p")  # which needs two, and has no recording


@pytest.fixture
def lecture(coreopsis):
    """Return what writes a lecture of these items."""

    def write(*items, title="Two things"):
        path = coreopsis.folder / "x.coreopsis-lecture.toml"
        path.write_bytes(encode(Lecture(title=title, item=items)))
        return path

    return write


def test_two_items_are_ready_and_one_of_them_is_recorded(coreopsis, inside, lecture):
    said = inside("preflight", lecture(READY, CALLS))

    busy = said.out.count(ENGLISH.text("preflight.busy").partition("{")[0])
    assert (said.code, said.err) == (4 if busy else 0, "")
    assert said.lines[0] == "Two things"
    key = "preflight.some_ready" if busy else "preflight.all_ready"
    assert said.lines[-1] == ENGLISH.say(key, {"count": 2, "ready": 2 - busy})
    rows = [line for line in said.lines if "isolation" in line or "start-cost" in line]
    assert [row.split()[0] for row in rows] == ["1", "2"]
    assert max(map(len, said.lines)) <= 80
    (path,) = (coreopsis.folder / "x.recordings").iterdir()
    assert read(path).started.params["methods"] == ["call", "thread"]
    assert coreopsis.runs == []  # what is tried is no run of the library


def test_the_document_says_all_of_each_item(coreopsis, inside, lecture):
    wrong = replace(CALLS, recording="kept.jsonl")
    burst().write(coreopsis.folder / "kept.jsonl")
    said = inside("preflight", "--json", lecture(wrong, NO_GPU, Item(experiment="nobody")))
    told = json.loads(said.out)
    ready, gpu, unknown = told["items"]

    assert (said.code, said.err) == (1, "")
    assert (told["format"], told["version"]) == ("coreopsis.preflight", 1)
    assert (told["title"], told["whole"]) == ("Two things", True)
    assert (ready["place"], ready["experiment"]) == (1, "start-cost")
    assert ready["mark"] in RUNS
    assert (ready["disturbance"] is None) == (ready["mark"] == "ready")
    assert ready["seconds"] > 0
    assert ready["fallback"]["origin"] == "made"
    assert ready["fallback"]["same_settings"] is True
    assert [fault["key"] for fault in ready["faults"]] == ["fallback_of_other"]
    assert (gpu["mark"], gpu["seconds"], gpu["fallback"]) == ("neither", None, None)
    assert gpu["reason"]["key"] == "needs_two_gpus"
    assert gpu["reason"]["text"]
    assert unknown["reason"]["text"].startswith("There is no experiment called 'nobody'")


@pytest.mark.parametrize(
    ("item", "mark"),
    [(replace(CALLS, minutes=0.0001), "long"),
     (Item(experiment="amdahl", set={"rounds": 0}), "recording"),
     (replace(CALLS, recording="none.jsonl"), "ready")],
    ids=["long", "recording", "fault"],
)  # fmt: skip
def test_what_is_to_be_looked_at_has_a_code_of_its_own(inside, lecture, item, mark):
    said = inside("preflight", "--json", lecture(item))

    assert said.code == 4
    (found,) = json.loads(said.out)["items"]
    assert found["mark"] in (RUNS if mark == "ready" else (mark,))


def test_what_can_be_neither_run_nor_shown_fails(inside, lecture):
    said = inside("preflight", lecture(NO_GPU))

    assert said.code == 1
    assert ENGLISH.say("preflight.neither") in said.out
    assert ENGLISH.say("preflight.nothing") in said.out
    assert ENGLISH.say("preflight.some_ready", {"ready": 0, "count": 1}) in said.out


def test_what_strangers_wrote_is_not_obeyed_by_the_terminal(inside, lecture):
    evil = "\x1b[2J\u202e"
    said = inside("preflight", lecture(Item(experiment=evil), title=evil))

    assert said.code == 1
    assert "\\u001b[2J" in said.out
    assert "\u202e" not in said.out


@pytest.mark.parametrize(
    ("text", "key"),
    [(None, "recording_unreadable"), ("x = 1", "no_lecture"), ("x = ", "lecture_refused"),
     ('format = "coreopsis.lecture"', "lecture_empty")],
)  # fmt: skip
def test_what_is_no_lecture_is_one_sentence(inside, coreopsis, text, key):
    path = coreopsis.folder / "x.toml"
    if text is not None:
        path.write_text(text)
    said = inside("preflight", path)

    assert said.code == 2
    start = ENGLISH.text(f"problems.{key}").replace("{name}", path.name).partition("{")[0]
    assert said.sentence.startswith(start)


def test_a_machine_from_a_file_is_not_measured(inside, lecture, machine_file):
    said = inside("--fake-machine", machine_file, "preflight", lecture(READY))

    assert said.code == 2
    assert said.sentence == ENGLISH.say("problems.fake_machine_measured")


@posix
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["rows", "json"])
def test_ctrl_c_ends_it_while_it_waits_for_another(coreopsis, lecture, options):
    lock = Lock(coreopsis.lock)
    assert lock.take({"experiment": "burst-random", "since": "12:34:56"})
    process = coreopsis.start("preflight", lecture(NO_GPU, CALLS), *options)
    assert b"burst-random" in process.stderr.readline()
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
    said = coreopsis.end(process)
    lock.close()

    assert said.code == 130
    if options:
        told = json.loads(said.out)
        assert (told["whole"], len(told["items"])) == (False, 1)
    else:
        assert ENGLISH.say("preflight.stopped", {"count": 2, "tried": 1}) in said.err
    assert until(lambda: not coreopsis.living())
