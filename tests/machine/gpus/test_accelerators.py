"""GPUs of AMD, Intel and Apple, other accelerators, and the ways between them; all made up."""

from __future__ import annotations

import json

import pytest

from machine.bus import pcie
from machine.devices import Gpu, PciDevice
from machine.facts import Notes, Unanswered
from machine.gpus import accelerators, amd, apple, intel, nvidia
from machine.gpus.pci_facts import Host
from machine.model import Machine, missing_of
from tests.cases import in_one
from tests.machine.gpu_trees import BRIDGE, amd_card, intel_card, processor
from tests.machine.gpu_trees import amd as write_amd
from tests.machine.unexplained import unexplained

GIB = 2**30


def look(tree, *pci, ask_apple=None, **host):
    notes = Notes()
    found = dict(
        accelerators.parts(
            Host(root=tree.root, pci=pci, is_live=True, **host),
            notes,
            ask_nvidia=lambda host: nvidia.Found(),
            ask_apple=ask_apple or (lambda memory_bytes: []),
        )
    )
    return Machine(**found, pci=pci, sources=notes.sources, missing=tuple(notes.missing))


def gpu_leaves(machine):
    return [path for path in unexplained(machine) if path.startswith(("gpu", "nvsw"))]


# --- AMD ------------------------------------------------------------------------------------------


@pytest.fixture
def instincts(tree):
    """Two GPUs of AMD with xGMI between them."""
    processor(tree)
    write_amd(tree, "0000:05:00.0", 1, others=[0, 2])
    write_amd(tree, "0000:26:00.0", 2, others=[1])
    return tree


def test_a_gpu_of_amd_is_told_by_the_kernel(instincts):
    machine = look(instincts, amd_card("0000:05:00.0", numa_node=0), amd_card("0000:26:00.0"))
    assert machine.gpus[0] == Gpu(
        index=0,
        vendor="AMD",
        name="Aqua Vanjaram [Instinct MI300X]",
        pci_address="0000:05:00.0",
        torch_backend="rocm",
        architecture="gfx942",
        memory_bytes=206141652992,
        memory_bus_bits=8192,
        memory_clock_hz=1_300_000_000,
        sms=304,
        sm_clock_hz=2_100_000_000,
        l2_bytes=8 * 4 * 2**20,
        power_limit_watts=750.0,
        power_default_watts=750.0,
        power_max_watts=750.0,
        power_min_watts=0.0,
        temperature_celsius=48.0,
        temperature_slowdown_celsius=100.0,
        temperature_shutdown_celsius=105.0,
        numa_node=0,
        asleep=False,
    )
    assert gpu_leaves(machine) == []


def test_xgmi_between_two_gpus_is_their_way(instincts):
    (link,) = look(instincts, amd_card("0000:05:00.0"), amd_card("0000:26:00.0")).gpu_links
    assert (link.path, link.peer_access_reported, link.nvlinks) == ("XGMI", True, None)


def test_without_xgmi_the_pci_tree_tells_the_way(tree):
    processor(tree)
    for node, address in ((1, "0000:05:00.0"), (2, "0000:26:00.0")):
        write_amd(tree, address, node)
    tree.write("/sys/class/kfd/kfd/topology/nodes/1/p2p_links/0/properties", "node_to 7\n")
    pci = [amd_card(a, parent="pci0000:00") for a in ("0000:05:00.0", "0000:26:00.0")]
    (link,) = look(tree, *pci).gpu_links
    assert (link.path, link.peer_access_reported) == ("PHB", False)


@pytest.mark.parametrize(
    ("version", "name"), [(90010, "gfx90a"), (90402, "gfx942"), (110000, "gfx1100"), (0, None)]
)
def test_the_architecture_has_the_name_that_compilers_know(tree, version, name):
    write_amd(tree, "0000:05:00.0", 1, gfx_target_version=version)
    assert look(tree, amd_card("0000:05:00.0")).gpus[0].architecture == name


