from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from experiments.core import words
from experiments.core.declare import Part
from machine.devices import Gpu, Link, MigInstance, PciDevice
from machine.model import Machine, OperatingSystem
from tests.widgets.map.machines import (
    MACHINES,
    dense,
    elsewhere,
    hybrid,
    pinned,
    server,
    small,
    unknown,
)
from tests.widgets.map.machines import workstation as workstation_
from widgets.map.layout.boxes import Kind, Layout
from widgets.map.layout.layout import lay_out, lay_out_comfortably
from widgets.map.panel.facts import Facts

WORDS = words.load()
ALMOST = 0.01


def laid_out(machine: Machine, measure, width=972.0, height=690.0, zoom=1.0, unfolded=()) -> Layout:
    return lay_out(machine, WORDS, measure(zoom), width, height, frozenset(unfolded))


def kinds(layout: Layout) -> Counter:
    return Counter(box.kind for box in layout.boxes)


def titles(layout: Layout, kind: Kind) -> list[str]:
    return [box.titles[0] for box in layout.boxes if box.kind is kind]


def test_each_core_shows_its_caches_where_there_are_few(measure):
    layout = laid_out(small(), measure)

    rows = [box for box in layout.boxes if (box.parent or "").startswith("core:")]
    caches = [box for box in rows if box.kind is Kind.CACHE]
    assert [box.titles[0] for box in caches] == ["L1 32 KiB", "L2 1 MiB"] * 2
    assert [box.part for box in caches] == [Part.L1, Part.L2] * 2


def test_many_cores_say_once_what_each_of_them_has(measure):
    layout = laid_out(dense(), measure)

    assert {"L1 48 KiB in each core", "L2 1 MiB in each core"} <= set(titles(layout, Kind.CACHE))
    assert kinds(laid_out(workstation_(), measure))[Kind.DIE] == 2


def test_a_shared_cache_spans_the_cores_it_serves(measure):
    layout = laid_out(workstation_(), measure)

    for cache in (box for box in layout.boxes if box.part is Part.L3):
        cores = [
            box
            for box in layout.boxes
            if box.kind is Kind.CORE and set(box.threads) <= set(cache.threads)
        ]
        assert len(cores) == 8
        assert cache.rect.x <= min(core.rect.x for core in cores) + ALMOST
        assert cache.rect.right >= max(core.rect.right for core in cores) - ALMOST
        assert cache.rect.y >= max(core.rect.bottom for core in cores)


def test_kinds_of_cores_are_told_apart(measure):
    layout = laid_out(hybrid(), measure)

    assert titles(layout, Kind.CORE_KIND) == ["6 performance cores", "8 efficiency cores"]


def test_a_number_is_borne_only_by_caches_like_the_one_it_was_measured_in(measure):
    first, second = (b for b in laid_out(workstation_(), measure).boxes if b.part is Part.L3)

    # Measured on the last usable thread, which is on the second die.
    assert (first.bears_value, second.bears_value) == (False, True)


def test_one_of_many_boxes_alike_asks(measure):
    layout = laid_out(server(), measure)

    caches = [box for box in layout.boxes if box.part is Part.L3]
    assert len(caches) == 32
    assert [box.asks for box in caches].count(True) == 1


def test_a_large_server_is_shown_whole_and_folded_where_text_is_large(measure):
    assert kinds(laid_out(server(), measure))[Kind.THREAD] == 512

    folded = laid_out(server(), measure, 698, 452, 1.6)
    assert any("more cores" in title for title in titles(folded, Kind.FOLD))
    assert any("more GPUs" in title for title in titles(folded, Kind.FOLD))


def test_a_fold_asks_for_a_look_where_one_of_those_behind_it_does(measure):
    def fold(unfolded=()):
        boxes = laid_out(workstation_(), measure, 698, 452, 1.6, unfolded).boxes
        return next(box for box in boxes if box.id == "fold:gpus")

    assert fold().needs_look
    assert not fold(["fold:gpus"]).needs_look  # it is seen then
    server_fold = laid_out(server(), measure, 698, 452, 1.6).boxes
    assert not any(box.needs_look for box in server_fold if box.kind is Kind.FOLD)


def test_what_is_unfolded_can_be_folded_again(measure):
    fold = next(b for b in laid_out(server(), measure, 698, 452, 1.6).boxes if b.id == "fold:gpus")
    whole = laid_out(server(), measure, 698, 452, 1.6, [fold.id])

    assert kinds(whole)[Kind.GPU] == 8
    assert "Show fewer" in titles(whole, Kind.FOLD)


