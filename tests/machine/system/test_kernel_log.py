from __future__ import annotations

import os
import sys

import pytest

from machine.system import kernel_log, xids
from machine.system.asking import Answer
from machine.system.kernel_log import RECENT_S, read_kernel_log

DAYS_3 = 3 * RECENT_S
XID = "NVRM: Xid (PCI:0000:41:00): 79, pid='4711', name=secret.py, GPU has fallen off the bus."


def log(tree, *lines, now_s=DAYS_3, priority=3):
    """Write lines "SECONDS TEXT" as the kernel keeps them."""
    told = ["6,0,0,-;Linux version 6.1.0-test"]
    for number, line in enumerate(lines, start=1):
        at_s, _, text = line.partition(" ")
        told.append(f"{priority},{number},{float(at_s) * 1e6:.0f},-;{text}")
        told.append(" SUBSYSTEM=pci")
    tree.write("/dev/kmsg", "\n".join(told) + "\n")
    tree.write("/proc/uptime", f"{now_s} 1.0\n")
    return tree.root


def only(tree, text):
    (entry,) = read_kernel_log(log(tree, f"10 {text}")).found
    return entry


def test_a_lost_gpu_is_found_by_its_number_and_place(tree):
    root = log(tree, f"5 {XID}", f"{DAYS_3 - 60} {XID}")
    told = read_kernel_log(root)
    (entry,) = told.found
    assert (entry.kind, entry.number, entry.where) == ("xid", 79, "0000:41:00.0")
    assert (entry.lines, entry.recent_lines, entry.newest_s) == (2, 1, 60.0)
    assert entry.serious
    assert told.is_whole
    assert told.reaches_back_s == DAYS_3
    assert told.missing == ()


@pytest.mark.parametrize(("number", "serious"), [(13, False), (31, False), (48, True), (95, True)])
def test_only_some_numbers_tell_of_hardware(tree, number, serious):
    entry = only(tree, f"NVRM: Xid (0000:01:00): {number}, Graphics Exception")
    assert (entry.number, entry.serious) == (number, serious)


@pytest.mark.parametrize(
    ("text", "serious"),
    [
        ("140, UNRECOVERABLE_ECC_ERROR_ESCAPE", True),
        ("143, GPU init error", True),
        ("145, RLW_SRC_TRACK Nonfatal XC0 i0 Link 08", False),
        ("145, RLW_CTRL Fatal XC0 i0 Link 08", True),
        ("154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", True),
        ("154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", False),
        ("158, GPU fatal timeout", True),
        ("160, channel retirement", False),
    ],
)
def test_the_numbers_of_blackwell_and_later_drivers_are_known(tree, text, serious):
    entry = only(tree, f"NVRM: Xid (PCI:0000:01:00): {text}")
    assert entry.serious is serious
    assert not xids.is_newer(entry.number)


def test_a_number_newer_than_the_list_is_unknown(tree):
    entry = only(tree, "NVRM: Xid (PCI:0000:01:00): 199, something new")
    assert (entry.serious, xids.is_newer(entry.number)) == (False, True)


