"""Any bytes are a message or a BadMessage with its reason, and no message says NaN."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.messages import BadMessage, decode_command, decode_event, encode
from experiments.engine.recording import read
from tests.cases import in_one
from tests.experiments.engine.lines import encoded, whole_run

# --- any message

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
floats = st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(-(2**63), 2**64 - 1)
cells = st.none() | st.booleans() | whole | floats | texts
values = st.recursive(
    cells,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)
lists = st.lists(objects, max_size=3)


@st.composite
def frames(draw: Any) -> messages.Frame:
    shape = draw(st.tuples(st.integers(1, 20), st.integers(1, 20)))
    pixels = draw(st.binary(min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    data = base64.b64encode(zlib.compress(pixels)).decode()
    return messages.Frame(
        n=draw(whole), t_s=draw(floats), table=draw(texts), shape=shape, data=data
    )


findings = st.builds(
    messages.FindingSent,
    message=texts,
    values=st.dictionaries(texts, floats, max_size=4),
    limits=st.lists(texts, max_size=4),
)
problems = st.builds(messages.ProblemSent, key=texts, values=objects, detail=texts)
commands = st.one_of(
    st.builds(messages.Inspect, root=st.none() | texts),
    st.builds(messages.Watch, hz=floats),
    st.builds(messages.Rate, hz=floats),
    st.builds(
        messages.Measure,
        experiment=texts,
        params=objects,
        quick=st.booleans(),
        run=texts,
        hold=st.booleans(),
    ),
    st.builds(messages.Live, experiment=texts),
    st.builds(messages.Point, point=whole, params=objects),
    st.just(messages.Stop()),
    st.just(messages.Go()),
)
events = st.one_of(
    st.builds(messages.Hello, protocol=whole, program=texts, pid=whole, python=texts),
    st.builds(messages.Found, path=texts, value=values),
    st.builds(messages.Whole, value=objects),
    st.builds(
        messages.Sample,
        t_s=floats, threads=lists, memory=objects, disks=lists, network=lists, gpus=lists,
        missing=lists,
    ),
    st.builds(
        messages.Started,
        format=texts, version=whole, run=texts, experiment=texts, experiment_version=whole,
        params=objects, quick=st.booleans(),
        tables=st.dictionaries(texts, st.dictionaries(texts, texts, max_size=3), max_size=3),
        machine=objects, environment=objects, at=texts,
    ),
    st.builds(
        messages.Row, n=whole, t_s=floats, table=texts,
        row=st.dictionaries(texts, cells, max_size=4),
    ),
    frames(),
    st.builds(messages.Progress, fraction=floats, left_s=st.none() | floats),
    st.builds(messages.Note, key=texts, values=objects),
    st.just(messages.Ready()),
    st.builds(messages.PointDone, point=whole, problem=st.none() | problems),
    st.builds(
        messages.Finished,
        outcome=st.sampled_from(messages.Outcome),
        finding=st.none() | findings,
        problem=st.none() | problems,
    ),
)  # fmt: skip


@given(commands)
def test_every_command_arrives_as_it_was_sent(command):
    assert decode_command(encode(command)) == command


@given(events)
def test_every_event_arrives_as_it_was_sent(event):
    line = encode(event)
    assert decode_event(line) == event
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    json.loads(line, parse_constant=pytest.fail)  # what other programs read


@given(events, commands)
def test_commands_are_no_events_and_events_no_commands(event, command):
    with pytest.raises(BadMessage):
        decode_command(encode(event))
    with pytest.raises(BadMessage):
        decode_event(encode(command))


def test_every_kind_of_message_is_tried_here():
    kinds = {
        kind.__name__
        for base in (messages.Message, messages.RunLine)
        for kind in base.__subclasses__()
    } - {"RunLine", "FindingSent"}
    tried = {"Hello", "Found", "Whole", "Sample", "Started", "Row", "Frame", "Progress", "Note"}
    tried |= {"Finished", "ProblemSent", "Inspect", "Watch", "Rate", "Measure", "Stop", "Go"}
    tried |= {"Live", "Point", "Ready", "PointDone"}
    assert kinds == tried


# --- any bytes

spoilers = st.sampled_from(
    [b"", b"\n", b"\0", b"\xff", b"NaN", b"1e999", b"-1", b"null", b"{}", b"[" * 2000, b'"', b"\\"]
)


@st.composite
def spoiled(draw: Any, lines: st.SearchStrategy[bytes]) -> bytes:
    """Return a line in which some bytes were cut out or put in."""
    line = draw(lines)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(line)))
        end = draw(st.integers(start, min(len(line), start + 30)))
        line = line[:start] + draw(spoilers | st.binary(max_size=8)) + line[end:]
    return line


either = (commands | events).map(encode)


@given(st.binary(max_size=300) | st.binary(max_size=300).map(lambda b: b + b"\n") | spoiled(either))
def test_any_bytes_are_a_message_or_a_bad_one_with_its_reason(line):
    for decode in (decode_event, decode_command):
        reason = None
        try:
            encode(decode(line))  # no message that could not be sent on
        except BadMessage as error:
            reason = str(error)
        assert reason is None or 0 < len(reason) <= messages.REASON_LIMIT + 1


files = st.one_of(
    st.binary(max_size=300),
    spoiled(st.just(encoded(whole_run()))),
    st.lists(events | commands, max_size=5).map(encoded),
    st.lists(events, max_size=5).map(lambda more: encoded([*whole_run()[:2], *more])),
)


@given(files)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_is_a_run_or_trouble_and_stays_as_it_is(tmp_path, data):
    path = tmp_path / "any.coreopsis.jsonl"
    path.write_bytes(data)
    key = None
    try:
        run = read(path)
    except UserError as trouble:
        key = trouble.problem.key
    assert key is None or key.startswith(("recording_", "report_"))
    assert key is not None or run.started.format == messages.RUN_FORMAT
    assert path.read_bytes() == data


def test_a_field_of_nobody_whose_name_is_no_utf8_spoils_its_line(tmp_path):
    data = encoded(whole_run()).replace(b'"finding"', b'"\x80finding"')
    assert b"\x80" in data
    path = tmp_path / "any.coreopsis.jsonl"
    path.write_bytes(data)
    with pytest.raises(UserError) as trouble:
        read(path)
    assert trouble.value.problem.key == "recording_damaged"


# --- what cannot be sent


@dataclasses.dataclass
class Plain:
    """A record, which msgspec would write."""

    value: float


@in_one("number", [math.nan, math.inf, -math.inf])
@in_one(
    "wrap",
    [
        lambda x: x,
        lambda x: [x],
        lambda x: (1, x),
        lambda x: {x},
        lambda x: frozenset([x]),
        lambda x: {"a": {"b": [x]}},
        lambda x: {x: 1},
        lambda x: {"a": {x: 1}},
        Plain,
        lambda x: {"a": [Plain(x)]},
    ],
)
def test_nan_and_infinity_are_refused_wherever_they_hide(wrap, number):
    with pytest.raises(BadMessage, match=r"nan|inf"):
        encode(messages.Found(path="cpu", value=wrap(number)))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_the_reason_names_the_place(number):
    for message, place in (
        (messages.Row(n=0, t_s=0.0, table="t", row={"speed": number}), "row.speed"),
        (messages.Row(n=0, t_s=number, table="t", row={}), "t_s"),
        (messages.Progress(fraction=number), "fraction"),
        (
            messages.Finished(
                outcome=messages.Outcome.COMPLETED,
                finding=messages.FindingSent(message="m", values={"best_s": number}, limits=[]),
            ),
            "finding.values.best_s",
        ),
    ):
        with pytest.raises(BadMessage, match=f"^{place} is {number}$"):
            encode(message)


def test_what_is_no_json_is_refused():
    endless: list[Any] = []
    endless.append(endless)
    for value in (object(), complex(1), "\udcff", 10**5000, endless, {(1,): 1}, Path()):
        with pytest.raises(BadMessage):
            encode(messages.Found(path="", value=value))


def test_a_line_is_at_most_a_mebibyte_on_both_sides():
    room = messages.LINE_LIMIT_BYTES - len(encode(messages.Note(key="")))
    line = encode(messages.Note(key="x" * room))
    assert len(line) == messages.LINE_LIMIT_BYTES
    assert decode_event(line).key == "x" * room
    with pytest.raises(BadMessage, match="at most"):
        encode(messages.Note(key="x" * (room + 1)))
    with pytest.raises(BadMessage, match="more than"):
        decode_event(line[:-3] + b'x"}\n')


@in_one(
    ("line", "reason"),
    [
        (b'{"type":"stop"}', "torn"),
        (b"", "torn"),
        (b'{"type":"halt"}\n', "halt"),
        (b'{"type":"rate"}\n', "hz"),
        (b'{"type":"rate","hz":"2"}\n', "str"),
        (b'{"type":"rate","hz":NaN}\n', "malformed"),
        (b'{"type":"rate","hz":2,"more":1}\n', "more"),
        (b'{"hz":2}\n', "type"),
        (b'{"type":"stop"} {"type":"stop"}\n', "trailing"),
        (b"[]\n", "array"),
        (b"null\n", "null"),
    ],
)
def test_a_bad_command_is_told_why(line, reason):
    with pytest.raises(BadMessage, match=reason):
        decode_command(line)


@in_one(
    ("shape", "pixels"),
    [((1, 2), b"\0"), ((1, 1), b"\0\0"), ((0, 1), b""), ((321, 1), bytes(321)), ((-1, -1), b"\0")],
)
def test_a_frame_is_what_its_shape_says(shape, pixels):
    data = base64.b64encode(zlib.compress(pixels)).decode()
    with pytest.raises(ValueError, match="frame"):
        messages.Frame(n=0, t_s=0.0, table="t", shape=shape, data=data)
    said = {"type": "frame", "n": 0, "t_s": 0, "table": "t", "shape": shape, "data": data}
    with pytest.raises(BadMessage, match="frame"):
        decode_event(json.dumps(said).encode() + b"\n")


@in_one("data", ["", "!", "AAAA", "eJxjAA=="])
def test_frame_data_that_is_none_is_refused(data):
    with pytest.raises(ValueError, match="frame"):
        messages.Frame(n=0, t_s=0.0, table="t", shape=(1, 1), data=data)


def test_a_bomb_in_a_frame_is_not_unpacked():
    data = base64.b64encode(zlib.compress(bytes(2**26), 1)).decode()
    with pytest.raises(ValueError, match="frame"):
        messages.Frame(n=0, t_s=0.0, table="t", shape=(320, 320), data=data)


def test_values_that_are_not_clear_are_not_drawn():
    found = messages.FindingSent(message="x", values={"a": 1.0, "b": 2.0}, limits=[], unclear=["b"])

    assert found.clear_values() == {"a": 1.0}
