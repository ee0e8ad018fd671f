"""Machines that people reported in public: the remedy follows the card's generation and the place.

Each is a tree of our own, examined by all of the doctor but its probe of PyTorch.
"""

from __future__ import annotations

import os
import shutil
import sys

import pytest
from msgspec.structs import replace

from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Nvml, NvmlDevice, Outcome, Torch, TorchDevice
from machine.doctor.gather import gather
from machine.doctor.generations import generation
from machine.doctor.torch_remedies import is_newer_target
from machine.doctor.verdicts import State
from tests.cases import in_one
from tests.machine.doctor.buses import load, plug, ready
from tests.machine.doctor.made import CPU_TORCH, CUDA_TORCH, PYTHON, named

GTX_1070, GTX_1050, GTX_680, RTX_3090, RTX_5090 = 0x1B81, 0x1C8D, 0x1180, 0x2204, 0x2B85
NO_CUDA = replace(CUDA_TORCH, devices=(), problem="RuntimeError: No CUDA GPUs are available")
ROCM = Torch(
    python=PYTHON, version="2.6.0+rocm6.2", hip="6.2", targets=("gfx900", "gfx1030", "gfx1100")
)
XPU_TORCH = Torch(python=PYTHON, version="2.13.0+xpu", xpu="20250201", problem="no XPU")
AMD_DRIVES = "/sys/class/kfd/kfd/topology/nodes/1/properties"


@pytest.fixture
def walked(tree):
    """Return a function that examines the tree on a distribution."""

    def examined(distribution="arch", *, nvml=None, torch=NO_CUDA, environment=None):
        tree.write("/etc/os-release", f"ID={distribution}\n")
        return diagnose(
            gather(
                tree.root,
                environment=environment or {},
                nvml=lambda: nvml or Nvml(code=12),
                probe=lambda python: torch,
                access=lambda path, mode: True,
                others=lambda: (),
            )
        )

    return examined


def bare(tree, release="6.12.65", *, flags="fpu sse2 avx avx2"):
    tree.write("/proc/sys/kernel/osrelease", release)
    tree.write("/proc/cpuinfo", f"processor : 0\nflags : {flags}\n")
    (tree.root / "sys/firmware/efi").mkdir(parents=True, exist_ok=True)


def card(tree, device, **changes):
    """Plug in a card of NVIDIA without a driver of NVIDIA's."""
    bare(tree)
    plug(tree, "0000:01:00.0", 0x10DE, device, 0x030000, **changes)
    load(tree)
    ready(tree, "6.12.65", "kernel/drivers/gpu/drm/nouveau/nouveau.ko")


def ignored(tree, device, version, *, is_open=False, log=""):
    """Plug in a card that NVIDIA's loaded driver did not take."""
    bare(tree)
    plug(tree, "0000:01:00.0", 0x10DE, device, 0x030000)
    load(tree, "nvidia")
    tree.write("/sys/module/nvidia/version", version)
    kind = "Open Kernel Module" if is_open else "Kernel Module"
    told = f"NVRM version: NVIDIA UNIX {kind} for x86_64  {version}  Release\n"
    tree.write("/proc/driver/nvidia/version", told)
    lines = (f"4,{n},9000000,-;{line}\n" for n, line in enumerate(log.splitlines()))
    tree.write("/dev/kmsg", "".join(lines))


# --- which driver a generation needs --------------------------------------------------------------


