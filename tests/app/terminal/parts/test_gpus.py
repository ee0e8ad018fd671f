from __future__ import annotations

import msgspec

from app.terminal.parts.devices import pci_line
from app.terminal.parts.gpus import gpu_lines, load_text, numbers_text, process_lines
from experiments.core import words
from machine.devices import ClockReason, Gpu, GpuLink, Link, MigInstance, NvLink, PciDevice
from machine.live.gpu_samples import GpuProcess, GpuSample
from machine.model import Machine

ENGLISH = words.load()
H100 = Gpu(
    index=0,
    vendor="NVIDIA",
    name="NVIDIA H100",
    memory_bytes=80 * 2**30,
    sms=132,
    compute_capability="9.0",
    power_limit_watts=700.0,
    torch_backend="cuda",
    driver_version="570.86.10",
    cuda_version="12.8",
    nvlinks=(NvLink(number=0, state="active", version="4.0"), NvLink(number=1, state="inactive")),
)


def lines(*gpus, **values):
    return list(gpu_lines(Machine(gpus=gpus, **values)))


def test_a_gpu_is_one_line_and_its_driver_another():
    assert lines(H100)[:2] == [
        (
            "gpu 0",
            "NVIDIA H100, 80 GiB, 132 SMs, compute capability 9.0, at most 700 W, PyTorch: cuda",
        ),
        ("gpu driver", "driver 570.86.10, knows CUDA up to 12.8"),
    ]


def test_gpus_that_are_alike_share_a_line():
    gpus = [msgspec.structs.replace(H100, index=n) for n in range(8)]
    assert lines(*gpus)[0][0] == "gpu 0 to 7"
    assert lines(*gpus)[0][1].startswith("8 × NVIDIA H100")
    hidden = msgspec.structs.replace(gpus[3], visible=False)
    assert [label for label, _ in lines(*gpus[:3], hidden)][:2] == ["gpu 0 to 2", "gpu 3"]


def test_gpus_are_numbered_as_shortly_as_may_be():
    told = [numbers_text(numbers) for numbers in ([3], [0, 1], [0, 1, 2], [0, 2, 3])]
    assert told == ["3", "0 and 1", "0 to 2", "0, 2, 3"]


def test_a_link_that_only_the_driver_tells_and_one_to_the_processor_are_said():
    link = Link(generation=5, width=16, card_generation=5)
    told = dict(lines(msgspec.structs.replace(H100, link=link, c2c_bytes_per_s=450e9)))
    assert "Gen5 ×16, NVLink-C2C to the processor 450 GB/s each way" in told["gpu 0"]


def test_a_device_whose_link_only_the_driver_knows_has_its_lanes():
    link = Link(generation=1, width=8, card_generation=5, slot_generation=5, slot_width=16)
    gpu = msgspec.structs.replace(H100, pci_address="0000:1a:00.0", link=link)
    device = PciDevice(address="0000:1a:00.0", class_id=0x030200, name="GH100")
    text = pci_line(Machine(gpus=(gpu,), pci=(device,)), device)
    lanes = "8 of 16 lanes: reseat the card, or the slot shares lanes"  # idle links keep theirs
    assert text == f"GH100, Gen1 ×8 now, could be Gen5 ×16 ({lanes})"
    assert pci_line(Machine(pci=(device,)), device) == "GH100, link not known"


def test_heat_power_and_memory_have_a_line_each_and_gpus_that_are_alike_share_it():
    gpus = [
        msgspec.structs.replace(
            H100,
            index=n,
            temperature_celsius=31.0 + n,
            temperature_slowdown_celsius=89.0,
            temperature_shutdown_celsius=92.0,
            power_default_watts=650.0,
            power_min_watts=200.0,
            power_max_watts=700.0,
            ecc=True,
            ecc_pending=True,
            bar_bytes=2**37,
            resizable_bar=True,
        )
        for n in range(3)
    ]
    told = dict(lines(*gpus))
    assert told["gpu heat"] == "31 °C to 33 °C now, slows down at 89 °C, switches off at 92 °C"
    assert told["gpu power"] == "may be limited from 200 W to 700 W, 650 W by default"
    assert told["gpu memory"] == "ECC on, the processor reaches all of it (resizable BAR)"
    odd = msgspec.structs.replace(
        gpus[2],
        ecc_pending=False,
        bar_bytes=2**28,
        resizable_bar=False,
        remapped_rows=3,
        remapping_pending=True,
        remapping_failed=True,
    )
    told = dict(lines(*gpus[:2], odd))
    assert told["gpus 0 to 1 memory"].startswith("ECC on, the processor")
    assert told["gpu 2 memory"] == (
        "ECC on, off from its next start, the processor reaches 256 MiB (no resizable BAR), "
        "3 rows replaced after errors, a repair waits for its next start, a repair has failed"
    )


