from __future__ import annotations

import datetime
import re

import pytest

from machine.bus import pcie
from machine.parts import (
    KINDS,
    check,
    disk_facts,
    fits,
    gpu_facts,
    line_of,
    module_facts,
    own_troubles,
    processor_facts,
    shipped,
    short_name,
)
from machine.system.files import DATA_FOLDER
from tests.cases import in_one

LOOK_UP = {
    "processor": processor_facts,
    "gpu": gpu_facts,
    "disk": disk_facts,
    "module": module_facts,
}
GIB = 2**30


def lines(kind):
    return [line_of(entry) for entry in shipped(kind)[kind]]


# --- the tables that come along -------------------------------------------------------------------


@in_one("kind", KINDS)
def test_a_table_is_dated_and_each_line_has_a_source_and_facts_within_reason(kind):
    assert isinstance(shipped(kind)["date"], datetime.date)
    assert set(shipped(kind)) == {"date", kind}
    for line in lines(kind):
        check(kind, line)
        assert re.search(r"\w+,? .*\w+", line.source), line


@in_one("kind", KINDS)
def test_each_pattern_fits_its_examples_and_tells_what_no_neighbour_tells(kind):
    wrong = []
    wrong += [(line, "no example") for line in lines(kind) if not line.examples]
    for name in {example for line in lines(kind) for example in line.examples}:
        told = [fact for line in lines(kind) if fits(kind, line, name) for fact in line.facts]
        wrong += [(name, fact) for fact in set(told) if told.count(fact) > 1]
        facts = LOOK_UP[kind](name)
        wrong += [(name, fact) for fact in told if getattr(facts, fact) is None]
    assert wrong == []


@in_one("kind", KINDS)
def test_no_pattern_fits_a_name_with_more_behind_it_or_before_it(kind):
    names = {short_name(kind, each) for line in lines(kind) for each in line.examples}
    longer = {f"{name}{more}" for name in names for more in ("QQQ", " Mark II")}
    longer |= {f"Not {name}" for name in names}
    # A serial number or a size may follow where a pattern says so.
    open_ended = [line for line in lines(kind) if re.search(r"\.\*|\\w[+*]", line.pattern)]
    fitting = {
        name
        for name in longer
        for line in lines(kind)
        if line not in open_ended and re.fullmatch(line.pattern, name, re.IGNORECASE)
    }
    assert fitting == set()


def test_no_disk_promises_more_than_its_link_carries():
    for name in (example for line in lines("disk") for example in line.examples):
        facts = disk_facts(name)
        if facts.generation:
            assert facts.read_bytes_per_s < pcie.bytes_per_s(facts.generation, facts.lanes), name
        else:
            assert facts.read_bytes_per_s < 600e6, name  # SATA


def test_no_processor_takes_less_for_a_while_than_for_good():
    for name in (example for line in lines("processor") for example in line.examples):
        facts = processor_facts(name)
        assert (facts.pl2_watts or 0) >= (facts.pl1_watts or 0), name


@in_one(
    ("name", "channels", "dies"),
    [
        ("AMD Ryzen 9 9950X 16-Core Processor", 2, 2),
        ("AMD Ryzen 7 9700X 8-Core Processor", 2, 1),
        ("AMD Ryzen 7 8700G w/ Radeon 780M Graphics", 2, None),  # one die with all
        ("AMD Ryzen Threadripper 7970X 32-Cores", 4, 4),
        ("AMD Ryzen Threadripper PRO 7995WX 96-Cores", 8, 12),
        ("AMD EPYC 9654 96-Core Processor", 12, None),
        ("13th Gen Intel(R) Core(TM) i9-13900K", 2, None),
        ("Intel(R) Core(TM) i9-10980XE CPU @ 3.00GHz", 4, None),
        ("Intel(R) Core(TM) Ultra 9 285K", 2, None),
        ("Intel(R) Xeon(R) w9-3495X", 8, None),
        ("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", 6, None),
        ("Intel(R) N100", 1, None),
    ],
)
def test_channels_and_dies_of_well_known_processors(name, channels, dies):
    facts = processor_facts(name)
    assert (facts.channels, facts.dies) == (channels, dies)
    assert facts.source


@in_one(
    ("part_number", "mega"),
    [
        ("F5-6000J3038F16G", 6000),
        ("CMK32GX5M2B6000C36  ", 6000),
        ("KF560C36-16", 6000),
        ("CT16G56C46U5.C8D", 5600),
        ("TEAMGROUP-UD4-3600", 3600),
        ("M378A1K43EB2-CWE", 3200),
    ],
)
def test_the_part_number_of_a_module_tells_its_rated_speed(part_number, mega):
    assert module_facts(part_number).transfers_per_s == mega * 1e6


def test_a_gpu_is_known_by_the_name_of_its_driver_and_by_that_of_its_chip():
    driver, chip = gpu_facts("NVIDIA GeForce RTX 5070"), gpu_facts("GB205 [GeForce RTX 5070]")
    assert driver == chip
    assert (driver.lanes, driver.generation, driver.memory_bytes) == (16, 5, 12 * GIB)