@pytest.mark.parametrize(
    ("device", "distribution", "command"),
    [
        (GTX_1070, "arch", "https://aur.archlinux.org/packages/nvidia-580xx-dkms"),
        (GTX_1070, "fedora", "sudo dnf install akmod-nvidia-580xx xorg-x11-drv-nvidia-580xx-cuda"),
        (GTX_1070, "nixos", "hardware.nvidia.open = false;  # in configuration.nix"),
        (GTX_1070, "ubuntu", "sudo ubuntu-drivers install"),  # which looks at the card itself
        (GTX_1070, "opensuse", "https://www.nvidia.com/en-us/drivers/unix/legacy-gpu/"),
        (RTX_3090, "arch", "sudo pacman -S nvidia-open nvidia-utils"),
        (RTX_5090, "arch", "sudo pacman -S nvidia-open nvidia-utils"),
        (RTX_5090, "debian", "sudo apt install nvidia-open"),
    ],
)
def test_a_driver_is_chosen_by_the_generation_of_the_card(
    tree, walked, device, distribution, command
):
    card(tree, device, driver="nouveau")
    step = walked(distribution).found
    assert (step.step, step.key) == ("driver", "free_driver_alone")
    assert command in step.commands


def test_on_debian_a_card_that_its_packages_know_gets_them(tree, walked):
    """Its 535 and 550 still serve Pascal; for Blackwell, it says what it brings."""
    card(tree, GTX_1070)
    assert any("nvidia-driver" in command for command in walked("debian").found.commands)
    tree.write("/sys/bus/pci/devices/0000:01:00.0/device", f"{RTX_5090:#06x}")
    diagnosis = walked("debian")
    told = named(diagnosis, "generation")
    assert (told.key, told.values["packaged"], told.values["first"]) == (
        "packages_too_old",
        550,
        570,
    )
    assert not any("nvidia-driver " in command for command in diagnosis.found.commands)


def test_blackwell_is_said_to_need_the_open_modules(tree, walked):
    card(tree, RTX_5090)
    step = named(walked("arch"), "generation")
    assert (step.key, step.values["first"]) == ("open_modules_only", 570)


def test_never_the_open_modules_for_a_card_that_they_do_not_know(tree, walked):
    card(tree, GTX_1070, driver="nouveau")
    for distribution in ("arch", "fedora", "nixos", "debian", "ubuntu", "void", "rhel", "suse"):
        assert not any("nvidia-open" in text for text in walked(distribution).found.commands)


@pytest.mark.parametrize(
    ("device", "version", "is_open", "key"),
    [
        (GTX_1050, "590.48.01", False, "driver_past_card"),
        (GTX_1050, "570.86.10", True, "open_modules_refuse"),
        (RTX_5090, "535.247.01", False, "driver_before_card"),
        (RTX_5090, "580.65.06", False, "open_modules_needed"),
        (RTX_3090, "580.65.06", False, "driver_ignores_card"),  # the tables name no cause
        (0x3FFF, "580.65.06", True, "driver_ignores_card"),  # newer than the tables
    ],
)
def test_a_driver_that_ignores_a_card_is_held_against_the_generation(
    tree, walked, device, version, is_open, key
):
    ignored(tree, device, version, is_open=is_open)
    step = walked("arch", nvml=Nvml(code=9)).found
    assert (step.step, step.key) == ("driver", key)


def test_the_branch_that_the_kernels_log_names_counts_more_than_the_tables(tree, walked):
    log = (
        "NVRM: The NVIDIA GeForce GTX 1050 GPU installed in this system is\n"
        "NVRM:  supported through the NVIDIA 575.xx Legacy drivers. Please\n"
    )
    ignored(tree, GTX_1050, "590.48.01", log=log)
    diagnosis = walked("arch", nvml=Nvml(code=9))
    assert named(diagnosis, "generation").key == "branch_told"
    assert (diagnosis.found.key, diagnosis.found.values["branch"]) == ("driver_without_card", 575)
    assert diagnosis.found.commands[0].endswith("nvidia-575xx-dkms")


def test_the_log_of_a_container_is_not_taken_for_its_own(tree, walked):
    ignored(tree, GTX_1050, "590.48.01", log="NVRM:  supported through the NVIDIA 470.xx Legacy")
    tree.write("/.dockerenv", "")
    assert named(walked("arch", nvml=Nvml(code=9)), "generation").key == "branch_known"


def test_a_card_newer_than_the_tables_is_unknown_and_never_fine(tree, walked):
    card(tree, 0x3FFF)
    step = named(walked(), "generation")
    assert (step.state, step.key) == (State.UNKNOWN, "generation_unknown")