def test_an_accelerated_processor_shares_its_memory(tree):
    write_amd(tree, "0000:05:00.0", 0, cpu_cores_count=16)
    assert look(tree, amd_card("0000:05:00.0")).gpus[0].unified_memory is True


def carved_out(tree, *, version=110501, by_driver=False):
    """Write graphics of which 4 GiB are set aside, and which may borrow 96 GiB."""
    write_amd(tree, "0000:05:00.0", 1, gfx_target_version=0 if by_driver else version)
    device = "/sys/bus/pci/devices/0000:05:00.0"
    for name, count in (("vram_total", 4 * GIB), ("gtt_total", 96 * GIB)):
        tree.write(f"{device}/mem_info_{name}", f"{count}\n")
    if by_driver:
        for name, number in (("major", 11), ("minor", 5), ("revision", 1)):
            tree.write(f"{device}/ip_discovery/die/0/GC/0/{name}", f"{number}\n")


@pytest.mark.parametrize("by_driver", [False, True])
def test_of_graphics_in_a_processor_both_parts_of_its_memory_are_told_as_one(tree, by_driver):
    carved_out(tree, by_driver=by_driver)
    machine = look(tree, amd_card("0000:05:00.0"))
    (gpu,) = machine.gpus
    assert (gpu.memory_bytes, gpu.unified_memory) == (100 * GIB, True)
    assert "mem_info_gtt_total" in machine.sources["gpus[*].memory_bytes"]
    assert gpu_leaves(machine) == []


@pytest.mark.parametrize("version", [110000, 120001, 130000])
def test_a_card_of_its_own_does_not_count_what_it_may_borrow(tree, version):
    carved_out(tree, version=version)  # the last is newer than known: not taken for one
    (gpu,) = look(tree, amd_card("0000:05:00.0")).gpus
    assert (gpu.memory_bytes, gpu.unified_memory) == (4 * GIB, None)


def test_without_the_compute_topology_the_reason_is_told(tree):
    machine = look(tree, amd_card("0000:05:00.0"))
    assert machine.gpus[0].sms is None
    assert "/sys/class/kfd" in missing_of(machine, "gpus[0].sms").why
    assert "No driver" in missing_of(machine, "gpus[0].driver").why
    assert gpu_leaves(machine) == []


def test_files_that_would_wake_a_sleeping_gpu_are_not_read(tree):
    write_amd(tree, "0000:05:00.0", 1)
    tree.write("/sys/bus/pci/devices/0000:05:00.0/power/runtime_status", "suspended\n")
    machine = look(tree, amd_card("0000:05:00.0"))
    assert (machine.gpus[0].asleep, machine.gpus[0].power_limit_watts) == (True, None)
    assert machine.gpus[0].memory_bytes == 206141652992, "the driver remembers it"
    assert "asleep" in missing_of(machine, "gpus[0].power_limit_watts").why


def test_hiding_by_the_environment_is_told(instincts, monkeypatch):
    folder = instincts.root / "sys/bus/pci/devices/0000:05:00.0"
    (folder / "driver").symlink_to("../../drivers/amdgpu")
    assert look(instincts, amd_card("0000:05:00.0")).gpus[0].visible is True
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    machine = look(instincts, amd_card("0000:05:00.0"))
    assert machine.gpus[0].visible is None
    assert "HIP_VISIBLE_DEVICES" in missing_of(machine, "gpus[0].visible").why


def test_the_console_of_a_server_is_no_accelerator(tree):
    console = amd_card("0000:01:00.0", device_id=0x515E, class_id=0x030000)
    aspeed = PciDevice(address="0000:02:00.0", vendor_id=0x1A03, class_id=0x030000)
    machine = look(tree, console, aspeed)
    assert machine.gpus == ()
    assert missing_of(machine, "gpus") is None


