from __future__ import annotations

import pytest
from msgspec.structs import replace

from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import AmdDevice, Card, Evidence, Surroundings, Vendor
from machine.doctor.verdicts import State
from tests.cases import in_one
from tests.machine.doctor.made import (
    CPU_TORCH,
    GIB,
    UBUNTU,
    amd,
    around,
    failing,
    found,
    intel,
    nvidia,
    step_of,
    unproven,
    with_card,
    with_kernel,
)

HOST = "  # on the host"
DRI = "--device /dev/dri --group-add render ..."
WSL = Surroundings(virtualization="wsl", wsl=2, has_dxg=True, has_wsl_cuda=True)


def bare(**changes):
    return Evidence(torch=CPU_TORCH, surroundings=replace(UBUNTU, **changes))


def unheld(**kernel):
    """A card that no driver holds, on a kernel that has not loaded NVIDIA's."""
    evidence = with_card(unproven(nvidia(nvml=None, nodes=())), driver="")
    return with_kernel(evidence, loaded=frozenset(), nvidia_version=None, **kernel)


# --- is there a card ----------------------------------------------------------------------------


@in_one(
    ("evidence", "key"),
    [
        (bare(), "no_card"),
        (bare(virtualization="kvm"), "no_card_virtual"),
        (bare(virtualization="kvm", container="docker"), "no_card_container"),
        (replace(bare(), displays=("ASPEED Graphics",)), "no_card_display"),
        (bare(system="macos"), "no_card_mac"),
    ],
)
def test_without_an_accelerator_nothing_is_wrong(evidence, key):
    diagnosis = diagnose(evidence)

    assert (diagnosis.vendor, diagnosis.state) == (None, State.OK)
    assert diagnosis.steps[0].key == key
    assert [step.step for step in diagnosis.steps] == ["card", "torch"]


@pytest.mark.parametrize(
    ("container", "commands"),
    [
        (
            "docker",
            (
                "docker run --gpus all ...  # on the host, NVIDIA",
                f"docker run --device /dev/kfd {DRI}  # on the host, AMD",
            ),
        ),
        ("lxc", ("lxc config device add CONTAINER gpu gpu  # on the host",)),
    ],
)
def test_how_a_container_is_given_what_its_host_may_have_can_be_copied(container, commands):
    assert diagnose(bare(container=container)).steps[0].commands == commands


def test_wsl_1_reaches_no_gpu():
    step = found(bare(virtualization="wsl", wsl=1))

    assert (step.key, step.state) == ("wsl_1", State.WRONG)


@pytest.mark.parametrize(
    ("has_dxg", "key"), [(False, "wsl_without_gpu"), (True, "wsl_without_nvidia")]
)
def test_what_windows_does_not_share_cannot_be_told_from_inside_of_wsl(has_dxg, key):
    step = found(bare(virtualization="wsl", wsl=2, has_dxg=has_dxg))

    assert (step.key, step.state) == (key, State.UNKNOWN)
    assert "wsl --shutdown  # on the host (Windows)" in step.commands


@pytest.mark.parametrize("cards", [(), intel().cards])
def test_a_card_that_a_rule_takes_off_the_bus_is_found_beside_others_too(cards):
    evidence = with_kernel(
        replace(bare(), cards=cards), removing_rule="/lib/udev/rules.d/50-x.rules"
    )

    step = found(evidence)

    assert (step.step, step.key) == ("card", "card_switched_off")
    assert step.values == {"file": "/lib/udev/rules.d/50-x.rules"}


# --- is PyTorch made for it ---------------------------------------------------------------------


def test_graphics_inside_a_processor_are_no_problem_and_end_the_walk():
    laptop = with_card(unproven(intel(nodes=())), only_draws=True)

    diagnosis = diagnose(laptop)

    assert (diagnosis.found.key, diagnosis.state) == ("intel_integrated", State.UNKNOWN)
    assert [step.step for step in diagnosis.steps] == ["card", "suited"]


def test_who_installed_a_build_for_it_expects_the_graphics_to_work():
    evidence = with_card(failing(intel(), "RuntimeError: no device"), only_draws=True)

    assert found(evidence).key == "xpu_unavailable"


def test_a_generation_of_amd_that_no_build_serves_is_told():
    evidence = unproven(amd(amd=(AmdDevice(target="gfx1036"),)))

    assert found(evidence).key == "amd_unserved"
    assert found(evidence).values == {"targets": "gfx1036"}