def test_a_generation_that_pytorch_has_left_behind_is_not_told_to_install_a_driver(tree, walked):
    card(tree, GTX_680, driver="nouveau")
    diagnosis = walked("fedora", torch=CPU_TORCH)
    assert (diagnosis.finding, diagnosis.found.key) == ("suited", "generation_unserved")
    old = replace(CUDA_TORCH, version="1.10.0+cu102", cuda="10.2", devices=(), problem="no driver")
    assert "akmod-nvidia-470xx" in walked("fedora", torch=old).found.commands[1]


@in_one(
    ("name", "device", "generation_name"),
    [
        ("NVIDIA GP104 [GeForce GTX 1070]", None, "Pascal"),
        ("NVIDIA GB202GL [RTX PRO 6000]", None, "Blackwell"),
        ("NVIDIA VGA controller", 0x1B81, "Pascal"),
        ("NVIDIA VGA controller", 0x1DB6, "Volta"),
        ("NVIDIA VGA controller", 0x2330, "Hopper"),
        ("NVIDIA VGA controller", 0x2489, "Ampere"),
        ("NVIDIA VGA controller", 0x26B1, "Ada"),
        ("NVIDIA VGA controller", 0x31C2, "Blackwell"),
        ("NVIDIA VGA controller", 0x3021, None),  # Rubin: newer than the tables
        ("NVIDIA VGA controller", None, None),
    ],
)
def test_a_generation_is_known_by_the_chip_or_by_the_number(name, device, generation_name):
    found = generation(name, device)
    assert (found.name if found else None) == generation_name


# --- Windows' Linux, containers, virtual machines -------------------------------------------------


def test_a_gpu_that_windows_keeps_from_wsl_is_not_sought_below_dev(tree, walked):
    release = "6.6.87.2-microsoft-standard-WSL2"
    bare(tree, release, flags="fpu hypervisor")
    tree.write("/proc/version", f"Linux version {release}")
    tree.write("/dev/dxg", "")
    library = tree.root / "usr/lib/wsl/lib/libcuda.so.1"
    library.parent.mkdir(parents=True)
    shutil.copy(sys.executable, library)  # a whole one, of whatever
    step = walked("ubuntu", nvml=Nvml(code=17)).found
    assert (step.step, step.key) == ("library", "nvml_blocked_in_wsl")
    assert step.commands[0].startswith("wsl --update")
    assert not any("/dev/nvidia" in command for command in step.commands)
    tree.write("/.dockerenv", "")
    inside = walked("ubuntu", nvml=Nvml(code=17)).found
    assert inside.key == "nvml_blocked_in_wsl_container"
    assert inside.commands[0].startswith("docker run --gpus all")


@pytest.mark.parametrize(
    ("flags", "key"),
    [
        ("fpu sse2 hypervisor", "cpu_type_hides_avx"),
        ("fpu sse2", "processor_without_avx"),
        ("fpu sse2 avx avx2 hypervisor", "illegal_instruction"),
    ],
)
@pytest.mark.parametrize("stage", ["import", "use"])
def test_an_illegal_instruction_is_held_against_what_the_processor_shows(
    tree, walked, flags, key, stage
):
    """Proxmox's default type of processor shows no AVX; to install PyTorch anew changes nothing."""
    bare(tree, flags=flags)
    plug(tree, "0000:01:00.0", 0x10DE, RTX_3090, 0x030000, driver="nvidia")
    load(tree, "nvidia")
    crashed = replace(
        NO_CUDA, outcome=Outcome.CRASHED, stage=stage, detail="signal 4", problem=None
    )
    if stage == "import":
        crashed = replace(crashed, version=None)
    nvml = Nvml(code=0, driver="580.65.06", cuda=(13, 0), devices=(NvmlDevice(index=0),))
    step = walked("ubuntu", nvml=nvml, torch=crashed).found
    assert step.key == key
    assert any("--cpu host" in command for command in step.commands) is ("type" in key)


