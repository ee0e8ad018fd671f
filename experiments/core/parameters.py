"""Text and JSON to parameters, or one sentence where they cannot be."""

from __future__ import annotations

import os.path
import re
import typing
from collections.abc import Mapping
from typing import Any

import msgspec

from experiments.core.declare import Experiment, P, Spec, specs
from experiments.core.problems import UserError
from experiments.core.units import digits, show
from machine.convert import convert
from machine.model import Machine

_FACTORS: dict[str, dict[str, float]] = {
    "bytes": {
        "": 1, "b": 1, "k": 2**10, "kib": 2**10, "kb": 10**3, "m": 2**20, "mib": 2**20,
        "mb": 10**6, "g": 2**30, "gib": 2**30, "gb": 10**9, "t": 2**40, "tib": 2**40, "tb": 10**12,
    },
    "s": {"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60, "h": 3600},
    "fraction": {"": 1, "%": 0.01},
    "ratio": {"": 1, "×": 1, "x": 1},
    "celsius": {"": 1, "°c": 1, "c": 1},
    "hz": {"": 1, "hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    "per_s": {"": 1, "/s": 1, "k/s": 1e3, "m/s": 1e6, "g/s": 1e9},
    "bytes/s": {"": 1, "b/s": 1, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "tb/s": 1e12},
    "flop/s": {
        "": 1, "flop/s": 1, "kflop/s": 1e3, "mflop/s": 1e6, "gflop/s": 1e9, "tflop/s": 1e12
    },
}  # fmt: skip
_NUMBER = re.compile(r"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)\s*([a-zµ%/×°]*)", re.IGNORECASE)


def from_text(params: P, settings: Mapping[str, str], machine: Machine | None = None) -> P:
    """Return `params` with `settings` typed by a person ("64 MiB", "5 ms", "a,b").

    Choices that depend on the machine are checked if it is given. Raises UserError for an unknown
    name, text that is no number, and values out of range.
    """
    types, known = typing.get_type_hints(type(params)), specs(type(params))
    changes: dict[str, Any] = {}
    for name, text in settings.items():
        _check_name(name, known)
        now, choices = getattr(params, name), _choices(known[name], machine)
        changes[name] = _parse(name, text.strip(), types[name], known[name], now, choices)
    return _checked(msgspec.structs.replace(params, **changes), machine)


def from_json(
    params_type: type[P],
    data: Mapping[str, Any],
    machine: Machine | None = None,
    *,
    check_choices: bool = True,
) -> P:
    """Return parameters from the wire or a file; every field must be there. Raises UserError.

    Choices and folders are not checked for a recording: another machine had others.
    """
    known = specs(params_type)
    for name in data:
        _check_name(name, known)
    try:
        params = convert(data, params_type)
    except msgspec.ValidationError as error:
        raise UserError("parameters_unreadable", reason=str(error)) from None
    return _checked(params, machine, check_choices=check_choices)


def to_json(params: object) -> dict[str, Any]:
    """Return parameters as plain JSON values."""
    plain: dict[str, Any] = msgspec.to_builtins(params)
    return plain


def to_kept_json(params: object) -> dict[str, Any]:
    """Return parameters as they stand in a kept run: without the folders, which may name people."""
    known = specs(type(params))  # type: ignore[arg-type]
    kept = to_json(params).items()
    return {name: "" if known[name].is_folder else value for name, value in kept}


def to_text(value: object, unit: str = "") -> str:
    """Return a value of a parameter as a person reads and types it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return show(value, unit) if unit else digits(value)
    return (", ".join(value) or "none") if isinstance(value, list | tuple) else str(value)


def read_number(text: str, unit: str = "") -> float:
    """Return a typed number ("64 MiB", "14×") in the SI unit `unit`; ValueError if it is none."""
    match = _NUMBER.fullmatch(text.strip())
    factors = _FACTORS.get(unit, {"": 1})
    if match is None or match[2].lower() not in factors:
        raise ValueError(text)
    return float(match[1]) * factors[match[2].lower()]


def check_memory(experiment: Experiment[P], params: P, available_bytes: int | None) -> None:
    """Raise UserError if the run would want more memory than is free."""
    needed_bytes = experiment.memory_bytes(params)
    if available_bytes is not None and needed_bytes > available_bytes:
        raise UserError("too_much_memory", needed_bytes=needed_bytes, free_bytes=available_bytes)


def _check_name(name: str, known: Mapping[str, Spec]) -> None:
    if name not in known:
        raise UserError("parameter_unknown", name=name, known=", ".join(known))


def _choices(spec: Spec, machine: Machine | None) -> tuple[str, ...] | None:
    """Return the choices; None where any value is allowed, or only the machine could say."""
    if callable(spec.choices):
        return None if machine is None else spec.choices(machine)
    return spec.choices or None


def _parse(
    name: str, text: str, kind: Any, spec: Spec, now: Any, choices: tuple[str, ...] | None
) -> Any:
    if kind is bool:
        if text.lower() not in _BOOLS:
            raise UserError("parameter_not_yes_or_no", name=name, text=text)
        return _BOOLS[text.lower()]
    if kind in (int, float):
        return _parse_number(name, text, kind, spec, now)
    if spec.is_folder:
        return text and os.path.abspath(os.path.expanduser(text))
    if typing.get_origin(kind) is tuple:
        if text == "all" and choices is not None:
            return choices
        return tuple(part.strip() for part in text.split(",") if part.strip() not in ("", "none"))
    return text


_BOOLS = {"yes": True, "true": True, "1": True, "on": True} | {
    "no": False, "false": False, "0": False, "off": False,
}  # fmt: skip


def _parse_number(
    name: str, text: str, kind: type[int] | type[float], spec: Spec, now: float
) -> float:
    try:
        number = read_number(text, spec.unit)
        if kind is float:
            return number
        whole = round(number)
        if whole != number and not spec.unit:  # 1.1 MiB may be rounded to bytes, 2.5 rounds not
            raise ValueError(text)
        return whole
    except (ValueError, OverflowError):
        key = "parameter_not_whole" if kind is int and not spec.unit else "parameter_not_a_number"
        raise UserError(key, name=name, text=text, like=to_text(now, spec.unit)) from None


def _checked(params: P, machine: Machine | None, *, check_choices: bool = True) -> P:
    types = typing.get_type_hints(type(params))
    for name, spec in specs(type(params)).items():
        value = getattr(params, name)
        if spec.minimum is not None and not value >= spec.minimum:
            raise UserError(
                "parameter_too_small", name=name, least=to_text(spec.minimum, spec.unit)
            )
        if spec.maximum is not None and not value <= spec.maximum:
            raise UserError("parameter_too_large", name=name, most=to_text(spec.maximum, spec.unit))
        if spec.is_folder and value and check_choices and not os.path.isdir(value):
            raise UserError("parameter_not_a_folder", name=name, text=value)
        chosen = value if typing.get_origin(types[name]) is tuple else (value,)
        choices = _choices(spec, machine) if chosen and check_choices else None
        for choice in chosen:
            if choices is not None and choice not in choices:
                raise UserError(
                    "parameter_not_a_choice", name=name, text=choice,
                    choices=", ".join(choices) or "none",
                )  # fmt: skip
    return params
