from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import pytest

from app.context import Context
from app.reports.pictures import draw_headline
from experiments.python_at_work.gil_threads.experiment import EXPERIMENT, Slice, Timing

ROWS = [
    Timing(method=method, python="3.11", repeat=repeat, wall_s=wall_s + repeat / 100, gil=True)
    for method, wall_s in (("serial", 0.3), ("threads", 0.31), ("processes", 0.16))
    for repeat in range(3)
]
TABLES = {"timings": ROWS, "slices": [], "wakes": []}


@pytest.fixture
def context(machine_file) -> Context:
    return Context(fake_machine=machine_file)


def test_the_headline_view_is_drawn_with_what_was_asked_above_it(qapp, context, tmp_path):
    path = tmp_path / "x.svg"

    problem = draw_headline(context, EXPERIMENT, TABLES, {"serial_s": 0.31}, path)

    assert problem is None
    texts = {node.tag.rpartition("}")[2]: node.text for node in ET.parse(path).getroot()}
    assert texts["title"] == "Time until all jobs are done"
    assert "threads: 320 ms." in texts["desc"]


def test_a_run_without_a_row_is_a_picture_that_says_so(qapp, context, tmp_path):
    path = tmp_path / "x.svg"

    assert draw_headline(context, EXPERIMENT, {"timings": []}, {}, path) is None
    assert "No data yet." in path.read_text(encoding="utf-8")


def test_where_the_headline_has_no_rows_the_next_view_with_some_is_drawn(qapp, context, tmp_path):
    path = tmp_path / "x.svg"
    job = Slice(method="threads", python="3.11", worker=0, start_s=0.0, end_s=1.0)

    draw_headline(context, EXPERIMENT, {**TABLES, "timings": [], "slices": [job]}, {}, path)

    texts = {node.tag.rpartition("}")[2]: node.text for node in ET.parse(path).getroot()}
    assert (
        texts["title"]
        == "When each worker really ran, in the first round; in the gaps it had to wait"
    )
    assert "No data" not in texts["desc"]


def test_without_qt_one_sentence_says_what_to_install(context, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PySide6.QtCore", None)

    problem = draw_headline(context, EXPERIMENT, TABLES, {}, tmp_path / "x.svg")

    assert problem is not None
    assert problem.key == "svg_needs_qt"
    assert not (tmp_path / "x.svg").exists()


def test_a_picture_that_cannot_be_written_is_a_sentence(qapp, context, tmp_path):
    problem = draw_headline(context, EXPERIMENT, TABLES, {}, tmp_path / "no" / "x.svg")

    assert problem is not None
    assert problem.key == "svg_not_writable"