def test_links_are_as_thick_as_their_bandwidth_and_narrow_ones_ask_for_a_look(measure):
    layout = laid_out(workstation_(), measure)

    by_box = {wire.box: wire for wire in layout.wires}
    first, second, disk = (by_box[f"link:{name}"] for name in ("gpu:0", "gpu:1", "disk:0"))
    assert first.thickness > second.thickness > disk.thickness
    assert [wire.needs_look for wire in (first, second, disk)] == [False, True, False]
    labels = {box.id: box.titles[0] for box in layout.boxes if box.kind is Kind.LINK}
    assert labels["link:gpu:1"] == "Gen5 ×8 of ×16"


def test_nvlink_joins_every_gpu(measure):
    layout = laid_out(server(), measure)

    assert titles(layout, Kind.NVLINK) == ["NVSwitch · 18 NVLinks a GPU"]
    assert Counter(wire.box for wire in layout.wires)["nvlink"] == 8


def test_gpus_behind_one_switch_stand_beside_it(measure):
    layout = laid_out(MACHINES["dual-socket-8-gpu"](), measure)

    boxes = {box.id: box for box in layout.boxes}
    switches = [box for box in layout.boxes if box.kind is Kind.SWITCH]
    ups = [wire for wire in layout.wires if wire.name.startswith("up:")]
    assert [box.titles[0] for box in switches] == ["PCIe switch (shared uplink)"] * 4
    assert len(ups) == 4
    assert switches[0].rect.y == boxes["gpu:0"].rect.y
    assert switches[0].rect.bottom == boxes["gpu:1"].rect.bottom


def test_equal_nvlinks_are_summed_up(measure):
    layout = laid_out(MACHINES["dual-socket-8-gpu"](), measure)

    told = "NVSwitch · 18 NVLinks, generation 4, 450 GB/s a GPU"
    assert titles(layout, Kind.NVLINK) == [told]
    assert Counter(wire.box for wire in layout.wires)["nvlink"] == 8


def test_many_disks_and_networks_are_folded(measure):
    machine = MACHINES["dual-socket-8-gpu"]()
    folded = laid_out(machine, measure)
    whole = laid_out(machine, measure, unfolded=["fold:disks", "fold:networks"])

    assert {"4 more disks", "6 more networks"} <= set(titles(folded, Kind.FOLD))
    assert kinds(whole)[Kind.GPU] == kinds(folded)[Kind.GPU]
    assert (kinds(folded)[Kind.DISK], kinds(whole)[Kind.DISK]) == (4, 8)
    assert (kinds(folded)[Kind.NETWORK], kinds(whole)[Kind.NETWORK]) == (4, 10)


def test_a_gpu_that_shares_the_memory_is_joined_chip_to_chip(measure):
    layout = laid_out(MACHINES["unified"](), measure)

    gpu = next(box for box in layout.boxes if box.kind is Kind.GPU)
    assert titles(layout, Kind.LINK)[0] == "NVLink-C2C"
    assert gpu.bar_titles[0] == "shares the machine's memory"
    assert gpu.ceiling is None


def test_slices_of_a_gpu_stand_in_it(measure):
    instances = tuple(MigInstance(name="MIG 3g.20gb", memory_bytes=20 * 2**30) for _ in (0, 1))
    gpu = Gpu(index=0, vendor="NVIDIA", sms=98, mig=True, mig_instances=instances)
    layout = laid_out(replace(small(), gpus=(gpu,)), measure)

    assert titles(layout, Kind.SLICE) == ["3g.20gb", "3g.20gb"]


def test_empty_slots_are_dashed_and_many_modules_told_together(measure):
    few = laid_out(workstation_(), measure)
    many = laid_out(MACHINES["dual-socket-8-gpu"](), measure)

    empty = [box for box in few.boxes if box.kind is Kind.MODULE and box.is_dashed]
    assert [box.titles[0] for box in empty] == ["empty slot"] * 2
    assert titles(many, Kind.MODULE) == ["DDR5-6000 · 24 × 64 GiB"]


def test_a_link_is_named_by_what_it_can_do_since_idle_ones_slow_down(measure):
    idle = Link(generation=1, width=16, card_generation=5, card_width=16, peak_bytes_per_s=63e9)
    machine = replace(workstation_(), pci=(PciDevice(address="01", link=idle),))
    layout = laid_out(machine, measure)

    link = next(box for box in layout.boxes if box.id == "link:gpu:0")
    assert link.titles[0] == "Gen5 ×16"
    assert not link.needs_look