def test_on_windows_amd_has_builds_of_its_own():
    evidence = around(unproven(amd(nodes=(), amd=())), system="windows")

    assert found(evidence).key == "amd_windows"


def test_an_accelerator_of_another_maker_needs_its_package():
    card = Card(vendor=Vendor.OTHER, name="Habana HL-2000", needs="habana-torch-plugin")

    step = found(replace(bare(), cards=(card,)))

    assert (step.key, step.state) == ("other_maker", State.UNKNOWN)
    assert step.values == {"name": "Habana HL-2000", "package": "habana-torch-plugin"}


# --- containers, virtual machines, WSL ----------------------------------------------------------


@in_one(
    ("evidence", "container", "command"),
    [
        (nvidia(nodes=(), nvml=None), "docker", f"docker run --gpus all ...{HOST}"),
        (
            nvidia(nodes=(), nvml=None),
            "podman",
            f"podman run --device nvidia.com/gpu=all ...{HOST}",
        ),
        (nvidia(nodes=(), nvml=None), "kubernetes", "resources: {limits: {nvidia.com/gpu: 1}}"),
        (amd(nodes=()), "docker", f"docker run --device /dev/kfd {DRI}{HOST}"),
        (intel(nodes=()), "docker", f"docker run {DRI}{HOST}"),
    ],
)
def test_a_container_that_was_not_given_the_card_is_told_how(evidence, container, command):
    step = found(around(unproven(evidence), container=container))

    assert (step.step, step.key) == ("surroundings", "container_without_gpu")
    assert step.commands == (command,)


def test_a_variable_that_keeps_every_gpu_out_of_a_container_is_named():
    evidence = unproven(nvidia(nodes=(), nvml=None))
    evidence = around(evidence, container="docker", environment={"NVIDIA_VISIBLE_DEVICES": "void"})

    assert found(evidence).key == "container_hides"


def test_where_the_program_runs_is_told():
    assert step_of(around(nvidia(), container="docker"), "surroundings").key == "in_container"
    assert (
        step_of(around(nvidia(), virtualization="kvm"), "surroundings").key == "in_virtual_machine"
    )
    assert step_of(replace(nvidia(libraries=()), surroundings=WSL), "surroundings").key == "in_wsl"
    assert step_of(nvidia(), "surroundings") is None


def test_a_driver_for_linux_inside_of_wsl_is_wrong_only_where_it_does_harm():
    evidence = replace(nvidia(), surroundings=WSL)
    harmed = failing(evidence, "RuntimeError: Unexpected error from cudaGetDeviceCount()")

    assert (step_of(evidence, "surroundings").state, found(harmed).state) == (
        State.LOOK,
        State.WRONG,
    )
    assert found(harmed).key == "driver_inside_wsl"


# --- the driver ---------------------------------------------------------------------------------


def test_the_driver_that_holds_the_card_is_told_with_its_version():
    assert step_of(nvidia(), "driver").values == {"driver": "nvidia 580.65.06"}
    assert step_of(amd(), "driver").values == {"driver": "amdgpu"}


def test_a_card_whose_driver_is_not_installed_gets_the_command_of_its_distribution():
    step = found(unheld(built=frozenset()))

    assert step.key == "driver_missing"
    assert step.commands == ("sudo ubuntu-drivers install", "sudo reboot")


@pytest.mark.parametrize("name", ["nouveau", "nova_core"])
def test_a_free_driver_alone_cannot_compute(name):
    step = found(with_card(unheld(built=frozenset({name})), driver=name))

    assert (step.key, step.values) == ("free_driver_alone", {"driver": name})
    assert step.commands[0] == "sudo ubuntu-drivers install"


@pytest.mark.parametrize(
    ("distributions", "command"),
    [
        (("ubuntu", "debian"), "sudo update-initramfs -u"),
        (("arch",), "sudo mkinitcpio -P"),
        (("fedora",), "sudo dracut --force"),
    ],
)
def test_a_free_driver_in_the_way_of_nvidias_is_to_be_forbidden(distributions, command):
    evidence = with_card(unheld(), driver="nouveau")

    step = found(around(evidence, distributions=distributions))

    assert step.key == "free_driver_in_the_way"
    assert "blacklist nouveau" in step.commands[0]
    assert step.commands[1:] == (command, "sudo reboot")


