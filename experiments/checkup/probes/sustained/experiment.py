"""Does the machine keep its speed while everything works?

Method: every hardware thread computes polynomials over an array in its first-level cache. At the
same time every GPU multiplies matrices of random numbers in half precision. Each second gives a row
for each device. The processor's work is divided by the processor time that it got, so other
programs' share does not count. A GPU's work is timed by the GPU's own clock. Temperatures, power
and clocks are read meanwhile. The last window of ten seconds is compared with the best. The run
ends early if a sensor reaches the set temperature, or if a sensor that had answered falls silent.
Source: 3DMark's stress test compares loops in the same way; gpu-burn multiplies matrices.

Not shown: what limits a processor that reports neither temperature nor throttling.

Seen on an H100: 650 TFLOP/s at its power limit of 700 W, and busy at each look.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from experiments import api as x
from experiments.core.judging.comparing import unpaired
from experiments.devices.device import CPU, torch_devices
from machine.facts import Notes
from machine.processor.heat import read_temperatures

from .heaters import Cores, Gpus

ALL = "all"
ROW_S, ROWS = 1.0, 12  # the length of a row, and the least number of rows
WINDOW_S, WINDOWS = 10.0, 3  # the length of a compared window, and the least number of windows
MOST_WINDOWS = 6
STAYS = 0.97  # of the best window
SILENT_LOOKS = 3  # of a sensor that told before: then nobody knows how hot it is


def where(machine: x.Machine) -> tuple[str, ...]:
    """Return the choices: everything at once, where PyTorch can use a GPU, or the processor."""
    return (ALL, CPU) if len(torch_devices(machine)) > 1 else (CPU,)


class Params(x.Params):
    """The parameters; `device` is ALL for the processor and every GPU."""

    device: str = x.param(CPU, choices=where)
    duration_s: float = x.param(30.0, minimum=0.1, maximum=7200.0, scale="log10")
    stop_celsius: float = x.param(98.0, minimum=30.0, maximum=130.0)
    gpu_rows: int = x.param(8192, minimum=16, maximum=32768, scale="log2")


class Work(x.Row):
    """The work of one device in the time before `t_s`."""

    t_s: float
    device: str
    flop_per_s: float = x.column(scale="log10")


class Heat(x.Row):
    """The reading of a sensor; a GPU's sensor is called as the GPU is."""

    t_s: float
    sensor: str
    celsius: float


class GpuState(x.Row):
    """A GPU under load; `held_back` are the driver's reasons for its clock, by their keys."""

    t_s: float
    device: str
    sm_hz: float | None
    power_watts: float | None
    held_back: str


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield rows of work, heat and GPUs until time is over, or a sensor too hot or silent."""
    yield x.Progress(0.0)
    names = torch_devices(bench.machine)[:-1] if params.device == ALL else ()
    gpus = Gpus(bench, names, params.gpu_rows)
    with Cores(bench, spare=bool(names)) as cores, gpus:
        start_s = bench.now_s()
        t_s = 0.0
        silent: dict[str, int] = {}  # looks without an answer, by sensor
        while t_s < params.duration_s:
            ends_s = start_s + t_s + min(ROW_S, params.duration_s / ROWS)
            cores.begin(ends_s)
            rows: list[Heat | GpuState] | None = None
            while (now_s := bench.now_s()) < ends_s:
                gpus.feed()
                if rows is None:
                    rows = [*_heat(now_s - start_s), *_states(gpus, now_s, start_s)]
                bench.check_stop()
                cores.rest(ends_s)
            rates = {CPU: cores.end(), **gpus.rates()}
            t_s = bench.now_s() - start_s
            yield from rows or ()
            for device, rate in rates.items():
                yield Work(t_s=t_s, device=device, flop_per_s=rate)
            yield x.Progress(min(1.0, t_s / params.duration_s))
            heat = [row for row in rows or () if isinstance(row, Heat)]
            hot = max(heat, key=lambda row: row.celsius, default=None)
            if hot is not None and hot.celsius >= params.stop_celsius:
                values = {"sensor": hot.sensor, "now_celsius": hot.celsius}
                yield x.Note("stopped_by_heat", values)
                return
            if rows is not None and (lost := _lost(silent, {row.sensor for row in heat})):
                yield x.Note("stopped_by_silence", {"sensor": lost, "looks": SILENT_LOOKS})
                return


def _lost(silent: dict[str, int], told: set[str]) -> str:
    """Count the looks without an answer; return a sensor that has been silent for too many."""
    for sensor in silent.keys() | told:
        silent[sensor] = 0 if sensor in told else silent[sensor] + 1
    return next((each for each, looks in silent.items() if looks >= SILENT_LOOKS), "")


def _heat(t_s: float) -> list[Heat]:
    found = read_temperatures(Path("/"), Notes())
    names = [each.name for each in found]
    return [
        Heat(
            t_s=t_s,
            sensor=each.name if names.count(each.name) == 1 else f"{each.name} {place}",
            celsius=each.now_celsius,
        )
        for place, each in enumerate(found)
        if each.now_celsius is not None
    ]


def _states(gpus: Gpus, now_s: float, start_s: float) -> list[Heat | GpuState]:
    rows: list[Heat | GpuState] = []
    t_s = now_s - start_s
    for name, sample in gpus.look(now_s).items():
        if sample.temperature_celsius is not None:
            rows.append(Heat(t_s=t_s, sensor=name, celsius=sample.temperature_celsius))
        held_back = ", ".join(reason.key for reason in sample.clock_reasons or ())
        if sample.sm_hz is not None or sample.power_watts is not None:
            rows.append(
                GpuState(
                    t_s=t_s,
                    device=name,
                    sm_hz=sample.sm_hz,
                    power_watts=sample.power_watts,
                    held_back=held_back,
                )
            )
    return rows


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the last window of each device with its best, and look for the highest heat."""
    work, heat = tables["work"], tables["heat"]
    values: dict[str, float] = {}
    limits = x.Limits()
    if work:
        values["done_s"] = max(row.t_s for row in work)
    for name, rate in x.medians((_part(row.device), row.flop_per_s) for row in work).items():
        values[f"{name}_flop_per_s"] = rate
    kept: dict[str, float] = {}
    for device, share in kept_fractions(work).items():
        kept[_part(device)] = min(share, kept.get(_part(device), share))
    values |= {f"{name}_kept_fraction": share for name, share in kept.items()}
    if heat:
        values["hottest_celsius"] = max(row.celsius for row in heat)
        values["stopped_by_heat"] = int(values["hottest_celsius"] >= params.stop_celsius)
    else:
        limits.append("no_sensor")
    if watts := [row.power_watts for row in tables["gpus"] if row.power_watts is not None]:
        values["gpu_watts"] = max(watts)
    limits.add("virtual_machine", x.is_virtual(machine))
    if values.get("stopped_by_heat"):
        return x.Finding("too_hot", values, tuple(limits))
    if _fell_silent(params, work, heat):
        return x.Finding("sensor_silent", values, tuple(limits))
    if not kept:
        return x.Finding("too_short" if work else "nothing_measured", values, tuple(limits))
    values["kept_fraction"] = min(kept.values())
    if any(_falls(rates) for rates in windows(work).values()):
        return x.Finding("falls", values, tuple(limits))
    message = "stays" if values["kept_fraction"] >= STAYS else x.CANNOT_TELL
    return x.Finding(message, values, tuple(limits))


