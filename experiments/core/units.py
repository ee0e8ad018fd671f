"""Numbers in SI units as people read them.

Memory and caches in KiB, MiB, GiB; rates in decimal (GB/s); times from ps to years; shares in
percent, tiny ones as 1 in 1.7 million; very small and very large plain numbers with a power of ten;
a SWITCH as on or off; what a person waits for, a DURATION, in whole seconds: 1 min 26 s.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence

SWITCH = "switch"  # 1 for on, 0 for off
DURATION = "duration"  # seconds, of a whole run
ABOUT = "about "


class Rounded(float):
    """A number that is shown in two digits, as 250 ms."""

    __slots__ = ()


class About(Rounded):
    """A number of which the first two digits hold; it is shown as "about 250 ms"."""

    __slots__ = ()


_DECIMAL = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
_YEAR_S = 365.25 * 86400
_TIMES = (
    *((_YEAR_S, _YEAR_S, "yr"), (86400.0, 86400.0, "d"), (3600.0, 3600.0, "h")),
    *((60.0, 60.0, "min"), (1.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (1e-6, 1e-6, "µs")),
    (1e-10, 1e-9, "ns"),  # 0.25 ns is what people compare with clocks
    (0.0, 1e-12, "ps"),
)
_RATES = {"bytes/s": "B/s", "flop/s": "FLOP/s", "hz": "Hz", "per_s": "/s"}

LEAST_FRACTION = 1e-4  # below 0.01 %
_MANY = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e3, "thousand"))
_COUNTLESS = 1e7  # from here on nobody counts the digits of a plain number any more
_TINY = 1e-4  # nor its zeros below this
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ALMOST = 0.9995  # from here on, three digits are those of the next unit: 999.6 kB is 1.00 MB

_UNITS = (
    *(unit for _, unit in _BINARY),
    *(unit for _, _, unit in _TIMES),
    *(prefix + rate for _, prefix in _DECIMAL for rate in _RATES.values()),
    *("%", "°C", "W"),
)
_BEFORE_UNIT = re.compile(rf"(?<=\d) (?=(?:{'|'.join(map(re.escape, _UNITS))})(?![\w/]))")

_PER_SECOND = re.compile(r"(?<=[\w\N{NO-BREAK SPACE}])/s\b")

_EXACT = 8  # digits before a number is rounded to two: 0.9453 ns are 0.95
_NUMBER = re.compile(r"\d+(?:\.\d+)?")

_COMPARING = re.compile(r"(^|_)over_|slowdown$|speedup$|gain$|penalty$|^gain_|^speedup_")

# The unit stands at the end of a name; the longest ending wins.
_SUFFIXES = (
    ("bytes_per_s", "bytes/s"),
    ("flop_per_s", "flop/s"),
    ("_per_s", "per_s"),
    ("_bytes", "bytes"),
    ("_fraction", "fraction"),
    ("celsius", "celsius"),
    ("_watts", "watts"),
    ("_hz", "hz"),
    ("_enabled", SWITCH),
    ("duration", DURATION),
    ("_s", "s"),
)


@functools.lru_cache(maxsize=4096)  # thousands of fields share some hundred names
def unit_of(name: str) -> str:
    """Return the unit that a name such as `memory_latency_s` ends in, "" for a plain number."""
    if _COMPARING.search(name):
        return "ratio"
    if "_fraction_" in name:  # lost_fraction_bare
        return "fraction"
    within = "bytes" if "bytes" in name.split("_") else ""  # bytes_in_flight
    return next((unit for suffix, unit in _SUFFIXES if name.endswith(suffix)), within)


def show(value: float, unit: str = "", count: int = 3) -> str:
    """Return `value`, in the SI unit `unit`, in `count` digits and a readable unit."""
    if isinstance(value, Rounded):
        rough = _rough(value, unit)
        return ABOUT + rough if isinstance(value, About) else rough
    if unit == "s":
        return _show_time(value, count)
    if unit == DURATION:
        return _show_duration(value)
    if unit == "bytes":
        return _scaled(value, _BINARY, count)
    if unit == "fraction":
        return _show_fraction(value, count)
    if unit == "ratio":
        # 3247 would claim more than was measured.
        return f"{digits(float(f'{value:.{count}g}'), count)}×"
    if unit == SWITCH:
        return "on" if value else "off"
    if unit in _RATES:
        return _scaled(value, _DECIMAL, count) + _RATES[unit]
    if unit in ("celsius", "watts"):
        return f"{digits(value, count)} {'°C' if unit == 'celsius' else 'W'}"
    is_plain = value == 0 or _TINY * _ALMOST <= abs(value) < _COUNTLESS or not math.isfinite(value)
    return digits(value, count) if is_plain else _show_power(value, count)


def decimal_bytes(count: float) -> str:
    """Return a capacity in decimal units, as on the disk's package: 2 TB."""
    return show(count, "bytes/s").removesuffix("/s")