@in_one(
    ("kernel", "key", "command"),
    [
        ({"secure_boot": True}, "secure_boot", "sudo modprobe nvidia"),
        ({}, "driver_not_loaded", "sudo modprobe nvidia"),
        ({"built": None}, "driver_untold", "sudo modprobe nvidia"),
        (
            {"built": frozenset(), "built_elsewhere": frozenset({"nvidia"})},
            "driver_of_other_kernel",
            "sudo apt install linux-headers-$(uname -r)",
        ),
        (
            {"blacklisted": {"nvidia": "/etc/modprobe.d/no.conf"}},
            "driver_blacklisted",
            "grep -n nvidia /etc/modprobe.d/no.conf",
        ),
    ],
)
def test_a_driver_that_is_not_loaded_is_told_why(kernel, key, command):
    step = found(unheld(**kernel))

    assert (step.step, step.key) == ("driver", key)
    assert step.commands[0] == command


def test_the_key_to_be_enrolled_under_secure_boot_is_that_of_the_distribution():
    ubuntu = unheld(secure_boot=True)

    assert "mokutil --import /var/lib/shim-signed/mok/MOK.der" in found(ubuntu).commands[1]
    debian = around(ubuntu, distributions=("debian",))
    assert "mokutil --import /var/lib/dkms/mok.pub" in found(debian).commands[1]
    fedora = around(ubuntu, distributions=("fedora",))
    assert "/etc/pki/akmods/certs/public_key.der" in found(fedora).commands[1]


NOUVEAU = "blacklist nouveau"


@pytest.mark.parametrize(
    ("secure_boot", "key", "first"),
    [
        (True, "free_driver_secure_boot", "sudo modprobe nvidia"),
        (None, "free_driver_boot_untold", "mokutil --sb-state"),
    ],
)
def test_a_free_driver_is_not_forbidden_before_the_module_of_nvidia_is_signed(
    secure_boot, key, first
):
    step = found(with_card(unheld(secure_boot=secure_boot), driver="nouveau"))

    assert (step.key, step.commands[0]) == (key, first)
    order = [n for n, each in enumerate(step.commands) if "--import" in each or NOUVEAU in each]
    assert ["--import" in step.commands[n] for n in order] == [True, False]
    assert step.commands[-1] == "sudo reboot"


@pytest.mark.parametrize("kernel", [{"secure_boot": False}, {"loaded": frozenset({"nvidia"})}])
def test_a_module_that_the_kernel_takes_needs_no_key(kernel):
    taken = with_kernel(unheld(secure_boot=True), **kernel)

    assert found(with_card(taken, driver="nouveau")).key == "free_driver_in_the_way"


def test_without_lib_modules_nobody_can_tell_whether_nvidias_driver_is_installed():
    step = found(with_card(unheld(built=None), driver="nouveau"))

    assert step.key == "free_driver_untold"
    assert step.commands[0] == "modinfo nvidia"


@pytest.mark.parametrize("evidence", [nvidia(nvml=None, nodes=()), amd(nodes=()), intel(nodes=())])
def test_without_lib_modules_no_driver_is_called_missing_or_installed(evidence):
    bare_host = with_kernel(
        with_card(unproven(evidence), driver=""), loaded=frozenset(), built=None
    )

    step = found(bare_host)

    assert (step.step, step.key) == ("driver", "driver_untold")
    assert step.commands[0].startswith("sudo modprobe ")


@pytest.mark.parametrize(
    ("built", "key"), [(None, "modules_gone"), (frozenset({"nouveau"}), "driver_of_other_kernel")]
)
def test_a_free_driver_that_stepped_in_after_an_update_is_not_forbidden(built, key):
    updated = unheld(built=built, built_elsewhere=frozenset({"nvidia"}))

    step = found(with_card(updated, driver="nouveau"))

    assert (step.key, step.commands[-1]) == (key, "sudo reboot")
    assert not [command for command in step.commands if NOUVEAU in command]


def test_modules_that_an_update_removed_come_back_with_a_restart():
    step = found(unheld(built=None, built_elsewhere=frozenset({"nvidia"})))

    assert (step.key, step.commands) == ("modules_gone", ("sudo reboot",))