def test_a_gpu_without_sensors_has_no_empty_lines():
    assert all(text for _, text in lines(H100))
    assert not [label for label, _ in lines(H100) if label.endswith(("heat", "power", "memory"))]


def test_what_holds_a_gpu_back_is_told_and_idling_is_not():
    def held(*reasons):
        told = tuple(ClockReason(key=f"clock_reasons.{k}", severity=s) for k, s in reasons)
        return dict(lines(msgspec.structs.replace(H100, clock_reasons=told))).get("of gpu 0")

    assert held(("idle", "information"), ("application_clocks", "information")) is None
    assert held(("power_cap", "limit")) == "at its power limit"
    assert held(("idle", "information"), ("software_thermal", "warning")) == "slowed: too hot"


def test_the_ways_stand_in_a_table_as_nvidia_smi_shows_them():
    gpus = [msgspec.structs.replace(H100, index=n) for n in range(3)]
    links = (
        GpuLink(a=0, b=1, path="NV18"),
        GpuLink(a=0, b=2, path="SYS"),
        GpuLink(a=1, b=2, path=None),
    )
    table = [text.split() for label, text in lines(*gpus, gpu_links=links)[2:6]]
    assert table == [
        ["0", "1", "2"],
        ["0", "X", "NV18", "SYS"],
        ["1", "NV18", "X", "?"],
        ["2", "SYS", "?", "X"],
    ]


def test_links_that_are_up_are_counted():
    assert lines(H100, nvswitch=True)[-1] == (
        "nvlink",
        "1 of 2 links up on each GPU, of version 4.0, through NVSwitches",
    )


def test_what_is_unusual_is_said():
    gpu = Gpu(
        index=0,
        vendor="NVIDIA",
        memory_bytes=2**37,
        unified_memory=True,
        mig=True,
        virtualization="vgpu",
        fabric="in progress",
        asleep=True,
        visible=False,
        mig_instances=(MigInstance(name="MIG 1g.10gb", memory_bytes=10 * 2**30, sms=16),),
    )
    (_, text), (label, instance) = lines(gpu)
    assert text == (
        "an accelerator of NVIDIA, 128 GiB shared with the processor, MIG on, "
        "a share of a GPU (vGPU), fabric in progress, asleep, hidden from programs started here"
    )
    assert (label, instance) == ("of gpu 0", "MIG 1g.10gb, 10 GiB, 16 SMs")


def told(**values):
    return load_text(msgspec.to_builtins(GpuSample(index=0, **values)), ENGLISH)


def test_a_gpu_at_work_tells_its_errors_first():
    reason = ClockReason(key="clock_reasons.power_cap", severity="limit")
    assert told(
        busy=0.97,
        memory_used_bytes=2**34,
        memory_total_bytes=2**36,
        power_watts=698.0,
        power_limit_watts=700.0,
        sm_hz=1_760_000_000,
        temperature_celsius=61.0,
        clock_reasons=(reason,),
        ecc_uncorrected=2,
        ecc_corrected=0,
    ) == (
        "2 uncorrected memory errors, 97 %, 16 GiB of 64 GiB, 698 W of 700 W, 1.76 GHz, 61 °C, "
        "at its power limit"
    )


def test_what_is_not_known_is_left_out_and_never_zero():
    assert told() == "?"
    assert told(busy=0.0) == "0 %"


def test_a_gpu_that_sleeps_or_is_lost_says_so():
    assert "not woken" in told(state="asleep")
    assert "LOST" in told(state="lost")


def test_who_holds_memory_is_told_with_since_when():
    process = GpuProcess(
        pid=31877, memory_bytes=2**29, user="alice", age_s=260_000.0, command="python train.py"
    )
    sample = msgspec.to_builtins(GpuSample(index=1, processes=(process, GpuProcess(pid=7))))
    assert list(process_lines([sample])) == [
        ("gpu 1 · 31877", "512 MiB, alice, since 3 days, python train.py"),
        ("gpu 1 · 7", ""),
    ]
