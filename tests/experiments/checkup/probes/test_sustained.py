from __future__ import annotations

import contextlib
import math
import threading
import time

import pytest
from msgspec.structs import replace

from experiments.checkup.probes.sustained import experiment
from experiments.checkup.probes.sustained.experiment import (
    ALL,
    EXPERIMENT,
    SILENT_LOOKS,
    GpuState,
    Heat,
    Params,
    Work,
    analyse,
    kept_fractions,
    measure,
    where,
)
from experiments.checkup.probes.sustained.heaters import Gpus
from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.parameters import from_json, to_json
from experiments.core.problems import UserError
from machine.condition import Temperature
from machine.devices import ClockReason
from machine.inspect import inspect
from machine.live.gpu_samples import GpuSample
from tests.experiments.machines import machine
from tests.experiments.stopping import stop_after_rows
from tests.experiments.tables import in_tables

AGREED = {
    "kept_fraction", "cpu_kept_fraction", "gpu_kept_fraction", "hottest_celsius",
    "stopped_by_heat", "done_s", "gpu_watts",
}  # fmt: skip
AGREED_COLUMNS = {
    "work": {"t_s", "device", "flop_per_s"},
    "heat": {"t_s", "sensor", "celsius"},
    "gpus": {"t_s", "device", "sm_hz", "power_watts", "held_back"},
}

SHORT = Params(duration_s=0.4, gpu_rows=16)


def work(rate, device="cpu", seconds=60):
    """Rows of a second each; `rate` is a function of the time."""
    return [
        Work(t_s=t + 1.0, device=device, flop_per_s=1e12 * rate(t) * (1 + 0.002 * (-1) ** t))
        for t in range(seconds)
    ]


def steady(_t):
    return 1.0


def throttling(t):
    return 1.0 if t < 25 else 0.85


def found(rows, heat=(), gpus=(), stop_celsius=98.0):
    tables = {"work": rows, "heat": list(heat), "gpus": list(gpus)}
    return analyse(Params(stop_celsius=stop_celsius), tables, machine())


def test_a_machine_that_keeps_its_speed_is_said_to():
    finding = found(work(steady), [Heat(t_s=1.0, sensor="Tctl", celsius=71.0)])

    assert finding.message == "stays"
    assert finding.values["kept_fraction"] == pytest.approx(1, abs=0.01)
    assert finding.values["done_s"] == 60
    assert finding.values["hottest_celsius"] == 71
    assert finding.values["stopped_by_heat"] == 0
    assert "no_sensor" not in finding.limits


def test_a_machine_that_slows_down_is_said_to():
    finding = found(work(throttling))

    assert finding.message == "falls"
    assert finding.values["cpu_kept_fraction"] == pytest.approx(0.85, abs=0.01)
    assert "no_sensor" in finding.limits
    assert "hottest_celsius" not in finding.values


def test_of_two_gpus_the_worse_counts():
    rows = [*work(steady), *work(steady, "cuda:0"), *work(throttling, "cuda:1")]
    finding = found(rows)

    assert finding.message == "falls"
    assert finding.values["cpu_kept_fraction"] == pytest.approx(1, abs=0.01)
    assert finding.values["gpu_kept_fraction"] == pytest.approx(0.85, abs=0.01)
    assert kept_fractions(rows)["cuda:0"] == pytest.approx(1, abs=0.01)


def test_one_slow_second_is_no_fall():
    assert found(work(lambda t: 0.5 if t == 55 else 1.0)).message == "stays"


def test_what_scatters_cannot_be_told():
    finding = found(work(lambda t: (1.0, 0.4, 1.6, 0.7)[t * t % 4] * (0.8 if t > 49 else 1)))

    assert finding.message in ("cannot_tell", "stays")
    assert (
        found(work(lambda t: 0.96 if t > 8 else (0.9, 1.3)[t % 2], seconds=12)).message != "falls"
    )


