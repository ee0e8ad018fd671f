from __future__ import annotations

import io
import itertools
import re

import msgspec
import pytest
from rich.console import Console

from app.terminal.parts.draw import EIGHTHS, Draw
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Row, column
from experiments.core.judging.disturbed import Loss, mark
from experiments.core.views import Code, Field, Heatmap, Ruler
from experiments.engine.recording import read
from tests.app.recordings import burst, ladder, threads
from tests.experiments.conftest import small_run as small_run  # a fixture

ENGLISH = words.load("en")
RUNS = {"burst-random": burst, "cache-ladder": ladder, "gil-threads": threads}


def drawn(experiment, view, tables, values=None, *, width=80):
    """Return the lines of a view."""
    console = Console(file=io.StringIO(), width=width, markup=False)
    Draw(console, ENGLISH, experiment).view(view, tables, values or {})
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.mark.parametrize("experiment_id", RUNS)
def test_of_a_run_whose_samples_were_all_disturbed_nothing_is_drawn(tables, experiment_id):
    whole, values = tables(experiment_id)
    experiment = Catalogue().load(experiment_id)
    spoiled = {name: [mark(row, Loss(0.5, 1)) for row in rows] for name, rows in whole.items()}

    for view in experiment.plots:
        assert drawn(experiment, view, spoiled, values) == []


@pytest.fixture
def tables(tmp_path):
    """Return a function from an id to the tables and values of a run."""

    def one(experiment_id):
        path = RUNS[experiment_id]().write(tmp_path / "x.coreopsis.jsonl")
        recording = read(path)
        experiment = Catalogue().load(experiment_id)
        return recording.tables(experiment), recording.finished.finding.values

    return one


@pytest.mark.parametrize("experiment", list(Catalogue()), ids=lambda e: e.id)
def test_every_view_fits_the_width_and_shows_something(small_run, experiment):
    run = small_run(experiment.id)
    rows = run.tables()
    values = experiment.analyse(run.params, rows, run.machine).values
    views = [v for v in experiment.views if not isinstance(v, Field) and rows[v.table]]
    for view, width in itertools.product(views, (60, 100, 200)):
        lines = drawn(experiment, view, rows, values, width=width)

        assert ENGLISH.say(f"{experiment.id}.views.{view.key}") in " ".join(lines)
        assert len(lines) > 2
        assert max(len(line) for line in lines) <= width
        assert "…" not in "".join(lines)  # nothing is cut off


def test_nothing_is_drawn_of_an_empty_table():
    for experiment in Catalogue():
        empty = {name: [] for name in experiment.tables}

        plots = [view for view in experiment.views if not isinstance(view, Code)]
        found = [drawn(experiment, view, empty) for view in plots]
        assert found == [[]] * len(plots), experiment.id


def test_the_longest_bar_belongs_to_the_greatest_value(tables):
    experiment = Catalogue().load("gil-threads")
    rows, values = tables("gil-threads")
    lines = drawn(experiment, experiment.views[2], rows, values)

    bars = {line.split("  ")[0]: line.count("█") for line in lines[2:5]}
    assert list(bars) == ["alone", "beside one thread", "beside two threads"]
    assert bars["alone"] < bars["beside one thread"] < bars["beside two threads"]


def test_bars_of_two_pythons_say_which_and_those_of_one_do_not(tables):
    experiment = Catalogue().load("gil-threads")
    rows, values = tables("gil-threads")
    both = "\n".join(drawn(experiment, experiment.views[0], rows, values))
    only = {**rows, "timings": [row for row in rows["timings"] if row.python == "3.11"]}

    assert re.search(r"^one after another, .*\nPython 3\.13\b", both, re.MULTILINE)
    assert "Python" not in "\n".join(drawn(experiment, experiment.views[0], only, values))


def test_a_value_is_beside_its_bar_with_its_spread(tables):
    experiment = Catalogue().load("gil-threads")
    rows, values = tables("gil-threads")
    lines = drawn(experiment, experiment.views[0], rows, values)

    at = next(at for at, line in enumerate(lines) if line.startswith("Python 3.11"))
    serial = lines[at - 1]  # its name takes two lines
    assert serial.startswith("one after another, ")
    assert "400 ms" in serial
    assert "392 ms to 408 ms" in serial


def test_of_lines_it_is_told_how_far_their_repeats_lie_apart():
    experiment = Catalogue().load("cache-ladder")
    step = experiment.tables["steps"]

    def said(*latencies_s):
        rows = [
            step(size_bytes=2**place, order="random", repeat=repeat, latency_s=latency_s)
            for place, some in enumerate(latencies_s)
            for repeat, latency_s in enumerate(some)
        ]
        return drawn(experiment, experiment.views[0], {"steps": rows})[-1]

    told = "Repeats of one number differ by 25 % (median), at most 50 %."
    assert said([1.0, 1.1], [2.0, 2.5], [4.0, 5.0, 6.0]) == told
    assert not said([1.0], [2.0]).startswith("Repeats")
    assert not said([1.0, 1.1], [2.0], [3.0]).startswith("Repeats")  # of one alone
    assert not said([1.0, 1.0]).startswith("Repeats")  # computed, not measured


def test_limit_lines_are_named_in_words_where_their_value_is_known(tables):
    experiment = Catalogue().load("cache-ladder")
    rows, values = tables("cache-ladder")

    with_values = drawn(experiment, experiment.views[0], rows, values)
    assert with_values[-1] == (
        "┄ L1 32 KiB · L2 1 MiB · L3 32 MiB · in order, at the largest size 1 ns"
    )
    assert not any(line.startswith("┄") for line in drawn(experiment, experiment.views[0], rows))


