from __future__ import annotations

import json
import platform
import re
import subprocess
import sys

import psutil
import pytest
from msgspec.structs import replace

from machine import other_systems
from machine.devices import Gpu, NetworkInterface
from machine.facts import Notes
from machine.inspect import BadRoot, assemble, inspect, parts, portable
from machine.model import from_json, to_json
from tests import ROOT
from tests.machine.conditioned import mounted, named
from tests.machine.storage.test_disks import disk
from tests.machine.unexplained import unexplained


@pytest.fixture
def machine_root(tree):
    """A small machine with all that makes up a fingerprint, in a user's control group."""
    tree.cpus(4, threads_per_core=2)
    for n in range(4):
        tree.cache(n, 0, 1, "Data", "32K", f"{n // 2 * 2}-{n // 2 * 2 + 1}")
    tree.write("/proc/cpuinfo", "processor : 0\nmodel name : Test\nflags : sse\n")
    tree.write("/proc/meminfo", "MemTotal: 8000000 kB\n")
    tree.write("/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
    tree.write("/proc/self/cgroup", "0::/user.slice/user-1234.slice/secret\n")
    group = "/sys/fs/cgroup/user.slice/user-1234.slice/secret"
    tree.write(f"{group}/cpuset.cpus.effective", "0-1\n")
    tree.write(f"{group}/cpu.max", "50000 100000\n")
    return tree


def test_every_value_has_a_source_or_a_reason_here():
    assert unexplained(inspect()) == []


def test_every_value_has_a_source_or_a_reason_in_an_empty_machine(tree):
    assert unexplained(inspect(tree.root)) == []


@pytest.mark.parametrize(
    "name",
    [
        "2arm-2c",
        "16em64t-4s2c2t-offlines",
        "20em64t-hybrid-1p6c2t+2ca4co1t",
        "32em64t-2n8c+dax+nvme+mic+dimms",
        "40intel64-2g2n4c+pcilocality",
        "nvidiagpunumanodes",
    ],
)
def test_every_value_has_a_source_or_a_reason_in_a_recording(name, recorded):
    machine = recorded(name)
    assert unexplained(machine) == []
    assert from_json(to_json(machine)) == machine


def test_every_reason_is_a_sentence_with_a_next_step():
    for entry in inspect().missing:
        assert re.match(r"[A-Z].*\.$", entry.why), entry
        assert entry.how


def test_what_is_missing_is_said_once():
    what = [entry.what for entry in inspect().missing]
    assert len(what) == len(set(what))


def test_the_parts_make_up_the_machine(machine_root):
    found = list(parts(machine_root.root))
    assert [name for name, _ in found][:3] == ["os", "virtualization", "container"]
    assert assemble(dict(found)) == inspect(machine_root.root)


def test_a_recording_tells_nothing_of_the_running_machine(machine_root, tmp_path):
    program = (
        "import sys; from pathlib import Path; from machine.inspect import inspect\n"
        "opened = []\n"
        "kinds = ('open', 'os.listdir', 'os.scandir', 'subprocess.Popen', 'glob.glob')\n"
        "sys.addaudithook(lambda kind, a: opened.append(str(a[0])) if kind in kinds else None)\n"
        f"inspect(Path({str(machine_root.root)!r}))\n"
        "print(*opened, sep='\\n')"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    opened = said.stdout.split()
    assert len(opened) > 50
    assert [path for path in opened if not path.startswith(str(machine_root.root))] == []


def test_a_folder_that_is_no_recording_is_said_so(tmp_path):
    with pytest.raises(BadRoot, match="neither proc nor sys"):
        inspect(tmp_path)


def test_the_fingerprint_is_of_the_hardware_not_of_what_we_may_use(machine_root):
    before = inspect(machine_root.root).fingerprint
    assert re.fullmatch("[0-9a-f]{16}", before)
    machine_root.pinned("1")
    machine_root.cpu("online", "0-2")
    machine_root.write("/proc/meminfo", "MemTotal: 7990000 kB\n")
    machine_root.write("/proc/version", "Linux version 6.9.9 (other@host)\n")
    assert inspect(machine_root.root).fingerprint == before
    machine_root.write("/proc/cpuinfo", "processor : 0\nmodel name : Other\nflags : sse\n")
    assert inspect(machine_root.root).fingerprint != before


def test_a_portable_machine_names_nobody(machine_root):
    machine = inspect(machine_root.root)
    assert "user-1234" in json.dumps(to_json(machine)), "else this proves nothing"
    gpus = (Gpu(index=0, name="A", uuid="GPU-5e1a7"),)
    network = (NetworkInterface(name="enx00e04c680001"), NetworkInterface(name="eth0"))
    kept = portable(replace(machine, gpus=gpus, network=network))
    text = json.dumps(to_json(kept))
    for private in ("user-1234", "secret", str(machine_root.root), "5e1a7", "00e04c680001"):
        assert private not in text
    assert kept.sources["cpu.counts.quota"] == "cpu.max of the control group"
    assert kept.sources["cpu.model"] == "/proc/cpuinfo"
    assert (kept.cpu, kept.fingerprint, kept.network[1].name) == (
        machine.cpu,
        machine.fingerprint,
        "eth0",
    )


def test_a_portable_machine_has_neither_serial_numbers_nor_paths_of_its_owner(tree):
    named(tree, product_name="A box", product_uuid="03000200-0400", chassis_asset_tag="maria-7")
    disk(tree, "sda", "pci0000:00/0000:00:17.0/ata2/host1/target1:0:0/1:0:0:0")
    tree.write("/sys/class/block/sda/device/wwid", "naa.5002538e4000")
    mounted(tree, ("0:26", "/dev/sda", "/home/maria/disk", "btrfs"))
    kept = portable(inspect(tree.root))
    assert kept.storage[0].file_systems[0].place == "home", "else this proves nothing"
    text = json.dumps(to_json(kept))
    for private in ("4711", "03000200", "maria", "5002538e4000", str(tree.root)):
        assert private not in text


@pytest.mark.skipif(sys.platform != "linux", reason="reads the running Linux")
def test_the_kept_sources_of_this_machine_are_places_that_every_linux_has():
    for source in portable(inspect()).sources.values():
        for path in re.findall(r"(?:^|(?<=\s))/\S+", source):
            assert path.startswith(
                (
                    *("/proc/", "/sys/", "/run/", "/var/run/", "/.dockerenv", "/etc/os-release"),
                    *("/usr/share/", "/usr/local/share/", "/var/lib/pciutils/"),
                )
            )


def test_inspecting_loads_nothing_heavy():
    program = (
        "import sys, machine.inspect, machine.live.sampler, machine.system.pythons\n"
        "machine.inspect.inspect();"
        "heavy = {'torch', 'numba', 'numpy', 'PySide6', 'pynvml'} & sys.modules.keys();"
        "heavy |= {'psutil'} & sys.modules.keys() if sys.platform == 'linux' else set();"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_elsewhere_the_simple_facts_are_told_and_the_rest_explained(monkeypatch, system):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "processor", lambda: "A processor")
    machine = inspect()
    assert machine.os.kind == {"win32": "windows", "darwin": "macos"}[system]
    assert machine.cpu.threads == len(machine.cpu.threads_list) >= 1
    assert machine.cpu.usable_threads >= 1
    assert machine.memory.total_bytes > 2**20
    assert machine.fingerprint
    assert unexplained(machine) == []
    reasons = [entry.why for entry in machine.missing if entry.what.startswith("memory.")]
    assert reasons
    assert not any(word in why for why in reasons for word in ("udev", "EDAC", "root"))


def test_a_system_without_pinning_may_use_all_threads(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr(psutil.Process, "cpu_affinity")
    notes = Notes()
    cpu = dict(other_systems.parts(notes))["cpu"]
    assert cpu.usable_threads == cpu.threads
    assert all(thread.usable for thread in cpu.threads_list)
    assert "cpu.counts.affinity" in {entry.what for entry in notes.missing}
