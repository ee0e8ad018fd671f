from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.core.units import DURATION, SWITCH, About, Rounded, digits, show, unbroken, unit_of
from tests.cases import in_one

GIB = 2**30


@in_one(
    ("value", "unit", "shown"),
    [
        (1.42e-9, "s", "1.42 ns"),
        (0.25e-9, "s", "0.250 ns"),
        (0.09996e-9, "s", "0.100 ns"),
        (0.0485e-9, "s", "48.5 ps"),
        (-2.68e-12, "s", "-2.68 ps"),
        (4e-14, "s", "0.0400 ps"),
        (5.16e-3, "s", "5.16 ms"),
        (0.9996, "s", "1.00 s"),
        (59.99, "s", "1.00 min"),
        (90, "s", "1.50 min"),
        (2 * 3600, "s", "2 h"),
        (36 * 3600, "s", "1.50 d"),
        (6e7, "s", "1.90 yr"),
        (0, "s", "0 s"),
        (-2.5e-6, "s", "-2.50 µs"),
        (32 * 1024, "bytes", "32 KiB"),
        (23.5 * GIB, "bytes", "23.5 GiB"),
        (1023.9 * 1024, "bytes", "1.00 MiB"),
        (512, "bytes", "512 B"),
        (0, "bytes", "0 B"),
        (28.4e9, "bytes/s", "28.4 GB/s"),
        (999_999, "bytes/s", "1.00 MB/s"),
        (3.35e9, "hz", "3.35 GHz"),
        (1.5e12, "flop/s", "1.50 TFLOP/s"),
        (250, "per_s", "250 /s"),
        (0.25, "fraction", "25 %"),
        (0.0001234, "fraction", "0.0123 %"),
        (0.00009999, "fraction", "0.0100 %"),
        (5.83e-5, "fraction", "1 in 17 thousand"),
        (5.83e-7, "fraction", "1 in 1.7 million"),
        (-1e-10, "fraction", "-1 in 10 billion"),
        (0, "fraction", "0 %"),
        (12.345, "fraction", "1230 %"),
        (131.7, "ratio", "132×"),
        (0.2, DURATION, "1 s"),
        (59.6, DURATION, "1 min"),
        (86, DURATION, "1 min 26 s"),
        (3720, DURATION, "1 h 2 min"),
        (1, SWITCH, "on"),
        (0, SWITCH, "off"),
        (61.2, "celsius", "61.2 °C"),
        (350, "watts", "350 W"),
        (4, "", "4"),
        (8.4812, "", "8.48"),
        (9_999_999, "", "9999999"),
        (4e7, "", "4 × 10⁷"),
        (2**40, "", "1.10 × 10¹²"),
        (-9.999e9, "", "-1 × 10¹⁰"),
        (math.inf, "", "inf"),
        (0.000293, "", "0.000293"),
        (0.00009999, "", "0.000100"),
        (3e-5, "", "3 × 10⁻⁵"),
        (-8.1e-7, "", "-8.10 × 10⁻⁷"),
        (1e-300, "", "1 × 10⁻³⁰⁰"),
        (0, "", "0"),
    ],
)
def test_a_number_is_shown_in_three_digits_and_its_readable_unit(value, unit, shown):
    assert show(value, unit) == shown


@in_one(
    ("value", "text"),
    [
        (0.0123, "0.0123"),
        (1.5, "1.50"),
        (1234, "1234"),
        (1234.5, "1234"),
        (9.996, "10.0"),
        (99.96, "100"),
        (-3.456, "-3.46"),
        (0, "0"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_digits_are_significant_ones_and_never_scientific(value, text):
    assert digits(value) == text


@in_one(
    ("name", "unit"),
    [
        ("memory_latency_s", "s"),
        ("useful_bytes_per_s", "bytes/s"),
        ("peak_flop_per_s", "flop/s"),
        ("samples_per_s", "per_s"),
        ("size_bytes", "bytes"),
        ("overlap_fraction", "fraction"),
        ("gil_enabled", SWITCH),
        ("threads_speedup", "ratio"),
        ("slowdown", "ratio"),
        ("waiting_gain", "ratio"),
        ("gain_in_l1", "ratio"),
        ("gained_bytes", "bytes"),
        ("bytes_in_flight", "bytes"),
        ("random_over_sequential", "ratio"),
        ("memory_over_l1", "ratio"),
        ("core_celsius", "celsius"),
        ("workers", ""),
        ("bytes_per_s", "bytes/s"),
        ("over_copy", "ratio"),
    ],
)
def test_the_unit_is_read_off_the_end_of_a_name(name, unit):
    assert unit_of(name) == unit


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "s", "bytes", "fraction", "ratio", "bytes/s", "hz", "watts"]),
)
def test_every_finite_number_can_be_shown(value, unit):
    text = show(value, unit)

    assert text
    assert "e+" not in text
    assert "e-" not in text
    assert "nan" not in text


@given(st.floats(min_value=1e-9, max_value=1e12))
def test_what_is_shown_is_the_number_to_three_digits(value):
    assert float(digits(value)) == pytest.approx(value, rel=0.0051)


@in_one(
    ("text", "kept"),
    [
        (
            "took 105 ms, and 48.2 ms one after another",
            "took 105_ms, and 48.2_ms one after another",
        ),
        ("17.8 GB/s of 20 GB/s", "17.8_GB/|s of 20_GB/|s"),
        ("733 M/s, 12 /s, 5 GFLOP/s/core", "733_M/|s, 12_/|s, 5 GFLOP/|s/core"),
        ("/sys and/so on", "/sys and/so on"),
        ("87.1 % of 2 workers", "87.1_% of 2 workers"),
        ("4 KiB pages, 30 seconds, 3 s.", "4_KiB pages, 30 seconds, 3_s."),
    ],
)
def test_no_line_ends_between_a_number_and_its_unit(text, kept):
    shown = unbroken(text).replace("\N{NO-BREAK SPACE}", "_").replace("\N{WORD JOINER}", "|")
    assert shown == kept


@in_one(
    ("value", "unit", "shown"),
    [
        (28.04e-9, "s", "28 ns"),
        (99_360.0, "s", "1.1 d"),
        (154.0, "s", "2.6 min"),
        (9.452658e-10, "s", "0.95 ns"),
        (3.846e9, "", "3.8 × 10⁹"),
        (999e-9, "s", "1 µs"),
        (0.553, "fraction", "55 %"),
        (6e-7, "fraction", "1 in 1.7 million"),
        (1.13e9, "bytes/s", "1.1 GB/s"),
        (1_234_567.0, "", "1200000"),
    ],
)
def test_a_number_in_a_text_has_two_digits(value, unit, shown):
    assert show(Rounded(value), unit) == shown
    assert show(About(value), unit) == f"about {shown}"
