from __future__ import annotations

import pytest
from msgspec.structs import replace

from machine.doctor import remedies, torch_remedies
from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Evidence, Nvml, NvmlDevice, Surroundings, Torch, Vendor
from machine.doctor.remedies import (
    LOG,
    REBOOT,
    as_typed,
    build_driver,
    install_driver,
    restart_container,
    start_fabric_manager,
)
from machine.doctor.torch_remedies import install_torch, quoted, reinstall_torch, uninstall_torch
from tests.cases import in_one, not_on_windows
from tests.machine.doctor.made import (
    amd,
    around,
    failing,
    intel,
    nvidia,
    unproven,
    with_card,
    with_device,
)

TORCH = Torch(python="/py", version="2.13.0+cpu")


def having(*capabilities, cuda=(13, 0), torch=TORCH, **surroundings):
    devices = tuple(NvmlDevice(index=n, capability=c) for n, c in enumerate(capabilities))
    return Evidence(
        nvml=Nvml(code=0, cuda=cuda, devices=devices),
        torch=torch,
        surroundings=Surroundings(**surroundings),
    )


@in_one(
    ("capabilities", "cuda", "index"),
    [
        ([(8, 9)], (13, 0), "cu130"),
        ([(12, 0)], (13, 1), "cu130"),
        ([(7, 0)], (13, 0), "cu126"),  # CUDA 13 knows no Volta
        ([(6, 1), (8, 6)], (13, 0), "cu126"),
        ([(8, 9)], (12, 2), "cu126"),
        ([(12, 0)], (12, 8), "cu129"),
        ([(8, 0)], (11, 4), "cu118"),
        ([], None, "cu126"),
        ([], (13, 0), "cu130"),
    ],
)
def test_the_build_suits_driver_and_gpus(capabilities, cuda, index):
    (command,) = install_torch(having(*capabilities, cuda=cuda), Vendor.NVIDIA)

    assert command.endswith(f"torch --index-url https://download.pytorch.org/whl/{index}")


@pytest.mark.parametrize(
    ("version", "index"), [("3.9.18", "cu129"), ("3.10.1", "cu130"), ("3.15.0rc1", "cu130")]
)
def test_the_build_suits_the_python(version, index):
    torch = replace(TORCH, python_version=version)

    assert install_torch(having(torch=torch), Vendor.NVIDIA)[0].endswith(f"/whl/{index}")


@in_one(
    ("torch", "command"),
    [
        (TORCH, "/py -m pip install --upgrade --force-reinstall torch"),
        (replace(TORCH, is_missing=True), "/py -m pip install torch"),
        (
            replace(TORCH, companions=("torchvision",)),
            "/py -m pip install --upgrade --force-reinstall torch torchvision",
        ),
        (replace(TORCH, installer="uv"), "uv pip install --python /py --reinstall torch"),
        (
            replace(TORCH, installer="uv", is_missing=True, python="/a b/py"),
            "uv pip install --python '/a b/py' torch",
        ),
        (
            replace(TORCH, installer="pipx", is_missing=True, prefix="/pipx/venvs/coreopsis"),
            "pipx inject coreopsis torch",
        ),
        (
            replace(TORCH, installer="pipx", prefix="/pipx/venvs/coreopsis"),
            "pipx inject coreopsis --force torch",
        ),
    ],
)
@not_on_windows
def test_packages_come_the_way_they_came_before(torch, command):
    assert install_torch(having(torch=torch), Vendor.APPLE) == (command,)


def test_conda_brings_its_own():
    conda = replace(TORCH, installer="conda")

    assert install_torch(having(torch=conda), Vendor.NVIDIA) == (
        "conda install -c conda-forge pytorch-gpu",
    )
    assert "whl/xpu" in install_torch(having(torch=conda), Vendor.INTEL)[0]
    assert reinstall_torch(conda) == ("conda install --force-reinstall pytorch",)


@not_on_windows
def test_conda_brings_it_into_the_environment_that_was_examined():
    prefix = "/home/ada/my envs/thesis"
    conda = replace(TORCH, installer="conda", prefix=prefix, file=f"{prefix}/torch.py")
    where = "-p '/home/ada/my envs/thesis'"

    assert install_torch(having(torch=conda), Vendor.NVIDIA) == (
        f"conda install {where} -c conda-forge pytorch-gpu",
    )
    assert reinstall_torch(conda) == (f"conda install {where} --force-reinstall pytorch",)
    assert uninstall_torch(conda) == f"conda remove {where} pytorch"
    beside = replace(conda, file="/home/ada/.local/lib/python3.12/site-packages/torch/__init__.py")
    assert uninstall_torch(beside) == "/py -m pip uninstall torch"