@pytest.mark.parametrize(
    ("text", "kind", "where", "serious"),
    [
        (
            "EDAC MC1: 1 CE memory read error on CPU_SrcID#0 (channel:0 slot:0 page:0x1)",
            "memory_corrected",
            "MC1",
            False,
        ),
        ("EDAC MC0: 2 UE memory read error on DIMM_A1", "memory_uncorrected", "MC0", True),
        (
            "pcieport 0000:00:1c.5: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer",
            "pcie_corrected",
            "0000:00:1c.5",
            False,
        ),
        (
            "nvme 0000:02:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction",
            "pcie_nonfatal",
            "0000:02:00.0",
            False,
        ),
        (
            "nvme 0000:02:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Data Link",
            "pcie_fatal",
            "0000:02:00.0",
            True,
        ),
        ("blk_update_request: I/O error, dev sda, sector 8 op 0x0:(READ)", "disk", "sda", True),
        ("Buffer I/O error on dev nvme0n1p2, logical block 5", "disk", "nvme0n1p2", True),
        ("critical medium error, dev sdb, sector 8", "disk", "sdb", True),
        ("nvme nvme0: I/O 5 QID 4 timeout, aborting", "disk", "nvme0", True),
        ("mce: [Hardware Error]: Machine check events logged", "machine_check", None, False),
        ("[Hardware Error]: Corrected error, no action required.", "machine_check", None, False),
        ("[Hardware Error]: Uncorrected, software restartable error.", "machine_check", None, True),
        (
            "mce: [Hardware Error]: CPU 1: Machine Check: 0 Bank 5: bea0000000000108",
            "machine_check",
            None,
            True,
        ),
        (
            "mce: [Hardware Error]: CPU 1: Machine Check: 0 Bank 5: 9c20000000000108",
            "machine_check",
            None,
            False,
        ),
        (
            "Memory cgroup out of memory: Killed process 9 (secret.py) total-vm:1kB, UID:1000",
            "out_of_memory",
            None,
            False,
        ),
    ],
)
def test_each_kind_of_trouble_is_told_apart(tree, text, kind, where, serious):
    entry = only(tree, text)
    assert (entry.kind, entry.where, entry.serious) == (kind, where, serious)


@pytest.mark.parametrize(
    "text",
    [
        "EDAC MC: Ver: 3.0.0",
        "mce: CPU3: Core temperature above threshold, cpu clock throttled",
        "I/O error, dev fd0, sector 0 op 0x0:(READ)",
        "I/O error, dev sr0, sector 0 op 0x0:(READ)",
        "critical target error, dev sda, sector 8 op 0x3:(DISCARD) flags 0x800",
        "nvme nvme0: 16/0/0 default/read/poll queues",
        "pcieport 0000:00:1c.0: AER: enabled with IRQ 122",
    ],
)
def test_what_is_no_trouble_is_left_out(tree, text):
    assert read_kernel_log(log(tree, f"10 {text}")).found == ()


def test_the_serious_come_first_and_then_the_newest(tree):
    root = log(
        tree,
        f"5 {XID}",
        "6 EDAC MC0: 1 CE memory read error",
        "7 Out of memory: Killed process 1 (a)",
    )
    kinds = [entry.kind for entry in read_kernel_log(root).found]
    assert kinds == ["xid", "out_of_memory", "memory_corrected"]


def test_examples_are_few_and_name_nobody(tree):
    lines = [f"{n} {XID}" for n in range(9)]
    lines.append("20 Out of memory: Killed process 9 (secret.py) total-vm:1kB, UID:1000")
    lines.append("21 [Hardware Error]: PPIN: 0x2b4711 from aa:bb:cc:dd:ee:ff \x1b[31m")
    entries = read_kernel_log(log(tree, *lines)).found
    assert len(entries) == 3
    assert all(1 <= len(entry.examples) <= 3 for entry in entries)
    told = " ".join(text for entry in entries for text in entry.examples)
    assert "fallen off" in told
    assert [word for word in ("secret", "4711", "UID", "aa:bb", "\x1b") if word in told] == []


def test_what_a_program_wrote_into_the_log_is_not_the_kernels(tree):
    assert read_kernel_log(log(tree, f"5 {XID}", priority=11)).found == ()


def test_a_log_that_lost_its_beginning_says_so(tree):
    tree.write("/dev/kmsg", f"3,900,5000000,-;{XID}\n")
    tree.write("/proc/uptime", "65.0 1.0\n")
    told = read_kernel_log(tree.root)
    assert (told.is_whole, told.reaches_back_s) == (False, 60.0)


@pytest.mark.parametrize("text", ["", "9" * 5000 + ",1,1,-;x", f"3,1,{'9' * 5000},-;x", "\0;,"])
def test_a_log_that_cannot_be_read_has_a_reason(tree, text):
    tree.write("/dev/kmsg", text)
    (missing,) = read_kernel_log(tree.root).missing
    assert "held no line" in missing.why
    assert "systemd-journal" in missing.how


