"""A network saved to a file and loaded: its numbers alone, or the program with them.

A state dict holds the numbers by name; using it takes the program as well. A scripted network
(deprecated) and an exported one (`torch.export`) contain their program.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.devices.device import CPU, Device

STATE_DICT, SCRIPTED, EXPORTED = KINDS = ("state_dict", "script", "exported")


class Files:
    """A network on the processor, its files in a folder, and networks that take the numbers."""

    def __init__(self, torch: Any, make: Callable[[], Any], inputs: Any, folder: str) -> None:
        self._torch, self._make = torch, make
        self._folder = Path(folder)
        model = make()
        self._programs: dict[str, Any] = {STATE_DICT: model}
        with contextlib.suppress(AttributeError, RuntimeError):  # deprecated, may be gone some day
            self._programs[SCRIPTED] = torch.jit.script(model)
        self._programs[EXPORTED] = torch.export.export(model, (inputs,))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The forms that can be saved."""
        return tuple(self._programs)

    def path(self, kind: str) -> Path:
        """Return a file's path."""
        return self._folder / (f"{kind}.pt2" if kind == EXPORTED else f"{kind}.pt")

    def save(self, kind: str) -> None:
        """Write a file anew."""
        program, path = self._programs[kind], str(self.path(kind))
        if kind == STATE_DICT:
            self._torch.save(program.state_dict(), path)
        elif kind == SCRIPTED:
            self._torch.jit.save(program, path)
        else:
            self._torch.export.save(program, path)

    def loader(self, kind: str, device: Device) -> Callable[[], Any]:
        """Return a call that reads a file and puts its network on a device."""
        torch, path = self._torch, str(self.path(kind))
        if kind == STATE_DICT:
            empty = self._make().to(device.name)  # the program exists already

            def numbers() -> Any:
                empty.load_state_dict(torch.load(path, map_location=CPU, weights_only=True))
                return empty

            return numbers
        if kind == SCRIPTED:
            return lambda: torch.jit.load(path, map_location=device.name)
        return lambda: _moved(torch.export.load(path), device).module()


def _moved(program: Any, device: Device) -> Any:
    if device.name == CPU:
        return program
    from torch.export.passes import move_to_device_pass

    return move_to_device_pass(program, device.name)