@in_one(
    ("vendor", "surroundings", "ending"),
    [
        (Vendor.AMD, {}, "/whl/rocm7.2"),
        (Vendor.INTEL, {}, "/whl/xpu"),
        (Vendor.AMD, {"system": "windows"}, "radeon-ryzen/en/latest/"),
        (Vendor.AMD, {"wsl": 2}, "radeon-ryzen/en/latest/"),
        (Vendor.NVIDIA, {"board": "NVIDIA Jetson Orin"}, "pytorch-jetson-platform/index.html"),
    ],
)
def test_each_maker_has_its_build_or_its_page(vendor, surroundings, ending):
    assert install_torch(having(**surroundings), vendor)[0].endswith(ending)


def test_what_is_damaged_comes_anew_from_where_it_came():
    assert reinstall_torch(TORCH) == ("/py -m pip install --upgrade --force-reinstall torch",)


@in_one(
    ("surroundings", "first"),
    [
        ({"distributions": ("linuxmint", "ubuntu", "debian")}, "sudo ubuntu-drivers install"),
        ({"distributions": ("pop", "ubuntu", "debian")}, "sudo apt install system76-driver-nvidia"),
        ({"distributions": ("debian",)}, "https://wiki.debian.org/NvidiaGraphicsDrivers"),
        ({"distributions": ("fedora",)}, "https://rpmfusion.org/Howto/NVIDIA"),
        (
            {"distributions": ("rocky", "rhel", "centos", "fedora")},
            "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
        ),
        (
            {"distributions": ("opensuse-leap", "suse", "opensuse")},
            "https://en.opensuse.org/SDB:NVIDIA_drivers",
        ),
        ({"distributions": ("nixos",)}, "https://wiki.nixos.org/wiki/NVIDIA"),
        ({"distributions": ("void",)}, remedies.DRIVERS_PAGE),
        ({"distributions": ("ubuntu",), "container": "docker"}, remedies.DRIVERS_PAGE),
        ({"system": "windows"}, remedies.DRIVERS_PAGE),
        ({"wsl": 2, "distributions": ("ubuntu",)}, remedies.DRIVERS_PAGE),
    ],
)
def test_a_driver_comes_from_the_distribution_or_from_the_makers_page(surroundings, first):
    assert install_driver(having(**surroundings))[0] == first


@pytest.mark.parametrize(
    ("platform", "path", "typed"),
    [
        ("linux", "/a b/python", "'/a b/python'"),
        ("win32", r"C:\Program Files\python.exe", r'"C:\Program Files\python.exe"'),
        ("win32", r"C:\py\python.exe", r"C:\py\python.exe"),
    ],
)
def test_a_path_is_quoted_as_its_shell_wants_it(monkeypatch, platform, path, typed):
    monkeypatch.setattr(torch_remedies.sys, "platform", platform)

    assert quoted(path) == typed


def test_debian_and_fedora_get_the_libraries_for_computing_too():
    debian = install_driver(having(distributions=("debian",)))
    fedora = install_driver(having(distributions=("fedora",)))

    assert debian[1].endswith(" nvidia-driver nvidia-smi libcuda1")
    assert fedora[1] == "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda"
    assert debian[-1] == fedora[-1] == REBOOT


@in_one(
    ("distributions", "commands"),
    [
        (
            ("ubuntu", "debian"),
            (
                "sudo apt install linux-headers-$(uname -r)",
                "sudo dkms autoinstall",
                "sudo modprobe nvidia",
            ),
        ),
        (("fedora",), ("sudo akmods --force", "sudo modprobe nvidia")),
        (("arch",), (REBOOT,)),  # the files of the kernel that runs are gone
        (("void",), ("sudo dkms autoinstall", "sudo modprobe nvidia")),
    ],
)
def test_a_driver_is_built_the_way_of_the_distribution(distributions, commands):
    assert build_driver(having(distributions=distributions)) == commands


@pytest.mark.parametrize(
    ("distributions", "install"),
    [
        (("ubuntu", "debian"), ["sudo apt install nvidia-fabricmanager-580"]),
        (("rocky", "rhel", "centos", "fedora"), ["sudo dnf install nvidia-fabric-manager"]),
        (("arch",), []),
    ],
)
def test_a_fabric_manager_that_does_not_run_is_installed_in_the_version_of_the_driver(
    distributions, install
):
    evidence = having(distributions=distributions)
    evidence = replace(evidence, nvml=replace(evidence.nvml, driver="580.65.06"))

    assert start_fabric_manager(evidence) == (
        *install,
        "sudo systemctl enable --now nvidia-fabricmanager",
        "journalctl -u nvidia-fabricmanager",
    )
    running = replace(evidence, has_fabric_manager=True)
    assert start_fabric_manager(running)[0] == "sudo systemctl restart nvidia-fabricmanager"


