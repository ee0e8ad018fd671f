from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel

from tests.widgets.runs.samples import WORDS, worn
from widgets.experiment.comparison_table import ComparedRow, Comparison, ComparisonTable

FOUND = Comparison(
    a="today 14:03 · AMD EPYC",
    b="12 March · AMD EPYC",
    cautions=["The runs differ in Rounds (3 and 5)."],
    rows=(
        ComparedRow("in order", "0.3 ns", "0.31 ns", "1.03×", "same", about="The median read."),
        ComparedRow("random", "6 ns", "12 ns", "2×", "higher"),
        ComparedRow("reads under way at once", "9.8", "4", "0.41×", "lower"),
        ComparedRow("chained", "120 ns", "90 ns", "0.75×", "too_few"),
        ComparedRow("in pages", "60 ns", "70 ns", "1.17×", "unclear"),
        ComparedRow("<b>Python 3.13</b>", "1 s", "0 s"),
    ),
    footnotes=("same: no difference beyond noise",),
)


@pytest.fixture
def table(qtbot):
    table = ComparisonTable(worn(), WORDS)
    qtbot.addWidget(table)
    table.resize(700, 400)
    table.show_comparison(FOUND)
    with qtbot.waitExposed(table):
        table.show()
    return table


def labels(table):
    return {each.text(): each for each in table.findChildren(QLabel) if each.isVisible()}


def test_it_shows_both_runs_every_value_and_what_is_to_be_said(table):
    told = labels(table)
    for text in (
        FOUND.a, "solid in plots", FOUND.b, "dashed, ringed or paler",
        *FOUND.cautions, "in order", "0.3 ns", "0.31 ns", "1.03×",
        "<b>Python 3.13</b>", *FOUND.footnotes,
    ):  # fmt: skip
        assert text in told


def test_a_verdict_is_a_word_with_a_sign_of_its_own(table):
    told = labels(table)
    for text in ("≈ same, ± 5 %", "↑ higher", "↓ lower", "? cannot tell", "… too few"):
        assert text in told
    assert told["↑ higher"].accessibleName() == "random: higher"
    assert "more rounds" in told["? cannot tell"].toolTip()
    assert "B is higher" in told["↑ higher"].toolTip()


def test_what_has_no_verdict_says_why_where_one_points(table):
    assert "no verdict for facts" in labels(table)["–"].toolTip()

    unjudged = Comparison(a="x", b="y", rows=(ComparedRow("z", "1", "2"),))
    table.show_comparison(unjudged)  # settings differ, as stands above the rows
    assert labels(table)["–"].toolTip() == ""


def test_a_value_that_one_run_lacks_says_so_where_one_points(table):
    row = ComparedRow("line", "", "no clear difference", verdict="higher")
    table.show_comparison(Comparison(a="x", b="y", rows=(row,)))

    assert WORDS.say("runs.lacks_value") in labels(table)["–"].toolTip()
    assert WORDS.say("runs.no_ratio") in labels(table)["no ratio"].toolTip()
    assert labels(table)["no clear difference"].wordWrap()


def test_in_a_narrow_column_no_line_is_kept_for_a_verdict_that_is_not_there(qtbot):
    def height(verdict):
        table = ComparisonTable(worn(), WORDS)
        qtbot.addWidget(table)
        table.resize(345, 600)
        rows = [ComparedRow(str(n), "1", "2", "2×", verdict) for n in range(9)]
        table.show_comparison(Comparison(a="x", b="y", rows=tuple(rows)))
        return table.sizeHint().height()

    assert height("") < height("same") - 9 * 8


def test_what_a_value_is_stands_where_one_points(table):
    told = labels(table)
    assert "The median read." in told["in order"].toolTip()
    assert told["random"].toolTip() == ""


def test_in_a_wide_column_a_name_stands_before_its_numbers_in_a_narrow_one_above(qtbot, table):
    def is_above():
        told = labels(table)
        name, number = told["random"], told["6 ns"]
        heights = [each.mapTo(table, each.rect().center()).y() for each in (name, number)]
        return heights[0] < heights[1] - 5

    assert not is_above()
    table.resize(345, 600)
    qtbot.waitUntil(is_above)
    table.resize(700, 400)
    qtbot.waitUntil(lambda: not is_above())


@pytest.mark.parametrize(("width", "zoom"), [(345, 1.0), (552, 1.6)])
def test_nothing_is_cut_off_in_a_narrow_column(qtbot, width, zoom):
    table = ComparisonTable(worn("light", zoom), WORDS)
    qtbot.addWidget(table)
    table.resize(width, 900)
    table.show_comparison(FOUND)
    with qtbot.waitExposed(table):
        table.show()
    for text, each in labels(table).items():
        right = each.mapTo(table, each.rect().topRight()).x()
        assert right <= width, text
        assert each.wordWrap() or each.sizeHint().width() <= each.width(), text


def test_runs_that_cannot_be_compared_are_one_sentence(table):
    table.show_comparison(Comparison(a="x", b="y", refusal="These are two experiments."))
    assert list(labels(table)) == ["These are two experiments."]


def test_another_comparison_takes_the_place_of_the_one_before(table):
    table.show_comparison(Comparison(a="x", b="y", rows=(ComparedRow("z", "1", "2", "2×"),)))
    assert set(labels(table)) >= {"x", "y", "z", "1", "2", "2×"}
    assert FOUND.a not in labels(table)
    assert len(labels(table)) < 14
