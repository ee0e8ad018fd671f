"""Makers of accelerators other than GPUs, their PCI numbers and their PyTorch packages.

An accelerator is recognised by its PCI numbers, or by the PCI class "processing accelerators",
which most makers set.

Sources, as of November 2026: the PCI ID Repository for makers and devices; libtpu's clients (JAX,
torch_xla) for Google's; the documentation of PyTorch and of the makers for backends and packages.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import field

from machine.record import Record

_PROCESSING = 0x1200  # PCI class "processing accelerators"
_BRIDGE, _SOUND = 0x06, 0x04
_OF_GPUS = frozenset({0x10DE, 0x1002})  # other modules recognise these; some have that class too


class Maker(Record):
    """A maker of accelerators. `backend` is their name in torch.device, `package` provides it.

    `devices` are the numbers of its accelerators, with their names if known. Empty means all of
    the class, or all devices of a maker that `makes_nothing_else`.
    """

    name: str
    backend: str | None = None
    package: str | None = None
    devices: Mapping[int, str] = field(default_factory=dict)
    makes_nothing_else: bool = False


_TPUS = {
    0x0027: "TPU v2 or v3",
    0x0056: "",
    0x005E: "TPU v4",
    0x0062: "TPU v5p",
    0x0063: "TPU v5e",
    0x006F: "TPU v6e",
    0x0076: "TPU7x",
}
_NEURON = dict.fromkeys((0x7064, 0x7164, 0x7264, 0x7364, 0x7564, 0x7565), "")
MAKERS: Mapping[int, Maker] = {
    0x1AE0: Maker(name="Google", backend="xla", package="torch_xla", devices=_TPUS),
    0x1D0F: Maker(name="Amazon", backend="xla", package="torch-neuronx", devices=_NEURON),
    0x1DA3: Maker(
        name="Habana (Intel)",
        backend="hpu",
        package="habana-torch-plugin",
        makes_nothing_else=True,
    ),
    0x1D95: Maker(name="Graphcore", backend="ipu", package="poptorch", makes_nothing_else=True),
    0x19E5: Maker(name="Huawei", backend="npu", package="torch_npu"),
    0xCABC: Maker(name="Cambricon", backend="mlu", package="torch_mlu"),
    0x1ED5: Maker(
        name="Moore Threads", backend="musa", package="torch_musa", makes_nothing_else=True
    ),
    0x1E36: Maker(name="Enflame", backend="gcu", package="torch_gcu", makes_nothing_else=True),
    0x1E52: Maker(name="Tenstorrent", package="tt-xla", makes_nothing_else=True),
    0x1E60: Maker(name="Hailo", makes_nothing_else=True),
    0x1DE0: Maker(name="Groq", makes_nothing_else=True),
    0x1ED2: Maker(name="FuriosaAI", makes_nothing_else=True),
    0x1EFF: Maker(name="Rebellions", makes_nothing_else=True),
    0x1F9D: Maker(name="Axelera"),
    0x17CB: Maker(name="Qualcomm"),
    0x1022: Maker(name="AMD", devices={0x1502: "", 0x17F0: ""}),  # the NPU of Ryzen AI
    0x8086: Maker(name="Intel"),  # the NPU of Core Ultra
    0x1AC1: Maker(name="Google", devices={0x089A: ""}),  # Coral Edge TPU
}
_UNKNOWN = Maker(name="")


def maker_of(vendor_id: int | None, device_id: int | None, class_id: int | None) -> Maker | None:
    """Return the maker of an accelerator; None if the device is a GPU or no accelerator.

    A device of the class with an unknown maker has a maker without a name.
    """
    maker, kind = MAKERS.get(vendor_id or 0, _UNKNOWN), (class_id or 0) >> 8
    if maker.devices:
        is_one = device_id in maker.devices
    elif maker.makes_nothing_else:  # some have odd classes
        is_one = kind >> 8 not in (_BRIDGE, _SOUND)  # these are parts of the card
    else:
        is_one = kind == _PROCESSING and vendor_id not in _OF_GPUS
    return maker if is_one else None
