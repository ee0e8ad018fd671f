from __future__ import annotations

from msgspec.structs import replace

from experiments.core import words
from experiments.core.declare import Part
from machine.devices import ClockReason
from machine.inspect import inspect
from machine.model import Cache, Cpu, Machine, Missing, NumaNode, SideCache
from tests.cases import in_one
from tests.machine.contained import container
from tests.machine.trees import Tree
from tests.widgets.map.machines import MACHINES, dense, small, workstation
from widgets.map.layout.boxes import Box, Kind, Rect
from widgets.map.layout.layout import lay_out
from widgets.map.panel.about import About

WORDS = words.load()
HERE = Rect(0, 0, 10, 10)


def boxes_of(machine, measure):
    return lay_out(machine, WORDS, measure(), 972, 690).boxes


def facts(machine, box):
    return {fact.label: fact for fact in About(machine, WORDS).facts.of(box)}


@in_one(
    ("virtualization", "container", "said"),
    [
        ("kvm", "docker", "a virtual machine (kvm), and in it a container (docker)"),
        ("none", "docker", "the bare machine, and in it a container (docker)"),
        (None, "docker", "a container (docker)"),
        ("kvm", "none", "a virtual machine (kvm)"),
        ("kvm", None, "a virtual machine (kvm)"),
        ("none", "none", "the bare machine"),
    ],
)
def test_virtual_machine_and_container_are_told_together(virtualization, container, said):
    sources = {"virtualization": "/proc/cpuinfo", "container": "/.dockerenv"}
    here = replace(small(), virtualization=virtualization, container=container, sources=sources)
    fact = next(f for f in About(here, WORDS).facts.of_machine() if f.label == "Runs on")

    assert fact.value == said
    assert ("/proc/cpuinfo" in fact.source) is (virtualization is not None)
    assert ("/.dockerenv" in fact.source) is (container == "docker")


def groups(machine):
    found = About(machine, WORDS).facts.groups()
    return {key: {fact.label: fact for fact in facts} for key, facts in found}


def test_windows_sets_the_clock_by_its_power_plan():
    laptop = MACHINES["hybrid-laptop"]()
    windows = replace(laptop, os=replace(laptop.os, kind="windows"))
    assert groups(windows)["map.group_clock"]["Power plan"].value == "powersave"
    assert groups(laptop)["map.group_clock"]["Governor"].value == "powersave"


def test_slow_modules_are_remarked_in_the_panel():
    told = groups(MACHINES["workstation"]())["map.group_memory"]["Have a look"]
    assert "6000 of 6400 MT/s" in told.value
    assert "Have a look" not in groups(MACHINES["hybrid-laptop"]())["map.group_memory"]


def test_attacks_are_counted_and_named_in_the_tip():
    told = groups(MACHINES["hybrid-laptop"]())["map.group_protection"]
    assert told["Vulnerable to"].value == "nothing known"
    assert told["Mitigated by kernel"].value == "4 of 17 attacks"
    assert "spectre_v2" in told["Mitigated by kernel"].source


def test_what_is_unknown_for_one_reason_is_said_once(tmp_path):
    tree = Tree(tmp_path)
    tree.cpus(2)
    told = groups(inspect(tree.root))
    (alike,) = (fact for name, fact in told["map.group_clock"].items() if "Governor" in name)
    assert alike.label == "Governor, clock driver, energy preference, boost"
    assert alike.why
    assert "not set the clock" in alike.why


def test_a_file_of_an_older_version_says_nothing_of_what_it_does_not_have():
    assert groups(small()) == {}


def test_a_container_shows_its_host_and_names_no_folder(tmp_path):
    tree = Tree(tmp_path)
    container(tree)
    machine = inspect(tree.root)
    told = groups(machine)
    assert told["map.group_maker"]["Model"].value == "T14s Gen 4 (21K5)"
    assert told["map.group_clock"]["Temperature now"].value == "Tctl 50 °C"
    assert told["map.group_protection"]["Vulnerable to"].value == "vmscape"
    assert told["map.group_disks"]["nvme0n1"].value == "ext4 (data)"
    assert "RAPL" in told["map.group_clock"]["Power limit"].why
    assert "maria" not in str(told)