def test_a_run_that_heat_ended_says_so():
    heat = [Heat(t_s=1.0, sensor="cuda:0", celsius=99.0)]
    finding = found(work(steady, seconds=4), heat, stop_celsius=95.0)

    assert finding.message == "too_hot"
    assert finding.values["stopped_by_heat"] == 1


def test_too_few_rows_or_none_tell_nothing():
    assert found(work(steady, seconds=2)).message == "too_short"
    assert found([]).message == "nothing_measured"


def test_the_highest_power_of_a_gpu_is_told():
    states = [
        GpuState(t_s=1.0, device="cuda:0", sm_hz=1.7e9, power_watts=watts, held_back="")
        for watts in (300.0, 690.0, None)
    ]

    assert found(work(steady), gpus=states).values["gpu_watts"] == 690


# --- the load -----------------------------------------------------------------------------------


@pytest.fixture
def short_rows(monkeypatch):
    """Look often: what ends after some looks need not heat for seconds."""
    monkeypatch.setattr(experiment, "ROW_S", 0.05)


def items_of(params=SHORT, here=None):
    return list(measure(params, Bench(here or inspect())))


def test_the_processor_works_row_after_row():
    items = items_of()
    rows = in_tables(EXPERIMENT, items)["work"]

    assert {row.device for row in rows} == {"cpu"}
    assert len(rows) >= 5
    times = [row.t_s for row in rows]
    assert times == sorted(times)
    assert times[-1] >= SHORT.duration_s
    assert all(1e9 < row.flop_per_s < 1e15 for row in rows)
    assert threads_left() == []


def threads_left():
    return [each for each in threading.enumerate() if each.name.startswith("heater")]


def test_it_ends_where_a_sensor_is_too_hot(monkeypatch, short_rows):
    degrees = iter((60.0, 80.0, 96.0, 60.0, 60.0))

    def sensors(_root, _notes):
        return (Temperature(name="Tctl", now_celsius=next(degrees)), Temperature(name="Tdie"))

    monkeypatch.setattr(experiment, "read_temperatures", sensors)
    params = Params(duration_s=2.4, stop_celsius=95.0)
    items = items_of(params)
    tables = in_tables(EXPERIMENT, items)

    assert [row.celsius for row in tables["heat"]] == [60, 80, 96]
    assert len(tables["work"]) == 3
    (note,) = [item for item in items if isinstance(item, Note)]
    assert note == Note("stopped_by_heat", {"sensor": "Tctl", "now_celsius": 96.0})
    assert analyse(params, tables, machine()).message == "too_hot"
    assert threads_left() == []


def test_a_sensor_that_falls_silent_near_the_limit_ends_it(monkeypatch, short_rows):
    degrees = iter((90.0, 94.0, None, 94.0))

    def sensors(_root, _notes):
        return (
            Temperature(name="Tctl", now_celsius=next(degrees, None)),
            Temperature(name="Tdie", now_celsius=40.0),
        )

    monkeypatch.setattr(experiment, "read_temperatures", sensors)
    params = Params(duration_s=2.4, stop_celsius=95.0)
    items = items_of(params)
    tables = in_tables(EXPERIMENT, items)

    assert [row.celsius for row in tables["heat"] if row.sensor == "Tctl"] == [90, 94, 94]
    assert len(tables["work"]) == 4 + SILENT_LOOKS  # one look that fails is no silence
    (note,) = [item for item in items if isinstance(item, Note)]
    assert note == Note("stopped_by_silence", {"sensor": "Tctl", "looks": SILENT_LOOKS})
    assert analyse(params, tables, machine()).message == "sensor_silent"
    assert threads_left() == []


def test_two_sensors_of_one_name_stay_apart(monkeypatch):
    twins = tuple(Temperature(name="Tctl", now_celsius=each) for each in (50.0, 60.0))
    monkeypatch.setattr(experiment, "read_temperatures", lambda *_: twins)
    heat = in_tables(EXPERIMENT, items_of())["heat"]

    assert {(row.sensor, row.celsius) for row in heat} == {("Tctl 0", 50), ("Tctl 1", 60)}


