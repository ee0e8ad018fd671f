"""Lines as dealers write them, and the parts that are read in them."""

from __future__ import annotations

from experiments.checkup.invoice import GIB, gpu_models, parts_of, processor_model
from tests.cases import in_one

TB = 1e12


def read(line: str) -> list[tuple]:
    """Return what a line names: kind, model, count, bytes."""
    (parts,) = parts_of([line])
    named = ("processor", "gpu")
    return [
        (each.kind, each.name if each.kind in named else "", each.count, each.size_bytes)
        for each in parts
    ]


def memory(modules: int, gib: float) -> tuple:
    return ("memory", "", modules, gib * GIB)


PROCESSORS = {
    "AMD Ryzen 9 9950X": "9950x",
    "1x AMD Ryzen 9 9950X3D, 16C/32T, 4.30-5.70GHz, boxed ohne Kühler   € 599,00": "9950x3d",
    "AMD Ryzen 9 9950X3D 16-Core Processor": "9950x3d",
    "R9 9950X tray": "9950x",
    "AMD Ryzen Threadripper PRO 7995WX": "7995wx",
    "AMD Ryzen AI Max+ PRO 395 w/ Radeon 8060S": "395",
    "AMD EPYC 9654 96-Core Processor": "9654",
    "Intel Core i9-14900K boxed": "14900k",
    "13th Gen Intel(R) Core(TM) i7-1365U": "1365u",
    "Intel® Core™ Ultra 9 285K": "285k",
    "Intel(R) Core(TM) Ultra 7 155H": "155h",
    "Intel(R) Xeon(R) Platinum 8480+": "8480+",
    "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz": "2680v4",
    "Intel Xeon w9-3495X": "3495x",
    "Apple M3 Pro": "m3pro",
    "AMD EPYC": "",
    "Intel(R) Xeon(R) Processor": "",
    "QEMU Virtual CPU version 2.5+": "",
}
GPUS = {
    "NVIDIA GeForce RTX 5090": ["rtx 5090"],
    "MSI GeForce RTX 5070 GAMING TRIO OC 12 GB GDDR7": ["rtx 5070"],
    "ZOTAC RTX 4070Ti SUPER Trinity": ["rtx 4070 super ti"],
    "NVIDIA GeForce RTX 4070 Ti SUPER": ["rtx 4070 super ti"],
    "NVIDIA GeForce RTX 4060 Laptop GPU": ["rtx 4060"],
    "AD107M [GeForce RTX 4060 Max-Q / Mobile]": ["rtx 4060"],
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": ["rtx pro 6000"],
    "NVIDIA RTX 6000 Ada Generation": ["rtx 6000 ada"],
    "NVIDIA RTX A6000": ["rtx a6000"],
    "NVIDIA H100 80GB HBM3": ["h100"],
    "NVIDIA A100-SXM4-80GB": ["a100"],
    "NVIDIA L4": ["l4"],
    "DIN A4 paper": [],
    "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE]": ["rx 7900 xt", "rx 7900 xtx", "rx 7900 gre"],
    "AMD Radeon Graphics": [],
}
LINES = {
    "2 x 32 GB DDR5-6000 CL30": [memory(2, 32)],
    "Corsair Vengeance 64GB (2x32GB) DDR5 6000MHz": [memory(2, 32)],
    "2x Corsair Vengeance 64GB (2x32GB) DDR5-6000": [memory(4, 32)],
    "4x Kingston 32GB DDR5-5600 ECC RDIMM": [memory(4, 32)],
    "2x16GB": [memory(2, 16)],
    "32 GB (2 x 16 GB)": [memory(2, 16)],
    "16GB DDR5 5600 SO-DIMM": [memory(0, 16)],
    "64 GiB of memory": [memory(0, 64)],
    "G.Skill Trident Z5 Neo F5-6000J3038F16GX2-TZ5N": [memory(2, 16)],
    "Corsair CMK32GX5M2B6000C30": [memory(2, 16)],
    "Kingston FURY KF560C30BBEK2-32": [memory(2, 16)],
    "Crucial CT2K16G56C46U5": [memory(2, 16)],
    "NVIDIA GeForce RTX 5090 32 GB": [("gpu", "rtx 5090", 1, 32 * GIB)],
    "8x NVIDIA H200 SXM 141GB": [("gpu", "h200", 8, 141 * GIB)],
    "Samsung 990 PRO 2 TB NVMe": [("disk", "", 1, 2 * TB)],
    "Samsung 990 PRO 2 TB, M.2, 2 GB LPDDR4 cache": [("disk", "", 1, 2 * TB)],
    "2 x 1,92 TB Samsung PM9A3 U.2": [("disk", "", 2, 1.92 * TB)],
    "Crucial T705 2.000 GB": [("disk", "", 1, 2 * TB)],
    "WD_BLACK SN850X 4 TB, M.2 2280, PCIe 4.0 x4": [("disk", "", 1, 4 * TB)],
    "2 Stück Intel Xeon Gold 6430": [("processor", "6430", 2, None)],
    "ASUS ROG STRIX X870E-E (AM5, 4x DDR5 8000 256 GB, 5x M.2)": [("board", "", 1, None)],
    "16 cores": [("cores", "", 16, None)],
    "2 GPUs": [("gpus", "", 2, None)],
    "Gaming PC: Ryzen 7 9700X, 32 GB DDR5-6000, RTX 5070 12GB, 1 TB NVMe SSD, 750 W": [
        ("processor", "9700x", 1, None),
        memory(0, 32),
        ("gpu", "rtx 5070", 1, 12 * GIB),
        ("disk", "", 1, TB),
    ],
}
NOTHING = (
    "Noctua NH-D15",
    "Cooler for AMD Ryzen 9 9950X",
    "EK Quantum Vector RTX 5090 water block",
    "be quiet! Dark Power 13 1000W ATX 3.0",
    "SanDisk Ultra USB 64 GB",
    "Samsung T7 portable SSD 2 TB",
    "2.5G LAN card",
    "Windows 11 Pro",
    "Sum 3.999,00 €",
)


@in_one("line", LINES)
def test_a_line_names_its_parts(line):
    assert read(line) == LINES[line]


def test_names_of_processors_and_gpus_come_down_to_their_models():
    assert {name: processor_model(name) for name in PROCESSORS} == PROCESSORS
    assert {name: gpu_models(name) for name in GPUS} == GPUS


def test_what_no_program_can_see_names_nothing():
    assert [line for line in NOTHING if read(line)] == []


def test_numbers_that_only_count_the_lines_are_no_quantities():
    first, second = parts_of(["1 NVIDIA GeForce RTX 5090", "2 Samsung 990 PRO 2 TB"])
    assert (first[0].count, second[0].count) == (1, 1)
    ((alone,),) = parts_of(["2 NVIDIA GeForce RTX 5090"])
    assert alone.count == 2


@in_one(
    "line",
    ["DDR5 6000 2x16GB", "2x16 GB 6000 MT/s", "32GB DDR5 PC5-48000", "F5-6000J3038F16GX2"],
)
def test_the_speed_of_memory_is_read_however_it_is_written(line):
    ((memory,), (disk,)) = parts_of([line, "Samsung 990 PRO 2 TB 7450 MB/s"])
    assert (memory.transfers_per_s, disk.transfers_per_s) == (6000e6, None)
