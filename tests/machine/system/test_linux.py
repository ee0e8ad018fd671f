from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine.system.linux import (
    HIGHEST_THREAD,
    confined,
    exists,
    fields,
    format_list,
    kibibytes,
    numbered,
    parse_list,
    parse_mask,
    read_int,
    read_list,
    read_set,
    read_text,
)
from tests.cases import in_one

threads = st.frozensets(st.integers(0, 600))


@given(threads)
def test_a_list_is_read_as_it_was_written(ids):
    assert parse_list(format_list(ids)) == ids


@given(threads)
def test_a_mask_in_groups_of_32_is_read_as_it_was_written(ids):
    digits = f"{sum(1 << n for n in ids):0608x}"
    assert parse_mask(",".join(digits[i : i + 8] for i in range(0, len(digits), 8))) == ids


@given(st.text() | st.from_regex(r"[-0-9,a-f ]*"))
def test_any_text_is_a_set_of_threads_or_a_value_error(text):
    for parse in (parse_list, parse_mask):
        try:
            ids = parse(text)
        except ValueError:
            continue
        assert all(0 <= n <= HIGHEST_THREAD for n in ids)


@in_one("text", ["3-1", "0-999999999999", "-5", "1-", "0x3", "two"])
def test_nonsense_is_no_list(text):
    with pytest.raises(ValueError):  # noqa: PT011  (the text of int() is good enough)
        parse_list(text)


def test_an_empty_list_is_known_and_empty(tmp_path):
    (tmp_path / "offline").write_text("\n")
    assert read_list(tmp_path / "offline") == frozenset()
    assert read_list(tmp_path / "missing") is None


def test_nul_and_white_space_after_a_value_are_dropped(tmp_path):
    (tmp_path / "value").write_bytes(b"6\n\x00")
    assert read_text(tmp_path / "value") == "6"
    assert read_int(tmp_path / "value") == 6


def test_what_is_missing_a_folder_or_no_number_is_none(tmp_path):
    (tmp_path / "word").write_text("max")
    assert read_text(tmp_path / "missing") is None
    assert read_text(tmp_path) is None
    assert read_int(tmp_path / "word") is None


def test_a_damaged_list_falls_back_to_the_mask(tmp_path):
    (tmp_path / "siblings_list").write_text("?")
    (tmp_path / "siblings").write_text("00000000,00000101\n")
    assert read_set(tmp_path, "siblings_list", "siblings") == {0, 8}


def test_entries_are_sorted_by_number_and_others_ignored(tmp_path):
    for name in ("cpu10", "cpu2", "cpufreq", "cpuidle", "acpu1"):
        (tmp_path / name).mkdir()
    assert numbered(tmp_path, "cpu") == [2, 10]
    assert numbered(tmp_path / "missing", "cpu") == []


def test_the_first_of_repeated_fields_counts():
    assert fields("processor\t: 0\nmodel name\t:   A  B\nprocessor : 1\njunk") == {
        "processor": "0",
        "model name": "A B",
    }


@in_one(("text", "size"), [("16 kB", 16384), ("16", None), ("", None), (None, None)])
def test_sizes_are_in_units_of_1024(text, size):
    assert kibibytes(text) == size


def test_a_recording_is_read_where_folders_are_separated_by_a_backslash(tmp_path, monkeypatch):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").touch()
    real = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda path: real(path).replace("/", "\\"))
    monkeypatch.setattr(os, "sep", "\\")
    with confined(tmp_path):
        assert exists(tmp_path / "proc/stat")
        assert not exists(tmp_path / "proc/nothing")
        assert not exists(tmp_path.parent)
