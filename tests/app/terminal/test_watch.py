from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest
from rich.console import Console

from app.context import Context, ExitCode
from app.terminal import watch
from experiments.core.problems import UserError
from experiments.engine import messages
from machine.live.recorded_watch import write
from machine.model import to_json
from tests.gallery.live_samples import machine, samples


@pytest.fixture
def fake(tmp_path):
    path = tmp_path / "made-up.json"
    path.write_text(json.dumps(to_json(machine(2, gpus="pair"))))
    return path


def record(path, count: int = 2, **options) -> None:
    made = samples(count, hz=20.0, seconds=0.2, **options)
    plain = [{name: getattr(sample, name) for name in sample.__slots__} for sample in made]
    write(path.with_suffix(".watch.jsonl"), plain, at="2026-11-20T10:00:00", machine=None)


def told(fake, *, terminal: bool, seconds=None, width: int = 120) -> tuple[ExitCode, str]:
    context, out = Context(fake_machine=fake), io.StringIO()
    context.console = Console(file=out, force_terminal=terminal, width=width, color_system=None)
    context.errors = Console(file=out, width=width)
    options = SimpleNamespace(hz=2.0, seconds=seconds, json=False)
    return watch.run(options, context), out.getvalue()


def test_a_fake_machine_without_a_watch_says_so(fake):
    with pytest.raises(UserError) as trouble:
        told(fake, terminal=False)

    assert trouble.value.problem.key == "fake_machine_unwatched"


def test_a_recorded_watch_is_told_once_and_labelled(fake):
    record(fake, gpus="pair")

    code, text = told(fake, terminal=False)

    first, *lines = text.splitlines()
    assert code is ExitCode.DONE
    assert first == "RECORDED · ? · 2026-11-20"
    assert len(lines) == 5
    assert "disks" in lines[-1]
    assert "network" in lines[-1]
    assert "gpu0:" in lines[-1]
    assert "heat 6" in lines[-1]


def test_a_machine_without_a_sensor_says_it_once_and_shows_no_heat(fake):
    record(fake, virtual=True)

    _, text = told(fake, terminal=True)
    _, lines = told(fake, terminal=False)

    assert "No sensor of the processor is in sight" in text.replace("\n", " ")
    assert "°C" not in text
    assert "heat " not in lines


def test_in_a_pipe_each_sample_is_one_line_however_long(fake):
    record(fake, gpus="pair")

    _, text = told(fake, terminal=False, width=40)

    assert len(text.splitlines()) == 6


def test_in_a_terminal_everything_is_told_in_words(fake):
    record(fake, gpus="pair", disks=3)

    _, text = told(fake, terminal=True)

    for words in (
        "tasks waited 12",
        "no task waits",
        "busiest of 3: nvme0n1",
        "requests under way",
        "no packet dropped",
        "gpu 0",
        "of 575 W",
        "limit 95 °C",
        "not slowed by heat",
    ):
        assert words in text.replace("\N{NO-BREAK SPACE}", " "), words


def test_many_threads_are_told_as_steps(fake):
    record(fake, 64)

    _, text = told(fake, terminal=True)

    assert "threads 0 to 29" in text
    assert "thread 5 " not in text
    _, lines = told(fake, terminal=False)
    assert "  cores " in lines.splitlines()[-1]


def test_in_a_narrow_terminal_the_words_keep_the_room(fake):
    record(fake, 64, gpus="pair")

    _, text = told(fake, terminal=True, width=60)

    assert "threads 0 to 14" in text
    assert "threads 0 to 29" not in text


def test_what_is_not_available_is_told_over_the_whole_width(fake):
    missing = [{"what": "threads[*].hz", "why": "It is not told.", "how": "Ask."}]
    made = samples(2, hz=20.0, seconds=0.1)
    plain = [{name: getattr(each, name) for name in each.__slots__} for each in made]
    for each in plain:
        each["missing"] = missing
    write(fake.with_suffix(".watch.jsonl"), plain, at="2026-11-20T10:00:00", machine=None)

    _, text = told(fake, terminal=True, width=60)

    assert "\nNot available here: core clocks. It is not told." in text


def test_it_ends_when_it_should(fake):
    record(fake)
    code, text = told(fake, terminal=False, seconds=0.01)

    assert code is ExitCode.DONE
    assert len(text.splitlines()) == 2  # of all that was recorded


def test_it_is_streamed_as_json(fake, capsysbinary):
    record(fake, gpus="one")
    context = Context(fake_machine=fake)
    context.errors = Console(file=io.StringIO())

    watch.run(SimpleNamespace(hz=2.0, seconds=None, json=True), context)

    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert len(lines) == 5
    assert lines[-1]["gpus"][0]["busy"] is not None
    assert lines[-1]["disks"][0]["name"] == "nvme0n1"


def test_a_load_that_cannot_be_read_is_told_with_its_cause(monkeypatch, capsys):
    ended = messages.Finished(
        outcome=messages.Outcome.FAILED,
        problem=messages.ProblemSent(key="reading_failed", values={"error": "no counters"}),
    )
    lines = iter([messages.encode(ended)])
    worker = SimpleNamespace(
        send=lambda _: None, close=lambda: None, readline=lambda: next(lines, b"")
    )
    monkeypatch.setattr(watch, "Worker", lambda **_: worker)

    code = watch.run(SimpleNamespace(hz=2.0, seconds=None, json=False), Context())

    assert code is ExitCode.FAILED
    assert "no counters" in capsys.readouterr().err
