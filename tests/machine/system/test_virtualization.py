from __future__ import annotations

import pytest

from machine.facts import Notes
from machine.system.virtualization import read_container, read_system, read_virtualization

X86 = "processor : 0\nflags : fpu vme\n"
X86_VIRTUAL = "processor : 0\nflags : fpu hypervisor vme\n"
DMI = "/sys/class/dmi/id"
CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"


def virtualization(tree):
    return read_virtualization(tree.root, Notes())


def container(tree):
    return read_container(tree.root, Notes(), is_live=True)


def test_bare_metal_is_none_and_not_unknown(tree):
    tree.write("/proc/cpuinfo", X86)
    assert virtualization(tree) == "none"


def test_bare_metal_of_a_maker_of_hypervisors_is_bare(tree):
    tree.write("/proc/cpuinfo", X86)
    tree.write(f"{DMI}/sys_vendor", "Microsoft Corporation\n")
    tree.write(f"{DMI}/product_name", "Surface Laptop\n")
    assert virtualization(tree) == "none"


@pytest.mark.parametrize(
    ("maker", "product", "name"),
    [
        ("QEMU", "Standard PC (Q35 + ICH9, 2009)", "kvm"),
        ("Amazon EC2", "m5.large", "kvm"),
        ("Google", "Google Compute Engine", "kvm"),
        ("VMware, Inc.", "VMware7,1", "vmware"),
        ("innotek GmbH", "VirtualBox", "virtualbox"),
        ("Microsoft Corporation", "Virtual Machine", "hyper-v"),
        ("Xen", "HVM domU", "xen"),
        ("Microsoft Corporation", "Surface Laptop", "unnamed"),  # its own hypervisor is on
    ],
)
def test_the_board_names_the_hypervisor(tree, maker, product, name):
    tree.write("/proc/cpuinfo", X86_VIRTUAL)
    tree.write(f"{DMI}/sys_vendor", f"{maker}\n")
    tree.write(f"{DMI}/product_name", f"{product}\n")
    assert virtualization(tree) == name


def test_a_virtual_machine_without_a_board_is_known_by_its_clock(tree):
    tree.write("/proc/cpuinfo", X86_VIRTUAL)
    tree.write(CLOCKS, "tsc kvm-clock \n")
    assert virtualization(tree) == "kvm"


def test_xen_names_itself(tree):
    tree.write("/proc/cpuinfo", X86_VIRTUAL)
    tree.write("/sys/hypervisor/type", "xen\n")
    assert virtualization(tree) == "xen"


def test_wsl_is_told_by_its_kernel(tree):
    tree.write("/proc/version", "Linux version 5.15.90.1-microsoft-standard-WSL2 (oe-user@oe-host)")
    tree.write("/proc/cpuinfo", X86_VIRTUAL)
    assert virtualization(tree) == "wsl"


def test_where_the_processor_does_not_tell_nothing_is_claimed(tree):
    tree.write("/proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n")
    notes = Notes()
    assert read_virtualization(tree.root, notes) is None
    assert [entry.what for entry in notes.missing] == ["virtualization"]


@pytest.mark.parametrize(
    ("cgroup", "name"),
    [
        ("0::/docker/4b1f93\n", "docker"),
        ("0::/system.slice/docker-4b1f93.scope\n", "docker"),
        ("1:cpu:/kubepods/burstable/pod1/2\n", "kubernetes"),
        ("0::/kubepods.slice/kubepods-pod1.slice/docker-4b1f93.scope\n", "kubernetes"),
        ("0::/user.slice/libpod-99.scope\n", "podman"),
        ("1:name=systemd:/lxc/web\n", "lxc"),
        ("0::/lxc.payload.web\n", "lxc"),
        ("0::/system.slice/docker.service\n", "none"),
        ("0::/user.slice/user-1000.slice/session-2.scope\n", "none"),
    ],
)
def test_control_groups_tell_containers_apart(tree, cgroup, name):
    tree.write("/proc/self/cgroup", cgroup)
    assert container(tree) == name


@pytest.mark.parametrize(
    ("marker", "content", "name"),
    [
        ("/.dockerenv", "", "docker"),
        ("/run/.containerenv", "", "podman"),
        ("/run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
        ("/run/secrets/kubernetes.io/serviceaccount/token", "x", "kubernetes"),
        ("/proc/mounts", "lxcfs /proc/cpuinfo fuse.lxcfs rw 0 0\n", "lxc"),
    ],
)
def test_containers_leave_marks(tree, marker, content, name):
    tree.write(marker, content)
    assert container(tree) == name


def test_a_recording_without_marks_proves_nothing(tree):
    tree.write("/proc/mounts", "lxcfs /var/lib/lxcfs fuse.lxcfs rw 0 0\n")  # hosts run it too
    notes = Notes()
    assert read_container(tree.root, notes, is_live=False) is None
    assert [entry.what for entry in notes.missing] == ["container"]


def test_the_distribution_has_a_name_for_people(tree):
    tree.write("/etc/os-release", 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"\n')
    system = read_system(tree.root, Notes(), is_live=True)
    assert system.distribution == "Debian GNU/Linux 12"
    assert system.architecture


def test_the_kernel_of_a_recording_is_its_own(tree):
    (tree.root / "etc").mkdir()
    (tree.root / "etc/os-release").symlink_to("/etc/os-release")
    notes = Notes()
    system = read_system(tree.root, notes, is_live=False)
    assert (system.kind, system.release) == ("linux", "6.1.0-test")
    assert (system.distribution, system.architecture) == (None, None)
    assert {entry.what for entry in notes.missing} == {"os.distribution", "os.architecture"}