def test_who_installed_a_build_for_gpus_in_wsl_expects_one():
    wsl = replace(UBUNTU, virtualization="wsl", wsl=2, has_dxg=True)
    step = found(Evidence(torch=failing(nvidia(), "x").torch, surroundings=wsl))

    assert (step.key, step.state) == ("wsl_without_nvidia", State.LOOK)


def test_the_log_of_a_card_off_the_bus_is_that_of_its_driver():
    for evidence, word in ((amd(nodes=()), "amdgpu"), (intel(nodes=()), "xe")):
        step = found(with_card(unproven(evidence), answers=False))

        assert word in step.commands[0]
        assert "NVRM" not in step.commands[0]


def test_a_kernel_without_amds_driver_is_told():
    evidence = with_card(unproven(amd(nodes=())), driver="")
    evidence = with_kernel(evidence, loaded=frozenset(), built=frozenset())

    assert found(evidence).key == "kernel_without_driver"
    assert found(evidence).commands == ("sudo apt install linux-modules-extra-6.8.0",)
    assert found(around(evidence, distributions=("arch",))).commands == ("uname -r",)
    updated = with_kernel(evidence, built_elsewhere=frozenset({"amdgpu"}))  # no dkms builds it
    assert found(updated).key == "kernel_without_driver"


def test_a_card_that_is_reserved_for_virtual_machines_is_told():
    assert found(with_card(unheld(), driver="vfio-pci")).key == "held_for_virtual_machine"


def test_an_old_card_of_amd_is_run_by_a_driver_that_cannot_compute():
    evidence = with_card(unproven(amd(amd=())), driver="radeon")

    assert found(with_kernel(evidence, loaded=frozenset())).key == "radeon_holds"


def test_a_driver_that_does_not_take_the_card_says_why_in_the_log():
    evidence = with_kernel(unheld(), loaded=frozenset({"nvidia"}))

    assert found(evidence).key == "driver_ignores_card"
    assert "dmesg" in found(evidence).commands[0]


def test_inside_a_container_only_the_host_can_install_a_driver():
    assert found(around(unheld(), container="docker")).key == "host_without_driver"


def test_a_gpu_that_answers_is_held_although_the_files_do_not_say_so():
    sandbox = with_card(unproven(nvidia()), driver="")

    assert step_of(sandbox, "driver").key == "driver_holds"


def test_graphics_inside_the_processor_that_have_a_driver_do_not_stand_for_a_card_without():
    (arc,) = intel().cards
    inside = replace(arc, address="0000:00:02.0", only_draws=True, driver="i915")
    evidence = unproven(intel(cards=(inside, replace(arc, driver=""))))

    assert found(evidence).key == "driver_ignores_card"


# --- power --------------------------------------------------------------------------------------


def test_a_sleeping_card_is_well():
    laptop = with_card(nvidia(nvml=None), runtime_status="suspended", answers=None)

    assert step_of(laptop, "power").key == "asleep"
    assert diagnose(laptop).state is State.OK


def test_a_sleeping_card_beside_a_build_for_processors_is_told_without_waking_it():
    laptop = with_card(unproven(nvidia(nvml=None, nodes=())), runtime_status="suspended")

    assert found(laptop).key == "build_for_processors"


def test_a_card_that_cannot_be_woken_is_wrong():
    evidence = with_card(unproven(nvidia(nvml=None)), runtime_status="error", answers=None)

    assert found(evidence).key == "cannot_wake"


def test_a_card_that_answers_with_ones_has_fallen_off_the_bus():
    step = found(with_card(unproven(nvidia(nvml=None)), answers=False))

    assert (step.key, step.values["address"]) == ("off_the_bus", "0000:01:00.0")


def test_a_card_that_has_gone_is_no_fault_of_the_driver_that_let_it_go():
    gone = with_card(unheld(), answers=False)

    assert (found(gone).step, found(gone).key) == ("power", "off_the_bus")


# --- memory of AMD ------------------------------------------------------------------------------


def test_memory_that_others_hold_on_amds_cards_is_worth_a_look():
    evidence = amd(amd=(AmdDevice(target="gfx1100", total_bytes=24 * GIB, used_bytes=23 * GIB),))

    step = found(evidence)

    assert (step.key, step.state) == ("amd_memory_full", State.LOOK)
    assert step.values == {"free_bytes": GIB, "total_bytes": 24 * GIB}


def test_memory_of_which_nothing_is_known_is_not_judged():
    assert step_of(amd(amd=(AmdDevice(target="gfx1100"),)), "memory") is None