def unbroken(text: str) -> str:
    """Return a text in which no line ends between a number and its unit, nor within a unit."""
    return _PER_SECOND.sub("/\N{WORD JOINER}s", _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text))


def digits(value: float, count: int = 3) -> str:
    """Return a plain decimal with `count` significant digits: 0.0123, 1.5, 1234."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if float(value).is_integer() and abs(value) < 1e6:
        return str(int(value))
    exponent = int(f"{value:.{count - 1}e}".partition("e")[2])  # of the rounded value: 9.996 is 10
    places = max(0, count - 1 - exponent)
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text and abs(value) < 1e-6 else text


def _rough(value: float, unit: str) -> str:
    """Return a number in two digits of the unit in which it is shown: 154 s are 2.6 min."""
    exact, next_unit = show(float(value), unit, _EXACT), show(float(f"{value:.1e}"), unit)
    is_same = _NUMBER.sub("", exact) == _NUMBER.sub("", next_unit)  # 999 ns are 1 µs
    return _NUMBER.sub(_two_digits, exact if is_same else next_unit)


def _two_digits(number: re.Match[str]) -> str:
    """Return a number that is shown, in two digits."""
    return digits(float(f"{float(number[0]):.1e}"), 2)


def _show_fraction(value: float, count: int) -> str:
    """Return a share in percent, or a tiny share as 1 in many: 0.0000583 % says little."""
    if not 0 < abs(value) < LEAST_FRACTION * _ALMOST:
        return f"{digits(float(f'{value * 100:.{count}g}'), count)} %"
    return f"{'-' if value < 0 else ''}1 in {many(1 / abs(value))}"


def many(value: float) -> str:
    """Return a count in two digits, as people say it: 30 million."""
    rounded = float(f"{value:.2g}")
    least, name = next((each for each in _MANY if rounded >= each[0]), (1.0, ""))
    return f"{digits(rounded / least, 2)} {name}".rstrip()


def _show_power(value: float, count: int) -> str:
    number, _, exponent = f"{value:.{count - 1}e}".partition("e")
    return f"{digits(float(number), count)} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def _show_time(value: float, count: int = 3) -> str:
    if not value:
        return "0 s"
    near = (each for each in _TIMES if abs(value) >= each[0] * _ALMOST)
    _, factor, unit = next(near, _TIMES[-1])
    return f"{digits(value / factor, count)} {unit}"


def _show_duration(value: float) -> str:
    if not math.isfinite(value):
        return _show_time(value)
    minutes, seconds = divmod(max(1, round(value)), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (0 if hours else seconds, "s"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


def _scaled(value: float, units: Sequence[tuple[float, str]], count: int) -> str:
    factor, unit = next((each for each in units if abs(value) >= each[0] * _ALMOST), units[-1])
    return f"{digits(value / factor, count)} {unit}"
