"""Words of the tiles of a GPU: errors first, and a reason for each unknown value.

With one or two GPUs, each awake one has several tiles; with more, each has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.core.units import show
from experiments.core.words import Words
from experiments.presentation.load.face import ErrorState, Face, joined, lines, part_of, percent
from experiments.presentation.load.faces import Faces
from experiments.presentation.load.history import Moment
from machine.devices import Gpu, Link

GpuValues = Mapping[str, Any]  # of one GPU, in a sample

# The worst first: name in a sample, words, meaning.
_MEMORY_ERRORS: tuple[tuple[str, str, ErrorState], ...] = (
    ("ecc_uncorrected", "live.ecc_uncorrected", "fault"),
    ("remapping_failed", "live.remapping_failed", "fault"),
    ("remapping_pending", "live.remapping_pending", "some"),
    ("remapped_rows", "live.remapped_rows", "some"),
    ("ecc_corrected", "live.ecc_corrected", "some"),
)
_LINK_ERRORS: tuple[tuple[str, str, ErrorState], ...] = (
    ("pcie_replays", "live.pcie_replays", "some"),
)
_CODES: tuple[tuple[str, str, ErrorState], ...] = (("xid", "live.xid", "fault"),)
_ALL_ERRORS = (*_CODES, *_MEMORY_ERRORS, *_LINK_ERRORS)


class GpuFaces:
    """Turns the values of a GPU into words."""

    def __init__(self, words: Words, faces: Faces) -> None:
        self._words, self._faces = words, faces

    def whole(self, moment: Moment, index: int) -> Face:
        """Return everything in one face, also that the GPU sleeps or has gone."""
        gpu = moment.gpu(index)
        if gpu is None or gpu.get("state") == "lost":
            return self._lost(index)
        if gpu.get("state") == "asleep":
            asleep, detail = self._words.say("live.gpu_asleep"), self._words.say("live.not_woken")
            return Face(number=asleep, detail=detail, known=False, tip=self._name(index))
        link, is_less = self._link(index, gpu)
        detail = lines(
            joined([self._memory_used(gpu), self._watts(gpu)]),
            joined(self._state(gpu)),
            *self._all_flows(gpu),
            "" if link == self._runs(gpu) else joined([link]),
            self._words.say("live.waiting_untold"),
        )
        warnings = [*self._slowed(gpu), *([self._words.say("live.less_link")] * is_less)]
        return self._face(index, gpu, "busy", detail, _ALL_ERRORS, warnings=warnings)

    def busy(self, moment: Moment, index: int) -> Face:
        """Return the share of time that a kernel ran."""
        gpu = moment.gpu(index) or {}
        key = "live.no_kernel" if gpu.get("busy") == 0 else "live.some_kernel"
        detail = lines(self._words.say(key), self._words.say("live.waiting_untold"))
        return self._face(index, gpu, "busy", detail, _CODES)

    def memory(self, moment: Moment, index: int) -> Face:
        """Return how much of the GPU's memory is held."""
        gpu = moment.gpu(index) or {}
        share, detail = gpu.get("memory_busy"), ""
        if share is not None:
            detail = joined([self._words.say("live.memory_busy", {"percent": percent(share)})])
        return self._face(index, gpu, "memory_used_bytes", detail, _MEMORY_ERRORS)

    def power(self, moment: Moment, index: int) -> Face:
        """Return power, temperature, clock, and why the clock is not higher."""
        gpu = moment.gpu(index) or {}
        parts = self._state(gpu)
        watts, limit = gpu.get("power_watts"), gpu.get("power_limit_watts")
        if watts is not None and limit:
            parts.insert(0, self._words.say("live.of_limit", {"percent": percent(watts / limit)}))
        slowed = self._slowed(gpu)
        return self._face(index, gpu, "power_watts", joined(parts), (), warnings=slowed)

    def link(self, moment: Moment, index: int) -> Face:
        """Return the PCIe traffic, and how the link runs."""
        gpu = moment.gpu(index) or {}
        said, attention = self._link(index, gpu)
        detail = joined([*self._flows(gpu, "pcie")[1:], said, self._peak(index)])
        name = "pcie_received_bytes_per_s"
        return self._face(index, gpu, name, detail, _LINK_ERRORS, attention=attention)

    def nvlink(self, moment: Moment, index: int) -> Face:
        """Return the traffic over all NVLinks together."""
        gpu = moment.gpu(index) or {}
        known = self._gpu(index)
        links = [link for link in known.nvlinks if link.state != "inactive"] if known else []
        parts = self._flows(gpu, "nvlink")[1:]
        if links:
            parts.append(self._words.say("live.nvlinks", {"count": len(links)}))
            if all(link.bytes_per_s for link in links):
                peak = sum(link.bytes_per_s or 0 for link in links)
                parts.append(self._words.say("live.at_most", {"peak_bytes_per_s": peak}))
        return self._face(index, gpu, "nvlink_received_bytes_per_s", joined(parts), ())

    def _face(
        self,
        index: int,
        gpu: GpuValues,
        name: str,
        detail: str,
        kinds: tuple[tuple[str, str, ErrorState], ...],
        *,
        warnings: Sequence[str] = (),
        attention: bool = False,
    ) -> Face:
        """Return the face of the value `name`; a warning takes the place of errors."""
        number = self._number(gpu, name)
        errors, state, tip = self._errors(index, gpu, kinds)
        if warnings and state in ("none", "unknown"):
            errors, state = warnings[0], "some"
        why = "" if number else self._why(index, name)
        return Face(
            number=number or self._words.say("live.unknown"),
            detail=detail if number else lines(why, detail if name == "busy" else ""),
            errors=errors,
            error_state=state,
            attention=attention,
            known=bool(number),
            tip=lines(self._name(index), tip),
        )

    def _number(self, gpu: GpuValues, name: str) -> str | None:
        if name == "memory_used_bytes":
            return self._memory_used(gpu)
        if name == "power_watts":
            return self._watts(gpu)
        if name.endswith("_bytes_per_s"):
            return next(iter(self._flows(gpu, name.partition("_")[0])), None)
        busy = gpu.get(name)
        return None if busy is None else percent(busy)

    def _memory_used(self, gpu: GpuValues) -> str | None:
        used, whole = gpu.get("memory_used_bytes"), gpu.get("memory_total_bytes")
        return part_of(self._words, used, whole)

    def _watts(self, gpu: GpuValues) -> str | None:
        watts, limit = gpu.get("power_watts"), gpu.get("power_limit_watts")
        if watts is None:
            return None
        if not limit:
            return show(watts, "watts")
        values = {"used": f"{watts:.0f}", "total": f"{limit:.0f} W"}
        return self._words.say("live.of", values)

    def _state(self, gpu: GpuValues) -> list[str]:
        """Return temperature, clock, and why the clock is not higher."""
        parts = []
        if (celsius := gpu.get("temperature_celsius")) is not None:
            parts.append(show(celsius, "celsius"))
        if (clock := gpu.get("sm_hz")) is not None:
            parts.append(show(clock, "hz"))
        return [*parts, *(self._words.say(r["key"]) for r in gpu.get("clock_reasons") or ())]

    def _slowed(self, gpu: GpuValues) -> list[str]:
        """Return why the clock is lower than it should be, if that is a problem."""
        reasons = gpu.get("clock_reasons") or ()
        return [self._words.say(r["key"]) for r in reasons if r.get("severity") == "warning"]

    def _flows(self, gpu: GpuValues, link: str) -> list[str]:
        """Return traffic in and out, the larger first, without unknown values."""
        ways = (("live.in", "received"), ("live.out", "sent"))
        rates = [(gpu.get(f"{link}_{name}_bytes_per_s"), key) for key, name in ways]
        known = [(rate, key) for rate, key in rates if rate is not None]
        known.sort(key=lambda flow: -flow[0])
        return [self._words.say(key, {"rate": show(rate, "bytes/s")}) for rate, key in known]

    def _all_flows(self, gpu: GpuValues) -> list[str]:
        texts = []
        for key, link in (("live.pcie_carries", "pcie"), ("live.nvlink_carries", "nvlink")):
            if flows := self._flows(gpu, link):
                texts.append(joined([self._words.say(key, {"flows": ", ".join(flows)})]))
        return texts

    def _link(self, index: int, gpu: GpuValues) -> tuple[str, bool]:
        """Return generation and width in words, and whether they are below the maximum."""
        generation, width = gpu.get("pcie_generation"), gpu.get("pcie_width")
        if generation is None or width is None:
            return "", False
        link = self._possible(index)
        best_generation = _least(link.card_generation, link.slot_generation)
        best_width = _least(link.card_width, link.slot_width)
        if best_width is not None and width < best_width:
            narrow = {"width": width, "best_width": best_width}
            return self._words.say("live.narrow_link", narrow), True
        if best_generation is not None and generation < best_generation:
            if gpu.get("busy"):
                slow = {
                    "generation": generation,
                    "width": width,
                    "best_generation": best_generation,
                }
                return self._words.say("live.slow_link", slow), True
            values = {"generation": generation, "width": width}
            return self._words.say("live.sleeping_link", values), False
        return self._runs(gpu), False

    def _runs(self, gpu: GpuValues) -> str:
        """Return the current generation and width of the link."""
        values = {"generation": gpu.get("pcie_generation"), "width": gpu.get("pcie_width")}
        return self._words.say("live.link", values)

    def _errors(
        self, index: int, gpu: GpuValues, kinds: tuple[tuple[str, str, ErrorState], ...]
    ) -> tuple[str, ErrorState, str]:
        """Return the worst error in words, its state, and a tip with all errors and unknowns."""
        if not kinds:
            return "", "unknown", ""
        there = [
            (self._words.say(key, {"count": gpu[name]}), state)
            for name, key, state in kinds
            if gpu.get(name)
        ]
        untold = {self._why(index, name) for name, _, _ in kinds if gpu.get(name) is None}
        tip = lines(*(text for text, _ in there), *sorted(untold))
        if there:
            return (*there[0], tip)
        if all(gpu.get(name) is None for name, _, _ in kinds):
            return self._words.say("live.errors_untold"), "unknown", tip
        return self._words.say("live.no_errors"), "none", tip

    def _lost(self, index: int) -> Face:
        why = self._faces.reasons.why(f"gpus[{index}].busy")
        how = self._faces.reasons.how(f"gpus[{index}].busy")
        detail = lines(why or self._words.say("live.gpu_gone"), how)
        return Face(
            number=self._words.say("live.gpu_lost"),
            detail=detail,
            attention=True,
            known=False,
            tip=self._name(index),
        )

    def _why(self, index: int, name: str) -> str:
        why = self._faces.reasons.why(f"gpus[{index}].{name}")
        return why or self._words.say("live.driver_silent")

    def _gpu(self, index: int) -> Gpu | None:
        gpus = self._faces.machine.gpus if self._faces.machine is not None else ()
        return next((gpu for gpu in gpus if gpu.index == index), None)

    def _name(self, index: int) -> str:
        gpu = self._gpu(index)
        return (gpu.name or "") if gpu is not None else ""

    def _possible(self, index: int) -> Link:
        """Return the link of the GPU as inspected, empty if unknown."""
        gpu, machine = self._gpu(index), self._faces.machine
        if gpu is None or machine is None:
            return Link()
        device = next((each for each in machine.pci if each.address == gpu.pci_address), None)
        found = device.link if device is not None and device.link is not None else gpu.link
        return found or Link()

    def _peak(self, index: int) -> str:
        peak = self._possible(index).peak_bytes_per_s
        return self._words.say("live.at_most", {"peak_bytes_per_s": peak}) if peak else ""


def _least(*values: int | None) -> int | None:
    return None if None in values else min(value for value in values if value is not None)
