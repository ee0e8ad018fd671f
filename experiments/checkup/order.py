"""What was bought: counts that a checkup holds the machine against. Kept as TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from experiments.core.problems import UserError
from machine.convert import convert
from machine.record import Record
from machine.system.files import read_file

FILE = "order.toml"
LIMIT_BYTES = 2**16


class Order(Record):
    """What should be here; None for what nobody said."""

    cores: int | None = None
    memory_bytes: int | None = None
    gpus: int | None = None
    disks: int | None = None


def read_order(folder: Path) -> Order | None:
    """Return the order in a data folder, None if there is none. Raises UserError."""
    path = folder / FILE
    try:
        data = tomllib.loads(read_file(path, LIMIT_BYTES).decode())
        return convert(data, Order)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError("order_unreadable", reason=error.strerror or str(error)) from None
    except (msgspec.ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError("order_unreadable", reason=str(error)) from None


def write_order(folder: Path, order: Order) -> None:
    """Keep an order in a data folder. Raises OSError."""
    known = {name: value for name, value in msgspec.to_builtins(order).items() if value is not None}
    lines = ["# What was bought; the checkup holds the machine against it.\n"]
    lines += [f"{name} = {value}\n" for name, value in known.items()]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text("".join(lines), encoding="utf-8")
