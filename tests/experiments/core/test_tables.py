from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from experiments.core import declare
from experiments.core.tables import to_csv, to_tabs


class Row(declare.Row):
    method: str
    count: int
    wall_s: float
    gil: bool


ROWS = st.lists(
    st.builds(
        Row,
        method=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
        count=st.integers(),
        wall_s=st.floats(allow_nan=False, allow_infinity=False),
        gil=st.booleans(),
    ),
    max_size=5,
)


def read(text: str, dialect: str = "excel") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), dialect))


@given(ROWS)
def test_every_digit_and_every_letter_comes_back_from_the_file(rows):
    head, *lines = read(to_csv(rows, Row))

    assert head == ["method", "count", "wall_s", "gil"]
    for (method, *others), row in zip(lines, rows, strict=True):
        assert method in (row.method, f"'{row.method}")
        assert others == [str(row.count), repr(row.wall_s), str(row.gil).lower()]


# How a cell begins that a spreadsheet computes, as OWASP lists them ("CSV Injection").
COMPUTED = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")


def test_no_spreadsheet_computes_what_a_stranger_wrote():
    for begin in COMPUTED:
        for rest in ("SUM(A1)", "1+1|cmd'!A0", "", "2 -3", "1e5()"):
            row = Row(method=begin + rest, count=-1, wall_s=-1.5, gil=True)

            _, (method, *others) = read(to_csv([row], Row))
            ((cell,),) = read(to_tabs([[begin + rest]]), "excel-tab")

            assert method == cell == f"'{begin}{rest}"
            assert others == ["-1", "-1.5", "true"]


def test_a_number_stays_a_number():
    written = ("-1.5", "+2", "-1e-09", "-1.50 ms", "-2 %", "-3.20×", "-40 °C", "-5 GB/s", "a=1")

    assert read(to_tabs([written]), "excel-tab") == [[*written]]


def test_lines_end_as_rfc_4180_says_and_words_with_commas_are_quoted():
    row = Row(method='a, "b"', count=1, wall_s=1e-9, gil=False)

    text = to_csv([row], Row)

    assert text == 'method,count,wall_s,gil\r\n"a, ""b""",1,1e-09,false\r\n'


def test_a_table_without_rows_is_its_head():
    assert to_csv([], Row) == "method,count,wall_s,gil\r\n"


def test_cells_for_the_clipboard_have_tabs_between_them_and_nothing_for_what_is_missing():
    assert to_tabs([["a", "b"], [0.1, None]]) == "a\tb\r\n0.1\t\r\n"