@in_one(
    ("container", "command"),
    [
        ("docker", "docker restart CONTAINER"),
        ("podman", "podman restart CONTAINER"),
        ("kubernetes", "kubectl delete pod POD"),
        ("lxc", "lxc restart CONTAINER"),
    ],
)
def test_a_container_is_restarted_by_what_started_it(container, command):
    assert restart_container(having(container=container)) == command


@in_one(
    ("surroundings", "command", "typed"),
    [
        ({"system": "windows"}, REBOOT, "Restart-Computer"),
        (
            {"system": "windows"},
            LOG,
            "Get-WinEvent -LogName System | Where-Object ProviderName -eq nvlddmkm",
        ),
        (
            {"system": "windows"},
            "unset CUDA_VISIBLE_DEVICES",
            "Remove-Item Env:CUDA_VISIBLE_DEVICES",
        ),
        ({"system": "windows"}, "kill 4711", "Stop-Process -Id 4711"),
        ({"system": "windows"}, "sudo nvidia-smi -i 0 -c DEFAULT", "nvidia-smi -i 0 -c DEFAULT"),
        ({"system": "windows"}, r"C:\py\python.exe -m pip", r"C:\py\python.exe -m pip"),
        ({"wsl": 2}, REBOOT, "wsl --shutdown  # on the host (Windows)"),
        ({"wsl": 2}, LOG, "sudo dmesg | grep -i dxg"),
        ({"wsl": 2}, "nvidia-smi", "nvidia-smi"),
        ({"container": "docker"}, REBOOT, f"{REBOOT}  # on the host"),
        ({"container": "docker"}, LOG, f"{LOG}  # on the host"),
        ({"container": "docker"}, "/py -m pip install torch", "/py -m pip install torch"),
        ({"container": "none"}, REBOOT, REBOOT),
        ({"container": "docker"}, "unset PYTHONPATH", "unset PYTHONPATH"),
        ({"container": "docker"}, "kill 4711", "kill 4711  # on the host"),
        ({"container": "docker"}, "nvidia-smi", "nvidia-smi  # on the host"),
        (
            {"container": "docker"},
            "sudo chmod a+rw /dev/kfd",
            "sudo chmod a+rw /dev/kfd  # on the host",
        ),
        (
            {"container": "docker"},
            "docker restart CONTAINER",
            "docker restart CONTAINER  # on the host",
        ),
        ({"container": "podman"}, "podman run ...", "podman run ...  # on the host"),
        ({"container": "docker"}, "docker run  # AMD", "docker run  # on the host, AMD"),
        ({"container": "docker"}, "https://a.page", "https://a.page"),
        ({"wsl": 2}, "wsl --update", "wsl --update  # on the host (Windows)"),
        ({"wsl": 2}, "sudo modprobe nvidia", "wsl --shutdown  # on the host (Windows)"),
        ({"wsl": 2}, "sudo nvidia-smi -pm 1", "nvidia-smi -pm 1  # on the host (Windows)"),
        ({"wsl": 2, "container": "docker"}, REBOOT, "wsl --shutdown  # on the host (Windows)"),
        ({"wsl": 2, "container": "docker"}, "docker run", "docker run  # on the host"),
        ({"wsl": 2, "container": "docker"}, LOG, "sudo dmesg | grep -i dxg  # on the host"),
    ],
)
def test_a_command_is_typed_where_it_does_something(surroundings, command, typed):
    assert as_typed(command, having(**surroundings)) == typed


HOST_ONLY = (
    "sudo ",
    "dmesg",
    "journalctl",
    "docker ",
    "podman ",
    "modprobe",
    "nvidia-smi",
    "kill ",
)


@pytest.mark.parametrize("start", [{"container": "docker"}, {"wsl": 2}])
def test_no_line_for_the_host_is_without_its_mark(start):
    problems = ("Error 802", "Error 803", "CUDA unknown error", "out of memory", "No CUDA GPUs")
    broken = [failing(nvidia(), problem) for problem in problems]
    broken += [failing(amd(), problem) for problem in problems]
    broken += [unproven(nvidia(nvml=Nvml(code=code))) for code in (None, 4, 9, 12, 15, 18, 999)]
    broken += [unproven(with_card(make(), answers=False)) for make in (nvidia, amd, intel)]
    broken += [unproven(with_device(nvidia(), **{name: value})) for name, value in FAULTS]
    for evidence in broken:
        for step in diagnose(around(evidence, **start)).steps:
            for command in step.commands:
                is_inside = command == "sudo dmesg | grep -i dxg" or command.startswith("ls ")
                is_of_host = any(word in command for word in HOST_ONLY)
                if "wsl" in start:
                    is_of_host = "modprobe" in command or "reboot" in command
                assert not is_of_host or is_inside or "# on the host" in command, command


FAULTS = (
    ("code", 16),
    ("is_mig_pending", True),
    ("compute_mode", 2),
    ("is_remap_pending", True),
    ("uncorrected_errors", 3),
    ("has_remap_failed", True),
)
