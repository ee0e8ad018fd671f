from __future__ import annotations

import pytest

from machine.doctor.cards import read_amd, read_bus
from machine.doctor.evidence import AmdDevice, Vendor
from tests.machine.doctor.buses import PCI, geforce, plug


def test_a_card_is_described(tree):
    geforce(tree)
    tree.write("/usr/share/misc/pci.ids", "10de  NVIDIA\n\t2786  AD104 [GeForce RTX 4070]\n")

    (card,) = read_bus(tree.root).cards

    assert card.vendor is Vendor.NVIDIA
    assert (card.address, card.class_id) == ("0000:01:00.0", 0x030000)
    assert (card.driver, card.runtime_status, card.answers) == ("nvidia", "active", True)
    assert card.name.startswith("NVIDIA ")


@pytest.mark.parametrize(
    ("vendor", "device", "class_id", "maker"),
    [
        (0x10DE, 0x2330, 0x030200, Vendor.NVIDIA),
        (0x1002, 0x744C, 0x030000, Vendor.AMD),
        (0x1002, 0x74A1, 0x120000, Vendor.AMD),  # MI300X is a processing accelerator
        (0x8086, 0x56A0, 0x030000, Vendor.INTEL),
        (0x8086, 0x0BD5, 0x038000, Vendor.INTEL),
        (0x1DA3, 0x1020, 0x120000, Vendor.OTHER),
        (0x1AE0, 0x0063, 0xFF0000, Vendor.OTHER),  # a TPU says nothing of its kind
        (0x1D0F, 0x7364, 0x088000, Vendor.OTHER),  # Trainium neither
        (0x1ED5, 0x0323, 0x030000, Vendor.OTHER),
    ],
)
def test_cards_are_known_by_their_class_and_maker(tree, vendor, device, class_id, maker):
    plug(tree, "0000:17:00.0", vendor, device, class_id)

    (card,) = read_bus(tree.root).cards

    assert card.vendor is maker
    assert (card.needs is not None) == (maker is Vendor.OTHER)


@pytest.mark.parametrize(
    ("vendor", "class_id"),
    [
        (0x8086, 0x120000),  # the NPU of a Core Ultra
        (0x1414, 0x030200),  # what WSL shows of Windows' GPU
        (0x10DE, 0x040300),  # the sound of a graphics card
        (0x8086, 0x020000),  # a network card
        (0x1AE0, 0x020000),  # another, of a maker of accelerators
        (0x1E60, 0x120000),  # Hailo, which PyTorch has no package for
    ],
)
def test_what_pytorch_cannot_compute_on_is_no_card(tree, vendor, class_id):
    plug(tree, "0000:00:05.0", vendor, 0x1234, class_id)

    bus = read_bus(tree.root)

    assert (bus.cards, bus.displays) == ((), ())


def test_the_console_of_a_server_is_a_display_that_cannot_compute(tree):
    plug(tree, "0000:03:00.0", 0x1A03, 0x2000, 0x030000)

    (display,) = read_bus(tree.root).displays

    assert display.startswith("ASPEED")


def test_the_console_of_an_old_server_is_no_gpu_of_amd(tree):
    plug(tree, "0000:03:00.0", 0x1002, 0x515E, 0x030000)  # ES1000

    bus = read_bus(tree.root)

    assert (bus.cards, len(bus.displays)) == ((), 1)


def test_an_accelerator_of_another_maker_is_called_by_name(tree):
    plug(tree, "0000:07:00.0", 0x1AE0, 0x006F, 0xFF0000)

    (card,) = read_bus(tree.root).cards

    assert (card.name, card.needs) == ("Google TPU v6e", "torch_xla")


def test_switches_between_gpus_are_counted(tree):
    for bus in (5, 6):
        plug(tree, f"0000:{bus:02x}:00.0", 0x10DE, 0x22A3, 0x068000)

    assert read_bus(tree.root).nvswitches == 2


def test_a_card_without_a_driver_has_the_empty_name_of_one(tree):
    geforce(tree, driver=None)

    assert read_bus(tree.root).cards[0].driver == ""


def test_a_card_that_has_fallen_off_the_bus_answers_with_ones(tree):
    geforce(tree, answers=False)

    assert read_bus(tree.root).cards[0].answers is False


@pytest.mark.parametrize("status", ["suspended", "suspending"])
def test_a_sleeping_card_is_not_spoken_to(tree, status):
    folder = geforce(tree, status=status, answers=False)
    folder.joinpath("config").chmod(0)  # reading it would wake the card

    card = read_bus(tree.root).cards[0]

    assert (card.runtime_status, card.answers) == (status, None)


@pytest.mark.parametrize("size", [0, 3])
def test_a_card_whose_start_cannot_be_read_is_not_judged(tree, size):
    folder = geforce(tree)
    folder.joinpath("config").write_bytes(b"\xff" * size)

    assert read_bus(tree.root).cards[0].answers is None


@pytest.mark.parametrize(
    ("address", "name", "only_draws"),
    [
        ("0000:00:02.0", "Raptor Lake-S GT1 [UHD Graphics 770]", True),
        ("0000:00:02.0", "Meteor Lake-P [Intel Arc Graphics]", False),
        ("0000:03:00.0", "DG2 [Arc A770]", False),
    ],
)
def test_intels_graphics_compute_where_they_are_called_arc(tree, address, name, only_draws):
    plug(tree, address, 0x8086, 0x1111, 0x030000, driver="i915", render="renderD128")
    tree.write("/usr/share/misc/pci.ids", f"#\n8086  Intel Corporation\n\t1111  {name}\n")

    (card,) = read_bus(tree.root).cards

    assert (card.only_draws, card.render_node) == (only_draws, "/dev/dri/renderD128")


def test_a_machine_without_a_bus_has_no_cards(tree):
    assert read_bus(tree.root).cards == ()


# --- AMD's compute driver -----------------------------------------------------------------------


def kfd(tree, number, **properties):
    text = "".join(f"{name} {value}\n" for name, value in properties.items())
    tree.write(f"/sys/class/kfd/kfd/topology/nodes/{number}/properties", text)


@pytest.mark.parametrize(
    ("version", "target"),
    [(110000, "gfx1100"), (90010, "gfx90a"), (100306, "gfx1036"), (90402, "gfx942")],
)
def test_the_generation_of_an_amd_gpu_is_told_by_its_driver(tree, version, target):
    kfd(tree, 0, cpu_cores_count=16, simd_count=0, gfx_target_version=0)
    kfd(tree, 1, cpu_cores_count=0, simd_count=192, gfx_target_version=version)

    assert read_amd(tree.root) == (AmdDevice(target=target),)


def test_the_memory_of_an_amd_gpu_is_found_by_its_place_on_the_bus(tree):
    kfd(tree, 1, simd_count=192, gfx_target_version=110000, domain=0, location_id=0x0300)
    tree.write(f"{PCI}/0000:03:00.0/mem_info_vram_total", "25753026560\n")
    tree.write(f"{PCI}/0000:03:00.0/mem_info_vram_used", "1000000\n")

    (device,) = read_amd(tree.root)

    assert (device.total_bytes, device.used_bytes) == (25753026560, 1000000)
