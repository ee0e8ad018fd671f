"""The content that leaves with a report, and the content that stays."""

from __future__ import annotations

import dataclasses
import getpass
import json
import platform
from pathlib import Path

import msgspec
import pytest

from app.reports.document import Document
from app.reports.privacy import Include, clean, clean_lines, for_html, without_names
from app.reports.run_report import source_of
from app.reports.writing import SUFFIXES, as_text
from app.runs.run_notes import RunNotes
from experiments.engine.recording import ALTERED, read, recording_of
from tests.app.recordings import CATALOGUE, Made, burst, threads
from tests.app.reports.made import NOTES, WORDS, report
from tests.hostile import EVIL, OBEYED

TEXTS = [kind for kind in SUFFIXES if kind != "pdf"]
SECRETS = (
    "alice",
    "darkstar",
    "10.1.2.3",
    "00:1b:44:11:3a:b7",
    "/srv/thesis",
    "S3CR3T-42",
    "/home",
)


@pytest.fixture
def alice(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/alice"))
    monkeypatch.setattr(getpass, "getuser", lambda: "alice")
    monkeypatch.setattr(platform, "node", lambda: "darkstar.example.org")


@pytest.fixture
def named() -> Made:
    """Return a run that names its owner in every place that takes a name."""
    lines = [json.loads(line) for line in threads().lines]
    lines[0]["machine"]["cpu"]["model"] = "CPU of darkstar"
    lines[0]["machine"]["serial"] = "S3CR3T-42"
    lines[0]["machine"]["storage"] = [{"name": "nvme0n1", "serial_number": "S3CR3T-42"}]
    lines[0]["machine"]["sources"] = {"cpu.model": "/home/alice/root/proc/cpuinfo"}
    lines[0]["environment"] = {
        "python": "3.11 of alice",
        "variables": {"X": "/srv/thesis/x", "PROXY": "10.1.2.3:80", "/home/alice": "y"},
        "host": "darkstar",
    }
    lines.insert(1, {"type": "note", "key": "machine_was_quiet", "values": {"who": "alice"}})
    lines[-1]["problem"] = {
        "key": "experiment_raised",
        "values": {"error": "no /srv/thesis/data"},
        "detail": 'File "/home/alice/x.py" 00:1b:44:11:3a:b7',
    }
    return Made("named", tuple(json.dumps(line).encode() + b"\n" for line in lines))


NAMING_NOTES = RunNotes(name="darkstar at night", tags=["alice"], note="In /srv/thesis of alice.")
EVERYTHING = Include(note=True, name=True)


@pytest.mark.parametrize("kind", TEXTS)
def test_nothing_names_anybody(alice, named, tmp_path, kind, qapp):
    document = report(tmp_path, named, EVERYTHING, NAMING_NOTES)

    text = as_text(document, kind, WORDS).lower()

    assert [secret for secret in SECRETS if secret.lower() in text] == []
    shown = text.replace("\\", "").replace("u003c", "<").replace("u003e", ">")
    assert "<host>" in shown.replace("&lt;", "<").replace("&gt;", ">")


def test_who_wants_it_sends_names_too(alice, named, tmp_path, qapp):
    include = dataclasses.replace(EVERYTHING, names=True)
    text = as_text(report(tmp_path, named, include, NAMING_NOTES), "json", WORDS)
    assert [secret for secret in SECRETS if secret not in text] == []


def test_a_run_is_known_to_have_names_or_not(alice, named, tmp_path):
    assert source_of(named.write(tmp_path / "a.coreopsis.jsonl"), CATALOGUE).has_names
    plain = source_of(threads().write(tmp_path / "b.coreopsis.jsonl"), CATALOGUE)
    assert not plain.has_names


def test_note_name_and_tags_stay_unless_they_are_let_out(tmp_path, qapp):
    for kind in TEXTS:
        kept = as_text(report(tmp_path, include=Include()), kind, WORDS).replace("\\", "")
        assert NOTES.name not in kept
        assert "lecture 3" not in kept
        assert "Another" not in kept
        sent = as_text(report(tmp_path), kind, WORDS).replace("\\", "")
        assert NOTES.name in sent
        assert "Another" in sent


def test_a_prediction_and_the_rows_can_be_left_out(tmp_path, qapp):
    document = report(tmp_path, include=Include(prediction=False, data=False))
    html = as_text(document, "html", WORDS)
    assert WORDS.say("lesson.you_predicted") not in html
    assert "coreopsis.run" not in html
    assert WORDS.say("report.reopens") not in html


def test_the_lines_that_leave_are_the_run_with_a_checksum_that_holds(tmp_path):
    path = burst().write(tmp_path / "a.coreopsis.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)

    again = recording_of("x", (bytes(line) + b"\n" for line in clean_lines(lines)))

    assert again == read(path)


def test_an_altered_run_stays_altered(tmp_path):
    path = burst().write(tmp_path / "a.coreopsis.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"order":"random"', b'"order":"sequential"', 1))
    assert ALTERED in read(path).notes

    document = report(tmp_path, path.read_bytes())
    target = tmp_path / "x.coreopsis.html"
    target.write_text(as_text(document, "html", WORDS))

    assert ALTERED in read(target).notes
    assert WORDS.say(f"notes.{ALTERED}") in " ".join(as_text(document, "text", WORDS).split())


def test_a_run_cut_off_is_reported_as_far_as_it_goes(tmp_path, qapp):
    whole = burst().data

    text = as_text(report(tmp_path, whole[: len(whole) // 2]), "text", WORDS)

    assert WORDS.say("outcomes.lost") in text


def test_rows_of_a_users_own_experiment_are_looked_at_too(alice):
    row = {"type": "row", "n": 0, "t_s": 0.0, "table": "t", "row": {"file": "/srv/thesis/x"}}
    line = msgspec.json.encode(row)
    assert b"thesis" not in bytes(clean_lines([line], is_own=True, is_sealed=False)[0])
    assert b"thesis" in bytes(clean_lines([line], is_sealed=False)[0])


def test_what_is_called_a_serial_number_leaves_in_no_report():
    given = {"serial": 42, "gpu": {"uuid": "GPU-1", "user_name": "x"}, "mac": ["a"], "to_host": 1}
    assert without_names(given, str) == {
        "serial": None, "gpu": {"uuid": None, "user_name": None}, "mac": None, "to_host": 1,
    }  # fmt: skip


def test_of_any_report_the_data_is_clean(alice):
    data = {
        "machines": [{"host": "darkstar", "serial": "S3CR3T-42", "from": "/srv/thesis/x", "n": 1}]
    }
    made = Document(title="alice", subtitle="", date="", parts=(), data=data)
    assert clean(made).title == "<user>"
    assert clean(made).data == {
        "machines": [{"host": None, "serial": None, "from": "<folder>", "n": 1}]
    }
    assert clean(made, names=True).data["machines"][0]["host"] == "darkstar"


def test_strangers_command_no_terminal(tmp_path, qapp):
    document = report(tmp_path, notes=RunNotes(note=EVIL[:-1], name=EVIL[:-1]))
    for kind in TEXTS:
        assert not OBEYED.search(as_text(document, kind, WORDS).replace("\n", ""))


def test_json_cannot_end_the_element_that_it_stands_in():
    text = json.dumps({"x": "</script><!-- & \u2028"}, ensure_ascii=False)
    safe = for_html(text)
    assert not {"<", ">", "&", "\u2028"} & set(safe)
    assert json.loads(safe) == json.loads(text)


def test_cleaning_twice_changes_nothing(alice, named, tmp_path, qapp):
    document = report(tmp_path, named, EVERYTHING, NAMING_NOTES)
    assert clean(document) == document