def test_package_memory_and_disk_tell_their_part_of_it(measure):
    machine = MACHINES["hybrid-laptop"]()
    boxes = {box.kind: box for box in boxes_of(machine, measure)}
    assert facts(machine, boxes[Kind.PACKAGE])["Boost"].value == "on"
    assert facts(machine, boxes[Kind.MEMORY])["Transparent huge pages"].value == "madvise"
    assert "btrfs (system)" in facts(machine, boxes[Kind.DISK])["File systems"].value


def test_a_fact_says_where_it_was_read(measure):
    machine = small()
    cache = next(b for b in boxes_of(machine, measure) if b.titles == ("L3 16 MiB", "L3"))

    known = facts(machine, cache)

    assert known["Size"].value == "16 MiB"
    assert known["Size"].source == "/sys/devices/system/cpu/cpu*/cache/index*"
    assert known["Serves"].value == "threads 0–1"


def test_the_first_cache_says_for_what_it_is(measure):
    boxes = boxes_of(small(), measure)
    first, second = (
        next(box for box in boxes if box.kind is Kind.CACHE and box.part is part)
        for part in (Part.L1, Part.L2)
    )

    told = facts(small(), first)
    assert told["Size for data"].value == "32 KiB"
    assert told["Size for instructions"].value == "64 KiB"
    assert "Size" not in told
    assert "Size for data" not in facts(small(), second)
    assert facts(small(), second)["Size"].value == "1 MiB"
    without = next(box for box in boxes_of(workstation(), measure) if box.part is Part.L1)
    assert "Size for instructions" not in facts(workstation(), without)


def test_what_is_not_known_says_why_and_how_to_get_it(measure):
    machine = small()
    memory = next(b for b in boxes_of(machine, measure) if b.kind is Kind.MEMORY)

    modules = facts(machine, memory)["Modules"]

    assert (modules.value, modules.why, modules.how) == (
        None,
        "Virtual machines have none.",
        "dmidecode",
    )


def test_what_nobody_explains_is_still_not_zero():
    machine = Machine(cpu=Cpu(caches=(Cache(level=2, threads=(0, 1)),)))
    box = Box(id="cache:0", kind=Kind.CACHE, rect=HERE, members=(0,))

    assert facts(machine, box)["Size"].value is None
    assert facts(machine, box)["Size"].why == "The system does not report it."


def test_what_nobody_looked_for_gives_its_reason():
    missing = Missing(what="gpus", why="Not read.", how="nvidia-smi")
    box = Box(id="no-gpu", kind=Kind.UNREAD, rect=HERE, path="gpus", titles=("GPUs",))

    (state,) = About(Machine(missing=(missing,)), WORDS).facts.of(box)

    assert (state.value, state.why, state.how) == (None, "Not read.", "nvidia-smi")


def test_a_link_tells_what_card_and_slot_could(measure):
    machine = workstation()
    link = next(b for b in boxes_of(machine, measure) if b.id == "link:gpu:1")

    known = facts(machine, link)

    assert known["Runs now as"].value == "Gen5 ×8"
    assert known["Card can do"].value == "×16"
    assert known["Slot can do"].value is None


def test_caches_alike_are_counted_by_level_and_size(measure):
    machine = dense()
    about = About(machine, WORDS)
    boxes = boxes_of(machine, measure)

    first = {box.titles[0]: about.count_alike(box) for box in boxes if box.kind is Kind.CACHE}

    assert first["L3 32 MiB"] == 4
    assert first["L1 48 KiB in each core"] == 32


def nodes_of(machine, measure):
    return [box for box in boxes_of(machine, measure) if box.kind is Kind.NODE]


