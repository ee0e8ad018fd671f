"""Made-up trees of AMD's and Intel's GPUs, from the kernel's documentation.

Sources: Documentation/gpu/amdgpu, drivers/gpu/drm/amd/amdkfd/kfd_topology.c for the names below
/sys/class/kfd; ABI/testing/sysfs-driver-intel-{i915,xe}-hwmon and the drivers' tests for Intel's.
"""

from __future__ import annotations

from machine.devices import PciDevice

BRIDGE = 0x060400


def properties(tree, folder, **values):
    tree.write(f"{folder}/properties", "".join(f"{name} {v}\n" for name, v in values.items()))


def amd(tree, address, node, *, others=(), **values):
    """Write a GPU like an MI300X: KFD node `node`, xGMI to the nodes `others`."""
    device = f"/sys/bus/pci/devices/{address}"
    tree.write(f"{device}/mem_info_vram_total", "206141652992\n")
    tree.write(f"{device}/mem_info_vram_used", "1073741824\n")
    tree.write(f"{device}/gpu_busy_percent", "87\n")
    tree.write(f"{device}/power/runtime_status", "active\n")
    for name, value in (
        ("power1_cap", 750_000_000),
        ("power1_cap_default", 750_000_000),
        ("power1_cap_max", 750_000_000),
        ("power1_cap_min", 0),
        ("power1_average", 412_000_000),
        ("freq1_input", 2_100_000_000),
        ("freq2_input", 1_300_000_000),
        ("temp1_input", 48_000),
        ("temp1_crit", 100_000),
        ("temp1_emergency", 105_000),
    ):
        tree.write(f"{device}/hwmon/hwmon4/{name}", f"{value}\n")
    domain, bus, rest = address.split(":")
    slot, function = rest.split(".")
    kfd = f"/sys/class/kfd/kfd/topology/nodes/{node}"
    properties(
        tree,
        kfd,
        **{
            "cpu_cores_count": 0,
            "simd_count": 1216,
            "simd_per_cu": 4,
            "gfx_target_version": 90402,
            "location_id": int(bus, 16) << 8 | int(slot, 16) << 3 | int(function),
            "domain": int(domain, 16),
            "max_engine_clk_fcompute": 2100,
            **values,
        },
    )
    tree.write(f"{kfd}/gpu_id", f"{1000 + node}\n")
    for n in range(8):
        properties(tree, f"{kfd}/caches/{n}", level=2, size=4096)
    properties(tree, f"{kfd}/caches/8", level=1, size=32)
    properties(tree, f"{kfd}/mem_banks/0", heap_type=1, width=8192, mem_clk_max=1300)
    for n, other in enumerate(others):
        properties(tree, f"{kfd}/io_links/{n}", type=11, node_from=node, node_to=other)


def processor(tree, node=0):
    """Write the KFD node of the processor."""
    properties(tree, f"/sys/class/kfd/kfd/topology/nodes/{node}", cpu_cores_count=48, simd_count=0)


def amd_card(address, **values):
    values = {"vendor_id": 0x1002, "device_id": 0x74A1, "class_id": 0x120000, **values}
    return PciDevice(address=address, name="Aqua Vanjaram [Instinct MI300X]", **values)


def intel_card(address="0000:03:00.0", device_id=0xE20B, **values):
    values = {"vendor_id": 0x8086, "class_id": 0x030000, **values}
    return PciDevice(address=address, device_id=device_id, name="an Intel GPU", **values)
