from __future__ import annotations

from machine.inspect import inspect
from machine.model import missing_of, source_of
from machine.processor.protection import Protection, protection
from tests.machine.conditioned import vulnerable


def test_the_kernels_words_on_each_vulnerability_are_kept_and_sorted(tree):
    vulnerable(
        tree,
        meltdown="Not affected",
        spectre_v2="Mitigation: Retpolines; STIBP: disabled",
        itlb_multihit="KVM: Mitigation: VMX disabled",
        mds="Vulnerable: Clear CPU buffers attempted, no microcode",
        srbds="Unknown: Dependent on hypervisor status",
    )
    machine = inspect(tree.root)
    assert machine.cpu.vulnerabilities["spectre_v2"] == "Mitigation: Retpolines; STIBP: disabled"
    assert source_of(machine, "cpu.vulnerabilities.mds").endswith("/vulnerabilities")
    assert protection(machine.cpu.vulnerabilities) == Protection(
        not_affected=("meltdown",),
        mitigated=("itlb_multihit", "spectre_v2"),
        vulnerable=("mds",),
        unknown=("srbds",),
    )


def test_the_microcode_is_that_of_the_processor(tree):
    tree.write("/proc/cpuinfo", "processor : 0\nmodel name : Test\nmicrocode : 0xa601206\n")
    machine = inspect(tree.root)
    assert machine.cpu.microcode == "0xa601206"
    assert source_of(machine, "cpu.microcode") == "/proc/cpuinfo"
    tree.cpu("cpu0/microcode/version", "0xb404023")
    assert inspect(tree.root).cpu.microcode == "0xb404023"


def test_what_the_kernel_does_not_tell_has_a_reason(tree):
    machine = inspect(tree.root)
    assert machine.cpu.vulnerabilities == {}
    assert missing_of(machine, "cpu.vulnerabilities") is not None
    assert missing_of(machine, "cpu.microcode") is not None
