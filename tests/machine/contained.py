"""A made-up container on a laptop: the host's clocks and sensors, its own mounts."""

from __future__ import annotations

from tests.machine import conditioned
from tests.machine.storage.test_disks import disk
from tests.machine.trees import Tree

NVME = "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0"


def container(tree: Tree) -> None:
    """Fill the tree."""
    tree.cpus(8, threads_per_core=2)
    for n in range(8):
        tree.cache(n, 0, 1, "Data", "32K", f"{n // 2 * 2}-{n // 2 * 2 + 1}")
        tree.cache(n, 1, 3, "Unified", "16M", "0-7")
    tree.pinned("0-3")
    tree.write("/.dockerenv", "")
    tree.write(
        "/proc/cpuinfo",
        "processor : 0\nmodel name : AMD Ryzen 7 PRO 7840U\nmicrocode : 0xa704107\n",
    )
    tree.write(
        "/proc/meminfo", "MemTotal: 32000000 kB\nSwapTotal: 8000000 kB\nSwapFree: 8000000 kB\n"
    )
    tree.write("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0 x 8000000 0 100\n")
    tree.write("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")
    conditioned.huge(tree, 2048, total=0, free=0)
    conditioned.named(
        tree,
        sys_vendor="LENOVO",
        product_name="21K5",
        product_version="T14s Gen 4",
        board_vendor="LENOVO",
        board_name="21K5",
        bios_vendor="LENOVO",
        bios_version="R2EET41W",
    )
    conditioned.policy(
        tree,
        0,
        scaling_driver="amd-pstate-epp",
        scaling_governor="powersave",
        energy_performance_preference="balance_performance",
        cpuinfo_min_freq=400000,
        cpuinfo_max_freq=5132000,
    )
    tree.cpu("cpufreq/boost", "1")
    conditioned.sensor(tree, 0, "k10temp", temp1_label="Tctl", temp1_input=49625)
    conditioned.vulnerable(
        tree,
        meltdown="Not affected",
        spectre_v1="Mitigation: usercopy/swapgs barriers",
        vmscape="Vulnerable",
    )
    disk(tree, "nvme0n1", NVME, size="2000409264", dev="259:0")
    conditioned.mounted(
        tree,
        ("0:60", "overlay", "/", "overlay"),
        ("259:0", "/dev/nvme0n1", "/etc/hosts", "ext4"),
        ("259:0", "/dev/nvme0n1", "/home/maria/work", "ext4"),
    )