def test_lanes_show_when_each_worker_ran(tables):
    experiment = Catalogue().load("gil-threads")
    rows, values = tables("gil-threads")
    lines = drawn(experiment, experiment.views[1], rows, values)

    first, second, *_ = (line.split()[-1] for line in lines[2:] if "█" in line)
    assert first.index("█") == 0
    assert first.rindex("█") < second.index("█") + 2  # one after the other
    assert "0 to 400 ms" in lines[-2]
    assert lines[-1] == "█ at work, ▒ part of the time, · not"


def test_each_group_of_lanes_is_named_once_and_its_lanes_follow(tables):
    experiment = Catalogue().load("gil-threads")
    rows, values = tables("gil-threads")
    own = {**rows, "slices": [row for row in rows["slices"] if row.python == "3.11"]}
    lines = drawn(experiment, experiment.views[1], own, values)

    labels = [line[:24].strip() for line in lines[2:-2]]
    assert labels == ["one after another", "", "threads", ""]


def test_a_line_of_many_points_is_thinned_but_keeps_its_ends(tables):
    experiment = Catalogue().load("cache-ladder")
    rows, values = tables("cache-ladder")
    lines = drawn(experiment, experiment.views[0], rows, values)

    sizes = [line.split("  ")[0].strip() for line in lines[3:-1]]
    assert len(sizes) <= 24
    assert lines[3].lstrip().startswith("4 KiB")
    assert lines[-2].lstrip().startswith("256 MiB")


class Cell(Row, kw_only=False):
    a: str
    b: str
    s: float = column(unit="s")


ODD = msgspec.structs.replace(Catalogue().load("gil-threads"), tables={"cells": Cell})


def test_a_heatmap_is_a_table_of_its_numbers_in_the_order_of_the_window():
    view = Heatmap(key="k", table="cells", row="a", column="b", value="s")
    rows = [Cell("x", "y", 1.5e-6), Cell("x", "z", 2.5e-6), Cell("w", "y", 3.5e-6)]

    lines = drawn(ODD, view, {"cells": rows})

    assert lines[2].split() == ["y", "z"]
    assert lines[3].split("  ")[0] == "w"
    assert "3.50 µs" in lines[3]
    assert "1.50 µs" in lines[4]
    assert "2.50 µs" in lines[4]


def test_a_ruler_is_logarithmic_and_sorted():
    view = Ruler(key="k", table="cells", label="a", value="s")
    rows = [Cell("slow", "", 1.0), Cell("fast", "", 1e-9), Cell("middle", "", 1e-4)]

    lines = drawn(ODD, view, {"cells": rows})

    assert "(logarithmic)" in lines[2]
    assert [line.split()[0] for line in lines[3:]] == ["fast", "middle", "slow"]
    assert set(lines[3]) & set(EIGHTHS[1:])  # the least is to be seen, too


def test_a_picture_that_moves_is_left_to_the_window():
    assert drawn(ODD, Field(key="k", table="cells"), {"cells": [Cell("", "", 1.0)]}) == []


def test_a_value_of_nothing_has_no_bar_and_no_error():
    view = Ruler(key="k", table="cells", label="a", value="s")

    assert drawn(ODD, view, {"cells": [Cell("x", "", 0.0)]})[3].split() == ["x", "0", "s"]


def test_many_lines_are_drawn_below_one_another_and_none_is_lost(tables):
    experiment = Catalogue().load("start-cost")
    view = experiment.views[1]
    row = experiment.tables["starts"]
    methods = experiment.params().methods
    rows = [row(method=m, repeat=0, count=1, each_s=2e-3, all_s=2.25e-3) for m in methods]

    text = drawn(experiment, view, {"starts": rows})

    assert sum(line.count("2.25 ms") for line in text) == len(methods) == 14
    assert not any("█" in line or "…" in line for line in text)


def test_lines_with_hardly_a_place_in_common_are_rows_and_no_table_of_empty_cells():
    experiment = Catalogue().load("start-cost")
    row = experiment.tables["starts"]
    rows = [
        row(method=method, repeat=0, count=count, each_s=1e-3, all_s=count * 1e-3)
        for method, counts in (("call", (8, 9)), ("thread", (4, 5)), ("spawn", (1, 2)))
        for count in counts
    ]

    lines = drawn(experiment, experiment.views[1], {"starts": rows})

    assert [line.split("  ")[0].strip() for line in lines[3:]] == [
        "function call", "", "thread", "", "process, a new Python", "",
    ]  # fmt: skip
    assert [line.split("█")[0].split()[-3:] for line in lines[3:5]] == [
        ["8", "8", "ms"], ["9", "9", "ms"]
    ]  # fmt: skip


def test_a_log_axis_is_named_once_above_its_lines(tables):
    experiment = Catalogue().load("cache-ladder")
    rows, values = tables("cache-ladder")
    lines = drawn(experiment, experiment.views[0], rows, values)

    assert [line for line in lines if "(logarithmic)" in line] == [lines[1]]


def test_lines_of_which_nothing_is_measured_yet_are_not_drawn():
    experiment = Catalogue().load("cache-ladder")
    row = experiment.tables["steps"]
    rows = [row(size_bytes=4096, order="sequential", repeat=0, latency_s=1e-9)]

    assert drawn(experiment, experiment.views[0], {"steps": rows}) == []