def test_numpys_own_word_on_a_missing_instruction_is_understood(tree, walked):
    bare(tree, flags="fpu sse2 hypervisor")
    plug(tree, "0000:01:00.0", 0x10DE, RTX_3090, 0x030000, driver="nvidia")
    load(tree, "nvidia")
    said = "RuntimeError: NumPy was built with baseline optimizations: (X86_V2) but your machine "
    said += "doesn't support: (X86_V2)."
    broken = replace(NO_CUDA, version=None, import_problem=said, problem=None)
    nvml = Nvml(code=0, driver="580.65.06", cuda=(13, 0), devices=(NvmlDevice(index=0),))
    assert walked("ubuntu", nvml=nvml, torch=broken).found.key == "cpu_type_hides_avx"


# --- AMD ------------------------------------------------------------------------------------------


def radeon(tree, version, *, device=0x7550, vram=(16_000_000_000, 1_000_000_000), gtt=()):
    """Plug in a GPU of AMD that its driver runs: KFD's target, bytes in all and in use."""
    bare(tree)
    address = "0000:2f:00.0"
    plug(tree, address, 0x1002, device, 0x030000, driver="amdgpu", render="renderD128")
    load(tree, "amdgpu")
    for node in ("/dev/kfd", "/dev/dri/renderD128"):
        tree.write(node, "")
    tree.write(
        AMD_DRIVES,
        f"simd_count 64\nsimd_per_cu 2\ngfx_target_version {version}\n"
        f"location_id {0x2F << 8}\ndomain 0\n",
    )
    for name, counts in (("vram", vram), ("gtt", gtt)):
        for what, count in zip(("total", "used"), counts, strict=False):
            tree.write(f"/sys/bus/pci/devices/{address}/mem_info_{name}_{what}", f"{count}\n")


def failing(target):
    device = TorchDevice(kind="cuda", target=target, problem="HIP error: invalid device function")
    return replace(ROCM, devices=(device,))


@pytest.mark.parametrize(
    ("version", "target", "key"),
    [
        (120001, "gfx1201", "amd_too_new_for_torch"),
        (110501, "gfx1151", "amd_too_new_for_torch"),  # not an override to itself
        (90500, "gfx950", "amd_too_new_for_torch"),
        (110502, "gfx1152", "amd_override"),
        (100306, "gfx1036", "amd_override"),
        (80003, "gfx803", "amd_without_code"),
        (120600, "gfx1260", "amd_newer_than_known"),
        (130000, "gfx1300", "amd_newer_than_known"),
    ],
)
def test_a_build_of_pytorch_is_chosen_by_the_target_of_the_card(tree, walked, version, target, key):
    radeon(tree, version)
    step = walked("ubuntu", torch=failing(target)).found
    assert (step.step, step.key) == ("architecture", key)
    assert "Only a build of your own" not in str(step)
    if key == "amd_too_new_for_torch":
        assert step.commands[0].endswith("/rocm7.2")


@pytest.mark.parametrize(
    ("version", "held"),
    [(110502, "gfx11-generic"), (120001, "gfx12-generic"), (90402, "gfx9-4-generic")],
)
def test_code_for_a_whole_family_suits_each_of_its_targets(tree, walked, version, held):
    radeon(tree, version)
    generic = replace(ROCM, targets=("gfx1030", held), problem="no device")
    assert named(walked("ubuntu", torch=generic), "architecture").key == "amd_code_suits"


@pytest.mark.parametrize(("version", "key"), [(80003, "amd_unserved"), (130000, "amd_unlisted")])
def test_a_target_newer_than_the_list_is_not_said_to_be_unserved(tree, walked, version, key):
    radeon(tree, version)
    assert walked("ubuntu", torch=CPU_TORCH).found.key == key