def test_shares_of_a_card_for_virtual_machines_are_not_more_cards(tree):
    assert amd.read(Host(root=tree.root, pci=(amd_card("x", is_virtual_function=True),))) == []
    assert intel.read(Host(root=tree.root, pci=(intel_card(is_virtual_function=True),))) == []


# --- Intel ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "memory_bytes"),
    [
        ({"tile0/physical_vram_size_bytes": 2**33, "tile1/physical_vram_size_bytes": 2**33}, 2**34),
        ({"tile0/memory/physical_vram_size_bytes": 2**33}, 2**33),
        ({"drm/card1/lmem_total_bytes": 2**34}, 2**34),
        ({"lmem_total_bytes": 2**34}, 2**34),
    ],
    ids=["xe, two tiles", "xe, newer", "i915", "i915, of the device"],
)
def test_the_memory_of_an_intel_card_is_where_its_driver_tells_it(tree, files, memory_bytes):
    for name, value in files.items():
        tree.write(f"/sys/bus/pci/devices/0000:03:00.0/{name}", f"{value}\n")
    machine = look(tree, intel_card())
    assert machine.gpus[0].memory_bytes == memory_bytes
    assert machine.gpus[0].unified_memory is False
    assert gpu_leaves(machine) == []


def test_a_card_whose_driver_tells_no_memory_has_a_reason_and_no_zero(tree):
    machine = look(tree, intel_card())
    assert machine.gpus[0].memory_bytes is None
    assert "xpu-smi" in missing_of(machine, "gpus[0].memory_bytes").how


@pytest.mark.parametrize(
    "file",
    ["tile0/gt0/freq0/rp0_freq", "drm/card0/gt/gt0/rps_RP0_freq_mhz", "drm/card0/gt_RP0_freq_mhz"],
)
def test_clock_and_power_come_from_either_driver(tree, file):
    folder = "/sys/bus/pci/devices/0000:03:00.0"
    tree.write(f"{folder}/{file}", "2850\n")
    tree.write(f"{folder}/hwmon/hwmon3/power1_max", "190000000\n")
    (gpu,) = look(tree, intel_card()).gpus
    assert (gpu.sm_clock_hz, gpu.power_limit_watts) == (2_850_000_000, 190.0)


def test_graphics_in_the_processor_come_last_and_share_its_memory(tree):
    built_in = intel_card("0000:00:02.0", device_id=0x9A49)
    machine = look(tree, built_in, intel_card(), memory_bytes=2**34)
    assert [gpu.pci_address for gpu in machine.gpus] == ["0000:03:00.0", "0000:00:02.0"]
    assert (machine.gpus[1].unified_memory, machine.gpus[1].memory_bytes) == (True, 2**34)
    assert [gpu.torch_backend for gpu in machine.gpus] == ["xpu", None]
    assert "Core Ultra" in missing_of(machine, "gpus[1].torch_backend").why


# --- Apple ----------------------------------------------------------------------------------------

M3_PRO = {
    "_name": "Apple M3 Pro",
    "spdisplays_mtlgpufamilysupport": "spdisplays_metal3",
    "spdisplays_vendor": "sppci_vendor_Apple",
    "sppci_cores": "18",
    "sppci_device_type": "spdisplays_gpu",
    "sppci_model": "Apple M3 Pro",
}
RADEON = {
    "_name": "Radeon Pro 5500M",
    "sppci_model": "AMD Radeon Pro 5500M",
    "spdisplays_metal": "spdisplays_supported",
    "spdisplays_vendor": "sppci_vendor_amd",
    "spdisplays_vram": "8 GB",
}


def said(*entries):
    return lambda *command, within_s: json.dumps({"SPDisplaysDataType": entries})


def test_a_mac_tells_its_gpu_whose_memory_is_the_machines():
    (gpu,) = apple.read(2**35, said(M3_PRO))
    told = {name: gpu.values[name] for name in ("name", "vendor", "sms", "torch_backend")}
    assert told == {"name": "Apple M3 Pro", "vendor": "Apple", "sms": 18, "torch_backend": "mps"}
    assert (gpu.values["unified_memory"], gpu.values["memory_bytes"]) == (True, 2**35)


