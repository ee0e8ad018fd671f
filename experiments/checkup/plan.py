"""Plans a checkup: its measurements, their order, and about how long they last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from experiments.checkup.result import Kind
from experiments.checkup.rules import Devices, Rule
from experiments.checkup.turbo import turbo_s
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, Need, specs
from experiments.core.needs import missing_need
from experiments.core.parameters import from_json, to_json
from experiments.core.shelves import PROBES, SHELVES, YOURS
from experiments.devices.device import CPU, gpus_of
from machine.model import Machine
from machine.record import Record

SHELVES_HERE = (*(shelf for shelf in SHELVES if shelf != YOURS), PROBES)
LOADING_S = 1.5  # to start a process and import what a measurement needs; torch takes longer
TORCH_S = 4.0
MINUTE_S = 60.0
SUSTAINED_S: Mapping[Kind, float] = {"quick": 20.0, "check": 60.0, "soak": 20 * MINUTE_S}
SETTLED_S, LONGEST_TURBO_S = 30.0, 90.0  # what is compared after a turbo, and that is waited for
ABOVE_CELSIUS, HOTTEST_CELSIUS = 5.0, 115.0  # above the processor's own limit a check's load ends


class ToRun(Record, kw_only=False):
    """One measurement to come: an experiment on a device, "" where it takes none."""

    experiment: Experiment[Any]
    device: str
    params: Mapping[str, Any]
    seconds: float
    lacking: Need | None = None  # what the machine lacks for it: then it is not run


def steps(
    rules: Iterable[Rule],
    machine: Machine,
    kind: Kind,
    *,
    soak_s: float | None = None,
    stop_celsius: float | None = None,
) -> tuple[ToRun, ...]:
    """Return the measurements of these rules; what several rules need is measured once.

    `soak_s` is the length of the sustained load. `stop_celsius` is the temperature that ends it.
    Without it, every kind but a soak ends beyond the processor's own limit. A check loads a
    processor with a turbo for longer, because its speed after the turbo is compared.
    """
    catalogue = Catalogue(SHELVES_HERE)
    load_s = SUSTAINED_S[kind]
    if kind == "check":
        load_s = max(load_s, min(turbo_s(machine), LONGEST_TURBO_S) + SETTLED_S)
    sustained: dict[str, Any] = {"duration_s": load_s if soak_s is None else soak_s}
    if stop_celsius is None and kind != "soak":
        stop_celsius = _beyond_own_limit(machine)
    if stop_celsius is not None:
        sustained["stop_celsius"] = stop_celsius
    found: dict[tuple[str, str], ToRun] = {}
    for rule in rules:
        if not rule.measure or (kind == "quick" and not rule.quick):
            continue
        experiment = catalogue.load(rule.measure)
        changed = {**rule.set, **(sustained if rule.stage == "stays" else {})}
        for device in _devices(rule.device, machine):
            step = _step(experiment, device, machine, changed)
            found.setdefault((experiment.id, device), step)
    return tuple(found.values())


def _beyond_own_limit(machine: Machine) -> float | None:
    """Return a temperature above that at which the processor slows itself down; None if unknown.

    Many laptops reach that temperature within seconds, by design. A load that ended there would
    show nothing about them.
    """
    told = [each.critical_celsius for each in machine.cpu.temperatures]
    limits = [celsius for celsius in told if celsius is not None]
    return min(HOTTEST_CELSIUS, max(limits) + ABOVE_CELSIUS) if limits else None


def chosen(rules: Iterable[Rule], kind: Kind) -> tuple[Rule, ...]:
    """Return the rules that belong to a kind of checkup."""
    return tuple(rule for rule in rules if rule.quick or kind != "quick")


def _step(
    experiment: Experiment[Any], device: str, machine: Machine, changed: Mapping[str, Any]
) -> ToRun:
    lacking = missing_need(experiment, machine)
    if lacking is not None:
        return ToRun(experiment, device, {}, 0.0, lacking)
    params = experiment.params_for(machine, quick=True)
    fields = specs(experiment.params)
    plain = {**to_json(params), **{k: v for k, v in changed.items() if k in fields}}
    if "device" in fields and device:
        plain["device"] = device
    params = from_json(experiment.params, plain, check_choices=False)
    loading_s = LOADING_S + (TORCH_S if "torch" in experiment.imports else 0.0)
    return ToRun(experiment, device, to_json(params), experiment.seconds(params) + loading_s)


def _devices(devices: Devices, machine: Machine) -> Iterator[str]:
    """Yield the devices that a rule is about."""
    gpus = [name for name in gpus_of(machine) if name != CPU]
    match devices:
        case "gpus":
            yield from gpus
        case "devices":
            yield CPU
            yield from gpus
        case _:
            yield ""