def test_a_mark_of_a_container_keeps_nobody_from_reading(tree):
    """A virtual machine that was started from docker's image has it too."""
    tree.write("/run/systemd/container", "docker\n")
    told = read_kernel_log(log(tree, f"5 {XID}"))
    assert [entry.number for entry in told.found] == [79]
    assert told.missing == ()


def test_what_was_not_read_names_what_happened(tree):
    (missing,) = read_kernel_log(tree.root).missing
    assert "no /dev/kmsg" in missing.why
    assert "container" not in missing.why
    tree.write("/.dockerenv", "")
    (missing,) = read_kernel_log(tree.root).missing
    assert "container (docker) may not read" in missing.why
    assert "on the host" in missing.how


def test_other_systems_say_why(monkeypatch):
    for system, why, how in (
        ("win32", "Windows", "Event Viewer"),
        ("darwin", "macOS", "log show"),
        ("freebsd14", "this system", "manual"),
    ):
        monkeypatch.setattr(sys, "platform", system)
        (missing,) = read_kernel_log().missing
        assert why in missing.why
        assert how in missing.how


@pytest.fixture
def here(monkeypatch, tmp_path):
    """This machine, as if it were no container, and its log a file that is not there."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(kernel_log, "read_container", lambda *_, **__: "none")
    monkeypatch.setattr(kernel_log, "_KMSG", f"{tmp_path}/kmsg".lstrip("/"))
    return tmp_path / "kmsg"


def test_a_buffer_that_may_not_be_read_is_asked_of_the_journal(monkeypatch, here):
    asked = []

    def ask(command, *, within_s):
        assert within_s > 0
        asked.append(command[0])
        if command[0] == "journalctl":
            lines = ("-- No entries --",)
        else:
            lines = ("[    0.000000] Linux version 6", f"[    2.500000] {XID}")
        return Answer(lines=lines, status=0, last_error="")

    monkeypatch.setattr(kernel_log, "ask", ask)
    told = read_kernel_log()
    assert not here.exists()
    assert asked == ["journalctl", "dmesg"]
    assert [entry.number for entry in told.found] == [79]
    assert told.source.startswith("dmesg")
    assert told.is_whole


def test_without_any_of_the_commands_the_reason_is_told(monkeypatch, here):
    def ask(command, *, within_s):
        raise FileNotFoundError(command[0], within_s)

    monkeypatch.setattr(kernel_log, "ask", ask)
    assert not here.exists()
    (missing,) = read_kernel_log().missing
    assert "no /dev/kmsg" in missing.why

    def opened(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(kernel_log.os, "open", opened)
    (missing,) = read_kernel_log().missing
    assert "administrators" in missing.why
    monkeypatch.setattr(kernel_log, "read_container", lambda *_, **__: "podman")
    (missing,) = read_kernel_log().missing
    assert "container (podman)" in missing.why


def test_the_journal_is_taken_where_it_reaches_further_back_than_the_buffer(monkeypatch, here):
    here.write_text(f"3,900,9000000,-;{XID}\n")
    lines = {"journalctl": ("[    4.000000] kernel: EDAC MC0: 1 CE error",), "dmesg": ()}

    def ask(command, *, within_s):
        assert within_s > 0
        return Answer(lines=lines[command[0]], status=0, last_error="")

    monkeypatch.setattr(kernel_log, "ask", ask)
    told = read_kernel_log()
    assert [entry.kind for entry in told.found] == ["memory_corrected"]
    assert told.source.startswith("journalctl")
    assert not told.is_whole


@pytest.mark.skipif(os.name != "posix", reason="a pipe stands for the buffer")
def test_the_running_buffer_is_read_to_its_end_without_waiting(here):
    os.mkfifo(here)
    keeper = os.open(here, os.O_RDWR)  # so that the pipe stays open and would make a reader wait
    try:
        os.write(keeper, f"3,1,500000,-;{XID}\n".encode())
        told = read_kernel_log()
    finally:
        os.close(keeper)
    assert [entry.number for entry in told.found] == [79]
    assert told.source.endswith("kmsg")