def test_it_can_be_stopped_in_the_middle_and_no_thread_works_on(short_rows):
    stop_after_rows(EXPERIMENT, Params(duration_s=4.0), 2)

    assert threads_left() == []


def test_everything_at_once_is_offered_where_there_is_a_gpu():
    pytest.importorskip("torch")
    assert where(machine()) == ("cpu",)
    assert where(machine(gpus=2)) == (ALL, "cpu")
    assert EXPERIMENT.params_for(machine(gpus=1), quick=False).device == ALL
    with pytest.raises(UserError):
        from_json(Params, to_json(Params(device=ALL)), machine())


# --- with GPUs ----------------------------------------------------------------------------------


@contextlib.contextmanager
def played(monkeypatch, **given):
    """Play GPUs whose time passes as ours does."""
    pytest.importorskip("torch")
    from tests.experiments.fake_gpu import fake_gpu

    with fake_gpu(monkeypatch, **given) as gpu:
        over, ahead_s = threading.Event(), gpu.now_s - time.perf_counter()

        def tick():
            while not over.wait(1e-3):
                gpu.now_s = max(gpu.now_s, time.perf_counter() + ahead_s)

        clock = threading.Thread(target=tick)
        clock.start()
        try:
            yield gpu
        finally:
            over.set()
            clock.join()


class Sensors:
    """Plays NVIDIA's library."""

    reasons = (ClockReason(key="clock_reasons.software_thermal", severity="warning"),)

    def __init__(self, _root, **_given):
        self.closed = False

    def sample(self, _now_s):
        return (
            *(
                GpuSample(
                    index=number,
                    sm_hz=1_500_000_000,
                    power_watts=500.0 + number,
                    temperature_celsius=70.0 + number,
                    clock_reasons=self.reasons,
                )
                for number in range(2)
            ),
        ), []

    def close(self):
        self.closed = True


def test_every_gpu_works_beside_the_processor_and_is_looked_at(monkeypatch):
    monkeypatch.setattr("machine.live.gpus.GpuSampler", Sensors)
    params = Params(device=ALL, duration_s=2.0, gpu_rows=16)
    here = replace(inspect(), gpus=machine(gpus=2).gpus)
    with played(monkeypatch, count=2, flop_per_s=2e7):
        tables = in_tables(EXPERIMENT, items_of(params, here))

    assert {row.device for row in tables["work"]} == {"cpu", "cuda:0", "cuda:1"}
    for device in ("cuda:0", "cuda:1"):
        rates = [row.flop_per_s for row in tables["work"] if row.device == device]
        assert rates[1:] == pytest.approx([2e7] * len(rates[1:]), rel=0.05)
    assert {(row.sensor, row.celsius) for row in tables["heat"]} >= {("cuda:0", 70), ("cuda:1", 71)}
    assert {row.held_back for row in tables["gpus"]} == {"clock_reasons.software_thermal"}
    assert {row.power_watts for row in tables["gpus"]} == {500, 501}


def test_time_in_which_the_queue_was_empty_is_not_the_gpus(monkeypatch):
    pytest.importorskip("torch")
    from tests.experiments.fake_gpu import fake_gpu

    with fake_gpu(monkeypatch, flop_per_s=2e7) as gpu:
        bench = Bench(machine(gpus=1), clock=gpu.clock)
        with Gpus(bench, ("cuda:0",), 16) as gpus:
            assert gpus.rates() == {}
            for pause_s in (1.0, 5.0):
                gpus.feed()
                gpu.wait()
                gpu.now_s += pause_s
            gpus.feed()
            (rate,) = gpus.rates().values()

    assert rate == pytest.approx(2e7, rel=0.05)
    assert math.isfinite(rate)
