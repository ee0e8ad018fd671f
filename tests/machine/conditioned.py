"""Files in which a made-up machine has its maker, clocks, heat, power, pages and mounts."""

from __future__ import annotations

from tests.machine.trees import Tree

GB = 10**9


def named(tree: Tree, **files: str) -> None:
    """A machine of a maker; None leaves a file out."""
    told = {
        "sys_vendor": "ASUS",
        "product_name": "System Product Name",
        "product_version": "System Version",
        "board_vendor": "ASUSTeK COMPUTER INC.",
        "board_name": "ProArt X870E-CREATOR WIFI",
        "bios_vendor": "American Megatrends Inc.",
        "bios_version": "1605",
        "bios_date": "07/18/2025",
        "product_serial": "SERIAL-4711",
        "board_serial": "SERIAL-4711",
    }
    for name, text in (told | files).items():
        tree.write(f"/sys/class/dmi/id/{name}", f"{text}\n")


def policy(tree: Tree, number: int, **files: str | int) -> None:
    """A group of cores whose clock is set together."""
    for name, text in files.items():
        tree.cpu(f"cpufreq/policy{number}/{name}", f"{text}")


def sensor(tree: Tree, number: int, name: str, **files: str | int) -> None:
    """A chip of sensors."""
    for file, text in {"name": name, **files}.items():
        tree.write(f"/sys/class/hwmon/hwmon{number}/{file}", f"{text}\n")


def zone(tree: Tree, number: int, kind: str, **files: str | int) -> None:
    """A thermal zone."""
    for file, text in {"type": kind, **files}.items():
        tree.write(f"/sys/class/thermal/thermal_zone{number}/{file}", f"{text}\n")


def throttled(tree: Tree, thread: int, *, core: int, package: int) -> None:
    """The counts of one thread."""
    tree.cpu(f"cpu{thread}/thermal_throttle/core_throttle_count", f"{core}")
    tree.cpu(f"cpu{thread}/thermal_throttle/package_throttle_count", f"{package}")


def limited(tree: Tree, package: int, **watts: tuple[int, int]) -> None:
    """The power limits of a package by name: watts and seconds, at most 253 W."""
    folder = f"/sys/class/powercap/intel-rapl:{package}"
    tree.write(f"{folder}/name", f"package-{package}\n")
    for number, (name, (limit, window_s)) in enumerate(watts.items()):
        for file, text in {
            "name": name,
            "power_limit_uw": limit * 1_000_000,
            "max_power_uw": 253_000_000,
            "time_window_us": window_s * 1_000_000,
        }.items():
            tree.write(f"{folder}/constraint_{number}_{file}", f"{text}\n")


def vulnerable(tree: Tree, **texts: str) -> None:
    """Write the kernel's text on each vulnerability."""
    for name, text in texts.items():
        tree.cpu(f"vulnerabilities/{name}", text)


def huge(tree: Tree, size_kib: int, *, total: int, free: int) -> None:
    """Huge pages of one size."""
    folder = f"/sys/kernel/mm/hugepages/hugepages-{size_kib}kB"
    tree.write(f"{folder}/nr_hugepages", f"{total}\n")
    tree.write(f"{folder}/free_hugepages", f"{free}\n")


def mounted(tree: Tree, *mounts: tuple[str, str, str, str]) -> None:
    """Mounts: numbers of the device, its name, folder and kind."""
    tree.write(
        "/proc/self/mountinfo",
        "".join(
            f"{20 + n} 1 {numbers} / {folder} rw,noatime shared:1 - {kind} {name} rw\n"
            for n, (numbers, name, folder, kind) in enumerate(mounts)
        ),
    )
