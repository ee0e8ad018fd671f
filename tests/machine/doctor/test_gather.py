from __future__ import annotations

import os
from pathlib import Path

import pytest

from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Nvml, NvmlDevice, Torch, Vendor
from machine.doctor.gather import gather
from tests.cases import not_on_windows
from tests.machine.doctor.buses import geforce, load, plug

ANSWERED = Nvml(code=0)


class Asked:
    """Stands for NVML: remembers whether it was asked."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return ANSWERED


@pytest.fixture
def look(tree):
    """Return a function that gathers the evidence of the tree."""

    def gathered(**changes):
        return gather(
            tree.root,
            **{
                "python": "/py",
                "environment": {},
                "nvml": lambda: ANSWERED,
                "probe": lambda python: Torch(python=python),
                **changes,
            },
        )

    return gathered


def test_everything_is_gathered(tree, look):
    geforce(tree)
    load(tree, "nvidia")
    tree.write("/proc/sys/kernel/osrelease", "6.8.0\n")
    tree.write("/etc/os-release", 'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n')
    tree.write("/usr/lib64/libnvidia-ml.so.580.1", "")

    evidence = look(environment={"CUDA_VISIBLE_DEVICES": "", "HOME": "/root"})

    assert evidence.surroundings.distributions == ("linuxmint", "ubuntu", "debian")
    assert evidence.surroundings.environment == {"CUDA_VISIBLE_DEVICES": ""}
    assert evidence.kernel.loaded == {"nvidia"}
    assert [card.vendor for card in evidence.cards] == [Vendor.NVIDIA]
    assert evidence.libraries == ("580.1",)
    assert (evidence.nvml, evidence.torch) == (ANSWERED, Torch(python="/py"))


def test_a_recording_is_not_described_by_who_reads_it(look):
    around = look().surroundings

    assert (around.user, around.groups, around.architecture) == (None, frozenset(), None)


# --- when NVML is left alone --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "modules", "asked"),
    [
        ("active", ("nvidia",), 1),
        (None, ("nvidia",), 1),
        ("suspended", ("nvidia",), 0),  # it would wake the card
        ("active", ("nouveau",), 0),  # it would load the driver
    ],
)
def test_nvml_is_asked_only_where_it_changes_nothing(tree, look, status, modules, asked):
    geforce(tree, status=status)
    load(tree, *modules)
    nvml = Asked()

    evidence = look(nvml=nvml)

    assert nvml.times == asked
    assert evidence.nvml == (ANSWERED if asked else None)


def test_nvml_is_asked_if_one_of_two_cards_is_awake(tree, look):
    geforce(tree, status="suspended")
    plug(tree, "0000:02:00.0", 0x10DE, 0x2330, 0x030200)
    load(tree, "nvidia")

    assert look().nvml == ANSWERED


def test_nvml_is_not_asked_about_other_makers_cards(tree, look):
    plug(tree, "0000:03:00.0", 0x1002, 0x744C, 0x030000)
    load(tree, "nvidia")

    assert look().nvml is None


def test_nvml_is_asked_before_the_files_are_looked_for_which_it_makes(tree, look):
    geforce(tree)
    load(tree, "nvidia")

    def make():
        tree.write("/dev/nvidia0", "")
        return ANSWERED

    assert [node.path for node in look(nvml=make).nodes] == ["/dev/nvidia0"]


# --- cards that are not on the bus --------------------------------------------------------------


def test_windows_shares_its_card_with_wsl(tree, look):
    tree.write("/proc/version", "Linux version 5.15.1-microsoft-standard-WSL2 (x@y)\n")
    tree.write("/proc/sys/kernel/osrelease", "5.15.1-microsoft-standard-WSL2\n")
    plug(tree, "0000:00:01.0", 0x1414, 0x008E, 0x030200)
    tree.write("/dev/dxg", "")
    assert look().cards == ()

    tree.write("/usr/lib/wsl/lib/libcuda.so.1", "")
    evidence = look()

    assert (evidence.surroundings.wsl, evidence.surroundings.has_dxg) == (2, True)
    assert [(card.vendor, card.address) for card in evidence.cards] == [(Vendor.NVIDIA, None)]
    assert evidence.nvml == ANSWERED


def test_the_imitation_of_a_kernel_is_wsl_1(tree, look):
    tree.write("/proc/version", "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)\n")
    tree.write("/proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft\n")

    assert look().surroundings.wsl == 1


def test_a_jetson_has_its_gpu_in_the_chip_and_nvml_is_left_alone(tree, look):
    tree.write("/sys/firmware/devicetree/base/compatible", "nvidia,p3768\0nvidia,tegra234\0")
    tree.write("/sys/firmware/devicetree/base/model", "NVIDIA Jetson Orin Nano\0")

    evidence = look()

    assert evidence.surroundings.board == "NVIDIA Jetson Orin Nano"
    assert [(card.name, card.address) for card in evidence.cards] == [
        ("NVIDIA Jetson Orin Nano", None)
    ]
    assert evidence.nvml is None


@pytest.mark.parametrize(
    ("path", "vendor"), [("/dev/nvidiactl", Vendor.NVIDIA), ("/dev/kfd", Vendor.AMD)]
)
def test_a_sandbox_may_show_no_more_than_the_device_files(tree, look, path, vendor):
    tree.write(path, "")

    assert [card.vendor for card in look().cards] == [vendor]


# --- files below /dev ---------------------------------------------------------------------------


def test_device_files_are_listed_with_who_may_use_them(tree, look):
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-modeset", "kfd", "dri/renderD128"):
        tree.write(f"/dev/{name}", "")
        (tree.root / "dev" / name).chmod(0o660)

    def access(path: Path, mode: int) -> bool:
        assert mode == os.R_OK | os.W_OK
        return path.name != "kfd"

    nodes = {node.path: node for node in look(access=access).nodes}

    assert list(nodes) == [
        "/dev/dri/renderD128",
        "/dev/kfd",
        "/dev/nvidia-uvm",
        "/dev/nvidia0",
        "/dev/nvidiactl",
    ]
    assert [path for path, node in nodes.items() if not node.is_usable] == ["/dev/kfd"]
    assert nodes["/dev/kfd"].mode == 0o660
    assert nodes["/dev/kfd"].group


# --- the fabric manager -------------------------------------------------------------------------


def test_the_fabric_manager_is_known_by_its_process(tree, look):
    tree.write("/proc/7/comm", "bash\n")
    assert look().has_fabric_manager is False

    tree.write("/proc/8/comm", "nv-fabricmanage\n")
    assert look().has_fabric_manager is True


def test_a_container_does_not_show_the_processes_of_its_host(tree, look):
    tree.write("/run/.containerenv", "")

    assert look().has_fabric_manager is None


@not_on_windows
def test_this_machine_is_gathered():
    evidence = gather(probe=lambda python: Torch(python=python))

    assert evidence.surroundings.user
    assert evidence.surroundings.architecture
    assert evidence.torch is not None


def test_a_host_without_a_folder_of_modules_is_not_said_to_lack_the_driver(tree, look):
    geforce(tree, driver=None)
    load(tree, "snd_hda_intel")
    tree.write("/proc/sys/kernel/osrelease", "6.8.0\n")
    assert diagnose(look()).found.key == "driver_untold"

    tree.write("/lib/modules/6.7.0/modules.dep", "extra/nvidia.ko: a.ko\n")
    assert diagnose(look()).found.key == "modules_gone"


def nothing(tree):
    """A bus that is hidden whole."""


def other_devices(tree):
    """A bus on which there is no card, as in most virtual machines."""
    plug(tree, "0000:00:01.0", 0x1AF4, 0x1041, 0x020000)
    plug(tree, "0000:00:02.0", 0x1234, 0x1111, 0x030000)


def container_in_wsl(tree):
    """The card is Windows's, and its library not where WSL has it."""
    tree.write("/proc/version", "Linux version 5.15.1-microsoft-standard-WSL2 (x@y)\n")
    plug(tree, "0000:00:01.0", 0x1414, 0x008E, 0x030200)
    tree.write("/dev/dxg", "")


UNSEEN = pytest.mark.parametrize("around", [nothing, other_devices, container_in_wsl])


@UNSEEN
def test_what_nvml_answers_with_is_a_card_though_the_bus_does_not_show_it(tree, look, around):
    around(tree)
    seen = Nvml(code=0, devices=(NvmlDevice(index=0, name="NVIDIA H100"),))

    evidence = look(nvml=lambda: seen)

    assert [(card.vendor, card.name) for card in evidence.cards] == [(Vendor.NVIDIA, "NVIDIA H100")]
    assert evidence.nvml == seen
    # It answers, so neither its driver nor its files can be what is wrong.
    diagnosis = diagnose(evidence)
    assert diagnosis.vendor is Vendor.NVIDIA
    assert diagnosis.finding == "build"


@UNSEEN
def test_where_no_card_is_seen_and_nvml_finds_none_there_is_none(tree, look, around):
    around(tree)
    nvml = Asked()

    evidence = look(nvml=nvml)

    assert nvml.times == 1
    assert (evidence.cards, evidence.nvml) == ((), None)
    assert diagnose(evidence).vendor is None
