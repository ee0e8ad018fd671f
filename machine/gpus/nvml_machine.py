"""All GPUs that NVIDIA's management library (NVML) lists, asked in a process of its own."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from machine.devices import Gpu, GpuLink, Link, PciDevice
from machine.facts import Facts, Reason, Unanswered
from machine.gpus import nvlink, nvml, nvml_child, nvml_gpu
from machine.gpus.nvml import Nvml
from machine.gpus.pci_facts import Host

_DRIVER = "nvidia"
UNLISTED = Reason(
    "NVIDIA's driver does not list this GPU.",
    "coreopsis doctor",
)


class Found(msgspec.Struct):
    """The GPUs, and what NVIDIA's libraries report about pairs of them, by their indexes.

    `trouble` is why the library failed; then there may be no GPU that could carry this reason.
    """

    gpus: list[Facts] = []
    pairs: dict[tuple[int, int], Facts] = {}
    trouble: Reason | None = None


def ask_child(known: dict[str, Facts], host: Host) -> Found:
    """Return the GPUs, the `known` ones among them. Raises Unanswered."""
    if not known and not nvml_child.is_here():
        raise Unanswered(nvml.REASONS[12])
    request = {
        "root": str(host.root),
        "is_wsl": host.is_wsl,
        "linked": [device.address for device in host.pci if device.link],
        "known": known,
    }
    limit_s = nvml_child.within_s(len(known))
    said = nvml_child.answer(__name__, msgspec.json.encode(request), limit_s)
    if "why" in said:
        reason = Reason(said["why"], said["how"])
        if reason == nvml.ODD:
            raise nvml_child.Broken(nvml_child.nonsense())
        raise Unanswered(reason)
    return Found(
        [nvml_child.unpacked(gpu, Gpu) for gpu in said["gpus"]],
        {(a, b): nvml_child.unpacked(pair, GpuLink) for a, b, pair in said["pairs"]},
    )


def tell() -> None:
    """Answer the request on standard input; to be called in the child only."""
    out = nvml_child.own_output()
    nvml_child.set_alarm()
    request = msgspec.json.decode(sys.stdin.buffer.read())
    linked = tuple(PciDevice(address=address, link=Link()) for address in request["linked"])
    host = Host(root=Path(request["root"]), pci=linked, is_live=True, is_wsl=request["is_wsl"])
    known = {a: nvml_child.unpacked(card, Gpu) for a, card in request["known"].items()}
    said: dict[str, Any]
    try:
        found = ask(nvml.load(), known, host)
        pairs = [(a, b, pair) for (a, b), pair in found.pairs.items()]
        said = {"gpus": found.gpus, "pairs": pairs}
    except Unanswered as error:
        said = error.reason._asdict()
    except Exception:  # noqa: BLE001  (whatever nonsense raises)
        said = nvml.ODD._asdict()
    nvml_child.send(out, said)


def ask(library: nvml.Library, known: dict[str, Facts], host: Host) -> Found:
    """Return what the library reports, in its order. Raises Unanswered."""
    with contextlib.closing(Nvml(library, is_wsl=host.is_wsl)) as opened:
        return _asked(opened, known, host)


def _asked(library: Nvml, known: dict[str, Facts], host: Host) -> Found:
    handles = list(library.gpus())
    gpus = [Facts() for _ in handles]
    for gpu, handle in zip(gpus, handles, strict=True):
        if not isinstance(handle, Reason):
            nvml_gpu.ask_address(library, handle, gpu)
    left = {a: card for a, card in known.items() if a not in {at(gpu) for gpu in gpus}}
    # Both lists follow the bus, so GPUs without an address take the remaining ones in order.
    places = iter(left.values() if len(left) == sum(not at(gpu) for gpu in gpus) else ())
    gpus = [known.get(at(gpu)) or (not at(gpu) and next(places, gpu)) or gpu for gpu in gpus]
    linked = {device.address for device in host.pci if device.link}
    for gpu, handle in zip(gpus, handles, strict=True):
        if isinstance(handle, Reason):
            lack_unknown(gpu, (*nvml_gpu.NAMES, "pci_address", "name"), handle)
        else:
            nvml_gpu.describe(library, handle, gpu, host, link_is_known=at(gpu) in linked)
    for card in left.values():
        if all(card is not gpu for gpu in gpus):
            lack_unknown(card, nvml_gpu.NAMES, _unlisted(card))
            gpus.append(card)
    answering = {n: h for n, h in enumerate(handles) if not isinstance(h, Reason)}
    return Found(gpus, nvlink.pairs(library, answering, gpus))


def at(gpu: Facts) -> str:
    """Return the PCI address, empty if unknown."""
    address: str = gpu.values.get("pci_address", "")
    return address


def _unlisted(card: Facts) -> Reason:
    driver = card.values.get("driver", _DRIVER)
    if driver == _DRIVER:
        return UNLISTED
    return Reason(f"The GPU belongs to the driver {driver}, not to NVIDIA's.", "coreopsis doctor")


def lack_unknown(gpu: Facts, names: Iterable[str], reason: Reason) -> None:
    """Keep one reason for all of these that are unknown."""
    for name in names:
        if not gpu.knows(name):
            gpu.lack(name, reason)
