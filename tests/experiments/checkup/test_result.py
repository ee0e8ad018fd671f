from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from msgspec.structs import replace

from experiments.checkup.result import (
    LIMIT_BYTES,
    VERSION,
    Measurement,
    Result,
    Word,
    decode,
    encode,
    read,
)
from experiments.core.problems import UserError
from tests.cases import in_one
from tests.experiments.checkup.cases import CASES
from tests.experiments.checkup.made import whole
from tests.tools import checkup_schema

SCHEMA = json.loads(checkup_schema.FILE.read_text(encoding="utf-8"))
OLDEST = {
    "format": "coreopsis.checkup",
    "version": 1,
    "id": "1",
    "kind": "quick",
    "at": "2026-05-04T03:02:01+00:00",
    "rules_version": 1,
    "rows": [
        {"rule": "cores", "version": 1, "stage": "performs", "word": "fine", "reason": "measured"}
    ],
}


@functools.cache
def kept() -> Result:
    """A checkup in which everything is filled in."""
    run = Measurement(
        experiment="stream",
        version=1,
        device="cpu",
        params={"rounds": 5},
        seconds=2.5,
        outcome="completed",
        values={"triad_bytes_per_s": 8e10},
        notes=("machine_was_quiet",),
    )
    sample: dict[str, float | str | None] = {"t_s": 0.5, "gpu0_celsius": 65.0}
    sample["gpu0_held_back"] = ""
    return replace(whole(*CASES), name="mine", seconds=20.5, measurements=(run,), trace=(sample,))


def faults(data: Any, schema: Any, where: str = "") -> list[str]:
    """Return where data is not as the schema says, or has what it does not name."""
    if "$ref" in schema:
        return faults(data, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], where)
    if "anyOf" in schema:
        return min((faults(data, each, where) for each in schema["anyOf"]), key=len)
    if "enum" in schema:
        return [] if data in schema["enum"] else [f"{where}: {data}"]
    kinds: dict[str, Any] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "object": dict,
        "array": list,
    }
    kind = schema.get("type")
    if kind == "null":
        return [] if data is None else [f"{where}: {data}"]
    if kind is not None and (not isinstance(data, kinds[kind]) or isinstance(data, bool)):
        return [f"{where}: {data!r} is no {kind}"]
    found = [f"{where}: lacks {name}" for name in schema.get("required", ()) if name not in data]
    known = schema.get("properties")
    parts = enumerate(data) if kind == "array" else data.items() if known is not None else ()
    for name, part in parts:
        each = schema.get("items", {}) if kind == "array" else known.get(name)
        at = f"{where}.{name}"
        found += [f"{at}: unknown"] if each is None else faults(part, each, at)
    return found


def test_the_schema_is_that_of_the_result():
    assert checkup_schema.FILE.read_text(encoding="utf-8") == checkup_schema.text()


def test_a_checkup_is_as_the_schema_says():
    assert faults(json.loads(encode(kept())), SCHEMA) == []


@in_one(
    ("path", "value"),
    [
        (("rows", 0, "word"), "green"),
        (("rows", 0, "stage"), 1),
        (("rows", 0, "samples"), ["1"]),
        (("measurements", 0, "values", "triad_bytes_per_s"), "fast"),
        (("kind",), "long"),
        (("machine",), []),
        (("seconds",), True),
        (("trace",), {}),
    ],
)
def test_what_is_not_as_the_schema_says_is_refused(path, value):
    data = json.loads(encode(kept()))
    *way, last = path
    holder = data
    for step in way:
        holder = holder[step]
    holder[last] = value

    with pytest.raises(UserError) as raised:
        decode(json.dumps(data).encode(), "mine.json")

    assert raised.value.problem.key == "checkup_refused"
    if path != ("measurements", 0, "values", "triad_bytes_per_s"):
        assert faults(data, SCHEMA)


def test_a_checkup_comes_back_from_its_file(tmp_path):
    path = tmp_path / "mine.coreopsis-checkup.json"
    path.write_bytes(encode(kept()))

    assert encode(read(path)) == encode(kept())


def test_an_older_file_without_what_came_later_opens():
    result = decode(json.dumps(OLDEST).encode(), "old.json")

    assert (result.outcome, result.trace, result.measurements) == ("completed", (), ())
    assert result.count(Word.FINE) == 1
    assert (result.rows[0].samples, result.rows[0].expected) == ((), ())


def test_what_a_later_program_added_is_left_out():
    later = {**OLDEST, "colour": "red", "rows": [{**OLDEST["rows"][0], "mood": "good"}]}

    assert decode(json.dumps(later).encode(), "later.json") == decode(
        json.dumps(OLDEST).encode(), "old.json"
    )


@in_one(
    ("data", "key"),
    [
        (b"", "checkup_unreadable"),
        (b"{", "checkup_unreadable"),
        (b"[]", "checkup_unreadable"),
        (b"\xff\xfe", "checkup_unreadable"),
        (b"[" * 100_000, "checkup_unreadable"),
        (json.dumps({**OLDEST, "format": "coreopsis.machine"}).encode(), "checkup_unreadable"),
        (json.dumps({**OLDEST, "version": VERSION + 1}).encode(), "file_newer"),
        (json.dumps({**OLDEST, "version": "1"}).encode(), "checkup_refused"),
        (json.dumps({**OLDEST, "version": True}).encode(), "checkup_refused"),
        (json.dumps({**OLDEST, "rows": None}).encode(), "checkup_refused"),
        (json.dumps({**OLDEST, "trace": [{"t_s": 10**400}]}).encode(), "checkup_refused"),
        (json.dumps({**OLDEST, "trace": [{"t_s": [1]}]}).encode(), "checkup_refused"),
    ],
)
def test_what_is_no_checkup_is_refused(data, key):
    with pytest.raises(UserError) as raised:
        decode(data, "mine.json")

    assert raised.value.problem.key == key
    assert raised.value.problem.values["name"] == "mine.json"


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path):
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(LIMIT_BYTES + 1)

    for path in (tmp_path / "none.json", huge, tmp_path):
        with pytest.raises(UserError) as raised:
            read(path)
        assert raised.value.problem.key == "recording_unreadable"
