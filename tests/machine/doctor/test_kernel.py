from __future__ import annotations

import pytest

from machine.doctor.kernel import read_kernel, read_libraries
from tests.machine.doctor.buses import load, ready

HERE, OTHER = "6.8.0-60-generic", "6.8.0-59-generic"
UBUNTU = "kernel/nvidia-580/nvidia.ko.zst"


@pytest.fixture
def kernel(tree):
    tree.write("/proc/sys/kernel/osrelease", f"{HERE}\n")
    return tree


def test_a_kernel_without_anything_is_read(tree):
    kernel = read_kernel(tree.root)

    assert (kernel.loaded, kernel.built, kernel.secure_boot) == (frozenset(), None, None)


def test_loaded_modules_are_seen_in_either_place(kernel):
    load(kernel, "nvidia", "snd_hda_intel")
    kernel.write("/sys/module/amdgpu/refcnt", "0\n")

    assert read_kernel(kernel.root).loaded == {"nvidia", "amdgpu"}


@pytest.mark.parametrize(
    "path",
    [
        UBUNTU,
        "updates/dkms/nvidia.ko",
        "updates/dkms/nvidia-current.ko.xz",  # Debian
        "extra/nvidia/nvidia.ko.xz",  # Fedora
        "kernel/drivers/video/nvidia.ko",
    ],
)
def test_the_driver_that_lies_ready_is_found_where_each_distribution_puts_it(kernel, path):
    ready(kernel, HERE, path, "kernel/drivers/gpu/drm/nouveau/nouveau.ko.zst")

    found = read_kernel(kernel.root)

    assert found.built == {"nvidia", "nouveau"}
    assert found.built_elsewhere == set()


def test_relatives_of_the_driver_are_not_taken_for_it(kernel):
    ready(kernel, HERE, "kernel/drivers/video/fbdev/nvidia/nvidiafb.ko", "x/nvidia-uvm.ko")

    assert read_kernel(kernel.root).built == set()


def test_what_only_needs_the_driver_is_not_taken_for_it(kernel):
    kernel.write(f"/lib/modules/{HERE}/modules.dep", f"x/other.ko: {UBUNTU}\n")

    assert read_kernel(kernel.root).built == set()


def test_a_driver_for_another_kernel_is_told_apart(kernel):
    ready(kernel, HERE, "kernel/drivers/gpu/drm/i915/i915.ko")
    ready(kernel, OTHER, UBUNTU, "kernel/drivers/gpu/drm/i915/i915.ko")

    found = read_kernel(kernel.root)

    assert (found.built, found.built_elsewhere) == ({"i915"}, {"nvidia"})


def test_a_driver_that_is_part_of_the_kernel_counts(kernel):
    ready(kernel, HERE, "kernel/fs/ext4.ko")
    kernel.write(f"/lib/modules/{HERE}/modules.builtin", "kernel/drivers/gpu/drm/xe/xe.ko\n")

    assert read_kernel(kernel.root).built == {"xe"}


@pytest.mark.parametrize(
    "line",
    [
        "blacklist nvidia",
        "install nvidia /bin/false",
        "install nvidia /usr/bin/true",
        "  blacklist nvidia  ",
    ],
)
def test_a_file_that_forbids_a_driver_is_named(kernel, line):
    kernel.write("/lib/modprobe.d/blacklist-nvidia.conf", f"# by prime-select\n{line}\n")

    assert read_kernel(kernel.root).blacklisted == {
        "nvidia": "/lib/modprobe.d/blacklist-nvidia.conf"
    }


@pytest.mark.parametrize("line", ["# blacklist nvidia", "blacklist nvidiafb", "options nvidia a=1"])
def test_other_lines_forbid_nothing(kernel, line):
    kernel.write("/etc/modprobe.d/a.conf", f"{line}\n")

    assert read_kernel(kernel.root).blacklisted == {}


def test_a_file_of_the_administrator_hides_its_namesake(kernel):
    kernel.write("/lib/modprobe.d/a.conf", "blacklist nvidia\n")
    kernel.write("/etc/modprobe.d/a.conf", "\n")

    assert read_kernel(kernel.root).blacklisted == {}


def test_the_kernels_command_line_may_forbid_drivers(kernel):
    kernel.write("/proc/cmdline", "quiet modprobe.blacklist=nouveau,nvidia-uvm ro\n")

    assert read_kernel(kernel.root).blacklisted == {
        "nouveau": "/proc/cmdline",
        "nvidia_uvm": "/proc/cmdline",
    }


RULE = (
    'ACTION=="add", SUBSYSTEM=="pci", ATTR{vendor}=="0x10de", ATTR{class}=="0x03[0-9]*", '
    'ATTR{power/control}="auto", ATTR{remove}="1"\n'
)
SOUND = RULE.replace("0x03[0-9]*", "0x040300")


@pytest.mark.parametrize(("text", "is_found"), [(RULE, True), (f"#{RULE}", False), (SOUND, False)])
def test_a_rule_that_takes_the_card_off_the_bus_is_named(kernel, text, is_found):
    kernel.write("/etc/udev/rules.d/50-remove-nvidia.rules", text)

    found = read_kernel(kernel.root).removing_rule

    assert found == ("/etc/udev/rules.d/50-remove-nvidia.rules" if is_found else None)


VARIABLE = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


@pytest.mark.parametrize(
    ("value", "is_on"), [(b"\x06\0\0\0\x01", True), (b"\x06\0\0\0\0", False), (b"\x06\0", None)]
)
def test_secure_boot_is_told_by_the_firmware(kernel, value, is_on):
    path = kernel.root / VARIABLE
    path.parent.mkdir(parents=True)
    path.write_bytes(value)

    assert read_kernel(kernel.root).secure_boot is is_on


def test_a_firmware_without_uefi_has_no_secure_boot(kernel):
    (kernel.root / "sys/firmware").mkdir(parents=True)
    assert read_kernel(kernel.root).secure_boot is False

    (kernel.root / "sys/firmware/efi").mkdir()
    assert read_kernel(kernel.root).secure_boot is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/sys/module/nvidia/version", "550.54.14\n"),
        ("/proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44 2024\n"),
        ("/proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release Build\n"),
    ],
)  # fmt: skip
def test_the_version_of_the_running_driver_is_read(kernel, path, text):
    kernel.write(path, text)

    assert read_kernel(kernel.root).nvidia_version == "550.54.14"


def test_the_versions_of_installed_libraries_stand_in_their_names(tree):
    for name in ("libnvidia-ml.so.1", "libnvidia-ml.so.580.65.06", "libcuda.so.580.65.06"):
        tree.write(f"/usr/lib/x86_64-linux-gnu/{name}", "")
    tree.write("/usr/lib64/libnvidia-ml.so.570.1", "")

    assert read_libraries(tree.root) == ("570.1", "580.65.06")