def _fell_silent(params: Params, work: Sequence[Work], heat: Sequence[Heat]) -> bool:
    """Did it end early, after looks at which a sensor that had answered gave nothing?"""
    ends = sorted({row.t_s for row in work})
    if len(ends) <= SILENT_LOOKS or ends[-1] >= params.duration_s:
        return False
    last_told = {row.sensor: row.t_s for row in heat}
    return any(t_s < ends[-1 - SILENT_LOOKS] for t_s in last_told.values())


def kept_fractions(work: Sequence[Work]) -> dict[str, float]:
    """Return what the last window of each device did of its best one, as medians of their rows."""
    found = {}
    for device, rates in windows(work).items():
        medians = [statistics.median(each) for each in rates]
        found[device] = medians[-1] / max(medians)
    return found


def windows(work: Sequence[Work]) -> dict[str, list[list[float]]]:
    """Return the rates of each device by windows, in order.

    A window lasts ten seconds, but in a short run a third of it, in a long run a sixth. With more
    windows the best would be high by chance alone. Rows that fill no window are left out at the
    beginning. A device with fewer rows than windows has none.
    """
    found = {}
    for device in dict.fromkeys(row.device for row in work):
        rows = sorted((row for row in work if row.device == device), key=lambda row: row.t_s)
        each_s = rows[-1].t_s / len(rows)
        wanted = max(round(WINDOW_S / each_s) if each_s else 1, len(rows) // MOST_WINDOWS)
        size = min(wanted, len(rows) // WINDOWS)
        if size > 0:
            rates = [row.flop_per_s for row in rows]
            begins = range(len(rates) % size, len(rates), size)
            found[device] = [rates[begin : begin + size] for begin in begins]
    return found


def _falls(rates: Sequence[Sequence[float]]) -> bool:
    """Is the last window clearly below the best of the others, by more than STAYS allows?"""
    best = max(rates, key=statistics.median)
    if min(map(len, rates)) < x.ENOUGH or statistics.median(rates[-1]) >= STAYS * statistics.median(
        best
    ):
        return False
    compared = unpaired(rates[-1], best, level=x.LEVEL / len(rates))
    return compared.outcome is x.Outcome.DIFFERS and not compared.is_above


def _part(device: str) -> str:
    return "cpu" if device == CPU else "gpu"


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"work": Work, "heat": Heat, "gpus": GpuState},
    measure=measure,
    loop="kernels/polynomials.py:polynomials",
    analyse=analyse,
    views=(
        x.Lines("work", "work", x.Axis("t_s"), x.Axis("flop_per_s"), series="device"),
        x.Lines(
            "heat",
            "heat",
            x.Axis("t_s"),
            x.Axis("celsius"),
            series="sensor",
            limits=(x.Limit("hottest", "hottest_celsius"),),
        ),
    ),
    values=x.values(
        "kept_fraction",
        x.Value("cpu_kept_fraction", x.Part.CORES),
        x.Value("gpu_kept_fraction", x.Part.GPU),
        "hottest_celsius",
        "stopped_by_heat",
        "done_s",
        "cpu_flop_per_s",
        "gpu_flop_per_s",
        "gpu_watts",
    ),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(device=where(machine)[0]),
    quick=x.change(duration_s=4.0),
    smallest=x.change(duration_s=0.5, gpu_rows=32),
    seconds=lambda params: params.duration_s,
    memory_bytes=lambda _params: 64 * x.MIB,
    can_wait=False,  # it has no turns
)
