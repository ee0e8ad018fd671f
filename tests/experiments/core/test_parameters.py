from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.core import declare
from experiments.core.catalogue import Catalogue
from experiments.core.declare import param
from experiments.core.parameters import (
    check_memory,
    from_json,
    from_text,
    read_number,
    to_json,
    to_text,
)
from experiments.core.problems import UserError
from machine.model import Machine
from tests.cases import in_one

KIB, MIB, GIB = 2**10, 2**20, 2**30


class Params(declare.Params):
    size_bytes: int = param(MIB, minimum=KIB, maximum=GIB)
    job_s: float = param(0.1, minimum=1e-6, maximum=60.0)
    rounds: int = param(3, minimum=1, maximum=50)
    huge: bool = False
    order: str = param("random", choices=("random", "sequential"))
    rate: float = param(1e9, unit="bytes/s")
    work: float = param(1e9, unit="flop/s")
    heat: float = param(90.0, unit="celsius")
    methods: tuple[str, ...] = param(("a",), choices=lambda machine: ("a", "b", "c"))


def trouble(**settings):
    with pytest.raises(UserError) as caught:
        from_text(Params(), settings, Machine())
    return caught.value.problem


@in_one(
    ("name", "text", "value"),
    [
        ("size_bytes", "64 MiB", 64 * MIB),
        ("size_bytes", "64MiB", 64 * MIB),
        ("size_bytes", "64m", 64 * MIB),
        ("size_bytes", " 2 kb ", 2000),
        ("size_bytes", "0.25GiB", GIB // 4),
        ("size_bytes", "1.1 MiB", 1153434),
        ("size_bytes", "4096", 4096),
        ("job_s", "5 ms", 0.005),
        ("job_s", "250us", 250e-6),
        ("job_s", "250 µs", 250e-6),
        ("job_s", "0.5min", 30.0),
        ("job_s", "1e-3", 0.001),
        ("rate", "25.5 GB/s", 25.5e9),
        ("rate", "3e9", 3e9),
        ("work", "1.2TFLOP/s", 1.2e12),
        ("heat", "87.5 °C", 87.5),
        ("heat", "87.5C", 87.5),
        ("rounds", "7", 7),
        ("rounds", "7.0", 7),
        ("huge", "yes", True),
        ("huge", "OFF", False),
        ("order", "sequential", "sequential"),
        ("methods", "a,b", ("a", "b")),
        ("methods", " b , c ", ("b", "c")),
        ("methods", "all", ("a", "b", "c")),
        ("methods", "none", ()),
        ("methods", "", ()),
    ],
)
def test_a_setting_is_read_as_people_write_it(name, text, value):
    changed = getattr(from_text(Params(), {name: text}, Machine()), name)

    assert changed == value
    assert type(changed) is type(value)


@in_one(
    "text",
    ["", "x", "nan", "inf", "-inf", "1,5", "1.2.3", "5 parsec", "0x10", "1e", "--1", "1 2", "ms"],
)
def test_what_is_no_number_is_refused_with_an_example_of_one(text):
    problem = trouble(job_s=text)

    assert problem.key == "parameter_not_a_number"
    assert problem.values["like"] == "100 ms"


@in_one("text", ["2.5", "1e999", "nan", "inf", "four", "3 s"])
def test_a_count_is_a_whole_number(text):
    problem = trouble(rounds=text)

    assert problem.key == "parameter_not_whole"
    assert problem.values["text"] == text


@in_one(
    ("settings", "key"),
    [
        ({"rounds": "0"}, "parameter_too_small"),
        ({"rounds": "-3"}, "parameter_too_small"),
        ({"rounds": "1e18"}, "parameter_too_large"),
        ({"job_s": "1e999"}, "parameter_too_large"),
        ({"job_s": "0"}, "parameter_too_small"),
        ({"size_bytes": "1e999"}, "parameter_not_a_number"),
        ({"huge": "maybe"}, "parameter_not_yes_or_no"),
        ({"order": "backwards"}, "parameter_not_a_choice"),
        ({"order": ""}, "parameter_not_a_choice"),
        ({"methods": "a,z"}, "parameter_not_a_choice"),
        ({"turns": "3"}, "parameter_unknown"),
    ],
)
def test_a_wrong_setting_is_refused(settings, key):
    assert trouble(**settings).key == key


def test_a_refusal_names_what_would_be_right():
    assert trouble(rounds="0").values["least"] == "1"
    assert trouble(size_bytes="1 TiB").values["most"] == "1 GiB"
    assert trouble(order="up").values["choices"] == "random, sequential"
    assert "rounds" in trouble(turns="3").values["known"]


def test_parameters_survive_the_wire():
    params = from_text(Params(), {"job_s": "2 ms", "methods": "a,c", "huge": "on"})

    assert from_json(Params, to_json(params)) == params


@in_one(
    ("change", "key"),
    [
        ({"rounds": "3"}, "parameters_unreadable"),
        ({"rounds": 2.5}, "parameters_unreadable"),
        ({"rounds": None}, "parameters_unreadable"),
        ({"huge": 1}, "parameters_unreadable"),
        ({"methods": "a"}, "parameters_unreadable"),
        ({"rounds": 0}, "parameter_too_small"),
        ({"methods": ["z"]}, "parameter_not_a_choice"),
        ({"turns": 3}, "parameter_unknown"),
    ],
)
def test_json_is_read_strictly(change, key):
    with pytest.raises(UserError) as caught:
        from_json(Params, {**to_json(Params()), **change}, Machine())

    assert caught.value.problem.key == key


def test_what_only_the_machine_can_tell_is_not_searched_for_without_it():
    assert from_text(Params(), {"methods": "z"}).methods == ("z",)
    with pytest.raises(UserError):
        from_text(Params(), {"order": "up"})  # what is declared is known


def test_a_recording_may_name_choices_that_this_machine_does_not_have():
    recorded = {**to_json(Params()), "methods": ["of another machine"]}

    assert from_json(Params, recorded, check_choices=False).methods == ("of another machine",)


@in_one(
    ("value", "unit", "text"),
    [
        (64 * MIB, "bytes", "64 MiB"),
        (0.005, "s", "5 ms"),
        (4, "", "4"),
        (20_000_000, "", "20000000"),
        (True, "", "yes"),
        (False, "", "no"),
        ((), "", "none"),
        (("a", "b"), "", "a, b"),
        (["a"], "", "a"),
        ("loop", "", "loop"),
        (None, "", "None"),
    ],
)
def test_a_value_is_shown_as_it_is_typed(value, unit, text):
    assert to_text(value, unit) == text


@given(st.integers(min_value=KIB, max_value=GIB))
def test_every_size_can_be_typed_as_it_is_shown(size):
    typed = from_text(Params(), {"size_bytes": to_text(size, "bytes")}).size_bytes

    assert typed == pytest.approx(size, rel=0.0051)


@given(st.floats(min_value=1e-6, max_value=59))
def test_every_duration_can_be_typed_as_it_is_shown(seconds):
    typed = from_text(Params(), {"job_s": to_text(seconds, "s")}).job_s

    assert typed == pytest.approx(seconds, rel=0.0051)


@pytest.mark.parametrize(("name", "unit"), [("rate", "bytes/s"), ("work", "flop/s")])
@given(amount=st.floats(min_value=1, max_value=1e14))
def test_every_rate_can_be_typed_as_it_is_shown(name, unit, amount):
    typed = getattr(from_text(Params(), {name: to_text(amount, unit)}), name)

    assert typed == pytest.approx(amount, rel=0.0051)


@given(st.text(max_size=12))
def test_any_text_is_a_value_in_range_or_trouble(text):
    for name in ("size_bytes", "job_s", "rounds", "huge", "order", "methods"):
        try:
            params = from_text(Params(), {name: text}, Machine())
        except UserError:
            continue
        assert from_json(Params, to_json(params), Machine()) == params


def test_more_memory_than_is_free_is_refused_before_it_is_taken():
    ladder = Catalogue().load("cache-ladder")
    params = ladder.params(largest_bytes=4 * GIB)

    check_memory(ladder, params, 9 * GIB)
    check_memory(ladder, params, None)
    with pytest.raises(UserError) as caught:
        check_memory(ladder, params, GIB)
    assert caught.value.problem.key == "too_much_memory"
    assert caught.value.problem.values["free_bytes"] == GIB


@in_one(
    ("value", "unit"),
    [(64 * MIB, "bytes"), (1.5e-8, "s"), (7200.0, "s"), (0.37, "fraction"), (14.3, "ratio"),
     (3.2e9, "hz"), (4.5e6, "per_s"), (12.5e9, "bytes/s"), (95.0, "celsius"), (1234, "")],
)  # fmt: skip
def test_a_number_is_read_as_it_is_shown(value, unit):
    assert read_number(to_text(value, unit), unit) == pytest.approx(value)


@in_one(("text", "unit"), [("", "s"), ("ten", ""), ("3 GB", "s"), ("nan", "")])
def test_what_is_no_number_of_the_unit_is_refused(text, unit):
    with pytest.raises(ValueError, match=f"^{text}$"):
        read_number(text, unit)


def test_a_unit_that_the_name_says_is_not_declared_again():
    with pytest.raises(ValueError, match="size_bytes"):

        class _Twice(declare.Params):
            size_bytes: int = param(MIB, unit="bytes")