def test_a_card_in_an_older_mac_has_its_own_memory():
    (gpu,) = apple.read(2**34, said(RADEON))
    assert (gpu.values["vendor"], gpu.values["memory_bytes"]) == ("AMD", 2**33)
    assert gpu.values["unified_memory"] is False


@in_one("answer", ["", "[]", "{}", '{"SPDisplaysDataType": [7]}'])
def test_an_answer_that_makes_no_sense_is_a_reason(answer):
    with pytest.raises(Unanswered, match="did not answer"):
        apple.read(None, lambda *command, within_s: answer)


def test_a_command_that_is_not_there_is_a_reason(monkeypatch):
    monkeypatch.setattr(apple, "COMMAND", ("/nowhere/system_profiler",))
    with pytest.raises(Unanswered, match="did not answer"):
        apple.read(None)


def test_a_mac_shows_what_its_profiler_says(tree, monkeypatch):
    monkeypatch.setattr(accelerators.sys, "platform", "darwin")
    machine = look(tree, ask_apple=lambda memory: apple.read(memory, said(M3_PRO)))
    assert machine.gpus[0].torch_backend == "mps"
    assert gpu_leaves(machine) == []


def test_a_mac_that_does_not_answer_says_so(tree, monkeypatch):
    monkeypatch.setattr(accelerators.sys, "platform", "darwin")
    machine = look(tree, ask_apple=lambda memory: apple.read(memory, lambda *command, within_s: ""))
    assert machine.gpus == ()
    assert "system_profiler" in missing_of(machine, "gpus").why


# --- all others -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vendor_id", "device_id", "class_id", "vendor", "backend"),
    [
        (0x1AE0, 0x0063, 0xFF0000, "Google", "xla"),
        (0x1D0F, 0x7364, 0x088000, "Amazon", "xla"),
        (0x1DA3, 0x1020, 0x120000, "Habana (Intel)", "hpu"),
        (0x1D95, 0x0001, 0x120000, "Graphcore", "ipu"),
        (0x19E5, 0xD802, 0x120000, "Huawei", "npu"),
        (0x1E52, 0xB140, 0x120000, "Tenstorrent", None),
        (0x1022, 0x17F0, 0x118000, "AMD", None),
        (0x8086, 0x7D1D, 0x120000, "Intel", None),
        (0x7777, 0x0001, 0x120000, None, None),
    ],
)
def test_other_accelerators_are_known_by_maker_and_class(
    tree, vendor_id, device_id, class_id, vendor, backend
):
    device = PciDevice(
        address="0000:07:00.0", vendor_id=vendor_id, device_id=device_id, class_id=class_id
    )
    machine = look(tree, device)
    (gpu,) = machine.gpus
    assert (gpu.vendor, gpu.torch_backend, gpu.memory_bytes) == (vendor, backend, None)
    assert gpu_leaves(machine) == []


def test_a_tpu_has_the_name_of_its_generation(tree):
    tpu = PciDevice(address="0000:07:00.0", vendor_id=0x1AE0, device_id=0x006F, class_id=0xFF0000)
    assert look(tree, tpu).gpus[0].name == "TPU v6e"


@pytest.mark.parametrize(
    ("vendor_id", "device_id", "class_id"),
    [
        (0x1AE0, 0x0042, 0x020000),  # Google's network card
        (0x1D0F, 0x8061, 0x010802),  # Amazon's disk
        (0x19E5, 0x1822, 0x020000),  # Huawei's network card
        (0x8086, 0x0B25, 0x088000),  # Intel's data streaming accelerator
        (0x1D95, 0x0100, BRIDGE),  # a switch on Graphcore's card
        (0x10DE, 0x22BD, 0x040300),  # the sound of a GPU
    ],
)
def test_what_else_these_makers_make_is_no_accelerator(tree, vendor_id, device_id, class_id):
    device = PciDevice(
        address="0000:07:00.0", vendor_id=vendor_id, device_id=device_id, class_id=class_id
    )
    assert look(tree, device).gpus == ()