def test_a_gpu_behind_a_narrower_hop_asks_for_a_look(measure):
    wide = Link(generation=4, width=16, card_generation=4, card_width=16, peak_bytes_per_s=31.5e9)
    uplink = Link(generation=3, width=4, card_generation=3, card_width=4, peak_bytes_per_s=3.94e9)
    pci = (
        PciDevice(address="00", parent="pci0000:00", class_id=0x060400, link=uplink),
        PciDevice(address="01", parent="00", class_id=0x030000, link=wide),
    )
    layout = laid_out(replace(workstation_(), pci=pci), measure)

    link = next(box for box in layout.boxes if box.id == "link:gpu:0")
    assert link.needs_look
    assert link.titles[0] == "Gen4 ×16, way 3.94 GB/s"
    told = Facts(replace(workstation_(), pci=pci), WORDS).of(link)
    limit = next(fact for fact in told if fact.label == "Limited by")
    assert "3.94 GB/s" in limit.value


@pytest.mark.parametrize(
    ("now", "slot", "says", "is_marked"),
    [
        ((4, 4), (4, 16), ["4 of 16 lanes: reseat the card, or the slot shares lanes."], True),
        ((1, 16), (4, 16), ["Gen1 of Gen4: idle links slow down."], False),
        ((4, 8), (4, 8), ["its slot 8"], True),
        ((4, 4), (4, 8), ["4 of 8 lanes: reseat", "its slot 8"], True),
        ((4, 4), (None, None), ["manual for the slot"], True),
        ((4, 16), (4, 16), [], False),
    ],
)
@pytest.mark.parametrize("by_driver", [False, True])
def test_a_link_below_what_its_ends_can_do_says_why(measure, now, slot, says, is_marked, by_driver):
    link = Link(
        generation=now[0],
        width=now[1],
        card_generation=4,
        card_width=16,
        slot_generation=slot[0],
        slot_width=slot[1],
    )
    here = workstation_()
    card = PciDevice(address="01", parent="pci0000:00", link=None if by_driver else link)
    gpu = replace(here.gpus[0], pci_address="01", link=link if by_driver else None)
    here = replace(here, pci=(card,), gpus=(gpu,), storage=(), network=())
    box = next(box for box in laid_out(here, measure).boxes if box.id == "link:gpu:0")
    told = [fact.value for fact in Facts(here, WORDS).of(box) if fact.label == "Have a look"]
    assert box.needs_look == is_marked
    assert len(told) == len(says)
    assert all(text in value for text, value in zip(says, told, strict=True))


@pytest.mark.parametrize(
    ("container", "key"), [("docker", "no_card_container"), ("none", "no_card_virtual")]
)
def test_why_there_is_no_gpu_is_said_in_the_words_of_the_doctor(measure, container, key):
    here = replace(elsewhere(), virtualization="kvm", container=container)
    box = next(b for b in laid_out(here, measure).boxes if b.id == "no-gpu")

    values = {"container": container, "virtualization": "kvm"}
    said = f"{WORDS.say(f'doctor.{key}', values)} {WORDS.say(f'doctor.more.{key}')}"
    assert " ".join(box.lines).startswith(said)


def test_no_gpu_and_not_having_looked_are_told_apart(measure):
    assert titles(laid_out(small(), measure), Kind.UNREAD)[0] == "GPUs: not known"
    assert titles(laid_out(elsewhere(), measure), Kind.UNREAD)[0] == "No GPU here."


def test_none_found_and_not_having_looked_are_told_apart(measure):
    looked = titles(laid_out(replace(small(), missing=()), measure), Kind.UNREAD)
    windows = replace(small(), os=OperatingSystem(kind="windows"))

    assert looked[1:] == ["Storage: none found", "Network: none found"]
    found = titles(laid_out(windows, measure), Kind.UNREAD)
    assert found[1:] == ["Storage: not looked at", "Network: not looked at"]


def test_threads_that_are_off_are_dashed_or_told_together(measure):
    layout = laid_out(pinned(), measure)

    by_id = {box.id: box for box in layout.boxes}
    assert by_id["thread:2"].is_dashed
    assert not by_id["thread:1"].is_dashed
    assert titles(layout, Kind.OFF) == ["Switched off: threads 3"]


def test_a_machine_of_which_nothing_is_known_still_has_a_map(measure):
    layout = laid_out(unknown(), measure)

    assert titles(layout, Kind.PACKAGE) == ["Processor"]
    assert titles(layout, Kind.MEMORY) == ["Memory, size not known"]
    assert not any(" 0 " in f" {line} " for box in layout.boxes for line in box.titles)


def test_a_small_machine_is_drawn_larger_but_never_beyond_its_room(measure):
    comfortable = lay_out_comfortably(small(), WORDS, measure(), 972, 690)

    scale = 972 / comfortable.width
    assert scale > 1
    assert comfortable.height * scale <= 690
