from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine.model import (
    BadMachine,
    Cache,
    Cpu,
    Machine,
    Missing,
    NumaNode,
    Thread,
    caches_of,
    from_json,
    last_level_cache_bytes,
    missing_of,
    physical_cores,
    siblings,
    source_of,
    to_json,
    usable_threads,
)
from machine.tidy import tidy
from tests.cases import in_one
from tests.tools.made_machines import server

# Two cores with two threads each, numbered like many BIOSes do; the last thread is not ours.
THREADS = tuple(Thread(id=n, core=n % 2, online=True, usable=n != 3) for n in range(4))
CACHES = (
    Cache(level=2, kind="unified", size_bytes=2**20, threads=(0, 2)),
    Cache(level=1, kind="instruction", size_bytes=2**15, threads=(0, 2)),
    Cache(level=1, kind="data", size_bytes=2**15, threads=(0, 2)),
    Cache(level=2, kind="unified", size_bytes=2**21, threads=(1, 3)),
    Cache(level=3, kind="unified", size_bytes=2**25, threads=(3,)),
)
MACHINE = Machine(cpu=Cpu(threads_list=THREADS, caches=CACHES))

machines = st.builds(
    Machine,
    virtualization=st.none() | st.text(),
    cpu=st.builds(
        Cpu,
        cores=st.none() | st.integers(0, 999),
        threads_list=st.lists(st.builds(Thread, id=st.integers(0, 999))).map(tuple),
        caches=st.lists(st.builds(Cache)).map(tuple),
    ),
    numa=st.lists(st.builds(NumaNode, id=st.integers(0, 255))).map(tuple),
    sources=st.dictionaries(st.text(), st.text()),
    missing=st.lists(st.builds(Missing)).map(tuple),
)


@given(machines)
def test_a_machine_survives_its_json(machine):
    plain = to_json(tidy(machine))
    assert from_json(plain) == tidy(machine)
    assert json.loads(json.dumps(plain)) == plain


def test_all_fields_of_the_contract_are_there():
    assert to_json(Machine()).keys() == {
        *("format", "version", "fingerprint", "os", "system", "virtualization", "container"),
        *("cpu", "numa"),
        *("memory", "pci", "gpus", "gpu_links", "nvswitch", "storage", "network", "peaks"),
        *("sources", "missing"),
    }
    assert to_json(Machine())["cpu"].keys() == {
        *("model", "packages", "cores", "threads", "usable_threads", "counts", "threads_list"),
        *("caches", "features", "clock", "temperatures", "throttling", "power_limits"),
        *("vulnerabilities", "microcode"),
    }


HEAD = {"format": "coreopsis.machine", "version": 1}


@in_one(
    ("data", "said"),
    [
        ([], "not a machine file"),
        ({}, "not a machine file"),
        ({"format": "coreopsis.run", "version": 1}, "not a machine file"),
        ({"format": "coreopsis.machine"}, "which version"),
        ({**HEAD, "version": "1"}, "which version"),
        ({**HEAD, "version": 10**2000}, "which version"),
        ({**HEAD, "version": 2}, "newer than this program"),
        ({**HEAD, "cpu": {"threads": "two"}}, "at cpu.threads: Expected `int | null`, got `str`"),
        ({**HEAD, "cpu": {"threads": True}}, "at cpu.threads"),
        ({**HEAD, "numa": [{"id": 0}, {}]}, r"at numa\[1\]: .*required field `id`"),
        ({**HEAD, "cpu": {"caches": [{"kind": "trace"}]}}, r"at cpu.caches\[0\].kind"),
    ],
)
def test_a_bad_machine_is_told_in_one_sentence(data, said):
    with pytest.raises(BadMachine, match=said) as caught:
        from_json(data)
    assert "\n" not in str(caught.value)


def test_a_field_of_a_wrong_type_is_named_whichever_it_is():
    whole = to_json(server.make())
    kinds = {
        tuple(name if str(name).isidentifier() else "*" for name in way): (inside, way)
        for inside, way in places(whole)
    }
    assert ("peaks", "gpus", "*", "fp16", "bytes_per_s") not in kinds
    assert ("peaks", "gpus", "*", "fp16", "flop_per_s") in kinds
    for kind, (inside, way) in kinds.items():
        before = inside[way[-1]]
        inside[way[-1]] = [[]] if before is None or isinstance(before, dict) else {"wrong": []}
        with pytest.raises(BadMachine) as caught:
            from_json(whole)
        inside[way[-1]] = before
        assert way[0] in str(caught.value), kind
        # What stands in a dict is told as [...].
        assert kind[-1] in str(caught.value) or "[...]" in str(caught.value) or "*" in kind, kind
    assert from_json(whole) == server.make()


def places(value, way=()):
    """Yield what holds each field of a machine's JSON, and the way there."""
    for name in value if isinstance(value, dict) else range(len(value)):
        yield value, (*way, name)
        if isinstance(value[name], dict | list):
            yield from places(value[name], (*way, name))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_data_is_a_machine_or_a_bad_machine(data):
    for candidate in (data, {**HEAD, "cpu": data}, {**HEAD, "numa": data, "missing": data}):
        with contextlib.suppress(BadMachine):
            assert isinstance(from_json(candidate), Machine)


def test_a_newer_field_of_the_same_version_is_passed_over():
    assert from_json({**HEAD, "neural_engine": 1}) == Machine()


def test_usable_threads_are_those_of_this_process():
    assert [thread.id for thread in usable_threads(MACHINE)] == [0, 1, 2]
    assert physical_cores(MACHINE) == 2


def test_siblings_are_the_usable_threads_of_a_core():
    assert [thread.id for thread in siblings(MACHINE, 2)] == [0, 2]
    assert [thread.id for thread in siblings(MACHINE, 1)] == [1]
    assert siblings(MACHINE, 99) == []


def test_threads_of_unknown_cores_are_nobodys_siblings():
    machine = Machine(cpu=Cpu(threads_list=tuple(Thread(id=n, usable=True) for n in range(2))))
    assert [thread.id for thread in siblings(machine, 1)] == [1]
    assert physical_cores(machine) is None


def test_caches_of_a_thread_hold_data_and_come_nearest_first():
    assert [(c.level, c.kind) for c in caches_of(MACHINE, 0)] == [(1, "data"), (2, "unified")]


def test_the_last_level_is_one_that_a_usable_thread_reaches():
    assert last_level_cache_bytes(MACHINE) == 2**21
    assert last_level_cache_bytes(Machine()) is None


def test_sources_and_reasons_are_found_for_elements_and_parts():
    machine = Machine(
        sources={"cpu.model": "a", "cpu.threads_list[*].core": "b", "cpu.caches": "c"},
        missing=(
            Missing(what="cpu.threads_list[*].die", why="no dies", how=""),
            Missing(what="cpu.threads_list[2]", why="offline", how=""),
            Missing(what="gpus", why="not yet", how=""),
        ),
    )
    assert source_of(machine, "cpu.model") == "a"
    assert source_of(machine, "cpu.threads_list[3].core") == "b"
    assert source_of(machine, "cpu.caches[0].size_bytes") == "c"
    assert source_of(machine, "cpu.clock.max_hz") is None
    assert missing_of(machine, "cpu.threads_list[3].die").why == "no dies"
    assert missing_of(machine, "cpu.threads_list[2].core").why == "offline"
    assert missing_of(machine, "gpus[0].memory_bytes").why == "not yet"
    assert missing_of(machine, "cpu.model") is None
