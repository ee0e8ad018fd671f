from __future__ import annotations

from widgets.plots.kinds.growing import NewRows


class Row:
    pass


def test_only_what_has_come_since_is_new():
    seen, rows = NewRows(), [Row() for _ in range(3)]

    assert seen.among(rows) == (rows, True)
    rows.append(Row())
    assert seen.among(rows) == (rows[3:], False)
    assert seen.among(rows) == ([], False)
    assert seen.among(tuple(rows)) == ((), False)


def test_other_or_fewer_rows_are_another_table():
    seen, rows = NewRows(), [Row() for _ in range(3)]
    seen.among(rows)

    assert seen.among(rows[:2]) == (rows[:2], True)
    other = [Row() for _ in range(5)]
    assert seen.among(other) == (other, True)
    replaced = [*other[:4], Row(), Row()]
    assert seen.among(replaced) == (replaced, True)


def test_an_empty_table_is_another_one():
    seen, rows = NewRows(), [Row()]
    seen.among(rows)

    assert seen.among([]) == ([], True)
    assert seen.among(rows) == (rows, True)