@in_one(
    "facts",
    [
        gpu_facts("NVIDIA GeForce RTX 4090 Laptop GPU"),
        gpu_facts("Navi 31 [Radeon RX 7900 XT/7900 XTX/7900M]"),
        disk_facts("QEMU HARDDISK"),
        disk_facts(None),
        module_facts("Unknown"),
        processor_facts("Intel(R) Xeon(R) Processor @ 2.20GHz"),
        processor_facts(""),
    ],
)
def test_what_no_line_knows_is_unknown(facts):
    assert facts is None


# --- a user's own lines ---------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return a function that writes a file of the user's own lines."""
    monkeypatch.setenv(DATA_FOLDER, str(tmp_path))

    def write(text, name="parts.toml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    return write


GOOD = """
[[disk]]
pattern = 'ACME FAST 1TB'
source = "the box"
read_bytes_per_s = 1000e6
"""


def test_a_users_own_line_comes_before_ours_and_says_whose_it_is(own):
    own(
        "[[gpu]]\npattern = 'H100 80GB HBM3'\nsource = 'our lab, 2026'\nmemory_fraction = 0.88\n",
        "parts/lab.toml",
    )
    facts = gpu_facts("NVIDIA H100 80GB HBM3")
    assert facts.memory_fraction == 0.88
    assert facts.sources["memory_fraction"] == "your own line in lab.toml: our lab, 2026"
    assert (facts.lanes, facts.sources["lanes"][:6]) == (16, "NVIDIA")
    assert own_troubles() == ()


def test_without_own_lines_there_is_no_trouble(own):
    assert disk_facts("ACME FAST 1TB") is None
    assert own_troubles() == ()


def test_a_number_is_taken_from_the_name(own):
    own(
        "[[module]]\npattern = 'ACME-(\\d+)?-.*'\nsource = 'x'\ntransfers_per_s = { times = 1e6 }\n"
    )
    assert module_facts("ACME-6000-32G").transfers_per_s == 6e9
    assert module_facts("ACME--32G") is None
    assert module_facts("ACME-99999999-32G") is None  # no memory is as fast


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("source = 'x'\nlanes = 4", "pattern must be a text"),
        ("pattern = 'A'\nlanes = 4", "source must be a text"),
        ("pattern = 'A('\nsource = 'x'\nlanes = 4", "pattern is no regular expression"),
        ("pattern = 'A'\nsource = 'x'\nlanes = 'four'", "lanes: expected int"),
        ("pattern = 'A'\nsource = 'x'\nlanes = 400", "lanes: expected int <= 16"),
        ("pattern = 'A'\nsource = 'x'\nread = 4", "read is not among read_bytes_per_s"),
        ("pattern = 'A'\nsource = 'x'\nsources = {}", "sources is not among"),
        ("pattern = 'A'\nsource = 'x'", "it tells nothing"),
        ("pattern = 'A'\nsource = 'x'\nlanes = { times = 1 }", "lanes takes { times"),
        ("pattern = '(A)'\nsource = 'x'\nlanes = { by = 1 }", "lanes takes { times"),
        ("pattern = 3\nsource = 'x'\nlanes = 4", "pattern must be a text"),
        ("pattern = 'A'\nsource = 'x'\nexamples = ['B']\nlanes = 4", "not fit the example B"),
        ("pattern = 'A'\nsource = 'x'\nexamples = 3\nlanes = 4", "examples must be a list"),
    ],
)
def test_a_bad_line_is_named_with_its_key_and_the_others_count(own, line, said):
    own(f"[[disk]]\n{line}\n{GOOD}")
    (trouble,) = own_troubles()
    assert "[[disk]] number 1 of parts.toml" in trouble
    assert said in trouble
    assert disk_facts("ACME FAST 1TB").read_bytes_per_s == 1e9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[disk]]\npattern = A\n", "line 2"),
        ("\0", "parts.toml is left out"),
        (f"disk = 3\n{GOOD.replace('disk', 'gpu')}", "[[disk]] of parts.toml"),
        ("[[mouse]]\n", "[[mouse]] of parts.toml"),
        ("disk = [1]\n", "[[disk]] number 1"),
        ("x" * 2**21, "larger than 1 MiB"),
    ],
)
def test_a_bad_file_is_named_and_the_others_count(own, text, said):
    own(text)
    own(GOOD, "parts/good.toml")
    assert any(said in trouble for trouble in own_troubles())
    assert disk_facts("ACME FAST 1TB").read_bytes_per_s == 1e9


def test_what_a_stranger_wrote_into_a_file_does_not_reach_the_terminal_raw(own):
    own('[["\\u001b[31mdisk"]]\n[[disk]]\npattern = "A\\u001b"\nsource = "\\u001b"\nlanes = 4\n')
    assert "\x1b" not in "".join(own_troubles())
    assert "\x1b" not in disk_facts("A\x1b").source
