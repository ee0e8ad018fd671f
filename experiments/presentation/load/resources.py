"""Tiles of a machine, one for each sampled resource, and what each shows.

With one or two GPUs, each awake one has several tiles; otherwise a GPU has one. A resource that
was seen once keeps its tile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from experiments.core.units import show
from experiments.core.words import Words
from experiments.presentation.load.face import Face, percent
from experiments.presentation.load.faces import Faces
from experiments.presentation.load.gpu_faces import GpuFaces
from experiments.presentation.load.history import Moment, ratio
from experiments.presentation.load.io_faces import IoFaces, flow
from experiments.presentation.load.scale import Scale, Value, round_above
from machine.record import Record

BEFORE_GPUS = 5  # tiles; later ones matter less than a GPU
HOT_CELSIUS = 100.0  # the top of the scale of the processor's temperature
FEW_GPUS = 2  # up to this many have several tiles each
PCIE = ("pcie_received_bytes_per_s", "pcie_sent_bytes_per_s")
NVLINK = ("nvlink_received_bytes_per_s", "nvlink_sent_bytes_per_s")


class Resource(Record):
    """Words and line of a tile, and the reading at its cursor."""

    title: str
    face: Callable[[Moment], Face]
    share: Value
    reading: Callable[[Moment], str | None]
    scale: Scale | None = None
    unit: str = "bytes/s"  # of the scale
    series: int = 0


class Resources:
    """The resources seen so far, by the name of their tile."""

    def __init__(self, words: Words, faces: Faces) -> None:
        self._words, self._faces = words, faces
        self._io, self._gpus = IoFaces(words, faces), GpuFaces(words, faces)
        self._seen: set[str] = set()
        self._gpus_seen: set[int] = set()
        self._made: dict[str, Resource] = {}

    def __getitem__(self, name: str) -> Resource:
        """Return the resource of a tile."""
        if name not in self._made:
            gpu, _, part = name.partition(".")
            is_gpu = gpu.startswith("gpu")
            self._made[name] = self._of_gpu(int(gpu[3:]), part) if is_gpu else self._base()[name]
        return self._made[name]

    def forget(self) -> None:
        """Forget all resources, for another machine."""
        self._seen.clear()
        self._gpus_seen.clear()
        self._made.clear()

    def names(self, moment: Moment) -> list[str]:
        """Return the names of the tiles for this sample, in order."""
        there = {
            "cores": True,
            "memory": True,
            "disks": bool(moment.disks),
            "network": bool(moment.network),
            "swap": bool(moment.memory.get("swap_total_bytes")),
            "clock": moment.highest_hz is not None,
            "heat": moment.heat is not None,
            "stolen": self._faces.may_be_robbed(moment),
        }
        self._seen |= {name for name, is_there in there.items() if is_there}
        self._gpus_seen |= {gpu["index"] for gpu in moment.gpus}
        names = [name for name in there if name in self._seen]
        gpus = [
            f"gpu{index}.{part}"
            for index in sorted(self._gpus_seen)
            for part in self._parts(moment, index)
        ]
        return [*names[:BEFORE_GPUS], *gpus, *names[BEFORE_GPUS:]]

    def _parts(self, moment: Moment, index: int) -> list[str]:
        gpu = moment.gpu(index)
        is_awake = gpu is not None and gpu.get("state", "awake") == "awake"
        if gpu is None or not is_awake or len(self._gpus_seen) > FEW_GPUS:
            return ["whole"]
        has_nvlink = any(gpu.get(name) is not None for name in NVLINK)
        return ["busy", "memory", "power", "link", *(["nvlink"] if has_nvlink else [])]

    def _base(self) -> dict[str, Resource]:
        say, faces = self._words.say, self._faces
        return {
            "cores": _shared(say("live.cores"), faces.cores, lambda m: m.busy_fraction),
            "memory": _shared(say("live.memory"), faces.memory, lambda m: m.memory_fraction),
            "disks": _rated(
                say("live.disks_title"),
                self._io.disks,
                lambda m: flow(m.disks, "read_bytes_per_s", "write_bytes_per_s"),
                1,
            ),
            "network": _rated(
                say("live.network_title"),
                self._io.network,
                lambda m: flow(m.network, "received_bytes_per_s", "sent_bytes_per_s"),
                2,
            ),
            "swap": _shared(say("live.swap"), faces.swap, lambda m: m.swap_fraction, 1),
            "clock": self._clock(),
            "heat": self._heat(),
            "stolen": _shared(say("live.stolen"), faces.stolen, lambda m: m.stolen_fraction, 3),
        }

    def _clock(self) -> Resource:
        """Return the clock; its scale ends at the hardware's limit or at the highest seen."""
        scale = Scale(
            lambda moment: moment.highest_hz,
            lambda highest: max(scale.top, highest, self._faces.highest_clock_hz() or 0.0),
        )
        return Resource(
            title=self._words.say("live.clock"),
            face=self._faces.clock,
            share=scale.share,
            reading=lambda m: None if m.highest_hz is None else show(m.highest_hz, "hz"),
            scale=scale,
            unit="hz",
            series=2,
        )

    def _heat(self) -> Resource:
        """Return the temperature; about 100 °C most processors slow down."""
        scale = Scale(lambda moment: moment.celsius, lambda highest: max(HOT_CELSIUS, highest))
        return Resource(
            title=self._words.say("live.heat_title"),
            face=self._faces.heat,
            share=scale.share,
            reading=lambda m: None if m.celsius is None else show(m.celsius, "celsius"),
            scale=scale,
            unit="celsius",
            series=1,
        )

    def _of_gpu(self, index: int, part: str) -> Resource:
        say, faces = self._words.say, self._gpus
        number = {"number": index}

        def value_of(*names: str) -> Value:
            return lambda moment: flow([gpu] if (gpu := moment.gpu(index)) else [], *names)

        def share(of: str, whole: str) -> Value:
            return lambda moment: ratio(value_of(of)(moment), value_of(whole)(moment))

        memory = share("memory_used_bytes", "memory_total_bytes")
        power = share("power_watts", "power_limit_watts")
        busy = value_of("busy")
        match part:
            case "busy":
                return _shared(say("live.gpu_busy", number), partial(faces.busy, index=index), busy)
            case "memory":
                face = partial(faces.memory, index=index)
                return _shared(say("live.gpu_memory", number), face, memory)
            case "power":
                face = partial(faces.power, index=index)
                return _shared(say("live.gpu_power", number), face, power, 1)
            case "link":
                face = partial(faces.link, index=index)
                return _rated(say("live.gpu_link", number), face, value_of(*PCIE), 2)
            case "nvlink":
                face = partial(faces.nvlink, index=index)
                return _rated(say("live.gpu_nvlink", number), face, value_of(*NVLINK), 3)
            case _:
                return _shared(say("live.gpu", number), partial(faces.whole, index=index), busy)


def _shared(title: str, face: Callable[[Moment], Face], share: Value, series: int = 0) -> Resource:
    def reading(moment: Moment) -> str | None:
        return None if (value := share(moment)) is None else percent(value)

    return Resource(title=title, face=face, share=share, reading=reading, series=series)


def _rated(title: str, face: Callable[[Moment], Face], rate: Value, series: int) -> Resource:
    def reading(moment: Moment) -> str | None:
        return None if (value := rate(moment)) is None else show(value, "bytes/s")

    scale = Scale(rate, round_above)
    return Resource(
        title=title, face=face, share=scale.share, reading=reading, scale=scale, series=series
    )