def test_an_nvswitch_is_seen_in_the_pci_tree(tree):
    switch = PciDevice(address="0000:06:00.0", vendor_id=0x10DE, class_id=0x068000)
    assert look(tree, switch).nvswitch is True


# --- ways -----------------------------------------------------------------------------------------


def bridge(address, parent, **values):
    return PciDevice(address=address, parent=parent, class_id=BRIDGE, **values)


def gpu(address, parent, node=0, **values):
    return PciDevice(address=address, parent=parent, class_id=0x030200, numa_node=node, **values)


TREE = (
    bridge("0000:00:01.0", "pci0000:00"),
    bridge("0000:01:00.0", "0000:00:01.0"),  # the first switch: one port up, two down
    bridge("0000:02:00.0", "0000:01:00.0"),
    bridge("0000:02:01.0", "0000:01:00.0"),
    gpu("0000:03:00.0", "0000:02:00.0"),
    gpu("0000:04:00.0", "0000:02:01.0"),
    bridge("0000:02:02.0", "0000:01:00.0"),
    bridge("0000:05:00.0", "0000:02:02.0"),  # a switch below the first
    bridge("0000:06:00.0", "0000:05:00.0"),
    gpu("0000:07:00.0", "0000:06:00.0"),
    bridge("0000:00:02.0", "pci0000:00"),
    gpu("0000:08:00.0", "0000:00:02.0"),
    bridge("0000:40:01.0", "pci0000:40"),
    gpu("0000:41:00.0", "0000:40:01.0"),
    bridge("0000:80:01.0", "pci0000:80"),
    gpu("0000:81:00.0", "0000:80:01.0", node=1),
)


@in_one(
    ("a", "b", "path"),
    [
        ("0000:03:00.0", "0000:04:00.0", "PIX"),
        ("0000:03:00.0", "0000:07:00.0", "PXB"),
        ("0000:03:00.0", "0000:08:00.0", "PHB"),
        ("0000:03:00.0", "0000:41:00.0", "NODE"),
        ("0000:03:00.0", "0000:81:00.0", "SYS"),
        ("0000:03:00.0", "0000:99:00.0", None),
        (None, "0000:03:00.0", None),
    ],
)
def test_the_pci_tree_tells_the_way_in_the_words_of_nvidia_smi(a, b, path):
    assert pcie.gpu_path(TREE, a, b) == path


def test_a_switch_on_the_card_itself_is_no_switch_of_the_machine():
    pci = []
    for port, bus in ((0, 0x10), (1, 0x20)):
        pci += [
            bridge(f"0000:02:0{port}.0", "0000:01:00.0", vendor_id=0x1000),
            bridge(f"0000:{bus:02x}:00.0", f"0000:02:0{port}.0", vendor_id=0x1002),
            bridge(f"0000:{bus + 1:02x}:00.0", f"0000:{bus:02x}:00.0", vendor_id=0x1002),
            gpu(f"0000:{bus + 2:02x}:00.0", f"0000:{bus + 1:02x}:00.0", vendor_id=0x1002),
        ]
    pci = (*TREE[:2], *pci)
    assert pcie.gpu_path(pci, "0000:12:00.0", "0000:22:00.0") == "PIX"


def test_unknown_bridges_and_nodes_are_not_guessed():
    lonely = (gpu("0004:05:00.0", None), gpu("0004:06:00.0", None))
    assert pcie.gpu_path(lonely, "0004:05:00.0", "0004:06:00.0") is None
    nowhere = (gpu("0000:03:00.0", "pci0000:00", None), gpu("0001:03:00.0", "pci0001:00", None))
    assert pcie.gpu_path(nowhere, "0000:03:00.0", "0001:03:00.0") is None
