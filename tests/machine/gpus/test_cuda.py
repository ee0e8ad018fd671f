from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

from machine.gpus import cuda
from tests.machine.fake_nvml import pointed_at

ATTRIBUTES = {16: 132, 18: 0, 34: 0, 37: 5120, 38: 52428800, 50: 0, 75: 9, 76: 0}


class FakeCuda:
    """A libcuda with GPUs on the buses 0x1a and 0x81, that reach each other one way."""

    def __init__(self, *, init=0):
        self.init, self.calls = init, []

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append(name)
            return getattr(self, f"_{name}")(*arguments)

        return call

    def _cuInit(self, flags):
        return self.init

    def _cuDeviceGetCount(self, count):
        pointed_at(count).value = 2
        return 0

    def _cuDeviceGet(self, device, number):
        pointed_at(device).value = number
        return 0

    def _cuDeviceGetName(self, name, size, device):
        name.value = b"A GPU"
        return 0

    def _cuDeviceGetUuid(self, uuid, device):
        ctypes.memmove(uuid, bytes(range(16)), 16)
        return 0

    def _cuDeviceTotalMem_v2(self, memory, device):
        pointed_at(memory).value = 2**36
        return 0

    def _cuDeviceGetAttribute(self, value, attribute, device):
        pointed_at(value).value = (0x1A, 0x81)[device] if attribute == 33 else ATTRIBUTES[attribute]
        return 0

    def _cuDeviceCanAccessPeer(self, value, device, peer):
        pointed_at(value).value = device < peer
        return 0


def asked(library):
    """Return the answer of the child about this library."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ctypes, "CDLL", lambda name: library)
        return cuda.ask()


def test_attributes_are_read_by_address():
    first, second = asked(FakeCuda())
    assert first == {
        "address": "0000:1a:00.0",
        "uuid": "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f",
        "name": "A GPU",
        "memory_bytes": 2**36,
        "sms": 132,
        "l2_bytes": 52428800,
        "memory_bus_bits": 5120,
        "compute_capability": "9.0",
        "is_integrated": False,
        "peers": ["0000:81:00.0"],
    }
    assert (second["address"], second["peers"]) == ("0000:81:00.0", [])


def test_no_context_is_made():
    fake = FakeCuda()
    asked(fake)
    assert [name for name in fake.calls if "Ctx" in name] == []


@pytest.mark.parametrize(
    ("number", "words"),
    [(802, "set up their switches"), (803, "different versions"), (4711, "error 4711")],
)
def test_a_cuda_that_does_not_start_says_why(number, words):
    assert words in asked(FakeCuda(init=number))


def test_a_library_without_the_calls_is_too_old():
    class Old:
        def cuInit(self, flags):
            return 0

    assert "too old" in asked(Old())


def children(monkeypatch, *programs):
    """Let programs stand in for the children, the first for the child that sees everything."""
    left, start = list(programs), subprocess.Popen

    def child(command, **options):
        return start([sys.executable, "-c", left.pop(0)], **options)

    monkeypatch.setattr(subprocess, "Popen", child)


GPUS = json.dumps(asked(FakeCuda()))
SAID = f"print({GPUS!r})"


def test_all_gpus_are_visible_where_nothing_hides_them(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    children(monkeypatch, SAID)
    answer = cuda.start().answer()
    assert [gpu.sms for gpu in answer.gpus] == [132, 132]
    assert answer.gpus[0].peers == ("0000:81:00.0",)
    assert answer.visible == {"0000:1a:00.0", "0000:81:00.0"}


def test_what_the_environment_hides_is_asked_of_cuda_itself(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    second = json.dumps(json.loads(GPUS)[1:])
    children(monkeypatch, SAID, f"print({second!r})")
    answer = cuda.start().answer()
    assert len(answer.gpus) == 2
    assert answer.visible == {"0000:81:00.0"}


def test_hiding_all_leaves_none_visible(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    children(monkeypatch, SAID, f"print({json.dumps(asked(FakeCuda(init=100)))!r})")
    assert cuda.start().answer().visible == frozenset()


def test_a_failure_of_the_second_question_leaves_the_first_answered(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    children(monkeypatch, SAID, "raise SystemExit(1)")
    answer = cuda.start().answer()
    assert (len(answer.gpus), answer.visible, answer.why) == (2, None, None)


def test_a_driver_that_crashes_takes_nobody_with_it(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    children(monkeypatch, "import os; os.kill(os.getpid(), 11)")
    assert cuda.start().answer().why == "CUDA's driver library crashed when it was asked."


def test_a_driver_that_hangs_is_waited_for_only_so_long(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(cuda, "ANSWER_WITHIN_S", 0.2)
    children(monkeypatch, "import time; time.sleep(60)")
    asking = cuda.start()
    assert "did not answer" in asking.answer().why
    assert asking.children[0].returncode is not None


def test_after_trouble_with_nvml_cuda_is_waited_for_only_shortly(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    children(monkeypatch, "import time; time.sleep(60)")
    assert "did not answer" in cuda.start().answer(0.2).why


def test_the_child_needs_nothing_but_the_standard_library():
    program = [sys.executable, "-I", "-S", cuda.__file__]
    said = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    assert isinstance(json.loads(said.stdout), list | str)
    assert said.stderr == ""
    assert Path(cuda.__file__).name == "cuda.py"


def test_asking_leaves_no_cuda_in_this_process(monkeypatch):
    monkeypatch.setattr(cuda.ctypes, "CDLL", lambda name: pytest.fail("loaded here"))
    answer = cuda.start().answer()
    assert (answer.why is None) == bool(answer.gpus)