@in_one(
    ("target", "is_newer"),
    [
        *(("gfx90a", False), ("gfx950", False), ("gfx1151", False), ("gfx1251", False)),
        *(("gfx960", True), ("gfx1173", True), ("gfx1310", True), ("gfx-odd", True)),
    ],
)
def test_which_targets_are_newer_than_the_list(target, is_newer):
    assert is_newer_target(target) is is_newer


@pytest.mark.parametrize(
    ("version", "gtt", "key"),
    [
        (110501, (103_079_215_104, 900_000_000), None),  # graphics in a processor borrow the rest
        (110501, (103_079_215_104, 103_000_000_000), "amd_memory_full"),
        (110000, (103_079_215_104, 900_000_000), "amd_memory_full"),  # a card of its own
    ],
)
def test_what_is_set_aside_for_graphics_in_a_processor_is_full_by_nature(
    tree, walked, version, gtt, key
):
    radeon(tree, version, device=0x1586, vram=(536_870_912, 520_000_000), gtt=gtt)
    device = TorchDevice(kind="cuda", name="Radeon", target="gfx1151", has_computed=True)
    well = replace(ROCM, targets=("gfx1100", "gfx1151"), devices=(device,))
    found = walked("fedora", torch=well).found
    assert (found.key if found else None) == key


# --- Intel ----------------------------------------------------------------------------------------


def graphics(tree, device):
    bare(tree)
    plug(tree, "0000:00:02.0", 0x8086, device, 0x030000, driver="xe", render="renderD128")
    load(tree, "xe")
    tree.write("/dev/dri/renderD128", "")


def test_virtual_functions_are_shares_of_one_card(tree, walked):
    graphics(tree, 0xA7A1)
    for n in range(1, 8):
        driver = "vfio-pci" if n == 1 else "xe"
        share = plug(tree, f"0000:00:02.{n}", 0x8086, 0xA7A1, 0x030000, driver=driver)
        os.symlink("../0000:00:02.0", share / "physfn")
    diagnosis = walked("debian", torch=CPU_TORCH)
    step = named(diagnosis, "card")
    assert (step.key, step.values["shares"]) == ("card_with_shares", 7)
    assert step.values["cards"] == "Intel VGA controller (0000:00:02.0)"
    assert diagnosis.found.key == "intel_integrated"
    plug(tree, "0000:01:00.0", 0x10DE, RTX_3090, 0x030000, driver="vfio-pci")
    both = named(walked("debian", torch=XPU_TORCH), "card")
    assert (both.key, both.values["others"]) == ("cards_with_shares", "NVIDIA VGA controller")


@pytest.mark.parametrize(
    ("device", "key"),
    [(0xA7A1, "intel_integrated"), (0x64A0, "build_for_processors"), (0xFD80, "intel_unlisted")],
)
def test_intels_graphics_are_known_by_their_number_where_no_list_has_their_name(
    tree, walked, device, key
):
    graphics(tree, device)
    assert walked("debian", torch=CPU_TORCH).found.key == key


# --- right already, and to stay so ----------------------------------------------------------------


def test_a_jetson_thor_gets_the_builds_of_its_own_platform(tree, walked):
    bare(tree, "6.8.12-tegra")
    base = "/sys/firmware/devicetree/base"
    tree.write(f"{base}/compatible", "nvidia,p4071-0000+p3834-0008\0nvidia,tegra264\0")
    tree.write(f"{base}/model", "NVIDIA Jetson AGX Thor Developer Kit")
    step = walked("ubuntu", torch=CPU_TORCH).found
    assert step.key == "build_for_processors"
    assert "jetson" in step.commands[0]


def test_an_npu_beside_graphics_is_not_taken_for_the_card(tree, walked):
    radeon(tree, 110500, device=0x150E)
    plug(tree, "0000:c5:00.1", 0x1022, 0x17F0, 0x118000, driver="amdxdna")
    diagnosis = walked("fedora", torch=CPU_TORCH)
    assert named(diagnosis, "card").values["cards"] == "AMD VGA controller (0000:2f:00.0)"
    assert diagnosis.found.commands[0].endswith("/rocm7.2")