def test_the_memory_of_a_gpu_is_no_part_of_the_main_memory(measure):
    host = NumaNode(id=0, threads=(0,), memory_bytes=2**34, distances=(10, 80, 20))
    more = replace(host, id=2, threads=(1,), allowed=False)
    of_gpu = NumaNode(id=1, memory_bytes=2**36, kind="gpu")
    assert nodes_of(replace(small(), numa=(host, of_gpu)), measure) == []
    here = replace(small(), numa=(host, of_gpu, more))
    first, second = nodes_of(here, measure)
    assert (first.id, second.id) == ("node:0", "node:2")
    assert second.threads == (1,)
    assert facts(here, second)["Usable here"].value.startswith("no: ")
    assert "Usable here" not in facts(here, first)
    (memory,) = (box for box in boxes_of(here, measure) if box.kind is Kind.MEMORY)
    assert facts(here, memory)["Parts (NUMA nodes)"].value == "2"


def test_a_node_tells_its_side_cache_and_what_speaks_against_it(measure):
    cache = SideCache(level=1, size_bytes=2**34, is_direct_mapped=True)
    node = NumaNode(id=0, threads=(0, 1), memory_bytes=2**35, side_caches=(cache,))
    doubt = Missing(what="numa[*].distances", why="Several have the same threads.", how="look")
    sources = {**small().sources, "numa": "somewhere"}
    numa = (node, replace(node, id=1))
    here = replace(small(), numa=numa, sources=sources, missing=(*small().missing, doubt))
    told = facts(here, nodes_of(here, measure)[0])
    assert told["Cache before the memory"].value == "16 GiB, direct-mapped"
    assert told["Have a look"].value == doubt.why


def test_the_limit_of_the_control_group_stands_beside_the_memory(measure):
    here = replace(small(), memory=replace(small().memory, limit_bytes=2**32))
    (memory,) = (box for box in boxes_of(here, measure) if box.kind is Kind.MEMORY)
    assert facts(here, memory)["Control group allows"].value == "4 GiB"
    whole = {fact.label: fact.value for fact in About(here, WORDS).facts.of_machine()}
    assert whole["Control group allows"] == "4 GiB"
    (memory,) = (box for box in boxes_of(small(), measure) if box.kind is Kind.MEMORY)
    assert "Control group allows" not in facts(small(), memory)


def gpu_facts(measure, **changes):
    first, *others = workstation().gpus
    here = replace(workstation(), gpus=(replace(first, **changes), *others))
    box = next(b for b in boxes_of(here, measure) if b.kind is Kind.GPU and b.members[0] == 0)
    return {label: fact.value for label, fact in facts(here, box).items()}


def test_a_gpu_tells_how_it_fares(measure):
    told = gpu_facts(
        measure,
        temperature_celsius=71.0,
        temperature_slowdown_celsius=90.0,
        clock_reasons=(
            ClockReason(key="clock_reasons.idle", severity="information"),
            ClockReason(key="clock_reasons.software_thermal", severity="warning"),
        ),
        power_limit_watts=400.0,
        power_min_watts=100.0,
        power_max_watts=575.0,
        ecc=False,
        ecc_pending=True,
        resizable_bar=False,
        bar_bytes=256 * 2**20,
        remapped_rows=2,
        remapping_failed=True,
    )
    assert told["Temperature now"] == "71 °C, slows down at 90 °C"
    assert told["Clock held back by"] == "slowed: too hot"
    assert told["Power limit"] == "400 W, from 100 W to 575 W"
    assert told["Error correction (ECC)"] == "off, changes at next start"
    assert told["Processor's reach"] == "256 MiB at once (no resizable BAR)"
    assert told["Memory repairs"] == "2 rows replaced, one failed: exchange the card"


def test_what_a_gpu_does_not_have_is_left_out(measure):
    told = gpu_facts(measure, clock_reasons=(), resizable_bar=None, ecc=None)

    assert told["Clock held back by"] == "nothing"
    assert not {"Processor's reach", "Error correction (ECC)", "Memory repairs"} & {*told}
