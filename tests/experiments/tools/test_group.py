"""Members that die, fail or never come; most are played without torch, which takes long to load."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import uuid

import psutil
import pytest

from experiments.core.bench import Bench, StopRequested
from experiments.core.problems import UserError
from experiments.tools import group
from experiments.tools import member as one
from experiments.tools.group import together
from machine.system import cgroups
from tests import ROOT
from tests.experiments import group_works as works
from tests.experiments.machines import machine
from tests.processes import TOKEN, living, until

SOON_S = 30.0  # patient; they take tenths of a second, and what they end would take a minute


@pytest.fixture
def bare(monkeypatch):
    """Start members without torch."""
    monkeypatch.setattr(group, "PROGRAM", works.__name__)


@pytest.fixture(autouse=True)
def nobody_is_left():
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before


def problem_of(work, *arguments, size=2):
    start_s = time.monotonic()
    with pytest.raises(UserError) as raised:
        list(together(Bench(machine()), work, *arguments, size=size))
    assert time.monotonic() - start_s < SOON_S
    return raised.value.problem


def test_each_member_works_and_is_heard(bare):
    said = list(together(Bench(machine()), works.greet, "a", 2, size=3, threads=4))

    assert sorted(said) == [(rank, 3, 4, ("a", 2)) for rank in range(3)]


@pytest.mark.parametrize("work", [works.killed, works.echoed_first])
def test_a_killed_member_is_named_though_others_complain_of_its_end(bare, work):
    problem = problem_of(work, 1)

    assert problem.key == "member_killed"
    assert problem.values == {"rank": 1}


def test_memory_ran_out_only_where_the_system_has_counted_it(bare, monkeypatch):
    counts = iter([3, 4])
    monkeypatch.setattr(cgroups, "oom_kills", lambda root: next(counts))

    assert problem_of(works.killed, 1).key == "member_out_of_memory"


@pytest.mark.skipif(sys.platform != "linux", reason="seen on Linux only")
def test_members_of_a_killed_run_end_though_they_hear_nothing(tmp_path):
    token = uuid.uuid4().hex
    code = f"from {works.__name__} import be_killed; be_killed()"
    environment = {
        **os.environ, TOKEN: token, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path),
    }  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=-1) as run:
        assert run.stdout.readline() == b"[0, 1]\n"
        assert len(living(token)) == 3
        run.kill()
    assert until(lambda: not living(token), 20.0)


def test_a_member_that_raises_says_why(bare):
    assert problem_of(works.raises, 1, ValueError("no such thing")).values == {
        "error": "ValueError: no such thing"
    }


def test_out_of_memory_in_a_member_is_told_as_in_any_run(bare):
    assert problem_of(works.raises, 0, MemoryError()).key == "out_of_memory"


def test_trouble_of_a_member_is_trouble_of_the_run(bare):
    problem = problem_of(works.troubled)

    assert (problem.key, problem.values) == ("port_taken", {"port": 5})


def test_a_member_that_ends_without_a_word_is_named(bare):
    assert problem_of(works.leaves, 1).values == {"rank": 1, "status": 7}


def test_a_member_that_never_comes_is_not_waited_for(bare, monkeypatch):
    monkeypatch.setenv("STUCK", "1")
    monkeypatch.setattr(group, "JOIN_S", 0.3)
    problem = problem_of(works.greet)

    assert (problem.key, problem.values["rank"]) == ("member_missing", 1)


def test_a_member_that_does_not_even_load_is_not_waited_for(bare, monkeypatch):
    monkeypatch.setattr(group, "LOAD_S", 0.0)

    assert problem_of(works.greet).key == "member_missing"


def test_a_stop_ends_all_members(bare):
    asked = []
    running = together(Bench(machine(), stop=lambda: bool(asked)), works.tells_and_stays, size=2)
    next(running)
    asked.append(True)
    start_s = time.monotonic()
    with pytest.raises(StopRequested):
        list(running)

    assert time.monotonic() - start_s < SOON_S


def test_a_run_that_nobody_wants_any_more_ends_all_members(bare):
    running = together(Bench(machine()), works.tells_and_stays, size=2)
    next(running)
    running.close()


def test_a_killed_rank_ends_a_group_of_torch_and_the_next_one_works(monkeypatch):
    torch = pytest.importorskip("torch")
    assert torch.distributed.is_gloo_available()
    assert problem_of(works.added, 1).key == "member_killed"

    monkeypatch.setattr(group, "PROGRAM", works.__name__)
    assert len(list(together(Bench(machine()), works.greet, size=2))) == 2


def test_a_taken_port_and_a_first_member_that_is_not_there_are_told():
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    kinds = {"size": 2, "device": "cpu", "threads": threads, "local_rank": 0}
    first, second = (one.Member(Bench(machine()), rank=rank, **kinds) for rank in (0, 1))
    with socket.socket() as other:
        other.bind((one.LOOPBACK, 0))
        port = other.getsockname()[1]
        with pytest.raises(UserError) as missing:
            second.store(one.LOOPBACK, port, limit_s=0.2)
        other.listen()
        with pytest.raises(UserError) as taken:
            first.store(one.LOOPBACK, port, limit_s=0.2)

    assert taken.value.problem.values == {"port": port}
    assert missing.value.problem.key == "first_member_missing"


def test_gloo_speaks_through_the_interface_towards_the_first_member():
    name = one.interface_towards(one.LOOPBACK)

    assert name in psutil.net_if_addrs()
    assert any(each.address == one.LOOPBACK for each in psutil.net_if_addrs()[name])
